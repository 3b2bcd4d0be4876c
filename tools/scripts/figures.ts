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
/** Pages of people who read about Portico. Decisions keep the figures of their day. */
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
        `${start}\n${textOf(name, results)}\n\n${end}`,
    );
    const options = await prettier.resolveConfig(file);
    files.set(file, await prettier.format(filled, { ...options, filepath: file }));
  }
  return files;
}

function textOf(name: string, results: ReadonlyMap<string, Result>): string {
  if (name === 'summary') return summaryOf(results);
  if (name === 'short') return shortOf(results);
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

// --- the summary
// -------------------------------------------------------------------------------------------------

const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;
const OURS = 'portico';
/** Works that are not in the summary. */
const LEFT_OUT = ['discovery', 'key set', 'refresh with ID token, ES256'];

/** Returns the rates of Portico, and its ratio to each other server that runs on both engines. */
function summaryOf(results: ReadonlyMap<string, Result>): string {
  const runs = Object.entries(ENGINES).flatMap(([name, label]) => {
    const run = results.get(name);
    return run !== undefined && isRun(run) ? [{ label, run }] : [];
  });
  const [first] = runs;
  if (first === undefined) throw new Error('There is no complete run');
  const peers = first.run.servers.filter(
    (server) => isPeer(server) && runs.every(({ run }) => run.servers.includes(server)),
  );
  const head = runs.flatMap(({ label }) => [
    `${label}, a second`,
    ...peers.map((peer) => `to ${peer}`),
  ]);
  const works = Object.keys(first.run.perSecond).filter((work) => !LEFT_OUT.includes(work));
  const rows = works.map((work) => [
    work,
    ...runs.flatMap(({ run }) => ratiosOf(run, work, peers)),
  ]);
  const said = runs.map(
    ({ label, run }) =>
      `${label}: ${circumstancesOf(run)} Targets reached: ${run.targets.reached} of ${run.targets.of}.`,
  );
  return [markdownOf({ caption: '', head: ['10 connections', ...head], rows }), ...said].join(
    '\n\n',
  );
}

/** Returns the rates of three works on SQLite as a sentence. */
function shortOf(results: ReadonlyMap<string, Result>): string {
  const run = results.get('sqlite');
  if (run === undefined || !isRun(run)) throw new Error('There is no complete run on SQLite');
  const works = ['client-credentials token', 'introspection', 'UserInfo'];
  const measured = works.map((work) => ratiosOf(run, work, ['oidc-provider']));
  const [tokens, introspections, userinfo] = measured.map(([rate]) => rate);
  const times = measured.map(([, ratio = '']) => ratio.replace(' ×', ''));
  const { reached, of } = run.targets;
  return [
    `One core, SQLite: ${tokens} tokens, ${introspections} introspections and ${userinfo} UserInfo`,
    `responses a second (${times.join(', ')} times oidc-provider). ${circumstancesOf(run)}`,
    `Targets reached: ${reached} of ${of}.`,
  ].join(' ');
}

const isPeer = (server: string): boolean => !server.startsWith(OURS) && server !== 'bare';

function ratiosOf(run: Run, work: string, peers: readonly string[]): readonly string[] {
  const by = run.perSecond[work] ?? {};
  return [
    (by[OURS] ?? 0).toLocaleString('en'),
    ...peers.map((peer) => printedRatio(run, work, peer) ?? ratioOf(by[OURS], by[peer])),
  ];
}

/** Returns the ratio as the run printed it, from figures that were not rounded. */
function printedRatio({ tables }: Run, work: string, peer: string): string | undefined {
  const table = tables.find(({ chart }) => chart === 'rate');
  const column = table?.head.indexOf(`against ${peer}`) ?? -1;
  return table?.rows.find(([name]) => name === work)?.[column];
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
