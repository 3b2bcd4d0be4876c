// How much of the code the last run of `npm run mutation` covers.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Baseline } from './baseline.ts';
import { sources } from './not-counted.ts';

const root = path.join(import.meta.dirname, '..', '..');

/** The lines of code that were mutated, of all lines, in whole percent. Rounded down. */
export type Shares = Readonly<Record<string, number>>;

/** Returns the share of each package, and of all packages as `all`. */
export function sharesOf(baseline: Baseline): Shares {
  const lines = new Map<string, { mutated: number; all: number }>();
  for (const file of sources()) {
    const count = codeLines(file);
    for (const name of [packageOf(file), 'all']) {
      const { mutated, all } = lines.get(name) ?? { mutated: 0, all: 0 };
      const own = file in baseline ? count : 0;
      lines.set(name, { mutated: mutated + own, all: all + count });
    }
  }
  const percent = [...lines].map(([name, { mutated, all }]): [string, number] => [
    name,
    Math.floor((100 * mutated) / all),
  ]);
  return Object.fromEntries(percent);
}

/** Returns the folder of a file's package in `packages`. */
export function packageOf(file: string): string {
  return file.split('/')[1] ?? '';
}

/** Counts the lines that are neither empty nor a comment. */
function codeLines(file: string): number {
  const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
  return lines.filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length;
}
