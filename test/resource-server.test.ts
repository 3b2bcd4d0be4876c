// @engines sqlite: the database makes no difference
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Server } from 'node:http';
import path from 'node:path';
import { inspect } from 'node:util';
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
  type AuthenticationRequirement,
  type IntrospectedToken,
  type Refusal,
  type RefusalReason,
  type ResourceServer,
  type ResourceServerOptions,
} from '@portico/resource-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ADA,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { ANSWERS } from '../packages/resource-server/src/refusals.ts';
import { freePort } from './support/free-port.ts';
import { expectNothingOf, type BoundReason } from './support/told-refusals.ts';

/** An API in another process, which introspects tokens at the portal. */
let portal: RunningPortal;
let client: TestClient;
let asker: TestClient;
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
  asker = await registerClient(portal, { redirectUris: [], scopes: [], grants: ['introspection'] });
});
afterAll(() => portal.close());
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

function resourceServer(changes: Partial<ResourceServerOptions> = {}): ResourceServer {
  return createResourceServer({
    issuer: portal.url,
    clientId: asker.id,
    clientSecret: asker.secret,
    audience: null,
    allowInsecureRequests: true,
    ...changes,
  });
}

function keep(server: Server): string {
  opened.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const SCOPE = 'notes:read';
const GUARDED: readonly (readonly [string, (resource: ResourceServer) => Promise<string>])[] = [
  [
    'Express',
    async (resource) => {
      const app = express();
      app.get('/notes', expressGuard(resource, SCOPE), (req, res) => {
        res.json(tokenOf(req));
      });
      const server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return keep(server);
    },
  ],
  [
    'Fastify',
    async (resource) => {
      const fastify = createFastify();
      fastify.get('/notes', { onRequest: fastifyGuard(resource, SCOPE) }, (request, reply) =>
        reply.send(tokenOf(request)),
      );
      const url = await fastify.listen({ port: 0, host: '127.0.0.1' });
      opened.push(() => fastify.close());
      return url;
    },
  ],
  [
    'Hono',
    async (resource) => {
      const app = new Hono();
      app.get('/notes', honoGuard(resource, SCOPE), (context) =>
        context.json(tokenOf(context.req.raw)),
      );
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
      if (!server.listening) await once(server, 'listening');
      return keep(server);
    },
  ],
];

describe.each(GUARDED)('a remote resource server, on %s', (_, start) => {
  const ask = (url: string, token: string | null) =>
    fetch(`${url}/notes`, token === null ? {} : { headers: { Authorization: `Bearer ${token}` } });

  test('accepts a valid token, and identifies its owner by the public subject', async () => {
    const url = await start(resourceServer());
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    const response = await ask(url, token);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      clientId: client.id,
      subject: expect.stringMatching(/^[0-9a-f]{32}$/),
      scopes: expect.arrayContaining([SCOPE]),
    });
  });

  // RFC 9110 section 5.3
  test('refuses two Authorization headers', async () => {
    const url = await start(resourceServer());
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    const statusOf = async (...authorization: readonly string[]) => {
      const asking = get(`${url}/notes`, {
        headers: { Authorization: [...authorization] },
        agent: false,
      });
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    const usable = `Bearer ${token}`;
    expect(await statusOf(usable)).toBe(200);
    for (const pair of [
      [usable, 'Bearer x'],
      ['Bearer x', usable],
      [usable, usable],
    ] as const)
      expect(await statusOf(...pair)).toBe(401);
  });

  // @shows RFC9700-2.3d
  test('answers 401 without a valid token, and 403 if the token lacks the scope', async () => {
    const url = await start(resourceServer());
    const bare = await ask(url, null);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="oauth"',
    ]);
    const garbage = await ask(url, 'garbage');
    expect([garbage.status, await garbage.json()]).toEqual([401, { error: 'invalid_token' }]);
    const narrow = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    expect((await ask(url, narrow.access_token)).status).toBe(403);
  });

  // @shows RFC6750-3.1b
  test('answers invalid_token for a malformed token', async () => {
    const url = await start(resourceServer());
    for (const Authorization of ['Bearer', 'Bearer a b', 'Bearer a, Bearer b']) {
      const { status, headers } = await fetch(`${url}/notes`, { headers: { Authorization } });
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="oauth", error="invalid_token"',
      ]);
    }
  });

  // @shows AS-12.11, RFC9728-5.1
  test('with custom metadata sends its URL and the required scope in each refusal', async () => {
    const resourceMetadata = 'https://api.example/.well-known/oauth-protected-resource/notes';
    const url = await start(resourceServer({ resourceMetadata }));
    const narrow = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    for (const [token, status, error] of [
      [null, 401, ''],
      ['garbage', 401, 'error="invalid_token", '],
      [narrow.access_token, 403, 'error="insufficient_scope", '],
    ] as const) {
      const { status: answered, headers } = await ask(url, token);
      expect([answered, headers.get('www-authenticate')]).toEqual([
        status,
        `Bearer realm="oauth", ${error}scope="notes:read", resource_metadata="${resourceMetadata}"`,
      ]);
      expect(headers.get('access-control-expose-headers')).toBe('WWW-Authenticate');
    }
  });

  test('allows pages of other origins to read a challenge only if it contains metadata', async () => {
    const exposed = async (changes: Partial<ResourceServerOptions>) => {
      const answer = await resourceServer(changes).authorize(null, SCOPE);
      return (answer as Response).headers.get('access-control-expose-headers');
    };
    const resourceMetadata = 'https://api.example/.well-known/oauth-protected-resource';
    expect(await exposed({})).toBe(null);
    expect(await exposed({ resourceMetadata })).toBe('WWW-Authenticate');
    expect(await exposed({ dpop: { publicUrl: 'https://api.example' } })).toBe('WWW-Authenticate');
  });

  test('gives a handler without a guard an error instead of a token', () => {
    expect(() => tokenOf(new Request('https://api.example/'))).toThrow('has no guard');
  });

  test('refuses metadata without a URL at startup, and escapes quotes in the challenge', async () => {
    for (const resourceMetadata of ['/metadata', 'localhost:3000/metadata'])
      expect(() => resourceServer({ resourceMetadata })).toThrow(
        new TypeError('resourceMetadata: must be a URL, such as https://api.example.com'),
      );
    const url = await start(
      resourceServer({ resourceMetadata: 'https://api.example/?a="b\\c\r\n' }),
    );
    const challenge = (await ask(url, null)).headers.get('www-authenticate') ?? '';
    expect(challenge).toBe(
      String.raw`Bearer realm="oauth", scope="notes:read", resource_metadata="https://api.example/?a=%22b\\c"`,
    );
  });

  test('applies a lost permission, a suspension and a revocation on the next call', async () => {
    const url = await start(resourceServer());
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    expect((await ask(url, token)).status).toBe(200);
    await portal.deny(ADA, SCOPE);
    expect((await ask(url, token)).status).toBe(403);
    await portal.grant(ADA, SCOPE);
    await portal.suspend(ADA);
    expect((await ask(url, token)).status).toBe(401);
    await portal.restore(ADA);
    expect((await ask(url, token)).status).toBe(200);
  });

  test('refuses an http issuer at startup, unless that is allowed', () => {
    const issuer = 'http://localhost:8080';
    expect(() => resourceServer({ issuer, allowInsecureRequests: false })).toThrow(
      'issuer: must be an https URL, not http://localhost:8080. To use http in development, set allowInsecureRequests',
    );
    expect(() =>
      resourceServer({ issuer: 'HTTPS://app.example', allowInsecureRequests: false }),
    ).not.toThrow();
  });

  test('refuses an issuer with user information at startup, and does not repeat its password', () => {
    const says =
      'issuer: must not contain a user name or password; set clientId and clientSecret instead';
    for (const [issuer, message] of [
      ['https://me:hunter2@app.example', says],
      ['http://me:hunter2@app.example/x', says],
      ['https://hunter2@app.example', says],
      ['https://:hunter2@app.example', says],
      ['https://me:hunter2@app exam.ple', 'issuer: must be a URL, such as https://app.example.com'],
      [
        'me:hunter2',
        'issuer: must be an https URL. To use http in development, set allowInsecureRequests',
      ],
      [
        'me:hunter2@app.example',
        'issuer: must be an https URL. To use http in development, set allowInsecureRequests',
      ],
    ] as const)
      for (const allowInsecureRequests of [true, false]) {
        let thrown: unknown;
        try {
          resourceServer({ issuer, allowInsecureRequests });
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toEqual(new TypeError(message));
        expect(inspect(thrown, { depth: null, showHidden: true })).not.toContain('hunter2');
      }
    expect(() => resourceServer({ issuer: 'https://app.example/@me' })).not.toThrow();
  });

  // @shows AS-12.19
  test('reports each refusal once, before the response', async () => {
    const told: Refusal[] = [];
    const url = await start(resourceServer({ onRefusal: (refusal) => void told.push(refusal) }));
    const narrow = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    expect((await ask(url, token)).status).toBe(200);
    expect(told).toEqual([]);
    const unknown = { detail: null, answered: null, clientId: null, scope: SCOPE };
    for (const [sent, refusal] of [
      [null, { ...unknown, status: 401, error: null, reason: 'no_token' }],
      ['garbage', { ...unknown, status: 401, error: 'invalid_token', reason: 'token_not_active' }],
      [
        narrow.access_token,
        {
          ...unknown,
          status: 403,
          error: 'insufficient_scope',
          reason: 'scope_missing',
          clientId: client.id,
        },
      ],
    ] as const) {
      expect((await ask(url, sent)).status).toBe(refusal.status);
      expect(told.splice(0)).toEqual([refusal]);
    }
  });

  // @shows RFC9700-2.3c
  test('refuses a token for a different target, and answers 503 if the issuer is unavailable', async () => {
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    const elsewhere = await start(resourceServer({ audience: 'https://api.example/' }));
    expect((await ask(elsewhere, token)).status).toBe(401);
    const away = await start(resourceServer({ issuer: 'http://127.0.0.1:1' }));
    const response = await ask(away, token);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  });
});

test('a guard passes an error to Express, because Express 4 ignores a rejected promise', async () => {
  const error = new Error('a response was sent while the guard was waiting');
  const response = {
    status: () => response,
    set() {
      throw error;
    },
    send: () => response,
  };
  const next = vi.fn<(error?: unknown) => void>();
  await expressGuard(resourceServer(), SCOPE)({ headers: {} }, response, next);
  expect(next.mock.calls).toEqual([[error]]);
});

describe('requireAuthentication()', () => {
  let told: Tokens;
  let knowing: RunningPortal;
  let options: Partial<ResourceServerOptions>;

  beforeAll(async () => {
    knowing = await startPortal({ config: { oauth_server: { reauthentication: true } } });
    const registration = { redirectUris: [], scopes: [], grants: ['introspection'] };
    const { id, secret } = await registerClient(knowing, registration);
    options = { issuer: knowing.url, clientId: id, clientSecret: secret };
    told = await obtainTokens(knowing, await registerClient(knowing), ADA);
  });
  afterAll(() => knowing.close());
  afterEach(() => vi.useRealTimers());

  const challengeOf = async (resource: ResourceServer, token = told.access_token) => {
    const answer = await resource.authorize(`Bearer ${token}`, SCOPE);
    return answer instanceof Response
      ? [answer.status, answer.headers.get('www-authenticate')]
      : 'accepted';
  };
  const AGAIN =
    'Bearer realm="oauth", error="insufficient_user_authentication", ' +
    'error_description="The person must authenticate again, or in another way."';

  // @shows AS-44.14, RFC9470-3a, RFC9470-6.2
  test('accepts a recent authentication, and later sends a challenge, also with a cached response', async () => {
    for (const cache of [
      { seconds: 0, entries: 0 },
      { seconds: 3600, entries: 2 },
    ]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
      const plain = resourceServer({ ...options, cache });
      const recent = plain.requireAuthentication({ maxAge: 300 });
      expect(await challengeOf(recent)).toBe('accepted');
      vi.setSystemTime(Date.now() + 302_000);
      expect(await challengeOf(recent)).toEqual([401, `${AGAIN}, max_age="300"`]);
      expect(await challengeOf(plain)).toBe('accepted');
      vi.useRealTimers();
    }
  });

  // @shows AS-44.14, RFC9470-3a
  test('sends the accepted authentication levels, and where to get a token', async () => {
    const resourceMetadata = 'https://api.example/.well-known/oauth-protected-resource';
    const strong = resourceServer({ ...options, resourceMetadata }).requireAuthentication({
      acr: ['gold', 'silver'],
    });
    expect(await challengeOf(strong)).toEqual([
      401,
      `${AGAIN}, acr_values="gold silver", scope="notes:read", resource_metadata="${resourceMetadata}"`,
    ]);
  });

  // @shows AS-44.14
  test('checks the scope first, and refuses a token without authentication data', async () => {
    const recent = resourceServer(options).requireAuthentication({ maxAge: 300 });
    const answer = await recent.authorize(`Bearer ${told.access_token}`, 'another:scope');
    expect(answer).toMatchObject({ status: 403 });
    const before = await obtainTokens(portal, client, ADA);
    const silent = resourceServer().requireAuthentication({ maxAge: 300 });
    expect(await challengeOf(silent, before.access_token)).toEqual([
      401,
      `${AGAIN}, max_age="300"`,
    ]);
  });

  test('requests a new authentication only if that was the reason for the refusal', async () => {
    const recent = resourceServer(options).requireAuthentication({ maxAge: 300 });
    expect(await challengeOf(recent, 'unknown')).toEqual([
      401,
      'Bearer realm="oauth", error="invalid_token"',
    ]);
  });

  // @shows AS-44.14
  test('works with a guard', async () => {
    const [, start] = GUARDED[0] ?? [];
    const strong = resourceServer(options).requireAuthentication({ acr: 'gold' });
    const url = (await start?.(strong)) ?? '';
    const headers = { Authorization: `Bearer ${told.access_token}` };
    const answer = await fetch(`${url}/notes`, { headers });
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { error: 'insufficient_user_authentication' },
    ]);
  });

  test.each([{}, { acr: [] }, { maxAge: 0 }, { maxAge: 1.5 }, { acr: 'a b' }, { acr: '' }])(
    'with %j throws an error',
    (requirement) => {
      expect(() => resourceServer().requireAuthentication(requirement)).toThrow(
        'requireAuthentication() needs',
      );
    },
  );
});

describe('the introspection cache', () => {
  afterEach(() => vi.useRealTimers());

  // @shows RFC9700-4.9.3
  test('stores responses under the hash of a token, and no token', async () => {
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    const cached = resourceServer({ cache: { seconds: 60, entries: 2 } });
    const keys: unknown[] = [];
    const maps: object = Map.prototype;
    const before = Object.getOwnPropertyDescriptor(maps, 'set') ?? {};
    const value = new Proxy(before.value as () => void, {
      apply(set, map, args: unknown[]) {
        keys.push(args[0]);
        return Reflect.apply(set, map, args);
      },
    });
    Object.defineProperty(maps, 'set', { ...before, value });
    try {
      for (let use = 0; use < 2; use += 1)
        expect(await cached.authorize(`Bearer ${token}`, SCOPE)).not.toBeInstanceOf(Response);
    } finally {
      Object.defineProperty(maps, 'set', before);
    }
    expect(keys).toContain(createHash('sha256').update(token).digest('base64'));
    expect(keys).not.toContain(token);
  });

  // @shows AS-11.3
  test('is off by default, and limited in time and size', async () => {
    const asked: string[] = [];
    const counting = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        asked.push(new URLSearchParams(body).get('token') ?? '');
        response
          .setHeader('Content-Type', 'application/json')
          .end('{"active":true,"scope":"notes:read"}');
      });
    });
    counting.listen(0, '127.0.0.1');
    await once(counting, 'listening');
    const issuer = keep(counting);
    const use = async (resource: ResourceServer, ...tokens: readonly string[]) => {
      asked.length = 0;
      for (const token of tokens) await resource.authorize(`Bearer ${token}`, SCOPE);
      return [...asked];
    };
    expect(await use(resourceServer({ issuer }), 'a', 'a')).toEqual(['a', 'a']);
    const cached = resourceServer({ issuer, cache: { seconds: 60, entries: 2 } });
    expect(await use(cached, 'a', 'a', 'b', 'a', 'c', 'b', 'a')).toEqual(['a', 'b', 'c', 'a']);
    const brief = resourceServer({ issuer, cache: { seconds: 0.001, entries: 2 } });
    expect(await use(brief, 'a')).toEqual(['a']);
    const passed = performance.now() + 2;
    while (performance.now() < passed);
    // If the clock is set back, the time in the cache does not become longer.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    expect(await use(brief, 'a')).toEqual(['a']);
  });
});

describe('a cached introspection response is used,', () => {
  const START = Date.parse('2030-01-01T00:00:00Z');
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'], now: START }));
  afterEach(() => void vi.useRealTimers());

  /** An authorization server that sends these responses in order, and then repeats the last one. */
  async function answering(...answers: readonly (object | number | Promise<object>)[]) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      const end = async () => {
        const answer = await answers[Math.min(asked.length, answers.length - 1)];
        asked.push(new URLSearchParams(body).get('token') ?? '');
        response.writeHead(typeof answer === 'number' ? answer : 200, {
          'Content-Type': 'application/json',
        });
        response.end(JSON.stringify(answer));
      };
      request.on('end', () => void end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { issuer: keep(server), asked };
  }
  const usable = (members: object = {}) => ({
    active: true,
    scope: SCOPE,
    client_id: 'app',
    ...members,
  });
  const NONE = { active: false };
  const use = async (resource: ResourceServer, token = 't', scope = SCOPE) => {
    const answer = await resource.authorize(`Bearer ${token}`, scope);
    return answer instanceof Response ? answer.status : 200;
  };
  const CACHE = { seconds: 60, entries: 10 };

  // @shows AS-12.20
  test.each([
    ['a usable token', usable(), 200],
    ['a token that is not active', NONE, 401],
    ['a token for a different target', usable({ aud: 'https://other.example/' }), 401],
    ['a token with an unknown kind of binding', usable({ cnf: { 'x5t#S256': 'x' } }), 401],
  ])('for %s: for the configured seconds, and no longer', async (_, answer, status) => {
    const { issuer, asked } = await answering(answer);
    const resource = resourceServer({ issuer, cache: CACHE });
    for (const [milliseconds, times] of [
      [0, 1],
      [0, 1],
      [59_999, 1],
      [1, 2],
      [59_999, 2],
      [1, 3],
    ] as const) {
      vi.advanceTimersByTime(milliseconds);
      expect([await use(resource), asked.length]).toEqual([status, times]);
    }
  });

  // @shows AS-12.20
  test('never after the exp of its token: then the server is asked again', async () => {
    const exp = START / 1000 + 10;
    const { issuer, asked } = await answering(usable({ exp }), NONE);
    const resource = resourceServer({ issuer, cache: { seconds: 3600, entries: 10 } });
    expect([await use(resource), asked.length]).toEqual([200, 1]);
    vi.advanceTimersByTime(9999);
    expect([await use(resource), asked.length]).toEqual([200, 1]);
    vi.advanceTimersByTime(1);
    // The new response replaces the old one.
    for (let times = 0; times < 2; times += 1)
      expect([await use(resource), asked.length]).toEqual([401, 2]);
  });

  // @shows AS-12.20
  test('no longer after the machine slept for the configured seconds', async () => {
    const { issuer, asked } = await answering(usable(), NONE);
    const resource = resourceServer({ issuer, cache: CACHE });
    expect([await use(resource), asked.length]).toEqual([200, 1]);
    // While a machine sleeps, only the system clock goes on.
    vi.setSystemTime(START + 60_000);
    expect([await use(resource), asked.length]).toEqual([401, 2]);
  });

  // @shows AS-12.20
  test('no longer if the clock that is compared with exp is set back', async () => {
    const { issuer, asked } = await answering(usable({ exp: START / 1000 + 10 }), NONE);
    const resource = resourceServer({ issuer, cache: CACHE });
    expect(await use(resource)).toBe(200);
    vi.setSystemTime(START - 3_600_000);
    vi.advanceTimersByTime(60_000);
    expect([await use(resource), asked.length]).toEqual([401, 2]);
  });

  // @shows AS-12.20
  test('for the configured seconds from its request, even if the response was slow', async () => {
    const slow = Promise.withResolvers<object>();
    const { issuer, asked } = await answering(slow.promise, NONE);
    const resource = resourceServer({ issuer, cache: CACHE });
    const first = use(resource);
    vi.advanceTimersByTime(4000);
    slow.resolve(usable());
    expect(await first).toBe(200);
    vi.advanceTimersByTime(55_999);
    expect([await use(resource), asked.length]).toEqual([200, 1]);
    vi.advanceTimersByTime(1);
    expect([await use(resource), asked.length]).toEqual([401, 2]);
  });

  // @shows AS-12.20
  test('unless a later request got its response first', async () => {
    const isAsked = Promise.withResolvers<null>();
    const overtaken = Promise.withResolvers<object>();
    let times = 0;
    const respond = async (response: ServerResponse) => {
      times += 1;
      const isFirst = times === 1;
      if (isFirst) isAsked.resolve(null);
      const body = JSON.stringify(isFirst ? await overtaken.promise : NONE);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
    };
    const server = createServer((_, response) => void respond(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const resource = resourceServer({ issuer: keep(server), cache: CACHE });
    const first = use(resource);
    await isAsked.promise;
    vi.advanceTimersByTime(1);
    expect(await use(resource)).toBe(401);
    overtaken.resolve(usable());
    expect(await first).toBe(200);
    expect([await use(resource), times]).toEqual([401, 2]);
  });

  // @shows AS-12.20
  test('per scope: a missing scope in the response is also missing in the cache', async () => {
    const { issuer, asked } = await answering(usable());
    const resource = resourceServer({ issuer, cache: CACHE });
    expect(await use(resource, 't', SCOPE)).toBe(200);
    expect(await use(resource, 't', 'notes:write')).toBe(403);
    expect(asked).toEqual(['t']);
  });

  test('only if there was a response: after a failure, the next call sends a new request', async () => {
    const { issuer, asked } = await answering(500, { nothing: true }, usable());
    const resource = resourceServer({ issuer, cache: CACHE });
    expect([await use(resource), await use(resource), await use(resource)]).toEqual([
      503, 503, 200,
    ]);
    expect([await use(resource), asked.length]).toEqual([200, 3]);
  });

  // @shows AS-12.20
  test('while there is space: the response to the oldest request is removed first', async () => {
    const exp = START / 1000 + 10;
    const { issuer, asked } = await answering(usable({ exp }), usable(), usable());
    const resource = resourceServer({ issuer, cache: { seconds: 60, entries: 2 } });
    await use(resource, 'a');
    await use(resource, 'b');
    vi.advanceTimersByTime(10_000);
    // The resource server introspects this token again, and also the newest one.
    await use(resource, 'a');
    await use(resource, 'c');
    await use(resource, 'a');
    await use(resource, 'b');
    expect(asked).toEqual(['a', 'b', 'a', 'c', 'b']);
  });

  // @shows AS-12.20
  test('even if many invalid tokens are sent', async () => {
    const { issuer, asked } = await answering(usable(), NONE, NONE, NONE, usable());
    const resource = resourceServer({ issuer, cache: { seconds: 60, entries: 2 } });
    expect(await use(resource, 'valid')).toBe(200);
    for (const junk of ['x', 'y', 'z', 'z']) expect(await use(resource, junk)).toBe(401);
    expect(await use(resource, 'valid')).toBe(200);
    expect(asked).toEqual(['valid', 'x', 'y', 'z']);
    // The newest answer counts, whichever kind it is.
    expect(await use(resource, 'x')).toBe(200);
    expect(await use(resource, 'x')).toBe(200);
    expect(asked).toEqual(['valid', 'x', 'y', 'z', 'x']);
  });

  // @shows AS-12.20
  test.each([0, Number.NaN])('never if the cache has %j entries', async (entries) => {
    const { issuer, asked } = await answering(usable());
    const resource = resourceServer({ issuer, cache: { seconds: 60, entries } });
    await use(resource, 'a');
    await use(resource, 'a');
    expect(asked).toEqual(['a', 'a']);
  });

  test('never without a cache: each call sends a request', async () => {
    const { issuer, asked } = await answering(usable(), NONE);
    const resource = resourceServer({ issuer, cache: { seconds: 0, entries: 10 } });
    expect([await use(resource), await use(resource), asked.length]).toEqual([200, 401, 2]);
  });
});

describe('the introspection response of the authorization server', () => {
  async function says(answer: object): Promise<string> {
    const server = createServer((_, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer)),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return keep(server);
  }
  const statusFor = async (answer: object, changes: Partial<ResourceServerOptions> = {}) => {
    const resource = resourceServer({ issuer: await says(answer), ...changes });
    const outcome = await resource.authorize('Bearer t', SCOPE);
    return outcome instanceof Response ? outcome.status : 200;
  };
  const usable = { active: true, scope: `openid ${SCOPE} email` };
  const API = 'https://api.example/';

  // @shows RFC9700-2.3c
  test.each<[string, string | null, unknown, number]>([
    ['has no target, and none is configured', null, undefined, 200],
    ['has a target, and none is configured', null, API, 401],
    ['has a list of targets, and none is configured', null, [API], 401],
    ['has an empty list of targets, and none is configured', null, [], 200],
    ['has the configured target', API, API, 200],
    ['has a list with the configured target', API, ['https://x.example/', API], 200],
    ['has a list without the configured target', API, ['https://x.example/'], 401],
    ['has an empty list of targets', API, [], 401],
    ['has no target', API, undefined, 401],
    ['has only the start of the configured target', API, 'https://api.example', 401],
    ['has more than the configured target', API, `${API}more`, 401],
  ])('%s', async (_, audience, aud, status) => {
    expect(await statusFor({ ...usable, aud }, { audience })).toBe(status);
  });

  test.each([
    ['notes:read', 200],
    ['notes:rea', 403],
    ['notes:reader', 403],
    ['notes:read:all notes', 403],
    ['', 403],
    [undefined, 403],
  ])('with the scope %j', async (scope, status) => {
    expect(await statusFor({ active: true, scope })).toBe(status);
  });

  test.each([
    [undefined, undefined, 200],
    [undefined, 'Bearer', 200],
    [undefined, 'DPoP', 401],
    [undefined, 'dpop', 401],
    [{}, undefined, 401],
    [{ jkt: 7 }, undefined, 401],
    [{ jkt: 'a' }, undefined, 401],
    [{ 'x5t#S256': 'a' }, undefined, 401],
    [{ jkt: 'a', 'x5t#S256': 'a' }, undefined, 401],
  ])('for a token bound to %j, of the type %s', async (cnf, type, status) => {
    expect(await statusFor({ ...usable, cnf, token_type: type })).toBe(status);
  });

  // @shows AS-12.20
  test.each([
    ['that expired long ago', { exp: -1_000_000_000 }, 401],
    ['that expired more than a minute ago', { exp: -61 }, 401],
    ['that expired less than a minute ago', { exp: -50 }, 200],
    ['that expires later', { exp: 300 }, 200],
    ['that is valid in more than a minute', { nbf: 90 }, 401],
    ['that is valid in less than a minute', { nbf: 50 }, 200],
    ['that is already valid', { nbf: -300, exp: 300 }, 200],
  ])('for a token %s', async (_, times, status) => {
    const now = Math.floor(Date.now() / 1000);
    const members = Object.entries(times).map(([name, time]) => [name, now + time]);
    const refusals: Refusal[] = [];
    const onRefusal = (refusal: Refusal) => void refusals.push(refusal);
    expect(await statusFor({ ...usable, ...Object.fromEntries(members) }, { onRefusal })).toBe(
      status,
    );
    expect(refusals.map(({ reason }) => reason)).toEqual(
      status === 401 ? ['token_not_active'] : [],
    );
  });

  // @shows AS-12.20
  test('for a token whose nbf is null, as some servers write a missing member', async () => {
    expect(await statusFor({ ...usable, nbf: null })).toBe(200);
  });

  // @shows AS-12.19
  test('never puts the client secret into a log, in any form in which it was sent', async () => {
    const clientSecret = 'a b/c+d%é-_.~';
    const basic = btoa(`an-app:${encodeURIComponent(clientSecret)}`);
    const told: unknown[] = [];
    for (const repeat of [
      () => encodeURIComponent(clientSecret),
      () => basic,
      (sent: string) => sent,
      (sent: string) => atob(sent),
      (sent: string) => atob(sent).split(':')[1],
      () => 'a-name',
    ]) {
      const server = createServer(({ headers }, response) => {
        const said = repeat((headers.authorization ?? '').replace('Basic ', ''));
        const answer = { active: true, scope: '', client_id: `<${said}>` };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const onRefusal = ({ clientId }: Refusal) => void told.push(clientId);
      await resourceServer({
        issuer: keep(server),
        clientId: 'an-app',
        clientSecret,
        onRefusal,
      }).authorize('Bearer of-a-person', SCOPE);
    }
    expect(told).toEqual([null, null, null, null, null, '<a-name>']);
  });

  test('provides the owner of the token, and its lifetime', async () => {
    const told = { client_id: 'app', sub: 'ada', exp: 1_900_000_000, scope: ' a  notes:read ' };
    const issuer = await says({ active: true, ...told });
    expect(await resourceServer({ issuer }).authorize('Bearer t', SCOPE)).toEqual({
      clientId: 'app',
      subject: 'ada',
      expiresAt: 1_900_000_000_000,
      scopes: ['a', SCOPE],
    });
    const less = await says({ active: true, scope: SCOPE });
    expect(await resourceServer({ issuer: less }).authorize('Bearer t', SCOPE)).toEqual({
      clientId: '',
      subject: null,
      expiresAt: null,
      scopes: [SCOPE],
    });
  });

  test.each([
    ['a level and a time', { acr: 'gold', auth_time: 9 }, { acr: 'gold', authenticatedAt: 9000 }],
    ['the first second of 1970', { auth_time: 0 }, { authenticatedAt: 0 }],
    ['a time before 1970', { auth_time: -1 }, {}],
    ['a level that is not a string', { acr: 7 }, {}],
  ])('provides how the person authenticated: %s', async (_, told, expected) => {
    const issuer = await says({ ...usable, ...told });
    const { acr, authenticatedAt } = (await resourceServer({ issuer }).authorize(
      'Bearer t',
      SCOPE,
    )) as IntrospectedToken;
    expect({ acr, authenticatedAt }).toEqual({
      acr: undefined,
      authenticatedAt: undefined,
      ...expected,
    });
  });

  test('with a required authentication level admits the token', async () => {
    const issuer = await says({ ...usable, acr: 'silver', auth_time: 9 });
    const strong = resourceServer({ issuer }).requireAuthentication({ acr: ['gold', 'silver'] });
    expect(await strong.authorize('Bearer t', SCOPE)).toMatchObject({ acr: 'silver' });
  });

  test.each(['', '/', '/base', '/base/'])(
    'is requested at the correct URL for an issuer that ends in %j',
    async (end) => {
      const asked: string[] = [];
      const server = createServer(({ url, method, headers }, response) => {
        asked.push(`${method} ${url} ${headers.authorization}`);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"active":false}');
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const resource = resourceServer({
        issuer: `${keep(server)}${end}`,
        clientId: 'a b',
        clientSecret: 'c:d',
      });
      await resource.authorize('Bearer t', SCOPE);
      const credentials = Buffer.from('a+b:c%3Ad').toString('base64');
      const below = end.startsWith('/base') ? '/base' : '';
      expect(asked).toEqual([`POST ${below}/oauth/introspect Basic ${credentials}`]);
    },
  );
});

describe('a remote API gets an event for a rejected request, which', () => {
  afterEach(() => vi.restoreAllMocks());

  /** An authorization server that sends this response. */
  async function authorizationServer(answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return keep(server);
  }
  const says =
    (body: string, status = 200, headers: Readonly<Record<string, string>> = {}): RequestListener =>
    (_, response) =>
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
  const active = (members: object) =>
    says(JSON.stringify({ active: true, scope: SCOPE, ...members }));

  /** The clock for the timeout of a request. Only the test moves it. */
  function clock(): () => void {
    const controller = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      expect(milliseconds).toBe(5000);
      return controller.signal;
    });
    return () => controller.abort(new DOMException('too late', 'TimeoutError'));
  }

  interface Row {
    readonly title: string;
    /** Default: `Bearer` and an unknown token. */
    readonly authorization?: string | null;
    readonly options?: () => Promise<Partial<ResourceServerOptions>>;
    /** The required authentication of the person. Default: no requirement. */
    readonly requires?: AuthenticationRequirement;
    /**
     * The reported values besides the reason. Default: those of a request with an unusable token.
     */
    readonly told?: Partial<Refusal>;
  }

  const issued = async (): Promise<string> =>
    (await obtainTokens(portal, client, ADA)).access_token;
  const answering = (answer: RequestListener) => async () => ({
    issuer: await authorizationServer(answer),
  });
  const INSUFFICIENT = 'the person authenticated too long ago, or with a different acr';
  /** Seconds since 1970, in the year 2100. */
  const LATE = 4_102_444_800;
  const AWAY = { status: 503, error: 'temporarily_unavailable' } as const;
  const UNKNOWN = 'a-token-that-nobody-knows';

  /** For each reason that needs no bound token, all the ways to cause it. */
  const ROWS: Readonly<Record<Exclude<RefusalReason, BoundReason>, readonly Row[]>> = {
    no_token: ['', ' ', null].map((authorization) => ({
      title: `${authorization}`,
      authorization,
      told: { error: null },
    })),
    other_scheme: ['Basic YTpi', 'Bearers abc', 'abc', 'Basic YTpi, Bearer abc'].map(
      (authorization) => ({
        title: authorization,
        authorization,
        told: { error: null },
      }),
    ),
    malformed_token: ['Bearer', 'Bearer a b', 'Bearer a, Bearer b', 'Bearer \u00fc'].map(
      (authorization) => ({ title: authorization, authorization }),
    ),
    dpop_not_taken: ['DPoP abc', 'DPoP'].map((authorization) => ({
      title: authorization,
      authorization,
      told: { error: null },
    })),
    token_not_active: [{ title: 'it was never issued' }],
    other_audience: [
      {
        title: 'it has no target',
        options: async () => ({ audience: 'https://api.example/' }),
        get authorization() {
          return `Bearer ${shared}`;
        },
        get told() {
          return { clientId: client.id };
        },
      },
      {
        title: 'it has a different target',
        options: async () => ({
          ...(await answering(active({ aud: ['https://b.example/'], client_id: 'a' }))()),
          audience: 'https://a.example/',
        }),
        told: { clientId: 'a' },
      },
      {
        title: 'it has a target, and none is configured',
        options: answering(active({ aud: 'https://b.example/' })),
      },
    ],
    unknown_binding: [
      { title: 'bound to a certificate', cnf: { 'x5t#S256': 'x' } },
      { title: 'bound to a key that is not reported', token_type: 'DPoP' },
    ].map(({ title, ...members }) => ({
      title,
      options: answering(active({ client_id: 'a', ...members })),
      told: { clientId: 'a' },
    })),
    authentication_insufficient: [
      {
        title: 'no authentication is reported',
        auth_time: undefined,
        detail: 'no authentication is reported',
      },
      {
        title: 'the time is not a number',
        auth_time: '1',
        detail: 'no authentication is reported',
      },
      { title: 'the time is too long ago', auth_time: 1, acr: 'gold', detail: INSUFFICIENT },
      { title: 'the acr is different', auth_time: LATE, acr: 'bronze', detail: INSUFFICIENT },
      { title: 'the acr is missing', auth_time: LATE, acr: undefined, detail: INSUFFICIENT },
    ].map(({ title, detail, ...members }) => ({
      title,
      requires: { maxAge: 300, acr: ['gold', 'silver'] },
      options: answering(active({ client_id: 'a', ...members })),
      told: { error: 'insufficient_user_authentication', clientId: 'a', detail },
    })),
    scope_missing: [
      {
        title: 'the client is known',
        options: answering(
          active({ scope: 'notes:write', client_id: 'https://app.example/client' }),
        ),
        told: { status: 403, error: 'insufficient_scope', clientId: 'https://app.example/client' },
      },
      {
        title: 'the client is not reported',
        options: answering(active({ scope: '' })),
        told: { status: 403, error: 'insufficient_scope' },
      },
    ],
    introspection_timed_out: [
      { title: 'before the response', begins: false },
      { title: 'during the response', begins: true },
    ].map(({ title, begins }) => ({
      title,
      options: async () => {
        const passes = clock();
        return answering((_, response) => {
          if (begins) response.write('{"active"', passes);
          else passes();
        })();
      },
      told: AWAY,
    })),
    introspection_unreachable: [
      {
        title: 'nothing listens on the port',
        options: async () => ({ issuer: `http://127.0.0.1:${await freePort()}` }),
        told: { ...AWAY, detail: 'ECONNREFUSED' },
      },
      {
        title: 'the connection is closed',
        options: answering((request) => request.socket.destroy()),
        told: { ...AWAY, detail: 'UND_ERR_SOCKET' },
      },
      {
        title: 'the connection is closed during the response',
        options: answering((request, response) =>
          response.write('{"active"', () => request.socket.destroy()),
        ),
        told: { ...AWAY, detail: 'UND_ERR_SOCKET' },
      },
    ],
    introspection_refused: [
      {
        title: 'the secret of the API is wrong',
        options: async () => ({ clientSecret: 'another' }),
        told: { ...AWAY, answered: 401 },
      },
      ...[400, 302, 403, 404, 429, 500, 503, 201].map((status) => ({
        title: `it answers ${status}`,
        options: answering(
          says('{"active":true,"scope":"notes:read"}', status, { Location: '/elsewhere' }),
        ),
        told: { ...AWAY, answered: status },
      })),
    ],
    introspection_malformed: [
      ['null', 'OAUTH_INVALID_RESPONSE'],
      ['[]', 'OAUTH_INVALID_RESPONSE'],
      ['7', 'OAUTH_INVALID_RESPONSE'],
      ['{}', 'OAUTH_INVALID_RESPONSE'],
      ['{"active":"true"}', 'OAUTH_INVALID_RESPONSE'],
      ['', 'OAUTH_PARSE_ERROR'],
      ['<html>', 'OAUTH_PARSE_ERROR'],
      ['{"active":true,"scope":7}', null],
      ['{"active":true,"sub":{}}', null],
      ['{"active":true,"nbf":"1"}', null],
      ['{"active":true,"client_id":7}', null],
      ['{"active":true,"token_type":[]}', null],
      ['{"active":true,"exp":"tomorrow"}', null],
      ['{"active":true,"exp":null}', null],
      ['{"active":true,"cnf":null}', null],
    ].map(([body, detail = null]) => ({
      title: `it answers ${body}`,
      options: answering(says(body ?? '')),
      told: { ...AWAY, detail },
    })),
  };
  /** A token that is issued only once for these tests. */
  let shared = '';
  beforeAll(async () => {
    shared = await issued();
  });

  const rows = Object.entries(ROWS).flatMap(([reason, each]) =>
    each.map((row) => ({ reason, ...wrapped(row) })),
  );
  /** Keeps the row in an object, so that its getters run only when the test runs. */
  function wrapped(row: Row) {
    return { title: row.title, row };
  }

  // @shows AS-12.19
  test.each(rows)('$reason: $title', async ({ reason, row }) => {
    const { options, authorization = `Bearer ${UNKNOWN}` } = row;
    const told: Refusal[] = [];
    const changes = {
      ...(await options?.()),
      onRefusal: (refusal: Refusal) => void told.push(refusal),
    };
    const plain = resourceServer(changes);
    const { requires } = row;
    const resource = requires === undefined ? plain : plain.requireAuthentication(requires);
    const answer = await resource.authorize(authorization, SCOPE);
    const refusal = {
      status: 401,
      error: 'invalid_token',
      reason,
      detail: null,
      answered: null,
      clientId: null,
      scope: SCOPE,
      ...row.told,
    };
    expect(told).toEqual([refusal]);
    expectNothingOf(told, [UNKNOWN, shared, asker.secret]);
    if (!(answer instanceof Response)) throw new Error('It was not refused');
    expect([answer.status, await answer.json()]).toEqual([
      refusal.status,
      { error: refusal.error ?? 'invalid_token' },
    ]);
  });

  // @shows AS-12.19
  test('is the same for a cached response', async () => {
    const told: Refusal[] = [];
    let asked = 0;
    const answer = active({ aud: 'https://b.example/', client_id: 'a' });
    const issuer = await authorizationServer((request, response) => {
      asked += 1;
      answer(request, response);
    });
    const onRefusal = (refusal: Refusal) => void told.push(refusal);
    const cached = resourceServer({ issuer, cache: { seconds: 60, entries: 2 }, onRefusal });
    for (let use = 0; use < 2; use += 1) await cached.authorize('Bearer abc', SCOPE);
    expect(asked).toBe(1);
    expect(told.map(({ reason, clientId }) => [reason, clientId])).toEqual([
      ['other_audience', 'a'],
      ['other_audience', 'a'],
    ]);
  });

  // @shows AS-12.19
  test.each<readonly [string, (said: string) => RequestListener]>([
    ['no JSON', (said) => says(said)],
    [
      'JSON, but not an introspection response',
      (said) => says(JSON.stringify({ active: said, error: said })),
    ],
    ['a text', (said) => says(JSON.stringify(said))],
    ['an error', (said) => says(JSON.stringify({ error: said, error_description: said }), 400)],
    [
      'a challenge',
      (said) =>
        says(said, 401, { 'WWW-Authenticate': `Basic realm="${said.replaceAll('\n', ' ')}"` }),
    ],
    ['a client id', (said) => active({ scope: '', client_id: said })],
    ['a longer client ID', (said) => active({ scope: '', client_id: `of ${said}.` })],
    [
      'everything',
      (said) => active({ scope: said, client_id: said, sub: said, username: said, jti: said }),
    ],
    ['a target', (said) => active({ aud: said, client_id: said })],
    [
      'the client credentials',
      () => active({ scope: '', client_id: btoa(`${asker.id}:${asker.secret}`) }),
    ],
    ['a confirmation', (said) => active({ cnf: { [said]: said }, client_id: said })],
    ['a scope that fails', (said) => active({ scope: { [said]: said }, client_id: said })],
    [
      'the type of a JWT',
      (said) =>
        says(`${said}.${said}.x`, 200, { 'Content-Type': 'application/token-introspection+jwt' }),
    ],
  ])('repeats no input, even if the authorization server does: %s', async (_, answer) => {
    for (const secret of [UNKNOWN, asker.secret]) {
      const told: Refusal[] = [];
      const issuer = await authorizationServer(answer(secret));
      const onRefusal = (refusal: Refusal) => void told.push(refusal);
      expect(
        await resourceServer({ issuer, onRefusal }).authorize(`Bearer ${UNKNOWN}`, SCOPE),
      ).toBeInstanceOf(Response);
      expect(told).toHaveLength(1);
      expectNothingOf(told, [UNKNOWN, asker.secret, btoa(`${asker.id}:${asker.secret}`)]);
    }
  });

  test.each([7, {}, ['a'], 'a\nb', 'a\u2028', '', 'a'.repeat(2049)])(
    'has no invalid client ID: %j',
    async (clientId) => {
      const told: Refusal[] = [];
      const issuer = await authorizationServer(active({ scope: '', client_id: clientId }));
      const onRefusal = (refusal: Refusal) => void told.push(refusal);
      await resourceServer({ issuer, onRefusal }).authorize('Bearer abc', SCOPE);
      const reason = typeof clientId === 'string' ? 'scope_missing' : 'introspection_malformed';
      expect(told).toMatchObject([{ reason, clientId: null }]);
    },
  );

  // @shows AS-12.19
  test.each(['订单:read', 'a\nb'])(
    'matches the 503 response if the scope %j does not fit in a header field',
    async (scope) => {
      const told: Refusal[] = [];
      const issuer = await authorizationServer(active({ scope: 'another' }));
      const refusing = (changes: Partial<ResourceServerOptions>) =>
        resourceServer({ issuer, onRefusal: (refusal) => void told.push(refusal), ...changes });
      const resourceMetadata = 'https://api.example/.well-known/oauth-protected-resource';
      for (const refused of [
        await refusing({}).authorize('Bearer abc', scope),
        await refusing({ resourceMetadata }).authorize(null, scope),
      ]) {
        expect(refused).toBeInstanceOf(Response);
        expect(refused).toMatchObject({ status: 503 });
      }
      expect(told).toEqual(
        [0, 1].map(() => ({
          status: 503,
          error: 'temporarily_unavailable',
          reason: 'fault',
          detail: 'TypeError',
          answered: null,
          clientId: null,
          scope,
        })),
      );
    },
  );

  test.each([null, {}, 'console'])(
    'needs a valid callback function, or the start fails: %j',
    (it) => {
      expect(() => resourceServer({ onRefusal: it as never })).toThrow(
        new TypeError('onRefusal: must be a function'),
      );
    },
  );

  // @shows AS-12.19
  test.each<readonly [string, (refusal: Refusal) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the log is away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the log is away'))],
    ['never ends', () => new Promise(() => undefined)],
    [
      'returns an object that throws when it is awaited',
      () =>
        new Proxy(
          {},
          {
            get() {
              throw new Error('no promise');
            },
          },
        ),
    ],
    [
      'changes its argument',
      (refusal) => Object.assign(refusal, { status: 200, error: 'none', scope: '"' }),
    ],
    ['returns a different value', () => new Response('come in')],
  ])('does not change the response if the callback %s', async (_, onRefusal) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const { access_token: narrow } = await obtainTokens(portal, client, ADA, { scope: 'openid' });
      const malformed = await authorizationServer(says('null'));
      let calls = 0;
      const telling = {
        onRefusal: (refusal: Refusal) => {
          calls += 1;
          return onRefusal(refusal) as Promise<void>;
        },
      };
      for (const [authorization, changes] of [
        [null, {}],
        ['Bearer garbage', {}],
        [`Bearer ${narrow}`, {}],
        ['Bearer garbage', { issuer: malformed }],
      ] as const) {
        const [plain, watched] = await Promise.all(
          [changes, { ...changes, ...telling }].map(async (each) => {
            const answer = (await resourceServer(each).authorize(authorization, SCOPE)) as Response;
            return [answer.status, [...answer.headers], await answer.text()];
          }),
        );
        expect(watched).toEqual(plain);
      }
      expect(calls).toBe(4);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  // @shows AS-12.19
  test('has a reason that the page explains, and the page explains no others', () => {
    const read = (file: string) => readFileSync(path.join(import.meta.dirname, '..', file), 'utf8');
    const reasons = Object.keys(ANSWERS);
    const explained = [...read('docs/why-an-api-refuses.md').matchAll(/^\| `(\w+)`/gm)].map(
      ([, reason]) => reason,
    );
    expect(new Set(explained)).toEqual(new Set(reasons));
    expect(explained).toHaveLength(reasons.length);
    expect(reasons.length).toBeGreaterThan(35);
  });
});
