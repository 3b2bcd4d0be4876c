import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  callApi,
  errorOf,
  GRACE,
  obtainCode,
  obtainTokens,
  REDIRECT_URI,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;
let api: TestClient;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
  client = await registerClient(portal);
  api = await registerClient(portal, { redirectUris: [], scopes: [], grants: ['introspection'] });
});
afterAll(() => portal.close());

function post(
  path: string,
  by: TestClient | null,
  form: Record<string, string>,
): Promise<Response> {
  const headers: Record<string, string> =
    by === null ? {} : { Authorization: `Basic ${btoa(`${by.id}:${by.secret}`)}` };
  return fetch(portal.url + path, { method: 'POST', headers, body: new URLSearchParams(form) });
}

async function introspect(token: string): Promise<Record<string, unknown>> {
  const response = await post('/oauth/introspect', api, { token });
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return (await response.json()) as Record<string, unknown>;
}

const opens = async (token: string) => (await callApi(portal, '/api/whoami', token)).status === 200;

describe('POST /oauth/revoke', () => {
  async function expectAccepted(
    by: TestClient | null,
    form: Record<string, string>,
  ): Promise<void> {
    const response = await post('/oauth/revoke', by, form);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await response.text()).toBe('');
  }

  // @shows AS-10.1, RFC7009-2.1a, RFC7009-2.1f
  test('revokes the family of a refresh token, with its successors and access tokens', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    await expectAccepted(client, { token: tokens.refresh_token });
    expect(await opens(tokens.access_token)).toBe(false);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(400);
  });

  // @shows AS-10.1, RFC7009-2.1a, RFC7009-2.1d
  test('revokes only the access token for an access token', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    await expectAccepted(client, { token: tokens.access_token, token_type_hint: 'refresh_token' });
    expect(await opens(tokens.access_token)).toBe(false);
    const next = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
    expect(await opens(next.access_token)).toBe(true);
  });

  // @shows AS-10.1, RFC7009-2.1e, RFC7009-2.2
  test('answers 200 for an unknown token or that of a different client, and changes nothing', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const other = await registerClient(portal);
    for (const token of ['unknown', '\0', 'a\0.b.c']) await expectAccepted(other, { token });
    await expectAccepted(other, { token: tokens.access_token });
    await expectAccepted(other, { token: tokens.refresh_token });
    expect(await opens(tokens.access_token)).toBe(true);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
  });

  // @shows RFC7009-2.1b, RFC9700-2.2.2
  test('allows a public client to revoke its token with its client ID', async () => {
    const own = await registerClient(portal, { public: true });
    const visitor = await portal.signedIn(ADA);
    const code = await obtainCode(portal, own, visitor);
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    };
    const response = await requestToken(portal, null, { ...form, client_id: own.id });
    const tokens = (await response.json()) as Tokens;
    await expectAccepted(null, { client_id: own.id, token: tokens.refresh_token });
    expect(await opens(tokens.access_token)).toBe(false);
  });

  // @shows RFC7009-2.1b, RFC9700-2.5a
  test('revokes nothing for a client that does not authenticate', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const response = await post(
      '/oauth/revoke',
      { ...client, secret: 'wrong' },
      { token: tokens.refresh_token },
    );
    expect(response.status).toBe(401);
    expect(await opens(tokens.access_token)).toBe(true);
  });

  // @shows RFC7009-2.1c
  test('answers invalid_request without a token', async () => {
    const response = await post('/oauth/revoke', client, {});
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toBe('invalid_request');
  });

  // @shows AS-6.4, AS-6.11
  test('is found and used by openid-client', async () => {
    const authentication = openid.ClientSecretBasic(client.secret);
    const execute = [openid.allowInsecureRequests];
    const config = await openid.discovery(
      new URL(portal.url),
      client.id,
      undefined,
      authentication,
      {
        execute,
      },
    );
    const tokens = await obtainTokens(portal, client, ADA);
    await openid.tokenRevocation(config, tokens.refresh_token);
    expect(await opens(tokens.access_token)).toBe(false);
  });
});

describe('POST /oauth/introspect', () => {
  // @shows AS-2.4, AS-6.5, AS-10.3, AS-10.4, RFC6749-10.16, RFC7662-2.1a, RFC7662-2.2a, RFC7662-4b, RFC7662-5
  test('returns the rights of a token to a remote resource server, with the public subject', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const told = await introspect(tokens.access_token);
    const { sub } = (await (
      await callApi(portal, '/oauth/userinfo', tokens.access_token)
    ).json()) as {
      sub: string;
    };
    expect(told).toEqual({
      active: true,
      scope: tokens.scope,
      client_id: client.id,
      token_type: 'Bearer',
      exp: Number(told['iat']) + 3600,
      iat: Math.floor(Number(told['iat'])),
      iss: portal.url,
      sub,
    });
  });

  // @shows AS-10.4, RFC9700-2.6b
  test('returns no sub for a client credentials token', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const { access_token } = (await (
      await requestToken(portal, service, { grant_type: 'client_credentials' })
    ).json()) as Tokens;
    expect(await introspect(access_token)).not.toHaveProperty('sub');
  });

  // @shows AS-10.3, AS-10.4
  test('shows a lost permission of the person on the next call', async () => {
    const { access_token } = await obtainTokens(portal, client, ADA, {
      scope: 'notes:read notes:write',
    });
    await portal.deny(ADA, 'notes.edit');
    try {
      expect((await introspect(access_token))['scope']).toBe('notes:read');
    } finally {
      await portal.grant(ADA, 'notes.edit');
    }
    expect((await introspect(access_token))['scope']).toBe('notes:read notes:write');
  });

  // @shows RFC7662-2.2c, RFC7662-4a
  test('answers inactive: unknown, refresh token, revoked, of a suspended person, expired', async () => {
    const inactive = { active: false };
    const tokens = await obtainTokens(portal, client, GRACE);
    expect(await introspect('unknown')).toEqual(inactive);
    expect(await introspect(tokens.refresh_token)).toEqual(inactive);
    await portal.suspend(GRACE);
    try {
      expect(await introspect(tokens.access_token)).toEqual(inactive);
    } finally {
      await portal.restore(GRACE);
    }
    expect(await introspect(tokens.access_token)).toMatchObject({ active: true });
    const revoked = await obtainTokens(portal, client, ADA);
    await post('/oauth/revoke', client, { token: revoked.refresh_token });
    expect(await introspect(revoked.access_token)).toEqual(inactive);
    clock.advance(3601);
    expect(await introspect(tokens.access_token)).toEqual(inactive);
  });

  // @shows AS-10.2, AS-10.3, AS-14.5, RFC7662-2.1b, RFC7662-2.3
  test('is only for a confidential client with the right to introspect', async () => {
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    expect((await post('/oauth/introspect', null, { token })).status).toBe(401);
    expect((await post('/oauth/introspect', { ...api, secret: 'wrong' }, { token })).status).toBe(
      401,
    );
    const without = await post('/oauth/introspect', client, { token });
    expect(without.status).toBe(400);
    expect(await errorOf(without)).toBe('unauthorized_client');
  });

  // @shows AS-10.2, AS-14.5
  test('refuses a public client, whatever the registration in its row', async () => {
    const own = await registerClient(portal, { public: true });
    await portal.application.database.execute(
      "UPDATE oauth_clients SET grants = 'introspection' WHERE client_id = ?",
      [own.id],
    );
    const response = await post('/oauth/introspect', null, { client_id: own.id, token: 'x' });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toBe('unauthorized_client');
  });

  // @shows AS-6.15
  test('cannot be read by pages of other origins', async () => {
    const response = await fetch(`${portal.url}/oauth/introspect`, {
      method: 'POST',
      headers: { Origin: 'https://a.example' },
    });
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  });
});
