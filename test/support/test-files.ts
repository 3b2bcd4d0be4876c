import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isExtra, type ExtraName } from './extras.ts';

export const ENGINE_NAMES = ['sqlite', 'postgres', 'mariadb', 'mysql'] as const;
/**
 * Vitest's projects. There is one for each engine, and one for replicated databases that the tests
 * start themselves.
 */
export const PROJECT_NAMES = [...ENGINE_NAMES, 'clusters'] as const;
export type ProjectName = (typeof PROJECT_NAMES)[number];

/** A test file, and where it runs. */
export interface TestFile {
  /** The path from the root of the repository. */
  readonly path: string;
  readonly engines: readonly ProjectName[];
  /** Whether `npm test` runs it. `npm run test:all` runs every file. */
  readonly short: boolean;
  /** Whether it has a long form. */
  readonly long: boolean;
  /** The programs that it needs in addition to Node and the packages of `npm ci`. */
  readonly needs: readonly ExtraName[];
}

/**
 * The engines that the first line of a file may name. A file without such a line runs on every
 * engine.
 */
const CHOICES: ReadonlyMap<string, readonly ProjectName[]> = new Map([
  ['sqlite', ['sqlite']],
  ['postgres', ['postgres']],
  ['servers', ['postgres', 'mariadb', 'mysql']],
  ['clusters', ['clusters']],
]);

/**
 * Returns every test file below the root. By default, a file in `test/` runs on every engine, and a
 * file of a package runs once. The first line of a file can change this: `// @engines sqlite:
 * <why>`, `postgres`, `servers` or `clusters`. After the engines, it may contain `, long` (the file
 * takes long) or `, needs chromium nginx` (see extras.ts). `npm test` skips these files. A file
 * that imports `scale.ts` or `describe-with.ts` has a short and a long form.
 *
 * @throws {Error} When the first line of a file names an unknown engine or extra.
 */
export function testFiles(root: string): readonly TestFile[] {
  const options = { cwd: root, exclude: (name: string) => name === 'node_modules' };
  return [
    ...globSync('packages/*/src/**/*.test.ts', options).map((file) => read(root, file, ['sqlite'])),
    ...globSync('test/**/*.test.ts', options).map((file) => read(root, file, ENGINE_NAMES)),
  ].toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function read(root: string, file: string, unlessSaid: readonly ProjectName[]): TestFile {
  const source = readFileSync(path.join(root, file), 'utf8');
  const found = readSource(file, source, unlessSaid);
  return isForMysql(file, source)
    ? found
    : { ...found, engines: found.engines.filter((name) => name !== 'mysql') };
}

/**
 * MySQL runs the tests of stores, races and schemas. MariaDB runs the other tests, which use the
 * same statements. A file that starts its own servers chooses their engines itself.
 */
const FOR_MYSQL =
  /race|store|schema|transaction|locks|overtaken|answered|meanwhile|feature-tables|moving|outbox|processes/;

function isForMysql(file: string, source: string): boolean {
  return (
    FOR_MYSQL.test(path.basename(file)) &&
    !/engines\/(?:database-server|server-process)\.ts'/.test(source)
  );
}

function readSource(file: string, source: string, unlessSaid: readonly ProjectName[]): TestFile {
  if (!/^\/\/ @engine/m.test(source)) {
    return { path: file, engines: unlessSaid, short: true, long: isScaled(source), needs: [] };
  }
  const [, choice = '', long, extras = ''] =
    /^\/\/ @engines (\w+)(, long)?(?:, needs ([\w ]+))?: \S.*\n/.exec(source) ?? [];
  const engines = choice === 'all' ? unlessSaid : CHOICES.get(choice);
  const names = extras.split(' ').filter((name) => name !== '');
  const needs = names.filter(isExtra);
  if (engines === undefined || needs.length < names.length) {
    const known = ['all', ...CHOICES.keys()].map((name) => `'// @engines ${name}: <why>'`);
    throw new Error(
      `${file}: the first line may be ${known.join(' or ')}, with ', long' or ', needs <extras>' after the engines`,
    );
  }
  const isShort = long === undefined && needs.length === 0;
  return { path: file, engines, short: isShort, long: !isShort || isScaled(source), needs };
}

function isScaled(source: string): boolean {
  return / from '[./]+support\/(?:scale|describe-with)\.ts';$/m.test(source);
}
