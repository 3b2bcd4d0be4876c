// `npm run bench`: every work on every target, in turn, in one run; prints the tables of RESULTS.md. DATABASE_URL names a
// PostgreSQL server to do it on instead of SQLite. With --quick, everything once and briefly: does it all still work?
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createDatabase } from './database.ts';
import { measure, type Measured } from './measure.ts';
import { Bench, CAN_PIN, type RunningTarget } from './server.ts';
import { WORKS, type Work } from './works.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    targets: { type: 'string' },
    works: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
});
const rounds = options.quick ? 1 : Number(options.rounds);
const seconds = options.quick ? 0.2 : Number(options.seconds);
const postgres = process.env['DATABASE_URL'];
const names = (
  options.targets ??
  (postgres === undefined ? 'portico,oidc-provider,better-auth,jmondi,bare' : 'portico,oidc-provider,bare')
).split(',');

interface Contender {
  readonly bench: Bench;
  readonly running: RunningTarget;
  /** Milliseconds from starting the process to its first answer. */
  readonly start: number;
}

/** Which of the targets are compared: Portico, oidc-provider and the bare limit, in whatever framework. */
const [ours = '', peer = '', limit = ''] = ['portico', 'oidc-provider', 'bare'].map((start) =>
  names.find((name) => name.startsWith(start)),
);

const contenders: Contender[] = [];
try {
  const benches: Bench[] = [];
  for (const name of names)
    benches.push(await Bench.seed(name, postgres === undefined ? null : await createDatabase(postgres)));
  const starts = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds * 3; round += 1) {
    for (const bench of benches) {
      const running = await bench.start();
      starts.get(bench.name)?.push(running.startedIn);
      await running.stop();
    }
  }
  for (const bench of benches) {
    contenders.push({
      bench,
      running: await bench.start(),
      start: median(starts.get(bench.name) ?? []),
    });
  }
  await printTables();
} finally {
  for (const { bench, running } of contenders) {
    await running.stop();
    bench.remove();
  }
}

async function printTables(): Promise<void> {
  print(`${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${versionsOf(names)}.`);
  print(
    `${postgres === undefined ? 'SQLite, synchronous=FULL' : 'PostgreSQL'}; medians of ${rounds} interleaved runs of ` +
      `${seconds} s; ${CAN_PIN ? 'each server on one core, the load on the other' : 'not pinned to cores'}.\n`,
  );
  const works = WORKS.filter(({ name }) => name.includes(options.works));
  const few = await table(works, 10);
  const many = await table(works, 50);
  print('Requests a second, 10 connections:\n');
  printRows(
    ['work', ...names, 'against oidc-provider', 'of the bare limit'],
    works.map(({ name }) => [
      name,
      ...names.map((target) => figure(few.get(name)?.get(target)?.perSecond)),
      `${ratio(few.get(name), ours, peer)} ×`,
      percent(few.get(name), ours, limit),
    ]),
  );
  print('\n99th percentile in milliseconds, 50 connections, and requests a second there:\n');
  printRows(
    ['work', ...names, 'against oidc-provider'],
    works.map(({ name }) => [
      name,
      ...names.map((target) => {
        const measured = many.get(name)?.get(target);
        return measured === undefined ? '-' : `${measured.p99.toFixed(1)} (${figure(measured.perSecond)})`;
      }),
      shareOf(many.get(name)?.get(ours)?.p99, many.get(name)?.get(peer)?.p99),
    ]),
  );
  print('');
  const of = (name: string) => contenders.find(({ bench }) => bench.name === name);
  const memory = new Map(contenders.map(({ bench, running }) => [bench.name, running.memory().peak]));
  printRows(
    ['', ...names, 'against oidc-provider'],
    [
      [
        'start to first answer, ms',
        ...names.map((name) => figure(of(name)?.start)),
        shareOf(of(ours)?.start, of(peer)?.start),
      ],
      [
        'peak memory, MiB',
        ...names.map((name) => figure(memory.get(name))),
        shareOf(memory.get(ours), memory.get(peer)),
      ],
    ],
  );
}

type Table = ReadonlyMap<string, ReadonlyMap<string, Measured>>;

/** By work and target, the median of the rounds. The targets take turns, so that what disturbs one disturbs all. */
async function table(works: readonly Work[], connections: number): Promise<Table> {
  const rows = new Map<string, ReadonlyMap<string, Measured>>();
  for (const work of works) {
    const runs = new Map<string, Measured[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const { bench } of contenders) {
        if (!work.applies(bench.seeded)) continue;
        const load = { connections, warmUp: seconds / 4, seconds };
        const measured = await measure(
          bench.port,
          (connection) => work.prepare(bench.seeded, connection),
          load,
        );
        runs.set(bench.name, [...(runs.get(bench.name) ?? []), measured]);
      }
    }
    rows.set(
      work.name,
      new Map(
        [...runs].map(([target, measured]) => [
          target,
          {
            done: measured.reduce((sum, { done }) => sum + done, 0),
            perSecond: median(measured.map(({ perSecond }) => perSecond)),
            p50: median(measured.map(({ p50 }) => p50)),
            p99: median(measured.map(({ p99 }) => p99)),
            slowest: Math.max(...measured.map(({ slowest }) => slowest)),
          },
        ]),
      ),
    );
  }
  return rows;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function figure(value: number | undefined): string {
  return value === undefined ? '-' : value.toLocaleString('en', { maximumFractionDigits: 0 });
}

function ratio(row: ReadonlyMap<string, Measured> | undefined, one: string, other: string): string {
  const [first, second] = [row?.get(one)?.perSecond, row?.get(other)?.perSecond];
  return first === undefined || second === undefined ? '-' : (first / second).toFixed(2);
}

function percent(row: ReadonlyMap<string, Measured> | undefined, one: string, other: string): string {
  return shareOf(row?.get(one)?.perSecond, row?.get(other)?.perSecond);
}

function shareOf(one: number | undefined, other: number | undefined): string {
  return one === undefined || other === undefined ? '-' : `${((one / other) * 100).toFixed(0)} %`;
}

function printRows(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  print(
    [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n'),
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function versionsOf(targets: readonly string[]): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const packages = [
    'oidc-provider',
    'better-auth',
    '@better-auth/oauth-provider',
    '@jmondi/oauth2-server',
    'express',
  ];
  return packages
    .filter((name) => targets.some((target) => name.includes(target) || target.includes(name)))
    .map((name) => `${name} ${manifest.devDependencies[name] ?? '?'}`)
    .join(', ');
}
