// @engines clusters: it names several PostgreSQL servers in one URL, and promotes another one
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  startReplicatedPostgres,
  type PostgresNode,
  type ReplicatedPostgres,
} from '../support/engines/replicated-postgres.ts';

/**
 * One primary and two standbys. Portico knows all their addresses, and only Portico follows the
 * primary.
 */
let postgres: ReplicatedPostgres;
let everyone: readonly PostgresNode[];

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  everyone = [postgres.primary(), ...postgres.standbys()];
  await postgres.primary().administrator.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
});
afterAll(async () => {
  await postgres.close();
});
afterEach(async () => {
  await postgres.rejoin();
  await postgres.primary().administrator.execute('DELETE FROM things');
});

const urlOf = (nodes: readonly Pick<PostgresNode, 'port'>[], wanted = '') => {
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `postgres://postgres@${hosts}/postgres${wanted === '' ? '' : `?target_session_attrs=${wanted}`}`;
};

function open(url: string): OpenedDatabase {
  const database = openDatabase(url, {
    directory: '/',
    statementTimeout: 1,
    transactionIdleTimeout: 60,
  });
  onTestFinished(() => database.close());
  return database;
}

const portOf = async (database: OpenedDatabase) =>
  (await database.execute<{ port: number }>('SELECT inet_server_port() AS port')).rows[0]?.port;

const isUnavailable = async (database: OpenedDatabase) =>
  database.execute('SELECT 1').then(
    () => false,
    (error: unknown) => database.isUnavailable(error),
  );

/** A server that accepts every connection, and says nothing. */
async function listenSilently(): Promise<{ readonly port: number; readonly count: () => number }> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    socket.on('error', () => {});
    sockets.add(socket);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return { port: (listener.address() as AddressInfo).port, count: () => sockets.size };
}

describe('a PostgreSQL URL with several servers', () => {
  // @shows AS-18.22
  test('skips a silent server while a different one is available', async () => {
    const silent = await listenSilently();
    const database = open(urlOf([silent, postgres.primary()]));
    await database.execute('SELECT 1');
    expect(silent.count()).toBe(1);
    const begun = Promise.withResolvers<void>();
    let count = 0;
    // Four connections at once, of which three are new.
    const identities = await Promise.all(
      Array.from({ length: 4 }, () =>
        database.transaction(async (on) => {
          const { rows } = await on.execute<{ id: number }>('SELECT pg_backend_pid() AS id');
          count += 1;
          if (count === 4) begun.resolve();
          await begun.promise;
          return rows[0]?.id;
        }),
      ),
    );
    expect(new Set(identities).size).toBe(4);
    expect(silent.count()).toBe(1);
  });

  // @shows AS-18.22
  test('uses the writable server at any place in the list', async () => {
    const primary = postgres.primary();
    const [one, other] = postgres.standbys() as readonly [PostgresNode, PostgresNode];
    for (const nodes of [
      [primary, one, other],
      [one, primary, other],
      [one, other, primary],
    ])
      expect(await portOf(open(urlOf(nodes)))).toBe(primary.port);
    expect(await portOf(open(urlOf([one, primary], 'primary')))).toBe(primary.port);
    expect(await portOf(open(urlOf([one, primary], 'any')))).toBe(one.port);
    expect(await portOf(open(urlOf([one], 'any')))).toBe(one.port);
    expect(await isUnavailable(open(urlOf([one])))).toBe(true);
    expect(await isUnavailable(open(urlOf([one], 'read-write')))).toBe(true);
    expect(await isUnavailable(open(urlOf([one, other])))).toBe(true);
    expect(await isUnavailable(open(urlOf([one, other], 'primary')))).toBe(true);
  });
});

/** Writes one row after another, four at a time. A row that failed is not written again. */
function startWriters(database: OpenedDatabase) {
  const written: number[] = [];
  const faults: unknown[] = [];
  let next = 0;
  const state = { isStopped: false };
  const work = async () => {
    while (!state.isStopped) {
      const id = (next += 1);
      try {
        await database.execute('INSERT INTO things (id) VALUES (?)', [id]);
        written.push(id);
      } catch (error) {
        if (!database.isUnavailable(error)) faults.push(error);
      }
      await setTimeout(5);
    }
  };
  const working = Promise.all([work(), work(), work(), work()]);
  return {
    faults,
    /** Waits until this many more were written. */
    async more(count: number) {
      const until = written.length + count;
      await expect.poll(() => written.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(until);
    },
    /** The acknowledged rows. */
    async stop(): Promise<readonly number[]> {
      state.isStopped = true;
      await working;
      return written;
    },
  };
}

async function setReadOnly({ administrator }: PostgresNode, value: 'on' | 'off'): Promise<void> {
  await administrator.execute(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await administrator.execute('SELECT pg_reload_conf()');
}

/** How the primary goes down, and what remains of it. */
const ENDS: readonly (readonly [string, (primary: PostgresNode) => Promise<void>])[] = [
  ['was killed', (primary) => primary.server().kill()],
  [
    'hangs: it accepts connections, but does not respond',
    async (primary) => primary.server().pause(),
  ],
  ['no longer accepts writes', (primary) => setReadOnly(primary, 'on')],
];

// @shows AS-18.22, AS-18.12
test.each(ENDS)(
  'no write is lost if a standby is promoted while requests run, and the primary %s',
  async (_, end) => {
    const before = postgres.primary();
    const database = open(urlOf(everyone));
    const writers = startWriters(database);
    await writers.more(50);
    await end(before);
    await postgres.promote();
    await writers.more(50);
    expect(await portOf(database)).toBe(postgres.primary().port);
    const written = await writers.stop();
    expect(writers.faults).toEqual([]);
    const { rows } = await postgres
      .primary()
      .administrator.execute<{ id: number }>('SELECT id FROM things');
    const there = new Set(rows.map(({ id }) => id));
    expect(written.filter((id) => !there.has(id))).toEqual([]);
    await before.server().kill();
  },
);
