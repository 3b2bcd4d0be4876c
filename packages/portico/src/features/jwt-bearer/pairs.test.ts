// @engines sqlite: test/jwt-bearer.test.ts runs on every engine
import { migrate, type Database } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import { jwtBearerMigrations } from './migrations.ts';
import { Pairs, type Pair } from './pairs.ts';

const ADA = { provider: 'users', id: '1' };
const PAIR: Pair = { person: ADA, clientId: 'one' };
/** Pairs that differ from `PAIR` in one value. */
const OTHERS: readonly Pair[] = [
  { person: ADA, clientId: 'two' },
  { person: { ...ADA, id: '2' }, clientId: 'one' },
  { person: { ...ADA, provider: 'staff' }, clientId: 'one' },
];

const TABLES = [
  'oauth_given_access',
  'oauth_given_access_ended',
  'oauth_subjects',
  'oauth_families',
];

let watched: WatchedStore;
let pairs: Pairs;

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, jwtBearerMigrations);
  pairs = new Pairs(watched.database);
});
beforeEach(async () => {
  watched.meanwhile = null;
  // In one transaction, because it is faster.
  await watched.database.transaction(async (connection) => {
    for (const table of TABLES) await connection.execute(`DELETE FROM ${table}`);
  });
});
afterAll(() => watched.close());

const rows = () =>
  watched.rowsOf(
    `SELECT user_provider, user_id, client_id, used_at, allowed_at, ended_at
      FROM oauth_given_access ORDER BY user_provider DESC, user_id, client_id`,
  );
const row = (usedAt: number, allowedAt = 0, endedAt: number | null = null, named = true) => ({
  user_provider: named ? 'users' : '',
  user_id: named ? '1' : '',
  client_id: 'one',
  used_at: usedAt,
  allowed_at: allowedAt,
  ended_at: endedAt,
});
const subjects = () => watched.rowsOf('SELECT subject FROM oauth_subjects');
const forget = (person = ADA) =>
  watched.database.transaction((connection) => pairs.removeOfPerson(person, connection));

let families = 0;
function begin(pair: Pair, now: number): Promise<boolean> {
  const id = `family-${(families += 1)}`;
  const { person, clientId } = pair;
  const family = {
    id,
    clientId,
    person,
    subject: 'subject',
    scopes: ['notes:read'],
    audience: null,
    thumbprint: null,
  };
  const parameters = { redirectUri: '', codeChallenge: '', nonce: null };
  const code = { hash: `code of ${id}`, expiresAt: now + 1000, parameters };
  return pairs.begin(pair, { family, code }, now);
}

test('access is prepared, and then begins', async () => {
  expect(await begin(PAIR, 10)).toBe(false);
  expect(await pairs.prepare(PAIR, 'first', 10)).toBe('first');
  expect(await rows()).toEqual([row(9)]);
  expect(await begin(PAIR, 10)).toBe(true);
  expect(await rows()).toEqual([row(10)]);
  expect(await pairs.prepare(PAIR, 'second', 20)).toBe('first');
  expect(await rows()).toEqual([row(10)]);
  for (const each of OTHERS) expect(await begin(each, 20)).toBe(false);
});

test('a person who is erased after the preparation gets no subject, and no access begins', async () => {
  watched.meanwhile = { before: /^INSERT INTO oauth_subjects/, act: () => forget() };
  expect(await pairs.prepare(PAIR, 'first', 10)).toBeNull();
  expect([await subjects(), await rows()]).toEqual([[], []]);
  expect(await begin(PAIR, 10)).toBe(false);
});

test('access that was ended gives no subject, and does not begin', async () => {
  await pairs.end(PAIR, 10);
  expect(await pairs.prepare(PAIR, 'first', 20)).toBeNull();
  expect(await subjects()).toEqual([]);
  expect(await begin(PAIR, 20)).toBe(false);
  expect(await rows()).toEqual([row(10, 0, 10)]);
});

test('access is valid while it is not ended, and ends for one pair only', async () => {
  expect(await pairs.isValid(PAIR, 10)).toBe(false);
  for (const each of [PAIR, ...OTHERS]) {
    await pairs.prepare(each, `subject of ${JSON.stringify(each)}`, 10);
    expect([await pairs.isValid(each, 10), await pairs.hasEnded(each)]).toEqual([true, false]);
  }
  await pairs.end(PAIR, 20);
  expect([await pairs.isValid(PAIR, 10), await pairs.hasEnded(PAIR)]).toEqual([false, true]);
  for (const each of OTHERS)
    expect([await pairs.isValid(each, 10), await pairs.hasEnded(each)]).toEqual([true, false]);
  await pairs.end(PAIR, 30);
  expect((await rows())[0]).toEqual(row(9, 0, 20));
});

test('all access of one person can be ended, even before there is any', async () => {
  const [ofAda, ...ofOthers] = OTHERS;
  for (const each of ofOthers) await pairs.prepare(each, `subject of ${each.person.id}`, 10);
  await pairs.endAll(ADA, 10);
  await pairs.endAll(ADA, 20);
  for (const each of [PAIR, ofAda ?? PAIR]) {
    expect(await pairs.hasEnded(each)).toBe(true);
    await pairs.prepare(each, 'subject', 30);
    expect([await begin(each, 30), await pairs.isValid(each, 30)]).toEqual([false, false]);
  }
  for (const each of ofOthers)
    expect([await pairs.hasEnded(each), await begin(each, 30)]).toEqual([false, true]);
  const ended = await watched.rowsOf('SELECT * FROM oauth_given_access_ended');
  expect(ended).toMatchObject([{ user_provider: 'users', user_id: '1', ended_at: 10 }]);
});

test('access can be allowed again, for new tokens only', async () => {
  expect(await pairs.allow(PAIR, 10)).toBe(false);
  expect(await rows()).toEqual([]);
  await pairs.end(PAIR, 10);
  for (const each of OTHERS) expect(await pairs.allow(each, 20)).toBe(false);
  expect(await pairs.allow(PAIR, 20)).toBe(true);
  expect(await rows()).toEqual([row(10, 20)]);
  expect([await pairs.isValid(PAIR, 19), await pairs.isValid(PAIR, 20)]).toEqual([false, true]);
  expect(await pairs.allow(PAIR, 30)).toBe(false);
  await pairs.endAll(ADA, 30);
  expect(await rows()).toEqual([row(10)]);
  // The row of the pair does not exist yet.
  const [other = PAIR] = OTHERS;
  expect([await pairs.allow(other, 40), await pairs.isValid(other, 40)]).toEqual([true, true]);
  expect((await rows())[1]).toEqual({ ...row(40, 40), client_id: 'two' });
  expect(await pairs.hasEnded(PAIR)).toBe(true);
});

test('all access of one person can be allowed again, except what was ended separately', async () => {
  const [other = PAIR, , ofStaff = PAIR] = OTHERS;
  for (const each of [PAIR, other, ofStaff]) await pairs.prepare(each, each.person.provider, 10);
  await pairs.end(other, 10);
  expect(await pairs.allowAll(ADA, 20)).toBe(false);
  await pairs.endAll(ADA, 30);
  expect(await pairs.allowAll(ofStaff.person, 40)).toBe(false);
  expect(await pairs.allowAll(ADA, 40)).toBe(true);
  expect(await pairs.allowAll(ADA, 50)).toBe(false);
  expect([await pairs.isValid(PAIR, 39), await pairs.isValid(PAIR, 40)]).toEqual([false, true]);
  expect([await pairs.hasEnded(other), await pairs.isValid(ofStaff, 10)]).toEqual([true, true]);
});

test('a row that a different process adds or removes at the same moment does not matter', async () => {
  const remove = () => watched.emptied('oauth_given_access', 'oauth_given_access_ended');
  await pairs.prepare(PAIR, 'subject', 10);
  watched.meanwhile = { before: /^UPDATE oauth_given_access SET ended_at/, act: remove };
  await pairs.end(PAIR, 20);
  expect([watched.meanwhile, await rows()]).toEqual([null, [row(20, 0, 20)]]);
  watched.meanwhile = { before: /^UPDATE oauth_given_access\s+SET ended_at = NULL/, act: remove };
  expect(await pairs.allow(PAIR, 30)).toBe(true);
  expect([watched.meanwhile, await rows()]).toEqual([null, [row(30, 30)]]);
});

test('the end of all access is stored again if a different process removes it meanwhile', async () => {
  await pairs.endAll(ADA, 10);
  const { database } = watched;
  let removed = 0;
  const racing: Database = {
    ...database,
    transaction: (work, committed) =>
      database.transaction(
        (connection) =>
          work({
            async execute(sql, ...rest) {
              const isAgain = sql.startsWith('UPDATE oauth_given_access_ended') && removed === 0;
              if (isAgain)
                removed = (await connection.execute('DELETE FROM oauth_given_access_ended'))
                  .affected;
              return connection.execute(sql, ...rest);
            },
          }),
        committed,
      ),
  };
  await new Pairs(racing).endAll(ADA, 20);
  expect(removed).toBe(1);
  const ended = await watched.rowsOf('SELECT ended_at FROM oauth_given_access_ended');
  expect(ended).toEqual([{ ended_at: 20 }]);
});

test('what names an erased person is removed, and ended access stays ended', async () => {
  const [other = PAIR, ...ofOthers] = OTHERS;
  for (const each of [PAIR, ...ofOthers]) await pairs.prepare(each, JSON.stringify(each), 10);
  await pairs.end(other, 20);
  await pairs.endAll(ADA, 30);
  await pairs.endAll({ ...ADA, id: '2' }, 30);
  expect([await forget(), await forget()]).toEqual([true, false]);
  expect(await rows()).toEqual([
    { ...row(9), user_id: '2' },
    { ...row(9), user_provider: 'staff' },
    { ...row(20, 0, 20, false), client_id: 'two' },
  ]);
  const ended = await watched.rowsOf(
    'SELECT user_provider, user_id FROM oauth_given_access_ended ORDER BY user_id',
  );
  expect(ended).toEqual([
    { user_provider: '', user_id: '' },
    { user_provider: 'users', user_id: '2' },
  ]);
  expect([await pairs.hasEnded(PAIR), await pairs.hasEnded(other)]).toEqual([true, true]);
  expect(await pairs.allow(other, 40)).toBe(true);
  expect((await rows())[0]).toEqual({ ...row(20, 40), client_id: 'two' });
});

test('an erasure removes something if there is any row about the person', async () => {
  for (const add of [
    () => pairs.prepare(PAIR, 'subject', 10),
    () => pairs.end(PAIR, 10),
    () => pairs.endAll(ADA, 10),
  ]) {
    await watched.emptied('oauth_given_access', 'oauth_given_access_ended');
    await add();
    expect([await forget(), await forget()]).toEqual([true, false]);
  }
});

test('rows without use are removed, unless access was ended or allowed', async () => {
  const [other = PAIR, ended = PAIR, allowed = PAIR] = OTHERS;
  await pairs.prepare(PAIR, 'one', 10);
  await pairs.prepare(other, 'two', 11);
  await pairs.end(ended, 5);
  await pairs.end(allowed, 5);
  await pairs.allow(allowed, 6);
  expect(await pairs.removeUnused(10, 100)).toBe(1);
  expect(await rows()).toHaveLength(3);
  expect([await pairs.removeUnused(11, 0), await pairs.removeUnused(11, 100)]).toEqual([0, 1]);
});
