// @engines sqlite: the database makes no difference
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { token } from 'portico';
import { createClock } from './support/clock.ts';
import {
  ADA,
  callApi,
  GRACE,
  introspect,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  startPortal,
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

function writeNote(accessToken: string): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return callApi(portal, '/api/notes', accessToken, {
    method: 'POST',
    headers,
    body: '{"text":"Hello"}',
  });
}

async function expect401(response: Response, error: string | null): Promise<void> {
  expect(response.status).toBe(401);
  const challenge = response.headers.get('www-authenticate') ?? '';
  expect(challenge).toMatch(/^Bearer /);
  expect(/error="([^"]+)"/.exec(challenge)?.[1] ?? null).toBe(error);
}

describe('without a usable token the response is 401:', () => {
  // @shows AS-12.1, AS-15.11, RFC6750-3a, RFC6750-3.1a
  test('no token', async () => {
    await expect401(await fetch(`${portal.url}/api/notes`), null);
  });
  // @shows RFC6750-3.1a
  test('a different scheme', async () => {
    const headers = { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
    await expect401(await fetch(`${portal.url}/api/notes`, { headers }), null);
  });
  // @shows AS-12.1, RFC6750-3.1b
  test.each(['', 'garbage', 'a'.repeat(43), 'with spaces in it', 'x'.repeat(8000), '"', 'null'])(
    'an invalid token: %j',
    async (garbage) => {
      await expect401(await callApi(portal, '/api/notes', garbage), 'invalid_token');
    },
  );
  // @shows RFC6750-2.2, RFC6750-2.3, RFC9700-4.3
  test('a token in the query or in a form, which is ignored', async () => {
    const { access_token } = await obtainTokens(portal, client, ADA);
    await expect401(await fetch(`${portal.url}/api/notes?access_token=${access_token}`), null);
    const body = new URLSearchParams({ access_token });
    // Without a bearer token it counts as a request of a browser, which the CSRF check refuses.
    expect((await fetch(`${portal.url}/api/notes`, { method: 'POST', body })).status).toBe(403);
    await expect401(await fetch(`${portal.url}/oauth/userinfo?access_token=${access_token}`), null);
  });
  test('a refresh token in place of an access token', async () => {
    const { refresh_token } = await obtainTokens(portal, client, ADA);
    await expect401(await callApi(portal, '/api/notes', refresh_token), 'invalid_token');
  });
  // @shows AS-2.10, AS-12.1, RFC6750-2.1, RFC6750-3.1b, RFC6750-5.3
  test('an expired token', async () => {
    const { access_token } = await obtainTokens(portal, client, ADA);
    clock.advance(3599);
    expect((await callApi(portal, '/api/notes', access_token)).status).toBe(200);
    clock.advance(2);
    await expect401(await callApi(portal, '/api/notes', access_token), 'invalid_token');
  });
  // @shows AS-14.4, RFC6750-3.1b, RFC9700-4.9
  test('a token that was revoked with its family', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    await refresh(portal, client, tokens.refresh_token);
    await refresh(portal, client, tokens.refresh_token);
    await expect401(await callApi(portal, '/api/notes', tokens.access_token), 'invalid_token');
  });
  // @shows AS-1.8
  test('a token of a suspended person, until the person is restored', async () => {
    const { access_token } = await obtainTokens(portal, client, GRACE);
    await portal.suspend(GRACE);
    try {
      await expect401(await callApi(portal, '/api/notes', access_token), 'invalid_token');
      expect((await callApi(portal, '/oauth/userinfo', access_token)).status).toBe(401);
    } finally {
      await portal.restore(GRACE);
    }
    expect((await callApi(portal, '/api/notes', access_token)).status).toBe(200);
  });
  test('a token of a person who no longer exists, which does not become a token without a person', async () => {
    const tokens = await obtainTokens(portal, client, GRACE);
    const { database } = portal.application;
    const rename = (from: string, to: string) =>
      database.execute('UPDATE host_accounts SET provider = ? WHERE provider = ? AND email = ?', [
        to,
        from,
        GRACE,
      ]);
    await rename('accounts', 'elsewhere');
    try {
      for (const at of ['/api/whoami', '/api/notes', '/oauth/userinfo'])
        expect((await callApi(portal, at, tokens.access_token)).status, at).toBe(401);
      expect(await introspect(portal, tokens.access_token)).toEqual({ active: false });
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(400);
    } finally {
      await rename('elsewhere', 'accounts');
    }
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(200);
  });
});

describe('a token that lacks a right gets 403:', () => {
  async function expect403(response: Response, scope: string): Promise<void> {
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    expect(response.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
  }

  // @shows AS-3.1, AS-12.1, AS-15.11, RFC6750-3a, RFC6750-3b, RFC6750-3.1c, RFC6750-5.3, RFC9700-2.3a
  test('the token lacks the scope', async () => {
    const { access_token } = await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    await expect403(await writeNote(access_token), 'notes:write');
  });
  // @shows AS-2.3, AS-3.1, AS-12.1, AS-12.4, RFC9700-2.3a
  test('the person no longer has the permission of the scope', async () => {
    const { access_token } = await obtainTokens(portal, client, ADA);
    expect((await writeNote(access_token)).status).toBe(201);
    await portal.deny(ADA, 'notes.edit');
    try {
      await expect403(await writeNote(access_token), 'notes:write');
    } finally {
      await portal.grant(ADA, 'notes.edit');
    }
    expect((await writeNote(access_token)).status).toBe(201);
  });
  // @shows AS-2.3
  test('a scope that is a plain string requires the permission of the same name', async () => {
    const { access_token } = await obtainTokens(portal, client, GRACE);
    await portal.deny(GRACE, 'notes:read');
    try {
      await expect403(await callApi(portal, '/api/notes', access_token), 'notes:read');
    } finally {
      await portal.grant(GRACE, 'notes:read');
    }
  });
});

describe('a scope that the server no longer offers', () => {
  test('allows nothing, also for a token without a person', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read', 'notes:write'],
    });
    const issued = await requestToken(portal, service, { grant_type: 'client_credentials' });
    const { access_token } = (await issued.json()) as Tokens;
    expect(await introspect(portal, access_token)).toMatchObject({
      scope: 'notes:read notes:write',
    });
    const { database } = portal.application;
    // As if this scope was configured when the token was issued, and no longer is.
    for (const table of ['oauth_access_tokens', 'oauth_clients'])
      await database.execute(`UPDATE ${table} SET scope = ? WHERE client_id = ?`, [
        'notes:read notes:gone',
        service.id,
      ]);
    expect(await introspect(portal, access_token)).toMatchObject({ scope: 'notes:read' });
  });
});

describe('can()', () => {
  /** What can('notes:write') returns in a handler of the host with this Authorization header. */
  async function can(authorization: string | null): Promise<string> {
    const headers = authorization === null ? {} : { Authorization: authorization };
    const request = new Request(`${portal.url}/x`, { headers });
    const answer = await portal.server.withToken(
      request,
      async () => new Response(String(token().can('notes:write'))),
    );
    return answer.text();
  }

  // @shows AS-1.6, AS-12.2, AS-12.7
  test('returns the check of requireScope() as a boolean: scope and permission', async () => {
    const wide = `Bearer ${(await obtainTokens(portal, client, ADA)).access_token}`;
    const narrow = `Bearer ${(await obtainTokens(portal, client, ADA, { scope: 'notes:read' })).access_token}`;
    expect([await can(wide), await can(narrow)]).toEqual(['true', 'false']);
    expect([await can(null), await can('Bearer invented')]).toEqual(['false', 'false']);
    await portal.deny(ADA, 'notes.edit');
    try {
      expect(await can(wide)).toBe('false');
    } finally {
      await portal.grant(ADA, 'notes.edit');
    }
    expect(await can(wide)).toBe('true');
  });
});

describe('the owner of a token', () => {
  // @shows AS-1.1, AS-1.6, AS-12.3, AS-12.9
  test('is a person: user() is the host account', async () => {
    const { access_token } = await obtainTokens(portal, client, ADA);
    const answer = await callApi(portal, '/api/whoami', access_token);
    expect(await answer.json()).toEqual({ kind: 'person', name: 'Ada Lovelace' });
  });

  // @shows AS-12.9
  test('stays in its authorization after a refresh, and a new consent creates a different one', async () => {
    const [first, other] = [
      await obtainTokens(portal, client, ADA),
      await obtainTokens(portal, client, ADA),
    ];
    const response = await refresh(portal, client, first.refresh_token);
    const refreshed = (await response.json()) as Tokens;
    const ids = [first, refreshed, other].map(async ({ access_token }) => {
      const headers = { Authorization: `Bearer ${access_token}` };
      const request = new Request(`${portal.url}/x`, { headers });
      const answer = await portal.server.withToken(request, async () =>
        Response.json(token().authorizationId()),
      );
      return (await answer.json()) as unknown;
    });
    const [own, after, another] = await Promise.all(ids);
    expect([after, typeof another]).toEqual([own, 'string']);
    expect(another).not.toBe(own);
  });

  test('is missing without a token: user() and clientId() are null', async () => {
    for (const headers of [{}, { Authorization: 'Bearer invented' }]) {
      const request = new Request(`${portal.url}/x`, { headers });
      const whose = await portal.server.withToken(request, async () => {
        const owner = [token().user(), token().clientId(), token().authorizationId()];
        expect(owner).toEqual([null, null, null]);
        return new Response('unknown');
      });
      expect(await whose.text()).toBe('unknown');
    }
  });

  // @shows AS-1.2, AS-12.3, AS-12.5, AS-12.9, RFC9700-2.6b
  test('is only the client for a client credentials token: no permission is checked', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const response = await requestToken(portal, service, { grant_type: 'client_credentials' });
    const { access_token } = (await response.json()) as Tokens;
    expect(await (await callApi(portal, '/api/whoami', access_token)).json()).toEqual({
      kind: 'application',
      name: null,
    });
    expect(await (await callApi(portal, '/api/notes', access_token)).json()).toEqual({ data: [] });
    expect((await writeNote(access_token)).status).toBe(403);
    expect((await callApi(portal, '/oauth/userinfo', access_token)).status).toBe(403);
  });
});

describe('token() never uses a session:', () => {
  // @shows AS-12.6, AS-14.6
  test('a valid session cookie without a token is refused', async () => {
    const visitor = await portal.signedIn(ADA);
    expect((await visitor.get('/api/notes')).status).toBe(401);
  });
  // @shows AS-12.6, AS-14.6
  test('a valid session cookie with an invalid bearer token is refused', async () => {
    const visitor = await portal.signedIn(ADA);
    const response = await visitor.get('/api/notes', {
      Authorization: 'Bearer expired-or-invented',
    });
    await expect401(response, 'invalid_token');
  });
  // @shows AS-12.6
  test('a request with an invalid bearer token is not signed in, even with a valid session', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get('/', { Authorization: 'Bearer invented' });
    expect(await page.text()).not.toContain('Ada Lovelace');
  });
  // @shows RFC6750-2.1
  test('a bearer token takes precedence over the session of a different person', async () => {
    const { access_token } = await obtainTokens(portal, client, GRACE);
    const visitor = await portal.signedIn(ADA);
    const answer = await visitor.get('/api/whoami', { Authorization: `bearer ${access_token}` });
    expect(await answer.json()).toEqual({ kind: 'person', name: 'Grace Hopper' });
  });
});

describe('token() in the wrong place', () => {
  // @shows AS-12.8
  test('throws outside of a request, with a message about what is missing', () => {
    expect(() => token()).toThrow(/outside a request.*oauthServer\(\).*bearer\(server\)/);
  });

  test('throws outside of a request, with a message about a second copy of portico', () => {
    expect(() => token()).toThrow(/npm ls portico.*one copy/);
  });

  // @shows AS-12.7, AS-12.8
  test('rejects every request if the required scope is not configured', async () => {
    const other = await startPortal();
    try {
      const own = await registerClient(other);
      const { access_token } = await obtainTokens(other, own, ADA);
      const response = await other.server.withToken(
        new Request(`${other.url}/x`, { headers: { Authorization: `Bearer ${access_token}` } }),
        async () => new Response(String(token().can('notes:read'))),
      );
      expect(await response.text()).toBe('true');
      const typo = other.server.withToken(new Request(`${other.url}/x`), async () => {
        token().requireScope('notes:raed');
        return new Response('let through');
      });
      await expect(typo).rejects.toThrow(
        "token() requires the scope 'notes:raed', which is not in oauth_server:scopes",
      );
    } finally {
      await other.close();
    }
  });

  test.each(['requireScope', 'can'] as const)(
    '%s() throws for a scope that is not configured, with and without a token',
    async (method) => {
      const { access_token } = await obtainTokens(portal, client, ADA);
      for (const headers of [{}, { Authorization: `Bearer ${access_token}` }]) {
        const asked = portal.server.withToken(
          new Request(`${portal.url}/x`, { headers }),
          async () => {
            token()[method]('notes:raed');
            return new Response('let through');
          },
        );
        await expect(asked).rejects.toThrow(
          "token() requires the scope 'notes:raed', which is not in oauth_server:scopes",
        );
      }
    },
  );

  // @shows AS-1.6
  test('returns the correct token to each of two simultaneous requests', async () => {
    const [ada, grace] = await Promise.all([
      obtainTokens(portal, client, ADA),
      obtainTokens(portal, client, GRACE),
    ]);
    const names = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const answer = await callApi(
          portal,
          '/api/whoami',
          (index % 2 === 0 ? ada : grace).access_token,
        );
        return ((await answer.json()) as { name: string }).name;
      }),
    );
    expect(names).toEqual(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'Ada Lovelace' : 'Grace Hopper')),
    );
  });
});
