// @engines sqlite: it tests each statement; the logout tests run on every engine
import { migrate } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import type { EndedSessions } from '../../host/session-ends.ts';
import { backChannelLogoutMigrations } from './migrations.ts';
import { Sessions } from './sessions.ts';

const NOW = 1_795_240_016_123;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ADA = { provider: 'accounts', id: 'ada' };
const CODE_TTL = 60;
/** When a sign-in is checked again. */
const CHECKED = NOW + 10 * MINUTE + 2 * CODE_TTL * 1000;

let watched: WatchedStore;
let sessions: Sessions;

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, backChannelLogoutMigrations);
  sessions = new Sessions(watched.database, CODE_TTL);
});
beforeEach(() => {
  watched.meanwhile = null;
  return watched.emptied(
    'oauth_sessions',
    'oauth_session_clients',
    'oauth_session_people',
    'oauth_families',
  );
});
afterAll(() => watched.close());

interface SignIn {
  readonly client?: string;
  readonly person?: typeof ADA;
  readonly readAt?: number;
  readonly keepsAccess?: boolean;
  readonly now?: number;
}

/** A person signs in to a client in this session. */
function begin(session: string, familyId: string, changes: SignIn = {}) {
  const { client = 'shop', person = ADA, now = NOW, readAt = now, keepsAccess = false } = changes;
  const begun = { familyId, clientId: client, subject: `${person.id} at ${client}`, keepsAccess };
  return sessions.begin({ session, person, readAt }, begun, now);
}

async function end(ended: EndedSessions, now = NOW) {
  return watched.database.transaction((connection) => sessions.end(connection, ended, now));
}

async function endedIn(ended: EndedSessions): Promise<readonly string[]> {
  return (await end(ended)).clients.map(({ familyId }) => familyId);
}

const people = () => watched.rowsOf('SELECT * FROM oauth_session_people ORDER BY user_id');
const recorded = async () =>
  (
    await watched.rowsOf<{ family_id: string }>(
      'SELECT family_id FROM oauth_session_clients ORDER BY family_id',
    )
  ).map(({ family_id: id }) => id);
const inStore = () =>
  watched.rowsOf<{ readonly ended_at: number | null; readonly prune_after: number }>(
    'SELECT ended_at, prune_after FROM oauth_sessions ORDER BY prune_after, ended_at',
  );

describe('a sign-in to a client', () => {
  test('is recorded with its session and person', async () => {
    await begin('desk', 'a', { keepsAccess: true });
    await begin('desk', 'b', { client: 'bank' });
    const rows = await watched.rowsOf(
      'SELECT s.user_provider, s.user_id, s.ended_at, s.prune_after AS checked, c.* ' +
        'FROM oauth_session_clients c JOIN oauth_sessions s ON s.session_hash = c.session_hash ' +
        'ORDER BY family_id',
    );
    const row = {
      user_provider: 'accounts',
      user_id: 'ada',
      ended_at: null,
      checked: CHECKED,
      session_hash: expect.stringMatching(/^[\w-]{43}$/) as unknown,
      created_at: NOW,
      prune_after: CHECKED,
    };
    expect(rows).toEqual([
      { ...row, family_id: 'a', client_id: 'shop', subject: 'ada at shop', keeps_access: 1 },
      { ...row, family_id: 'b', client_id: 'bank', subject: 'ada at bank', keeps_access: 0 },
    ]);
    expect(await people()).toEqual([
      {
        user_provider: 'accounts',
        user_id: 'ada',
        ended_at: 0,
        ended_by: '',
        except_hash: '',
        prune_after: NOW + HOUR,
      },
    ]);
  });

  test('gets the sid of its session and client, also later', async () => {
    const sid = await begin('desk', 'a');
    expect(sid).toMatch(/^[\w-]{43}$/);
    expect(await begin('desk', 'b')).toBe(sid);
    expect(await sessions.sid('desk', 'shop')).toBe(sid);
    const others = [
      sid,
      await begin('desk', 'c', { client: 'bank' }),
      await begin('phone', 'd'),
      await begin('of bob', 'e', { person: { ...ADA, id: 'bob' } }),
    ];
    expect(new Set(others).size).toBe(4);
    expect(await sessions.sid('unknown', 'shop')).toBeNull();
  });

  test('keeps the records of its session and person for the same time again', async () => {
    await begin('desk', 'a');
    await begin('desk', 'b', { now: NOW + MINUTE });
    expect(await inStore()).toEqual([{ ended_at: null, prune_after: CHECKED + MINUTE }]);
    expect(await people()).toMatchObject([{ prune_after: NOW + MINUTE + HOUR }]);
  });

  test.each([
    ['person', { ...ADA, id: 'bob' }],
    ['provider', { ...ADA, provider: 'staff' }],
  ])('is refused in a session of another %s', async (_, person) => {
    await begin('desk', 'a');
    expect(await begin('desk', 'b', { person })).toBeNull();
    expect(await recorded()).toEqual(['a']);
  });

  test('is refused in a session that has ended', async () => {
    await begin('desk', 'a');
    await end({ session: 'desk' });
    await end({ session: 'unknown' });
    expect(await begin('desk', 'b')).toBeNull();
    expect(await begin('unknown', 'c')).toBeNull();
    expect(await sessions.sid('unknown', 'shop')).toBeNull();
    expect(await recorded()).toEqual([]);
    expect(await begin('phone', 'd')).not.toBeNull();
  });

  test('is refused until all sessions of the person have ended in the store', async () => {
    const { committed } = await end({ person: ADA, except: 'desk' });
    expect(await begin('phone', 'a', { readAt: NOW + MINUTE })).toBeNull();
    expect(await begin('desk', 'b')).not.toBeNull();
    expect(await begin('of bob', 'c', { person: { ...ADA, id: 'bob' } })).not.toBeNull();
    expect(await begin('staff', 'd', { person: { ...ADA, provider: 'staff' } })).not.toBeNull();
    await committed(NOW + 10);
    expect(await begin('phone', 'e', { readAt: NOW + 10 })).toBeNull();
    expect(await begin('phone', 'f', { readAt: NOW + 11 })).not.toBeNull();
    expect(await recorded()).toEqual(['b', 'c', 'd', 'f']);
  });

  test('is possible a minute after all sessions were ended, even without the commit', async () => {
    const { committed } = await end({ person: ADA });
    expect(await begin('phone', 'a', { readAt: NOW + MINUTE })).toBeNull();
    expect(await begin('phone', 'b', { readAt: NOW + MINUTE + 1 })).not.toBeNull();
    await committed(NOW + HOUR);
    expect(await people()).toMatchObject([{ ended_at: NOW + MINUTE }]);
  });
});

describe('the end of a session', () => {
  test('returns its sign-ins once, and marks it as ended for an hour', async () => {
    const [keepsAccess, client] = [true, 'bank'];
    const sid = await begin('desk', 'b');
    const other = await begin('desk', 'a', { client, keepsAccess });
    await begin('phone', 'c');
    const { clients, committed } = await end({ session: 'desk' }, NOW + 5);
    const about = { createdAt: NOW, keepsAccess: false };
    expect(clients).toEqual([
      {
        ...about,
        familyId: 'a',
        clientId: client,
        subject: 'ada at bank',
        sid: other,
        keepsAccess,
      },
      { ...about, familyId: 'b', clientId: 'shop', subject: 'ada at shop', sid },
    ]);
    await committed(NOW + 6);
    expect(await endedIn({ session: 'desk' })).toEqual([]);
    expect(await recorded()).toEqual(['c']);
    expect(await inStore()).toEqual([
      { ended_at: null, prune_after: CHECKED },
      { ended_at: NOW + 5, prune_after: NOW + HOUR },
    ]);
  });

  test('is stored for a session that nothing used, with the time of the first end', async () => {
    await end({ session: 'desk' });
    await end({ session: 'desk' }, NOW + 5);
    const rows = await watched.rowsOf(
      'SELECT sid_key, user_provider, user_id, ended_at, prune_after FROM oauth_sessions',
    );
    const none = { sid_key: '', user_provider: '', user_id: '' };
    expect(rows).toEqual([{ ...none, ended_at: NOW, prune_after: NOW + 5 + HOUR }]);
  });

  test('also ends a session that another process records meanwhile', async () => {
    const act = () => begin('desk', 'a');
    const connection = watched.database;
    watched.meanwhile = { before: /INSERT INTO oauth_sessions/, act };
    const { clients } = await sessions.end(connection, { session: 'desk' }, NOW);
    expect(clients.map(({ familyId }) => familyId)).toEqual(['a']);
    expect(await inStore()).toEqual([{ ended_at: NOW, prune_after: NOW + HOUR }]);
  });

  test('writes once for a session that is recorded, and three times for any other', async () => {
    await begin('desk', 'a');
    await end({ session: 'desk' });
    const before = watched.writes.length;
    await end({ session: 'desk' });
    expect(watched.writes.length).toBe(before + 1);
    await end({ session: 'phone' });
    expect(watched.writes.length).toBe(before + 4);
  });
});

describe('the end of all sessions of a person', () => {
  const bob = { ...ADA, id: 'bob' };
  const staff = { ...ADA, provider: 'staff' };

  test('returns the sign-ins in them, except in one', async () => {
    await begin('desk', 'a');
    await begin('phone', 'b');
    await begin('tablet', 'c');
    await begin('of bob', 'd', { person: bob });
    await begin('of staff', 'e', { person: staff });
    expect(await endedIn({ person: ADA, except: 'phone' })).toEqual(['a', 'c']);
    expect(await recorded()).toEqual(['b', 'd', 'e']);
    expect(await begin('desk', 'f', { readAt: NOW + HOUR })).toBeNull();
    expect(await endedIn({ person: ADA })).toEqual(['b']);
    expect(await recorded()).toEqual(['d', 'e']);
    const ended = { ended_at: NOW, prune_after: NOW + HOUR };
    const active = { ended_at: null, prune_after: CHECKED };
    expect(await inStore()).toEqual([active, active, ended, ended, ended]);
  });

  test('stores when it ended for an hour, and which session continues', async () => {
    await begin('desk', 'a');
    const first = await end({ person: ADA, except: 'desk' });
    const [row] = await watched.rowsOf<{ readonly ended_by: string }>(
      'SELECT * FROM oauth_session_people',
    );
    const hashes = await watched.rowsOf<{ readonly session_hash: string }>(
      'SELECT session_hash FROM oauth_sessions',
    );
    expect(row).toEqual({
      user_provider: 'accounts',
      user_id: 'ada',
      ended_at: NOW + MINUTE,
      ended_by: expect.stringMatching(/^[\w-]{43}$/) as unknown,
      except_hash: hashes[0]?.session_hash,
      prune_after: NOW + HOUR,
    });
    const second = await end({ person: ADA }, NOW + 5);
    // The commit of the first end no longer matters.
    await first.committed(NOW + 6);
    const later = { ended_at: NOW + 5 + MINUTE, except_hash: '', prune_after: NOW + 5 + HOUR };
    expect(await people()).toMatchObject([later]);
    await second.committed(NOW + 7);
    expect(await people()).toMatchObject([{ ended_at: NOW + 7 }]);
  });

  test('does not change when a session ended, and ignores one that begins meanwhile', async () => {
    await begin('desk', 'a');
    await end({ session: 'desk' }, NOW - 5);
    const added = { user_provider: 'accounts', user_id: 'ada', sid_key: 'k', prune_after: CHECKED };
    const signIn = { client_id: 'shop', subject: 'ada', keeps_access: 0 };
    const act = async () => {
      await watched.insert('oauth_sessions', { ...added, session_hash: 'new' });
      const times = { created_at: NOW, prune_after: CHECKED };
      await watched.insert('oauth_session_clients', {
        ...signIn,
        ...times,
        session_hash: 'new',
        family_id: 'b',
      });
    };
    watched.meanwhile = { before: /SELECT c.family_id/, act };
    expect((await sessions.end(watched.database, { person: ADA }, NOW)).clients).toEqual([]);
    expect(await recorded()).toEqual(['b']);
    expect(await inStore()).toEqual([
      { ended_at: null, prune_after: CHECKED },
      { ended_at: NOW - 5, prune_after: NOW - 5 + HOUR },
    ]);
  });

  test.each([0, 1, 100, 101])('removes all of its %i sign-ins', async (count) => {
    const ids = Array.from({ length: count }, (_, index) => String(1000 + index));
    await begin('desk', 'first');
    await watched.database.execute(
      `INSERT INTO oauth_session_clients
      SELECT value, session_hash, client_id, subject, keeps_access, created_at, prune_after
      FROM oauth_session_clients, json_each(?) WHERE family_id = 'first'`,
      [JSON.stringify(ids)],
    );
    await watched.database.execute("DELETE FROM oauth_session_clients WHERE family_id = 'first'");
    const before = watched.writes.length;
    expect(await endedIn({ session: 'desk' })).toEqual(ids);
    expect(await recorded()).toEqual([]);
    const removing = watched.writes
      .slice(before)
      .filter(({ begins }) => begins.startsWith('DELETE'));
    expect(removing.map(({ values }) => values)).toEqual(
      Array.from({ length: Math.ceil(count / 100) }, (_, at) => Math.min(100, count - 100 * at)),
    );
  });
});

describe('the erasure of a person', () => {
  test('deletes the sessions, the sign-ins and the last end of this person', async () => {
    await begin('desk', 'a');
    await begin('of bob', 'b', { person: { ...ADA, id: 'bob' } });
    await begin('of staff', 'c', { person: { ...ADA, provider: 'staff' } });
    expect(await sessions.forget(ADA)).toBe(true);
    expect(await recorded()).toEqual(['b', 'c']);
    expect(await inStore()).toHaveLength(2);
    expect(await people()).toMatchObject([
      { user_provider: 'staff', user_id: 'ada' },
      { user_provider: 'accounts', user_id: 'bob' },
    ]);
    expect(await sessions.forget(ADA)).toBe(false);
  });

  test('reports each kind of row that it deletes', async () => {
    await end({ person: ADA });
    expect(await sessions.forget(ADA)).toBe(true);
    await begin('desk', 'a');
    await watched.emptied('oauth_session_people');
    expect(await sessions.forget(ADA)).toBe(true);
    await begin('desk', 'b');
    await watched.emptied('oauth_session_people', 'oauth_session_clients');
    expect(await sessions.forget(ADA)).toBe(true);
    expect(await sessions.forget(ADA)).toBe(false);
  });
});

describe('pruning', () => {
  const signIn = (id: string, createdAt: number, pruneAfter = NOW - 1, session = 'none') =>
    watched.insert('oauth_session_clients', {
      family_id: id,
      session_hash: session,
      client_id: 'shop',
      subject: 'ada',
      keeps_access: 0,
      created_at: createdAt,
      prune_after: pruneAfter,
    });
  const session = (hash: string, pruneAfter = NOW - 1) =>
    watched.insert('oauth_sessions', {
      session_hash: hash,
      sid_key: 'k',
      user_provider: 'accounts',
      user_id: 'ada',
      prune_after: pruneAfter,
    });
  const person = (id: string, pruneAfter = NOW - 1) =>
    watched.insert('oauth_session_people', {
      user_provider: 'accounts',
      user_id: id,
      ended_at: 0,
      ended_by: '',
      except_hash: '',
      prune_after: pruneAfter,
    });
  const authorization = (id: string, refresh_generation: number | null) =>
    watched.insert('oauth_families', {
      id,
      client_id: 'shop',
      user_provider: 'accounts',
      user_id: 'ada',
      subject: 'ada',
      scope: 'openid',
      created_at: NOW,
      expires_at: NOW,
      prune_after: NOW,
      refresh_generation,
    });
  const kept = async () =>
    Object.fromEntries(
      (
        await watched.rowsOf<{ readonly id: string; readonly prune_after: number }>(
          'SELECT family_id AS id, prune_after FROM oauth_session_clients',
        )
      ).map(({ id, prune_after: until }) => [id, until]),
    );

  test('removes sign-ins that were never completed', async () => {
    await authorization('without tokens', null);
    await authorization('with tokens', 0);
    for (const id of ['without tokens', 'with tokens', 'missing']) await signIn(id, NOW - 1000);
    await signIn('just missing', NOW - 2_999_999);
    await signIn('removed', NOW - 3_000_000);
    await signIn('not yet', NOW, NOW);
    expect(await sessions.prune(NOW, 10)).toEqual({ count: 3, more: false });
    expect(await kept()).toEqual({
      'with tokens': NOW - 1000 + 90 * DAY,
      removed: NOW - 3_000_000 + 90 * DAY,
      'not yet': NOW,
    });
  });

  test('removes sign-ins after ninety days, unless their authorization is stored', async () => {
    await authorization('with tokens', 0);
    await authorization('without tokens', null);
    for (const id of ['with tokens', 'without tokens', 'missing']) await signIn(id, NOW - 90 * DAY);
    await signIn('almost', NOW - 90 * DAY + 1);
    expect(await sessions.prune(NOW, 10)).toEqual({ count: 1, more: false });
    expect(await kept()).toEqual({
      'with tokens': NOW + 7 * DAY,
      'without tokens': NOW + 7 * DAY,
      almost: NOW + 1,
    });
  });

  test('removes sessions without sign-ins, and old ends of sessions', async () => {
    for (const hash of ['used', 'unused']) await session(hash);
    await session('later', NOW);
    await signIn('a', NOW, NOW, 'used');
    await person('ada');
    await person('bob', NOW);
    expect(await sessions.prune(NOW, 10)).toEqual({ count: 2, more: false });
    const rows = await watched.rowsOf(
      'SELECT session_hash, prune_after FROM oauth_sessions ORDER BY session_hash',
    );
    expect(rows).toEqual([
      { session_hash: 'later', prune_after: NOW },
      { session_hash: 'used', prune_after: NOW + 7 * DAY },
    ]);
    expect(await people()).toMatchObject([{ user_id: 'bob' }]);
  });

  test.each<[string, (id: string) => Promise<void>]>([
    ['sign-ins', (id) => signIn(id, NOW)],
    ['sessions', (id) => session(id)],
    ['people', (id) => person(id)],
  ])('checks at most as many %s as the limit, and says whether more may follow', async (_, add) => {
    for (const id of ['a', 'b', 'c']) await add(id);
    expect(await sessions.prune(NOW, 2)).toEqual({ count: 2, more: true });
    expect(await sessions.prune(NOW, 2)).toEqual({ count: 1, more: false });
  });

  test('checks more if all sign-ins that it checked stay', async () => {
    await authorization('a', 0);
    await signIn('a', NOW);
    expect(await sessions.prune(NOW, 1)).toEqual({ count: 0, more: true });
  });

  test.each([
    ['oauth_session_clients', 'family_id', () => signIn('a', NOW)],
    ['oauth_sessions', 'session_hash', () => session('a')],
  ] as const)('leaves a row of %s that another process changed', async (table, key, add) => {
    await add();
    const act = () => watched.set(table, [key, 'a'], { prune_after: NOW + 5 });
    watched.meanwhile = { before: new RegExp(`DELETE FROM ${table}`), act };
    expect(await sessions.prune(NOW, 10)).toMatchObject({ count: 0 });
    expect(await watched.rowsOf(`SELECT prune_after FROM ${table}`)).toEqual([
      { prune_after: NOW + 5 },
    ]);
  });

  test('leaves the end of sessions that another process changed', async () => {
    await person('ada');
    const act = () => watched.set('oauth_session_people', ['user_id', 'ada'], { prune_after: NOW });
    watched.meanwhile = { before: /DELETE FROM oauth_session_people/, act };
    await sessions.prune(NOW, 10);
    expect(await people()).toMatchObject([{ prune_after: NOW }]);
  });
});
