import { describe, expect, test } from 'vitest';
import { tokenHash } from '../../crypto.ts';
import type { InitialAccessToken } from '../../store/client.ts';
import type { Server } from '../../server.ts';
import {
  NO_INITIAL_ACCESS_TOKENS,
  type NewInitialAccessToken,
} from '../../clients/initial-access-tokens.ts';
import { StoredInitialAccessTokens } from './initial-access-tokens.ts';
import type { InitialAccessTokenRecords } from '../../store/sql/initial-access-tokens.ts';

const NOW = 1_800_000_000_000;
const BY = { provider: 'accounts', id: 'ada' };

function server() {
  const kept = new Map<string, readonly [InitialAccessToken, string]>();
  const events: object[] = [];
  const store = {
    insertInitialAccessToken: async (token, hash) => void kept.set(token.id, [token, hash]),
    listInitialAccessTokens: async () => [...kept.values()].map(([token]) => token),
    deleteInitialAccessToken: async (id) => kept.delete(id),
  } satisfies Partial<InitialAccessTokenRecords>;
  const parts = {
    store: { initialAccessTokens: store },
    audit: async (event: object) => void events.push(event),
    clock: () => NOW,
  };
  const tokens = new StoredInitialAccessTokens(parts as unknown as Server);
  return { tokens, kept, events };
}

describe('An initial access token', () => {
  test('is by default valid for one client and one day, and is stored as a hash', async () => {
    const { tokens, kept, events } = server();
    const { token, ...made } = await tokens.create({});
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      note: '',
      uses: 1,
      usesLeft: 1,
      createdAt: NOW,
      expiresAt: NOW + 86_400_000,
    });
    expect([...kept.values()]).toEqual([[made, tokenHash(token)]]);
    expect(await tokens.list()).toEqual([made]);
    expect(events).toEqual([
      { type: 'initial_access_token_created', initialAccessTokenId: made.id },
    ]);
  });

  test.each<NewInitialAccessToken>([
    { uses: 1_000_000, lifetime: 31_536_000, note: 'a'.repeat(200) },
    { uses: 1, lifetime: 1, note: '😀 for the team' },
  ])('has the given uses, lifetime and note, up to the limits (%#)', async (said) => {
    const { tokens } = server();
    expect(await tokens.create(said)).toMatchObject({
      uses: said.uses,
      usesLeft: said.uses,
      note: said.note,
      expiresAt: NOW + (said.lifetime ?? 0) * 1000,
    });
  });

  test.each<[says: string, said: NewInitialAccessToken]>([
    ['The number of uses must be from 1 to 1000000', { uses: 0 }],
    ['The number of uses must be from 1 to 1000000', { uses: 1.5 }],
    ['The number of uses must be from 1 to 1000000', { uses: Number.NaN }],
    ['The number of uses must be from 1 to 1000000', { uses: 1_000_001 }],
    ['The lifetime must be from 1 to 31536000 seconds', { lifetime: 0 }],
    ['The lifetime must be from 1 to 31536000 seconds', { lifetime: 1.5 }],
    ['The lifetime must be from 1 to 31536000 seconds', { lifetime: 31_536_001 }],
    ['The note must be one line of at most 200 characters', { note: 'a'.repeat(201) }],
    ['The note must be one line of at most 200 characters', { note: 'a\nb' }],
    ['The note must be one line of at most 200 characters', { note: 'a\u2028b' }],
    ['The note must be one line of at most 200 characters', { note: 'a\u2029b' }],
  ])('is refused beyond its limits: %s (%#)', async (says, said) => {
    const { tokens, kept, events } = server();
    await expect(tokens.create(said)).rejects.toThrow(says);
    expect([kept.size, events]).toEqual([0, []]);
  });

  test('is revoked only once, and its events name who did it, if known', async () => {
    const { tokens, events } = server();
    const { id } = await tokens.create({}, { by: 'console' });
    await tokens.revoke(id, { by: BY });
    expect(await tokens.list()).toEqual([]);
    const says = 'No initial access token has this id; see oauth:initial-access-token:list';
    await expect(tokens.revoke(id)).rejects.toThrow(says);
    const { id: other } = await tokens.create({});
    await tokens.revoke(other);
    expect(events).toEqual([
      { type: 'initial_access_token_created', initialAccessTokenId: id, by: 'console' },
      { type: 'initial_access_token_revoked', initialAccessTokenId: id, by: BY },
      { type: 'initial_access_token_created', initialAccessTokenId: other },
      { type: 'initial_access_token_revoked', initialAccessTokenId: other },
    ]);
  });
});

test('A server without the feature has no initial access tokens, and cannot create them', async () => {
  expect(await NO_INITIAL_ACCESS_TOKENS.list()).toEqual([]);
  const says = 'This server has no feature that uses initial access tokens';
  await expect(NO_INITIAL_ACCESS_TOKENS.create({})).rejects.toThrow(says);
  await expect(NO_INITIAL_ACCESS_TOKENS.revoke('abc')).rejects.toThrow(says);
});
