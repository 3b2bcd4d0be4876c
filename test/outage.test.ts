// @engines servers: it stops the database server, which SQLite has none of
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { createWorker, type Worker } from './support/load.ts';
import {
  freePort,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/** Stops its own database server under load, and starts it again. */
let database: DatabaseServer;
let portal: RunningPortal;
let client: TestClient;
let server: RunningProcess;
let folder: string;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-outage-'));
  const engine = inject('databaseServer')?.startsWith('postgres') === true ? POSTGRES : MARIADB;
  database = await engine.start();
  portal = await startPortal({ databaseServer: database.url });
  client = await registerClient(portal, { public: true });
  const port = String(await freePort());
  url = `http://localhost:${port}`;
  server = start([path.join(ROOT, 'bin', 'portico.js'), 'serve'], {
    cwd: path.join(ROOT, 'examples', 'portal'),
    env: { ...portal.env, PORT: port, PUBLIC_URL: portal.url },
  });
  await server.says('Listening on');
});
afterAll(async () => {
  await server.stop('SIGKILL');
  await portal.close();
  await database.close();
  await rm(folder, { recursive: true });
});

/** How long the database is down, in milliseconds: the outage is what is tested, not a wait for something. */
const OUTAGE = 3000;
const ROUNDS = SCALE.outages;

// @shows AS-6.16, AS-18.9, RFC7009-2.2.1
test('the database stopped under load, and back: 503 meanwhile, nothing else, nothing spent without an answer', async () => {
  const workers: Worker[] = [];
  // Each signs in: one after another, or the server takes so many of one account at once for guesses.
  for (let count = 0; count < 6; count += 1) workers.push(await createWorker(portal, client, url));
  const totals = { answered: 0, unavailable: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const load = createLoad(workers);
    await load.answers(60);
    await database.kill();
    await load.unavailable(6);
    await new Promise((resolve) => setTimeout(resolve, OUTAGE));
    await database.restart();
    const before = load.counts.answered;
    await load.answers(before + 60);
    await load.stop();
    totals.answered += load.counts.answered;
    totals.unavailable += load.counts.unavailable;
    expect(server.process.exitCode).toBeNull();
  }
  process.stdout.write(
    `${ROUNDS} outages under load: ${totals.answered} uses answered, ${totals.unavailable} told to come back (503), ` +
      'each of them answered later\n',
  );
});

interface Load {
  readonly counts: { readonly answered: number; readonly unavailable: number };
  /** Waits until this many steps were answered. */
  answers(count: number): Promise<void>;
  /** Waits until this many steps were answered with 503. */
  unavailable(count: number): Promise<void>;
  /** Lets every worker end with an answer. */
  stop(): Promise<void>;
}

/**
 * Runs the workers. A request that was answered with 503 is sent again, and must succeed: a refusal means that the first one
 * was spent though its client was told nothing.
 */
function createLoad(workers: readonly Worker[]): Load {
  const counts = { answered: 0, unavailable: 0, stopping: false };
  const waiting = new Set<() => void>();
  const work = async (worker: Worker) => {
    for (;;) {
      const step = await worker.step();
      if (step === 'cut off') throw new Error('The server was not there');
      counts[step] += 1;
      for (const look of waiting) look();
      if (step === 'answered' && counts.stopping) return;
      // Shorter than `Retry-After` asks for.
      if (step === 'unavailable') await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const working = Promise.all(workers.map(work));
  const reached = async (what: 'answered' | 'unavailable', count: number) => {
    const there = Promise.withResolvers<void>();
    const look = () => {
      if (counts[what] >= count) there.resolve();
    };
    waiting.add(look);
    look();
    await Promise.race([there.promise, working]);
    waiting.delete(look);
  };
  return {
    counts,
    answers: (count) => reached('answered', count),
    unavailable: (count) => reached('unavailable', count),
    async stop() {
      counts.stopping = true;
      await working;
    },
  };
}
