// @engines sqlite: a resource server sees no difference
import { createHash } from 'node:crypto';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Server } from 'node:http';
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
  type ResourceServer,
  type ResourceServerOptions,
} from 'portico/resource-server';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  ADA,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** An API elsewhere, which introspects tokens at the portal. */
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
      app.get('/notes', honoGuard(resource, SCOPE), (context) => context.json(tokenOf(context.req.raw)));
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
      if (!server.listening) await once(server, 'listening');
      return keep(server);
    },
  ],
];

describe.each(GUARDED)('a resource server elsewhere, on %s', (_, start) => {
  const ask = (url: string, token: string | null) =>
    fetch(`${url}/notes`, token === null ? {} : { headers: { Authorization: `Bearer ${token}` } });

  test('lets a token through that reaches, and says whose it is by the public subject', async () => {
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
  test('two Authorization headers are none', async () => {
    const url = await start(resourceServer());
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    const statusOf = async (...authorization: readonly string[]) => {
      const asking = get(`${url}/notes`, { headers: { Authorization: [...authorization] }, agent: false });
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
  test('401 without one and with one that is none, 403 with one that does not reach', async () => {
    const url = await start(resourceServer());
    const bare = await ask(url, null);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="oauth"']);
    const garbage = await ask(url, 'garbage');
    expect([garbage.status, await garbage.json()]).toEqual([401, { error: 'invalid_token' }]);
    const narrow = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    expect((await ask(url, narrow.access_token)).status).toBe(403);
  });

  // @shows AS-12.11, RFC9728-5.1
  test('with metadata of its own each refusal says where that is, and for which scope to ask', async () => {
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

  test('metadata without a URL is refused at the start, and nothing in one leaves its quotes', async () => {
    expect(() => resourceServer({ resourceMetadata: '/metadata' })).toThrow(TypeError);
    const url = await start(resourceServer({ resourceMetadata: 'https://api.example/?a="b\\c\r\n' }));
    const challenge = (await ask(url, null)).headers.get('www-authenticate') ?? '';
    expect(challenge).toBe(
      String.raw`Bearer realm="oauth", scope="notes:read", resource_metadata="https://api.example/?a=%22b\\c"`,
    );
  });

  test('a lost permission, a suspension and a revocation take effect on the next call', async () => {
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

  test('an issuer over http is refused at the start, unless that is allowed', () => {
    const issuer = 'http://localhost:8080';
    expect(() => resourceServer({ issuer, allowInsecureRequests: false })).toThrow(
      'issuer: must be https, not http://localhost:8080. For http, in development, set allowInsecureRequests',
    );
    expect(() =>
      resourceServer({ issuer: 'HTTPS://app.example', allowInsecureRequests: false }),
    ).not.toThrow();
  });

  // @shows RFC9700-2.3c
  test('a token for another target is none; the authorization server away is 503', async () => {
    const { access_token: token } = await obtainTokens(portal, client, ADA);
    const elsewhere = await start(resourceServer({ audience: 'https://api.example/' }));
    expect((await ask(elsewhere, token)).status).toBe(401);
    const away = await start(resourceServer({ issuer: 'http://127.0.0.1:1' }));
    const response = await ask(away, token);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  });
});

describe('the cache', () => {
  afterEach(() => vi.useRealTimers());

  // @shows RFC9700-4.9.3
  test('keeps answers by what a token hashes to, and no token', async () => {
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
  test('is off unless asked for, and bounded in time and in size', async () => {
    const asked: string[] = [];
    const counting = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        asked.push(new URLSearchParams(body).get('token') ?? '');
        response.setHeader('Content-Type', 'application/json').end('{"active":true,"scope":"notes:read"}');
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
    // A clock that is set back does not make it longer.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    expect(await use(brief, 'a')).toEqual(['a']);
  });
});
