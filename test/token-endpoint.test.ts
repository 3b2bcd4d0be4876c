import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  callApi,
  exchangeCode,
  GRACE,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  REDIRECT_URI,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
  client = await registerClient(portal);
});
afterAll(() => portal.close());

async function tokensOf(response: Response): Promise<Tokens> {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

async function expectError(response: Response, error: string, status = 400): Promise<void> {
  const body = (await response.json()) as {
    readonly error: string;
    readonly error_description: string;
  };
  expect(body.error).toBe(error);
  // RFC 6749 section 5.2: printable ASCII without quotes and backslashes.
  expect(body.error_description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.status).toBe(status);
  expect(response.headers.get('cache-control')).toBe('no-store');
}

async function code(email = ADA): Promise<string> {
  return obtainCode(portal, client, await portal.signedIn(email));
}

/** A client, public or confidential, presents a code. */
function offer({ id, secret }: TestClient, issued: string): Promise<Response> {
  if (secret !== '') return exchangeCode(portal, { id, secret }, issued);
  return requestToken(portal, null, {
    grant_type: 'authorization_code',
    client_id: id,
    code: issued,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
}

/** Whether the API accepts a token. */
async function opens(accessToken: string): Promise<boolean> {
  return (await callApi(portal, '/api/whoami', accessToken)).status === 200;
}

describe('the authorization code grant', () => {
  // @shows AS-4.3, AS-4.13, AS-6.3, AS-6.14, AS-14.4, RFC6749-3.3a, RFC6749-3.3b, RFC6749-5.1, RFC6749-10.10a
  // @shows RFC7636-4.2, RFC9700-4.14.2d, OIDC-3.1.3.3
  test('returns the response of RFC 6749 section 5.1, with no-store', async () => {
    const response = await exchangeCode(portal, client, await code());
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toBe('application/json');
    const tokens = await tokensOf(response);
    expect(tokens.token_type).toBe('Bearer');
    expect(tokens.expires_in).toBe(3600);
    expect(tokens.scope).toBe('openid profile email notes:read notes:write');
    expect(tokens.access_token).toMatch(/^[0-9a-f]{32}\.[\w-]{43}$/);
    expect(tokens.refresh_token).toMatch(/^[0-9a-f]{32}\.[\w-]{43}\.[\w-]{43}$/);
  });

  // @shows AS-9.4, AS-15.11, MCP-11.4, RFC6749-5.2a, OIDC-3.1.3.4
  test.each<[string, Record<string, string>]>([
    // @shows AS-7.1, RFC6749-4.1.2c, RFC6749-4.1.3a, RFC6749-10.6, OIDC-3.1.3.2
    ['redirect URI', { redirect_uri: `${REDIRECT_URI}/` }],
    // @shows RFC7636-4.4, RFC7636-4.6, RFC9700-2.1.1c, RFC9700-4.2.4c, RFC9700-4.5
    ['PKCE verifier', { code_verifier: VERIFIER.replace('d', 'e') }],
    ['PKCE verifier, ill-formed', { code_verifier: 'short' }],
    // @shows AS-9.5, MCP-10.6, RFC8707-2.2
    ['resource', { resource: 'https://elsewhere.example/' }],
  ])('refuses a wrong %s, and never accepts the code again', async (_, changes) => {
    const issued = await code();
    await expectError(await exchangeCode(portal, client, issued, changes), 'invalid_grant');
    await expectError(await exchangeCode(portal, client, issued), 'invalid_grant');
  });

  // @shows AS-7.1, RFC6749-4.1.3a, RFC6749-10.6
  test('refuses a different redirect URI of the same client, and never accepts the code again', async () => {
    const other = `${REDIRECT_URI}/other`;
    const own = await registerClient(portal, { redirectUris: [REDIRECT_URI, other] });
    const visitor = await portal.signedIn(ADA);
    for (const [asked, offered] of [
      [REDIRECT_URI, other],
      [other, REDIRECT_URI],
    ] as const) {
      const issued = await obtainCode(portal, own, visitor, { redirect_uri: asked });
      await expectError(
        await exchangeCode(portal, own, issued, { redirect_uri: offered }),
        'invalid_grant',
      );
      await expectError(
        await exchangeCode(portal, own, issued, { redirect_uri: asked }),
        'invalid_grant',
      );
    }
  });

  // @shows RFC7636-4.1
  test.each([
    ['too short', 'v'.repeat(42)],
    ['too long', 'v'.repeat(129)],
    ['with invalid characters', 'v!'.repeat(30)],
  ])(
    'refuses a verifier %s, even if its challenge matches (RFC 7636 section 4.1)',
    async (_, verifier) => {
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const visitor = await portal.signedIn(ADA);
      const issued = await obtainCode(portal, client, visitor, { code_challenge: challenge });
      const response = await exchangeCode(portal, client, issued, { code_verifier: verifier });
      await expectError(response, 'invalid_grant');
    },
  );

  // @shows RFC6749-4.1.2c, RFC9700-4.5, OIDC-3.1.3.2
  test('refuses the wrong client, and never accepts the code again', async () => {
    const issued = await code();
    const other = await registerClient(portal);
    await expectError(await exchangeCode(portal, other, issued), 'invalid_grant');
    await expectError(await exchangeCode(portal, client, issued), 'invalid_grant');
  });

  // @shows AS-5.15, AS-9.4, RFC6749-3.1c, RFC6749-3.2b, RFC6749-4.1.3b
  test.each([
    'code',
    // @shows AS-7.1, RFC6749-4.1.3a
    'redirect_uri',
    // @shows RFC7636-4.5, RFC9700-2.1.1c
    'code_verifier',
    'grant_type',
  ])('answers invalid_request without %s, and the code can still be exchanged', async (name) => {
    const issued = await code();
    await expectError(
      await exchangeCode(portal, client, issued, { [name]: '' }),
      'invalid_request',
    );
    await tokensOf(await exchangeCode(portal, client, issued));
  });

  // @shows RFC6749-4.1.3b
  test('keeps the code valid if the client fails to authenticate', async () => {
    const issued = await code();
    await expectError(
      await exchangeCode(portal, { ...client, secret: 'wrong' }, issued),
      'invalid_client',
      401,
    );
    await tokensOf(await exchangeCode(portal, client, issued));
  });

  // @shows AS-5.16, RFC6749-4.1.2b, RFC9700-4.2.4b, OIDC-3.1.3.2
  test('refuses a used code, and revokes its tokens', async () => {
    const issued = await code();
    const tokens = await tokensOf(await exchangeCode(portal, client, issued));
    expect(await opens(tokens.access_token)).toBe(true);
    await expectError(await exchangeCode(portal, client, issued), 'invalid_grant');
    expect(await opens(tokens.access_token)).toBe(false);
    await expectError(await refresh(portal, client, tokens.refresh_token), 'invalid_grant');
  });

  test.each([
    // @shows AS-5.16
    ['public', { public: true }],
    // @shows AS-5.16
    ['confidential', {}],
  ])(
    'refuses a used code from a different, %s client, without revoking its tokens',
    async (_, registration) => {
      const own = await registerClient(portal, { public: true });
      const stranger = await registerClient(portal, registration);
      const issued = await obtainCode(portal, own, await portal.signedIn(ADA));
      const tokens = await tokensOf(await offer(own, issued));
      const refused = await offer(stranger, issued);
      const unknown = await offer(stranger, 'never-issued');
      expect(await refused.json()).toEqual(await unknown.json());
      expect(await opens(tokens.access_token)).toBe(true);
      // From its own client it is a replay, whichever client presented it in between.
      await expectError(await offer(own, issued), 'invalid_grant');
      expect(await opens(tokens.access_token)).toBe(false);
    },
  );

  test('refuses a code that a different client has invalidated, and revokes nothing else', async () => {
    const visitor = await portal.signedIn(ADA);
    const [before, issued] = [
      await obtainCode(portal, client, visitor),
      await obtainCode(portal, client, visitor),
    ];
    const tokens = await tokensOf(await exchangeCode(portal, client, before));
    const stranger = await registerClient(portal, { public: true });
    for (const offering of [stranger, stranger, client, client]) {
      await expectError(await offer(offering, issued), 'invalid_grant');
    }
    expect(await opens(tokens.access_token)).toBe(true);
  });

  // @shows AS-5.16
  test('keeps the issued tokens valid if a different client presents the code during the exchange', async () => {
    const stranger = await registerClient(portal, { public: true });
    for (let round = 0; round < 20; round += 1) {
      const issued = await code();
      const offers = [
        exchangeCode(portal, client, issued),
        offer(stranger, issued),
        offer(stranger, issued),
      ];
      const responses = await Promise.all(round % 2 === 0 ? offers : offers.toReversed());
      const answered = responses.filter((response) => response.status === 200);
      const living = answered.map(async (response) =>
        opens((await tokensOf(response)).access_token),
      );
      expect(await Promise.all(living)).not.toContain(false);
    }
  });

  test('accepts one of many simultaneous exchanges of a code, and its tokens are revoked', async () => {
    for (let round = 0; round < 10; round += 1) {
      const issued = await code();
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => exchangeCode(portal, client, issued)),
      );
      const answered = responses.filter((response) => response.status === 200);
      expect(answered.length).toBe(1);
      for (const response of answered)
        expect(await opens((await tokensOf(response)).access_token)).toBe(false);
    }
  });

  // @shows AS-2.13, RFC6749-4.1.2a, RFC6749-10.5
  test('accepts a code only within code_ttl', async () => {
    const [inTime, late] = [await code(), await code()];
    clock.advance(59);
    await tokensOf(await exchangeCode(portal, client, inTime));
    clock.advance(1);
    await expectError(await exchangeCode(portal, client, late), 'invalid_grant');
  });

  // @shows AS-5.17, AS-9.9
  test('issues nothing for an account that was suspended after consent', async () => {
    const issued = await code(GRACE);
    await portal.suspend(GRACE);
    await expectError(await exchangeCode(portal, client, issued), 'invalid_grant');
    await portal.restore(GRACE);
    // The code is spent.
    await expectError(await exchangeCode(portal, client, issued), 'invalid_grant');
  });

  test('issues no refresh token to a client that is not registered for refresh_token', async () => {
    const own = await registerClient(portal, { grants: ['authorization_code'] });
    const issued = await obtainCode(portal, own, await portal.signedIn(ADA));
    expect(await tokensOf(await exchangeCode(portal, own, issued))).not.toHaveProperty(
      'refresh_token',
    );
  });

  test('refuses a client that is not registered for the grant type, and invalidates the code', async () => {
    const issued = await code();
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    await expectError(await exchangeCode(portal, service, issued), 'unauthorized_client');
    await expectError(await exchangeCode(portal, client, issued), 'invalid_grant');
  });

  test('keeps the code valid after a server error', async () => {
    const issued = await code();
    await portal.application.database.execute(
      'ALTER TABLE oauth_access_tokens RENAME TO moved_away',
    );
    const failed = await exchangeCode(portal, client, issued);
    await portal.application.database.execute(
      'ALTER TABLE moved_away RENAME TO oauth_access_tokens',
    );
    expect(failed.status).toBe(500);
    expect(await failed.json()).toEqual({
      error: 'server_error',
      error_description: 'The server failed to answer.',
    });
    await tokensOf(await exchangeCode(portal, client, issued));
  });

  test('refuses a code as a refresh token, and a refresh token as a code', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    await expectError(await refresh(portal, client, await code()), 'invalid_grant');
    await expectError(await exchangeCode(portal, client, tokens.refresh_token), 'invalid_grant');
    await expectError(await refresh(portal, client, tokens.access_token), 'invalid_grant');
  });
});

describe('the refresh token grant', () => {
  // @shows AS-1.2, AS-6.3, RFC6749-6c
  test('replaces the token with a successor, and the old token is invalid immediately', async () => {
    const first = await obtainTokens(portal, client, ADA);
    const second = await tokensOf(await refresh(portal, client, first.refresh_token));
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.scope).toBe(first.scope);
    const third = await tokensOf(await refresh(portal, client, second.refresh_token));
    expect(await opens(third.access_token)).toBe(true);
  });

  // @shows AS-1.2, RFC6749-10.4, RFC9700-4.14.2b
  test('revokes the whole family for a reused token, with the successor and every access token', async () => {
    const first = await obtainTokens(portal, client, ADA);
    const second = await tokensOf(await refresh(portal, client, first.refresh_token));
    await expectError(await refresh(portal, client, first.refresh_token), 'invalid_grant');
    await expectError(await refresh(portal, client, second.refresh_token), 'invalid_grant');
    expect(await opens(first.access_token)).toBe(false);
    expect(await opens(second.access_token)).toBe(false);
  });

  // @shows AS-18.11
  test('adds no rows to the family with each refresh, and still recognizes each used token', async () => {
    const rows = async () => {
      return (await portal.application.database.execute('SELECT 1 FROM oauth_families')).rows
        .length;
    };
    const issued = [await obtainTokens(portal, client, ADA)];
    const before = await rows();
    for (let count = 0; count < 30; count += 1) {
      const last = issued.at(-1)?.refresh_token ?? '';
      issued.push(await tokensOf(await refresh(portal, client, last)));
    }
    expect(await rows()).toEqual(before);
    expect(new Set(issued.map((tokens) => tokens.refresh_token)).size).toBe(31);
    await expectError(
      await refresh(portal, client, issued[0]?.refresh_token ?? ''),
      'invalid_grant',
    );
    expect(await opens(issued.at(-1)?.access_token ?? '')).toBe(false);
    await expectError(
      await refresh(portal, client, issued.at(-1)?.refresh_token ?? ''),
      'invalid_grant',
    );
  });

  // @shows AS-18.11
  test('revokes a family for an unknown token with its mark, and nothing for one without a mark', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const { refresh_token: token } = tokens;
    const [family = '', shared = '', own = ''] = token.split('.');
    const turned = (text: string) =>
      `${text.slice(0, -2)}${text.at(-2) === 'x' ? 'y' : 'x'}${text.slice(-1)}`;
    const anothers = (await obtainTokens(portal, client, ADA)).refresh_token.split('.');
    const unknown = [
      [family, turned(shared), own],
      [turned(family), shared, own],
      [family, anothers[1], own],
      [anothers[0], shared, own],
      [family, shared],
      [family],
      [own],
      [`${family} `, shared, own],
      // Characters that a text column cannot store on one of the engines.
      [`${family}\0`, shared, own],
      ['\0', shared, own],
    ].map((parts) => parts.join('.'));
    for (const offered of unknown)
      await expectError(await refresh(portal, client, offered), 'invalid_grant');
    const other = await registerClient(portal);
    await expectError(
      await refresh(portal, other, `${family}.${shared}.${turned(own)}`),
      'invalid_grant',
    );
    expect(await opens(tokens.access_token)).toBe(true);
    const next = await tokensOf(await refresh(portal, client, token));
    for (const garbled of [turned(own), '', 'x', own.slice(1)]) {
      await expectError(
        await refresh(portal, client, `${family}.${shared}.${garbled}`),
        'invalid_grant',
      );
      expect(await opens(next.access_token)).toBe(false);
    }
  });

  // @shows AS-4.4
  test('revokes no other authorization after a replay', async () => {
    const one = await obtainTokens(portal, client, ADA);
    const other = await obtainTokens(portal, client, ADA);
    await refresh(portal, client, one.refresh_token);
    await refresh(portal, client, one.refresh_token);
    await tokensOf(await refresh(portal, client, other.refresh_token));
  });

  test('accepts one of many simultaneous uses, and revokes the whole family', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { refresh_token: token } = await obtainTokens(portal, client, ADA);
      const attempts = Array.from({ length: round % 2 === 0 ? 2 : 8 }, () =>
        refresh(portal, client, token),
      );
      const responses = await Promise.all(attempts);
      const answered = responses.filter((response) => response.status === 200);
      expect(answered.length).toBe(1);
      for (const response of answered) {
        const successor = await tokensOf(response);
        expect(await opens(successor.access_token)).toBe(false);
        await expectError(await refresh(portal, client, successor.refresh_token), 'invalid_grant');
      }
    }
  });

  // @shows RFC6749-6a, RFC6749-10.4, RFC9700-4.14.2a
  test('refuses a token of a different client, which stays valid', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const other = await registerClient(portal);
    await expectError(await refresh(portal, other, tokens.refresh_token), 'invalid_grant');
    await tokensOf(await refresh(portal, client, tokens.refresh_token));
  });

  // @shows AS-9.6, RFC6749-6b, RFC6749-6c
  // @shows RFC10017-6.2.2.3
  test('narrows only the access token with scope, and the family keeps its scopes', async () => {
    const first = await obtainTokens(portal, client, ADA);
    const narrow = await tokensOf(
      await refresh(portal, client, first.refresh_token, { scope: 'notes:read' }),
    );
    expect(narrow.scope).toBe('notes:read');
    expect(narrow.id_token).toBeUndefined();
    expect((await callApi(portal, '/oauth/userinfo', narrow.access_token)).status).toBe(403);
    const wide = await tokensOf(await refresh(portal, client, narrow.refresh_token));
    expect(wide.scope).toBe(first.scope);
  });

  // @shows RFC6749-6b, RFC9700-4.14.2a
  test('answers invalid_scope for a scope that was not granted, and the token stays valid', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const wider = await refresh(portal, client, tokens.refresh_token, {
      scope: 'notes:read notes:write',
    });
    await expectError(wider, 'invalid_scope');
    await tokensOf(await refresh(portal, client, tokens.refresh_token));
  });

  // @shows AS-9.7, RFC8707-2.2, RFC9700-4.14.2a
  test('answers invalid_target for a different resource, and the token stays valid', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const elsewhere = await refresh(portal, client, tokens.refresh_token, {
      resource: 'https://elsewhere.example/',
    });
    await expectError(elsewhere, 'invalid_target');
    await tokensOf(await refresh(portal, client, tokens.refresh_token));
  });

  // @shows AS-5.17, AS-9.9
  test('refuses a suspended account, and its refresh token works again after the suspension', async () => {
    const tokens = await obtainTokens(portal, client, GRACE);
    await portal.suspend(GRACE);
    await expectError(await refresh(portal, client, tokens.refresh_token), 'invalid_grant');
    await portal.restore(GRACE);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
  });

  // @shows AS-2.11, AS-9.6, RFC9700-4.14.2c
  // @shows RFC10017-6.3.2.3b
  test('issues each successor with the full refresh_token_ttl', async () => {
    const first = await obtainTokens(portal, client, ADA);
    clock.advance(2_592_000 - 1);
    const second = await tokensOf(await refresh(portal, client, first.refresh_token));
    clock.advance(2_592_000 - 1);
    const third = await tokensOf(await refresh(portal, client, second.refresh_token));
    clock.advance(2_592_000);
    await expectError(await refresh(portal, client, third.refresh_token), 'invalid_grant');
  });

  test('refuses a client that is not registered for the grant type, and the token stays valid', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    await expectError(await refresh(portal, service, tokens.refresh_token), 'unauthorized_client');
    await tokensOf(await refresh(portal, client, tokens.refresh_token));
  });

  test('omits scopes from the successor that the server no longer offers', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'notes:read notes:write' });
    const { database } = portal.application;
    // As if this scope was configured when the person allowed it, and no longer is.
    await database.execute('UPDATE oauth_families SET scope = ? WHERE scope = ?', [
      'notes:read notes:gone',
      'notes:read notes:write',
    ]);
    const register = (scope: string) =>
      database.execute('UPDATE oauth_clients SET scope = ? WHERE client_id = ?', [
        scope,
        client.id,
      ]);
    await register('notes:read notes:gone');
    const successor = await tokensOf(await refresh(portal, client, tokens.refresh_token));
    expect(successor.scope).toBe('notes:read');
    await register('openid profile email notes:read notes:write');
  });
});

describe('the currently registered scopes of a client', () => {
  // @shows AS-10.3
  test('limit the issued scopes; if there are none left, nothing is issued and nothing used up', async () => {
    const client = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    const issued = await obtainCode(portal, client, await portal.signedIn(ADA));
    const { database } = portal.application;
    const register = (scope: string) =>
      database.execute('UPDATE oauth_clients SET scope = ? WHERE client_id = ?', [
        scope,
        client.id,
      ]);
    await register('');
    await expectError(await refresh(portal, client, tokens.refresh_token), 'invalid_scope');
    await expectError(await exchangeCode(portal, client, issued), 'invalid_scope');
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(403);
    await register('notes:read');
    expect((await tokensOf(await refresh(portal, client, tokens.refresh_token))).scope).toBe(
      'notes:read',
    );
    expect((await tokensOf(await exchangeCode(portal, client, issued))).scope).toBe('notes:read');
  });
});

describe('the client credentials grant', () => {
  const grant = { grant_type: 'client_credentials' };
  let service: TestClient;
  beforeAll(async () => {
    service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read', 'notes:write'],
    });
  });

  // @shows AS-1.2, AS-6.3, AS-9.8, RFC6749-4.4.3
  test('issues an access token, and no refresh token', async () => {
    const tokens = await tokensOf(
      await requestToken(portal, service, { ...grant, scope: 'notes:read' }),
    );
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{32}\.[\w-]{43}$/) as string,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'notes:read',
    });
  });

  // @shows AS-9.8, RFC6749-3.3c, RFC6749-4.4.2
  test('grants all scopes of the client if no scope is requested', async () => {
    expect((await tokensOf(await requestToken(portal, service, grant))).scope).toBe(
      'notes:read notes:write',
    );
  });

  // @shows RFC6749-4.4.2, RFC6749-5.2c
  test.each(['openid', 'profile', 'unknown', 'notes:read openid'])(
    'refuses the scope %s',
    async (scope) => {
      await expectError(await requestToken(portal, service, { ...grant, scope }), 'invalid_scope');
    },
  );

  // @shows AS-9.8
  test('grants no scope about a person, even to a client that has some for people', async () => {
    const both = await registerClient(portal, {
      grants: ['authorization_code', 'client_credentials'],
      scopes: ['openid', 'profile', 'notes:read'],
    });
    expect((await tokensOf(await requestToken(portal, both, grant))).scope).toBe('notes:read');
    for (const scope of ['openid', 'profile', 'notes:read openid'])
      await expectError(await requestToken(portal, both, { ...grant, scope }), 'invalid_scope');
  });

  // @shows RFC6749-4.4, RFC6749-5.2c
  test('refuses a client that is not registered for it', async () => {
    await expectError(await requestToken(portal, client, grant), 'unauthorized_client');
  });

  // @shows RFC8707-2b
  test('refuses a resource if no audience is configured', async () => {
    const elsewhere = { ...grant, resource: 'https://elsewhere.example/' };
    await expectError(await requestToken(portal, service, elsewhere), 'invalid_target');
  });
});

describe('client authentication', () => {
  const grant = { grant_type: 'refresh_token', refresh_token: 'unknown' };

  // @shows AS-9.3, RFC6749-5.2b, OIDC-3.1.3.1
  test.each<[string, TestClient | null, Record<string, string>]>([
    ['no credentials', null, {}],
    ['an unknown client', { id: 'unknown', secret: 'x' }, {}],
    ['a client ID with a NUL character', null, { client_id: 'a\0b', client_secret: 'x' }],
    ['an unknown public client', null, { client_id: 'unknown' }],
  ])('with %s is 401 with a challenge', async (_, presented, form) => {
    const response = await requestToken(portal, presented, { ...grant, ...form });
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
    await expectError(response, 'invalid_client', 401);
  });

  // @shows AS-9.1, AS-14.1, AS-14.2, RFC6749-3.2.1, RFC9700-2.5a, OIDC-3.1.3.1
  test('with a wrong secret, or without the secret of a confidential client, is 401', async () => {
    const withoutSecret = { ...grant, client_id: client.id };
    await expectError(
      await requestToken(portal, { ...client, secret: 'wrong' }, grant),
      'invalid_client',
      401,
    );
    await expectError(await requestToken(portal, null, withoutSecret), 'invalid_client', 401);
    const wrong = { ...withoutSecret, client_secret: 'wrong' };
    await expectError(await requestToken(portal, null, wrong), 'invalid_client', 401);
  });

  test.each([
    'Basic',
    'Basic !',
    `Basic ${btoa('no colon')}`,
    `Basic ${btoa(':x')}`,
    `Basic ${btoa('%zz:x')}`,
  ])('with an ill-formed %s is 401, with any credentials in the body', async (authorization) => {
    const response = await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: authorization },
      body: new URLSearchParams({ ...grant, client_id: client.id, client_secret: client.secret }),
    });
    await expectError(response, 'invalid_client', 401);
  });

  // @shows AS-9.1, AS-9.2, AS-14.1
  test('accepts client_secret_post like client_secret_basic', async () => {
    const form = { ...grant, client_id: client.id, client_secret: client.secret };
    await expectError(await requestToken(portal, null, form), 'invalid_grant');
  });

  // @shows AS-9.2
  test('decodes client_secret_basic as a form (RFC 6749 section 2.3.1)', async () => {
    const encoded = (text: string) =>
      Buffer.from(text)
        .toString('hex')
        .replaceAll(/../g, (byte) => `%${byte.toUpperCase()}`);
    const presented = { id: encoded(client.id), secret: encoded(client.secret) };
    await expectError(await requestToken(portal, presented, grant), 'invalid_grant');
  });

  // @shows AS-9.2
  test('with both methods together is invalid_request', async () => {
    const both = { ...grant, client_id: client.id, client_secret: client.secret };
    await expectError(await requestToken(portal, client, both), 'invalid_request');
  });

  test('with a different client_id in the body is invalid_request', async () => {
    await expectError(
      await requestToken(portal, client, { ...grant, client_id: 'other' }),
      'invalid_request',
    );
  });

  // @shows RFC6749-5.2b
  test.each([
    'Basic',
    'Basic !!!',
    'Basic bm9jb2xvbg==',
    `Basic ${btoa('%zz:x')}`,
    `Basic ${btoa(':x')}`,
  ])('with the header %j is 401', async (header) => {
    const response = await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: header },
      body: new URLSearchParams(grant),
    });
    await expectError(response, 'invalid_client', 401);
  });

  // @shows AS-9.1, AS-14.1
  test('identifies a public client by its ID, without a secret', async () => {
    const own = await registerClient(portal, { public: true });
    const visitor = await portal.signedIn(ADA);
    const issued = await obtainCode(portal, own, visitor);
    const form = {
      grant_type: 'authorization_code',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    };
    const withSecret = { ...form, code: issued, client_id: own.id, client_secret: 'made-up' };
    await expectError(await requestToken(portal, null, withSecret), 'invalid_client', 401);
    await tokensOf(await requestToken(portal, null, { ...form, code: issued, client_id: own.id }));
  });
});

describe('the request method', () => {
  // @shows RFC6749-3.2a
  test('must be POST: GET is 405, and the code stays valid', async () => {
    const issued = await code();
    const query = new URLSearchParams({
      grant_type: 'authorization_code',
      code: issued,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
      client_id: client.id,
      client_secret: client.secret,
    });
    const refused = await fetch(`${portal.url}/oauth/token?${query}`);
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')).toContain('POST');
    await tokensOf(await exchangeCode(portal, client, issued));
  });

  // @shows RFC6749-3.2a
  test('must be POST: the query is ignored', async () => {
    const query = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'unknown' });
    const response = await fetch(`${portal.url}/oauth/token?${query}`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams({ x: '1' }),
    });
    await expectError(response, 'invalid_request');
  });
});

describe('the request body', () => {
  function post(body: BodyInit, type = 'application/x-www-form-urlencoded'): Promise<Response> {
    const headers = {
      'Content-Type': type,
      Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
    };
    return fetch(`${portal.url}/oauth/token`, { method: 'POST', headers, body });
  }

  // @shows AS-6.13
  test('must be a form', async () => {
    await expectError(
      await post('{"grant_type":"client_credentials"}', 'application/json'),
      'invalid_request',
    );
  });
  // @shows AS-6.13, AS-6.14, AS-16.3
  test('larger than 64 KiB is 413', async () => {
    await expectError(await post(`grant_type=${'a'.repeat(64 * 1024)}`), 'invalid_request', 413);
  });
  // @shows AS-16.3
  test('larger than 64 KiB is 413, even if earlier middleware has changed its length', async () => {
    const request = new Request(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '3' },
      body: `grant_type=${'€'.repeat(22 * 1024)}`,
    });
    await expectError(await portal.application.fetch(request), 'invalid_request', 413);
  });
  // @shows AS-6.13, AS-6.14, RFC6749-3.2b
  test('with a repeated parameter is invalid_request, for every parameter', async () => {
    await expectError(
      await post('grant_type=refresh_token&grant_type=refresh_token'),
      'invalid_request',
    );
    await expectError(await post('grant_type=refresh_token&x=1&x=2'), 'invalid_request');
  });
  test('that starts with a question mark is not a query: the mark belongs to the first name', async () => {
    await expectError(await post('?grant_type=password'), 'invalid_request');
    await expectError(await post('a=b&grant_type=password'), 'unsupported_grant_type');
  });
  test('that is not UTF-8 is invalid_request', async () => {
    await expectError(await post(new Uint8Array([0x61, 0x3d, 0xff, 0xfe])), 'invalid_request');
  });
  // @shows AS-1.2, AS-1.4, AS-15.11, RFC6749-5.2a, RFC6749-5.2c, RFC9700-2.4
  // @shows RFC10017-7.3
  test('with an unknown grant_type is unsupported_grant_type', async () => {
    for (const type of ['password', 'implicit', 'toString', '__proto__']) {
      await expectError(await post(`grant_type=${type}`), 'unsupported_grant_type');
    }
  });
  test('that is empty is invalid_request', async () => {
    await expectError(await post(''), 'invalid_request');
  });
  test('that ends early is invalid_request, not a server error', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('grant_type='));
      },
      pull(controller) {
        controller.error(new Error('aborted'));
      },
    });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const request = new Request(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit);
    await expectError(await portal.application.fetch(request), 'invalid_request');
  });
});

describe('a configured audience', () => {
  const audience = 'https://api.portal.example/';
  let bound: RunningPortal;
  let own: TestClient;
  beforeAll(async () => {
    bound = await startPortal({ config: { oauth_server: { audience } } });
    own = await registerClient(bound);
  });
  afterAll(() => bound.close());

  // @shows AS-7.3, AS-7.8, AS-9.7, MCP-10.6, RFC8707-2.1, RFC9700-2.3b
  test('applies to every grant, requested or not, and a refresh keeps it', async () => {
    for (const resource of [audience, undefined]) {
      const tokens = await obtainTokens(bound, own, ADA, { resource });
      expect((await callApi(bound, '/api/whoami', tokens.access_token)).status).toBe(200);
      const refreshed = await tokensOf(await refresh(bound, own, tokens.refresh_token));
      expect((await callApi(bound, '/api/whoami', refreshed.access_token)).status).toBe(200);
    }
  });

  // @shows AS-7.8, RFC8707-2b
  test('makes any other target invalid_target, before a person is asked', async () => {
    const visitor = await bound.signedIn(ADA);
    await expect(
      obtainCode(bound, own, visitor, { resource: 'https://api.portal.example' }),
    ).rejects.toThrow('302');
  });

  // @shows AS-2.4, AS-7.8
  test('excludes a token that was granted before it was configured', async () => {
    const tokens = await obtainTokens(bound, own, ADA);
    await bound.application.database.execute('UPDATE oauth_families SET audience = NULL');
    expect((await callApi(bound, '/api/whoami', tokens.access_token)).status).toBe(401);
    await bound.application.database.execute(
      "UPDATE oauth_families SET audience = 'https://other.example/'",
    );
    expect((await callApi(bound, '/api/whoami', tokens.access_token)).status).toBe(401);
  });
});
