import { AsyncLocalStorage } from 'node:async_hooks';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, openDatabase, type OpenedDatabase } from 'portico';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { createDatabase, type TestDatabase } from './support/database.ts';

let folder: string;
let store: TestDatabase;
let database: OpenedDatabase;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-database-'));
  store = await createDatabase(folder);
  database = openDatabase(store.url, { directory: '/' });
  await database.execute(
    'CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL UNIQUE)',
  );
});
afterAll(async () => {
  await database.close();
  await store.drop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  await database.execute('DELETE FROM things');
});

const insert = (id: number, on: Pick<OpenedDatabase, 'execute'> = database) =>
  on.execute('INSERT INTO things (id, name) VALUES (?, ?)', [id, `thing ${id}`]);
const ids = async () =>
  (await database.execute<{ id: number }>('SELECT id FROM things ORDER BY id')).rows.map(
    ({ id }) => id,
  );
const ENDING = ['BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT s', 'RELEASE s', 'END'];
/** The statements follow a text that the engine ignores. */
const HIDDEN = ['/* now */ COMMIT', '-- now\nCOMMIT', '; COMMIT', ' ;/**/ROLLBACK'];
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const fulfilled = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map(({ status }) => status === 'fulfilled');

describe('concurrent writes to the database', () => {
  test('are rolled back separately if they fail', async () => {
    await insert(3);
    const outcomes = await Promise.allSettled(numbers(8).map((id) => insert(id)));
    expect(fulfilled(outcomes)).toEqual(numbers(8).map((id) => id !== 3));
    expect(await ids()).toEqual(numbers(8));
  });

  test('each run in the async context of the request that started them', async () => {
    const caller = new AsyncLocalStorage<number>();
    const asked = numbers(4).map((id) =>
      caller.run(id, () =>
        database.transaction(async (on) => {
          await insert(id, on);
          return caller.getStore();
        }),
      ),
    );
    expect(await Promise.all(asked)).toEqual(numbers(4));
  });

  test('are retried in the context of their request if a different write made the commit fail', async () => {
    const caller = new AsyncLocalStorage<number>();
    await database.execute('DROP TABLE IF EXISTS children');
    await database.execute(`CREATE TABLE children (id INTEGER PRIMARY KEY, thing INTEGER,
      FOREIGN KEY (thing) REFERENCES things (id)${database.dialect === 'mysql' ? '' : ' DEFERRABLE INITIALLY DEFERRED'})`);
    onTestFinished(async () => void (await database.execute('DROP TABLE children')));
    const seen: (number | undefined)[] = [];
    const asked = numbers(4).map((id) =>
      caller.run(id, () =>
        database.transaction(async (on) => {
          seen.push(caller.getStore());
          if (id === 2) await on.execute('INSERT INTO children (id, thing) VALUES (1, 100)');
          else await insert(id, on);
          return caller.getStore();
        }),
      ),
    );
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map((each) => (each.status === 'fulfilled' ? each.value : null))).toEqual([
      0,
      1,
      null,
      3,
    ]);
    expect(new Set(seen)).toEqual(new Set(numbers(4)));
  });

  test('are not affected by a transaction among them that throws, which leaves no changes', async () => {
    const outcomes = await Promise.allSettled(
      numbers(8).map((id) =>
        database.transaction(async (on) => {
          await insert(id, on);
          if (id % 2 === 1) throw new Error('no');
        }),
      ),
    );
    expect(fulfilled(outcomes)).toEqual(numbers(8).map((id) => id % 2 === 0));
    expect(await ids()).toEqual([0, 2, 4, 6]);
  });

  test('are invisible until they are committed', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const failing = database.transaction(async (on) => {
      await insert(1, on);
      begun.resolve();
      await gate.promise;
      throw new Error('no');
    });
    await begun.promise;
    const seen = ids();
    gate.resolve();
    await expect(failing).rejects.toThrow('no');
    expect(await seen).toEqual([]);
  });

  test('lose no increment of one row', async () => {
    await insert(1);
    await Promise.all(
      numbers(40).map(() =>
        database.transaction(async (on) => {
          await on.execute('UPDATE things SET name = name WHERE id = 1');
          const { rows } = await on.execute<{ name: string }>(
            'SELECT name FROM things WHERE id = 1',
          );
          const count = Number(/[0-9]+$/.exec(rows[0]?.name ?? '')?.[0]);
          await on.execute('UPDATE things SET name = ? WHERE id = 1', [`thing ${count + 1}`]);
        }),
      ),
    );
    expect((await database.execute('SELECT name FROM things')).rows).toEqual([
      { name: 'thing 41' },
    ]);
  });
});

describe('the insertId of a row', () => {
  /** Only the engine knows the order of the numbers. */
  const NUMBERED = {
    sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    postgres: 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    mysql: 'BIGINT AUTO_INCREMENT PRIMARY KEY',
  } as const;
  const add = (name: string, on: Pick<OpenedDatabase, 'execute'> = database) =>
    on.execute('INSERT INTO numbered (name) VALUES (?)', [name]);

  beforeEach(async () => {
    await database.execute(
      `CREATE TABLE numbered (id ${NUMBERED[database.dialect]}, name VARCHAR(100) NOT NULL)`,
    );
    return async () => void (await database.execute('DROP TABLE numbered'));
  });

  test('is returned if the engine reports it, exact to all 64 bits', async () => {
    const tells = database.dialect !== 'postgres';
    expect((await add('first')).insertId).toBe(tells ? 1n : undefined);
    const large = 9_007_199_254_740_993n;
    await database.execute('INSERT INTO numbered (id, name) VALUES (?, ?)', [large, 'large']);
    expect((await add('next')).insertId).toBe(tells ? large + 1n : undefined);
    const found = await database.execute('SELECT name FROM numbered WHERE id = ?', [large]);
    expect(found.rows).toEqual([{ name: 'large' }]);
  });

  test('is not that of a different row', async () => {
    await add('first');
    const others = [
      "UPDATE numbered SET name = 'second'",
      'SELECT id FROM numbered',
      'DELETE FROM numbered',
      'INSERT INTO numbered (name) SELECT name FROM things',
    ];
    for (const sql of others) expect((await database.execute(sql)).insertId, sql).toBeUndefined();
  });

  test('is correct after a transaction waits while others insert', async () => {
    const returning = database.dialect === 'postgres' ? ' RETURNING id' : '';
    await database.execute('CREATE TABLE parts (id INTEGER, whole BIGINT NOT NULL)');
    onTestFinished(async () => void (await database.execute('DROP TABLE parts')));
    const outcomes = await Promise.allSettled(
      numbers(6).map((id) =>
        database.transaction(async (on) => {
          const { insertId, rows } = await on.execute<{ id: number }>(
            `INSERT INTO numbered (name) VALUES (?)${returning}`,
            [`whole ${id}`],
          );
          await new Promise((resolve) => setImmediate(resolve));
          const whole = insertId ?? rows[0]?.id ?? null;
          await on.execute('INSERT INTO parts (id, whole) VALUES (?, ?)', [id, whole]);
        }),
      ),
    );
    const { rows } = await database.execute<{ id: number; name: string }>(
      'SELECT parts.id, numbered.name FROM parts LEFT JOIN numbered ON numbered.id = parts.whole',
    );
    for (const { id, name } of rows) expect(name).toBe(`whole ${id}`);
    expect(rows).toHaveLength(fulfilled(outcomes).filter(Boolean).length);
    expect(rows.length).toBeGreaterThan(0);
  });

  test('is that of the transaction itself, even if read after a wait or after its end', async () => {
    const returning = database.dialect === 'postgres' ? ' RETURNING id' : '';
    const addOn = (on: Pick<OpenedDatabase, 'execute'>, name: string) =>
      on.execute<{ id: number }>(`INSERT INTO numbered (name) VALUES (?)${returning}`, [name]);
    type Added = Awaited<ReturnType<typeof addOn>>;
    const number = ({ insertId, rows }: Added) => insertId ?? rows[0]?.id ?? null;
    const named = async (id: bigint | number | null) =>
      (await database.execute('SELECT name FROM numbered WHERE id = ?', [id])).rows;
    const inserted = Promise.withResolvers<void>();
    const others = Promise.withResolvers<void>();
    const work = database.transaction(async (on) => {
      const mine = await addOn(on, 'mine');
      inserted.resolve();
      await others.promise;
      const next = await addOn(on, 'next');
      return { mine, next, inside: number(mine) };
    });
    await inserted.promise;
    // On SQLite, the transaction is set aside here and its row is undone, so the other rows get its
    // number.
    await addOn(database, 'theirs');
    await addOn(database, 'theirs, too');
    others.resolve();
    const { mine, next, inside } = await work;
    expect(await named(inside)).toEqual([{ name: 'mine' }]);
    expect(await named(number(mine))).toEqual([{ name: 'mine' }]);
    expect(await named(number(next))).toEqual([{ name: 'next' }]);
  });
});

test('a schema change while a process is serving does not make its statements fail', async () => {
  await insert(1);
  const all = () => database.execute('SELECT * FROM things');
  expect((await all()).rows).toEqual([{ id: 1, name: 'thing 1' }]);
  const other = openDatabase(store.url, { directory: '/' });
  onTestFinished(() => other.close());
  await other.execute('ALTER TABLE things ADD COLUMN colour VARCHAR(20)');
  expect((await all()).rows).toEqual([{ id: 1, name: 'thing 1', colour: null }]);
  await database.transaction((on) => on.execute('SELECT * FROM things'));
  await other.execute('ALTER TABLE things DROP COLUMN colour');
  await database.transaction((on) => on.execute('SELECT * FROM things'));
  expect(await ids()).toEqual([1]);
});

describe('SQLite', () => {
  const count = async (on: OpenedDatabase) =>
    (await on.execute<{ count: number }>('SELECT count(*) AS count FROM things')).rows[0]?.count;

  function openFile() {
    const file = path.join(mkdtempSync(path.join(folder, 'file-')), 'test.sqlite');
    const opened = openDatabase(`sqlite:${file}`, { directory: '/' });
    onTestFinished(() => opened.close());
    return { file, opened };
  }

  test('sees commits of other connections immediately, also in grouped reads', async () => {
    const { file, opened } = openFile();
    await opened.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
    const other = openDatabase(`sqlite:${file}`, { directory: '/' });
    onTestFinished(() => other.close());
    // Only promises run between the read inside, the commit and the read after it.
    const counts = await opened.readTogether(async () => {
      const inside = await other.transaction(async (on) => {
        await on.execute('INSERT INTO things (id) VALUES (1)');
        await on.execute('CREATE TABLE fresh (id INTEGER PRIMARY KEY)');
        return count(opened);
      });
      await opened.execute('SELECT id FROM fresh');
      return [inside, await count(opened)];
    });
    expect(counts).toEqual([0, 1]);
  });

  test('reports no insertId for an upsert or a table WITHOUT ROWID', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)');
    await opened.execute('CREATE TABLE bare (n INTEGER PRIMARY KEY) WITHOUT ROWID');
    await opened.execute('CREATE TABLE "t bare" (n INTEGER PRIMARY KEY) WITHOUT ROWID');
    await opened.execute('CREATE TABLE "t too" (id INTEGER PRIMARY KEY)');
    const insertIds = async (...statements: string[]) => {
      const found = [];
      for (const sql of statements) found.push((await opened.execute(sql)).insertId);
      return found;
    };
    expect(
      await insertIds('INSERT INTO t (n) VALUES (7)', 'insert or replace into "t" (n) VALUES (7)'),
    ).toEqual([1n, 2n]);
    expect(
      await insertIds(
        'INSERT INTO bare (n) VALUES (1)',
        'INSERT INTO t (n) VALUES (7) ON CONFLICT (n) DO UPDATE SET n = 8',
        'INSERT OR IGNORE INTO t (n) VALUES (8)',
        'INSERT INTO "t bare" VALUES (1)',
        'INSERT INTO [t bare] (n) VALUES (2)',
      ),
    ).toEqual(Array.from({ length: 5 }));
    expect(
      await insertIds('INSERT INTO "t too" (id) VALUES (7)', 'INSERT INTO `t too`(id) VALUES (9)'),
    ).toEqual([7n, 9n]);
  });

  test('does not block after grouped reads have ended', async () => {
    const { file, opened } = openFile();
    await opened.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
    const own = new DatabaseSync(file, { timeout: 0 });
    onTestFinished(() => own.close());
    await opened.readTogether(() => count(opened));
    expect(own.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 });
  });

  test('keeps grouped reads and earlier writes intact if a commit fails', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
    await opened.execute(
      'CREATE TABLE children (id INTEGER REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)',
    );
    const write = (id: number) => opened.execute('INSERT INTO things (id) VALUES (?)', [id]);
    const asking = numbers(4).map((id) =>
      opened.readTogether(async () => {
        await write(id);
        return count(opened);
      }),
    );
    const orphan = opened.execute('INSERT INTO children (id) VALUES (100)');
    await expect(orphan).rejects.toThrow('FOREIGN KEY constraint failed');
    expect(fulfilled(await Promise.allSettled(asking))).toEqual([true, true, true, true]);
  });

  test('gives grouped reads one snapshot, whether started by a promise or the event loop', async () => {
    const { file, opened } = openFile();
    await opened.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
    const own = new DatabaseSync(file);
    onTestFinished(() => own.close());
    const readTwice = () =>
      opened.readTogether(async () => {
        const first = await count(opened);
        own.exec('INSERT INTO things DEFAULT VALUES');
        return [first, await count(opened)];
      });
    const asked = (by: (ask: () => void) => void) =>
      new Promise((resolve) => by(() => resolve(readTwice())));
    expect(await asked(queueMicrotask)).toEqual([0, 0]);
    expect(await asked(setImmediate)).toEqual([1, 1]);
    expect(await count(opened)).toBe(2);
  });

  test('shows the next read what the application wrote on its own connection', async () => {
    const { file, opened } = openFile();
    await opened.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
    const own = new DatabaseSync(file);
    onTestFinished(() => own.close());
    const counts = [await opened.readTogether(() => count(opened))];
    own.exec('INSERT INTO things (id) VALUES (1)');
    counts.push(await opened.readTogether(() => count(opened)));
    own.exec('INSERT INTO things (id) VALUES (2)');
    counts.push(await count(opened));
    own.exec('INSERT INTO things (id) VALUES (3)');
    counts.push(await count(opened));
    expect(counts).toEqual([0, 1, 2, 3]);
  });

  test('accepts any statement after a grouped read, and is not blocked by a failing read', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
    const follow = ['VACUUM', 'PRAGMA foreign_keys = ON', 'INSERT INTO things (id) VALUES (1)'];
    for (const sql of follow) {
      await Promise.all([opened.execute('SELECT id FROM things'), opened.execute(sql)]);
      const failing = opened.execute("SELECT json('{') AS broken");
      await Promise.all([
        expect(failing).rejects.toThrow('malformed JSON'),
        opened.execute(sql).catch(() => {}),
      ]);
    }
    expect((await opened.execute('SELECT id FROM things')).rows).toEqual([{ id: 1 }]);
  });

  test('fails only the write that violates a constraint checked at commit', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE parents (id INTEGER PRIMARY KEY)');
    await opened.execute(
      'CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)',
    );
    await opened.execute('INSERT INTO parents VALUES (1), (2)');
    const outcomes = await Promise.allSettled(
      [1, 9, 2].map((id) => opened.execute('INSERT INTO children VALUES (?)', [id])),
    );
    expect(fulfilled(outcomes)).toEqual([true, false, true]);
    expect((await opened.execute('SELECT id FROM children ORDER BY id')).rows).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
  });

  test('responds throughout a continuous stream of writes', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE t (n INTEGER)');
    const answered: unknown[] = [];
    const writes: Promise<unknown>[] = [];
    while (answered.length < 100 && writes.length < 5000) {
      writes.push(
        opened.execute('INSERT INTO t VALUES (1)').then((answer) => answered.push(answer)),
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(answered.length).toBeGreaterThanOrEqual(100);
    await Promise.all(writes);
  });

  test.each([...ENDING, ...HIDDEN])(
    'refuses a statement that begins or ends a transaction: %s',
    async (statement) => {
      const { opened } = openFile();
      await opened.execute('CREATE TABLE t (n INTEGER)');
      const outcomes = await Promise.allSettled([
        opened.execute('INSERT INTO t VALUES (1)'),
        opened.execute(statement),
        opened.transaction((on) => on.execute(statement)),
        opened.execute('INSERT INTO t VALUES (2)'),
      ]);
      expect(fulfilled(outcomes)).toEqual([true, false, false, true]);
      expect((await opened.execute('SELECT n FROM t ORDER BY n')).rows).toEqual([
        { n: 1 },
        { n: 2 },
      ]);
    },
  );

  test('fails only the write that caused a full rollback, even if it ignores the error', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE t (n INTEGER UNIQUE)');
    await opened.execute('INSERT INTO t VALUES (1)');
    const outcomes = await Promise.allSettled([
      opened.execute('INSERT INTO t VALUES (2)'),
      opened.transaction(async (on) => {
        await on.execute('INSERT OR ROLLBACK INTO t VALUES (1)').catch(() => {});
      }),
      opened.execute('INSERT INTO t VALUES (3)'),
    ]);
    expect(fulfilled(outcomes)).toEqual([true, false, true]);
    expect((await opened.execute('SELECT n FROM t ORDER BY n')).rows).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
    ]);
  });

  test('waits for a write in a different process while other work continues', async () => {
    const { file, opened } = openFile();
    await opened.execute('CREATE TABLE t (n INTEGER)');
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (1)');
    const write = opened.execute('INSERT INTO t VALUES (2)');
    let done = false;
    void write.then(() => (done = true));
    // Reads continue, and so does the event loop. The other write can end only because of this.
    for (let reads = 0; reads < 20; reads += 1) {
      expect((await opened.execute('SELECT n FROM t')).rows).toEqual([]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(done).toBe(false);
    other.exec('COMMIT');
    await write;
    expect((await opened.execute('SELECT n FROM t ORDER BY n')).rows).toEqual([{ n: 1 }, { n: 2 }]);
  });

  // @shows AS-18.12
  test('is unavailable while its file is read-only, and opens the file again afterwards', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE t (n INTEGER)');
    const insert = (on: Pick<OpenedDatabase, 'execute'>) => on.execute('INSERT INTO t VALUES (1)');
    for (const write of [() => insert(opened), () => opened.transaction(insert)]) {
      // Like a file system that has become read-only, as far as SQLite can tell.
      await opened.execute('PRAGMA query_only = ON');
      const failure = await write().catch((error: unknown) => error);
      expect(failure).toMatchObject({ message: 'attempt to write a readonly database' });
      expect(opened.isUnavailable(failure)).toBe(true);
      await write();
    }
    expect((await opened.execute('SELECT n FROM t')).rows).toHaveLength(2);
  });

  // @shows AS-18.14
  test('creates files and folders that only its own account can read', async () => {
    const above = mkdtempSync(path.join(folder, 'modes-'));
    const file = path.join(above, 'storage', 'data', 'test.sqlite');
    const opened = openDatabase(`sqlite:${file}`, { directory: '/' });
    onTestFinished(() => opened.close());
    await opened.execute('CREATE TABLE t (n INTEGER)');
    const modeOf = (each: string) => (statSync(each).mode & 0o777).toString(8);
    for (const each of [file, `${file}-wal`, `${file}-shm`]) expect(modeOf(each), each).toBe('600');
    for (const each of [path.dirname(file), path.join(above, 'storage')])
      expect(modeOf(each)).toBe('700');
  });

  test('creates files through a link that only its own account can read', async () => {
    const above = mkdtempSync(path.join(folder, 'link-'));
    symlinkSync(path.join(above, 'real.sqlite'), path.join(above, 'link.sqlite'));
    const opened = openDatabase(`sqlite:${path.join(above, 'link.sqlite')}`, { directory: '/' });
    onTestFinished(() => opened.close());
    await opened.execute('CREATE TABLE t (n INTEGER)');
    expect(statSync(path.join(above, 'real.sqlite')).mode & 0o777).toBe(0o600);
  });

  test('keeps the mode of an existing file', async () => {
    const { file, opened } = openFile();
    await opened.execute('CREATE TABLE t (n INTEGER)');
    await opened.close();
    chmodSync(file, 0o640);
    const again = openDatabase(`sqlite:${file}`, { directory: '/' });
    onTestFinished(() => again.close());
    await again.execute('INSERT INTO t VALUES (1)');
    expect([file, `${file}-wal`].map((each) => statSync(each).mode & 0o777)).toEqual([
      0o640, 0o640,
    ]);
  });

  test('leaves no file open after a failed open', async () => {
    const file = path.join(mkdtempSync(path.join(folder, 'none-')), 'test.sqlite');
    writeFileSync(file, 'This is not a database, however often it is tried. '.repeat(100));
    const opened = openDatabase(`sqlite:${file}`, { directory: '/' });
    onTestFinished(() => opened.close());
    const held = () =>
      readdirSync('/proc/self/fd').filter((descriptor) => {
        try {
          return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(file);
        } catch {
          return false;
        }
      });
    for (let tries = 0; tries < 10; tries += 1) {
      await expect(opened.execute('SELECT 1')).rejects.toThrow('file is not a database');
    }
    expect(held()).toEqual([]);
  });

  // @shows AS-13.8
  test('fails a migration at once if the file cannot be opened', async () => {
    const opened = openDatabase(`sqlite:${folder}`, { directory: '/' });
    onTestFinished(() => opened.close());
    await expect(migrate(opened, [])).rejects.toThrow('unable to open database file');
  });

  // @shows AS-13.8
  test('fails a migration with what to do if a different process keeps the file locked', async () => {
    const { file, opened } = openFile();
    await opened.execute('CREATE TABLE t (n INTEGER)');
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    // Each look at the clock is a minute after the one before.
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 60_000));
    onTestFinished(() => clock.mockRestore());
    const failure: unknown = await migrate(opened, []).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message:
        'Another process has locked the database file and does not release it; stop that process, or end its transaction, and run the migration again',
      cause: { message: 'database is locked' },
    });
    expect(opened.isUnavailable(failure)).toBe(true);
  });

  test('refuses statements after it is closed, and can be closed twice', async () => {
    const { opened } = openFile();
    await opened.execute('CREATE TABLE t (n INTEGER)');
    await opened.close();
    await opened.close();
    await expect(opened.execute('SELECT n FROM t')).rejects.toThrow(/closed/);
    await expect(opened.execute('INSERT INTO t VALUES (1)')).rejects.toThrow(/closed/);
  });
});
