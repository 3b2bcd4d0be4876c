// npm run mutation:check, for CI: a bounded part of what `npm run mutation` does. What was killed has to be killed again, by the same file
// of tests.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { isCurrent, readReport, staleShare, type Mutant } from './report.ts';
import { mutate, rangeOf } from './stryker.ts';

/** How many killed mutants are run again: those that one file of tests kills, another file for each commit. */
const SAMPLE = 40;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const report = readReport();
const commit = spawnSync('git', ['rev-parse', 'HEAD'], {
  cwd: path.join(import.meta.dirname, '..'),
  encoding: 'utf8',
}).stdout;

interface Killed extends Mutant {
  readonly file: string;
  readonly by: string;
}

const killed = Object.entries(report).flatMap(([file, { mutants }]) =>
  isCurrent(report, file)
    ? mutants.flatMap((mutant) =>
        mutant.fate === 'killed' && mutant.by !== undefined
          ? [{ ...mutant, file, by: mutant.by } satisfies Killed]
          : [],
      )
    : [],
);
const [tests] = inOrder([...new Set(killed.map(({ by }) => by))]);
const sample = inOrder(killed.filter(({ by }) => by === tests)).slice(0, SAMPLE);
if (tests === undefined || sample.length === 0)
  throw new Error('There is no mutant to run again: npm run mutation');
say(
  `${Math.round(100 * staleShare(report))} % of the mutants are in files that changed since 'npm run mutation'`,
);
say(`${sample.length} mutants that ${tests} kills`);
const again = await mutate({
  mutate: sample.map((mutant) => rangeOf(mutant.file, mutant)),
  tests: [tests],
  budget: Number.POSITIVE_INFINITY,
  oneByOne: false,
});
const isAlive = (mutant: Killed) =>
  !again[mutant.file]?.mutants.some(
    ({ at, mutator, replacement, fate }) =>
      at === mutant.at &&
      mutator === mutant.mutator &&
      replacement === mutant.replacement &&
      fate === 'killed',
  );
const alive = sample.filter(isAlive);
for (const { file, at, replacement } of alive) {
  say(`${file}:${at.split('-')[0]}: ${tests} no longer fails with ${replacement}`);
}
process.exitCode = alive.length === 0 ? 0 : 1;

/** In an order that is another one for each commit, and the same for the same. */
function inOrder<T>(all: readonly T[]): readonly T[] {
  const place = (each: T) =>
    createHash('sha256')
      .update(commit + JSON.stringify(each))
      .digest('hex');
  return all.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
}
