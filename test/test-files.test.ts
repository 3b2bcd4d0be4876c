// @engines sqlite: it reads the test files, and does not run them
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';
import { RUNS_ALL } from './support/scale.ts';
import { ENGINE_NAMES, testFiles, type TestFile } from './support/test-files.ts';

describe('a test file', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'portico-test-files-'));
    await mkdir(path.join(root, 'test', 'deeper'), { recursive: true });
    await mkdir(path.join(root, 'packages', 'kit', 'src'), { recursive: true });
  });
  afterAll(() => rm(root, { recursive: true }));

  async function read(file: string, source: string) {
    await writeFile(path.join(root, file), source);
    try {
      return testFiles(root);
    } finally {
      await rm(path.join(root, file));
    }
  }

  test.each<[string, string, readonly string[]]>([
    ['has no comment about engines', '', ['sqlite', 'postgres', 'mariadb']],
    ['lists its engines', '// @engines sqlite: it reads the sources\n', ['sqlite']],
    ['stops a server', '// @engines servers: it stops one\n', ['postgres', 'mariadb']],
    ['starts a cluster', '// @engines clusters: it stops a node of one\n', ['clusters']],
  ])('that %s runs on the right engines', async (_, source, engines) => {
    for (const file of ['test/new.test.ts', 'test/deeper/new.test.ts']) {
      expect(await read(file, source)).toEqual([
        { path: file, engines, short: true, long: false, needs: [] },
      ]);
    }
  });

  test('about stores, races or schemas runs on MySQL too', async () => {
    const found = async (source: string) => (await read('test/new-races.test.ts', source))[0];
    expect(await found('')).toMatchObject({ engines: ENGINE_NAMES });
    expect(await found('// @engines servers: it stops one\n')).toMatchObject({
      engines: ['postgres', 'mariadb', 'mysql'],
    });
    const own = "import { MARIADB } from './support/engines/database-server.ts';\n";
    expect(await found(own)).toMatchObject({ engines: ['sqlite', 'postgres', 'mariadb'] });
  });

  test('next to the source code runs once', async () => {
    const file = 'packages/kit/src/new.test.ts';
    expect(await read(file, '')).toEqual([
      { path: file, engines: ['sqlite'], short: true, long: false, needs: [] },
    ]);
  });

  test.each([
    ['lists an unknown engine', '// @engines mysql: why not\n'],
    ['has no reason', '// @engines sqlite\n'],
    [
      'has the comment in the wrong place',
      "import 'node:fs';\n// @engines sqlite: it reads files\n",
    ],
    ['lists an unknown extra', '// @engines sqlite, needs netscape: it browses\n'],
    ['misspells the comment', '// @engine sqlite: it reads files\n'],
    ['lists the name of an Object property', '// @engines constructor: it is there\n'],
  ])('that %s stops the run with an error that contains its name', async (_, source) => {
    await expect(read('test/new.test.ts', source)).rejects.toThrow(
      /^test\/new\.test\.ts: the first line may be/,
    );
  });

  test('that imports the scale has a long form', async () => {
    const source = "import { SCALE } from './support/scale.ts';\n";
    expect(await read('test/new.test.ts', source)).toMatchObject([{ short: true, long: true }]);
  });

  test('that is marked long has no short form', async () => {
    const source = '// @engines sqlite, long: it takes a minute\n';
    expect(await read('test/new.test.ts', source)).toEqual([
      { path: 'test/new.test.ts', engines: ['sqlite'], short: false, long: true, needs: [] },
    ]);
  });

  test('that needs an extra has no short form', async () => {
    const source = '// @engines all, needs chromium root: it browses\n';
    expect(await read('test/new.test.ts', source)).toMatchObject([
      {
        engines: ['sqlite', 'postgres', 'mariadb'],
        short: false,
        long: true,
        needs: ['chromium', 'root'],
      },
    ]);
  });
});

describe('the Vitest configuration', () => {
  /** The files that Vitest would run with this repository's configuration. */
  function listed(
    env: Readonly<Record<string, string>> = {},
  ): ReadonlyMap<string, readonly string[]> {
    const vitest = path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [vitest, 'list', '--filesOnly', '--json'],
      {
        cwd: ROOT,
        env: { PATH: process.env['PATH'] ?? '', ...env },
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([0, '']);
    const found = JSON.parse(stdout) as readonly {
      readonly file: string;
      readonly projectName: string;
    }[];
    const engines = new Map<string, string[]>();
    for (const { file, projectName } of found) {
      const name = path.relative(ROOT, file);
      engines.set(name, [...(engines.get(name) ?? []), projectName]);
    }
    return engines;
  }

  const expected = (files: ReturnType<typeof testFiles>) =>
    new Map(files.map(({ path: file, engines }) => [file, [...engines].toSorted()]));
  const sorted = (found: ReturnType<typeof listed>) =>
    new Map([...found].map(([file, engines]) => [file, engines.toSorted()]));

  test('runs every file that has a short form', () => {
    const files = testFiles(ROOT).filter(({ short }) => short);
    expect(files.length).toBeGreaterThan(40);
    expect(sorted(listed())).toEqual(expected(files));
  });

  test.runIf(RUNS_ALL)('runs every file in `npm run test:all`', () => {
    const files = testFiles(ROOT);
    expect(sorted(listed({ TESTS: 'all' }))).toEqual(expected(files));
  });

  test.runIf(RUNS_ALL)('runs the other files, or files with a long form, in `test:rest`', () => {
    const ranBefore = ({ short, long, engines }: TestFile) =>
      short && !long ? engines.filter((name) => name === 'sqlite') : [];
    const rest = listed({ TESTS: 'rest' });
    const both = testFiles(ROOT).map(
      (file) => [file.path, [...(rest.get(file.path) ?? []), ...ranBefore(file)]] as const,
    );
    expect(sorted(new Map(both))).toEqual(expected(testFiles(ROOT)));
  });
});
