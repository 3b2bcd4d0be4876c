// `npm run bench:soak -- [minutes] [mount] [rounds per second]`
//
// Calls every endpoint in each mount, in a heap of 64 MiB. It uses about half of the rate that a
// process can reach. If you give a rate, you can run several mounts at the same time. Every minute,
// it prints memory, open files and errors. At the end, it prints what a request left behind in the
// heap.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SOAKED } from '../../test/support/soak/soak.ts';
import { Connection } from './connection.ts';
import { measure } from './measure.ts';
import { figure, print, printRows } from './print.ts';
import { storeResult } from './results.ts';
import type { Listening } from './soaked.ts';
import type { Seeded } from './target.ts';
import { OTHER_WORKS, WORKS } from './works.ts';

const minutes = Number(process.argv[2] ?? 10);
const rate = process.argv[4] === undefined ? null : Number(process.argv[4]);
const mounts = SOAKED.filter((mount) => mount.includes(process.argv[3] ?? ''));
const CONNECTIONS = 10;
/**
 * The works in one round, and how often each runs. They are what happens in the life of a token. A
 * work that a mount does not have is left out.
 */
const SHARES: Readonly<Record<string, number>> = {
  'whole authorization': 1,
  'consent denied': 1,
  'refresh, no ID token': 1,
  'refresh with ID token, RS256': 1,
  'refresh with ID token, ES256': 1,
  'client-credentials token': 5,
  'a token revoked': 2,
  'a token refused': 2,
  introspection: 20,
  UserInfo: 20,
  'protected endpoint': 40,
  discovery: 1,
  'key set': 1,
  'MCP call': 20,
  'page of applications': 1,
};

/** A line for each mount, with its memory and open files in the second minute and in the last. */
const summary: string[][] = [];
for (const mount of mounts) await soakMount(mount);
printRows(
  [
    'mount',
    'rounds',
    'errors',
    'MiB in minute 2',
    'open files',
    `MiB in minute ${minutes}`,
    'open files',
    'left in the heap, bytes a request',
  ],
  summary,
);
if (mounts.length === SOAKED.length)
  storeResult('soak', {
    how: `Each mount in a heap of 64 MiB, for ${minutes} minutes, at ${rate ?? 'half of its full'} rounds a second.`,
  });

async function soakMount(mount: string): Promise<void> {
  const child = fork(path.join(import.meta.dirname, 'soaked.ts'), [mount], {
    execArgv: ['--expose-gc', '--max-old-space-size=64', '--max-semi-space-size=4'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  try {
    const { port, seeded } = await told<Listening>(child);
    const round = (connection: Connection) => roundOn(connection, seeded);
    const perSecond = rate ?? (await halfOfFull(port, round));
    print(`\n${mount}: ${perSecond.toFixed(1)} rounds a second for ${minutes} minutes\n`);
    print('| minute | rounds | errors | p99 of a round, ms | resident, MiB | open files |');
    print('| --: | --: | --: | --: | --: | --: |');
    const connections: Connection[] = [];
    const idle: (() => Promise<unknown>)[] = [];
    for (let index = 0; index < CONNECTIONS; index += 1) {
      const connection = await Connection.open(port);
      connections.push(connection);
      idle.push(await round(connection));
    }
    const before = await heapUsed(child);
    const { rounds, lines } = await soak(idle, perSecond, child);
    const grown = (await heapUsed(child)) - before;
    for (const connection of connections) connection.close();
    const requests = rounds * requestsOf(seeded);
    print(
      `\nLeft in the heap: ${(grown / 1024).toFixed(0)} KiB, ${(grown / requests).toFixed(1)} bytes a request.`,
    );
    const [first, last] = [lines[1] ?? lines[0], lines.at(-1)];
    const errors = last?.errors ?? 0;
    const memory = [first, last].flatMap((each) => [
      each?.resident ?? '-',
      `${each?.files ?? '-'}`,
    ]);
    summary.push([mount, figure(rounds), `${errors}`, ...memory, (grown / requests).toFixed(1)]);
  } finally {
    if (child.connected) child.disconnect();
    await exited;
  }
}

async function halfOfFull(port: number, round: Parameters<typeof measure>[1]): Promise<number> {
  const load = { connections: CONNECTIONS, warmUp: 5, seconds: Math.min(10, minutes * 10) };
  return (await measure(port, round, load)).perSecond / 2;
}

/** The errors so far, the resident memory in MiB and the number of open files. */
interface Minute {
  readonly errors: number;
  readonly resident: string;
  readonly files: number;
}

/**
 * Starts rounds at an even pace, even if the previous round has not ended. Returns the number of
 * rounds, and a line for each minute.
 */
async function soak(
  idle: (() => Promise<unknown>)[],
  perSecond: number,
  { pid = 0 }: ChildProcess,
): Promise<{ readonly rounds: number; readonly lines: readonly Minute[] }> {
  const began = performance.now();
  const lines: Minute[] = [];
  let [started, errors] = [0, 0];
  let latencies: number[] = [];
  const rounds = idle.length;
  for (let minute = 1; minute <= Math.ceil(minutes); minute += 1) {
    const until = began + Math.min(minute, minutes) * 60_000;
    while (performance.now() < until) {
      const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
      while (started < due) {
        const step = idle.shift();
        if (step === undefined) break;
        started += 1;
        const from = performance.now();
        void step()
          .catch((error: unknown) => {
            errors += 1;
            process.stderr.write(`${String(error)}\n`);
          })
          .finally(() => {
            latencies.push(performance.now() - from);
            idle.push(step);
          });
      }
      await setTimeout(1);
    }
    const p99 =
      latencies.toSorted((one, other) => one - other)[Math.floor(latencies.length * 0.99)] ?? 0;
    const line = { errors, resident: resident(pid), files: readdirSync(`/proc/${pid}/fd`).length };
    lines.push(line);
    print(
      `| ${minute} | ${latencies.length} | ${errors} | ${p99.toFixed(0)} | ${line.resident} | ${line.files} |`,
    );
    latencies = [];
  }
  while (idle.length < rounds) await setTimeout(1);
  return { rounds: started, lines };
}

/** Does one round: each work as often as `SHARES` says, one after the other. */
async function roundOn(connection: Connection, seeded: Seeded): Promise<() => Promise<void>> {
  const steps: (() => Promise<unknown>)[] = [];
  for (const { name, prepare } of worksOf(seeded)) {
    const step = await prepare(seeded, connection);
    for (let time = 0; time < (SHARES[name] ?? 0); time += 1) steps.push(step);
  }
  return async () => {
    for (const step of steps) await step();
  };
}

function worksOf(seeded: Seeded) {
  return [...WORKS, ...OTHER_WORKS].filter(
    ({ name, applies }) => name in SHARES && applies(seeded),
  );
}

/**
 * Returns the minimum number of requests in a round. A whole authorization is more than one
 * request.
 */
function requestsOf(seeded: Seeded): number {
  return worksOf(seeded).reduce((sum, { name }) => sum + (SHARES[name] ?? 0), 0);
}

async function told<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  child.once('exit', () => ended.abort(new Error('The process under soak ended')));
  const [message] = (await once(child, 'message', { signal: ended.signal })) as [T];
  return message;
}

function heapUsed(child: ChildProcess): Promise<number> {
  const answer = told<number>(child);
  child.send('heap');
  return answer;
}

/** Returns the resident memory in MiB. */
function resident(pid: number): string {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kilobytes) / 1024).toFixed(0);
}
