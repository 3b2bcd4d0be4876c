// @engines servers: it counts round trips to a database server, and SQLite has no server
import { openDatabase, type OpenedDatabase } from 'portico';
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
import { createDatabase, type TestDatabase } from './support/database.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type Tokens,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';
import { openWay } from './support/way.ts';

let store: TestDatabase;
let other: OpenedDatabase;

beforeAll(async () => {
  store = await createDatabase('');
  other = openDatabase(store.url, { directory: '/' });
  await other.execute('CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(100))');
});
afterAll(async () => {
  await other.close();
  await store.drop();
});
beforeEach(async () => {
  await other.execute('DELETE FROM things');
});

type On = Pick<OpenedDatabase, 'execute'>;
const insert = (id: number, on: On) =>
  on.execute('INSERT INTO things (id, name) VALUES (?, ?)', [id, 'a']);
const find = async (id: number, on: On) =>
  (await on.execute('SELECT id, name FROM things WHERE id = ?', [id])).rows;

describe('the number of round trips to the database server', () => {
  test.each([
    ['a statement by itself', 1, (database: OpenedDatabase, id: number) => insert(id, database)],
    [
      'a transaction of two statements',
      4,
      (database: OpenedDatabase, id: number) =>
        database.transaction(async (on) => {
          await insert(id, on);
          await find(id, on);
        }),
    ],
  ])('for %s is %i', async (_, count, work) => {
    const way = await openWay(store.url);
    await work(way.database, 1);
    way.sent = 0;
    await work(way.database, 2);
    expect(way.sent).toBe(count);
  });

  test('is three for introspection, two for UserInfo and two for client credentials', async () => {
    const way = await openWay(inject('databaseServer') ?? '');
    const portal = await startPortal({ databaseServer: way.url });
    onTestFinished(() => portal.close());
    const client = await registerClient(portal, {
      grants: ['authorization_code', 'refresh_token', 'client_credentials', 'introspection'],
    });
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    const asked: Readonly<Record<string, () => Promise<Response>>> = {
      introspection: () =>
        fetch(`${portal.url}/oauth/introspect`, {
          method: 'POST',
          headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
          body: new URLSearchParams({ token }),
        }),
      userinfo: () => callApi(portal, '/oauth/userinfo', token),
      clientCredentials: () =>
        requestToken(portal, client, { grant_type: 'client_credentials', scope: 'notes:read' }),
    };
    const sent: Record<string, number> = {};
    for (const [name, ask] of Object.entries(asked)) {
      // During the first requests, the server finds out which permissions to read in the same
      // query, and prepares statements.
      for (let time = 0; time < 3; time += 1) expect((await ask()).status).toBe(200);
      way.sent = 0;
      await ask();
      sent[name] = way.sent;
    }
    expect(sent).toEqual({ introspection: 3, userinfo: 2, clientCredentials: 2 });
  });

  // The table of docs/several-regions.md.
  test('is the expected one for each request of an authorization', async () => {
    const way = await openWay(inject('databaseServer') ?? '');
    const portal = await startPortal({ databaseServer: way.url });
    onTestFinished(() => portal.close());
    const client = await registerClient(portal);
    const visitor = await portal.signedIn(ADA);
    const counts: Record<string, number> = {};
    const counted = async <T>(name: string, ask: () => Promise<T>): Promise<T> => {
      way.sent = 0;
      const answer = await ask();
      counts[name] = way.sent;
      return answer;
    };
    // During the first request, the server finds out which permissions to read in the same query,
    // and prepares statements.
    for (let time = 0; time < 2; time += 1) {
      const consent = await counted('consent page', () =>
        visitor.visit(authorizationUrl(portal, client)),
      );
      const back = await counted('consent', () => visitor.submit(consent, { decision: 'allow' }));
      const code = locationOf(back).searchParams.get('code') ?? '';
      const exchanged = await counted('code', () => exchangeCode(portal, client, code));
      const first = (await exchanged.json()) as Tokens;
      const refreshed = await counted('refresh', () =>
        refresh(portal, client, first.refresh_token),
      );
      const { access_token: token, refresh_token: last } = (await refreshed.json()) as Tokens;
      expect((await counted('own API', () => callApi(portal, '/api/notes', token))).status).toBe(
        200,
      );
      for (const [name, each] of [
        ['revocation', token],
        ['revocation of a revoked token', token],
        ['revocation of the authorization', last],
      ] as const) {
        const revoked = await counted(name, () =>
          fetch(`${portal.url}/oauth/revoke`, {
            method: 'POST',
            headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
            body: new URLSearchParams({ token: each }),
          }),
        );
        expect(revoked.status).toBe(200);
      }
    }
    const isPostgres = way.database.dialect === 'postgres';
    // If the engine cannot issue tokens in a single statement, issuing needs a BEGIN, a second
    // statement and a COMMIT.
    const more = isPostgres ? 0 : 3;
    expect(counts).toEqual({
      'consent page': 6,
      consent: 8 + more,
      code: 6 + more,
      refresh: 6 + more,
      'own API': 3,
      revocation: 3,
      // PostgreSQL must also make sure that the standbys have the revocation.
      'revocation of a revoked token': isPostgres ? 5 : 4,
      'revocation of the authorization': 5,
    });
  });
});

describe('every transaction runs at READ COMMITTED', () => {
  const seesOthers = (database: OpenedDatabase, id: number) =>
    database.transaction(async (on) => {
      const before = await find(id, on);
      await insert(id, other);
      return { before, after: await find(id, on) };
    });

  // @shows AS-18.15
  test('from the first on each connection, and on a replacement connection', async () => {
    const way = await openWay(store.url);
    for (const id of [1, 2]) {
      expect(await seesOthers(way.database, id)).toEqual({
        before: [],
        after: [{ id, name: 'a' }],
      });
    }
    await way.database
      .transaction(async (on) => on.execute('INSERT INTO nothing VALUES (1)'))
      .catch(() => {});
    expect(await seesOthers(way.database, 3)).toMatchObject({ after: [{ id: 3 }] });
    way.cut();
    await expect.poll(() => find(3, way.database).catch(() => null)).toHaveLength(1);
    expect(await seesOthers(way.database, 4)).toMatchObject({ after: [{ id: 4 }] });
  });

  // @shows AS-18.15
  test.each(
    inject('databaseServer')?.startsWith('postgres') === true
      ? ["SET default_transaction_isolation = 'repeatable read'"]
      : [
          'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
          '/* ours */ set transaction isolation level read uncommitted',
          "SET tx_isolation = 'REPEATABLE-READ'",
          'SET autocommit = 0',
        ],
  )('also after the application has run %s', async (statement) => {
    const way = await openWay(store.url);
    await way.database.execute(statement);
    expect(await seesOthers(way.database, 5)).toEqual({
      before: [],
      after: [{ id: 5, name: 'a' }],
    });
    await way.database.transaction((on) => on.execute(statement)).catch(() => {});
    expect(await seesOthers(way.database, 6)).toEqual({
      before: [],
      after: [{ id: 6, name: 'a' }],
    });
    await insert(7, way.database);
    expect(await find(7, other)).toHaveLength(1);
  });

  // @shows AS-18.15
  test('also if the URL requests a reset of connections, which discards their settings', async () => {
    const database = openDatabase(`${store.url}?resetOnRelease=true`, { directory: '/' });
    onTestFinished(() => database.close());
    for (const id of [8, 9, 10])
      expect(await seesOthers(database, id)).toMatchObject({ before: [], after: [{ id }] });
  });

  // @shows AS-18.15
  test('with any server default', async () => {
    const isPostgres = store.url.startsWith('postgres');
    const own = await createDatabase('');
    onTestFinished(() => own.drop());
    const administrator = openDatabase(own.url, { directory: '/' });
    onTestFinished(() => administrator.close());
    const set = async (level: string) => {
      const name = new URL(own.url).pathname.slice(1);
      await administrator.execute(
        isPostgres
          ? `ALTER DATABASE ${name} SET default_transaction_isolation = '${level.toLowerCase()}'`
          : `SET GLOBAL TRANSACTION ISOLATION LEVEL ${level}`,
      );
    };
    await set('REPEATABLE READ');
    onTestFinished(() => set('REPEATABLE READ'));
    const database = openDatabase(own.url, { directory: '/' });
    onTestFinished(() => database.close());
    await database.execute('CREATE TABLE things (id INTEGER PRIMARY KEY)');
    await database.transaction(async (on) => {
      const count = async () => (await on.execute('SELECT id FROM things')).rows.length;
      expect(await count()).toBe(0);
      await administrator.execute('INSERT INTO things (id) VALUES (1)');
      expect(await count()).toBe(1);
    });
  });
});

// @shows AS-18.15
test('a prepared statement returns the current columns', async () => {
  const database = openDatabase(store.url, { directory: '/' });
  onTestFinished(() => database.close());
  await database.execute('CREATE TABLE shapes (id INTEGER PRIMARY KEY, size BIGINT)');
  onTestFinished(async () => void (await other.execute('DROP TABLE shapes')));
  await other.execute('INSERT INTO shapes (id, size) VALUES (1, 7)');
  const ask = async () => (await database.execute('SELECT id, size FROM shapes')).rows;
  expect([await ask(), await ask()]).toEqual([[{ id: 1, size: 7 }], [{ id: 1, size: 7 }]]);
  await other.execute('ALTER TABLE shapes DROP COLUMN size');
  await other.execute('ALTER TABLE shapes ADD COLUMN size VARCHAR(20)');
  await other.execute("UPDATE shapes SET size = '7 m'");
  expect([await ask(), await ask()]).toEqual([[{ id: 1, size: '7 m' }], [{ id: 1, size: '7 m' }]]);
});

test('the error of a failed statement has its caller in the stack', async () => {
  const asking = other.execute('SELECT id FROM nothing');
  await expect(asking).rejects.toMatchObject({
    stack: expect.stringContaining('round-trips.test'),
  });
});
