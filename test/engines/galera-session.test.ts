// @engines clusters: it writes at one Galera node, reads at another, and cuts one off
import mysql from 'mysql2/promise';
import { fromMysql, openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGalera, type Galera } from '../support/engines/galera.ts';

let galera: Galera;

beforeAll(async () => {
  galera = await startGalera();
  await galera.nodes[0].administrator.execute('CREATE DATABASE app');
  await galera.nodes[0].administrator.execute(
    'CREATE TABLE app.things (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)',
  );
});
afterAll(async () => {
  await galera.close();
});

const urlOf = (index: 0 | 1 | 2) => `mysql://root@127.0.0.1:${galera.nodes[index].port}/app`;

function openOwn(index: 0 | 1 | 2): OpenedDatabase {
  const database = openDatabase(urlOf(index), { directory: '/', transactionIdleTimeout: 60 });
  onTestFinished(() => database.close());
  return database;
}

function openBorrowed(index: 0 | 1 | 2): OpenedDatabase {
  const pool = mysql.createPool({ uri: urlOf(index), connectionLimit: 2, charset: 'utf8mb4' });
  onTestFinished(() => pool.end());
  return fromMysql(pool, { transactionIdleTimeout: 60 });
}

const ROUNDS = 400;

describe.each([
  ['our own', openOwn],
  ["the application's", openBorrowed],
])('Galera, on %s connections', (_, open) => {
  // @shows AS-18.23
  test('makes a write at one node immediately readable at another node', async () => {
    const [here, there] = [open(0), open(1)];
    await here.execute('DELETE FROM things');
    await here.execute('INSERT INTO things (id, n) VALUES (1, 0)');
    const missed: number[] = [];
    for (let n = 1; n <= ROUNDS; n += 1) {
      const [writer, reader] = n % 2 === 0 ? [here, there] : [there, here];
      await writer.execute('UPDATE things SET n = ? WHERE id = 1', [n]);
      const { rows } = await reader.execute<{ n: number }>('SELECT n FROM things WHERE id = 1');
      if (rows[0]?.n !== n) missed.push(n);
    }
    expect(missed).toEqual([]);
  });

  // @shows AS-18.8
  test('runs a transaction again at one node if two nodes changed the same row', async () => {
    const [here, there] = [open(0), open(1)];
    await here.execute('DELETE FROM things');
    await here.execute('INSERT INTO things (id, n) VALUES (1, 0)');
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const add = (database: OpenedDatabase, mine: typeof first, other: typeof first) =>
      database.transaction(async (on) => {
        await on.execute('UPDATE things SET n = n + 1 WHERE id = 1');
        mine.resolve();
        await other.promise;
      });
    await Promise.all([add(here, first, second), add(there, second, first)]);
    expect((await here.execute('SELECT n FROM things')).rows).toEqual([{ n: 2 }]);
    expect(here.retries.transactions + there.retries.transactions).toBe(1);
  });
});

// @shows AS-18.9, AS-18.12
test('a Galera node without its cluster is unavailable, and Portico checks the effect of a write', async () => {
  const node = galera.nodes[2];
  const database = openOwn(2);
  await database.execute('SELECT n FROM things');
  let asked = 0;
  await node.isolate(true);
  onTestFinished(async () => {
    await node.isolate(false);
    await expect.poll(() => node.state(), { timeout: 60_000 }).toEqual({ size: 3, ready: true });
  });
  const insert = () =>
    database
      .execute('UPDATE things SET n = n + 1', [], async () => {
        asked += 1;
        return true;
      })
      .then(
        () => 'asked about',
        (error: unknown) => error,
      );
  await expect.poll(insert, { timeout: 60_000 }).toBe('asked about');
  expect(asked).toBeGreaterThan(0);
  const failure: unknown = await database
    .execute('SELECT n FROM things')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ errno: 1047 });
  expect(database.isUnavailable(failure)).toBe(true);
});

// @shows AS-18.9
test('commits in flight when their Galera node was cut off (1180) are checked for their effect', async () => {
  const node = galera.nodes[2];
  const database = openOwn(2);
  await database.execute('DELETE FROM things');
  let ids = 0;
  let asked = 0;
  /** Adds one after the other until that fails. */
  const add = async (): Promise<unknown> => {
    try {
      for (;;) {
        const id = (ids += 1);
        await database.transaction(
          (on) => on.execute('INSERT INTO things (id, n) VALUES (?, 0)', [id]),
          async () => {
            asked += 1;
            return false;
          },
        );
      }
    } catch (error) {
      return error;
    }
  };
  const adding = Promise.all(Array.from({ length: 10 }, add));
  onTestFinished(async () => {
    await node.isolate(false);
    await expect.poll(() => node.state(), { timeout: 60_000 }).toEqual({ size: 3, ready: true });
  });
  await expect.poll(() => ids, { timeout: 60_000 }).toBeGreaterThan(50);
  await node.isolate(true);
  const failures = await adding;
  expect(failures.every((failure) => database.isUnavailable(failure))).toBe(true);
  const unknown = failures.filter(
    (failure) => (failure as { readonly errno?: number }).errno === 1180,
  );
  expect(unknown.length).toBeGreaterThan(0);
  expect(asked).toBe(unknown.length);
});

// @shows AS-18.23
test('a Galera node without its cluster returns no old data, even if other sessions can read there', async () => {
  const node = galera.nodes[2];
  await galera.configure('wsrep_dirty_reads', 1);
  await node.isolate(true);
  onTestFinished(async () => {
    await galera.configure('wsrep_dirty_reads', 0);
    await node.isolate(false);
    await expect.poll(() => node.state(), { timeout: 60_000 }).toEqual({ size: 3, ready: true });
  });
  await expect.poll(() => node.state(), { timeout: 60_000 }).toMatchObject({ ready: false });
  const others = await mysql.createConnection(urlOf(2));
  onTestFinished(() => others.end());
  const read = 'SELECT n FROM things';
  expect((await others.query(read))[0]).not.toHaveLength(0);
  for (const open of [openOwn, openBorrowed])
    await expect(open(2).execute(read)).rejects.toMatchObject({ errno: 1047 });
});

test('sessions of the application on Galera keep their settings', async () => {
  const pool = mysql.createPool({ uri: urlOf(0), connectionLimit: 1, charset: 'utf8mb4' });
  onTestFinished(() => pool.end());
  const sessionOf = async () =>
    (
      await pool.query(
        `SELECT @@SESSION.wsrep_sync_wait AS wait, @@SESSION.wsrep_dirty_reads AS dirty,
          @portico_wait AS keptWait, @portico_dirty AS keptDirty`,
      )
    )[0];
  await pool.query('SET SESSION wsrep_sync_wait = 1, SESSION wsrep_dirty_reads = 1');
  const database = fromMysql(pool);
  const told = 'SELECT @@SESSION.wsrep_sync_wait AS wait, @@SESSION.wsrep_dirty_reads AS dirty';
  expect((await database.execute(told)).rows).toEqual([{ wait: 7, dirty: 0 }]);
  expect((await database.transaction((on) => on.execute(told))).rows).toEqual([
    { wait: 7, dirty: 0 },
  ]);
  await expect.poll(sessionOf).toEqual([{ wait: 1, dirty: 1, keptWait: null, keptDirty: null }]);
});
