import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  GRACE,
  introspect,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

/** The tables of AS-5 and AS-15 in docs/specification.md, row by row. */
const clock = createClock();
let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
});
afterAll(() => portal.close());
beforeEach(async () => {
  client = await registerClient(portal);
});

const code = async () => obtainCode(portal, client, await portal.signedIn(ADA));
const bodyOf = async (response: Response) => (await response.json()) as Tokens;
const opens = async (tokens: Tokens, path = '/api/notes') =>
  (await callApi(portal, path, tokens.access_token)).status;
const credentials = (secret: string) =>
  requestToken(
    portal,
    { ...client, secret },
    { grant_type: 'refresh_token', refresh_token: 'none' },
  );
/**
 * Whether a secret authenticates the client. In that case, the error is about the grant and not
 * about the client.
 */
const accepts = async (secret: string) =>
  (await errorOf(await credentials(secret))) === 'invalid_grant';

describe('the states of codes, tokens, clients, accounts, secrets, requests and keys', () => {
  // @shows AS-5.1
  test('a code is exchanged for tokens once, within code_ttl, with an ID token only for openid', async () => {
    const issued = await code();
    clock.advance(59);
    const tokens = await bodyOf(await exchangeCode(portal, client, issued));
    expect(Object.keys(tokens)).toEqual(
      expect.arrayContaining(['access_token', 'refresh_token', 'id_token']),
    );
    expect(await errorOf(await exchangeCode(portal, client, issued))).toBe('invalid_grant');

    const visitor = await portal.signedIn(ADA);
    const withoutOpenid = await obtainCode(portal, client, visitor, { scope: 'notes:read' });
    expect(await bodyOf(await exchangeCode(portal, client, withoutOpenid))).not.toHaveProperty(
      'id_token',
    );

    const late = await code();
    clock.advance(61);
    expect(await errorOf(await exchangeCode(portal, client, late))).toBe('invalid_grant');
  });

  test.each<[string, (issued: string) => Promise<Response>]>([
    // @shows AS-5.2
    ['client', async (issued) => exchangeCode(portal, await registerClient(portal), issued)],
    // @shows AS-5.2
    [
      'redirect URI',
      (issued) =>
        exchangeCode(portal, client, issued, { redirect_uri: 'https://client.example/callbacK' }),
    ],
    // @shows AS-5.2, RFC9700-4.2.4c
    [
      'PKCE verifier',
      (issued) => exchangeCode(portal, client, issued, { code_verifier: 'x'.repeat(43) }),
    ],
    [
      'client (one without the grant)',
      async (issued) => {
        const robot = await registerClient(portal, {
          redirectUris: [],
          grants: ['client_credentials'],
          scopes: ['notes:read'],
        });
        return exchangeCode(portal, robot, issued);
      },
    ],
  ])(
    'a code that is sent with a wrong %s is used up, and never accepted again',
    async (_, offer) => {
      const issued = await code();
      expect((await offer(issued)).status).toBe(400);
      expect(await errorOf(await exchangeCode(portal, client, issued))).toBe('invalid_grant');
    },
  );

  // @shows AS-5.3
  test('a code stays valid after a server error during the exchange, and nothing is issued', async () => {
    const issued = await code();
    const { database } = portal.application;
    const tokensBefore = await countOf('oauth_access_tokens');
    await database.execute('ALTER TABLE oauth_access_tokens RENAME TO away');
    expect((await exchangeCode(portal, client, issued)).status).toBe(500);
    await database.execute('ALTER TABLE away RENAME TO oauth_access_tokens');
    expect(await countOf('oauth_access_tokens')).toBe(tokensBefore);
    expect((await exchangeCode(portal, client, issued)).status).toBe(200);
  });

  // @shows AS-5.4
  test('a refresh token is replaced by a successor, and is invalid immediately without a retry window', async () => {
    const first = await obtainTokens(portal, client, ADA);
    const second = await bodyOf(await refresh(portal, client, first.refresh_token));
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(await opens(second)).toBe(200);
    expect(await errorOf(await refresh(portal, client, first.refresh_token))).toBe('invalid_grant');
    expect(await opens(second)).toBe(401);
  });

  // @shows AS-5.5
  test('a refresh token that is reused revokes the whole family, including the successor', async () => {
    const first = await obtainTokens(portal, client, ADA);
    const second = await bodyOf(await refresh(portal, client, first.refresh_token));
    const third = await bodyOf(await refresh(portal, client, second.refresh_token));
    expect((await refresh(portal, client, first.refresh_token)).status).toBe(400);
    expect([await opens(first), await opens(second), await opens(third)]).toEqual([401, 401, 401]);
    expect((await refresh(portal, client, third.refresh_token)).status).toBe(400);
  });

  // @shows AS-5.5, AS-18.8
  test('a refresh token that is reused is detected even after its expiry and after pruning', async () => {
    const first = await obtainTokens(portal, client, ADA);
    clock.advance(20 * 86_400);
    const second = await bodyOf(await refresh(portal, client, first.refresh_token));
    clock.advance(20 * 86_400);
    const third = await bodyOf(await refresh(portal, client, second.refresh_token));
    await portal.server.prune();
    expect((await refresh(portal, client, first.refresh_token)).status).toBe(400);
    expect(await opens(third)).toBe(401);
  });

  // @shows AS-5.6
  test('a client that is revoked loses all its tokens', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    await portal.server.clients.revoke(client.id);
    expect(await opens(tokens)).toBe(401);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(401);
  });

  // @shows AS-5.7
  test('an account that can no longer sign in gets no tokens, and its tokens stop working everywhere', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const issued = await code();
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client));
    await portal.suspend(ADA);
    try {
      expect(await errorOf(await exchangeCode(portal, client, issued))).toBe('invalid_grant');
      expect(await errorOf(await refresh(portal, client, tokens.refresh_token))).toBe(
        'invalid_grant',
      );
      expect(await opens(tokens, '/oauth/userinfo')).toBe(401);
      expect(await opens(tokens)).toBe(401);
      expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(400);
      expect(await introspect(portal, tokens.access_token)).toEqual({ active: false });
    } finally {
      await portal.restore(ADA);
    }
  });

  // @shows AS-5.8, AS-16.2
  test('a rotated client secret stays valid for one day, or until the next rotation', async () => {
    const { secret: second } = await portal.server.clients.rotateSecret(client.id);
    expect([await accepts(client.secret), await accepts(second)]).toEqual([true, true]);
    clock.advance(86_399);
    expect(await accepts(client.secret)).toBe(true);
    const { secret: third } = await portal.server.clients.rotateSecret(client.id);
    const accepted = [await accepts(client.secret), await accepts(second), await accepts(third)];
    expect(accepted).toEqual([false, true, true]);
  });

  // @shows AS-5.9
  test('a client secret is invalid immediately after a rotation without an overlap', async () => {
    await portal.server.clients.rotateSecret(client.id);
    expect(await accepts(client.secret)).toBe(true);
    const { secret } = await portal.server.clients.rotateSecret(client.id, 0);
    expect([await accepts(client.secret), await accepts(secret)]).toEqual([false, true]);
  });

  // @shows AS-5.10
  test('a rotated client secret becomes invalid automatically after the overlap', async () => {
    await portal.server.clients.rotateSecret(client.id, 600);
    clock.advance(599);
    expect(await accepts(client.secret)).toBe(true);
    clock.advance(2);
    expect(await accepts(client.secret)).toBe(false);
  });

  // @shows AS-5.11
  test('a consent request is answered only in its browser and within consent_ttl, and gives a code', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client));
    const elsewhere = await portal.signedIn(ADA);
    expect((await elsewhere.submit(page, { decision: 'allow' })).status).toBe(400);
    clock.advance(599);
    const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
    expect(answer.searchParams.get('code')).toMatch(/^[0-9a-f]{32}\.[\w-]{43}$/);

    const late = await visitor.get(authorizationUrl(portal, client));
    clock.advance(601);
    expect((await visitor.submit(late, { decision: 'allow' })).status).toBe(400);
  });

  // @shows AS-5.12
  test('a consent request is void if a different person signs in before the answer', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client));
    await signIn(visitor, await visitor.get('/login'), GRACE);
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(400);
    await signIn(visitor, await visitor.get('/login'), ADA);
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(400);
  });

  // @shows AS-5.13, AS-5.14
  test('a signing key is replaced by a newer one, stays published, and is pruned only when old enough', async () => {
    const { keys } = portal.server;
    const before = await signingKid(await obtainTokens(portal, client, ADA));
    clock.advance(1_000_000);
    const { kid } = await keys.generate();
    expect(await signingKid(await obtainTokens(portal, client, ADA))).toBe(kid);
    expect(await published()).toEqual(expect.arrayContaining([before, kid]));
    await expect(keys.prune(3599)).rejects.toThrow('oauth_server:id_token_ttl');
    expect(await keys.prune(3600)).toEqual([]);
    clock.advance(3602);
    expect(await keys.prune(3600)).toContain(before);
    clock.advance(1_000_000);
    expect(await keys.prune(3600)).toEqual([]);
    expect(await published()).toEqual([kid]);
  });
});

describe('the error', () => {
  // @shows AS-15.1
  test('for a request to the host without a usable bearer token is 401', async () => {
    expect((await fetch(`${portal.url}/api/notes`)).status).toBe(401);
    expect((await callApi(portal, '/api/notes', 'garbage')).status).toBe(401);
  });

  // @shows AS-15.2
  test('for a token without the scope, or a person without the permission, is 403', async () => {
    const narrow = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    expect(await opens(narrow)).toBe(403);
    const tokens = await obtainTokens(portal, client, ADA);
    await portal.deny(ADA, 'notes:read');
    expect(await opens(tokens)).toBe(403);
    await portal.grant(ADA, 'notes:read');
  });

  test.each([
    // @shows AS-7.9, AS-15.3
    ['prompt=none', { prompt: 'none' }, 'interaction_required'],
    // @shows AS-7.9, AS-15.4
    ['prompt=login', { prompt: 'login' }, 'invalid_request'],
    // @shows AS-7.9, AS-15.4
    ['max_age present', { max_age: '0' }, 'invalid_request'],
  ])('%s: %s', async (_, parameters, error) => {
    const visitor = await portal.signedIn(ADA);
    const answer = locationOf(await visitor.get(authorizationUrl(portal, client, parameters)));
    expect(answer.searchParams.get('error')).toBe(error);
  });

  // @shows AS-15.5
  test('for a missing redirect_uri is 400 or invalid_request, without a redirect', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client, { redirect_uri: undefined }));
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    const response = await exchangeCode(portal, client, await code(), { redirect_uri: '' });
    expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_request']);
  });

  // @shows AS-15.6
  test('for a wrong verifier is invalid_grant, and the code is used up', async () => {
    const issued = await code();
    const wrong = await exchangeCode(portal, client, issued, { code_verifier: 'y'.repeat(43) });
    expect(await errorOf(wrong)).toBe('invalid_grant');
    expect(await errorOf(await exchangeCode(portal, client, issued))).toBe('invalid_grant');
  });

  // @shows AS-15.7
  test('for a reused refresh token is invalid_grant, and its family is revoked', async () => {
    const first = await obtainTokens(portal, client, ADA);
    const second = await bodyOf(await refresh(portal, client, first.refresh_token));
    expect(await errorOf(await refresh(portal, client, first.refresh_token))).toBe('invalid_grant');
    expect(await opens(second)).toBe(401);
  });

  // @shows AS-10.2, AS-15.9
  test('for a public client with the grant introspection appears at registration and at the endpoint', async () => {
    const registration = registerClient(portal, { public: true, grants: ['introspection'] });
    await expect(registration).rejects.toThrow(
      'A public client cannot have the grant introspection',
    );
    const open = await registerClient(portal, { public: true });
    await portal.application.database.execute(
      'UPDATE oauth_clients SET grants = ? WHERE client_id = ?',
      ['authorization_code introspection', open.id],
    );
    const response = await fetch(`${portal.url}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: open.id, token: 'any' }),
    });
    expect([response.status, await errorOf(response)]).toEqual([400, 'unauthorized_client']);
  });

  // @shows AS-15.10
  test('for a suspended account appears at refresh, UserInfo and the authorization endpoint', async () => {
    const tokens = await obtainTokens(portal, client, GRACE);
    const visitor = await portal.signedIn(GRACE);
    await portal.suspend(GRACE);
    try {
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(400);
      expect(await opens(tokens, '/oauth/userinfo')).toBe(401);
      const asked = await visitor.get(authorizationUrl(portal, client));
      expect(locationOf(asked).pathname).toBe('/login');
    } finally {
      await portal.restore(GRACE);
    }
  });
});

describe('with a configured audience,', () => {
  const audience = 'https://api.example/';

  // @shows AS-2.4, AS-15.8, RFC7662-4a, RFC8707-3, RFC9700-2.3b
  test('a token that was granted for a different target counts as no token', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const restarted = await startPortal({ config: { oauth_server: { audience } } });
    try {
      const confined = await registerClient(restarted);
      const good = await obtainTokens(restarted, confined, ADA, { resource: audience });
      expect((await callApi(restarted, '/api/notes', good.access_token)).status).toBe(200);
      const asked = await obtainCode(restarted, confined, await restarted.signedIn(ADA));
      await setTarget(restarted, 'https://elsewhere.example/');
      expect((await callApi(restarted, '/api/notes', good.access_token)).status).toBe(401);
      expect((await callApi(restarted, '/oauth/userinfo', good.access_token)).status).toBe(401);
      expect(await introspect(restarted, good.access_token)).toEqual({ active: false });
      // Its token is not replaced by one for the new target either, and the code or token stays
      // valid.
      expect((await refresh(restarted, confined, good.refresh_token)).status).toBe(400);
      expect(await errorOf(await exchangeCode(restarted, confined, asked))).toBe('invalid_grant');
      await setTarget(restarted, audience);
      expect((await refresh(restarted, confined, good.refresh_token)).status).toBe(200);
      expect((await exchangeCode(restarted, confined, asked)).status).toBe(200);
      await setTarget(restarted, null);
      expect((await callApi(restarted, '/api/notes', good.access_token)).status).toBe(401);
    } finally {
      await restarted.close();
    }
    expect(await opens(tokens)).toBe(200);
  });

  // @shows AS-4.2, AS-7.3, AS-10.4, AS-20.1, RFC7662-2.2b, RFC8707-2.1
  test('the audience is fixed at authorization, and stays the same after refreshes and client changes', async () => {
    const confined = await startPortal({ config: { oauth_server: { audience } } });
    try {
      const application = await registerClient(confined);
      let tokens = await obtainTokens(confined, application, ADA, { resource: audience });
      const { database } = confined.application;
      await database.execute('UPDATE oauth_clients SET name = ?, redirect_uris = ?', [
        'Renamed',
        '[]',
      ]);
      await confined.server.clients.rotateSecret(application.id);
      for (let round = 0; round < 3; round += 1) {
        tokens = await bodyOf(await refresh(confined, application, tokens.refresh_token));
        expect(await introspect(confined, tokens.access_token)).toMatchObject({
          active: true,
          aud: audience,
        });
      }
      const elsewhere = { resource: 'https://elsewhere.example/' };
      const refused = await refresh(confined, application, tokens.refresh_token, elsewhere);
      expect(await errorOf(refused)).toBe('invalid_target');
      expect((await refresh(confined, application, tokens.refresh_token)).status).toBe(200);
    } finally {
      await confined.close();
    }
  });
});

/** Changes the authorizations to another target, as if they had been granted for it. */
async function setTarget(at: RunningPortal, audience: string | null): Promise<void> {
  await at.application.database.execute('UPDATE oauth_families SET audience = ?', [audience]);
}

async function countOf(table: string): Promise<number> {
  const { rows } = await portal.application.database.execute(`SELECT 1 FROM ${table}`);
  return rows.length;
}

async function signingKid(tokens: Tokens): Promise<string> {
  const [header = ''] = tokens.id_token.split('.');
  return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }).kid;
}

async function published(): Promise<readonly string[]> {
  const response = await fetch(`${portal.url}/.well-known/jwks.json`);
  return ((await response.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
}
