import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  migrate,
  openDatabase,
  type Migration,
  type OpenedDatabase,
  type TransactionError,
} from 'portico';
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
import {
  createDatabase,
  LOOKING_AT_LOCKS,
  someoneWaits,
  type TestDatabase,
} from './support/database.ts';
import { registerClient, requestToken, startPortal } from './support/portal.ts';
import { createTimer } from './support/timer.ts';

/**
 * Mistakes in the work of a transaction, and what prevents damage, on every engine (decision 19).
 */
let folder: string;
let store: TestDatabase;
let database: OpenedDatabase;
let other: OpenedDatabase;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-transactions-'));
  store = await createDatabase(folder);
  database = openDatabase(store.url, { directory: '/' });
  other = openDatabase(`sqlite:${path.join(folder, 'other.sqlite')}`, { directory: '/' });
  for (const each of [database, other])
    await each.execute('CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL)');
});
afterAll(async () => {
  await database.close();
  await other.close();
  await store.drop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  for (const each of [database, other]) await each.execute('DELETE FROM things');
});

type On = Pick<OpenedDatabase, 'execute'>;
const insert = (id: number, on: On = database) =>
  on.execute('INSERT INTO things (id, name) VALUES (?, ?)', [id, 'a thing']);
const ids = async (on: On = database) =>
  (await on.execute<{ id: number }>('SELECT id FROM things ORDER BY id')).rows.map(({ id }) => id);
const refused = (reason: TransactionError['reason']) =>
  expect.objectContaining({ name: 'TransactionError', reason });
const never = new Promise<never>(() => {});

function openWithTimer() {
  const timer = createTimer();
  const opened = openDatabase(store.url, { directory: '/', timer });
  onTestFinished(() => opened.close());
  return { opened, timer };
}

describe('a call to the same store outside the transaction connection', () => {
  const ASKED: Readonly<Record<string, (of: OpenedDatabase) => Promise<unknown>>> = {
    'a read': (of) => ids(of),
    'a write': (of) => insert(2, of),
    'a transaction': (of) => of.transaction(async () => {}),
    'a read without a timeout': (of) => ids(of.withoutTimeout()),
  };

  describe.each(Object.keys(ASKED))('as %s', (kind) => {
    const ask = ASKED[kind] ?? (() => never);

    // @shows AS-18.13
    test('is refused immediately inside a transaction, and the transaction can continue', async () => {
      await database.transaction(async (on) => {
        await insert(1, on);
        await expect(ask(database)).rejects.toEqual(refused('inside'));
        await insert(3, on);
      });
      expect(await ids()).toEqual([1, 3]);
    });

    test('is allowed inside a transaction on a different store', async () => {
      await other.transaction(async (on) => {
        await insert(1, on);
        await ask(database);
      });
      await ask(database).catch(() => {});
      expect(await ids(other)).toEqual([1]);
    });
  });

  test('gets an error with instructions', async () => {
    const asking = database.transaction(() => ids());
    await expect(asking).rejects.toThrow('Use the connection that the transaction passes');
  });

  test('is refused inside a nested transaction on a different store, too', async () => {
    await expect(database.transaction(() => other.transaction(() => ids()))).rejects.toEqual(
      refused('inside'),
    );
  });

  test('is allowed after the transaction has ended', async () => {
    const ended = Promise.withResolvers<void>();
    let later: Promise<unknown> = never;
    await database.transaction(async (on) => {
      later = ended.promise.then(() => insert(2));
      await insert(1, on);
    });
    ended.resolve();
    await later;
    expect(await ids()).toEqual([1, 2]);
  });
});

describe('a transaction that waits for something other than its statements', () => {
  // @shows AS-18.13
  test('does not block others, which write, commit and read in the meantime', async () => {
    const answer = Promise.withResolvers<number>();
    const waiting = database.transaction(async (on) => {
      await insert(1, on);
      await insert(await answer.promise, on);
    });
    await Promise.all([insert(11), database.transaction((on) => insert(12, on)), insert(13)]);
    expect(await ids()).toEqual([11, 12, 13]);
    answer.resolve(2);
    await waiting;
    expect(await ids()).toEqual([1, 2, 11, 12, 13]);
  });

  test('holds nothing that others need before its first statement', async () => {
    const answer = Promise.withResolvers<void>();
    const waiting = Array.from({ length: 30 }, (_, id) =>
      database.transaction(async (on) => {
        await answer.promise;
        await insert(id, on);
      }),
    );
    await insert(100);
    expect(await ids()).toEqual([100]);
    answer.resolve();
    await Promise.all(waiting);
    expect(await ids()).toHaveLength(31);
  });

  test('runs each of its statements once, even if it waits between them', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, worker) =>
        database.transaction(async (on) => {
          for (let count = 0; count < 5; count += 1) {
            await insert(worker * 10 + count, on);
            await new Promise((resolve) => setImmediate(resolve));
          }
          expect(await ids(on)).toEqual(expect.arrayContaining([worker * 10, worker * 10 + 4]));
        }),
      ),
    );
    expect(await ids()).toHaveLength(40);
  });

  test('loses no update, even if others change what it has read', async () => {
    await insert(1);
    const count = async (on: On) => {
      await on.execute('UPDATE things SET name = name WHERE id = 1');
      const { rows } = await on.execute<{ name: string }>('SELECT name FROM things WHERE id = 1');
      await new Promise((resolve) => setImmediate(resolve));
      await on.execute('UPDATE things SET name = ? WHERE id = 1', [`${rows[0]?.name}+`]);
    };
    await Promise.all([1, 2, 3, 4].map(() => database.transaction(count)));
    expect((await database.execute('SELECT name FROM things')).rows).toEqual([
      { name: 'a thing++++' },
    ]);
  });

  test('leaves nothing if it throws at the end', async () => {
    const waiting = database.transaction(async (on) => {
      await insert(1, on);
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('no');
    });
    await expect(waiting).rejects.toThrow('no');
    expect(await ids()).toEqual([]);
  });

  // @shows AS-18.13
  test('is rolled back and rejected if it waits too long', async () => {
    const { opened, timer } = openWithTimer();
    const begun = Promise.withResolvers<void>();
    const waiting = opened.transaction(async (on) => {
      await insert(1, on);
      begun.resolve();
      await never;
    });
    await begun.promise;
    timer.advance(1999);
    timer.advance(1);
    await expect(waiting).rejects.toEqual(refused('idle'));
    expect(await ids(opened)).toEqual([]);
    expect(timer.waiting()).toBe(0);
  });

  test('is rejected too before its first statement, but later', async () => {
    const { opened, timer } = openWithTimer();
    let rejected = false;
    const waiting = opened.transaction(() => never);
    waiting.catch(() => (rejected = true));
    await insert(1, opened);
    for (let second = 0; second < 29; second += 1) timer.advance(1000);
    await insert(2, opened);
    expect(rejected).toBe(false);
    timer.advance(1000);
    await expect(waiting).rejects.toEqual(refused('late'));
  });

  test('has no limit on the store without a timeout, which schema changes need', async () => {
    const { opened, timer } = openWithTimer();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const waiting = opened.withoutTimeout().transaction(async (on) => {
      await insert(1, on);
      begun.resolve();
      await goOn.promise;
      await insert(2, on);
    });
    await begun.promise;
    timer.advance(3_600_000);
    goOn.resolve();
    await waiting;
    expect(await ids(opened)).toEqual([1, 2]);
  });
});

describe('a statement after the end of its transaction', () => {
  /** Waits until the transaction has failed, and continues to use it. */
  async function runOn(transaction: (work: (on: On) => Promise<unknown>) => Promise<unknown>) {
    const failed = Promise.withResolvers<void>();
    let late: Promise<unknown> = never;
    const ending = transaction(async (on) => {
      const goOn = async () => {
        await insert(1, on);
        await failed.promise;
        await insert(2, on);
      };
      late = goOn();
      late.catch(() => {});
      await Promise.all([late, on.execute('INSERT INTO nothing VALUES (1)')]);
    });
    await expect(ending).rejects.toThrow(/nothing/);
    failed.resolve();
    return late;
  }

  // @shows AS-18.13
  test('is refused, and is not committed separately', async () => {
    await expect(runOn((work) => database.transaction(work))).rejects.toEqual(refused('ended'));
    expect(await ids()).toEqual([]);
  });

  // @shows AS-18.13
  test('does not run in a different transaction', async () => {
    const gate = Promise.withResolvers<void>();
    let late: Promise<unknown> = never;
    await database.transaction(async (on) => {
      late = gate.promise.then(() => insert(1, on));
      late.catch(() => {});
    });
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        database.transaction(async (on) => {
          await insert(10 + index, on);
          gate.resolve();
          await late.catch(() => {});
          await insert(30 + index, on);
        }),
      ),
    );
    await expect(late).rejects.toEqual(refused('ended'));
    expect(await ids()).not.toContain(1);
    expect(await ids()).toHaveLength(24);
  });

  // @shows AS-18.13
  test('that is still running is awaited: it takes effect, or the transaction fails with it', async () => {
    const forgotten: Promise<unknown>[] = [];
    await database.transaction(async (on) => {
      forgotten.push(insert(1, on), insert(2, on));
    });
    await Promise.all(forgotten.splice(0));
    expect(await ids()).toEqual([1, 2]);
    const failing = database.transaction(async (on) => {
      forgotten.push(insert(3, on), insert(2, on));
      for (const each of forgotten) each.catch(() => {});
    });
    const [ended] = await Promise.allSettled([failing]);
    expect((await Promise.allSettled(forgotten)).at(-1)?.status).toBe('rejected');
    expect(await ids()).toEqual(ended.status === 'fulfilled' ? [1, 2, 3] : [1, 2]);
  });
});

describe('a transaction function that continues after a rollback', () => {
  /** Fails, and rolls back the whole transaction; on MySQL only a deadlock does (below). */
  const UNDOING = {
    sqlite: "INSERT OR ROLLBACK INTO things (id, name) VALUES (1, 'again')",
    postgres: "INSERT INTO things (id, name) VALUES (1, 'again')",
    mysql: "INSERT INTO things (id, name) VALUES (1, 'again')",
  } as const;

  test('commits nothing separately', async () => {
    await insert(1);
    const going = database.transaction(async (on) => {
      await insert(2, on);
      await on.execute(UNDOING[database.dialect]).catch(() => {});
      await insert(3, on).catch(() => {});
      throw new Error('no');
    });
    going.catch(() => {});
    await Promise.all([insert(11), database.transaction((on) => insert(12, on))]);
    await expect(going).rejects.toThrow('no');
    expect(await ids()).toEqual([1, 11, 12]);
  });

  test('runs completely or not at all after a deadlock', async () => {
    await Promise.all([insert(1), insert(2)]);
    const rename = (id: number, on: On) =>
      on.execute("UPDATE things SET name = 'new' WHERE id = ?", [id]);
    const watching = openDatabase(store.url, { directory: '/' });
    onTestFinished(() => watching.close());
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const large = database.transaction(async (on) => {
      // The engine chooses the transaction with less work as the deadlock's victim.
      for (let id = 10; id < 30; id += 1) await insert(id, on);
      await rename(1, on);
      first.resolve();
      await second.promise;
      await rename(2, on);
    });
    const small = database.transaction(async (on) => {
      await insert(50, on);
      await rename(2, on);
      second.resolve();
      await first.promise;
      await expect.poll(() => someoneWaits(watching), LOOKING_AT_LOCKS).toBe(true);
      await rename(1, on).catch(() => {});
      await insert(60, on).catch(() => {});
    });
    await Promise.allSettled([large, small]);
    const kept = await ids();
    expect(kept.includes(50)).toBe(kept.includes(60));
  });
});

test.each(['BEGIN', 'COMMIT', 'ROLLBACK', '/* now */ COMMIT', '-- now\nROLLBACK'])(
  'a statement that starts or ends a transaction is refused: %s',
  async (statement) => {
    const refusal = 'instead of statements that begin or end a transaction';
    const going = database.transaction(async (on) => {
      await insert(1, on);
      await expect(on.execute(statement)).rejects.toThrow(refusal);
      await insert(2, on);
      throw new Error('no');
    });
    await expect(going).rejects.toThrow('no');
    await expect(database.execute(statement)).rejects.toThrow(refusal);
    await insert(3);
    expect(await ids()).toEqual([3]);
  },
);

describe.each(inject('databaseServer')?.startsWith('mysql') === true ? ['MySQL and MariaDB'] : [])(
  'a procedure of the application, on %s',
  () => {
    /** Opens a store with one connection and creates a procedure with this body. */
    async function openWith(body: string): Promise<OpenedDatabase> {
      const opened = openDatabase(store.url, { directory: '/', poolSize: 1 });
      onTestFinished(() => opened.close());
      await opened.execute('DROP PROCEDURE IF EXISTS work');
      await opened.execute(`CREATE PROCEDURE work() BEGIN ${body}; END`);
      return opened;
    }
    const START = "START TRANSACTION; INSERT INTO things (id, name) VALUES (9, 'theirs')";
    const FAIL = "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the procedure failed'";

    // @shows AS-18.18
    test.each([
      ['and succeeds', START, 'left a transaction open'],
      ['and returns rows', `${START}; SELECT 1 AS one`, 'left a transaction open'],
      ['and fails', `${START}; ${FAIL}`, 'the procedure failed'],
    ])(
      'that leaves a transaction open %s is rolled back, and later writes are committed',
      async (_, body, message) => {
        const opened = await openWith(body);
        for (const [id, write] of [
          [1, () => insert(1, opened)],
          [2, () => opened.transaction((on) => insert(2, on))],
        ] as const) {
          await expect(opened.execute('CALL work()')).rejects.toThrow(message);
          await write();
          expect(await ids()).toContain(id);
        }
        expect(await ids()).toEqual([1, 2]);
      },
    );

    // @shows AS-18.13
    test.each([
      ['commits', 'COMMIT', [1]],
      ['rolls back', 'ROLLBACK', []],
      ['drops a table', 'DROP TABLE IF EXISTS made', [1]],
      ['commits and fails', `COMMIT; ${FAIL}`, [1]],
    ])(
      'that %s inside transaction() ends it: the server runs no later statement of the work',
      async (_, body, stored) => {
        const opened = await openWith(body);
        const work = opened.transaction(async (on) => {
          await insert(1, on);
          await on.execute('CALL work()').catch(() => {});
          await insert(2, on);
        });
        await expect(work).rejects.toEqual(refused('procedure'));
        // The work may also ignore the error.
        const ignoring = opened.transaction((on) => on.execute('CALL work()').catch(() => {}));
        await expect(ignoring).rejects.toEqual(refused('procedure'));
        expect(await ids()).toEqual(stored);
        await opened.transaction((on) => insert(3, on));
        expect(await ids()).toEqual([...stored, 3]);
      },
    );

    // @shows AS-18.13
    test('that commits inside transaction() also ends it for statements that wait for the call', async () => {
      const opened = await openWith('COMMIT');
      const work = opened.transaction((on) =>
        Promise.allSettled([on.execute('CALL work()'), insert(1, on), on.execute('CALL work()')]),
      );
      await expect(work).rejects.toEqual(refused('procedure'));
      expect(await ids()).toEqual([]);
    });

    test('that ends the transaction and fails is the cause of the error', async () => {
      const opened = await openWith(`ROLLBACK; ${FAIL}`);
      await expect(opened.transaction((on) => on.execute('CALL work()'))).rejects.toMatchObject({
        reason: 'procedure',
        cause: { message: 'the procedure failed' },
      });
    });

    // @shows AS-18.13
    test('inside transaction() that ends nothing and fails leaves the transaction open', async () => {
      const opened = await openWith(FAIL);
      await opened.transaction(async (on) => {
        await insert(1, on);
        await expect(on.execute('CALL work()')).rejects.toThrow('the procedure failed');
        await insert(2, on);
      });
      expect(await ids()).toEqual([1, 2]);
    });

    test('is not blamed for a schema change that failed before it', async () => {
      const opened = await openWith('SELECT 1 AS one');
      await opened.transaction(async (on) => {
        await insert(1, on);
        await expect(on.execute('CREATE TABLE things (id INTEGER)')).rejects.toThrow('exists');
        await on.execute('CALL work()');
      });
      expect(await ids()).toEqual([1]);
    });

    // @shows AS-18.13
    test('that ends the transaction after another statement failed is refused', async () => {
      const opened = await openWith('COMMIT');
      const work = opened.transaction(async (on) => {
        await insert(1, on);
        await expect(insert(1, on)).rejects.toThrow('Duplicate');
        await on.execute('CALL work()');
      });
      await expect(work).rejects.toEqual(refused('procedure'));
    });

    test('can be called by a migration, whose schema changes have ended its transaction', async () => {
      const opened = await openWith('DROP TABLE IF EXISTS made');
      const step: Migration = {
        name: 'test_0001_calls',
        async up(schema) {
          await schema.execute('SELECT 1');
          await schema.execute('CALL work()');
          await schema.execute('SELECT 1');
          await schema.execute('CALL work()');
        },
      };
      expect(await migrate(opened, [step])).toEqual([step.name]);
    });

    test('that ends its transaction keeps its connection', async () => {
      const opened = await openWith(`${START}; COMMIT; SELECT 1 AS one`);
      const connection = async () =>
        (await opened.execute('SELECT CONNECTION_ID() AS id')).rows.map((row) => row);
      const before = await connection();
      await opened.execute('CALL work()');
      expect(await connection()).toEqual(before);
      expect(await ids()).toEqual([9]);
    });
  },
);

test('a waiting transaction runs once, even if a different one of its batch fails to commit', async () => {
  const deferred = database.dialect === 'mysql' ? '' : ' DEFERRABLE INITIALLY DEFERRED';
  await database.execute(
    `CREATE TABLE parts (id INTEGER PRIMARY KEY, thing INTEGER, FOREIGN KEY (thing) REFERENCES things (id)${deferred})`,
  );
  onTestFinished(async () => void (await database.execute('DROP TABLE parts')));
  await database.execute('CREATE TABLE counters (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)');
  onTestFinished(async () => void (await database.execute('DROP TABLE counters')));
  await database.execute('INSERT INTO counters (id, n) VALUES (1, 0), (2, 0), (3, 0)');
  const count = (id: number, turns: number) =>
    database.transaction(async (on) => {
      for (let time = 0; time < 2; time += 1) {
        await on.execute('UPDATE counters SET n = n + 1 WHERE id = ?', [id]);
        for (let turn = 0; turn < turns; turn += 1)
          await new Promise((resolve) => setImmediate(resolve));
      }
    });
  const outcomes = await Promise.allSettled([
    count(1, 3),
    count(2, 6),
    count(3, 9),
    database.transaction((on) => on.execute('INSERT INTO parts (id, thing) VALUES (1, 99)')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
  ]);
  expect((await database.execute('SELECT n FROM counters')).rows).toEqual([
    { n: 2 },
    { n: 2 },
    { n: 2 },
  ]);
});

// @shows AS-18.8
test('a transaction that runs while its store closes is completed and committed', async () => {
  const opened = openDatabase(store.url, { directory: '/' });
  const closing = Promise.withResolvers<void>();
  await opened.transaction(async (on) => {
    await insert(1, on);
    closing.resolve(opened.close());
    await ids(on);
    await insert(2, on);
  });
  await closing.promise;
  expect(await ids()).toEqual([1, 2]);
  await expect(insert(3, opened)).rejects.toThrow(/closed/);
});

test('a single statement that was rolled back by a deadlock runs again', async () => {
  await Promise.all([insert(1), insert(2)]);
  const { dialect } = database;
  const backwards = {
    sqlite: "UPDATE things SET name = 'backwards' WHERE id IN (1, 2)",
    postgres: `UPDATE things SET name = 'backwards' WHERE id IN
      (SELECT id FROM things WHERE id IN (1, 2) ORDER BY id DESC FOR UPDATE)`,
    mysql: "UPDATE things SET name = 'backwards' WHERE id IN (1, 2) ORDER BY id DESC",
  } as const;
  const watching = openDatabase(store.url, { directory: '/' });
  onTestFinished(() => watching.close());
  const begun = Promise.withResolvers<void>();
  const forwards = database.transaction(async (on) => {
    // The engine chooses the transaction with less work as the deadlock's victim.
    for (let id = 10; id < 30; id += 1) await insert(id, on);
    await on.execute("UPDATE things SET name = 'forwards' WHERE id = 1");
    begun.resolve();
    await expect.poll(() => someoneWaits(watching), LOOKING_AT_LOCKS).toBe(true);
    await on.execute("UPDATE things SET name = 'forwards' WHERE id = 2");
  });
  await begun.promise;
  await Promise.all([database.execute(backwards[dialect]), forwards]);
  expect((await ids()).length).toBe(22);
});

// @shows AS-18.13
test('a slow caller whose body is read in a transaction does not block the token endpoint', async () => {
  const [begun, reading] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const CALLERS = { '/first': 20, '/between': 5 };
  let waiting = 0;
  const portal = await startPortal({
    async beforeSchema({ database: own }) {
      await own.execute('CREATE TABLE heard (what VARCHAR(100))');
    },
    routes: ({ database: own }) =>
      Object.keys(CALLERS).map((at) => ({
        name: `slow${at}`,
        methods: ['POST'],
        path: at,
        async handler(_, request) {
          await own.transaction(async (on) => {
            const hear = (what: string) =>
              on.execute('INSERT INTO heard (what) VALUES (?)', [what]);
            if (at === '/between') await hear('begun');
            waiting += 1;
            if (waiting === 25) reading.resolve();
            await hear(await request.text());
          });
          return new Response(null, { status: 204 });
        },
      })),
  });
  onTestFinished(() => portal.close());
  const client = await registerClient(portal, {
    redirectUris: [],
    grants: ['client_credentials'],
    scopes: ['notes:read'],
  });
  const call = async (at: string) => {
    const calling = httpRequest(`${portal.url}${at}`, {
      method: 'POST',
      headers: { Authorization: 'Bearer none', 'Content-Length': 4, Connection: 'close' },
    });
    const answered = once(calling, 'response') as Promise<[IncomingMessage]>;
    calling.write('he');
    await begun.promise;
    calling.end('re');
    const [response] = await answered;
    response.resume();
    return response.statusCode;
  };
  const called = Object.entries(CALLERS).flatMap(([at, count]) =>
    Array.from({ length: count }, () => call(at)),
  );
  await reading.promise;
  for (let count = 0; count < 5; count += 1) {
    expect((await requestToken(portal, client, { grant_type: 'client_credentials' })).status).toBe(
      200,
    );
  }
  begun.resolve();
  expect(new Set(await Promise.all(called))).toEqual(new Set([204]));
  const { rows } = await portal.application.database.execute<{ what: string }>(
    'SELECT what FROM heard',
  );
  expect(rows.filter(({ what }) => what === 'here')).toHaveLength(25);
  expect(rows).toHaveLength(30);
});
