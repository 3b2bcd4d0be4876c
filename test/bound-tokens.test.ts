import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import Koa from 'koa';
import * as openid from 'openid-client';
import * as onExpress from 'portico/express';
import * as onHono from 'portico/hono';
import * as onKoa from 'portico/koa';
import { portico } from 'portico/next';
import { requestFrom, send } from 'portico/node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { token } from 'portico';
import type { ClientKey } from './support/assertions.ts';
import { newDpopKey } from './support/dpop.ts';
import { boundHeaders, proofFor } from './support/proofs.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  introspect,
  obtainCode,
  obtainTokens,
  registerClient,
  REDIRECT_URI,
  startPortal,
  VERIFIER,
  type PortalOptions,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

const NOTES = '/api/notes';
const ON = { oauth_server: { dpop: 'accept' } } as const;

/** Returns the person of the request, by its session and by its token. */
const WHO: NonNullable<PortalOptions['routes']> = (application) => [
  {
    name: 'who',
    methods: ['GET', 'POST'],
    path: '/who',
    handler: async () => {
      const user = await application.auth().user();
      return Response.json({
        session: user?.getProfile().name ?? null,
        token: token().user()?.getProfile().name ?? null,
        client: token().clientId(),
      });
    },
  },
];

async function start(options: PortalOptions): Promise<RunningPortal> {
  const started = await startPortal(options);
  onTestFinished(() => started.close());
  return started;
}

/** Another portal on the same database, with this configuration. */
const beside = (portal: RunningPortal, config: PortalOptions['config']): Promise<RunningPortal> =>
  start({ databaseUrl: portal.env['DATABASE_URL'] ?? '', config: config ?? {} });

/** A token of Ada's that is bound to this key. */
async function boundToken(
  portal: RunningPortal,
  client: TestClient,
  key: ClientKey,
): Promise<string> {
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  const url = `${portal.url}/oauth/token`;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
      DPoP: proofFor(key, 'POST', url),
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    }),
  });
  const answer = (await response.json()) as Readonly<Record<string, string>>;
  expect(answer['token_type']).toBe('DPoP');
  return answer['access_token'] ?? '';
}

const callBound = (
  portal: RunningPortal,
  path: string,
  key: ClientKey,
  value: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
) =>
  fetch(`${portal.url}${path}`, {
    ...init,
    headers: {
      ...init.headers,
      ...boundHeaders(key, init.method ?? 'GET', `${portal.url}${path}`, value),
    },
  });

async function listening(listener: RequestListener): Promise<string> {
  const http = createServer(listener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

const challengeOf = (response: Response) =>
  [response.status, response.headers.get('www-authenticate')] as const;

describe('with DPoP on', () => {
  let portal: RunningPortal;
  let client: TestClient;
  let bound: string;
  const key = newDpopKey();

  beforeAll(async () => {
    portal = await startPortal({ config: ON, routes: WHO });
    client = await registerClient(portal, {
      grants: ['authorization_code', 'refresh_token', 'introspection'],
    });
    bound = await boundToken(portal, client, key);
  });
  afterAll(() => portal.close());

  test('openid-client signs a person in, and calls UserInfo and the API of the host', async () => {
    const config = await openid.discovery(
      new URL(portal.url),
      client.id,
      undefined,
      openid.ClientSecretBasic(client.secret),
      { execute: [openid.allowInsecureRequests] },
    );
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    const visitor = await portal.signedIn(ADA);
    const consent = await visitor.visit(authorizationUrl(portal, client));
    const callback = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const tokens = await openid.authorizationCodeGrant(
      config,
      callback,
      { pkceCodeVerifier: VERIFIER, expectedState: 'the-state', expectedNonce: 'the-nonce' },
      undefined,
      { DPoP },
    );
    const subject = tokens.claims()?.sub ?? '';
    const userinfo = await openid.fetchUserInfo(config, tokens.access_token, subject, { DPoP });
    expect(userinfo.name).toBe('Ada Lovelace');
    const notes = new URL(`${portal.url}${NOTES}`);
    const called = () =>
      openid.fetchProtectedResource(config, tokens.access_token, notes, 'GET', null, undefined, {
        DPoP,
      });
    expect((await called()).status).toBe(200);
    expect((await called()).status).toBe(200);
    expect((await callApi(portal, NOTES, tokens.access_token)).status).toBe(401);
  });

  // @shows AS-12.18
  test('a request in the DPoP scheme has no session, CSRF token or cookie, with any token', async () => {
    const visitor = await portal.signedIn(ADA);
    const cookie = { Cookie: visitor.cookies() };
    const who = async (headers: Readonly<Record<string, string>>) => {
      const response = await fetch(`${portal.url}/who`, { method: 'POST', headers });
      return response.status === 200 ? await response.json() : response.status;
    };
    expect(await who(cookie)).toBe(403);
    expect(
      await who({ ...cookie, ...boundHeaders(key, 'POST', `${portal.url}/who`, bound) }),
    ).toEqual({
      session: null,
      token: 'Ada Lovelace',
      client: client.id,
    });
    const nobody = { session: null, token: null, client: null };
    for (const sent of ['DPoP', 'DPoP garbage', 'dpop garbage', `DPoP ${bound}`, `DPoP a, DPoP b`])
      expect([sent, await who({ ...cookie, Authorization: sent })]).toEqual([sent, nobody]);
    expect(await who({ ...cookie, Authorization: 'DPoPx garbage' })).toBe(403);
  });

  test('an authorization request accepts no access token in this scheme', async () => {
    const visitor = await portal.signedIn(ADA);
    const headers = { Cookie: visitor.cookies(), Authorization: `DPoP ${bound}` };
    const response = await fetch(authorizationUrl(portal, client), { headers, redirect: 'manual' });
    expect(response.status).toBe(400);
  });

  // @shows RFC9449-7.2
  test('a bound token sent as Bearer gets a challenge in both schemes', async () => {
    const response = await callApi(portal, NOTES, bound);
    expect(challengeOf(response)).toEqual([
      401,
      'Bearer realm="oauth", error="invalid_token", ' +
        'error_description="The access token is not valid here: unknown, expired or revoked.", ' +
        'DPoP realm="oauth", algs="RS256 PS256 ES256 EdDSA Ed25519"',
    ]);
  });

  test('an invalid token and one with too few scopes get a challenge in their scheme', async () => {
    expect(challengeOf(await callBound(portal, NOTES, key, 'garbage'))[1]).toMatch(
      /^DPoP realm="oauth", error="invalid_token", .*algs="[^"]*"$/,
    );
    await portal.deny(ADA, 'notes:read');
    let narrow: Response;
    try {
      narrow = await callBound(portal, NOTES, key, bound);
    } finally {
      await portal.grant(ADA, 'notes:read');
    }
    expect(challengeOf(narrow)).toEqual([
      403,
      expect.stringMatching(
        /^DPoP realm="oauth", error="insufficient_scope", .*scope="notes:read", algs="[^"]*"$/,
      ),
    ]);
  });

  // @shows AS-12.16
  test('a bound token is invalid in either scheme after DPoP is disabled', async () => {
    const off = await beside(portal, {});
    const unbound = (await obtainTokens(off, client, ADA)).access_token;
    expect((await callApi(off, NOTES, unbound)).status).toBe(200);
    expect(challengeOf(await callApi(off, NOTES, bound))).toEqual([
      401,
      'Bearer realm="oauth", error="invalid_token", error_description="The access token is not valid here: unknown, expired or revoked."',
    ]);
    const other = await callBound(off, NOTES, key, bound);
    expect(challengeOf(other)).toEqual([401, 'Bearer realm="oauth"']);
    expect(other.headers.get('access-control-expose-headers')).toBe(null);
    expect((await callBound(off, '/oauth/userinfo', key, bound)).status).toBe(401);
    expect(await introspect(off, bound)).toEqual({ active: false });
    // A request with another scheme still has a session.
    const visitor = await off.signedIn(ADA);
    const headers = { Cookie: visitor.cookies(), Authorization: 'DPoP x' };
    const post = await fetch(`${off.url}/login`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(),
    });
    expect(post.status).toBe(403);
  });

  // @shows AS-12.16
  test('an unbound token is invalid after bound tokens become required', async () => {
    const unbound = (await obtainTokens(portal, client, ADA)).access_token;
    const strict = await beside(portal, { oauth_server: { dpop: 'require' } });
    const refused = await callApi(strict, NOTES, unbound);
    expect(challengeOf(refused)).toEqual([
      401,
      expect.stringMatching(
        /^DPoP realm="oauth", error="invalid_token", error_description="[^"]*", algs="[^"]*"$/,
      ),
    ]);
    expect(challengeOf(await fetch(`${strict.url}${NOTES}`))).toEqual([
      401,
      'DPoP realm="oauth", algs="RS256 PS256 ES256 EdDSA Ed25519"',
    ]);
    expect(await introspect(strict, unbound)).toEqual({ active: false });
    expect((await callBound(strict, NOTES, key, bound)).status).toBe(200);
  });

  // @shows AS-10.6, AS-12.14
  test.each<[string, BodyInit, Readonly<Record<string, string>>]>([
    ['with the token twice', 'access_token=a&access_token=b', {}],
    ['with an Authorization header too', 'access_token=a', { Authorization: 'Bearer b' }],
    ['that is not UTF-8', Buffer.from([0x61, 0x3d, 0xff]), {}],
  ])('a form for UserInfo %s gets the challenge in the offered schemes', async (_, body, sent) => {
    const strict = await beside(portal, { oauth_server: { dpop: 'require' } });
    const post = (at: RunningPortal) =>
      fetch(`${at.url}/oauth/userinfo`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/x-www-form-urlencoded',
          ...sent,
        },
        body,
      });
    const dpop = expect.stringMatching(/^DPoP realm="oauth", error="invalid_request", .*algs="/);
    expect(challengeOf(await post(strict))).toEqual([400, dpop]);
    const both = expect.stringMatching(
      /^Bearer realm="oauth", error="invalid_request".*, DPoP realm="oauth", algs="[^"]*"$/,
    );
    expect(challengeOf(await post(portal))).toEqual([400, both]);
    const bearer = expect.stringMatching(/^Bearer realm="oauth", error="invalid_request"[^]*$/);
    const plain = challengeOf(await post(await beside(portal, {})));
    expect(plain).toEqual([400, bearer]);
    expect(plain[1]).not.toContain('DPoP');
  });

  // @shows AS-12.16
  test('a scope that starts to require DPoP is lost by unbound tokens', async () => {
    const unbound = (await obtainTokens(portal, client, ADA)).access_token;
    const strict = await beside(portal, {
      oauth_server: { dpop: 'accept', scopes: { 'notes:write': { label: 'Write', dpop: true } } },
    });
    const note = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"text":"Hello"}',
    };
    expect((await callApi(strict, NOTES, unbound)).status).toBe(200);
    const refused = await callApi(strict, NOTES, unbound, note);
    expect(challengeOf(refused)).toEqual([
      403,
      expect.stringMatching(
        /error="insufficient_scope".*scope="notes:write", DPoP realm="oauth", scope="notes:write", algs=/,
      ),
    ]);
    const { scope } = (await introspect(strict, unbound)) as {
      readonly scope: string;
    };
    expect(scope.split(' ')).not.toContain('notes:write');
    expect((await callBound(strict, NOTES, key, bound, note)).status).toBe(201);
  });

  // @shows RFC9449-9
  test('a proof without a required nonce gets a challenge at every endpoint with a token', async () => {
    const asking = await beside(portal, { oauth_server: { dpop: 'accept', dpop_nonces: true } });
    for (const path of [NOTES, '/oauth/userinfo']) {
      const url = `${asking.url}${path}`;
      const refused = await callBound(asking, path, key, bound);
      const nonce = refused.headers.get('dpop-nonce') ?? '';
      expect(nonce).not.toBe('');
      expect(challengeOf(refused)).toEqual([
        401,
        expect.stringMatching(/^DPoP realm="oauth", error="use_dpop_nonce", /),
      ]);
      expect(refused.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce');
      const again = await fetch(url, { headers: boundHeaders(key, 'GET', url, bound, { nonce }) });
      expect(again.status).toBe(200);
      const made = await fetch(url, {
        headers: boundHeaders(key, 'GET', url, bound, { nonce: `${nonce}x` }),
      });
      expect(made.headers.get('www-authenticate')).toContain('use_dpop_nonce');
    }
  });

  // @shows AS-24.7, RFC9449-8
  test('the response of UserInfo contains the nonce for the next proof', async () => {
    const asking = await beside(portal, { oauth_server: { dpop: 'accept', dpop_nonces: true } });
    const url = `${asking.url}/oauth/userinfo`;
    const refused = await callBound(asking, '/oauth/userinfo', key, bound);
    const nonce = refused.headers.get('dpop-nonce') ?? '';
    const answer = await fetch(url, { headers: boundHeaders(key, 'GET', url, bound, { nonce }) });
    expect([answer.status, answer.headers.get('dpop-nonce')]).toEqual([200, nonce]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce');
    const { access_token: bearer } = await obtainTokens(portal, client, ADA);
    const plain = await callApi(asking, '/oauth/userinfo', bearer);
    expect([plain.status, plain.headers.get('dpop-nonce')]).toEqual([200, null]);
    const without = await callBound(portal, '/oauth/userinfo', key, bound);
    expect([without.status, without.headers.get('dpop-nonce')]).toEqual([200, null]);
  });

  /**
   * Frameworks whose middleware looks up a token before an endpoint, or another middleware, does.
   */
  const TWICE: readonly (readonly [string, () => Promise<string>])[] = [
    [
      'Express',
      async () => {
        const app = express();
        app.use(onExpress.bearer(portal.server), onExpress.portico(portal.server));
        app.get('/orders', onExpress.bearer(portal.server), (_, res) => {
          token().requireUsable();
          res.json({});
        });
        return listening(app.use(onExpress.bearerErrors()));
      },
    ],
    [
      'Koa',
      async () => {
        const app = new Koa();
        app
          .use(onKoa.bearer(portal.server))
          .use(onKoa.portico(portal.server))
          .use(onKoa.bearer(portal.server));
        app.use((ctx) => {
          token().requireUsable();
          ctx.body = {};
        });
        const answer = app.callback();
        return listening((incoming, outgoing) => void answer(incoming, outgoing));
      },
    ],
    [
      'Hono',
      async () => {
        const app = new Hono()
          .use(onHono.bearer(portal.server))
          .use(onHono.portico(portal.server))
          .use(onHono.bearer(portal.server))
          .get('/orders', (c) => {
            token().requireUsable();
            return c.json({});
          });
        const running = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
        if (!running.listening) await once(running, 'listening');
        onTestFinished(() => void running.close());
        return `http://127.0.0.1:${(running.address() as AddressInfo).port}`;
      },
    ],
  ];

  test.each(TWICE)(
    'on %s, one request may check its proof several times, but a second request is refused',
    async (_, run) => {
      const url = await run();
      for (const path of ['/orders', '/oauth/userinfo']) {
        const headers = boundHeaders(key, 'GET', `${portal.url}${path}`, bound);
        const answers = [
          await fetch(`${url}${path}`, { headers }),
          await fetch(`${url}${path}`, { headers }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([200, 401]);
        const keepAlive = { headers: { ...headers, Connection: 'keep-alive' } };
        expect((await fetch(`${url}${path}`, keepAlive)).status).toBe(401);
      }
    },
  );

  test('below a prefix that the framework removes, a proof must be for the URL that was sent', async () => {
    const below = express.Router();
    below.use(onExpress.bearer(portal.server)).get('/orders', (_, res) => {
      token().requireUsable();
      res.json({});
    });
    const url = await listening(express().use('/shop/v1', below).use(onExpress.bearerErrors()));
    const ask = async (htu: string, query = '?x=1') => {
      const headers = boundHeaders(key, 'GET', `${portal.url}${htu}`, bound);
      return (await fetch(`${url}/shop/v1/orders${query}`, { headers })).status;
    };
    // The query does not matter, not even one that no URL in a proof could have.
    for (const query of ['', '?', '?x=1', '?x=\\'])
      expect([query, await ask('/shop/v1/orders', query)]).toEqual([query, 200]);
    expect(await ask('/orders')).toBe(401);
  });

  /** Applications whose routers use the path as it was sent. */
  const LITERAL: readonly (readonly [string, () => RequestListener])[] = [
    [
      'Express',
      () => {
        const app = express();
        app.use(onExpress.bearer(portal.server)).get('/:shop/:page/orders', (_, res) => {
          token().requireUsable();
          res.json({});
        });
        return app.use(onExpress.bearerErrors());
      },
    ],
    [
      'a host that creates its Request objects',
      () => (incoming, outgoing) => {
        const target = incoming.url ?? '';
        const request = requestFrom(
          { incoming, outgoing, target, parsed: undefined },
          portal.server.origin,
        );
        const answer = async () => {
          token().requireUsable();
          return Response.json({});
        };
        void portal.server
          .withToken(request, answer)
          .then((response) => send(response, outgoing, false));
      },
    ],
  ];

  // @shows AS-12.13
  test.each(LITERAL)(
    'on %s, a proof for the normalized path opens no route of the path that was sent',
    async (_, app) => {
      const url = await listening(app());
      const ask = async (target: string, htu: string) => {
        const asking = get(url, {
          path: target,
          headers: boundHeaders(key, 'GET', `${portal.url}${htu}`, bound),
          agent: false,
        });
        const [answer] = (await once(asking, 'response')) as [IncomingMessage];
        answer.resume();
        return answer.statusCode;
      };
      expect(await ask('/a/b/orders', '/a/b/orders')).toBe(200);
      for (const target of ['/a/../orders', '/a/%2e%2E/orders', '/a/./orders', '/../a/orders']) {
        expect([target, await ask(target, new URL(target, url).pathname)]).toEqual([target, 401]);
        expect([target, await ask(target, target)]).toEqual([target, 401]);
      }
    },
  );

  test('a proof cannot be checked without the request', async () => {
    const url = `${portal.url}/orders`;
    const { Authorization: authorization = '' } = boundHeaders(key, 'GET', url, bound);
    const found = await portal.server.lookUpToken(authorization);
    expect('run' in found && found.run(() => token().clientId())).toBe(null);
    const headers = new Headers(boundHeaders(key, 'GET', `${portal.url}/`, bound));
    const { withToken } = portico(async () => [portal.server], 'headers alone');
    await expect(withToken(headers, () => token().requireUsable())).rejects.toThrow('DPoP proof');
  });

  // @shows RFC9449-7.1a
  test('one of many simultaneous requests with the same proof is accepted', async () => {
    const url = `${portal.url}${NOTES}`;
    const headers = boundHeaders(key, 'GET', url, bound);
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url, { headers })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(19).fill(401),
    ]);
  });
});

// @shows AS-12.13
test.each([
  { strips: false, arrives: '/auth' },
  { strips: true, arrives: '' },
])(
  'with a base path, the URL of a proof is the public one (a proxy strips it: $strips)',
  async ({ strips, arrives }) => {
    const config = { base_path: '/auth', base_path_stripped: strips, ...ON };
    const portal = await start({ config, routes: WHO });
    const key = newDpopKey();
    const client = await registerClient(portal, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
    });
    const send = async (method: string, path: string, htu: string, value: string | null) => {
      const proved =
        value === null
          ? {
              Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
              DPoP: proofFor(key, method, htu),
            }
          : boundHeaders(key, method, htu, value);
      const body =
        value === null ? { body: new URLSearchParams({ grant_type: 'client_credentials' }) } : {};
      return fetch(`${portal.url}${path}`, { method, headers: proved, ...body });
    };
    const [outside, inside] = [`${portal.url}/auth`, portal.url];
    const issued = await send('POST', `${arrives}/oauth/token`, `${outside}/oauth/token`, null);
    const { access_token: bound = '' } = (await issued.json()) as Readonly<Record<string, string>>;
    // The token belongs to no person. The status 403 shows that the server accepted it.
    const userinfo = await send(
      'GET',
      `${arrives}/oauth/userinfo`,
      `${outside}/oauth/userinfo`,
      bound,
    );
    expect(userinfo.status).toBe(403);
    // The kit's own links to this route contain the same path.
    const own = strips ? `${outside}/who` : `${inside}/who`;
    expect(`${inside}${portal.application.path('who')}`).toBe(own);
    const who = await send('GET', '/who', own, bound);
    expect(who.headers.get('www-authenticate')).toBe(null);
    expect(await who.json()).toEqual({ session: null, token: null, client: client.id });
    const elsewhere = await send('GET', '/who', strips ? `${inside}/who` : `${outside}/who`, bound);
    expect(await elsewhere.json()).toEqual({ session: null, token: null, client: null });
    const wrong = await send('GET', `${arrives}/oauth/userinfo`, `${inside}/oauth/userinfo`, bound);
    expect(wrong.headers.get('www-authenticate')).toContain('invalid_dpop_proof');
  },
);
