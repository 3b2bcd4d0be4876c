// `npm run mutation:check` is for CI. It does a limited part of `npm run mutation`: if a test file
// killed mutants of a source before, it must kill them again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { readBaseline } from './baseline.ts';
import { isCurrent } from './report.ts';
import { mutate } from './stryker.ts';

/** The maximum number of mutants of a file that is run again. Each commit chooses another file. */
const MOST = 120;
/** For a file that changed: the share of the mutants killed before that must be killed again. */
const LEAST = 0.9;

const root = path.join(import.meta.dirname, '..', '..');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A source, and the test file that kills most of its mutants. */
interface Pair {
  readonly file: string;
  readonly tests: string;
  readonly killed: number;
  readonly all: number;
}

const baseline = readBaseline();
const pairs = Object.entries(baseline)
  .flatMap(([file, { killed, survived, by }]) =>
    Object.entries(by).map(([tests, count]): Pair => ({
      file,
      tests,
      killed: count,
      all: killed + survived,
    })),
  )
  .filter(({ killed, all }) => all <= MOST && killed > all / 2)
  .filter(({ file, tests }) => [file, tests].every((each) => existsSync(path.join(root, each))));
const unchanged = pairs.filter(({ file }) => isCurrent(baseline, file));
say(`${unchanged.length} of ${pairs.length} files are as they were at the last 'npm run mutation'`);

const pair = pickByCommit(unchanged.length > 0 ? unchanged : pairs);
const { file, tests } = pair;
say(`${file}: ${tests} killed ${pair.killed} of ${pair.all} mutants`);
const again = await mutate({
  mutate: [file],
  tests: [tests],
  budget: Number.POSITIVE_INFINITY,
  oneByOne: false,
});
const mutants = again[file]?.mutants ?? [];
const killed = mutants.filter(({ fate }) => fate === 'killed').length;
const alive = mutants.filter(({ fate }) => fate === 'survived');
const expected = isCurrent(baseline, file)
  ? pair.killed
  : Math.floor((LEAST * pair.killed * (killed + alive.length)) / pair.all);
say(`It kills ${killed} of ${killed + alive.length} now`);
if (killed < expected) {
  for (const { at, replacement } of alive)
    say(`${file}:${at.split('-')[0]}: lives with ${replacement}`);
  say(`At least ${expected} were expected`);
  process.exitCode = 1;
}

/** Chooses a pair by the commit. The same commit always chooses the same pair. */
function pickByCommit(all: readonly Pair[]): Pair {
  const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout;
  const place = (each: Pair) =>
    createHash('sha256')
      .update(commit + JSON.stringify(each))
      .digest('hex');
  const [first] = all.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
  if (first === undefined) throw new Error('There is no file to mutate again: npm run mutation');
  return first;
}
