// @engines sqlite, needs go: it builds a linter for workflows
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';
import { FILES, read, workflow, WORKFLOWS, type Job } from './support/workflows.ts';

/** The workflows for GitHub. */

const LINTER = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

const mayWrite = (permissions: Job['permissions']) =>
  JSON.stringify(permissions ?? 'write-all').includes('write');

/** The only commands of npm that a job that may write can use. None of them runs a script. */
const HARMLESS =
  /^npm (?:install --global --ignore-scripts npm@\d+\.\d+\.\d+$|view "\$id" dist\.integrity\)|(?:pack --dry-run|publish) .*--ignore-scripts)/;

/** Returns the commands that can run the code of the project, or that copy it to the runner. */
function problemsOfCommands(text: string): readonly string[] {
  const commands = text.split(/\n|[;&|(]+/).map((each) => each.trim().replace(/^do /, ''));
  return commands.filter(
    (each) =>
      (/^npm\b/.test(each) && !HARMLESS.test(each)) ||
      /^(?:npx|node|bash|sh|source|\.)\s|^\.{0,2}[\w.-]*\//.test(each) ||
      /^(?:git|gh repo) (?:clone|fetch|pull|checkout|switch|worktree)\b/.test(each),
  );
}

/** Runs the linter. Returns what it prints. */
async function lint(...files: readonly string[]): Promise<string> {
  // Whether shellcheck is installed must not make a difference.
  const args = ['run', LINTER, '-shellcheck=', '-pyflakes=', '-no-color', ...files];
  const env = { ...process.env, GOFLAGS: '-mod=mod' };
  return promisify(execFile)('go', args, { cwd: ROOT, env }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => stdout + stderr,
  );
}

describe('the GitHub workflows', () => {
  test('pass a linter', async () => {
    expect(FILES).toEqual([
      'ci.yml',
      'dependency-review.yml',
      'docs.yml',
      'release.yml',
      'scorecard.yml',
    ]);
    expect(await lint(...FILES.map((file) => path.join(WORKFLOWS, file)))).toBe('');
  });

  test('use no third-party action and contain no secret', () => {
    for (const file of FILES) {
      const steps = Object.values(workflow(file).jobs).flatMap((job) => job.steps);
      // The action by which GitHub takes files, at a commit that cannot change.
      const others = steps.filter(
        ({ uses }) => uses !== undefined && !/^actions\/upload-artifact@[0-9a-f]{40}$/.test(uses),
      );
      expect(others).toEqual([]);
      expect(read(file)).not.toContain('secrets.');
    }
  });

  // A script of a dependency could otherwise publish, or change the repository.
  // @shows HOST-5.8
  test('run no code of the project or its dependencies in a job with write permission', () => {
    const writing = FILES.flatMap((file) => {
      const { permissions, jobs } = workflow(file);
      return Object.entries(jobs)
        .filter(([, job]) => mayWrite(job.permissions ?? permissions))
        .map(([name, job]) => ({ name: `${file} ${name}`, job }));
    });
    expect(writing.map(({ name }) => name)).toEqual(['docs.yml publish', 'release.yml publish']);
    for (const { name, job } of writing) {
      const text = job.steps.map(({ run = '' }) => run).join('\n');
      expect([name, problemsOfCommands(text), job.steps.filter(({ uses }) => uses)]).toEqual([
        name,
        [],
        [],
      ]);
    }
    expect(problemsOfCommands('npm ci\nnpm test; npm run release')).toHaveLength(3);
    expect(problemsOfCommands('cd a && node b.ts\nx=$(npx tsc)\n.ci/run')).toHaveLength(3);
    expect(problemsOfCommands('git fetch --quiet "$A" "$B"\ngit checkout main')).toHaveLength(2);
  });

  test('check out a commit by its ID, because a branch can have the name of a tag', () => {
    const lines = FILES.flatMap((file) => read(file).match(/^.*git (?:clone|fetch) .*$/gm) ?? []);
    expect(lines.length).toBeGreaterThan(3);
    // One line fetches an earlier release by its id, which jq reads from a file.
    const byName = lines.filter((line) => !line.includes('"$GITHUB_SHA"') && !line.includes('jq '));
    expect(byName).toEqual([]);
    // No job has a checkout with a remote, so gh has to know the repository.
    for (const file of ['docs.yml', 'release.yml'])
      expect(read(file)).toContain('GH_REPO: ${{ github.repository }}');
  });

  test('have write permissions only where they are needed', () => {
    const written = FILES.flatMap((file) => {
      const { permissions, jobs } = workflow(file);
      return [permissions, ...Object.values(jobs).map((job) => job.permissions ?? {})].flatMap(
        (each) =>
          Object.entries(each)
            .filter(([, right]) => right === 'write')
            .map(([name]) => `${file} ${name}`),
      );
    });
    expect(written).toEqual(['docs.yml contents', 'release.yml contents', 'release.yml id-token']);
  });

  test('run scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const named = FILES.flatMap((file) =>
      [...read(file).matchAll(/npm (?:run (\S+)|(test))/g)].map(([, run, own]) => run ?? own ?? ''),
    );
    expect(named.toSorted()).toEqual(['check', 'docs:site', 'release', 'test', 'test']);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
