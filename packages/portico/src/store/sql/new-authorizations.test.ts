// @engines sqlite: it tests each condition; the features' tests run on every engine
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CONSENT_REQUEST_ROW } from '../../../../../test/support/consent-request-row.ts';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import type { PriorAuthorization } from '../prior-consent.ts';
import { NewAuthorizations, type BeginningConditions } from './new-authorizations.ts';

let watched: WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
});
afterAll(() => watched.close());
beforeEach(async () => {
  await watched.emptied('oauth_families', 'oauth_consent_requests');
  await question('claimed');
});

const NOW = 1_795_240_016_123;
const FAMILY = {
  client_id: 'notes',
  user_provider: 'accounts',
  user_id: 'ada',
  subject: 'a subject',
  scope: 'notes:read',
  created_at: NOW - 1000,
  expires_at: NOW + 1,
  prune_after: NOW + 1000,
};
const NEW = {
  family: {
    id: 'new',
    clientId: 'notes',
    person: { provider: 'accounts', id: 'ada' },
    subject: 'a subject',
    scopes: ['notes:read'],
    audience: null,
    thumbprint: null,
    isBoundLate: false,
  },
  code: {
    hash: 'code',
    expiresAt: NOW + 60,
    parameters: { redirectUri: 'https://client.example/cb', codeChallenge: 'c', nonce: null },
  },
};

const question = (id: string, outcome: string | null = null) =>
  watched.insert('oauth_consent_requests', {
    id_hash: id,
    ...CONSENT_REQUEST_ROW,
    expires_at: NOW + 1,
    outcome,
  });
const begin = (conditions?: BeginningConditions) =>
  new NewAuthorizations(
    watched.database,
    `UPDATE oauth_consent_requests SET outcome = 'claimed' WHERE id_hash = ? AND outcome IS NULL`,
  ).begin(['claimed'], NEW, NOW, conditions);
/** Returns the stored authorizations, and the answers to the consent requests. */
async function stored() {
  const [families, questions] = [
    await watched.rowsOf<{ readonly id: string }>('SELECT id FROM oauth_families ORDER BY id'),
    await watched.rowsOf<{ readonly outcome: string | null }>(
      'SELECT outcome FROM oauth_consent_requests ORDER BY id_hash',
    ),
  ];
  return [families.map(({ id }) => id), questions.map(({ outcome }) => outcome)];
}
const prior = (applies = true): PriorAuthorization => ({
  id: 'earlier',
  applies: async () => applies,
});

describe('an authorization that skips the consent page', () => {
  test('begins while the earlier one is active and covers it', async () => {
    await watched.insert('oauth_families', { id: 'earlier', ...FAMILY });
    expect(await begin({ prior: prior() })).toBe(true);
    expect(await stored()).toEqual([['earlier', 'new'], ['claimed']]);
    expect(await begin({ prior: prior() })).toBe(false);
  });

  test.each([
    ['was revoked', { revoked_at: NOW - 1 }, true],
    ['has expired', { expires_at: NOW }, true],
    ['no longer covers it', {}, false],
    ['was revoked and does not cover it', { revoked_at: NOW - 1 }, false],
  ])('does not begin if the earlier one %s', async (_, changes, applies) => {
    await watched.insert('oauth_families', { id: 'earlier', ...FAMILY, ...changes });
    expect(await begin({ prior: prior(applies) })).toBe(false);
    expect(await stored()).toEqual([['earlier'], [null]]);
  });

  test('does not begin if the earlier one was removed', async () => {
    expect(await begin({ prior: prior() })).toBe(false);
    expect(await stored()).toEqual([[], [null]]);
  });
});

describe('an authorization with a consent request', () => {
  test('begins while the consent request is open, and answers it', async () => {
    await question('other');
    await question('question');
    expect(await begin({ question: 'question' })).toBe(true);
    expect(await stored()).toEqual([['new'], ['claimed', null, 'allowed']]);
  });

  test.each(['allowed', 'denied', 'void'])(
    'does not begin if the consent request was answered: %s',
    async (outcome) => {
      await question('question', outcome);
      expect(await begin({ question: 'question' })).toBe(false);
      expect(await stored()).toEqual([[], [null, outcome]]);
    },
  );

  test('and an earlier authorization needs both', async () => {
    await watched.insert('oauth_families', { id: 'earlier', ...FAMILY });
    expect(await begin({ prior: prior(), question: 'question' })).toBe(false);
    await question('question');
    expect(await begin({ prior: prior(false), question: 'question' })).toBe(false);
    expect((await stored())[0]).toEqual(['earlier']);
  });
});

test('an authorization whose id is taken is an error, and nothing is stored', async () => {
  await watched.insert('oauth_families', { id: 'new', ...FAMILY });
  await expect(begin()).rejects.toThrow('oauth_families.id');
  expect(await stored()).toEqual([['new'], [null]]);
});
