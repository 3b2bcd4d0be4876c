// @engines sqlite: it tests each method; test/store-contract.test.ts runs on every engine
import type { Database, SqlParameter } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Family, GrantOutcome, NewTokens, StoredGrant } from '../grant.ts';
import type { ConsentRequest } from '../requests.ts';
import { removeFamilies } from './authorizations.ts';
import { claimThenInsert } from './claim.ts';
import { CONSENT_REQUEST_ROW } from '../../../../../test/support/consent-request-row.ts';
import { Store } from '../../../../../test/support/store.ts';
import { AWAY, losingStore, type Losing } from '../../../../../test/support/losing-store.ts';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';

let watched: WatchedStore;
let database: WatchedStore['database'];
let store: Store;
let { emptied, insert, set, rowsOf } = {} as WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
  ({ database, store, emptied, insert, set, rowsOf } = watched);
});
afterAll(() => watched.close());
beforeEach(async () => {
  // A failed test may not have reset this callback.
  watched.meanwhile = null;
  await emptied('oauth_clients', 'oauth_families', 'oauth_access_tokens', 'oauth_consent_requests');
});

const NOW = 1_795_240_016_123;
const HOUR = 3_600_000;
const ADA = { provider: 'accounts', id: 'ada' };
const EITHER: readonly Losing[] = ['after it took effect', 'before it took effect'];
const losing = (loses: Losing, meantime?: () => Promise<void>) =>
  losingStore(database, loses, meantime);

type Row = Readonly<Record<string, string | number | null>>;

const FAMILY: Family = {
  id: 'f',
  clientId: 'notes',
  person: ADA,
  subject: 'a subject',
  scopes: ['openid', 'notes:read'],
  audience: 'https://api.example/',
  thumbprint: 'a key',
  isBoundLate: false,
};
const PARAMETERS = {
  redirectUri: 'https://client.example/cb',
  codeChallenge: 'challenge',
  nonce: 'once',
};

/** The row after a person has given consent. */
const ALLOWED: Row = {
  id: 'f',
  client_id: 'notes',
  user_provider: 'accounts',
  user_id: 'ada',
  subject: 'a subject',
  scope: 'openid notes:read',
  audience: 'https://api.example/',
  thumbprint: 'a key',
  created_at: NOW,
  expires_at: NOW + 60,
  prune_after: NOW + 60,
  code_expires_at: NOW + 60,
  code_hash: 'code',
  code_parameters: JSON.stringify(PARAMETERS),
  code_spent_at: null,
  revoked_at: null,
  refresh_hash: null,
  refresh_mark_hash: null,
  refresh_expires_at: null,
  refresh_generation: null,
  refresh_answer: null,
  refresh_used_at: null,
  used_at: null,
  details: null,
};
const IN_USE: Row = {
  code_spent_at: NOW - 5,
  code_parameters: null,
  refresh_hash: 'current',
  refresh_mark_hash: 'mark',
  refresh_expires_at: NOW + HOUR,
  refresh_generation: 3,
};
const family = (changes: Row = {}) => insert('oauth_families', { ...ALLOWED, ...changes });
const inUse = (changes: Row = {}) => family({ ...IN_USE, ...changes });
const families = () => rowsOf<Row>('SELECT * FROM oauth_families ORDER BY id');
const revokedAt = async () => (await families()).map((row) => row['revoked_at']);
const accessTokens = async () =>
  (await rowsOf<{ id: string }>('SELECT id FROM oauth_access_tokens ORDER BY id')).map(
    ({ id }) => id,
  );

const CODE: StoredGrant = { hash: 'code', family: FAMILY, used: false, expiresAt: NOW + 60 };
const TOKEN: StoredGrant = { ...CODE, hash: 'current', expiresAt: NOW + HOUR };
const TOKENS: NewTokens = {
  accessToken: {
    id: 'a',
    hash: 'secret',
    scopes: ['openid'],
    expiresAt: NOW + HOUR,
    thumbprint: 'k',
  },
  refreshToken: { hash: 'next', markHash: 'mark', expiresAt: NOW + 600 * HOUR, thumbprint: 'k' },
};
const WITHOUT: NewTokens = { ...TOKENS, refreshToken: null };
/** The values in the row after `TOKENS` were issued. */
const ISSUED: Row = {
  refresh_hash: 'next',
  refresh_mark_hash: 'mark',
  refresh_expires_at: NOW + 600 * HOUR,
  thumbprint: 'k',
  used_at: NOW,
  expires_at: NOW + 600 * HOUR,
  prune_after: NOW + 610 * HOUR,
};

/**
 * Returns a store that reports the dialect of PostgreSQL, and how many rows each confirmation of a
 * revocation wrote.
 */
function confirming(): { readonly store: Store; readonly confirmed: number[] } {
  const confirmed: number[] = [];
  const execute = async (sql: string, parameters: readonly SqlParameter[] = []) => {
    const result = await database.execute(sql, parameters);
    if (sql.includes('SET revoked_at = revoked_at')) confirmed.push(result.affected);
    return result;
  };
  const like = {
    ...database,
    dialect: 'postgres',
    execute: execute as WatchedStore['database']['execute'],
  } as const;
  return { store: new Store(like, () => true), confirmed };
}

describe('the answer to a consent request', () => {
  const YES = { allow: true, at: NOW };
  const ASKED: ConsentRequest = {
    idHash: 'asked',
    browserHash: '',
    clientId: 'notes',
    redirectUri: 'https://client.example/cb',
    scopes: ['notes:read'],
    state: null,
    nonce: null,
    codeChallenge: 'challenge',
    audience: null,
    thumbprint: null,
    asked: { person: ADA, scopes: [] },
    outcome: null,
    expiresAt: NOW + 1,
  };
  const NEW = {
    family: FAMILY,
    code: { hash: 'code', expiresAt: NOW + 60, parameters: PARAMETERS },
  };
  const ask = (changes: Row = {}) =>
    insert('oauth_consent_requests', {
      id_hash: 'asked',
      ...CONSENT_REQUEST_ROW,
      expires_at: NOW + 1,
      ...changes,
    });
  const outcome = async () =>
    (
      await rowsOf<{ outcome: string | null }>(
        'SELECT outcome FROM oauth_consent_requests ORDER BY id_hash',
      )
    ).map((row) => row.outcome);

  test('is stored once with all that was allowed, if it allows', async () => {
    await ask();
    await ask({ id_hash: 'other' });
    expect(await store.consentRequests.answerConsent(ASKED, NEW, YES)).toBe(true);
    expect(await families()).toEqual([ALLOWED]);
    expect(await outcome()).toEqual(['allowed', null]);
    const again = { ...NEW, family: { ...FAMILY, id: 'g' } };
    expect(await store.consentRequests.answerConsent(ASKED, again, YES)).toBe(false);
    expect(await store.consentRequests.answerConsent(ASKED, null, YES)).toBe(false);
    expect(await families()).toHaveLength(1);
    expect(await outcome()).toEqual(['allowed', null]);
  });

  test('is remembered with its authorization, so that a repeated one can be recognized', async () => {
    const answer = async (allowed: typeof NEW | null) => {
      await emptied('oauth_consent_requests');
      await ask();
      await store.consentRequests.answerConsent(ASKED, allowed, YES);
      const found = await store.consentRequests.findConsentRequest('asked');
      return [found?.state, found?.codeChallenge, found?.answer];
    };
    expect(await answer(NEW)).toEqual([null, 'challenge', { ...YES, familyId: 'f' }]);
    expect(await answer(null)).toEqual([null, 'challenge', { ...YES, familyId: null }]);
  });

  test('without the consent page needs an earlier authorization that still covers it', async () => {
    await family({ id: 'earlier' });
    const prior = (id: string, applies: boolean) => ({ id, applies: async () => applies });
    const answer = (...[earlier]: readonly ReturnType<typeof prior>[]) =>
      store.consentRequests.answerConsent(ASKED, NEW, YES, earlier);
    await ask();
    expect(await answer(prior('unknown', true))).toBe(false);
    expect(await answer(prior('earlier', false))).toBe(false);
    expect(await outcome()).toEqual([null]);
    expect(await answer(prior('earlier', true))).toBe(true);
    expect(await outcome()).toEqual(['allowed']);
  });

  test('is stored once and grants nothing, if it denies', async () => {
    await ask();
    await ask({ id_hash: 'other' });
    expect(await store.consentRequests.answerConsent(ASKED, null, YES)).toBe(true);
    expect(await outcome()).toEqual(['denied', null]);
    expect(await store.consentRequests.answerConsent(ASKED, null, YES)).toBe(false);
    expect(await store.consentRequests.answerConsent(ASKED, NEW, YES)).toBe(false);
    expect(await families()).toEqual([]);
    expect(await outcome()).toEqual(['denied', null]);
  });

  test.each([
    ['it has expired', { expires_at: NOW }],
    ['it is for another person', { user_id: 'grace' }],
    ['it is for a person of another provider', { user_provider: 'others' }],
    ['it was voided', { outcome: 'void' }],
    ['it has another id', { id_hash: 'else' }],
  ])('is refused if there is no such open consent request: %s', async (_, changes: Row) => {
    await ask(changes);
    const { outcome: before = null } = changes;
    for (const allowed of [null, NEW])
      expect(await store.consentRequests.answerConsent(ASKED, allowed, YES)).toBe(false);
    expect([await outcome(), await families()]).toEqual([[before], []]);
  });

  test.each(EITHER)('is stored even if its commit was lost %s, if it denies', async (when) => {
    await ask();
    expect(await losing(when).consentRequests.answerConsent(ASKED, null, YES)).toBe(true);
    expect(await outcome()).toEqual(['denied']);
  });

  test('does not undo a different answer if its commit was lost, if it denies', async () => {
    for (const other of ['allowed', 'void']) {
      await emptied('oauth_consent_requests');
      await ask();
      const late = losing('before it took effect', () =>
        set('oauth_consent_requests', ['id_hash', 'asked'], { outcome: other }),
      );
      await expect(late.consentRequests.answerConsent(ASKED, null, YES)).rejects.toThrow(AWAY);
      expect(await outcome()).toEqual([other]);
    }
  });

  test('is either stored or can never be stored if its commit was lost, if it allows', async () => {
    await ask();
    await expect(
      losing('before it took effect').consentRequests.answerConsent(ASKED, NEW, YES),
    ).rejects.toThrow(AWAY);
    expect(await outcome()).toEqual([null]);
    expect(await store.authorizations.listAuthorizations(ADA, NOW)).toEqual([]);
    expect(await revokedAt()).toEqual([NOW]);
    expect(await store.consentRequests.answerConsent(ASKED, NEW, YES)).toBe(false);
    expect(await outcome()).toEqual([null]);
    await emptied('oauth_families');
    expect(
      await losing('after it took effect').consentRequests.answerConsent(ASKED, NEW, YES),
    ).toBe(true);
    expect([await outcome(), await families()]).toEqual([['allowed'], [ALLOWED]]);
  });
});

test('an authorization is for openid if that is one of its scopes, even after it has ended', async () => {
  expect(await store.authorizations.hasOpenidFamily()).toBe(false);
  for (const [scope, has] of [
    ['notes:read openid2', false],
    ['openid notes:read', true],
    ['notes:read openid', true],
  ] as const) {
    await emptied('oauth_families');
    await family({ scope, revoked_at: NOW });
    expect(await store.authorizations.hasOpenidFamily(), scope).toBe(has);
  }
});

describe('an authorization code', () => {
  const offered = { id: 'f', hash: 'code' };
  const known = { ...CODE, parameters: PARAMETERS };

  test('is found only by its authorization and hash', async () => {
    await family();
    await family({ id: 'g', code_hash: null });
    await family({
      id: 'h',
      code_parameters: null,
      code_hash: 'spent',
      code_expires_at: null,
      expires_at: 5,
    });
    expect(await store.codes.findCode(offered)).toEqual(known);
    expect(await store.codes.findCode({ id: 'f', hash: 'cods' })).toBeNull();
    expect(await store.codes.findCode({ id: 'f', hash: '' })).toBeNull();
    expect(await store.codes.findCode({ id: 'g', hash: 'code' })).toBeNull();
    expect(await store.codes.findCode({ id: 'i', hash: 'code' })).toBeNull();
    expect(await store.codes.findCode({ id: 'h', hash: 'spent' })).toEqual({
      hash: 'spent',
      family: { ...FAMILY, id: 'h' },
      used: true,
      expiresAt: 5,
      parameters: null,
    });
  });

  test('gives tokens once, and a second use ends what the first one gave', async () => {
    await family();
    await inUse({ id: 'g' });
    expect(await store.codes.spendCode(CODE, TOKENS, NOW)).toEqual({ issued: true });
    const spent = {
      ...ALLOWED,
      ...ISSUED,
      code_spent_at: NOW,
      code_parameters: null,
      refresh_generation: 1,
    };
    const other = { ...ALLOWED, ...IN_USE, id: 'g' };
    expect(await families()).toEqual([spent, other]);
    expect(await rowsOf('SELECT * FROM oauth_access_tokens')).toEqual([
      {
        id: 'a',
        secret_hash: 'secret',
        client_id: 'notes',
        family_id: 'f',
        scope: 'openid',
        audience: null,
        issued_at: NOW,
        expires_at: NOW + HOUR,
        thumbprint: 'k',
      },
    ]);
    const again = () => store.codes.spendCode(CODE, TOKENS, NOW + 1);
    expect(await again()).toEqual({ issued: false, refusal: 'used' });
    expect(await families()).toEqual([{ ...spent, revoked_at: NOW + 1 }, other]);
    expect(await again()).toEqual({ issued: false, refusal: 'revoked' });
  });

  test('of an ended authorization gives nothing', async () => {
    await family({ revoked_at: NOW - 1 });
    expect(await store.codes.spendCode(CODE, TOKENS, NOW)).toEqual({
      issued: false,
      refusal: 'revoked',
    });
    expect([await families(), await accessTokens()]).toEqual([
      [{ ...ALLOWED, revoked_at: NOW - 1 }],
      [],
    ]);
  });

  describe('that is replaced by a new code', () => {
    const replace = (changes: Partial<Family> = {}) =>
      store.codes.replaceCode({ ...FAMILY, ...changes }, { hash: 'second', expiresAt: NOW + 90 });
    const replaced = {
      ...ALLOWED,
      code_hash: 'second',
      code_expires_at: NOW + 90,
      expires_at: NOW + 90,
      prune_after: NOW + 90,
    };

    test('gives nothing and ends nothing, and the new one gives tokens', async () => {
      await family();
      expect(await replace()).toBe('replaced');
      expect(await store.codes.spendCode(CODE, TOKENS, NOW)).toEqual({
        issued: false,
        refusal: 'replaced',
      });
      expect(await store.codes.burnCode(CODE, 'notes', NOW)).toBe(false);
      expect(await families()).toEqual([replaced]);
      expect(await store.codes.spendCode({ ...CODE, hash: 'second' }, TOKENS, NOW)).toEqual({
        issued: true,
      });
    });

    test.each(EITHER)('is replaced if its commit was lost %s', async (when) => {
      await family();
      const { codes } = losing(when);
      expect(await codes.replaceCode(FAMILY, { hash: 'second', expiresAt: NOW + 90 })).toBe(
        'replaced',
      );
      expect(await families()).toEqual([replaced]);
    });

    test('is refused as ended if the authorization was revoked', async () => {
      await family({ code_hash: 'second', revoked_at: NOW - 1 });
      const revoked = { issued: false, refusal: 'revoked' };
      expect(await store.codes.spendCode(CODE, TOKENS, NOW)).toEqual(revoked);
      const { store: own, confirmed } = confirming();
      expect(await own.codes.burnCode(CODE, 'notes', NOW)).toBe(false);
      expect(confirmed).toEqual([1]);
      await emptied('oauth_families');
      expect(await store.codes.spendCode(CODE, TOKENS, NOW)).toEqual(revoked);
    });

    test.each<[string, Row, string]>([
      ['was used', { code_spent_at: NOW - 1 }, 'used'],
      ['was used, and its authorization has ended', { code_spent_at: 1, revoked_at: 2 }, 'ended'],
      ['belongs to an authorization that has ended', { revoked_at: NOW - 1 }, 'ended'],
      ['is for another client', { client_id: 'diary' }, 'ended'],
      ['is for another person', { user_id: 'grace' }, 'ended'],
      ['is for the person of another provider', { user_provider: 'others' }, 'ended'],
      ['is for other scopes', { scope: 'openid' }, 'ended'],
      ['belongs to another authorization', { id: 'g' }, 'ended'],
    ])('is not replaced if it %s', async (_, changes, outcome) => {
      await family(changes);
      expect(await replace()).toBe(outcome);
      expect(await families()).toEqual([{ ...ALLOWED, ...changes }]);
    });
  });

  test('ends nothing when it is used a second time, if the caller requests that', async () => {
    await family();
    const use = () => store.codes.spendCode(CODE, TOKENS, NOW, 'refused');
    expect(await use()).toEqual({ issued: true });
    expect(await use()).toEqual({ issued: false, refusal: 'taken' });
    expect(await revokedAt()).toEqual([null]);
  });

  test('that was invalidated before use ends its authorization when its client uses it again', async () => {
    await family();
    const burn = (by: string, now = NOW) => store.codes.burnCode(CODE, by, now);
    expect(await burn('notes')).toBe(false);
    const burnt = { ...ALLOWED, code_spent_at: NOW, code_parameters: null };
    expect(await families()).toEqual([burnt]);
    expect(await burn('diary', NOW + 1)).toBe(false);
    expect(await families()).toEqual([burnt]);
    expect(await burn('notes', NOW + 2)).toBe(true);
    expect(await families()).toEqual([{ ...burnt, revoked_at: NOW + 2 }]);
    expect(await burn('notes', NOW + 3)).toBe(false);
    await emptied('oauth_families');
    await family();
    expect(await burn('diary')).toBe(false);
    expect(await families()).toEqual([burnt]);
  });
});

describe('a refresh token', () => {
  const offered = { id: 'f', hash: 'current', markHash: 'mark' };
  const known = { ...TOKEN, generation: 3 };

  test('is found by its authorization and hash, whether it is current or not', async () => {
    await inUse();
    await inUse({ id: 'g', refresh_mark_hash: null });
    expect(await store.refreshTokens.findRefreshToken(offered)).toEqual(known);
    expect(await store.refreshTokens.findRefreshToken({ ...offered, hash: 'before' })).toEqual({
      ...known,
      hash: 'before',
      used: true,
    });
    for (const markHash of ['marc', null]) {
      expect(await store.refreshTokens.findRefreshToken({ ...offered, markHash })).toBeNull();
    }
    expect(await store.refreshTokens.findRefreshToken({ ...offered, id: 'g' })).toBeNull();
    expect(await store.refreshTokens.findRefreshToken({ ...offered, id: 'i' })).toBeNull();
  });

  const used = { ...ALLOWED, ...IN_USE, ...ISSUED, refresh_generation: 4 };

  test('gives tokens once, and a second use ends what the first one gave', async () => {
    await inUse();
    await inUse({ id: 'g' });
    const use = (now = NOW) => store.refreshTokens.rotateRefreshToken(TOKEN, TOKENS, now);
    expect(await use()).toEqual({ issued: true });
    const other = { ...ALLOWED, ...IN_USE, id: 'g' };
    expect([await families(), await accessTokens()]).toEqual([[used, other], ['a']]);
    expect(await use(NOW + 1)).toEqual({ issued: false, refusal: 'used' });
    expect(await families()).toEqual([{ ...used, revoked_at: NOW + 1 }, other]);
    expect(await use()).toEqual({ issued: false, refusal: 'revoked' });
  });

  test('may keep its response for a retry, and then a second use ends nothing', async () => {
    await inUse();
    const use = (now = NOW) => store.refreshTokens.rotateRefreshToken(TOKEN, TOKENS, now, 'sealed');
    expect(await use()).toEqual({ issued: true });
    const kept = { ...used, refresh_answer: 'sealed', refresh_used_at: NOW };
    expect(await families()).toEqual([kept]);
    expect(await use(NOW + 1)).toEqual({ issued: false, refusal: 'taken' });
    expect([await families(), await accessTokens()]).toEqual([[kept], ['a']]);
    const token = { ...TOKEN, hash: 'next' };
    await set('oauth_families', ['id', 'f'], { revoked_at: NOW + 2 });
    expect(await store.refreshTokens.rotateRefreshToken(token, TOKENS, NOW + 3, 'sealed')).toEqual({
      issued: false,
      refusal: 'taken',
    });
  });

  test('that is not the current one ends its authorization, unless a different use already did', async () => {
    const replay = () => store.authorizations.revokeReplayed(TOKEN, NOW);
    await inUse();
    await inUse({ id: 'g', refresh_hash: 'next' });
    expect([await replay(), await revokedAt()]).toEqual([false, [null, null]]);
    for (const now of [null, 'next']) {
      await set('oauth_families', ['id', 'f'], { refresh_hash: now, revoked_at: null });
      expect([await replay(), await revokedAt()]).toEqual([true, [NOW, null]]);
      await set('oauth_families', ['id', 'f'], { revoked_at: NOW - 1 });
      expect([await replay(), await revokedAt()]).toEqual([false, [NOW - 1, null]]);
    }
  });
});

describe.each([
  ['a code', (of: Store, tokens: NewTokens) => of.codes.spendCode(CODE, tokens, NOW), {}],
  [
    'a refresh token',
    (of: Store, tokens: NewTokens) => of.refreshTokens.rotateRefreshToken(TOKEN, tokens, NOW),
    IN_USE,
  ],
  [
    'a refresh token whose answer is kept',
    (of: Store, tokens: NewTokens) =>
      of.refreshTokens.rotateRefreshToken(TOKEN, tokens, NOW, 'sealed'),
    IN_USE,
  ],
])('the use of %s with a lost commit', (_, use, before: Row) => {
  /** Makes the next statement fail, as when the store is still unavailable. */
  const away = () => {
    watched.meanwhile = {
      before: /^INSERT INTO oauth_access_tokens/,
      act: () => Promise.reject(new Error('It stays away')),
    };
    return Promise.resolve();
  };
  type Unsettled = Extract<GrantOutcome, { issued: null }>;
  async function unsettled(when: Losing, tokens = TOKENS): Promise<Unsettled> {
    await family(before);
    const outcome = (await use(losing(when, away), tokens)) as Unsettled;
    expect(outcome).toEqual({
      issued: null,
      error: new Error('It stays away'),
      settle: outcome.settle,
    });
    return outcome;
  }

  test('either gave its tokens or never will, if the store returns at once', async () => {
    await family(before);
    await expect(use(losing('before it took effect'), TOKENS)).rejects.toThrow(AWAY);
    expect(await families()).toEqual([{ ...ALLOWED, ...before }]);
    await expect(use(store, TOKENS)).rejects.toThrow('oauth_access_tokens.id');
    expect(await families()).toEqual([{ ...ALLOWED, ...before }]);
    await emptied('oauth_access_tokens');
    expect(await use(losing('after it took effect'), TOKENS)).toEqual({ issued: true });
    expect(await accessTokens()).toEqual(['a']);
  });

  test('fails as usual for any other error', async () => {
    await family(before);
    watched.meanwhile = {
      before: /^UPDATE oauth_families/,
      act: () => Promise.reject(new Error('Another reason')),
    };
    await expect(use(store, TOKENS)).rejects.toThrow('Another reason');
  });

  test('that took effect is confirmed once the store returns, even without a refresh token', async () => {
    for (const tokens of [TOKENS, WITHOUT]) {
      await emptied('oauth_families', 'oauth_access_tokens');
      const { settle } = await unsettled('after it took effect', tokens);
      await away();
      await expect(settle()).rejects.toThrow('It stays away');
      expect(await settle()).toBe(true);
      expect(await settle()).toBe(true);
    }
  });

  test('that did not take effect is settled once the store returns, and never will', async () => {
    const { settle } = await unsettled('before it took effect', WITHOUT);
    expect(await settle()).toBe(false);
    await expect(use(store, WITHOUT)).rejects.toThrow('oauth_access_tokens.id');
    expect(await families()).toEqual([{ ...ALLOWED, ...before }]);
  });

  test.each([
    ['a later use has another token in use', { refresh_hash: 'later' }],
    ['a later use has left no token', { refresh_hash: null }],
    ['the authorization has ended', { revoked_at: NOW }],
  ])('is not confirmed if %s', async (__, changes: Row) => {
    const { settle } = await unsettled('after it took effect');
    await set('oauth_families', ['id', 'f'], changes);
    expect(await settle()).toBe(false);
  });

  test('is not confirmed if the authorization no longer exists', async () => {
    const { settle } = await unsettled('after it took effect', WITHOUT);
    await emptied('oauth_families');
    expect(await settle()).toBe(false);
  });
});

describe('an authorization', () => {
  test('ends once, and is written again in case a standby database does not have the change', async () => {
    await inUse();
    await inUse({ id: 'g', client_id: 'diary' });
    const { store: other, confirmed } = confirming();
    expect(await other.authorizations.revokeFamily('f', NOW)).toBe(true);
    expect(confirmed).toEqual([]);
    expect(await other.authorizations.revokeFamily('f', NOW + 1)).toBe(false);
    expect(confirmed).toEqual([1]);
    expect(await other.authorizations.revokeReplayed({ ...TOKEN, hash: 'before' }, NOW + 1)).toBe(
      false,
    );
    expect(confirmed).toEqual([1, 1]);
    expect(
      await other.authorizations.revokeReplayed({ ...TOKEN, family: { ...FAMILY, id: 'g' } }, NOW),
    ).toBe(false);
    expect(confirmed).toEqual([1, 1, 1]);
    expect(await revokedAt()).toEqual([NOW, null]);
  });

  test('is confirmed as revoked only for its person and client', async () => {
    for (const [id, changes] of Object.entries<Row>({
      1: { revoked_at: NOW },
      2: { revoked_at: NOW - 1 },
      3: {},
      4: { revoked_at: NOW, client_id: 'diary' },
      5: { revoked_at: NOW, user_id: 'grace' },
      6: { revoked_at: NOW, user_provider: 'others' },
    }))
      await inUse({ id, ...changes });
    const { store: other, confirmed } = confirming();
    await other.authorizations.confirmRevoked(ADA, 'notes');
    expect(confirmed).toEqual([2]);
  });

  test('is confirmed as it is if it is the newest of its person', async () => {
    await inUse({ id: '1', revoked_at: NOW });
    await inUse({ id: '2' });
    await inUse({ id: '3', user_id: 'grace' });
    await inUse({ id: '4', user_provider: 'others' });
    const { store: other, confirmed } = confirming();
    await other.authorizations.confirmRevokedOfPerson(ADA);
    expect(confirmed).toEqual([1]);
    expect(await revokedAt()).toEqual([NOW, null, null, null]);
    await other.authorizations.confirmRevokedOfPerson({ provider: 'accounts', id: 'eve' });
    expect(confirmed).toEqual([1, 0]);
  });

  test('ends together with the earlier one that it continues, unless it was allowed meanwhile', async () => {
    for (const [id, prior] of Object.entries({ 5: null, 6: '"4"', 7: '"3"', 8: '"5"' }))
      await inUse({ id, details: prior === null ? null : `{"prior":${prior}}` });
    const end = () => store.authorizations.revokeOfPerson(ADA, null, NOW, 9, '4');
    expect(await end()).toEqual({ first: '8', living: 2, revoked: 2, last: null });
    expect(await revokedAt()).toEqual([null, NOW, NOW, null]);
    expect(await end()).toEqual({ first: '8', living: 0, revoked: 0, last: null });
  });

  test('is listed for its person until it ends, oldest first', async () => {
    const client = (id: string, changes: Row = {}) =>
      insert('oauth_clients', {
        client_id: id,
        name: `The name of ${id}`,
        redirect_uris: '["https://client.example/cb"]',
        scope: 'openid',
        grants: 'authorization_code',
        is_public: 1,
        created_at: NOW,
        ...changes,
      });
    await client('notes', { registered_by: 'registration' });
    await client('diary', { revoked_at: NOW });
    const long = { expires_at: NOW + 1 };
    await family({ ...long, id: '2' });
    await inUse({ ...long, id: '1', used_at: NOW + 3 });
    await family({ ...long, id: '9', created_at: NOW - 1 });
    await family({ id: '3', expires_at: NOW });
    await family({ ...long, id: '4', revoked_at: NOW });
    await family({ ...long, id: '5', user_id: 'grace' });
    await family({ ...long, id: '6', user_provider: 'others' });
    await family({ ...long, id: '7', client_id: 'diary' });
    await family({ ...long, id: '8', client_id: 'unknown' });
    const listed = await store.authorizations.listAuthorizations(ADA, NOW);
    expect(listed.map((each) => each.family.id)).toEqual(['9', '1', '2']);
    expect(listed[1]).toEqual({
      family: { ...FAMILY, id: '1' },
      clientName: 'The name of notes',
      clientScopes: ['openid'],
      clientRegisteredBy: 'registration',
      clientRedirectUris: ['https://client.example/cb'],
      clientLook: {},
      redeemed: true,
      usedAt: NOW + 3,
      createdAt: NOW,
    });
    expect(listed[2]).toMatchObject({ redeemed: false, usedAt: null });
  });
});

test('new details are added to those of an authorization, and replace those of the same name', async () => {
  await family({ details: '{"acr":"high","prior":"a"}' });
  await family({ id: 'g' });
  await store.authorizations.addDetails('f', { prior: 'b', sid: 's' });
  await store.authorizations.addDetails('unknown', { sid: 's' });
  expect((await families()).map(({ details }) => details)).toEqual([
    '{"acr":"high","prior":"b","sid":"s"}',
    null,
  ]);
  expect(await store.authorizations.findHolder('f')).toEqual({
    clientId: 'notes',
    person: ADA,
    details: { acr: 'high', prior: 'b', sid: 's' },
  });
  expect(await store.authorizations.findHolder('unknown')).toBeNull();
});

describe('old authorizations', () => {
  const prune = (limit: number) => removeFamilies(database, ['prune_after', '< ?', [NOW]], limit);
  const ids = async (table: string, key: string) =>
    (await rowsOf<{ id: string }>(`SELECT ${key} AS id FROM ${table} ORDER BY ${key}`)).map(
      ({ id }) => id,
    );
  const left = () => ids('oauth_families', 'id');

  test('are removed in batches, the oldest first', async () => {
    for (const [id, after] of Object.entries({ a: -1, b: -3, c: -2, d: 0 }))
      await family({ id, prune_after: NOW + after });
    expect([await prune(2), await left()]).toEqual([{ removed: 2, more: true }, ['a', 'd']]);
    expect([await prune(2), await left()]).toEqual([{ removed: 1, more: true }, ['d']]);
    watched.writes.length = 0;
    expect([await prune(2), await left()]).toEqual([{ removed: 0, more: false }, ['d']]);
    expect(watched.writes).toEqual([]);
  });

  test('stay if they are used at that moment', async () => {
    await family({ prune_after: NOW - 1 });
    watched.meanwhile = {
      before: /^DELETE FROM oauth_families/,
      act: () => set('oauth_families', ['id', 'f'], { prune_after: NOW }),
    };
    expect(await prune(2)).toEqual({ removed: 0, more: true });
    expect(await left()).toEqual(['f']);
  });

  test('are removed with old requests of both kinds, which are counted together', async () => {
    await emptied('oauth_waiting_requests');
    await family({ prune_after: NOW - 1 });
    for (const expires_at of [NOW - 1, NOW])
      await insert('oauth_consent_requests', {
        id_hash: `expires at ${expires_at}`,
        ...CONSENT_REQUEST_ROW,
        expires_at,
      });
    for (const [index, expires_at] of [NOW - 2, NOW - 1, NOW].entries())
      await insert('oauth_waiting_requests', {
        secret_hash: String(index),
        network: '',
        parameters: '',
        byte_count: 1,
        expires_at,
      });
    const removed = { families: 1, consentRequests: 3, more: true };
    expect(await store.expired.prune(NOW, 9)).toEqual(removed);
    const none = { families: 0, consentRequests: 0, more: false };
    expect(await store.expired.prune(NOW, 9)).toEqual(none);
  });
});

test('old access tokens are removed by their ids, and no statement names the others', async () => {
  for (const [id, expires_at] of Object.entries({ a: NOW, b: NOW - 1, c: NOW + 1 }))
    await insert('oauth_access_tokens', {
      id,
      family_id: null,
      client_id: 'notes',
      secret_hash: 'hash',
      scope: '',
      issued_at: NOW - HOUR,
      expires_at,
    });
  watched.writes.length = 0;
  expect(await store.expired.pruneAccessTokens('', NOW, 3)).toEqual({ removed: 1, last: 'c' });
  expect(watched.writes.map(({ values }) => values)).toEqual([2]);
  watched.writes.length = 0;
  expect(await store.expired.pruneAccessTokens('', NOW, 3)).toEqual({ removed: 0, last: null });
  expect(watched.writes).toEqual([]);
});

describe('an access token', () => {
  const TOKEN = { id: 't', hash: 'hash' };
  const GIVEN = JSON.stringify({ given_by: 'https://issuer.example' });
  const further = {
    person: ['device', 'phone'],
    organization: ['assertion', 'exchange'],
    client: ['workload', 'pod'],
  };

  /**
   * Stores a token, and its authorization unless `changes` is null. Returns a function that returns
   * why the token is not valid, for a client with only this grant.
   */
  async function storedToken(changes: Row | null) {
    await emptied('oauth_clients', 'oauth_families', 'oauth_access_tokens');
    if (changes !== null) await family(changes);
    await insert('oauth_clients', {
      client_id: 'notes',
      name: 'Notes',
      redirect_uris: '[]',
      scope: '',
      grants: '',
      is_public: 1,
      created_at: NOW,
    });
    await insert('oauth_access_tokens', {
      id: TOKEN.id,
      secret_hash: TOKEN.hash,
      family_id: changes === null ? null : 'f',
      client_id: 'notes',
      scope: '',
      issued_at: NOW,
      expires_at: NOW + HOUR,
    });
    const { accessTokens } = new Store(
      database,
      () => true,
      (beginning) => further[beginning],
    );
    return async (grant: string) => {
      await set('oauth_clients', ['client_id', 'notes'], { grants: `refresh_token ${grant}` });
      const found = await accessTokens.findAccessToken(TOKEN, NOW);
      return 'dead' in found ? found.dead : null;
    };
  }

  test('needs one grant that starts its kind of access', async () => {
    const grants = ['authorization_code', 'client_credentials', ...Object.values(further).flat()];
    const accepted = async (changes: Row | null) => {
      const deathWith = await storedToken(changes);
      const deaths = new Map<string, string | null>();
      for (const grant of grants) deaths.set(grant, await deathWith(grant));
      expect(new Set(deaths.values())).toEqual(new Set([null, 'grant removed']));
      return grants.filter((grant) => deaths.get(grant) === null);
    };
    expect(await accepted({})).toEqual(['authorization_code', 'device', 'phone']);
    expect(await accepted({ details: GIVEN })).toEqual(['assertion', 'exchange']);
    expect(await accepted(null)).toEqual(['client_credentials', 'workload', 'pod']);
  });

  test('of a revoked authorization is refused for that, whatever its client may still do', async () => {
    for (const details of [null, GIVEN]) {
      const deathWith = await storedToken({ details, revoked_at: NOW });
      for (const grant of ['authorization_code', 'assertion'])
        expect(await deathWith(grant)).toBe('authorization revoked');
    }
  });

  test('that has no row is confirmed to PostgreSQL standbys, unless it is malformed', async () => {
    const writesFor = async (id: string, affected: number, dialect = database.dialect) => {
      const told: string[] = [];
      const execute = async (sql: string) => {
        told.push(sql.slice(0, 32));
        return { rows: [], affected };
      };
      const on = new Store({ ...database, dialect, execute } as typeof database, () => true);
      expect(await on.accessTokens.revokeAccessToken({ ...TOKEN, id }, 'notes', NOW)).toBeNull();
      return told.filter((sql) => !sql.startsWith('SELECT'));
    };
    const deletes = 'DELETE FROM oauth_access_tokens ';
    expect(await writesFor('t', 0, 'postgres')).toEqual([
      deletes,
      'INSERT INTO oauth_access_tokens ',
    ]);
    expect(await writesFor('t', 1, 'postgres')).toEqual([deletes]);
    expect(await writesFor('', 0, 'postgres')).toEqual([deletes]);
    expect(await writesFor('t', 0, 'sqlite')).toEqual([deletes]);
  });
});

describe('a claim with an insert', () => {
  const STATEMENTS = { claim: 'CLAIM', insert: 'INSERT', together: 'BOTH' };

  /** Returns whether the row was inserted, and the statements. The claim changes `claimed` rows. */
  async function claims(
    statements: typeof STATEMENTS | { readonly together: null },
    { claimed = 1, first }: { claimed?: number; first?: () => Promise<boolean> } = {},
  ) {
    const told: unknown[] = [];
    const executing =
      (where: string) => async (sql: string, parameters: unknown, after: unknown) => {
        told.push([where, sql, parameters, ...(after === tookEffect ? ['settled'] : [])]);
        return { rows: [], affected: sql === 'INSERT' ? 1 : claimed };
      };
    const tookEffect = async () => true;
    const transaction: Database['transaction'] = (work) =>
      work({ execute: executing('inside') as never });
    const on = { ...database, execute: executing('outside'), transaction } as typeof database;
    const parameters = { claim: [1], insert: [2], tookEffect, ...(first && { first }) };
    return [await claimThenInsert(on, { ...STATEMENTS, ...statements }, parameters), told];
  }

  test('is one statement if the engine has one, and otherwise a transaction', async () => {
    const both = ['outside', 'BOTH', [1, 2], 'settled'];
    expect(await claims(STATEMENTS)).toEqual([true, [both]]);
    for (const claimed of [0, 2])
      expect(await claims(STATEMENTS, { claimed })).toEqual([false, [both]]);
    const [claim, inserted] = [
      ['inside', 'CLAIM', [1]],
      ['inside', 'INSERT', [2]],
    ];
    expect(await claims({ together: null })).toEqual([true, [claim, inserted]]);
    expect(await claims({ together: null }, { claimed: 0 })).toEqual([false, [claim]]);
    expect(await claims(STATEMENTS, { first: async () => true })).toEqual([
      true,
      [claim, inserted],
    ]);
  });

  test('does neither if the work before it refuses', async () => {
    for (const statements of [STATEMENTS, { together: null }] as const)
      expect(await claims(statements, { first: async () => false })).toEqual([false, []]);
  });
});
