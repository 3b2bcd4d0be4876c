import { expect, test } from 'vitest';
import { createScopeCatalog } from '../tokens/scopes.ts';
import type { BearerTokens, NoToken, UsableToken } from './bearer.ts';
import {
  tokenLookUp,
  type AskableScopes,
  type MakesTokenMembers,
  type TokenRefusal,
} from './token-accessor.ts';

const scopes = createScopeCatalog({ 'notes:read': 'Read notes' });
const EXPIRED = { code: 'invalid_token', detail: 'expired', proof: { answer: 'next' } } as const;
const TOKEN = { clientId: 'notes', authorization: 'f1', user: null, scopes: [], thumbprint: null };

/** A feature with a method that every token lacks. */
const feature = ((_, refuse) => ({
  requireRecent: () => refuse({ code: 'insufficient_user_authentication', detail: 'too old' }),
})) as MakesTokenMembers;

/** Looks up this token and returns its accessor. Every refusal is thrown as it is. */
function lookUp(found: NoToken | UsableToken, askable: AskableScopes = { scopes }) {
  const bearerTokens = { fromHeader: async () => found, honouredScopes: async () => [] };
  return tokenLookUp(bearerTokens as unknown as BearerTokens, askable, [feature])(
    null,
    undefined,
    (refusal: TokenRefusal) => {
      throw Object.assign(new Error('refused'), { refusal });
    },
  );
}

test('a method of a feature refuses a request for the reason that it has no token', async () => {
  const accessor = (await lookUp(EXPIRED)) as unknown as { requireRecent(): void };
  expect(() => accessor.requireRecent()).toThrow(
    expect.objectContaining({ refusal: { ...EXPIRED, scope: null } }),
  );
});

test.each([
  [null, {}],
  ['of its key', { proof: { answer: null } }],
])(
  'a method of a feature refuses a token with the thumbprint %j for its own reason',
  async (thumbprint, proof) => {
    const token = { ...TOKEN, thumbprint } as unknown as UsableToken;
    const accessor = (await lookUp(token)) as unknown as { requireRecent(): void };
    const refusal = {
      code: 'insufficient_user_authentication',
      detail: 'too old',
      of: { clientId: 'notes', authorization: 'f1' },
      scope: null,
      ...proof,
    };
    expect(() => accessor.requireRecent()).toThrow(expect.objectContaining({ refusal }));
  },
);

test.each([
  [{}, 'not in oauth_server:scopes. Add it there'],
  [{ resource: null }, 'belongs to a resource. Use server.resource(url)'],
  [{ resource: 'https://api.example' }, 'not a scope of https://api.example'],
])('with %j, the error about a scope that is not offered says what to do', async (about, says) => {
  for (const found of [EXPIRED, TOKEN as unknown as UsableToken]) {
    const accessor = await lookUp(found, { scopes, ...about });
    expect(() => accessor.can('other')).toThrow(says);
    expect(() => accessor.requireScope('other')).toThrow(says);
  }
});
