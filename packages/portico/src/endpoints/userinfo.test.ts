import { expect, test } from 'vitest';
import type { BearerTokens } from '../resource/bearer.ts';
import type { Claims } from '../tokens/claims.ts';
import { UserinfoEndpoint } from './userinfo.ts';

test.each([
  ['The proof is not good.', { message: 'The proof is not good.' }],
  ['The access token is not valid here: unknown, expired or revoked.', {}],
])('a refusal says: %s', async (says, message) => {
  const refused = { code: 'invalid_token', detail: 'for the log', ...message };
  const bearerTokens = { fromHeader: async () => refused } as unknown as BearerTokens;
  const endpoint = new UserinfoEndpoint(bearerTokens, {} as Claims, null);
  const answering = endpoint.answer(new Request('https://i.example/userinfo'));
  await expect(answering).rejects.toMatchObject({ code: 'invalid_token', detail: 'for the log' });
  await expect(answering).rejects.toThrow(says);
});
