// @engines sqlite: the database makes no difference
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { startApplication } from '@portico/kit';
import { oauthServer, oauthServerConfiguration } from 'portico';
import { describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type PortalOptions,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';
import { RUNS_ALL } from './support/scale.ts';

async function withPortal(
  options: PortalOptions,
  use: (portal: RunningPortal) => Promise<void>,
): Promise<void> {
  const portal = await startPortal(options);
  try {
    await use(portal);
  } finally {
    await portal.close();
  }
}

const server = (config: Record<string, unknown>): PortalOptions => ({
  config: { oauth_server: config },
});

describe('a missing key of oauth_server', () => {
  // @shows AS-2.4, AS-2.5, AS-2.8, AS-2.10, AS-2.11, AS-2.13, AS-2.14, AS-2.19
  test('has the default of the specification', () => {
    expect(oauthServerConfiguration.parse({ name: 'Portal', scopes: {} })).toEqual({
      name: 'Portal',
      scopes: {},
      audience: '',
      login_route: 'login',
      routes: true,
      challenge: false,
      key_path: 'storage/oauth/keys',
      access_token_ttl: 3600,
      refresh_token_ttl: 2_592_000,
      id_token_ttl: 3600,
      code_ttl: 60,
      consent_ttl: 600,
      refresh_retry_seconds: 0,
    });
  });
});

describe('oauth_server:audience', () => {
  test.each([
    // @shows RFC8707-2a
    'https://api.example/#part',
    'https://api.example/#',
    // @shows RFC8707-2a
    '/api',
    'api.example',
    'urn:api',
  ])('%j is refused', (audience) => {
    const { error } = oauthServerConfiguration.safeParse({ name: 'Portal', scopes: {}, audience });
    expect(error?.issues.map((issue) => issue.path.join(':'))).toEqual(['audience']);
  });
});

describe('oauth_server:scopes', () => {
  // @shows AS-2.3
  test('uses the scope as its own permission if none is configured', async () => {
    const scopes = { 'notes:share': { label: 'Share your notes' } };
    await withPortal(server({ scopes }), async (portal) => {
      const client = await registerClient(portal, { scopes: ['openid', 'notes:share'] });
      const granted = async () =>
        (await obtainTokens(portal, client, ADA, { scope: 'openid notes:share' })).scope;
      expect(await granted()).toBe('openid');
      await portal.grant(ADA, 'notes:share');
      expect(await granted()).toBe('openid notes:share');
    });
  });
});

describe('claims from oauth_server:claims', () => {
  const claims = () => ({
    name: 'Somebody Else',
    nickname: 'ada',
    email: 'other@example.com',
    sub: 'forged',
    iss: 'forged',
    aud: 'forged',
    role: 'admin',
    phone_number: '123',
    picture: null,
    website: '',
  });

  // @shows AS-2.7, AS-3.3, AS-3.4, OIDC-5.1a, OIDC-5.1b
  test('never replace claims of the server, and are dropped if no granted scope releases them', async () => {
    await withPortal(server({ claims }), async (portal) => {
      const client = await registerClient(portal);
      const tokens = await obtainTokens(portal, client, ADA);
      const userinfo = (await (
        await callApi(portal, '/oauth/userinfo', tokens.access_token)
      ).json()) as object;
      const { sub } = userinfo as { sub: string };
      expect(userinfo).toEqual({
        sub,
        name: 'Ada Lovelace',
        nickname: 'ada',
        email: ADA,
        email_verified: true,
      });
      const idToken = decodeJwt(tokens.id_token);
      expect(idToken).toMatchObject({
        iss: portal.url,
        aud: client.id,
        sub,
        name: 'Ada Lovelace',
        nickname: 'ada',
      });
      expect(idToken).not.toHaveProperty('role');
      expect(idToken).not.toHaveProperty('phone_number');
    });
  });

  // @shows AS-3.7
  test('that no scope releases are logged, once for each name', async () => {
    await withPortal(server({ claims }), async (portal) => {
      const client = await registerClient(portal);
      const tokens = await obtainTokens(portal, client, ADA);
      for (const _ of 'abc') await callApi(portal, '/oauth/userinfo', tokens.access_token);
      const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
      const lines = log
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { level: string; claim?: string; reason?: string });
      const dropped = lines.filter(({ claim }) => claim !== undefined);
      expect(dropped.map(({ claim }) => claim)).toEqual([
        'sub',
        'iss',
        'aud',
        'role',
        'phone_number',
      ]);
      expect(new Set(dropped.map(({ level }) => level))).toEqual(new Set(['warning']));
      expect(dropped.at(-2)?.reason).toMatch(/^OpenID Connect defines no scope that releases it/);
      expect(dropped.at(-1)?.reason).toBe(
        'the scope phone, which releases it, is not in oauth_server:scopes',
      );
      expect(log).not.toContain('admin');
    });
  });

  // @shows AS-3.3, OIDC-5.4a
  test('are released only by granted scopes', async () => {
    await withPortal(server({ claims }), async (portal) => {
      const client = await registerClient(portal);
      const tokens = await obtainTokens(portal, client, ADA, { scope: 'openid email' });
      expect(decodeJwt(tokens.id_token)).not.toHaveProperty('nickname');
      expect(decodeJwt(tokens.id_token)).toHaveProperty('email', ADA);
    });
  });

  // @shows AS-3.6, OIDC-5.4b
  test('are no longer released when the person loses the permission of their scope', async () => {
    const scopes = { phone: { label: 'See your number', permission: 'phone.share' } };
    await withPortal(server({ claims, scopes }), async (portal) => {
      await portal.grant(ADA, 'phone.share');
      const client = await registerClient(portal, { scopes: ['openid', 'phone'] });
      const tokens = await obtainTokens(portal, client, ADA, { scope: 'openid phone' });
      const userinfo = async (token: string) =>
        (await callApi(portal, '/oauth/userinfo', token)).json();
      expect(decodeJwt(tokens.id_token)).toHaveProperty('phone_number', '123');
      expect(await userinfo(tokens.access_token)).toHaveProperty('phone_number', '123');
      await portal.deny(ADA, 'phone.share');
      expect(await userinfo(tokens.access_token)).not.toHaveProperty('phone_number');
      const next = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
      expect(decodeJwt(next.id_token)).not.toHaveProperty('phone_number');
    });
  });

  test('that throw an error do not mark the code or token as used', async () => {
    let failing = true;
    const flaky = () => {
      if (failing) throw new Error('the directory is down');
      return {};
    };
    await withPortal(server({ claims: flaky }), async (portal) => {
      const client = await registerClient(portal);
      const code = await obtainCode(portal, client, await portal.signedIn(ADA));
      expect((await exchangeCode(portal, client, code)).status).toBe(500);
      failing = false;
      const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
      failing = true;
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(500);
      failing = false;
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
    });
  });
});

describe('oauth_server:routes', () => {
  // @shows AS-2.6
  test('set to false adds no endpoints, and the services and token() still work', async () => {
    await withPortal(server({ routes: false }), async (portal) => {
      expect((await fetch(`${portal.url}/oauth/token`, { method: 'POST' })).status).toBe(404);
      const token = portal.server.endpoints.find(({ name }) => name === 'oauth_server_token');
      const answer = await token?.handle(
        new Request(`${portal.url}/oauth/token`, { method: 'POST' }),
      );
      expect(answer?.status).toBe(400);
      expect((await fetch(`${portal.url}/api/notes`)).status).toBe(401);
    });
  });
});

describe('oauth_server:login_route', () => {
  // @shows AS-2.5, AS-14.3, MCP-3.5
  test.each([
    ['home', '/'],
    ['/elsewhere/sign-in', '/elsewhere/sign-in'],
    ['/elsewhere?by=password', '/elsewhere'],
  ])('%j is the sign-in page', async (loginRoute, at) => {
    await withPortal(server({ login_route: loginRoute }), async (portal) => {
      const client = await registerClient(portal);
      const response = await portal.visitor().get(authorizationUrl(portal, client));
      const location = new URL(response.headers.get('location') ?? '', portal.url);
      expect(location.pathname).toBe(at);
      expect(location.searchParams.get('return_to')).toMatch(
        /^\/oauth\/authorize\?request_id=[\w-]+$/,
      );
    });
  });
});

describe('oauth/consent in the view directory of the host', () => {
  // @shows AS-8.4
  test('replaces the built-in consent page', async () => {
    const views = await mkdtemp(path.join(tmpdir(), 'portico-shadow-'));
    await mkdir(path.join(views, 'oauth'));
    const form = [
      '<h1>Our own: <%= it.clientName %></h1><form method="post" action="<%= it.action %>">',
      '<input type="hidden" name="request_id" value="<%= it.requestId %>">',
      '<input type="hidden" name="csrf_token" value="<%= it.csrfToken %>"><button name="decision" value="allow">OK</button></form>',
    ];
    await writeFile(path.join(views, 'oauth', 'consent.eta'), form.join('\n'));
    await withPortal({ views }, async (portal) => {
      const client = await registerClient(portal);
      const visitor = await portal.signedIn(ADA);
      const page = await visitor.get(authorizationUrl(portal, client));
      expect(await page.clone().text()).toContain('Our own: Test application');
      expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(303);
    });
    await rm(views, { recursive: true });
  });
});

describe('csrf_exempt_routes', () => {
  // @shows AS-2.9, AS-6.12
  test('can be switched off one by one by name', async () => {
    await withPortal(
      { config: { csrf_exempt_routes: { oauth_server_token: false } } },
      async (portal) => {
        expect((await fetch(`${portal.url}/oauth/token`, { method: 'POST' })).status).toBe(403);
        expect((await fetch(`${portal.url}/oauth/revoke`, { method: 'POST' })).status).toBe(400);
      },
    );
  });
});

// @shows AS-2.19
test.each([
  [-1, 'must be at least 0 seconds; 0 allows no second use'],
  [301, 'must be at most 300 seconds'],
  [0.5, 'must be a whole number of seconds'],
  ['30', 'must be a whole number of seconds'],
])('oauth_server:refresh_retry_seconds of %s is refused', async (seconds, problem) => {
  const { error } = oauthServerConfiguration.safeParse({
    name: 'App',
    scopes: {},
    refresh_retry_seconds: seconds,
  });
  expect(error?.issues).toMatchObject([{ path: ['refresh_retry_seconds'], message: problem }]);
});

describe('the lifetimes in oauth_server', () => {
  // @shows AS-2.10, AS-2.11, AS-2.13, AS-2.14, AS-16.1
  test('have the configured values', async () => {
    await withPortal(server({ access_token_ttl: 60, id_token_ttl: 120 }), async (portal) => {
      const client = await registerClient(portal);
      const tokens = await obtainTokens(portal, client, ADA);
      expect(tokens.expires_in).toBe(60);
      const { exp = 0, iat = 0 } = decodeJwt(tokens.id_token);
      expect(exp - iat).toBe(120);
    });
  });

  const LIFETIMES = [
    'access_token_ttl',
    'refresh_token_ttl',
    'id_token_ttl',
    'code_ttl',
    'consent_ttl',
  ];
  const A_CENTURY = 3_155_760_000;

  // @shows AS-2.15, HOST-1.5
  test.each([...LIFETIMES.map((key) => `oauth_server:${key}`), 'session_ttl'])(
    'limit %s to at most a century',
    async (key) => {
      const tooLong = Object.fromEntries([[key.replace('oauth_server:', ''), A_CENTURY + 1]]);
      const given =
        key === 'session_ttl' ? tooLong : { oauth_server: { name: 'App', scopes: {}, ...tooLong } };
      const started = startApplication(
        {
          directory: import.meta.dirname,
          config: { public_url: 'https://app.example', ...given },
          plugins: key === 'session_ttl' ? [] : [oauthServer()],
        },
        { env: {} },
      );
      await expect(started).rejects.toThrow(
        `${key}: must be at most 3155760000 seconds (100 years)`,
      );
    },
  );

  // @shows AS-2.15
  test('work if each is a century', async () => {
    const lifetimes = Object.fromEntries(LIFETIMES.map((key) => [key, A_CENTURY]));
    const config = { oauth_server: lifetimes, session_ttl: A_CENTURY };
    await withPortal({ config }, async (portal) => {
      const client = await registerClient(portal);
      const visitor = await portal.signedIn(ADA);
      const code = await obtainCode(portal, client, visitor);
      const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
      const next = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
      expect(next.expires_in).toBe(A_CENTURY);
      expect((await callApi(portal, '/api/notes', next.access_token)).status).toBe(200);
      expect(await (await visitor.get('/oauth/applications')).text()).toContain('Test application');
      await portal.server.prune();
    });
  });

  // @shows AS-2.10, AS-2.11, AS-2.13, AS-2.14, AS-16.1
  test('apply to consent_ttl, code_ttl, access_token_ttl and refresh_token_ttl', async () => {
    const clock = createClock();
    const lifetimes = {
      consent_ttl: 20,
      code_ttl: 10,
      access_token_ttl: 30,
      refresh_token_ttl: 40,
    };
    await withPortal({ ...server(lifetimes), clock: clock.now }, async (portal) => {
      const client = await registerClient(portal);
      const visitor = await portal.signedIn(ADA);
      const ends = async (after: number, of: () => Promise<Response>) => {
        clock.advance(after + 1);
        return (await of()).status;
      };
      const page = await visitor.get(authorizationUrl(portal, client));
      expect(await ends(20, () => visitor.submit(page, { decision: 'allow' }))).toBe(400);
      const code = await obtainCode(portal, client, visitor);
      expect(await ends(10, () => exchangeCode(portal, client, code))).toBe(400);
      const tokens = await obtainTokens(portal, client, ADA);
      expect(await ends(30, () => callApi(portal, '/api/notes', tokens.access_token))).toBe(401);
      clock.advance(10);
      expect(await errorOf(await refresh(portal, client, tokens.refresh_token))).toBe(
        'invalid_grant',
      );
    });
  });
});

describe('oauth_server:key_path', () => {
  // @shows AS-2.8, AS-4.8
  test('is oauth/keys in the storage directory by default', async () => {
    await withPortal({}, async (portal) => {
      const expected = path.join(portal.env['STORAGE_DIR'] ?? '', 'oauth', 'keys');
      expect(portal.server.config.key_path).toBe(expected);
      expect(await readdir(expected)).toHaveLength(1);
    });
  });

  // @shows AS-2.8, AS-18.6, OIDC-10.1.1
  test('is shared: all processes sign with a key that one of them generates, without a restart', async () => {
    const keyPath = await mkdtemp(path.join(tmpdir(), 'portico-keys-'));
    await withPortal(server({ key_path: keyPath }), async (one) => {
      await withPortal(server({ key_path: keyPath }), async (other) => {
        const { kid } = await one.server.keys.generate();
        const jwks = (await (await fetch(`${other.url}/.well-known/jwks.json`)).json()) as {
          keys: { kid: string }[];
        };
        expect(jwks.keys[0]?.kid).toBe(kid);
        expect((await other.server.keys.active())?.kid).toBe(kid);
      });
    });
    await rm(keyPath, { recursive: true });
  });

  test('is read again: all processes publish the key that one of them signs with', async () => {
    const keyPath = await mkdtemp(path.join(tmpdir(), 'portico-keys-'));
    await withPortal(server({ key_path: keyPath }), async (one) => {
      await withPortal(server({ key_path: keyPath }), async (other) => {
        const rotated = async ({ server: { keys } }: typeof one) => {
          await keys.generate();
          return (await keys.active())?.kid;
        };
        const published = async () => {
          const answer = await fetch(`${other.url}/.well-known/jwks.json`);
          return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
        };
        for (let round = 0; round < (RUNS_ALL ? 20 : 4); round += 1) {
          // Make the directory look unchanged for an hour. Otherwise the server reads it at each
          // request.
          await utimes(keyPath, new Date(Date.now() - 3_600_000), new Date(Date.now() - 3_600_000));
          const signing = rotated(one);
          let kid: string | null | undefined = null;
          while (kid === null) kid = await Promise.race([signing, published().then(() => null)]);
          expect(await published()).toContain(kid);
        }
      });
    });
    await rm(keyPath, { recursive: true });
  });
});
