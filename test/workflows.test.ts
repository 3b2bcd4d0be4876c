// @engines sqlite, needs go: it builds the linter of the workflows
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type * as Yaml from 'yaml';
import { ROOT } from './support/console.ts';

/** The workflows for GitHub. */

const LINTER = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
const FOLDER = path.join(ROOT, '.github', 'workflows');
const FILES = globSync('*.yml', { cwd: FOLDER }).toSorted();
const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const inspector = createRequire(
  path.join(ROOT, 'node_modules/@modelcontextprotocol/inspector/package.json'),
);
const { parse } = inspector('yaml') as typeof Yaml;
const workflow = (file: string) => parse(read(file)) as Workflow;

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

describe('the workflows', () => {
  test('pass a linter', async () => {
    expect(FILES).toEqual([
      'ci.yml',
      'dependency-review.yml',
      'docs.yml',
      'release.yml',
      'scorecard.yml',
    ]);
    expect(await lint(...FILES.map((file) => path.join(FOLDER, file)))).toBe('');
  });

  test('run no action of other people, and hold no secret', () => {
    for (const file of FILES) {
      const steps = Object.values(workflow(file).jobs).flatMap((job) => job.steps);
      expect(steps.filter(({ uses }) => uses !== undefined)).toEqual([]);
      expect(read(file)).not.toContain('secrets.');
    }
  });

  test('check out a commit by its id, because a branch can have the name of a tag', () => {
    const lines = FILES.flatMap((file) => read(file).match(/^.*git (?:clone|fetch) .*$/gm) ?? []);
    expect(lines.length).toBeGreaterThan(3);
    // One line fetches an earlier release by its id, which jq reads from a file.
    const byName = lines.filter((line) => !line.includes('"$GITHUB_SHA"') && !line.includes('jq '));
    expect(byName).toEqual([]);
    // Such a checkout has no remote, so gh has to know the repository.
    expect(read('release.yml')).toContain('GH_REPO: ${{ github.repository }}');
  });

  test('may write only where they have to', () => {
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
    expect(named.toSorted()).toEqual(['check', 'docs:site', 'release', 'test']);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
