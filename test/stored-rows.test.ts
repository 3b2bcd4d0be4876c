import type { OpenedDatabase, SqlConnection } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewRefreshToken, NewTokens } from '../packages/portico/src/store/grant.ts';
import {
  AUTHORIZATION_COLUMNS,
  GRANT_COLUMNS,
  hasMark,
  refreshState,
  SET_REFRESH_STATE,
  toAuthorization,
  toCode,
  toRefreshToken,
  type AuthorizationRow,
  type GrantRow,
} from '../packages/portico/src/store/sql/family-rows.ts';
import { ACCESS_TOKEN_BLOCKER } from '../packages/portico/src/store/sql/access-tokens.ts';
import { blockingRow, settleInsert } from '../packages/portico/src/store/sql/lost-insert.ts';
import {
  confirmRevocation,
  exists,
  insertInto,
  keysWhere,
  placeholders,
  removeKeys,
  removeWhere,
  words,
} from '../packages/portico/src/store/sql/statements.ts';
import type { Database, SqlParameter } from '../packages/sql/src/contract.ts';
import { openWatchedStore, type WatchedStore } from './support/watched-store.ts';

let watched: WatchedStore;
let database: OpenedDatabase;
let { emptied, insert, set, rowsOf } = {} as WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
  ({ database, emptied, insert, set, rowsOf } = watched);
});
afterAll(() => watched.close());

const NOW = 1_795_240_016_123;
const HOUR = 3_600_000;

type Row = Readonly<Record<string, string | number | null>>;

/** Records the statements for a PostgreSQL store. */
function toldPostgres() {
  const told: { readonly sql: string; readonly parameters: readonly SqlParameter[] }[] = [];
  const connection: SqlConnection = {
    execute: (sql, parameters = []) => {
      told.push({ sql, parameters });
      return Promise.resolve({ rows: [], affected: 0 });
    },
  };
  const postgres: Database = {
    ...database,
    ...connection,
    dialect: 'postgres',
    transaction: (work) => work(connection),
  };
  return { told, postgres };
}

describe('the check whether a lost statement inserted a row', () => {
  const OF_NO_USE = { secret_hash: '', client_id: '', family_id: null, scope: '', audience: null };
  const token = { id: 'token', hash: 'hash' };
  const inserted = (secret_hash: string) =>
    insert('oauth_access_tokens', {
      id: token.id,
      secret_hash,
      client_id: 'notes',
      scope: 'openid',
      issued_at: NOW,
      expires_at: NOW + HOUR,
    });
  const kept = () => rowsOf('SELECT * FROM oauth_access_tokens');
  const asked = (now = NOW) => settleInsert(database, ACCESS_TOKEN_BLOCKER, token, now);

  test('returns yes while the row exists, and leaves the row unchanged', async () => {
    await emptied('oauth_access_tokens');
    await inserted(token.hash);
    const before = await kept();
    expect([await asked(), await asked(NOW + 1)]).toEqual([true, true]);
    expect(await kept()).toEqual(before);
  });

  test('returns no permanently: an expired dummy row takes the key, so no later insert succeeds', async () => {
    await emptied('oauth_access_tokens');
    expect([await asked(), await asked(NOW + 1)]).toEqual([false, false]);
    await expect(inserted(token.hash)).rejects.toThrow(/unique|duplicate/i);
    expect(await asked(NOW + 2)).toBe(false);
    const { id } = token;
    expect(await kept()).toMatchObject([{ ...OF_NO_USE, id, issued_at: NOW, expires_at: NOW }]);
  });

  test('returns no if a different row has the key', async () => {
    await emptied('oauth_access_tokens');
    await inserted('another');
    expect(await asked()).toBe(false);
    expect(await kept()).toMatchObject([{ secret_hash: 'another', client_id: 'notes' }]);
  });

  test('runs in one transaction, which on PostgreSQL waits briefly for the holder of the key', async () => {
    await emptied('oauth_access_tokens');
    const before = watched.transactions;
    await asked();
    expect(watched.transactions).toBe(before + 1);
    const { told, postgres } = toldPostgres();
    expect(await settleInsert(postgres, ACCESS_TOKEN_BLOCKER, token, NOW)).toBe(false);
    expect(told.map(({ sql, parameters }) => [sql.slice(0, 22), ...parameters])).toEqual([
      ['SET LOCAL lock_timeout'],
      ['INSERT INTO oauth_acce', token.id, NOW, NOW],
      ['SELECT 1 FROM oauth_ac', token.id, token.hash],
    ]);
    expect(told[0]?.sql).toMatch(/ = '\d{2,3}ms'$/);
  });

  test('works with a row that has only its key and its times', () => {
    expect(
      blockingRow('things', 'id, name, made_at, kept_at_home, prune_after, format', 'name_hash'),
    ).toEqual({
      insert:
        "INSERT INTO things (id, name, made_at, kept_at_home, prune_after, format) VALUES (?, '', ?, '', ?, '')",
      times: 2,
      find: 'SELECT 1 FROM things WHERE id = ? AND name_hash = ?',
    });
  });
});

describe('a statement builder', () => {
  const uses = async (expiries: Readonly<Record<string, number>>) => {
    await emptied('oauth_single_uses');
    for (const [hash, expires_at] of Object.entries(expiries))
      await insert('oauth_single_uses', { hash, expires_at });
  };
  const left = async () =>
    (await rowsOf<{ hash: string }>('SELECT hash FROM oauth_single_uses ORDER BY hash')).map(
      ({ hash }) => hash,
    );
  const TABLE = ['oauth_single_uses', 'hash'] as const;
  const before = (time: number) => ['expires_at', '< ?', [time]] as const;

  test('creates as many placeholders as the row has columns, or the list has values', () => {
    expect(insertInto('things', 'id, made_at, name')).toBe(
      'INSERT INTO things (id, made_at, name) VALUES (?, ?, ?)',
    );
    expect([placeholders([]), placeholders(['a']), placeholders([1, null, 'c'])]).toEqual([
      '',
      '?',
      '?, ?, ?',
    ]);
  });

  test('checks whether a row with this value exists', async () => {
    await uses({ one: 1 });
    expect(await exists(database, 'oauth_single_uses', 'hash', 'one')).toBe(true);
    expect(await exists(database, 'oauth_single_uses', 'hash', 'on')).toBe(false);
  });

  test('finds keys in the order of the column in the condition, up to a limit', async () => {
    await uses({ d: 1, c: 4, b: 2, a: 3, z: 5 });
    expect(await keysWhere(database, TABLE, before(5), 9)).toEqual(['d', 'b', 'a', 'c']);
    expect(await keysWhere(database, TABLE, before(5), 2)).toEqual(['d', 'b']);
    expect(await keysWhere(database, TABLE, before(1), 2)).toEqual([]);
  });

  test('removes the first rows of the condition, and returns their number', async () => {
    await uses({ d: 1, c: 4, b: 2, a: 3, z: 5 });
    expect(await removeWhere(database, TABLE, before(5), 3)).toBe(3);
    expect(await left()).toEqual(['c', 'z']);
    expect(await removeWhere(database, TABLE, before(5), 3)).toBe(1);
    const writes = watched.writes.length;
    expect(await removeWhere(database, TABLE, before(5), 3)).toBe(0);
    expect(watched.writes).toHaveLength(writes);
    expect(await left()).toEqual(['z']);
  });

  test('removes no row that no longer meets the condition', async () => {
    await uses({ a: 1, b: 2 });
    watched.meanwhile = {
      before: /^DELETE FROM oauth_single_uses WHERE hash IN/,
      act: () => set('oauth_single_uses', ['hash', 'a'], { expires_at: 9 }),
    };
    expect(await removeWhere(database, TABLE, before(5), 3)).toBe(1);
    expect(await left()).toEqual(['a']);
    expect(await removeKeys(database, TABLE, ['a', 'b'], before(9))).toBe(0);
    expect(await removeKeys(database, TABLE, ['b', 'a'], before(10))).toBe(1);
    expect(await left()).toEqual([]);
  });

  test('splits a list of words, which may be empty', () => {
    expect([words(''), words('openid'), words('openid notes:read')]).toEqual([
      [],
      ['openid'],
      ['openid', 'notes:read'],
    ]);
  });

  test('repeats the write of a revocation only on PostgreSQL, for its standbys', async () => {
    const confirm = (on: Database) =>
      confirmRevocation(on, 'things', 'id = ? AND name = ?', ['a', 'b']);
    const { told, postgres } = toldPostgres();
    await confirm(postgres);
    const sql = 'UPDATE things SET revoked_at = revoked_at WHERE id = ? AND name = ?';
    expect(told).toEqual([{ sql, parameters: ['a', 'b'] }]);
    for (const dialect of ['sqlite', 'mysql'] as const) await confirm({ ...postgres, dialect });
    expect(told).toHaveLength(1);
  });
});

const FAMILY = {
  id: 'family',
  client_id: 'notes',
  user_provider: 'accounts',
  user_id: 'ada',
  subject: 'a subject',
  scope: 'openid notes:read',
  created_at: NOW,
  expires_at: NOW + HOUR,
  prune_after: NOW + HOUR,
} as const;
const FOUND = {
  id: 'family',
  clientId: 'notes',
  person: { provider: 'accounts', id: 'ada' },
  subject: 'a subject',
  scopes: ['openid', 'notes:read'],
  audience: null,
  thumbprint: null,
  isBoundLate: false,
};

async function grant(changes: Row = {}): Promise<GrantRow> {
  await emptied('oauth_families');
  await insert('oauth_families', { ...FAMILY, ...changes });
  const [row] = await rowsOf<GrantRow>(`SELECT ${GRANT_COLUMNS} FROM oauth_families f`);
  return row as GrantRow;
}
const offered = (hash: string) => ({ id: 'family', hash });

describe('the row of an authorization', () => {
  test('contains the person, the client, the access, and the key to which it is bound', async () => {
    const familyOf = async (changes: Row) => toCode(await grant(changes), offered('code')).family;
    expect(await familyOf({})).toEqual(FOUND);
    const audience = 'https://api.example/';
    expect(await familyOf({ audience, scope: '' })).toEqual({ ...FOUND, audience, scopes: [] });
    for (const thumbprint of ['key', 'key+'])
      expect(await familyOf({ thumbprint })).toEqual({ ...FOUND, thumbprint });
    expect(await familyOf({ thumbprint: '+key' })).toEqual({
      ...FOUND,
      thumbprint: 'key',
      isBoundLate: true,
    });
  });

  test('has a code, which counts as used if its parameters are removed or it has a different code', async () => {
    const parameters = {
      redirectUri: 'https://client.example/cb',
      codeChallenge: 'c\0',
      nonce: null,
    };
    const unspent = {
      code_hash: 'code',
      code_parameters: JSON.stringify(parameters),
      code_expires_at: NOW + 1,
    };
    const common = { hash: 'code', family: FOUND };
    const row = await grant(unspent);
    expect(toCode(row, offered('code'))).toEqual({
      ...common,
      used: false,
      expiresAt: NOW + 1,
      parameters,
    });
    const used = { ...common, used: true, parameters: null };
    expect(toCode(row, offered('other'))).toEqual({ ...used, hash: 'other', expiresAt: NOW + 1 });
    const spent = await grant({ ...unspent, code_parameters: null, code_expires_at: null });
    expect(toCode(spent, offered('code'))).toEqual({ ...used, expiresAt: NOW + HOUR });
  });

  test('has one current refresh token, and all its other refresh tokens count as used', async () => {
    const row = await grant({
      refresh_hash: 'refresh',
      refresh_generation: 3,
      refresh_expires_at: NOW + 2,
    });
    const common = { family: FOUND, expiresAt: NOW + 2, generation: 3 };
    expect(toRefreshToken(row, offered('refresh'))).toEqual({
      ...common,
      hash: 'refresh',
      used: false,
    });
    expect(toRefreshToken(row, offered('before'))).toEqual({
      ...common,
      hash: 'before',
      used: true,
    });
    expect(toRefreshToken(await grant(), offered('before'))).toEqual({
      hash: 'before',
      family: FOUND,
      expiresAt: NOW + HOUR,
      generation: 0,
      used: true,
    });
  });

  test('identifies its refresh tokens by the mark, and has none without a mark', async () => {
    const [marked, unmarked] = [await grant({ refresh_mark_hash: 'mark' }), await grant()];
    const holds = (row: GrantRow, markHash: string | null) =>
      hasMark(row, { ...offered('any'), markHash });
    expect(holds(marked, 'mark')).toBe(true);
    expect(holds(marked, 'another')).toBe(false);
    expect(holds(marked, null)).toBe(false);
    expect(holds(unmarked, 'mark')).toBe(false);
    expect(holds(unmarked, null)).toBe(false);
  });

  test('is shown to its person with its client', async () => {
    await emptied('oauth_clients');
    const shown = async (family: Row, client: Row) => {
      await grant(family);
      await emptied('oauth_clients');
      await insert('oauth_clients', {
        client_id: 'notes',
        name: 'Notes',
        grants: '',
        is_public: 1,
        created_at: NOW,
        redirect_uris: '["https://client.example/cb"]',
        scope: 'openid notes:write',
        ...client,
      });
      const [row] = await rowsOf<AuthorizationRow>(
        `SELECT ${AUTHORIZATION_COLUMNS} FROM oauth_families f JOIN oauth_clients c ON c.client_id = f.client_id`,
      );
      return toAuthorization(row as AuthorizationRow);
    };
    const unused = {
      family: FOUND,
      clientName: 'Notes',
      clientScopes: ['openid', 'notes:write'],
      clientRegisteredBy: 'operator',
      clientRedirectUris: ['https://client.example/cb'],
      clientLook: {},
      redeemed: false,
      usedAt: null,
      createdAt: NOW,
    };
    expect(await shown({}, { registered_by: null })).toEqual(unused);
    const site = { client_uri: 'https://client.example/', logo_hash: 'logo' };
    expect(
      await shown(
        { refresh_generation: 0, used_at: NOW + 1 },
        { registered_by: 'document', scope: '', ...site },
      ),
    ).toEqual({
      ...unused,
      clientScopes: [],
      clientRegisteredBy: 'document',
      clientLook: { siteUri: site.client_uri, logoHash: site.logo_hash },
      redeemed: true,
      usedAt: NOW + 1,
    });
  });
});

describe('issued tokens', () => {
  const tokens = (
    refreshToken: Partial<NewRefreshToken> | null = null,
    expiresAt = NOW + HOUR,
  ): NewTokens => ({
    accessToken: {
      id: 'token',
      hash: 'hash',
      scopes: [],
      expiresAt,
      thumbprint: 'of the access token',
    },
    refreshToken:
      refreshToken === null
        ? null
        : {
            hash: 'refresh',
            markHash: 'mark',
            expiresAt: NOW + 2 * HOUR,
            thumbprint: null,
            ...refreshToken,
          },
  });

  /** The row after issuing. */
  async function after(given: NewTokens, changes: Row = {}): Promise<Row> {
    await grant(changes);
    await database.execute(`UPDATE oauth_families SET ${SET_REFRESH_STATE} WHERE id = ?`, [
      ...refreshState(given, NOW),
      'family',
    ]);
    const [row = {}] = await rowsOf<Row>('SELECT * FROM oauth_families');
    return row;
  }

  test('record the current refresh token, and the fact that they were issued', async () => {
    expect(await after(tokens({}))).toMatchObject({
      refresh_hash: 'refresh',
      refresh_mark_hash: 'mark',
      refresh_expires_at: NOW + 2 * HOUR,
      refresh_generation: 1,
      thumbprint: null,
      used_at: NOW,
    });
    const none = {
      refresh_hash: null,
      refresh_mark_hash: null,
      refresh_expires_at: null,
      thumbprint: null,
    };
    const earlier = {
      ...none,
      refresh_hash: 'x',
      refresh_mark_hash: 'y',
      refresh_generation: 1,
      thumbprint: 'key',
    };
    expect(await after(tokens(), earlier)).toMatchObject({
      ...none,
      refresh_generation: 2,
      used_at: NOW,
    });
  });

  test('are valid only with the key to which they were bound, and a late binding is recorded', async () => {
    const bound = async (refreshToken: Partial<NewRefreshToken>) => {
      await after(tokens(refreshToken));
      const [row] = await rowsOf<GrantRow>(`SELECT ${GRANT_COLUMNS} FROM oauth_families f`);
      const { thumbprint, isBoundLate } = toRefreshToken(
        row as GrantRow,
        offered('refresh'),
      ).family;
      return [thumbprint, isBoundLate];
    };
    expect(await bound({ thumbprint: 'key' })).toEqual(['key', false]);
    expect(await bound({ thumbprint: 'key', isBoundLate: false })).toEqual(['key', false]);
    expect(await bound({ thumbprint: 'key', isBoundLate: true })).toEqual(['key', true]);
    expect(await bound({ isBoundLate: true })).toEqual([null, false]);
  });

  test('keep the authorization until the last one expires, and its row a sixtieth longer', async () => {
    const lasts = async (given: NewTokens, changes: Row = {}) => {
      const { expires_at, prune_after } = await after(given, {
        expires_at: NOW,
        prune_after: NOW,
        ...changes,
      });
      return [Number(expires_at) - NOW, Number(prune_after) - NOW];
    };
    expect(await lasts(tokens())).toEqual([HOUR, HOUR + 60_000]);
    expect(await lasts(tokens({}))).toEqual([2 * HOUR, 2 * HOUR + 120_000]);
    expect(await lasts(tokens({ expiresAt: NOW + 61 }, NOW - 1))).toEqual([61, 63]);
    expect(await lasts(tokens({ expiresAt: NOW + 61 }))).toEqual([HOUR, HOUR + 60_000]);
    expect(await lasts(tokens({ expiresAt: NOW - 2 }, NOW - 1))).toEqual([0, 0]);
    // A longer lifetime stays unchanged.
    const longer = { expires_at: NOW + HOUR + 1, prune_after: NOW + 2 * HOUR };
    expect(await lasts(tokens(), longer)).toEqual([HOUR + 1, 2 * HOUR]);
    const pruned = { expires_at: NOW + 1, prune_after: NOW + HOUR };
    expect(await lasts(tokens(), pruned)).toEqual([HOUR, HOUR]);
  });
});
