// @engines sqlite, needs npm: it installs the package, which includes only SQLite
import { execFile, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manifestParts } from '../tools/scripts/entries.ts';
import { PACKAGES } from '../tools/scripts/packages.ts';
import { freePort } from './support/free-port.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');

/**
 * The packages that framework entries import at run time. Other entries import only what Portico
 * ships.
 */
const FRAMEWORKS = [
  '@opentelemetry/api',
  '@nestjs/common',
  '@nestjs/core',
  'reflect-metadata',
  'rxjs',
];

/** What `npm publish` would upload, installed in an empty folder. */
let folder: string;
/** Every name that can be imported. */
const NAMES = PACKAGES.flatMap((each) =>
  each.entries.map((entry) => entry.name.replace(/^\./, each.name)),
);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-package-'));
  // The packages are already built. A second build would disturb the tests that run in parallel.
  await run('npm', ['pack', '--workspaces', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  const { stdout } = await run('ls', { cwd: folder });
  const tarballs = stdout.split('\n').filter((name) => name.endsWith('.tgz'));
  const packages = tarballs.map((name) => `./${name}`);
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages], {
    cwd: folder,
  });
  for (const each of FRAMEWORKS) {
    await mkdir(path.join(folder, 'node_modules', path.dirname(each)), { recursive: true });
    await symlink(path.join(root, 'node_modules', each), path.join(folder, 'node_modules', each));
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed package', () => {
  test('provides every public entry point to an application in an empty folder', async () => {
    expect(NAMES).toContain('portico/express');
    expect(NAMES).toContain('@portico/kit');
    const script = NAMES.map(
      (entry) =>
        `console.log(${JSON.stringify(entry)}, Object.keys(await import(${JSON.stringify(entry)})).length);`,
    ).join('\n');
    await writeFile(path.join(folder, 'imports.js'), script);
    const { stdout } = await run(process.execPath, ['imports.js'], { cwd: folder });
    for (const entry of NAMES) expect(stdout).toMatch(new RegExp(`^${entry} [1-9]`, 'm'));
  });

  test('provides each entry point to CommonJS too, as the same module', async () => {
    const script = NAMES.map((entry) => {
      const name = JSON.stringify(entry);
      return `import(${name}).then((module) => console.log(${name}, Object.keys(module).every((key) => module[key] === require(${name})[key])));`;
    });
    await writeFile(path.join(folder, 'requires.cjs'), script.join('\n'));
    const { stdout, stderr } = await run(process.execPath, ['requires.cjs'], { cwd: folder });
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n').toSorted()).toEqual(
      NAMES.map((entry) => `${entry} true`).toSorted(),
    );
  });

  test.each(PACKAGES)(
    '$name has its entry points in all resolution modes, and no others',
    async (each) => {
      const installed = path.join(folder, 'node_modules', each.name);
      const parts = manifestParts(each.entries);
      const manifest = JSON.parse(
        await readFile(path.join(installed, 'package.json'), 'utf8'),
      ) as typeof parts;
      expect(manifest).toMatchObject(parts);
      expect(manifest.exports).toEqual(parts.exports);
      const named = JSON.stringify(parts).matchAll(/"\.\/(dist\/[^"]+)"/g);
      for (const [, file = ''] of named) {
        expect(await readFile(path.join(installed, file), 'utf8'), file).not.toBe('');
      }
    },
  );

  test('has a console whose help shows how to select an application', async () => {
    const { stdout } = await run('npx', ['--no-install', 'portico', '--help'], { cwd: folder });
    expect(stdout).toContain('portico');
    expect(stdout).toContain('--app');
  });

  test('is written by npm run pack with the file names that the pages install', async () => {
    const { stdout } = await run(process.execPath, ['tools/scripts/pack.ts'], { cwd: root });
    const written = stdout.trim().split('\n');
    expect(written).toHaveLength(PACKAGES.length);
    const readme = await readFile(path.join(root, 'README.md'), 'utf8');
    const [, from = '', version = ''] =
      /npm install \.\.\/portico\/(\S+)\{,-sql\}(-[\d.]+\.tgz)/.exec(readme) ?? [];
    for (const each of ['', '-sql'])
      expect(written).toContain(path.join(root, `${from}${each}${version}`));
    const page = await readFile(path.join(root, 'docs/mounting/README.md'), 'utf8');
    const named = [...page.matchAll(/\.\.\/portico\/(\.build\/\S+?-[\d.]+\.tgz)/g)];
    const files = named.map(([, file = '']) => file).filter((file) => !file.includes('{'));
    expect(files).not.toEqual([]);
    for (const file of files) expect(written).toContain(path.join(root, file));
  });

  test.each(PACKAGES)(
    '$name contains its README, the build, and nothing else',
    async ({ folder: own }) => {
      const args = [
        'pack',
        '--ignore-scripts',
        '--dry-run',
        '--json',
        '--workspace',
        `packages/${own}`,
      ];
      const { stdout } = await run('npm', args, { cwd: root });
      const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
      const paths = packed.files.map((file) => file.path);
      expect(paths).toContain('dist/index.js');
      expect(paths).toContain('README.md');
      const others = paths.filter((file) => !/^(?:dist|bin|templates)\//.test(file));
      expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
      expect(paths.filter((file) => /\.test\./.test(file))).toEqual([]);
    },
  );

  // `create-portico` imports nothing. Its code contains the imports of the files that it writes.
  const importing = PACKAGES.filter(({ name }) => name !== 'create-portico');
  test.each(importing)('$name declares every dependency that it imports', async ({ name }) => {
    const installed = path.join(folder, 'node_modules', name);
    const manifest = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as {
      readonly dependencies?: object;
      readonly peerDependencies?: object;
    };
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const files = (await readdir(path.join(installed, 'dist'), { recursive: true })).filter(
      (file) => /\.(?:js|d\.ts)$/.test(file),
    );
    const imported = await Promise.all(
      files.map(async (file) => {
        const text = await readFile(path.join(installed, 'dist', file), 'utf8');
        return [
          ...text.matchAll(
            /(?:^(?:import|export)\b[^;]*?from|\bimport\()\s*["']((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[\w./-]*)?["']/gm,
          ),
        ]
          .map(([, found = '']) => found)
          .filter((found) => !found.startsWith('node:') && found !== 'node' && found !== name);
      }),
    );
    expect([...new Set(imported.flat())].filter((found) => !declared.includes(found))).toEqual([]);
  });
});

describe('the serve command', () => {
  /**
   * Prints facts about the serving process, after work that fills a young generation as far as it
   * may grow.
   */
  const APPLICATION = `
    import v8 from 'node:v8';
    import { defineApplication } from '@portico/kit';
    function young() {
      const living = [];
      let most = 0;
      for (let round = 0; round < 200; round += 1) {
        living[round % 10] = Array.from({ length: 20_000 }, (_, index) => [index]);
        const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
        most = Math.max(most, space.space_size);
      }
      return most / 2 ** 20;
    }
    export default defineApplication({
      directory: import.meta.dirname,
      config: { public_url: 'http://localhost:8080' },
      register: (application) =>
        application.route({
          name: 'young',
          methods: ['GET'],
          path: '/young',
          handler: () => Response.json({ pid: process.pid, mib: young(), hasChannel: process.send !== undefined }),
        }),
    });`;
  interface Told {
    readonly pid: number;
    /** The largest size of the young generation. */
    readonly mib: number;
    readonly hasChannel: boolean;
  }
  const PORTICO = path.join('node_modules', '.bin', 'portico');
  const ENVIRONMENT = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    APP_ENV: 'dev',
  };

  async function serve(
    [command = '', ...args]: readonly string[],
    { env = {}, stdio = 'ignore' }: Pick<SpawnOptions, 'env' | 'stdio'> = {},
  ) {
    await writeFile(path.join(folder, 'app.js'), APPLICATION);
    const port = await freePort();
    const child = spawn(command, [...args, 'serve', `--port=${port}`], {
      cwd: folder,
      env: { ...ENVIRONMENT, ...env },
      stdio,
    });
    const ended = once(child, 'exit');
    let told: Told | undefined;
    while (told === undefined && child.exitCode === null) {
      told = await fetch(`http://127.0.0.1:${port}/young`)
        .then((answer) => answer.json() as Promise<Told>)
        .catch(() => setTimeout(20, undefined));
    }
    if (told === undefined) throw new Error('It ended before it answered');
    return { child, ended, port, told };
  }

  /** Twice the size of its two halves of four MiB, because V8 measures in pages and rounds up. */
  const BOUNDED = 16;

  test('limits the young generation when it runs through npx, and npx ends with its exit code', async () => {
    const { ended, told } = await serve(['npx', '--no-install', 'portico']);
    expect(told.mib).toBeLessThan(BOUNDED);
    process.kill(told.pid, 'SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('is a single process, the one that was started, with its signals and exit codes', async () => {
    const { child, ended, port, told } = await serve([PORTICO]);
    expect(told.pid).toBe(child.pid);
    const second = run(PORTICO, ['serve', `--port=${port}`], { cwd: folder, env: ENVIRONMENT });
    await expect(second).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in use') as string,
    });
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });

  test.each([
    ['NODE_OPTIONS', [PORTICO], { NODE_OPTIONS: '--max-semi-space-size=32' }],
    ['a flag', [process.execPath, '--max_semi_space_size=32', PORTICO], {}],
  ])('keeps what an operator has set in %s', async (_, command, env) => {
    const { child, ended, told } = await serve(command, { env });
    expect(told.mib).toBeGreaterThan(2 * BOUNDED);
    child.kill();
    expect(await ended).toEqual([0, null]);
  });

  test('keeps the IPC channel to its parent process', async () => {
    const { child, ended, told } = await serve([process.execPath, PORTICO], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    expect(told.hasChannel).toBe(true);
    child.kill();
    expect(await ended).toEqual([0, null]);
  });

  test('keeps the debugger on the process that was started with --inspect', async () => {
    const inspector = await freePort();
    const flag = `--inspect=127.0.0.1:${inspector}`;
    const { child, ended, told } = await serve([process.execPath, flag, PORTICO]);
    expect((await fetch(`http://127.0.0.1:${inspector}/json/version`)).status).toBe(200);
    expect(told.pid).toBe(child.pid);
    child.kill();
    expect(await ended).toEqual([0, null]);
  });
});
