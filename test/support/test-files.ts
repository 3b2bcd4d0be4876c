import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ENGINE_NAMES = ['sqlite', 'postgres', 'mariadb'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
/** Vitest's projects: one for each engine, and one for replicated databases that the tests start themselves. */
export const PROJECT_NAMES = [...ENGINE_NAMES, 'clusters'] as const;
export type ProjectName = (typeof PROJECT_NAMES)[number];

/** A test file, and where it runs. */
export interface TestFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly engines: readonly ProjectName[];
  /** Whether it belongs to the short form: `npm test` and `npm run test:engines`. */
  readonly short: boolean;
  /** Whether it belongs to the long form: `npm run test:stress`. */
  readonly long: boolean;
}

/** What the first line of a file may name; a file without it runs on every engine. */
const CHOICES: Readonly<Record<string, readonly ProjectName[]>> = {
  sqlite: ['sqlite'],
  servers: ['postgres', 'mariadb'],
  clusters: ['clusters'],
};

/**
 * Every test file below the root. One in `test/` runs on every engine, unless its first line is
 * `// @engines sqlite: <why>`, `servers` or `clusters`. Tests in `src` use no engine of the project, and run once. A
 * file that imports `scale.ts` belongs to both forms; one whose first line says `, long` belongs to the long form only.
 *
 * @throws {Error} When the first line of a file names no engines that are known.
 */
export function testFiles(root: string): readonly TestFile[] {
  const options = { cwd: root, exclude: (name: string) => name === 'node_modules' };
  return [
    ...globSync('src/**/*.test.ts', options).map((file) => read(root, file, ['sqlite'])),
    ...globSync('test/**/*.test.ts', options).map((file) => read(root, file, ENGINE_NAMES)),
  ].toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function read(root: string, file: string, unlessSaid: readonly ProjectName[]): TestFile {
  const source = readFileSync(path.join(root, file), 'utf8');
  if (!/^\/\/ @engine/m.test(source)) {
    return { path: file, engines: unlessSaid, short: true, long: isScaled(source) };
  }
  const [, choice = '', long] = /^\/\/ @engines (\w+)(, long)?: \S.*\n/.exec(source) ?? [];
  const engines = Object.hasOwn(CHOICES, choice) ? CHOICES[choice] : undefined;
  if (engines === undefined) {
    const known = Object.keys(CHOICES).map((name) => `'// @engines ${name}: <why>'`);
    throw new Error(`${file}: the first line may be ${known.join(' or ')}`);
  }
  const isLong = long !== undefined;
  return { path: file, engines, short: !isLong, long: isLong || isScaled(source) };
}

function isScaled(source: string): boolean {
  return / from '[./]+support\/scale\.ts';$/m.test(source);
}
