// @engines servers: it stops the database server, and SQLite has no server
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { ROOT, start } from './support/console.ts';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { createWorker, type Worker } from './support/load.ts';
import {
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';

/** Stops its own database server under load, and starts it again. */
let database: DatabaseServer;
let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  const engine = inject('databaseServer')?.startsWith('postgres') === true ? POSTGRES : MARIADB;
  database = await engine.start();
  portal = await startPortal({ databaseServer: database.url });
  client = await registerClient(portal, { public: true });
});
afterAll(async () => {
  await portal.close();
  await database.close();
});

/**
 * Serves the portal in its own process, with Portico's own connections or with a pool of the
 * application.
 */
const SERVED: readonly (readonly [string, Served])[] = [
  [
    "Portico's own connections",
    { options: [], folder: 'examples/portal', key: 'DATABASE_URL', rounds: SCALE.outages },
  ],
  [
    "the application's pool",
    { options: ['--app', 'app.ts'], folder: 'test/fixtures/borrowing', key: 'POOL_URL', rounds: 1 },
  ],
];

interface Served {
  readonly options: readonly string[];
  readonly folder: string;
  /** The variable with the address of the database. */
  readonly key: string;
  readonly rounds: number;
}

async function serve({ options, folder, key }: Served) {
  const port = String(await freePort());
  const { DATABASE_URL: databaseUrl = '', ...env } = portal.env;
  const server = start(
    [path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), ...options, 'serve'],
    {
      cwd: path.join(ROOT, folder),
      env: { ...env, [key]: databaseUrl, PORT: port, PUBLIC_URL: portal.url },
    },
  );
  await server.says('Listening on');
  return { url: `http://localhost:${port}`, server };
}

/** How long the database is down, in milliseconds. The time is what the test needs, not a pause. */
const OUTAGE = 3000;

describe.each(SERVED.slice(0, SCALE.outageStores))(
  'a database outage under load on %s',
  (_, served) => {
    // @shows AS-6.16, AS-18.9, RFC7009-2.2.1
    test('causes only 503 responses, and loses no code and no token', async () => {
      const { url, server } = await serve(served);
      onTestFinished(async () => {
        await server.stop('SIGKILL');
      });
      const workers: Worker[] = [];
      // The workers sign in one after another. Otherwise the server would treat many sign-ins of
      // one account as guesses.
      for (let count = 0; count < 6; count += 1)
        workers.push(await createWorker(portal, client, url));
      const totals = { answered: 0, unavailable: 0 };
      for (let round = 0; round < served.rounds; round += 1) {
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
        `${served.rounds} outages under load: ${totals.answered} uses answered, ${totals.unavailable} told to come back (503), ` +
          'each of them answered later\n',
      );
    });
  },
);

interface Load {
  readonly counts: { readonly answered: number; readonly unavailable: number };
  /** Waits until this many steps have an answer. */
  answers(count: number): Promise<void>;
  /** Waits until this many steps were answered with 503. */
  unavailable(count: number): Promise<void>;
  /** Stops each worker after its next response. */
  stop(): Promise<void>;
}

/**
 * Runs the workers. If a request gets 503, it is sent again and must succeed. If it is refused, the
 * first attempt took effect although its client got no response.
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
      // Shorter than the time in `Retry-After`.
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
