// The results of the benchmarks. Each program stores the tables that it printed in
// `results/<name>.json`, together with the circumstances. `npm run figures` writes them into the
// pages.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { PRINTED, type Table } from './print.ts';

/** What a program measured, and under which conditions. */
export interface Result {
  /** The day of the measurement, as in `2026-11-28`. */
  readonly date: string;
  /** The commit. It ends with `+` if files were changed. It is null if it was not recorded. */
  readonly commit: string | null;
  /** The processors and the memory. */
  readonly machine: string;
  readonly node: string;
  /** The load averages of one minute at the start and at the end. */
  readonly load: readonly [number, number] | null;
  /** The versions of the other software that was measured. */
  readonly versions: string;
  /** The store, how many times the program measured it, and for how long. */
  readonly how: string;
  readonly tables: readonly Table[];
  /** How many targets there are in the tables, and how many of them were reached. */
  readonly targets: { readonly reached: number; readonly of: number };
}

/** A complete run of `run.ts`. A figure that was not measured is missing. */
export interface Run extends Result {
  /** The names of the servers, in the order of the tables. */
  readonly servers: readonly string[];
  /** Requests per second with few connections, by work and server. */
  readonly perSecond: FiguresByWork;
  /** The 99th percentile with many connections, in milliseconds, by work and server. */
  readonly p99: FiguresByWork;
  /** The time from the start of the process to its first response, in milliseconds, by server. */
  readonly start: Readonly<Record<string, number>>;
  /** The most memory in the run, in MiB, by server. */
  readonly memory: Readonly<Record<string, number>>;
}

export type FiguresByWork = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The folder of this file is `bench/`, or `bench/dist/` in the build. */
export const BENCH: string = path.join(
  import.meta.dirname,
  ...(path.basename(import.meta.dirname) === 'dist' ? ['..'] : []),
);
export const RESULTS: string = path.join(BENCH, 'results');

const startLoad = loadavg()[0] ?? 0;

/** Stores the tables that this process printed, with other results such as the figures of a run. */
export function storeResult(
  name: string,
  more: Pick<Result, 'how'> & Partial<Omit<Run, 'tables' | 'targets'>>,
): void {
  const result: Result = {
    ...circumstances(),
    versions: '',
    ...more,
    tables: PRINTED,
    targets: targetsIn(PRINTED),
  };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(path.join(RESULTS, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

/** Returns the date, the commit, the machine, the version of Node and the load. */
export function circumstances(): Pick<Result, 'date' | 'commit' | 'machine' | 'node' | 'load'> {
  const rounded = (load: number) => Number(load.toFixed(1));
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commitOf(BENCH),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    node: process.version,
    load: [rounded(startLoad), rounded(loadavg()[0] ?? 0)],
  };
}

/** Returns the commit that a checkout is at, with `+` if its files differ from it. */
export function commitOf(folder: string): string {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  const changed = git(
    'status',
    '--porcelain',
    '--untracked-files=no',
    ':/packages',
    ':/tools/bench/*.ts',
  );
  return `${git('rev-parse', '--short=12', 'HEAD')}${changed === '' ? '' : '+'}`;
}

/** Counts the cells of the columns `reached`. */
export function targetsIn(tables: readonly Table[]): Result['targets'] {
  const cells = tables.flatMap(({ head, rows }) =>
    head.includes('reached') ? rows.map((row) => row[head.indexOf('reached')]) : [],
  );
  const reached = cells.filter((cell) => cell === 'yes').length;
  return { reached, of: reached + cells.filter((cell) => cell === '**no**').length };
}

/** Returns the stored results by their names. */
export function storedResults(): ReadonlyMap<string, Result> {
  return new Map(
    globSync('*.json', { cwd: RESULTS })
      .toSorted()
      .map((file) => [
        path.basename(file, '.json'),
        JSON.parse(readFileSync(path.join(RESULTS, file), 'utf8')) as Result,
      ]),
  );
}

export function isRun(result: Result): result is Run {
  return 'perSecond' in result;
}

/** Names the circumstances of a result in one sentence. */
export function circumstancesOf({
  date,
  commit,
  machine,
  node,
  load,
}: Omit<Result, 'tables'>): string {
  const day = new Date(`${date}T00:00:00Z`).toLocaleDateString('en-GB', {
    dateStyle: 'long',
    timeZone: 'UTC',
  });
  const at = commit === null ? '' : `, commit \`${commit}\``;
  const loaded =
    load === null
      ? ''
      : `, load ${load[0].toFixed(1)} at the start and ${load[1].toFixed(1)} at the end`;
  return `${day}${at}, ${machine}, Node ${node.replace(/^v/, '')}${loaded}.`;
}
