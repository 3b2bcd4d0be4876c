/**
 * Writes the figures of the benchmarks into the pages, and draws their charts. Everything comes
 * from `tools/bench/results` and `tools/bench/cost-history.jsonl`. A page names what it shows, for
 * example `<!-- figures: sqlite -->`, up to `<!-- /figures -->`. With --check, it only reports what
 * is out of date.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as prettier from 'prettier';
import { historyTable } from '../bench/cost-history.ts';
import { storedPictures } from '../bench/plots.ts';
import { markdownOf, ratioOf, type Table } from '../bench/print.ts';
import { circumstancesOf, isRun, storedResults, type Result, type Run } from '../bench/results.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
/**
 * Pages for people who read about Portico. Decisions keep the figures from the day of the decision.
 */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync(['docs/**/*.md', 'packages/*/README.md', 'examples/**/README.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', 'docs/decisions/**', 'docs/generated/**'],
  }).toSorted(),
  'tools/bench/README.md',
  'tools/bench/RESULTS.md',
];
/** The generated part of a page: its name, and its text up to the end. */
export const BLOCK: RegExp = /(<!-- figures: ([\w-]+) -->\n)[^]*?(<!-- \/figures -->)/g;

const CHARTS: Readonly<Record<string, string>> = {
  rate: 'Requests a second of each work and server, as bars',
  p99: '99th percentile of each work and server, as bars',
  process: 'Start and memory of each server, as bars',
};

/** Returns the pages with current figures, and the current charts, by their paths. */
export async function currentFiles(): Promise<ReadonlyMap<string, string>> {
  const results = storedResults();
  const files = new Map(storedPictures());
  for (const page of PAGES) {
    const file = path.join(ROOT, page);
    const text = readFileSync(file, 'utf8');
    if (!text.includes('<!-- figures:')) continue;
    const filled = text.replaceAll(
      BLOCK,
      (_, start: string, name: string, end: string) =>
        `${start}\n${textOf(page, name, results)}\n\n${end}`,
    );
    const options = await prettier.resolveConfig(file);
    files.set(file, await prettier.format(filled, { ...options, filepath: file }));
  }
  return files;
}

function textOf(page: string, name: string, results: ReadonlyMap<string, Result>): string {
  if (name === 'short') return shortOf(page, results);
  if (name === 'cost-history') return historyTable();
  const result = results.get(name);
  if (result === undefined) throw new Error(`There is no tools/bench/results/${name}.json`);
  const { how, versions, tables } = result;
  return [
    `Measured on ${circumstancesOf(result)} ${how}${versions === '' ? '' : ` ${versions}.`}`,
    ...tables.flatMap((table) => [
      ...(table.caption === '' ? [] : [table.caption]),
      ...chartOf(name, table),
      markdownOf(table),
    ]),
    ...reachedIn(result),
  ].join('\n\n');
}

function chartOf(name: string, { chart }: Table): readonly string[] {
  return chart === undefined ? [] : [`![${CHARTS[chart]}](results/${name}-${chart}.svg)`];
}

function reachedIn({ targets: { reached, of } }: Result): readonly string[] {
  return of === 0 ? [] : [`Targets reached: ${reached} of ${of}.`];
}

// --- the short form
// -------------------------------------------------------------------------------------------------

const OURS = 'portico';
const PEER = 'oidc-provider';
const WORKS = ['client-credentials token', 'introspection', 'UserInfo'];

/**
 * Returns the rates of three works on SQLite, and how many targets were reached, with a link from
 * the page to the list of targets.
 */
function shortOf(page: string, results: ReadonlyMap<string, Result>): string {
  const run = results.get('sqlite');
  if (run === undefined || !isRun(run)) throw new Error('There is no complete run on SQLite');
  const [tokens, introspections, userinfo] = WORKS.map((work) =>
    (run.perSecond[work]?.[OURS] ?? 0).toLocaleString('en'),
  );
  const [forTokens, forIntrospections, forUserinfo] = WORKS.map((work) => timesThePeer(run, work));
  const { reached, of } = run.targets;
  const [machine = ''] = run.machine.split(',');
  const list = path.posix.relative(path.posix.dirname(page), 'tools/bench/RESULTS.md');
  return [
    `Responses a second on one core with SQLite: ${tokens} tokens (${forTokens} ${PEER}),`,
    `${introspections} introspections (${forIntrospections}), ${userinfo} UserInfo (${forUserinfo}). ${circumstancesOf({ ...run, machine, commit: null, load: null })}`,
    `Portico reaches ${reached} of its ${of} [performance targets](${list}#sqlite).`,
  ].join(' ');
}

/**
 * Returns the ratio that the run printed, if it printed one: it was computed from figures that were
 * not rounded.
 */
function timesThePeer({ tables, perSecond }: Run, work: string): string {
  const table = tables.find(({ chart }) => chart === 'rate');
  const column = table?.head.indexOf(`against ${PEER}`) ?? -1;
  const printed = table?.rows.find(([name]) => name === work)?.[column];
  return printed ?? ratioOf(perSecond[work]?.[OURS], perSecond[work]?.[PEER]);
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  for (const [file, text] of await currentFiles()) {
    if (!isCheck) writeFileSync(file, text);
    else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
      process.stderr.write(`${path.relative(ROOT, file)} is out of date: npm run figures\n`);
      process.exitCode = 1;
    }
  }
}
