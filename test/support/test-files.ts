import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ENGINE_NAMES = ['sqlite', 'postgres', 'mariadb'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** A test file, and where it runs. */
export interface TestFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly engines: readonly EngineName[];
  /** Whether it has a long form, for `npm run test:stress`. */
  readonly scaled: boolean;
}

/** What a file may say of itself; one that says nothing runs on every engine. */
const CHOICES: Readonly<Record<string, readonly EngineName[]>> = {
  sqlite: ['sqlite'],
  servers: ['postgres', 'mariadb'],
};

/**
 * Every test file below the root. One in `test/` runs on every engine, unless its first line is
 * `// @engines sqlite: <why>` or `// @engines servers: <why>`. Those beside the code start no engine of the project, and
 * run once.
 *
 * @throws {Error} Naming the file and what to write, when its first line is neither.
 */
export function testFiles(root: string): readonly TestFile[] {
  const options = { cwd: root, exclude: (name: string) => name === 'node_modules' };
  return [
    ...globSync('src/**/*.test.ts', options).map((file) => read(root, file, ['sqlite'])),
    ...globSync('test/**/*.test.ts', options).map((file) => read(root, file, ENGINE_NAMES)),
  ].toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function read(root: string, file: string, unlessSaid: readonly EngineName[]): TestFile {
  const source = readFileSync(path.join(root, file), 'utf8');
  return {
    path: file,
    engines: /^\/\/ @engine/m.test(source) ? chosen(file, source) : unlessSaid,
    scaled: / from '[./]+support\/scale\.ts';$/m.test(source),
  };
}

function chosen(file: string, source: string): readonly EngineName[] {
  const [, choice = ''] = /^\/\/ @engines (\w+): \S.*\n/.exec(source) ?? [];
  const engines = Object.hasOwn(CHOICES, choice) ? CHOICES[choice] : undefined;
  if (engines !== undefined) return engines;
  const known = Object.keys(CHOICES).map((name) => `'// @engines ${name}: <why>'`);
  throw new Error(`${file}: the first line may be ${known.join(' or ')}`);
}
