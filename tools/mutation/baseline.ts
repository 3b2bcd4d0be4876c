// The stored result of `npm run mutation`. For each file, it contains how many mutants the tests
// killed, and how many survived.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Explanation, Fate, Report } from './report.ts';

const root = path.join(import.meta.dirname, '..', '..');
const FILE = path.join(root, 'tools', 'mutation', 'baseline.json');

export interface Count extends Readonly<Record<Fate, number>> {
  /** The SHA-256 of the code that was mutated, without comments. */
  readonly source: string;
  /** How many of the killed mutants each test file killed. */
  readonly by: Readonly<Record<string, number>>;
}

/** The counts by file. */
export type Baseline = Readonly<Record<string, Count>>;

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
}

/** Writes one line for each file. */
export function writeBaseline(baseline: Baseline): void {
  const lines = Object.keys(baseline)
    .toSorted()
    .map((file) => `  ${JSON.stringify(file)}: ${JSON.stringify(baseline[file])}`);
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
}

export function baselineOf(report: Report): Baseline {
  const counts = Object.entries(report).map(([file, { source, mutants }]): [string, Count] => {
    const count = (fate: Fate) => mutants.filter((mutant) => mutant.fate === fate).length;
    const by = Map.groupBy(
      mutants.filter(({ fate }) => fate === 'killed'),
      (mutant) => mutant.by ?? '',
    );
    return [
      file,
      {
        source,
        killed: count('killed'),
        survived: count('survived'),
        static: count('static'),
        words: count('words'),
        by: Object.fromEntries([...by].map(([tests, { length }]) => [tests, length])),
      },
    ];
  });
  return Object.fromEntries(counts);
}

/**
 * Returns the percentage of mutants that were killed, of all mutants that a test could have killed.
 * It has two decimals and is rounded down.
 */
export function scoreOf(baseline: Baseline): {
  readonly killed: number;
  readonly all: number;
  readonly score: number;
} {
  const sum = (fate: Fate) =>
    Object.values(baseline).reduce((total, count) => total + count[fate], 0);
  const killed = sum('killed');
  const all = killed + sum('survived');
  return { killed, all, score: all === 0 ? 0 : Math.floor((10_000 * killed) / all) / 100 };
}

/** Returns how many survivors have no explanation. */
export function openIn(baseline: Baseline, explanations: readonly Explanation[]): number {
  const explained = explainedIn(explanations);
  return Object.entries(baseline).reduce(
    (sum, [file, { survived }]) => sum + Math.max(0, survived - (explained.get(file) ?? 0)),
    0,
  );
}

/**
 * Returns the files with more explanations than survivors. After a file was moved, its explanations
 * wait for its next run. A file without numbers can therefore have some if it exists.
 */
export function miscounted(
  baseline: Baseline,
  explanations: readonly Explanation[],
): readonly string[] {
  return [...explainedIn(explanations)].flatMap(([file, found]) => {
    const lives = baseline[file]?.survived ?? 0;
    const isWaiting = !(file in baseline) && existsSync(path.join(root, file));
    return isWaiting || lives >= found
      ? []
      : [`${file}: ${lives} mutants live, and tools/mutation/explained explains ${found}`];
  });
}

/** Returns how many survivors of each file the explanations are for. */
function explainedIn(explanations: readonly Explanation[]): ReadonlyMap<string, number> {
  const files = Map.groupBy(explanations, ({ file }) => file);
  return new Map(
    [...files].map(([file, own]) => [file, own.reduce((sum, { places = 1 }) => sum + places, 0)]),
  );
}

/**
 * Returns the explanations of lines that the file does not contain. Checks only files that have not
 * changed since their mutants were run.
 */
export function misplaced(
  explanations: readonly Explanation[],
  isCurrent: (file: string) => boolean,
): readonly string[] {
  return explanations.flatMap(({ file, line, replacement }) => {
    if (!isCurrent(file) || !existsSync(path.join(root, file))) return [];
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
    return lines.some((each) => each.trim() === line)
      ? []
      : [`tools/mutation/explained explains nothing any more: ${file}: ${line} => ${replacement}`];
  });
}
