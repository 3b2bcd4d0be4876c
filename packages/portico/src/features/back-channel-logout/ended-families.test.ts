// @engines sqlite: it tests each statement; the logout tests run on every engine
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import { endFamilies, type EndingFamily } from './ended-families.ts';

let watched: WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
});
afterAll(() => watched.close());
beforeEach(() => watched.emptied('oauth_families'));

const NOW = 1_795_240_016_123;
/** Longer than a request takes to store its authorization. */
const LONG_AGO = NOW - 3_600_000;

const ending = (familyId: string, changes: Partial<EndingFamily> = {}): EndingFamily => ({
  familyId,
  keepsAccess: false,
  createdAt: LONG_AGO,
  ...changes,
});
/** Ends these authorizations, and removes `sid` from the details of those that stay active. */
const end = (...families: readonly EndingFamily[]) =>
  watched.database.transaction((connection) =>
    endFamilies({ connection, database: watched.database }, families, 'sid', NOW),
  );
const family = (id: string, changes: Parameters<WatchedStore['insert']>[1] = {}) =>
  watched.insert('oauth_families', {
    id,
    client_id: `client of ${id}`,
    user_provider: 'accounts',
    user_id: `person of ${id}`,
    subject: 'a subject',
    scope: 'openid',
    created_at: LONG_AGO,
    expires_at: NOW + 1000,
    prune_after: NOW + 1000,
    details: '{"sid":"s","acr":"high"}',
    ...changes,
  });
const stored = () =>
  watched.rowsOf<{ readonly id: string; readonly revoked_at: number | null }>(
    'SELECT id, revoked_at, details FROM oauth_families ORDER BY id',
  );
const told = (id: string) => ({
  authorization: id,
  clientId: `client of ${id}`,
  person: { provider: 'accounts', id: `person of ${id}` },
});

describe('an authorization whose session ends', () => {
  test('is revoked with or without tokens, and others are not', async () => {
    await family('a', { refresh_generation: 3 });
    await family('b');
    await family('c');
    expect(await end(ending('a'), ending('b'))).toEqual({
      revoked: [told('a'), told('b')],
      unused: new Set(['b']),
    });
    expect((await stored()).map((row) => row.revoked_at)).toEqual([NOW, NOW, null]);
  });

  test('stays active if it may keep its access, but no longer stores the session', async () => {
    await family('a', { refresh_generation: 0 });
    await family('b', { refresh_generation: 0, details: '{"sid":"s"}' });
    const keepsAccess = true;
    const ended = await end(ending('a', { keepsAccess }), ending('b', { keepsAccess }));
    expect(ended).toEqual({ revoked: [], unused: new Set() });
    expect(await stored()).toEqual([
      { id: 'a', revoked_at: null, details: '{"acr":"high"}' },
      { id: 'b', revoked_at: null, details: null },
    ]);
  });

  test('is revoked if it never received tokens, even if it may keep its access', async () => {
    await family('a');
    expect(await end(ending('a', { keepsAccess: true }))).toEqual({
      revoked: [told('a')],
      unused: new Set(['a']),
    });
    expect((await stored()).map((row) => row.revoked_at)).toEqual([NOW]);
  });

  test('stays unchanged and is not reported if it ended before', async () => {
    await family('a', { refresh_generation: 3, revoked_at: NOW - 5 });
    expect(await end(ending('a'))).toEqual({ revoked: [], unused: new Set() });
    expect(await stored()).toEqual([
      { id: 'a', revoked_at: NOW - 5, details: '{"sid":"s","acr":"high"}' },
    ]);
  });

  test('cannot be stored for ten minutes if it was not stored yet', async () => {
    const ended = await end(
      ending('a', { createdAt: NOW }),
      ending('b', { createdAt: NOW - 599_999 }),
      ending('c', { createdAt: NOW - 600_000 }),
    );
    expect(ended).toEqual({ revoked: [], unused: new Set(['a', 'b', 'c']) });
    expect((await stored()).map(({ id }) => id)).toEqual(['a', 'b']);
    await expect(family('a')).rejects.toThrow('oauth_families.id');
  });

  test('is not unused if it received tokens a short time ago', async () => {
    await family('a', { refresh_generation: 0 });
    const ended = await end(ending('a', { createdAt: NOW - 600_000 }));
    expect(ended).toEqual({ revoked: [told('a')], unused: new Set() });
  });

  test('is unused if it is missing before the server could remove it', async () => {
    const ended = await end(
      ending('a', { createdAt: NOW - 2_999_999 }),
      ending('b', { createdAt: NOW - 3_000_000 }),
    );
    expect(ended).toEqual({ revoked: [], unused: new Set(['a']) });
  });

  test.each([0, 1, 100, 101])(
    'is revoked with all others that end at the same moment (%i)',
    async (count) => {
      const ids = Array.from({ length: count }, (_, index) => String(1000 + index));
      for (const id of ids) await family(id);
      const before = watched.writes.length;
      const { revoked, unused } = await end(...ids.map((id) => ending(id)));
      expect(revoked.map(({ authorization }) => authorization)).toEqual(ids);
      expect([...unused]).toEqual(ids);
      const written = watched.writes.slice(before).map(({ values }) => values - 1);
      expect(written).toEqual(
        Array.from({ length: Math.ceil(count / 100) }, (_, at) => Math.min(100, count - 100 * at)),
      );
    },
  );
});
