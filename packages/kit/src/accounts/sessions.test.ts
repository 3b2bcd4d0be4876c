// @engines sqlite: it tests session rules; the logout tests run on every engine
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, openDatabase, type OpenedDatabase } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { HttpError } from '../errors.ts';
import {
  sessionsBySecretMigration,
  sessionsMigration,
  sessionsOfPersonMigration,
  type TellsEnd,
} from './session-rows.ts';
import { Sessions, type RequestSession } from './sessions.ts';

const ORIGIN = 'https://app.example';
const COOKIE = '__Host-portico_session';
const HOUR = 3600;
const LIFETIME = 24 * HOUR;
const ADA = { provider: 'own', id: 'ada' };
const GRACE = { provider: 'own', id: 'grace' };

let folder: string;
let database: OpenedDatabase;
/** The time, in milliseconds since 1970. */
let now: number;
/** What the authorization server was told, and after which commits. */
let told: unknown[];

const tellsEnd: TellsEnd = async (_, ended) => {
  told.push(ended);
  return async () => void told.push('committed');
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-sessions-'));
  database = openDatabase('sqlite:sessions.db', { directory: folder });
  await migrate(database, [sessionsMigration]);
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await database.execute('DELETE FROM host_sessions');
  now = 1_795_240_016_123;
  told = [];
  shared = sessionsFor();
});

const sessionsFor = (lifetime = LIFETIME) =>
  new Sessions(database, lifetime, { secure: true, basePath: '' }, ['DPoP'], () => now, tellsEnd);
let shared: Sessions;

/** Returns the session of a request with this cookie value. */
function visit(id: string | null = null, authorization: string | null = null): RequestSession {
  const headers = new Headers();
  if (id !== null) headers.set('cookie', `${COOKIE}=${id}`);
  if (authorization !== null) headers.set('authorization', authorization);
  return shared.of(new Request(ORIGIN, { headers }));
}
/** Returns the value and the age of the cookie that the response sets, or null. */
function cookieOf(session: RequestSession) {
  const cookie = session.setCookie();
  if (cookie === null) return null;
  const [, id = '', age] =
    /^__Host-portico_session=([\w-]*); Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=(\d+)$/.exec(
      cookie,
    ) ?? [];
  return { id, age: Number(age) };
}
const idOf = (session: RequestSession) => cookieOf(session)?.id ?? null;
const rows = async () => (await database.execute('SELECT id_hash FROM host_sessions')).rows.length;
async function signedIn(person = ADA): Promise<{ readonly id: string; readonly secret: string }> {
  const session = visit();
  await session.signIn(person, {});
  return { id: idOf(session) ?? '', secret: await session.secret() };
}

describe('a session', () => {
  test('is not started by a read', async () => {
    const session = visit();
    expect([
      await session.get('a'),
      await session.existingSecret(),
      await session.person(),
      await session.authentication(),
    ]).toEqual([undefined, null, null, null]);
    expect([session.setCookie(), await rows()]).toEqual([null, 0]);
  });

  test('is started by a write, and the next request reads the value', async () => {
    const session = visit();
    await session.set('a', { b: 1 });
    expect(cookieOf(session)?.age).toBe(2 * HOUR);
    expect(await session.get('a')).toEqual({ b: 1 });
    const next = visit(idOf(session));
    expect(await next.get('a')).toEqual({ b: 1 });
    expect(await next.get('toString')).toBeUndefined();
    expect(await next.secret()).toBe(await session.secret());
    expect([next.setCookie(), await rows()]).toEqual([null, 1]);
    await next.set('a', undefined);
    expect([await next.get('a'), await visit(idOf(session)).get('a')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('stores who signed in, when and how', async () => {
    const session = visit();
    await session.signIn(ADA, { amr: ['pwd'], acr: 'high' });
    expect(cookieOf(session)?.age).toBe(LIFETIME);
    const next = visit(idOf(session));
    expect(await next.person()).toEqual(ADA);
    expect(await next.authentication()).toEqual({
      at: new Date(now),
      amr: ['pwd'],
      acr: 'high',
    });
  });

  test.each([
    { provider: '', id: '7' },
    { provider: 'own', id: '' },
  ])('is not started for the person %j', async (person) => {
    await expect(visit().signIn(person, {})).rejects.toThrow('No one can sign in');
    expect(await rows()).toBe(0);
  });

  test.each(['Bearer x', 'DPoP x'])('does not exist for a request with %s', async (scheme) => {
    const { id } = await signedIn();
    const session = visit(id, scheme);
    expect([await session.person(), await session.existingSecret()]).toEqual([null, null]);
    const refused = new HttpError(400, 'A request with a bearer token has no session');
    await expect(session.secret()).rejects.toThrow(refused);
    await expect(session.set('a', 1)).rejects.toThrow(refused);
    await expect(session.signIn(GRACE, {})).rejects.toThrow(refused);
    expect([session.setCookie(), await rows()]).toEqual([null, 1]);
    expect(await visit(id, 'Basic x').person()).toEqual(ADA);
  });

  test('is found only by its id, not by its secret or hash', async () => {
    const { id, secret } = await signedIn();
    const { rows: stored } = await database.execute<{ id_hash: string }>(
      'SELECT id_hash FROM host_sessions',
    );
    expect(stored).toEqual([{ id_hash: expect.stringMatching(/^[\w-]{43}$/) as string }]);
    for (const value of [secret, stored[0]?.id_hash ?? '', id.slice(1), 'a'.repeat(43), ''])
      expect(await visit(value).person()).toBeNull();
  });
});

describe('the lifetime of a session', () => {
  test.each<[string, (session: RequestSession) => Promise<unknown>, number]>([
    ['of a person', (session) => session.signIn(ADA, {}), LIFETIME],
    ['without a person', (session) => session.secret(), 2 * HOUR],
  ])('%s ends to the millisecond', async (_, begin, seconds) => {
    const session = visit();
    await begin(session);
    const began = now;
    now = began + seconds * 1000;
    expect(await visit(idOf(session)).existingSecret()).toBeNull();
    now -= 1;
    expect(await visit(idOf(session)).existingSecret()).not.toBeNull();
    now += 1;
    expect(await visit(idOf(session)).existingSecret()).not.toBeNull();
  });

  test.each([
    ['a long one', LIFETIME, HOUR * 1000],
    ['a short one', 1000, 500_000],
  ])('of %s is extended only after part of it has passed', async (_, lifetime, after) => {
    shared = sessionsFor(lifetime);
    const { id } = await signedIn();
    now += after;
    const same = visit(id);
    expect(await same.person()).toEqual(ADA);
    expect(same.setCookie()).toBeNull();
    now += 1;
    const longer = visit(id);
    expect(await longer.person()).toEqual(ADA);
    expect(cookieOf(longer)).toEqual({ id, age: lifetime });
    now += lifetime * 1000 - 1;
    expect(await visit(id).person()).toEqual(ADA);
  });

  test('without a person is never longer than with one', () => {
    expect(sessionsFor(1000).lifetimeFor(null)).toBe(1000);
    expect(sessionsFor(1000).lifetimeFor(ADA)).toBe(1000);
    expect(sessionsFor(LIFETIME).lifetimeFor(null)).toBe(2 * HOUR);
  });
});

describe('signing in', () => {
  test('keeps the secret and the data of a visitor under a new id', async () => {
    const before = visit();
    await before.set('basket', 'full');
    const session = visit(idOf(before));
    await session.signIn(ADA, {});
    expect(idOf(session)).not.toBe(idOf(before));
    const next = visit(idOf(session));
    expect([await next.get('basket'), await next.secret()]).toEqual([
      'full',
      await before.secret(),
    ]);
    expect(await visit(idOf(before)).existingSecret()).toBeNull();
    expect([await rows(), told]).toEqual([1, []]);
  });

  test('in a concurrent request keeps a value that is stored later', async () => {
    const before = visit();
    await before.secret();
    const late = visit(idOf(before));
    expect(await late.person()).toBeNull();
    const session = visit(idOf(before));
    await session.signIn(ADA, {});
    await late.set('basket', 'full');
    expect(await late.get('basket')).toBe('full');
    expect([late.setCookie(), await rows()]).toEqual([null, 1]);
    expect(await visit(idOf(session)).get('basket')).toBe('full');
  });

  test('in a concurrent request hides what it stores from the id of before', async () => {
    const before = visit();
    await before.set('basket', 'full');
    const late = visit(idOf(before));
    expect(await late.person()).toBeNull();
    const session = visit(idOf(before));
    await session.signIn(ADA, {});
    await session.set('address', 'hers');
    await late.set('color', 'red');
    expect([await late.get('basket'), await late.get('color')]).toEqual(['full', 'red']);
    expect(await late.get('address')).toBeUndefined();
    expect(await visit(idOf(session)).get('color')).toBe('red');
  });

  test('in a concurrent request keeps its cookie, although this request would extend the session', async () => {
    const { id } = await signedIn();
    now += 2 * HOUR * 1000;
    let signsIn = true;
    const execute: OpenedDatabase['execute'] = async (sql, values) => {
      const result = await database.execute(sql, values);
      if (sql.startsWith('SELECT') && signsIn) {
        signsIn = false;
        await visit(id).signIn(ADA, {});
      }
      return result as never;
    };
    const slow = { dialect: database.dialect, execute } as OpenedDatabase;
    const cookies = { secure: true, basePath: '' };
    const sessions = new Sessions(slow, LIFETIME, cookies, ['DPoP'], () => now, tellsEnd);
    const headers = new Headers({ cookie: `${COOKIE}=${id}` });
    const session = sessions.of(new Request(ORIGIN, { headers }));
    expect([await session.get('a'), cookieOf(session), signsIn]).toEqual([undefined, null, false]);
  });

  test('again as the same person keeps the session', async () => {
    const { id, secret } = await signedIn();
    const session = visit(id);
    await session.signIn({ ...ADA }, {});
    expect([await session.secret(), await rows(), told]).toEqual([secret, 1, []]);
    expect(await visit(id).person()).toBeNull();
  });

  test.each([GRACE, { provider: 'others', id: 'ada' }])(
    'as a different person (%j) ends the earlier session',
    async (other) => {
      const { id, secret } = await signedIn();
      await visit(id).set('basket', 'full');
      const session = visit(id);
      await session.signIn(other, {});
      expect(await session.secret()).not.toBe(secret);
      expect(await visit(idOf(session)).get('basket')).toBeUndefined();
      expect(await visit(idOf(session)).person()).toEqual(other);
      expect(await visit(id).person()).toBeNull();
      expect(told).toEqual([{ session: secret }, 'committed']);
    },
  );
});

test('a write also returns what a concurrent request stored under the same id', async () => {
  const { id } = await signedIn();
  const session = visit(id);
  expect(await session.person()).toEqual(ADA);
  await visit(id).set('basket', 'full');
  await session.set('color', 'red');
  expect([await session.get('basket'), await session.get('color')]).toEqual(['full', 'red']);
});

describe('signing out', () => {
  test('ends the session and notifies the listeners', async () => {
    const { id, secret } = await signedIn();
    const session = visit(id);
    await session.signOut();
    expect([await session.person(), await session.existingSecret()]).toEqual([null, null]);
    expect(cookieOf(session)).toEqual({ id: '', age: 0 });
    expect(await visit(id).person()).toBeNull();
    expect([await rows(), told]).toEqual([0, [{ session: secret }, 'committed']]);
  });

  test('of a visitor ends the session and notifies no listener', async () => {
    const before = visit();
    await before.secret();
    await visit(idOf(before)).signOut();
    expect([await rows(), told]).toEqual([0, []]);
  });

  test('ends a session in which a concurrent request has signed in, and notifies the listeners', async () => {
    const before = visit();
    const secret = await before.secret();
    const late = visit(idOf(before));
    expect(await late.person()).toBeNull();
    await visit(idOf(before)).signIn(ADA, {});
    await late.signOut();
    expect([await rows(), told]).toEqual([0, [{ session: secret }, 'committed']]);
  });

  test('notifies the listeners again if a concurrent request has signed out', async () => {
    const { id, secret } = await signedIn();
    const session = visit(id);
    expect(await session.person()).toEqual(ADA);
    await visit(id).signOut();
    await session.signOut();
    const ended = [{ session: secret }, 'committed'];
    expect([cookieOf(session), told]).toEqual([{ id: '', age: 0 }, [...ended, ...ended]]);
  });

  test('without a session removes the cookie', async () => {
    const session = visit('a'.repeat(43));
    await session.signOut();
    expect(cookieOf(session)).toEqual({ id: '', age: 0 });
    expect(told).toEqual([]);
  });

  test('that fails withholds the cookie of a session that the same request began', async () => {
    const session = visit();
    await session.signIn(ADA, {});
    await database.execute('ALTER TABLE host_sessions RENAME TO gone');
    onTestFinished(async () => {
      await database.execute('ALTER TABLE gone RENAME TO host_sessions');
    });
    await expect(session.signOut()).rejects.toThrow('host_sessions');
    expect(session.setCookie()).toBeNull();
  });

  test('everywhere ends every session of the person, and of no other person', async () => {
    const own = [await signedIn(), await signedIn()];
    const others = [await signedIn(GRACE), await signedIn({ provider: 'others', id: 'ada' })];
    expect(await shared.rows.removeOfPerson(ADA)).toBe(2);
    for (const { id } of own) expect(await visit(id).person()).toBeNull();
    for (const { id } of others) expect(await visit(id).person()).not.toBeNull();
    const secrets = own.map(({ secret }) => secret).toSorted();
    expect(told).toEqual([
      { person: ADA },
      ...secrets.map((session) => ({ session })),
      'committed',
      'committed',
      'committed',
    ]);
    expect(await shared.rows.removeOfPerson(ADA)).toBe(0);
  });

  test('in a concurrent request makes a later write have no effect', async () => {
    const { id } = await signedIn();
    const session = visit(id);
    expect(await session.person()).toEqual(ADA);
    await visit(id).signOut();
    await session.set('a', 1);
    expect([await session.get('a'), await session.person(), await rows()]).toEqual([
      undefined,
      null,
      0,
    ]);
  });
});

test('a visitor keeps the session if removing expired ones fails before a sign-in', async () => {
  const failing = {
    ...database,
    execute: async (statement: string, values?: readonly (string | number | null)[]) => {
      if (statement.includes('expires_at <= ? ORDER BY')) throw new Error('The disk is full');
      return database.execute(statement, values);
    },
    transaction: database.transaction.bind(database),
  } as OpenedDatabase;
  const scope = { secure: true, basePath: '' };
  const sessions = new Sessions(failing, LIFETIME, scope, ['DPoP'], () => now, tellsEnd);
  shared = sessions;
  const visitor = visit();
  const secret = await visitor.secret();
  for (let count = 0; count < 18; count += 1) await visit().secret();
  const stored = await rows();
  await expect(visit(idOf(visitor)).signIn(ADA, {})).rejects.toThrow('The disk is full');
  expect(await rows()).toBe(stored);
  expect(await visit(idOf(visitor)).existingSecret()).toBe(secret);
});

test('every twentieth new session removes up to 100 expired ones', async () => {
  for (let count = 0; count < 120; count += 1)
    await database.execute(
      'INSERT INTO host_sessions (id_hash, data, secret, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
      [String(count), '{}', '', 0, count < 119 ? count : now + 1],
    );
  for (let count = 0; count < 19; count += 1) await visit().secret();
  expect(await rows()).toBe(139);
  await visit().secret();
  expect(await rows()).toBe(40);
  expect((await database.execute("SELECT 1 FROM host_sessions WHERE id_hash = '99'")).rows).toEqual(
    [],
  );
  for (let count = 0; count < 20; count += 1) await visit().secret();
  expect(await rows()).toBe(41);
});

test.each([
  ['postgres', 'CREATE INDEX IF NOT EXISTS '],
  ['mysql', 'CREATE INDEX '],
])('on %s, the migrations of indexes say %s', async (dialect, create) => {
  const said: string[] = [];
  const schema = { dialect, change: async (statement: string) => void said.push(statement) };
  for (const migration of [sessionsOfPersonMigration, sessionsBySecretMigration])
    await migration.up(schema as unknown as Parameters<typeof migration.up>[0]);
  expect(said).toEqual([
    `${create}host_sessions_person ON host_sessions (user_provider, user_id)`,
    `${create}host_sessions_secret ON host_sessions (secret)`,
  ]);
});
