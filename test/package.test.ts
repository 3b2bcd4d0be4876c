// @engines sqlite: it installs the package, which brings SQLite alone
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');

/** What `npm publish` would upload, installed in an empty folder. */
let folder: string;
let manifest: { exports: Record<string, unknown>; bin: Record<string, string> };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-package-'));
  manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as typeof manifest;
  // Already built; a second build would disturb the tests that run in parallel.
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  const { stdout } = await run('ls', { cwd: folder });
  const tarball = stdout.split('\n').find((name) => name.endsWith('.tgz')) ?? '';
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`], {
    cwd: folder,
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed package', () => {
  test('gives every public entry to an application in an empty folder', async () => {
    const entries = Object.keys(manifest.exports)
      .filter((entry) => entry !== './package.json')
      .map((entry) => entry.replace(/^\./, 'portico'));
    expect(entries).toContain('portico/host');
    expect(entries).toContain('portico/oauth-server');
    const script = entries
      .map(
        (entry) =>
          `console.log(${JSON.stringify(entry)}, Object.keys(await import(${JSON.stringify(entry)})).length);`,
      )
      .join('\n');
    await writeFile(path.join(folder, 'imports.js'), script);
    const { stdout } = await run(process.execPath, ['imports.js'], { cwd: folder });
    for (const entry of entries) expect(stdout).toMatch(new RegExp(`^${entry} [1-9]`, 'm'));
  });

  test('carries the types of every public entry', async () => {
    for (const conditions of Object.values(manifest.exports)) {
      if (typeof conditions === 'string') continue;
      const { types } = conditions as { types: string };
      const installed = path.join(folder, 'node_modules', 'portico', types);
      expect(await readFile(installed, 'utf8')).not.toBe('');
    }
  });

  test('has a console that says how to name an application', async () => {
    const { stdout } = await run('npx', ['--no-install', 'portico', '--help'], { cwd: folder });
    expect(stdout).toContain('portico');
    expect(stdout).toContain('--app');
  });

  test('carries no test, no example and no source', async () => {
    const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--dry-run', '--json'], { cwd: root });
    const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = packed.files.map((file) => file.path);
    expect(paths).toContain('dist/host/index.js');
    expect(paths.filter((file) => /\.test\.|^(?:src|test|examples)\//.test(file))).toEqual([]);
  });
});
