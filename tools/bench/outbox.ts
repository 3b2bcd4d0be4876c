// node tools/bench/outbox.ts [--messages 10000] [--rate 100] [--receivers 50]: how long messages of
// the outbox take from their commit to their delivery by two other processes, and whether any is
// lost or overtaken. On SQLite, or on the server of PostgreSQL or MariaDB that DATABASE_URL names.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from 'portico';
import { openSending, startReceiver } from '../../test/support/outbox.ts';

const { values: options } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    receivers: { type: 'string', default: '50' },
  },
});
const [messages, rate, receivers] = [options.messages, options.rate, options.receivers].map(
  Number,
) as [number, number, number];
const administrator = process.env['DATABASE_URL'];
/** After this time, a message that was not delivered is treated as lost, in milliseconds. */
const PATIENCE = 120_000;

const folder = mkdtempSync(path.join(tmpdir(), 'portico-bench-outbox-'));
const name = `bench_${randomBytes(6).toString('hex')}`;
const url = administrator === undefined ? `sqlite:${path.join(folder, 'bench.sqlite')}` : named();
if (administrator !== undefined) await administer(administrator, `CREATE DATABASE ${name}`);
const receiver = await startReceiver();
const here = await openSending(url, folder, receiver.url);
const beside = await Promise.all([deliverBeside(), deliverBeside()]);
try {
  const committed = await send();
  const until = performance.now() + PATIENCE;
  while (receiver.received.length < messages && performance.now() < until) await pause(100);
  report(committed);
} finally {
  for (const each of beside) {
    each.kill();
    await once(each, 'exit');
  }
  await here.close();
  await receiver.close();
  if (administrator !== undefined) await administer(administrator, `DROP DATABASE ${name}`);
  rmSync(folder, { recursive: true });
}

/** Adds messages at the given rate, each in its own transaction. Returns when each committed. */
async function send(): Promise<ReadonlyMap<string, number>> {
  const committed = new Map<string, number>();
  const add = async (to: string, payload: string, before?: Promise<void>) => {
    await before;
    await here.send(to, payload);
    committed.set(payload, performance.now());
  };
  const begun = performance.now();
  const running = new Map<string, Promise<void>>();
  for (let number = 0; number < messages; number += 1) {
    await pause(Math.max(0, begun + (number * 1000) / rate - performance.now()));
    const to = `receiver ${number % receivers}`;
    // Adds a receiver's messages one after the other, so that their order is known.
    running.set(to, add(to, String(number), running.get(to)));
  }
  await Promise.all(running.values());
  return committed;
}

function report(committed: ReadonlyMap<string, number>): void {
  const first = new Map<string, number>();
  const last = new Map<string, number>();
  let overtaken = 0;
  for (const { payload, receiver: to, at } of receiver.received) {
    if (first.has(payload)) continue;
    first.set(payload, at);
    if (Number(payload) < (last.get(to) ?? -1)) overtaken += 1;
    last.set(to, Number(payload));
  }
  const took = [...first]
    .map(([payload, at]) => Math.max(0, at - (committed.get(payload) ?? 0)))
    .toSorted((one, other) => one - other);
  const share = (part: number) => (took[Math.ceil(took.length * part) - 1] ?? 0).toFixed(0);
  const lost = messages - first.size;
  const repeated = receiver.received.length - first.size;
  const load = loadavg()[0]?.toFixed(1);
  process.stdout.write(
    `${here.database.dialect}: ${messages} messages at ${rate}/s for ${receivers} receivers: ` +
      `${lost} lost, ${overtaken} overtaken, ${repeated} repeated; from commit to delivery ` +
      `p50 ${share(0.5)} ms, p99 ${share(0.99)} ms, slowest ${share(1)} ms (load ${load})\n`,
  );
  if (lost > 0 || overtaken > 0) process.exitCode = 1;
}

async function deliverBeside(): Promise<ChildProcess> {
  const script = path.join(import.meta.dirname, '..', '..', 'test', 'support', 'outbox.ts');
  const started = spawn(process.execPath, [script, url, folder, receiver.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(started.stdout, 'data');
  return started;
}

function named(): string {
  const own = new URL(administrator ?? '');
  own.pathname = `/${name}`;
  return own.href;
}

async function administer(server: string, statement: string): Promise<void> {
  const database = openDatabase(server, { directory: '/' });
  try {
    await database.execute(statement);
  } finally {
    await database.close();
  }
}
