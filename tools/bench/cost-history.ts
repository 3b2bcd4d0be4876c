// The history of what a request costs the processor: one line of cost-history.jsonl for each
// recorded commit.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { markdownOf, percent } from './print.ts';
import { BENCH } from './results.ts';

/** The cost of each request at a commit, compared with an earlier commit in the same run. */
export interface Recorded {
  /** The day of the commit, as in `2026-11-28`. */
  readonly date: string;
  readonly commit: string;
  /** The commit that it is compared with. */
  readonly base: string;
  readonly machine: string;
  readonly node: string;
  readonly load: readonly [number, number] | null;
  readonly works: Readonly<Record<string, Cost>>;
  /** Why a rise above the limit was accepted, by work. */
  readonly accepted?: Readonly<Record<string, string>>;
}

export interface Cost {
  /** The instructions of a request in user mode, at the base and at the commit. */
  readonly base: number;
  readonly commit: number;
  /** The cost at the commit, divided by the cost at the base. */
  readonly ratio: number;
}

/** The file of the history. Its last line is the last recorded commit. */
export const HISTORY: string = path.join(BENCH, 'cost-history.jsonl');
/** How many commits the page shows. */
const SHOWN = 10;

export function recordedCosts(): readonly Recorded[] {
  if (!existsSync(HISTORY)) return [];
  return readFileSync(HISTORY, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);
}

/**
 * Returns the last recorded commits as a table. The last column compares with the first commit of
 * all.
 */
export function historyTable(): string {
  const all = recordedCosts();
  if (all.length === 0) return 'No commit is recorded yet.';
  const works = Object.keys(all.at(-1)?.works ?? {});
  const head = ['commit', 'day', 'compared with', ...works, 'accepted because'];
  const rows = all
    .slice(-SHOWN)
    .map(({ commit, date, base, works: costs, accepted = {} }) => [
      `\`${commit}\``,
      date,
      `\`${base}\``,
      ...works.map((work) => cellOf(costs[work])),
      [...new Set(Object.values(accepted))].join('; '),
    ]);
  const since = works.map((work) =>
    percent(all.reduce((product, { works: costs }) => product * (costs[work]?.ratio ?? 1), 1)),
  );
  return markdownOf({
    caption: '',
    head,
    rows: [...rows, ['all together', '', `\`${all[0]?.base}\``, ...since, '']],
  });
}

function cellOf(cost: Cost | undefined): string {
  return cost === undefined ? '-' : `${(cost.ratio * 100).toFixed(1)} %`;
}
