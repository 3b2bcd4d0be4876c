// node bench/dist/workers.js [--rounds 3] [--seconds 2]
//
// Measures `portico serve --workers 1` and `--workers 2`, which take turns. It uses SQLite, or the
// PostgreSQL server in DATABASE_URL. The workers, the load and the database server all run on this
// machine, and no process is pinned to a core.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createDatabase } from './database.ts';
import { measure, type Measured } from './measure.ts';
import { figure, median, print, printRows, shareOf } from './print.ts';
import { storeResult } from './results.ts';
import { Bench, freePort, type RunningTarget } from './server.ts';
import { WORKS, type Work } from './works.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
});
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
const postgres = process.env['DATABASE_URL'];
const WORKERS = [1, 2] as const;
const CONNECTIONS = [10, 50] as const;
const MEASURED = ['client-credentials token', 'introspection', 'refresh, no ID token', 'UserInfo'];

interface Served {
  readonly workers: number;
  readonly port: number;
  readonly running: RunningTarget;
}

const bench = await Bench.seed(
  'portico-serve',
  postgres === undefined ? null : await createDatabase(postgres),
);
const served: Served[] = [];
try {
  for (const workers of WORKERS) {
    const port = await freePort();
    served.push({ workers, port, running: await bench.start({ port, pinned: false, workers }) });
  }
  const how =
    `${postgres === undefined ? 'SQLite, synchronous=FULL' : 'PostgreSQL'}; \`portico serve\`, medians of ` +
    `${rounds} turns of ${seconds} s; the workers, the load and the database share ${cpus().length} cores.`;
  print(`${how}\n`);
  for (const connections of CONNECTIONS) await printTable(connections);
  storeResult(postgres === undefined ? 'workers-sqlite' : 'workers-postgres', { how });
} finally {
  for (const { running } of served) await running.stop();
  await bench.remove();
}

async function printTable(connections: number): Promise<void> {
  const rows: string[][] = [];
  for (const work of WORKS.filter(({ name }) => MEASURED.includes(name))) {
    const by = await turns(work, connections);
    const rates = WORKERS.map((workers) =>
      median((by.get(workers) ?? []).map(({ perSecond }) => perSecond)),
    );
    const latencies = WORKERS.map((workers) =>
      median((by.get(workers) ?? []).map(({ p99 }) => p99)),
    );
    const cells = rates.map((rate, at) => `${figure(rate)} (p99 ${latencies[at]?.toFixed(1)} ms)`);
    rows.push([work.name, ...cells, shareOf(rates[1], rates[0])]);
  }
  const head = ['work', '1 worker', '2 workers', '2 against 1'];
  printRows(head, rows, { caption: `Requests a second, ${connections} connections:` });
  print('');
}

async function turns(
  work: Work,
  connections: number,
): Promise<ReadonlyMap<number, readonly Measured[]>> {
  const runs = new Map<number, Measured[]>(WORKERS.map((workers) => [workers, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { workers, port } of round % 2 === 0 ? served : served.toReversed()) {
      const load = { connections, warmUp: seconds / 4, seconds };
      const prepare = (connection: Parameters<Work['prepare']>[1]) =>
        work.prepare(bench.seeded, connection);
      runs.get(workers)?.push(await measure(port, prepare, load));
    }
  }
  return runs;
}
