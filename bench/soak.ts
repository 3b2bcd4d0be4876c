// node bench/dist/soak.js [minutes]: Portico at about half of what it can do, for ten minutes: whole lives of tokens and
// calls with them. Prints memory, open files and errors every minute.
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { measure } from './measure.ts';
import { Bench, type RunningTarget } from './server.ts';
import { WORKS } from './works.ts';

const minutes = Number(process.argv[2] ?? 10);
const CONNECTIONS = 10;
/** What a token's life is made of, and how often in a round. */
const SHARES: readonly (readonly [work: string, times: number])[] = [
  ['whole authorization', 1],
  ['refresh with ID token, RS256', 2],
  ['client-credentials token', 5],
  ['introspection', 20],
  ['UserInfo', 20],
  ['protected endpoint', 40],
];

const bench = await Bench.seed('portico');
const running = await bench.start();
try {
  const full = await measure(bench.port, roundOn, { connections: CONNECTIONS, warmUp: 5, seconds: 10 });
  const half = full.perSecond / 2;
  print(`full load: ${full.perSecond.toFixed(1)} rounds a second; half of it for ${minutes} minutes\n`);
  print('| minute | rounds | errors | p99 of a round, ms | resident, MiB | open files |');
  print('| --: | --: | --: | --: | --: | --: |');
  await soak(half);
} finally {
  await running.stop();
  await bench.remove();
}

/** Starts rounds at an even pace, each on the connection that has waited longest, whether or not the last has ended. */
async function soak(perSecond: number): Promise<void> {
  const idle: (() => Promise<unknown>)[] = [];
  const connections: Connection[] = [];
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const connection = await Connection.open(bench.port);
    connections.push(connection);
    idle.push(await roundOn(connection));
  }
  const began = performance.now();
  let started = 0;
  let errors = 0;
  let latencies: number[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    while (performance.now() < began + minute * 60_000) {
      const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
      while (started < due) {
        const step = idle.shift();
        if (step === undefined) break;
        started += 1;
        const from = performance.now();
        void step()
          .catch(() => (errors += 1))
          .finally(() => {
            latencies.push(performance.now() - from);
            idle.push(step);
          });
      }
      await setTimeout(1);
    }
    const p99 = latencies.toSorted((one, other) => one - other)[Math.floor(latencies.length * 0.99)] ?? 0;
    const { now } = running.memory();
    print(
      `| ${minute} | ${latencies.length} | ${errors} | ${p99.toFixed(0)} | ${now.toFixed(0)} | ${openFiles(running)} |`,
    );
    latencies = [];
  }
  for (const connection of connections) connection.close();
}

/** One round: each work so many times, one after the other. */
async function roundOn(connection: Connection): Promise<() => Promise<void>> {
  const steps: (() => Promise<unknown>)[] = [];
  for (const [name, times] of SHARES) {
    const work = WORKS.find((each) => each.name === name);
    if (work === undefined) throw new Error(`There is no work ${name}`);
    const step = await work.prepare(bench.seeded, connection);
    for (let time = 0; time < times; time += 1) steps.push(step);
  }
  return async () => {
    for (const step of steps) await step();
  };
}

function openFiles({ pid }: RunningTarget): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
