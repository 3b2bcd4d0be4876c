// @engines sqlite: the database makes no difference
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import createFastify from 'fastify';
import { Hono } from 'hono';
import {
  createResourceServer,
  expressGuard,
  fastifyGuard,
  honoGuard,
  tokenOf,
  type DpopOptions,
  type Refusal,
  type ResourceServer,
  type ResourceServerOptions,
  type SentRequest,
} from '@portico/resource-server';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { jktOf, newDpopKey } from './support/dpop.ts';
import { signed } from './support/assertions.ts';
import { boundHeaders, hashOf, proofFor } from './support/proofs.ts';
import { expectNothingOf, type BoundReason } from './support/told-refusals.ts';
import {
  obtainTokens,
  ADA,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';

const SCOPE = 'notes:read';
const key = newDpopKey();
const opened: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

function keep(server: Server): void {
  opened.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
}

/**
 * An API on one of the frameworks, below `/v1`. The port is chosen first, because a proof contains
 * it.
 */
const GUARDED: readonly (readonly [
  string,
  (resource: ResourceServer, port: number) => Promise<unknown>,
])[] = [
  [
    'Express',
    async (resource, port) => {
      const router = express.Router();
      router.get(
        '/notes',
        expressGuard(resource, SCOPE),
        (req, res) => void res.json(tokenOf(req)),
      );
      const server = express().use('/v1', router).listen(port, '127.0.0.1');
      keep(server);
      await once(server, 'listening');
    },
  ],
  [
    'Fastify',
    async (resource, port) => {
      const fastify = createFastify();
      const handler = (request: object) => tokenOf(request);
      await fastify.register(
        async (below) => {
          below.get('/notes', { onRequest: fastifyGuard(resource, SCOPE) }, handler);
        },
        { prefix: '/v1' },
      );
      opened.push(() => fastify.close());
      await fastify.listen({ port, host: '127.0.0.1' });
    },
  ],
  [
    'Hono',
    async (resource, port) => {
      const below = new Hono();
      below.get('/notes', honoGuard(resource, SCOPE), (context) =>
        context.json(tokenOf(context.req.raw)),
      );
      const app = new Hono().route('/v1', below);
      const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server;
      keep(server);
      if (!server.listening) await once(server, 'listening');
    },
  ],
];

describe('a remote API accepts bound tokens,', () => {
  let portal: RunningPortal;
  let client: TestClient;
  let asker: TestClient;
  let bound: string;

  beforeAll(async () => {
    portal = await startPortal({ config: { oauth_server: { dpop: 'accept' } } });
    client = await registerClient(portal, {
      redirectUris: [],
      scopes: [SCOPE],
      grants: ['client_credentials'],
    });
    asker = await registerClient(portal, {
      redirectUris: [],
      scopes: [],
      grants: ['introspection'],
    });
    bound = await issue(`${portal.url}/oauth/token`);
  });
  afterAll(() => portal.close());

  async function issue(url: string): Promise<string> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
        DPoP: proofFor(key, 'POST', url),
      },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: token = '' } = (await response.json()) as Readonly<
      Record<string, string>
    >;
    return token;
  }

  const resourceServer = (changes: Partial<ResourceServerOptions>) =>
    createResourceServer({
      issuer: portal.url,
      clientId: asker.id,
      clientSecret: asker.secret,
      audience: null,
      allowInsecureRequests: true,
      ...changes,
    });

  const judged = (response: Response) =>
    [
      response.status,
      /error="([^"]*)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1] ?? null,
    ] as const;

  describe.each(GUARDED)('on %s', (_, start) => {
    async function running(
      dpop: Partial<DpopOptions> | null,
      more: Partial<ResourceServerOptions> = {},
    ) {
      const port = await freePort();
      const publicUrl = `http://localhost:${port}`;
      const resource = resourceServer({
        ...(dpop === null ? {} : { dpop: { publicUrl, ...dpop } }),
        ...more,
      });
      await start(resource, port);
      const url = `${publicUrl}/v1/notes`;
      const ask = (headers: Readonly<Record<string, string>>, query = '') =>
        fetch(`${url}${query}`, { headers });
      return { url, publicUrl, ask };
    }

    // @shows AS-12.17
    // @shows RFC9700-2.2.1b
    test('only with a proof for this request, once, even if the introspection response is cached', async () => {
      const { url, publicUrl, ask } = await running({}, { cache: { seconds: 60, entries: 10 } });
      const headers = boundHeaders(key, 'GET', url, bound);
      const answer = await ask(headers, '?page=2');
      expect([answer.status, await answer.json()]).toEqual([
        200,
        expect.objectContaining({ clientId: client.id }),
      ]);
      expect(judged(await ask(headers))).toEqual([401, 'invalid_dpop_proof']);
      for (const [method, htu, more] of [
        ['POST', url],
        ['GET', `${publicUrl}/notes`],
        ['GET', `${url}/`],
        ['GET', url.replace('localhost', '127.0.0.1')],
        ['GET', `${portal.url}/v1/notes`],
        ['GET', url, { ath: 'x' }],
        ['GET', url, { iat: 1 }],
      ] as const)
        expect(judged(await ask(boundHeaders(key, method, htu, bound, more)))).toEqual([
          401,
          'invalid_dpop_proof',
        ]);
      expect(judged(await ask({ Authorization: `DPoP ${bound}` }))).toEqual([
        401,
        'invalid_dpop_proof',
      ]);
      expect(judged(await ask(boundHeaders(newDpopKey(), 'GET', url, bound)))).toEqual([
        401,
        'invalid_token',
      ]);
      expect((await ask(boundHeaders(key, 'GET', url, bound))).status).toBe(200);
      const twice = new Headers(boundHeaders(key, 'GET', url, bound));
      twice.append('DPoP', proofFor(key, 'GET', url, bound));
      expect((await fetch(url, { headers: twice })).status).toBe(401);
    });

    // @shows AS-12.17
    test('but not a bound token as Bearer, with DPoP on or off, nor an unbound token as DPoP', async () => {
      const { access_token: unbound } = await obtainTokens(
        portal,
        await registerClient(portal),
        ADA,
      );
      const [on, off] = [await running({}), await running(null)];
      const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
      expect(judged(await on.ask(bearer(bound)))).toEqual([401, 'invalid_token']);
      expect(
        judged(await on.ask({ ...boundHeaders(key, 'GET', on.url, bound), ...bearer(bound) })),
      ).toEqual([401, 'invalid_token']);
      expect(judged(await off.ask(bearer(bound)))).toEqual([401, 'invalid_token']);
      expect(judged(await off.ask(boundHeaders(key, 'GET', off.url, bound)))).toEqual([401, null]);
      expect((await off.ask({})).headers.get('www-authenticate')).toBe('Bearer realm="oauth"');
      expect((await on.ask(bearer(unbound))).status).toBe(200);
      expect(judged(await on.ask(boundHeaders(key, 'GET', on.url, unbound)))).toEqual([
        401,
        'invalid_token',
      ]);
      const required = await running({ required: true });
      expect(judged(await required.ask(bearer(unbound)))).toEqual([401, 'invalid_token']);
      expect((await required.ask(boundHeaders(key, 'GET', required.url, bound))).status).toBe(200);
    });

    // @shows AS-12.14
    test('with a challenge in the scheme of the request, or in both schemes', async () => {
      const { ask } = await running({});
      const algs = 'algs="RS256 PS256 ES256 EdDSA Ed25519"';
      const challenge = async (headers: Readonly<Record<string, string>>) =>
        (await ask(headers)).headers.get('www-authenticate');
      expect(await challenge({})).toBe(`Bearer realm="oauth", DPoP realm="oauth", ${algs}`);
      expect(await challenge({ Authorization: `DPoP ${bound}` })).toBe(
        `DPoP realm="oauth", error="invalid_dpop_proof", ${algs}`,
      );
      expect(await challenge({ Authorization: 'Bearer unknown' })).toBe(
        `Bearer realm="oauth", error="invalid_token", DPoP realm="oauth", ${algs}`,
      );
    });

    test('with a path that a proxy removes as part of the proof URL', async () => {
      const { url, ask } = await running({ publicUrl: 'https://api.example/shop/' });
      const own = 'https://api.example/shop/v1/notes';
      expect((await ask(boundHeaders(key, 'GET', own, bound))).status).toBe(200);
      expect((await ask(boundHeaders(key, 'GET', url, bound))).status).toBe(401);
      expect(
        (await ask(boundHeaders(key, 'GET', 'https://api.example/v1/notes', bound))).status,
      ).toBe(401);
    });
  });

  /** Sends the same request directly to a resource server. */
  const use = (resource: ResourceServer, proof: string, token = bound) => {
    const request = { method: 'GET', target: '/notes', dpop: proof };
    return resource.authorize(`DPoP ${token}`, SCOPE, request);
  };
  const publicUrl = 'https://api.example';
  const proof = (more: Readonly<Record<string, unknown>> = {}, token = bound) =>
    proofFor(key, 'GET', `${publicUrl}/notes`, token, more);
  const statusOf = (outcome: object) => (outcome instanceof Response ? outcome.status : 200);

  test('with a shared record of proofs, for all processes of the API', async () => {
    const used = new Map<string, number>();
    const claim = (hash: string, expiresAt: number) =>
      !used.has(hash) && used.set(hash, expiresAt).has(hash);
    const [one, two] = [0, 1].map(() => resourceServer({ dpop: { publicUrl, claim } }));
    const sent = proof();
    expect(statusOf(await use(one as ResourceServer, sent))).toBe(200);
    expect(statusOf(await use(two as ResourceServer, sent))).toBe(401);
    const [[hash, until] = ['', 0]] = [...used];
    expect(hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(until).toBeGreaterThan(Date.now());
    // If `claim` fails, every request is rejected.
    const away = resourceServer({
      dpop: { publicUrl, claim: () => Promise.reject(new Error('away')) },
    });
    expect(statusOf(await use(away, proof()))).toBe(503);
  });

  test.each([['OK'], [0], [[]], [{ rowCount: 0 }]])(
    'with a shared record, but not if it returns %j',
    async (given) => {
      const claim = () => given as unknown as boolean;
      expect(statusOf(await use(resourceServer({ dpop: { publicUrl, claim } }), proof()))).toBe(
        401,
      );
    },
  );

  test('and without a shared record stores at most half of its proofs for one key, then 503', async () => {
    const resource = resourceServer({ dpop: { publicUrl, remembered: 6 } });
    const sent = [proof(), proof(), proof(), proof()];
    const statuses: number[] = [];
    for (const each of [...sent, ...sent]) statuses.push(statusOf(await use(resource, each)));
    expect(statuses).toEqual([200, 200, 200, 503, 401, 401, 401, 503]);
  });

  test('and one of many simultaneous requests with the same proof', async () => {
    const resource = resourceServer({ dpop: { publicUrl } });
    const sent = proof();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => use(resource, sent)));
    expect(outcomes.filter((each) => statusOf(each) === 200)).toHaveLength(1);
  });

  test('but not if the token lacks the scope, even with a valid proof', async () => {
    const resource = resourceServer({ dpop: { publicUrl } });
    const sent = { method: 'GET', target: '/notes', dpop: proof() };
    const outcome = await resource.authorize(`DPoP ${bound}`, 'another:scope', sent);
    expect(judged(outcome as Response)).toEqual([403, 'insufficient_scope']);
    expect(await use(resource, proof())).toMatchObject({ clientId: client.id, scopes: [SCOPE] });
  });

  test('and counts a proof once, even with requireAuthentication()', async () => {
    const resource = resourceServer({ dpop: { publicUrl } });
    const recent = resource.requireAuthentication({ maxAge: 300 });
    const sent = proof();
    expect(judged((await use(recent, sent)) as Response)).toEqual([
      401,
      'insufficient_user_authentication',
    ]);
    expect(judged((await use(resource, sent)) as Response)).toEqual([401, 'invalid_dpop_proof']);
  });

  test('but no proof without the request, or with a target that parsers rewrite', async () => {
    const resource = resourceServer({ dpop: { publicUrl } });
    expect(statusOf(await resource.authorize(`DPoP ${bound}`, SCOPE))).toBe(401);
    for (const target of [
      '/x/../notes',
      '//api.example/notes',
      'https://api.example/notes',
      '\\notes',
      '*',
      '',
    ]) {
      const request = { method: 'GET', target, dpop: proof() };
      expect([target, statusOf(await resource.authorize(`DPoP ${bound}`, SCOPE, request))]).toEqual(
        [target, 401],
      );
    }
    expect(() => resourceServer({ dpop: { publicUrl: '/notes' } })).toThrow(TypeError);
    expect(() => resourceServer({ dpop: { publicUrl: 'https://api.example/?a' } })).toThrow(
      TypeError,
    );
  });

  describe('by an introspection response that contains', () => {
    test.each([
      ['nothing about a key', {}, 200, 401],
      ['the type Bearer', { token_type: 'Bearer' }, 200, 401],
      ['the type DPoP without a key', { token_type: 'DPoP' }, 401, 401],
      ['a key', { token_type: 'DPoP', cnf: { jkt: 'the thumbprint' } }, 401, 200],
      ['a key without a type', { cnf: { jkt: 'the thumbprint' } }, 401, 200],
      ['a certificate', { cnf: { 'x5t#S256': 'x' } }, 401, 401],
      ['a key and a certificate', { cnf: { jkt: 'the thumbprint', 'x5t#S256': 'x' } }, 401, 401],
      ['a key that is not a string', { cnf: { jkt: ['x'] } }, 401, 401],
      ['an empty confirmation', { cnf: {} }, 401, 401],
    ])('%s', async (_, said, asBearer, asBound) => {
      const body = JSON.stringify({ active: true, scope: SCOPE, ...said }).replace(
        'the thumbprint',
        jktOf(key),
      );
      const server = createServer((_request, response) =>
        response.setHeader('Content-Type', 'application/json').end(body),
      );
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      keep(server);
      const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const resource = resourceServer({ issuer, dpop: { publicUrl } });
      expect(statusOf(await resource.authorize('Bearer t', SCOPE))).toBe(asBearer);
      expect(statusOf(await use(resource, proof({}, 't'), 't'))).toBe(asBound);
      const off = resourceServer({ issuer });
      expect(statusOf(await off.authorize('Bearer t', SCOPE))).toBe(asBearer);
      const required = resourceServer({ issuer, dpop: { publicUrl, required: true } });
      expect(statusOf(await required.authorize('Bearer t', SCOPE))).toBe(401);
    });
  });
});

describe('a remote API that accepts bound tokens gets the reason for a rejected request:', () => {
  const TOKEN = 'a-token-that-is-bound';
  const SECRET = 'the-secret-of-the-api';
  const publicUrl = 'https://api.example';
  const url = `${publicUrl}/notes`;
  const { kid: _, ...jwk } = key.jwk;
  const now = () => Math.floor(Date.now() / 1000);

  /** A proof for this request, with the given changes. */
  const proof = (claims: object = {}, header: object = {}, by = key) =>
    signed(
      by,
      { typ: 'dpop+jwt', alg: key.algorithm, jwk, ...header },
      { htm: 'GET', htu: url, iat: now(), jti: 'once', ath: hashOf(TOKEN), ...claims },
    );

  interface Row {
    readonly title: string;
    /** The key in the authorization server's response. Default: this key. */
    readonly cnf?: object | null;
    readonly scheme?: 'Bearer';
    readonly options?: Partial<DpopOptions> | null;
    readonly sent?: Partial<SentRequest> | null;
    /** Creates the proof when the request is sent. */
    readonly dpop?: () => string;
    readonly detail?: string | null;
    readonly told?: Partial<Refusal>;
    /** How many times the same request is sent. The test checks the report of the last one. */
    readonly times?: number;
  }
  const sending = (detail: string, dpop: () => string): Row => ({ title: detail, dpop, detail });
  const INVALID_TOKEN = { error: 'invalid_token' } as const;
  const AWAY = { status: 503, error: 'temporarily_unavailable' } as const;

  const ROWS: Readonly<Record<BoundReason, readonly Row[]>> = {
    bound_as_bearer: [
      { title: 'DPoP is accepted', scheme: 'Bearer', told: INVALID_TOKEN },
      { title: 'DPoP is not accepted', scheme: 'Bearer', options: null, told: INVALID_TOKEN },
    ],
    unbound_as_dpop: [{ title: 'with a proof', cnf: null, told: INVALID_TOKEN }],
    unbound: [
      {
        title: 'bound tokens are required',
        cnf: null,
        scheme: 'Bearer',
        options: { required: true },
        told: INVALID_TOKEN,
      },
    ],
    no_request: [{ title: 'the handler passed no request', sent: null }],
    proof_missing: [{ title: 'no DPoP header', sent: { dpop: null } }],
    proof_target: ['/x/../notes', '/\\notes', 'notes', ''].map((target) => ({
      title: `for ${target}`,
      sent: { target },
    })),
    proof_repeated: [sending('there is more than one', () => `${proof()}, ${proof()}`)],
    proof_malformed: [
      sending('it has more than three parts', () => `${proof()}.x`),
      sending('its header is missing or not base64url', () => ''),
      sending('its header has crit, which is not accepted', () => proof({}, { crit: ['exp'] })),
      sending('it is too long', () => 'a'.repeat(20_000)),
    ],
    proof_type: [sending('its typ is not dpop+jwt', () => proof({}, { typ: 'JWT' }))],
    proof_algorithm: [sending('its alg is not accepted here', () => proof({}, { alg: 'none' }))],
    proof_jti: [
      sending('its jti is missing, or not a string of at most 255 characters', () =>
        proof({ jti: 7 }),
      ),
    ],
    proof_nonce: [
      sending('its nonce is missing, or not a string of at most 255 characters', () =>
        proof({ nonce: '' }),
      ),
    ],
    proof_method: [
      sending('its htm is another method', () => proof({ htm: 'POST' })),
      {
        title: 'the request was sent as POST',
        sent: { method: 'POST' },
        detail: 'its htm is another method',
      },
    ],
    proof_url: [
      sending('its htu is another URL', () => proof({ htu: `${url}/` })),
      sending('its htu is not a URL', () => proof({ htu: '/notes' })),
      sending('its htu is missing, or not a string of at most 2048 characters', () =>
        proof({ htu: undefined }),
      ),
    ],
    proof_without_time: [
      sending('its iat is missing, or not a time', () => proof({ iat: undefined })),
    ],
    proof_from_the_future: [
      sending('its iat is in the future', () => proof({ iat: now() + 3600 })),
    ],
    proof_too_old: [sending('its iat is too long ago', () => proof({ iat: now() - 3600 }))],
    proof_expired: [sending('it has expired', () => proof({ exp: now() - 3600 }))],
    proof_not_yet_valid: [sending('its nbf is in the future', () => proof({ nbf: now() + 3600 }))],
    proof_without_token: [sending('its ath is missing', () => proof({ ath: undefined }))],
    proof_for_another_token: [
      sending('its ath is that of another token', () => proof({ ath: hashOf('another') })),
    ],
    proof_key: [
      sending('its jwk is not a JSON object', () => proof({}, { jwk: undefined })),
      sending('its jwk has a private or symmetric part', () =>
        proof({}, { jwk: { ...jwk, d: 'the-private-part' } }),
      ),
      sending('its jwk has an unsupported type, or is not for signing', () =>
        proof({}, { jwk: { ...jwk, use: 'enc' } }),
      ),
    ],
    proof_signature: [sending('its jwk did not sign it', () => proof({}, {}, newDpopKey()))],
    proof_of_another_key: [
      { title: 'the token has a different key', cnf: { jkt: 'x' }, told: INVALID_TOKEN },
    ],
    proof_used: [
      { title: 'used a second time', times: 2 },
      { title: 'the application reports it as used', options: { claim: () => false } },
      {
        title: 'the application returns an invalid value',
        options: { claim: () => 'OK' as never },
      },
    ],
    proofs_too_many: [{ title: 'more than the limit', options: { remembered: 0 }, told: AWAY }],
    claim_failed: [
      {
        title: 'its store is unavailable',
        options: {
          claim: async () => {
            throw Object.assign(new Error(`${TOKEN} at the store`), { code: 'ECONNRESET' });
          },
        },
        detail: 'ECONNRESET',
        told: AWAY,
      },
      {
        title: 'it throws an error without a code',
        options: {
          claim: () => {
            throw new Error(TOKEN);
          },
        },
        told: AWAY,
      },
    ],
    fault: [
      {
        title: 'a header that is not a string',
        sent: { dpop: 7 as never },
        detail: 'TypeError',
        told: AWAY,
      },
      {
        title: 'neither a path nor a proof',
        sent: { dpop: null, target: undefined as never },
        detail: 'TypeError',
        told: AWAY,
      },
      {
        title: 'a path that cannot be read',
        sent: {
          target: {
            indexOf() {
              throw new RangeError(TOKEN);
            },
          } as never,
        },
        detail: 'RangeError',
        told: AWAY,
      },
    ],
  };

  // @shows AS-12.19
  test.each(
    Object.entries(ROWS).flatMap(([reason, rows]) => rows.map((row) => ({ reason, ...row }))),
  )(
    '$reason: $title',
    async ({
      reason,
      cnf,
      scheme = 'DPoP',
      options,
      sent,
      dpop,
      detail = null,
      told,
      times = 1,
    }) => {
      const bound = cnf === null ? {} : { cnf: cnf ?? { jkt: jktOf(key) } };
      const body = JSON.stringify({
        active: true,
        scope: SCOPE,
        client_id: 'the client',
        ...bound,
      });
      const server = createServer((_request, response) =>
        response.setHeader('Content-Type', 'application/json').end(body),
      ).listen(0, '127.0.0.1');
      await once(server, 'listening');
      keep(server);
      const heard: Refusal[] = [];
      const resource = createResourceServer({
        issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        clientId: 'api',
        clientSecret: SECRET,
        audience: null,
        allowInsecureRequests: true,
        onRefusal: (refusal) => void heard.push(refusal),
        ...(options === null ? {} : { dpop: { publicUrl, ...options } }),
      });
      const request = { method: 'GET', target: '/notes', dpop: (dpop ?? proof)(), ...sent };
      let answer: object = {};
      for (let time = 1; time <= times; time += 1)
        answer = await resource.authorize(
          `${scheme} ${TOKEN}`,
          SCOPE,
          sent === null ? undefined : request,
        );
      const refusal = {
        status: 401,
        error: 'invalid_dpop_proof',
        reason,
        detail,
        answered: null,
        ...told,
      };
      expect(heard).toEqual([
        { ...refusal, clientId: reason === 'fault' ? null : 'the client', scope: SCOPE },
      ]);
      expectNothingOf(heard, [
        TOKEN,
        SECRET,
        'the-private-part',
        `${request.dpop ?? 'a proof'}.`,
        hashOf(TOKEN),
      ]);
      for (const part of `${request.dpop}`.split('.'))
        if (part.length > 20) expectNothingOf(heard, [part]);
      expect(answer).toBeInstanceOf(Response);
      expect((answer as Response).status).toBe(refusal.status);
      expect(await (answer as Response).json()).toEqual({ error: refusal.error });
    },
  );
});
