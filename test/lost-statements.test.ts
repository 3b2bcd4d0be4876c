// @engines servers: it kills a database server while a statement runs, and SQLite has no server
import { openDatabase, type BorrowingOptions, type OpenedDatabase } from 'portico';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
} from 'vitest';
import { borrowAt } from './support/application-pool.ts';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { countWaiting, LOOKING_AT_LOCKS, someoneWaits } from './support/database.ts';
import { createTimer } from './support/timer.ts';
import { openWay } from './support/way.ts';

/** A machine under load needs time, in milliseconds. */
const PATIENCE = { timeout: 20_000 };

/**
 * One statement outside of a transaction. The test stops the database server before the server
 * responds (decision 9).
 */
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;
/**
 * The name of the engine if one statement marks something as used. Other engines declare no test,
 * because a skipped test counts as failed.
 */
const ONE_STATEMENT = isPostgres ? ['PostgreSQL'] : [];
let server: DatabaseServer;
/** A direct connection to the server. */
let direct: OpenedDatabase;

beforeAll(async () => {
  server = await (isPostgres ? POSTGRES : MARIADB).start();
  direct = openDatabase(server.url, { directory: '/' });
  await direct.execute(
    'CREATE TABLE families (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL)',
  );
  await direct.execute('CREATE TABLE tokens (id INTEGER PRIMARY KEY)');
});
afterAll(async () => {
  await direct.close();
  await server.close();
});
beforeEach(async () => {
  await direct.execute('DELETE FROM tokens');
  await direct.execute('DELETE FROM families');
  await direct.execute('INSERT INTO families (id, generation) VALUES (1, 1)');
});

type On = Pick<OpenedDatabase, 'execute' | 'transaction'>;
/** A use of a value that works once. The use is a single statement. */
const USE = isPostgres
  ? `WITH claimed AS (UPDATE families SET generation = 2 WHERE id = 1 AND generation = 1 RETURNING id)
     INSERT INTO tokens (id) SELECT id FROM claimed`
  : 'UPDATE families SET generation = 2 WHERE id = 1 AND generation = 1';
const generation = async (on: Pick<OpenedDatabase, 'execute'>) => {
  const { rows } = await on.execute<{ generation: number }>(
    'SELECT generation FROM families WHERE id = 1',
  );
  return rows[0]?.generation;
};

/** Uses the value. `asked` counts the queries about the result. */
function use(on: On) {
  const counts = { asked: 0 };
  const using = on.execute(USE, [], () => {
    counts.asked += 1;
    return on.transaction(async (connection) => {
      // Waits for a statement that the server still executes.
      await connection.execute('UPDATE families SET id = id WHERE id = 1');
      return (await generation(connection)) === 2;
    });
  });
  using.catch(() => {});
  return { using, counts };
}

/**
 * Uses the value while another transaction locks the row, until `goOn`. The transaction does not
 * change the row. PostgreSQL has no queue for a row that was changed, so the query could overtake
 * the statement (decision 9 explains what the store does instead).
 */
async function useBlocked(on: On) {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const blocking = direct.withoutTimeout().transaction(async (connection) => {
    await connection.execute('SELECT id FROM families WHERE id = 1 FOR UPDATE');
    begun.resolve();
    await ended.promise;
  });
  blocking.catch(() => {});
  await begun.promise;
  const used = use(on);
  const watching = openDatabase(server.url, { directory: '/' });
  onTestFinished(() => watching.close());
  await expect.poll(() => someoneWaits(watching), LOOKING_AT_LOCKS).toBe(true);
  return { ...used, watching, goOn: () => ended.resolve() };
}

const unavailable = async (statement: Promise<unknown>) => {
  const error: unknown = await statement.then(
    () => null,
    (failure: unknown) => failure,
  );
  expect(direct.isUnavailable(error)).toBe(true);
};

const STORES: readonly (readonly [
  string,
  (url: string, options?: BorrowingOptions) => OpenedDatabase,
])[] = [
  ['a pool of our own', (url, options) => openDatabase(url, { directory: '/', ...options })],
  ["the application's own pool", borrowAt],
];

describe.each(STORES)('on %s, a single statement whose database server fails', (_, openStore) => {
  // @shows AS-18.9
  test('after it took effect succeeds, because Portico checks its effect once the server is back', async () => {
    const way = await openWay(server.url, openStore);
    way.holdsFrom = 'families SET generation';
    const { using, counts } = use(way.database);
    await expect.poll(() => generation(direct), PATIENCE).toBe(2);
    await server.kill();
    way.cut();
    way.isHeld = false;
    await server.restart();
    await expect(using).resolves.toEqual({ rows: [], affected: 1 });
    expect(counts.asked).toBeGreaterThan(0);
    expect((await direct.execute('SELECT id FROM tokens')).rows).toEqual(
      isPostgres ? [{ id: 1 }] : [],
    );
  });

  // @shows AS-18.9
  test('before it took effect is unavailable, and can be repeated', async () => {
    const { database } = await openWay(server.url, openStore);
    const { using, counts, goOn } = await useBlocked(database);
    await server.kill();
    goOn();
    await server.restart();
    await unavailable(using);
    expect(counts.asked).toBeGreaterThan(0);
    expect(await generation(direct)).toBe(1);
    await expect(use(database).using).resolves.toMatchObject({ affected: 1 });
  });

  // @shows AS-18.9
  test('while it is still being executed succeeds once it has taken effect', async () => {
    const way = await openWay(server.url, openStore);
    const { using, counts, goOn, watching } = await useBlocked(way.database);
    way.cut();
    // The query waits behind the statement. MariaDB does not report waiting statements immediately.
    const isAsked = async () =>
      counts.asked === 1 && (!isPostgres || (await countWaiting(watching)) === 2);
    await expect.poll(isAsked, PATIENCE).toBe(true);
    goOn();
    await expect(using).resolves.toMatchObject({ affected: 1 });
    expect(await generation(direct)).toBe(2);
  });

  // @shows AS-18.9
  test('is checked for thirty seconds, and checked again if the check is refused', async () => {
    const timer = createTimer();
    const way = await openWay(server.url, (url) => openStore(url, { timer }));
    way.holdsFrom = 'families SET generation';
    const refused = Object.assign(
      new Error('a standby'),
      isPostgres ? { code: '25006' } : { errno: 1836 },
    );
    let asked = 0;
    const using = way.database.execute(USE, [], async () => {
      asked += 1;
      throw refused;
    });
    using.catch(() => {});
    await expect.poll(() => generation(direct), PATIENCE).toBe(2);
    way.cut();
    way.isHeld = false;
    for (let seconds = 0; seconds < 30; seconds += 1) {
      await expect.poll(() => [asked, timer.waiting()], PATIENCE).toEqual([seconds + 1, 1]);
      // Longer than any pause between two queries.
      timer.advance(1000);
    }
    await unavailable(using);
    expect(asked).toBe(31);
  });

  // @shows AS-18.9
  test.each(ONE_STATEMENT)(
    'by reporting an unknown result, as compatible clusters do, is checked too on %s',
    async () => {
      const { database: on } = await openWay(server.url, openStore);
      const lost =
        "DO $$ BEGIN RAISE EXCEPTION 'result is ambiguous' USING ERRCODE = '40003'; END $$";
      await expect(on.execute(lost, [], async () => true)).resolves.toEqual({
        rows: [],
        affected: 1,
      });
      await unavailable(on.execute(lost, [], async () => false));
      await unavailable(on.execute(lost));
      // A deferred trigger fails the COMMIT.
      await direct.execute(`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'result is ambiguous' USING ERRCODE = '40003'; END $$`);
      await direct.execute(`CREATE CONSTRAINT TRIGGER losing AFTER INSERT ON tokens
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lose()`);
      onTestFinished(async () => void (await direct.execute('DROP FUNCTION lose CASCADE')));
      const work = async (connection: Pick<OpenedDatabase, 'execute'>) => {
        await connection.execute('INSERT INTO tokens (id) VALUES (1)');
        return 'done';
      };
      await expect(on.transaction(work, async () => true)).resolves.toBe('done');
      await unavailable(on.transaction(work, async () => false));
    },
  );

  test('is unavailable if it has no check of its effect', async () => {
    const way = await openWay(server.url, openStore);
    way.holdsFrom = 'families SET generation';
    const using = way.database.execute(USE);
    using.catch(() => {});
    await expect.poll(() => generation(direct), PATIENCE).toBe(2);
    way.cut();
    way.isHeld = false;
    await unavailable(using);
  });
});

describe('the effect of a statement is not checked', () => {
  test('if no connection was established', async () => {
    const database = openDatabase(server.url, { directory: '/' });
    onTestFinished(() => database.close());
    await server.kill();
    const { using, counts } = use(database);
    await unavailable(using);
    await server.restart();
    expect(counts.asked).toBe(0);
  });

  test('if the server reports that the statement failed', async () => {
    const counts = { asked: 0 };
    const asking = async () => (counts.asked += 1) > 0;
    await expect(direct.execute('INSERT INTO nothing VALUES (1)', [], asking)).rejects.toThrow(
      /nothing/,
    );
    const refused = isPostgres
      ? "DO $$ BEGIN RAISE EXCEPTION 'read-only' USING ERRCODE = '25006'; END $$"
      : "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1836";
    await unavailable(direct.execute(refused, [], asking));
    expect(counts.asked).toBe(0);
  });

  test.each(ONE_STATEMENT)(
    'if %s answers a commit with a rollback because a statement failed',
    async () => {
      const counts = { asked: 0 };
      const committing = direct.transaction(
        (on) => on.execute('INSERT INTO nothing VALUES (1)').catch(() => 'looked away'),
        async () => (counts.asked += 1) > 0,
      );
      await expect(committing).rejects.toThrow('was rolled back');
      expect(counts.asked).toBe(0);
    },
  );
});
