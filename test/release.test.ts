// @engines sqlite, needs git npm jq: it builds a clone twice, and runs a job of a workflow
import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf } from '../tools/scripts/supply/statements.ts';
import { differences } from '../tools/scripts/supply/tarball.ts';
import { ROOT } from './support/console.ts';
import { codeBlocks } from './support/documents.ts';
import { workflow } from './support/workflows.ts';

const run = promisify(execFile);
const VERSION = (
  JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string }
).version;

let folder: string;
/**
 * The files of this tree in a separate repository. They are committed, but there is no tag and no
 * entry in the changelog.
 */
let clone: string;

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();
const commit = (message: string) => {
  git('add', '--all');
  git(
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@a.example',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    message,
  );
};
const edit = (file: string, change: (text: string) => string) =>
  writeFileSync(path.join(clone, file), change(readFileSync(path.join(clone, file), 'utf8')));

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-releasing-'));
  clone = path.join(folder, 'repository');
  await mkdir(clone);
  git('init', '--quiet');
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of files
    .split('\n')
    .filter((each) => existsSync(path.join(ROOT, each)) && each !== ''))
    cpSync(path.join(ROOT, file), path.join(clone, file));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
  writeFileSync(path.join(clone, '.git', 'info', 'exclude'), 'node_modules\n');
  // If this version is released, the clone returns its changes to "Unreleased".
  const heading = new RegExp(String.raw`^## \[${VERSION}\] - .*\n\n`, 'm');
  edit('CHANGELOG.md', (text) => text.replace(heading, ''));
  commit('What is here');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the script, and returns its lines and its outcome. */
async function release(...args: readonly string[]) {
  const env = { HOME: process.env['HOME'], PATH: process.env['PATH'] };
  const child = run(process.execPath, ['tools/scripts/release.ts', ...args], { cwd: clone, env });
  return child.then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      said: error.stdout + error.stderr,
    }),
  );
}

const appendTo = (files: string, name: string) =>
  appendFileSync(path.join(files, name), 'portico\n');

/**
 * Runs the job that publishes as GitHub does, with these files from the other job. `change` changes
 * them afterwards, or returns other variables. Returns what the job called.
 */
async function publishJob(from: string, change: (files: string) => object | void = () => {}) {
  const runner = await mkdtemp(path.join(folder, 'runner-'));
  const [bin, files, workspace] = ['bin', 'files', 'workspace'].map((each) =>
    path.join(runner, each),
  ) as [string, string, string];
  for (const each of [bin, workspace]) await mkdir(each);
  cpSync(from, files, { recursive: true });
  const others = change(files);
  const log = path.join(runner, 'log');
  writeFileSync(log, '');
  writeFileSync(path.join(bin, 'gh'), GH, { mode: 0o755 });
  writeFileSync(path.join(bin, 'npm'), NPM, { mode: 0o755 });
  const sum = digestOf('sha256', readFileSync(path.join(from, 'SHA512SUMS')));
  const { HOME, PATH } = process.env;
  const env = {
    HOME,
    PATH: `${bin}:${PATH}`,
    REST: PATH,
    LOG: log,
    FILES: files,
    RUNNER_TEMP: runner,
    RUNNER_TOOL_CACHE: runner,
    GITHUB_PATH: path.join(runner, 'path'),
    GITHUB_RUN_ID: '1',
    GITHUB_REF_NAME: `v${VERSION}`,
    PUBLISHED: '/dev/null',
    SUM: `${sum}  SHA512SUMS`,
    ...others,
  };
  const calls = () => readFileSync(log, 'utf8').split('\n').filter(Boolean);
  for (const { run: script = '' } of workflow('release.yml').jobs['publish']?.steps ?? []) {
    const code = await run('bash', ['-e', '-c', script], { cwd: workspace, env }).then(
      () => 0,
      (error: { readonly code: number }) => error.code,
    );
    if (code !== 0) return { code, calls: calls() };
  }
  return { code: 0, calls: calls() };
}

/** Programs that note calls instead of publishing. */
const GH = `#!/bin/sh
test "$1 $2" = 'run download' && exec cp -r "$FILES" "$7"
echo "gh $*" >> "$LOG"
`;
const NPM = `#!/bin/sh
test "$1" = install && exit
test "$1" = view && exec awk -v id="$2" '$1 == id { print $2; found = 1 } END { exit !found }' "$PUBLISHED"
test "$1" = publish || PATH="$REST" exec npm "$@"
echo "npm $*" >> "$LOG"
`;

describe('a release', () => {
  test('is refused if the tree is not clean, the tag is missing, or the changelog has no entry', async () => {
    writeFileSync(path.join(clone, 'left-over.ts'), '');
    const { code, said } = await release('--dry-run');
    await rm(path.join(clone, 'left-over.ts'));
    expect(code).toBe(1);
    expect(said).toContain('The tree is not clean:\n?? left-over.ts');
    expect(said).toContain(`The tag v${VERSION} does not point at this commit`);
    expect(said).toContain(`CHANGELOG.md says nothing under ## [${VERSION}]`);
  });

  test('is refused without the repository URL, which npm displays', async () => {
    const { code, said } = await release();
    expect(code).toBe(1);
    expect(said).toContain('package.json names no repository');
  });

  describe('a valid release', () => {
    let output: string;
    let made: Awaited<ReturnType<typeof release>>;
    let prepared: Awaited<ReturnType<typeof release>>;
    const file = (ending: string) => path.join(output, `portico-${VERSION}${ending}`);
    const read = (ending: string) =>
      JSON.parse(readFileSync(file(ending), 'utf8')) as Record<string, unknown>;

    beforeAll(async () => {
      prepared = await release('--prepare', VERSION);
      commit('Release it');
      output = path.join(folder, 'release');
      made = await release('--tag', '--output', output);
    });

    test('has a changelog section, a tag and an entry in the list of releases', () => {
      expect(prepared).toEqual({ code: 0, said: '' });
      expect(readFileSync(path.join(clone, 'CHANGELOG.md'), 'utf8')).toMatch(
        new RegExp(
          String.raw`^## \[Unreleased\]\n\n## \[${VERSION}\] - \d{4}-\d\d-\d\d\n\n### \w+$`,
          'm',
        ),
      );
      const head = git('rev-parse', 'HEAD');
      expect(git('rev-parse', `v${VERSION}`)).toBe(head);
      const list = readFileSync(path.join(clone, 'tools', 'release', 'releases.json'), 'utf8');
      expect(JSON.parse(list)).toContainEqual({
        version: VERSION,
        commit: head,
        date: git('log', '-1', '--format=%cs'),
      });
      expect(made.said).toContain('commit tools/release/releases.json');
    });

    test('cannot be tagged twice', async () => {
      commit('Record it');
      const { code, said } = await release('--tag');
      expect(code).toBe(1);
      expect(said).toContain(`The tag v${VERSION} already exists`);
    });

    // @shows HOST-5.4
    test('is byte for byte the same, with any folder, umask, time zone, language and file times', () => {
      expect(made.said).toContain('built twice, with the same bytes');
      expect(made.said).toContain('a dry run: nothing is published');
      expect(made.code).toBe(0);
    });

    test('contains the packages, their bill of materials, their provenance and the checksums', () => {
      const others = ['admin', 'assistant', 'import', 'kit', 'mcp', 'resource-server', 'sql'];
      expect(readdirSync(output).toSorted()).toEqual(
        [
          'SHA256SUMS',
          'SHA512SUMS',
          ...['.cdx.json', '.provenance.json', '.tgz'].map((ending) => path.basename(file(ending))),
          ...others.map((name) => `portico-${name}-${VERSION}.tgz`),
          `create-portico-${VERSION}.tgz`,
        ].toSorted(),
      );
    });

    // @shows HOST-5.6
    test('has a provenance and a bill of materials for this package and commit', () => {
      const sha512 = digestOf('sha512', readFileSync(file('.tgz')));
      expect(read('.cdx.json')).toMatchObject({
        metadata: {
          component: {
            name: 'portico',
            version: VERSION,
            hashes: [{ alg: 'SHA-512', content: sha512 }],
          },
        },
      });
      expect(read('.provenance.json')).toMatchObject({
        _type: 'https://in-toto.io/Statement/v1',
        predicateType: 'https://slsa.dev/provenance/v1',
        subject: expect.arrayContaining([
          expect.objectContaining({
            name: path.basename(file('.tgz')),
            digest: expect.objectContaining({ sha512 }) as object,
          }) as object,
        ]) as object,
        predicate: {
          buildDefinition: {
            externalParameters: { tag: `v${VERSION}` },
            resolvedDependencies: [
              { digest: { gitCommit: git('rev-parse', `v${VERSION}`) } },
              { uri: 'package-lock.json' },
            ],
          },
        },
      });
    });

    describe('the publish job', () => {
      test('publishes each package with provenance, after its dependencies', async () => {
        const { code, calls } = await publishJob(output);
        expect(code).toBe(0);
        const names = calls.flatMap((call) => {
          const [, name] = /^npm publish \S*\/(\S+)-\S+ --provenance /.exec(call) ?? [];
          return name === undefined ? [] : [name];
        });
        expect(names.toSorted()).toEqual(
          readdirSync(output).flatMap((each) => /^(.*)-[^-]*\.tgz$/.exec(each)?.[1] ?? []),
        );
        expect(names.indexOf('portico-sql')).toBeLessThan(names.indexOf('portico'));
        expect(names.indexOf('portico')).toBeLessThan(names.indexOf('portico-mcp'));
        expect(calls).toHaveLength(names.length + 1);
        expect(calls.at(-1)).toMatch(/^gh release create v\S+ .*SHA256SUMS .*--verify-tag/);
      });

      // A run can fail after some packages. The next run publishes the others.
      test('skips the packages that an earlier run published', async () => {
        const published = path.join(folder, 'published');
        const packages = [file('.tgz'), path.join(output, `portico-sql-${VERSION}.tgz`)];
        const { stdout } = await run('npm', ['pack', '--dry-run', '--json', ...packages]);
        const listed = JSON.parse(stdout) as readonly Record<'id' | 'integrity', string>[];
        writeFileSync(
          published,
          listed.map(({ id, integrity }) => `${id} ${integrity}\n`).join(''),
        );
        const others = () => ({ PUBLISHED: published });
        const { code, calls } = await publishJob(output, others);
        expect(code).toBe(0);
        const all = readdirSync(output).filter((each) => each.endsWith('.tgz'));
        expect(calls).toHaveLength(all.length - packages.length + 1);
        const publishing = calls.filter((call) => call.startsWith('npm publish ')).join('\n');
        for (const each of packages) expect(publishing).not.toContain(`/${path.basename(each)} `);
      });

      test('publishes a package again if the published one has different bytes, so that npm refuses it', async () => {
        const published = path.join(folder, 'published-otherwise');
        writeFileSync(published, `portico@${VERSION} sha512-another\n`);
        const { calls } = await publishJob(output, () => ({ PUBLISHED: published }));
        expect(calls.join('\n')).toContain(`/portico-${VERSION}.tgz --provenance`);
      });

      test.each<[string, (files: string) => object | void]>([
        ['a package was replaced', (files) => appendTo(files, `portico-${VERSION}.tgz`)],
        ['the checksums differ', (files) => appendTo(files, 'SHA512SUMS')],
        ['a file of the page was replaced', (files) => appendTo(files, 'SHA256SUMS')],
        ['the tag is of a different version', () => ({ GITHUB_REF_NAME: 'v99.0.0' })],
        ['the build job reported no checksum', () => ({ SUM: '' })],
      ])('publishes nothing if %s', async (_, change) => {
        const { code, calls } = await publishJob(output, change);
        expect(code).not.toBe(0);
        expect(calls).toEqual([]);
      });
    });

    test('passes the commands of docs/verifying-a-release.md', async () => {
      const blocks = codeBlocks().filter(
        ({ page, checkedBy }) =>
          page === 'docs/verifying-a-release.md' && checkedBy === 'test/release.test.ts',
      );
      expect(blocks.length).toBe(4);
      symlinkSync(clone, path.join(output, 'source'));
      cpSync(file('.tgz'), path.join(output, 'again', path.basename(file('.tgz'))));
      const env = {
        ...process.env,
        PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
      };
      const said: string[] = [];
      for (const { code } of blocks) {
        const script = `set -e\n${code.replaceAll('<version>', VERSION)}`;
        said.push((await run('sh', ['-c', script], { cwd: output, env })).stdout);
      }
      expect(said[0]).toContain(`portico-${VERSION}.tgz: OK`);
      expect(said[1]).toBe(
        `${digestOf('sha512', readFileSync(file('.tgz')))}\n${git('rev-parse', `v${VERSION}`)}\n`,
      );
      expect(said[2]).toContain('package/dist/index.js');
      expect(said[2]).toContain('pkg:npm/eta@');
      expect(said[3]).toBe('the same bytes\n');
    });

    test('fails verification if one byte of a package differs', async () => {
      const tarball = readFileSync(file('.tgz'));
      expect(differences(tarball, tarball)).toEqual([]);
      const content = gunzipSync(tarball);
      const at = content.indexOf('invalid_grant');
      content[at] = 'I'.charCodeAt(0);
      writeFileSync(file('.tgz'), gzipSync(content));
      expect(() =>
        execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: output, stdio: 'pipe' }),
      ).toThrow('Command failed');
      const again = path.join(output, 'again', path.basename(file('.tgz')));
      const compare = ['source/tools/scripts/compare-packages.ts', file('.tgz'), again];
      const compared = run(process.execPath, compare, { cwd: output });
      await expect(compared).rejects.toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/package\/dist\/\S+ has another content/) as string,
      });
    });
  });

  // @shows HOST-5.4
  test('is refused if two builds differ, with the names of the files', async () => {
    // A build that contains its build time, and a package with the file modes of the checkout.
    edit('tools/scripts/build.ts', () => PLANTED);
    edit('package.json', (text) => text.replace(' && node tools/scripts/file-modes.ts', ''));
    commit('Say when it was built');
    git('tag', '--force', `v${VERSION}`);
    const { code, said } = await release('--dry-run', '--output', path.join(folder, 'planted'));
    expect(said).toContain('Two builds of this commit differ:');
    expect(said).toContain(`portico-${VERSION}.tgz: package/dist/built-at.js has another content`);
    expect(said).toMatch(/package\/LICENSE has the modes 0*644 and 0*600/);
    expect(code).toBe(1);
    expect(existsSync(path.join(folder, 'planted'))).toBe(false);
  });
});

const PLANTED = `import { mkdirSync, writeFileSync } from 'node:fs';
mkdirSync('packages/portico/dist', { recursive: true });
writeFileSync('packages/portico/dist/built-at.js', \`export const BUILT_AT = \${process.hrtime.bigint()};\`);
`;
