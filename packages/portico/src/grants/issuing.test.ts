import { expect, test } from 'vitest';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { createParameters } from '../parameters.ts';
import type { Server } from '../server.ts';
import { ClientCredentialsGrant } from './client-credentials.ts';
import { Issuing, type ClientTokenRequest, type IssuanceCheck } from './issuing.ts';
import type { GrantParts } from './parts.ts';
import { RefreshTokenGrant } from './refresh-token.ts';
import type { RefreshRules } from './repeated-answers.ts';

const NOW = 1_795_240_016_123;
const CLIENT = storedClient('notes', NOW, { scopes: ['notes:read', 'notes:write', 'openid'] });

function createIssuing(...checks: readonly IssuanceCheck[]) {
  const issued: unknown[] = [];
  const server = {
    audience: 'https://api.example/',
    clock: () => NOW,
    audit: async () => {},
    measuring: null,
    config: { access_token_ttl: 60, key_path: 'the keys' },
    keys: { active: async () => null },
    store: {
      accessTokens: {
        issueClientToken: async (id: string, audience: string | null) =>
          void issued.push([id, audience]),
      },
    },
  } as unknown as Server;
  const issuing = new Issuing(server, {} as never, { checks, binding: null, describe: () => ({}) });
  return { issuing, issued };
}

test('a token of a client is for the API in the request, or for the configured one', async () => {
  const { issuing, issued } = createIssuing();
  const request = { client: CLIENT, scopes: ['notes:read'], thumbprint: null };
  await issuing.toClient('client_credentials', request);
  for (const audience of ['https://other.example/', null])
    await issuing.toClient('client_credentials', { ...request, audience });
  expect(issued).toEqual([
    ['notes', 'https://api.example/'],
    ['notes', 'https://other.example/'],
    ['notes', null],
  ]);
});

test('no token is issued that a check refuses, even if the check takes time', async () => {
  const request = { client: CLIENT, scopes: ['notes:read'], thumbprint: null };
  const refusals = [
    () => {
      throw new Error('refused');
    },
    async () => {
      await Promise.resolve();
      throw new Error('refused');
    },
  ];
  for (const refusal of refusals) {
    const { issuing, issued } = createIssuing(() => {}, refusal);
    await expect(issuing.toClient('client_credentials', request)).rejects.toThrow('refused');
    expect(issued).toEqual([]);
  }
});

test('an ID token needs a key of its algorithm', async () => {
  const { issuing } = createIssuing();
  const request = { client: CLIENT, scopes: ['openid'], thumbprint: null, now: NOW };
  await expect(issuing.forPerson(request as never)).rejects.toThrow(
    'There is no signing key in the keys',
  );
});

test('a client without a person gets the scopes of the API that it names', async () => {
  const requests: ClientTokenRequest[] = [];
  const dropped: unknown[] = [];
  const catalog = new Set(['notes:read', 'notes:write', 'openid']);
  const other = 'https://other.example/';
  const parts = {
    server: {
      scopes: catalog,
      resources: {
        named: (resource?: string) => (resource === undefined ? null : { audience: resource }),
        scopesOf: (audience: string | null) => new Set(audience === other ? ['notes:read'] : []),
        require: (resource?: string) => resource ?? 'https://api.example/',
      },
    },
    issuing: {
      toClient: async (_: string, request: ClientTokenRequest) => void requests.push(request),
    },
    resources: { of: () => ({ needs: () => ({}) }) },
    droppedScopes: {
      of: (...asked: unknown[]) => {
        dropped.push(asked.slice(1));
        return () => false;
      },
    },
  } as unknown as GrantParts;
  const ask = (parameters: Readonly<Record<string, string>>) =>
    new ClientCredentialsGrant(parts).answer(
      CLIENT,
      createParameters(new URLSearchParams(parameters)),
      null,
    );
  await ask({});
  await ask({ resource: other });
  await expect(ask({ resource: other, scope: 'notes:write' })).rejects.toMatchObject({
    code: 'invalid_scope',
  });
  expect(requests).toMatchObject([
    { scopes: ['notes:read', 'notes:write'], audience: 'https://api.example/' },
    { scopes: ['notes:read'], audience: other },
  ]);
  expect(dropped.slice(0, 2)).toEqual([
    [null, true],
    [other, true],
  ]);
});

test('a repeated refresh needs a grant that starts access, and exactly the same scopes', async () => {
  const all: RefreshRules[] = [];
  const parts = {
    server: {
      grantTypes: () => ({ canBeAllowed: (grants: readonly string[]) => grants.length > 1 }),
      resources: {
        grantRefusal: () => null,
        scopesOf: () => new Set(['notes:read', 'notes:write', 'notes:delete']),
      },
    },
    droppedScopes: { of: () => () => false },
    secondUses: (rules: RefreshRules) => {
      all.push(rules);
      return null;
    },
  } as unknown as GrantParts;
  expect(new RefreshTokenGrant(parts)).toBeDefined();
  const [{ again, requireSame }] = all as [RefreshRules];
  const scopes = ['notes:read', 'notes:write', 'notes:delete'];
  const client = { ...CLIENT, scopes };
  const family = { audience: null, scopes };
  const form = (scope: string) => createParameters(new URLSearchParams({ scope }));
  const same = (scope: string) => () =>
    requireSame(client, form(scope), { family } as never, ['notes:read', 'notes:write']);
  expect(same('notes:write notes:read')).not.toThrow();
  for (const scope of ['notes:read notes:delete', 'notes:read', scopes.join(' ')])
    expect(same(scope), scope).toThrow('The refresh token was used with another scope');
  await expect(
    again({ ...client, grants: ['refresh_token'] }, form(''), { family } as never, {
      scopes,
      response: { access_token: 'token', token_type: 'Bearer', expires_in: 1, scope: '' },
    }),
  ).rejects.toMatchObject({
    code: 'invalid_grant',
    detail: 'the client is no longer registered for a grant that lets people give it access',
  });
});
