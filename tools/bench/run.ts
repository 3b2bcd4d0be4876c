// `npm run bench` runs every work on every target and prints the tables of RESULTS.md. The targets
// take turns in one run. It uses SQLite, or the PostgreSQL server in DATABASE_URL. A complete run
// stores its figures in results/. With --quick, everything runs only once and for a
// short time, to see whether it still works.
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createDatabase } from './database.ts';
import { atMost, cellsOf, comparedWith, GOALS, type Run, type Verdict } from './goals.ts';
import { measure, type Measured } from './measure.ts';
import { figure, median, print, printRows, ratioOf, shareOf } from './print.ts';
import { storeResult, type FiguresByWork } from './results.ts';
import { Bench, CAN_PIN, type RunningTarget } from './server.ts';
import { builtPrograms, programOf } from './programs.ts';
import { signaturesPerSecond } from './signatures.ts';
import { warmUp } from './warm.ts';
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
/** Whether the run is complete. Other runs are neither stored nor drawn. */
const isWhole = !options.quick && options.targets === undefined && options.works === '';
const rounds = options.quick ? 1 : Number(options.rounds);
const seconds = options.quick ? 0.2 : Number(options.seconds);
/** The numbers of connections: one for the rate, and one for the 99th percentile. */
const [FEW, MANY] = options.quick ? [2, 5] : [10, 50];
const postgres = process.env['DATABASE_URL'];
const store = postgres === undefined ? 'SQLite' : 'PostgreSQL';
const names: readonly string[] = options.targets?.split(',') ?? [
  'portico',
  'portico-serve',
  'oidc-provider',
  ...(store === 'SQLite' ? ['better-auth', 'jmondi'] : []),
  'bare',
  ...builtPrograms(store),
];

interface Contender {
  readonly bench: Bench;
  readonly running: RunningTarget;
  /** The time from the start of the process to its first response, in milliseconds. */
  readonly start: number;
}

/**
 * The target for the comparison of memory: `npx portico serve`. All other figures are from a server
 * that an application starts.
 */
const SERVED = 'portico-serve';

/** The targets that are compiled programs. A run with one of them has more goals. */
const COMPILED = ['zitadel-oidc', 'spring', 'bare-go'];

/**
 * The three targets to compare: Portico, oidc-provider and the bare limit. Each can run in any
 * framework.
 */
const [ours = '', peer = '', limit = ''] = ['portico', 'oidc-provider', 'bare'].map((start) =>
  names.find((name) => name.startsWith(start) && !COMPILED.includes(name)),
);

const contenders: Contender[] = [];
try {
  const benches: Bench[] = [];
  for (const name of names)
    benches.push(
      await Bench.seed(name, postgres === undefined ? null : await createDatabase(postgres)),
    );
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
  if (!options.quick) for (const { bench } of contenders) await warmUp(bench);
  await printTables();
} finally {
  for (const { bench, running } of contenders) {
    await running.stop();
    await bench.remove();
  }
}

async function printTables(): Promise<void> {
  const engine = store === 'SQLite' ? 'SQLite, synchronous=FULL' : 'PostgreSQL';
  const how =
    `${engine}; medians of ${rounds} interleaved runs of ${seconds} s; ` +
    (CAN_PIN ? 'each server on one core, the load on the other.' : 'not pinned to cores.');
  print(`${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${versionsOf(names)}.`);
  print(`${how}\n`);
  const works = WORKS.filter(
    ({ name, applies }) =>
      name.includes(options.works) && contenders.some(({ bench }) => applies(bench.seeded)),
  );
  const few = await table(works, FEW);
  const many = await table(works, MANY);
  const goals = GOALS[store];
  const verdicts: Verdict[] = [];
  const held = (verdict: Verdict | null) => {
    if (verdict !== null) verdicts.push(verdict);
    return cellsOf(verdict);
  };
  printRows(
    ['work', ...names, 'against oidc-provider', 'target', 'reached', 'of the bare limit'],
    works.map(({ name }) => {
      const { by, signatures } = few.get(name) ?? {
        by: new Map<string, Measured>(),
        signatures: null,
      };
      const row = { ours: by.get(ours), peer: by.get(peer), limit: by.get(limit), signatures };
      return [
        name,
        ...names.map((target) => figure(by.get(target)?.perSecond)),
        ratioOf(row.ours?.perSecond, row.peer?.perSecond),
        ...held(goals[name]?.(row) ?? null),
        shareOf(row.ours?.perSecond, row.limit?.perSecond),
      ];
    }),
    { caption: `Requests a second, ${FEW} connections:`, chart: 'rate' },
  );
  print('');
  printRows(
    ['work', ...names],
    works.map(({ name }) => [
      name,
      ...names.map((target) => shareOf(few.get(name)?.by.get(target)?.busy ?? undefined, 1)),
    ]),
    {
      caption:
        'Share of its core that each server was busy with that; what is missing, it waited for its disk or its database:',
    },
  );
  print('');
  printRows(
    ['work', ...names, 'against oidc-provider', 'target', 'reached'],
    works.map(({ name }) => {
      const by = many.get(name)?.by;
      const [own, peers] = [by?.get(ours)?.p99, by?.get(peer)?.p99];
      return [
        name,
        ...names.map((target) => {
          const measured = by?.get(target);
          return measured === undefined
            ? '-'
            : `${measured.p99.toFixed(1)} (${figure(measured.perSecond)})`;
        }),
        shareOf(own, peers),
        ...held(name === 'protected endpoint' ? null : atMost(0.5, own, peers)),
      ];
    }),
    {
      caption: `99th percentile in milliseconds, ${MANY} connections, and requests a second there:`,
      chart: 'p99',
    },
  );
  print('');
  const starts = new Map(contenders.map(({ bench, start }) => [bench.name, start]));
  const memory = new Map(
    contenders.map(({ bench, running }) => [bench.name, running.memory().peak]),
  );
  const start = atMost(0.5, starts.get(ours), starts.get(peer));
  const peak = postgres === undefined ? atMost(0.5, memory.get(SERVED), memory.get(peer)) : null;
  printRows(
    ['', ...names, 'against oidc-provider', 'target', 'reached'],
    [
      [
        'start to first answer, ms',
        ...names.map((name) => figure(starts.get(name))),
        shareOf(starts.get(ours), starts.get(peer)),
        ...held(start),
      ],
      [
        `peak memory, MiB; of \`${SERVED}\` against it`,
        ...names.map((name) => figure(memory.get(name))),
        shareOf(memory.get(SERVED), memory.get(peer)),
        ...held(peak),
      ],
    ],
    { caption: 'Start and memory:', chart: 'process' },
  );
  const reached = verdicts.filter((verdict) => verdict.reached).length;
  print(`\nTargets reached: ${reached} of ${verdicts.length}.`);
  const tables = [
    { connections: FEW, lines: few },
    { connections: MANY, lines: many },
  ];
  if (names.some((name) => COMPILED.includes(name)))
    printCompared({
      engine: store,
      tables,
      memory,
      starts,
    });
  if (isWhole) {
    storeResult(postgres === undefined ? 'sqlite' : 'postgres', {
      how,
      versions: versionsOf(names),
      servers: names,
      perSecond: valuesOf(few, ({ perSecond }) => Math.round(perSecond)),
      p99: valuesOf(many, ({ p99 }) => Number(p99.toFixed(1))),
      start: rounded(starts),
      memory: rounded(memory),
    });
  }
}

function printCompared(run: Run): void {
  const compared = comparedWith(run);
  print('');
  printRows(
    ['what', 'goal', 'measured', 'reached'],
    compared.map(({ name, goal, measured, reached }) => [
      name,
      goal,
      measured,
      reached ? 'yes' : '**no**',
    ]),
    { caption: 'Goals against compiled servers:' },
  );
  const reached = compared.filter((each) => each.reached).length;
  print(`\nTargets reached against compiled servers: ${reached} of ${compared.length}.`);
}

function rounded(values: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...values].map(([name, value]) => [name, Math.round(value)]));
}

/** Returns the figures of a table, by work and target. */
function valuesOf(
  lines: ReadonlyMap<string, Line>,
  value: (measured: Measured) => number,
): FiguresByWork {
  const entries = [...lines].map(
    ([work, { by }]) =>
      [work, Object.fromEntries([...by].map(([name, each]) => [name, value(each)]))] as const,
  );
  return Object.fromEntries(entries);
}

interface Line {
  /** The median of the rounds, by target. */
  readonly by: ReadonlyMap<string, Measured>;
  /**
   * How many signatures of the work's algorithm the core makes per second. It is measured in the
   * same rounds.
   */
  readonly signatures: number | null;
}

/** Measures each work. The targets take turns, so that a disturbance affects all of them. */
async function table(
  works: readonly Work[],
  connections: number,
): Promise<ReadonlyMap<string, Line>> {
  const lines = new Map<string, Line>();
  for (const work of works) {
    const runs = new Map<string, Measured[]>();
    const signatures: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      if (work.algorithm !== null) signatures.push(signaturesPerSecond(work.algorithm, seconds));
      for (const { bench, running } of contenders) {
        if (!work.applies(bench.seeded)) continue;
        const measured = await measure(
          bench.port,
          (connection) => work.prepare(bench.seeded, connection),
          {
            connections,
            warmUp: seconds / 4,
            seconds,
            processorTime: () => running.processorTime(),
          },
        );
        runs.set(bench.name, [...(runs.get(bench.name) ?? []), measured]);
      }
    }
    lines.set(work.name, {
      by: new Map([...runs].map(([target, measured]) => [target, medianOf(measured)])),
      signatures: signatures.length === 0 ? null : median(signatures),
    });
  }
  return lines;
}

function medianOf(measured: readonly Measured[]): Measured {
  return {
    done: measured.reduce((sum, { done }) => sum + done, 0),
    perSecond: median(measured.map(({ perSecond }) => perSecond)),
    p50: median(measured.map(({ p50 }) => p50)),
    p99: median(measured.map(({ p99 }) => p99)),
    slowest: Math.max(...measured.map(({ slowest }) => slowest)),
    busy: median(measured.map(({ busy }) => busy ?? 0)),
  };
}

function versionsOf(targets: readonly string[]): string {
  const manifest = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  ) as {
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
    .concat(targets.flatMap((name) => programOf(name)?.version ?? []))
    .join(', ');
}
