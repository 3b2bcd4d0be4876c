// @engines sqlite: the database makes no difference
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  connect,
  constants,
  createServer as createHttp2Server,
  type ClientHttp2Session,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { serve } from '@hono/node-server';
import express from 'express';
import Fastify from 'fastify';
import { Hono, type Context as HonoContext } from 'hono';
import Koa from 'koa';
import * as ofExpress from 'portico/express';
import * as ofFastify from 'portico/fastify';
import * as ofHono from 'portico/hono';
import * as ofKoa from 'portico/koa';
import * as ofNode from 'portico/node';
import { BearerError, type AuthorizationServer } from 'portico';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

/** Its types are those of Express 5. */
const express4 = createRequire(import.meta.url)('express-4') as typeof express;

/** Headers that the application has set for its own body. The response of Portico replaces them. */
const STALE: Readonly<Record<string, string>> = {
  'content-length': '3',
  'content-encoding': 'gzip',
  'content-disposition': 'attachment; filename="invoice.pdf"',
  'content-language': 'de',
  'content-range': 'bytes 0-2/9',
  etag: '"of the invoice"',
  'last-modified': 'Thu, 26 Nov 2026 12:00:00 GMT',
};

const COOKIES = ['ours=4; Expires=Thu, 26 Nov 2026 12:00:00 GMT', 'ours_too=5'];

/** What the endpoint notices when a caller disconnects. */
interface Seen {
  /** Resolves when a request has reached the endpoint that waits until its caller has left. */
  arrived: PromiseWithResolvers<void>;
  left: PromiseWithResolvers<void>;
  /** Resolves when the body of the response is no longer read. */
  cancelled: PromiseWithResolvers<void>;
  errors: unknown[];
}

const startSeen = (): Seen => ({
  arrived: Promise.withResolvers<void>(),
  left: Promise.withResolvers<void>(),
  cancelled: Promise.withResolvers<void>(),
  errors: [],
});

/** A server with one endpoint. It finds no token in any request. */
function serverOf({ arrived, left, cancelled }: Seen): AuthorizationServer {
  const stub = {
    origin: 'http://localhost',
    lookUpToken: async () => ({ run: (work: () => unknown) => work() }),
    endpoints: [
      {
        name: 'shown',
        path: '/shown',
        methods: ['GET', 'POST'],
        async handle(request: Request) {
          const headers = new Headers({ 'Content-Type': 'text/plain' });
          for (const cookie of COOKIES) headers.append('Set-Cookie', cookie);
          return new Response(`read ${(await request.text()).length}`, { status: 201, headers });
        },
      },
      {
        name: 'streamed',
        path: '/streamed',
        methods: ['GET'],
        async handle(request: Request) {
          request.signal.addEventListener('abort', () => left.resolve());
          const headers = { 'Content-Type': 'text/event-stream; charset=utf-8' };
          const body = new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode('data: first\n\n')),
            cancel: () => cancelled.resolve(),
          });
          return new Response(body, { headers });
        },
      },
      {
        name: 'late',
        path: '/late',
        methods: ['GET'],
        async handle(request: Request) {
          arrived.resolve();
          const aborted = Promise.withResolvers<void>();
          request.signal.addEventListener('abort', () => aborted.resolve());
          await aborted.promise;
          const body = new ReadableStream({ cancel: () => cancelled.resolve() });
          const type = new URL(request.url).searchParams.get('type') ?? '';
          return new Response(body, { headers: { 'Content-Type': type } });
        },
      },
      {
        name: 'untyped',
        path: '/untyped',
        methods: ['GET'],
        async handle() {
          return new Response(new Blob(['of ', 'no type']).stream());
        },
      },
      {
        name: 'broken',
        path: '/broken',
        methods: ['GET'],
        async handle() {
          const pieces = ['data: first\n\n'];
          const body = new ReadableStream({
            pull(controller) {
              const piece = pieces.pop();
              if (piece === undefined) controller.error(new Error('no more of it'));
              else controller.enqueue(new TextEncoder().encode(piece));
            },
          });
          return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
        },
      },
    ],
  };
  return stub as unknown as AuthorizationServer;
}

interface Way {
  readonly name: string;
  /** Whether a handler of the framework can write a part of its response and then fail. */
  readonly writesParts: boolean;
  /**
   * `/api/refused` gets a rejection after `STALE` has run, and `/api/late` after the first bytes of
   * a response. `STALE` also runs before the endpoints.
   */
  start(server: AuthorizationServer, seen: Seen): Promise<Server>;
}

const refuse = (): never => {
  throw new BearerError('missing_token');
};

const inExpress = (name: string, framework: typeof express): Way => ({
  name,
  writesParts: true,
  async start(server, { errors }) {
    const app = framework();
    app.use((_, res, next) => {
      res.set({ ...STALE, 'X-Kept': 'yes' });
      res.cookie('before', '1');
      next();
    });
    app.use(ofExpress.portico(server));
    app.use('/api', ofExpress.bearer(server));
    app.get('/api/refused', refuse);
    app.get('/api/late', (_, res) => {
      for (const each of Object.keys(STALE)) res.removeHeader(each);
      res.write('a part');
      refuse();
    });
    app.use(ofExpress.bearerErrors());
    const noted: express.ErrorRequestHandler = (error, _req, _res, next) => {
      errors.push(error);
      next(error);
    };
    app.use(noted);
    // In this mode, the default handler does not print the error.
    app.set('env', 'test');
    const listening = app.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return listening;
  },
});

const WAYS: readonly Way[] = [
  inExpress('Express 4', express4),
  inExpress('Express 5', express),
  {
    name: 'Fastify',
    writesParts: true,
    async start(server, { errors }) {
      const app = Fastify();
      app.addHook('onRequest', async (_, reply) => {
        reply.headers({ ...STALE, 'X-Kept': 'yes', 'Set-Cookie': 'before=1' });
      });
      await app.register(ofFastify.portico(server));
      await app.register(async (api) => {
        api.addHook('onRequest', ofFastify.bearer(server));
        api.setErrorHandler((error: Error, request, reply) => {
          errors.push(error);
          return ofFastify.bearerErrors(error, request, reply);
        });
        api.get('/api/refused', async () => refuse());
        api.get('/api/late', async (_, reply) => {
          reply.raw.write('a part');
          refuse();
        });
      });
      await app.listen({ port: 0, host: '127.0.0.1' });
      return app.server;
    },
  },
  {
    name: 'node:http',
    writesParts: true,
    async start(server, { errors }) {
      const mounted = ofNode.portico(server);
      const http = createServer((incoming, outgoing) => {
        const late = incoming.url === '/api/late';
        if (!late)
          for (const [name, value] of Object.entries(STALE)) outgoing.setHeader(name, value);
        outgoing.setHeader('X-Kept', 'yes').setHeader('Set-Cookie', 'before=1');
        const answer = async () => {
          if (await mounted.handle(incoming, outgoing)) return;
          await mounted.withToken(incoming, outgoing, async () => {
            if (late) outgoing.write('a part');
            refuse();
          });
        };
        answer().catch((error: unknown) => {
          errors.push(error);
          outgoing.destroy();
        });
      });
      http.listen(0, '127.0.0.1');
      await once(http, 'listening');
      return http;
    },
  },
  {
    name: 'Koa',
    writesParts: true,
    async start(server, { errors }) {
      const app = new Koa();
      app.on('error', (error) => errors.push(error));
      app.use(async (ctx, next) => {
        ctx.set({ ...STALE, 'X-Kept': 'yes' });
        ctx.cookies.set('before', '1');
        await next();
      });
      app.use(ofKoa.portico(server));
      app.use(ofKoa.bearer(server));
      app.use((ctx) => {
        if (ctx.path === '/api/late') {
          for (const each of Object.keys(STALE)) ctx.remove(each);
          ctx.status = 200;
          ctx.res.write('a part');
          // Koa does not end a response that was started.
          ctx.res.end();
        }
        refuse();
      });
      const listening = app.listen(0, '127.0.0.1');
      await once(listening, 'listening');
      return listening;
    },
  },
  ...[
    { name: 'Hono', answers: true },
    { name: 'Hono, whose own error handler answers refusals', answers: false },
  ].map(({ name, answers }) => ({
    name,
    writesParts: false,
    async start(server: AuthorizationServer) {
      const app = new Hono()
        .use(async (c: HonoContext, next) => {
          for (const [name, value] of Object.entries(STALE)) c.header(name, value);
          c.header('X-Kept', 'yes');
          c.header('Set-Cookie', 'before=1', { append: true });
          await next();
        })
        .use(ofHono.portico(server))
        .use('/api/*', ofHono.bearer(server))
        .get('/api/refused', () => refuse());
      if (answers) app.onError(ofHono.bearerErrors());
      const listening = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
      await once(listening, 'listening');
      return listening;
    },
  })),
];

async function startWay(way: Way, server?: AuthorizationServer) {
  const seen = startSeen();
  const listening = await way.start(server ?? serverOf(seen), seen);
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  const { port } = listening.address() as AddressInfo;
  return { ...seen, url: `http://127.0.0.1:${port}` };
}

const staleIn = ({ headers }: Response) =>
  Object.keys(STALE).filter((name) => headers.get(name) === STALE[name]);

describe.each(WAYS)('a response of Portico in $name', (way) => {
  // @shows AS-6.26
  test.each(['GET', 'HEAD'])(
    'to %s has no leftover body or headers of the application, and every cookie once',
    async (method) => {
      const { url } = await startWay(way);
      const headers = { 'X-Request-Id': 'the-one' };
      const response = await fetch(`${url}/shown`, { method, headers });
      expect([response.status, response.headers.get('content-type')]).toEqual([201, 'text/plain']);
      expect(await response.text()).toBe(method === 'GET' ? 'read 0' : '');
      // In Hono, the server adds the id of the request, and this one has none.
      const id = way.name.startsWith('Hono') ? null : 'the-one';
      expect(response.headers.get('x-request-id')).toBe(id);
      expect([staleIn(response), response.headers.get('x-kept')]).toEqual([[], 'yes']);
      const cookies = response.headers
        .getSetCookie()
        .map((each) => each.replace(/; path=\/.*/i, ''));
      expect(cookies).toEqual(['before=1', ...COOKIES]);
    },
  );

  test('keeps the connection open for the next request', async () => {
    const { url } = await startWay(way);
    for (const path of ['/shown', '/streamed']) {
      const leaving = new AbortController();
      const { headers } = await fetch(`${url}${path}`, { signal: leaving.signal });
      expect([path, headers.get('connection')]).toEqual([path, 'keep-alive']);
      leaving.abort();
    }
  });

  // @shows AS-12.21
  test('that refuses a token has no leftover body or headers of the application', async () => {
    const { url } = await startWay(way);
    const response = await fetch(`${url}/api/refused`);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="oauth"',
    ]);
    expect(await response.json()).toBeTypeOf('object');
    expect([staleIn(response), response.headers.get('x-kept')]).toEqual([[], 'yes']);
  });

  test('that is not an event stream arrives completely, even without a Content-Type', async () => {
    const { url } = await startWay(way);
    const untyped = await fetch(`${url}/untyped`);
    expect([untyped.status, await untyped.text()]).toEqual([200, 'of no type']);
  });

  test('to HEAD ends at once if the response to GET is an event stream, and cancels its body', async () => {
    const { url, cancelled } = await startWay(way);
    const head = await fetch(`${url}/streamed`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(`${url}/shown`)).status).toBe(201);
    await cancelled.promise;
  });

  test('arrives completely after a large request body', async () => {
    const { url } = await startWay(way);
    const body = 'x'.repeat(3_000_000);
    const response = await fetch(`${url}/shown`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body,
    });
    expect(await response.text()).toBe('read 3000000');
  });

  test('is streamed if it is an event stream; a disconnect aborts the request and cancels its body', async () => {
    const { url, left, cancelled } = await startWay(way);
    const leaving = new AbortController();
    const response = await fetch(`${url}/streamed`, { signal: leaving.signal });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: first\n\n');
    expect(response.headers.get('content-length')).toBeNull();
    expect(response.headers.get('transfer-encoding')).toBe('chunked');
    leaving.abort();
    await Promise.all([left.promise, cancelled.promise]);
  });

  test.each(['text/event-stream', 'application/json'])(
    'of type %s for a caller who has already left is cancelled without an error',
    async (type) => {
      const { url, arrived, cancelled, errors } = await startWay(way);
      const leaving = new AbortController();
      const response = fetch(`${url}/late?type=${type}`, { signal: leaving.signal });
      response.catch(() => {});
      await arrived.promise;
      leaving.abort();
      await cancelled.promise;
      expect((await fetch(`${url}/shown`)).status).toBe(201);
      expect(errors).toEqual([]);
    },
  );

  test('is cut off when its events fail, and the next request works', async () => {
    const { url, errors } = await startWay(way);
    const whole = fetch(`${url}/broken`).then((response) => response.text());
    await expect(whole).rejects.toBeInstanceOf(TypeError);
    expect(errors.map(String).includes('Error: no more of it')).toBe(way.name === 'Koa');
    expect((await fetch(`${url}/shown`)).status).toBe(201);
  });
});

describe.each(WAYS)('a failing token look-up, in $name', (way) => {
  // @shows AS-12.21
  test('lets no request through', async () => {
    // Hono prints an error that no handler answers.
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const seen = startSeen();
    const broken: Pick<AuthorizationServer, 'lookUpToken'> = {
      lookUpToken: async () => {
        throw new Error('nothing can be looked up');
      },
    };
    const { url } = await startWay(way, { ...serverOf(seen), ...broken });
    const answered = await fetch(`${url}/api/refused`).then(
      ({ status }) => status,
      () => 'cut off',
    );
    // The status 401 means that the handler ran.
    expect([500, 'cut off']).toContain(answered);
  });

  test('that has its own response sends that response, and runs no handler', async () => {
    const seen = startSeen();
    const sent: unknown[] = [];
    const unavailable: Pick<AuthorizationServer, 'lookUpToken'> = {
      lookUpToken: async (authorization, request) => {
        sent.push([authorization, request?.().headers.get('x-sent')]);
        return { failure: Response.json({ error: 'unavailable' }, { status: 503 }) };
      },
    };
    const { url } = await startWay(way, { ...serverOf(seen), ...unavailable });
    const headers = { Authorization: 'Bearer token', 'X-Sent': 'yes' };
    const response = await fetch(`${url}/api/refused`, { headers });
    expect([response.status, await response.json()]).toEqual([503, { error: 'unavailable' }]);
    expect([staleIn(response), response.headers.get('x-kept')]).toEqual([[], 'yes']);
    expect(sent).toEqual([['Bearer token', 'yes']]);
    expect(seen.errors).toEqual([]);
  });
});

describe('an endpoint is found by the original path, even if the application has changed it', () => {
  const exchanged = (target = '') =>
    target.replace(/shown|renamed/, (name) => (name === 'shown' ? 'renamed' : 'shown'));
  const server = serverOf(startSeen());
  const RENAMING: readonly (readonly [
    name: string,
    shown: number,
    start: () => Promise<Server>,
  ])[] = [
    [
      'Express',
      201,
      async () => {
        const app = express().use((req, _, next) => {
          req.url = exchanged(req.url);
          next();
        });
        return app.use(ofExpress.portico(server)).listen(0, '127.0.0.1');
      },
    ],
    [
      'Koa',
      201,
      async () => {
        const app = new Koa().use(async (ctx, next) => {
          ctx.url = exchanged(ctx.url);
          await next();
        });
        return app.use(ofKoa.portico(server)).listen(0, '127.0.0.1');
      },
    ],
    [
      // Fastify's router uses the rewritten path.
      'Fastify',
      404,
      async () => {
        const app = Fastify({ rewriteUrl: ({ url }) => exchanged(url) });
        await app.register(ofFastify.portico(server));
        await app.listen({ port: 0, host: '127.0.0.1' });
        return app.server;
      },
    ],
  ];

  test.each(RENAMING)('%s', async (_, shown, start) => {
    const listening = await start();
    if (!listening.listening) await once(listening, 'listening');
    onTestFinished(() => void listening.close());
    const { port } = listening.address() as AddressInfo;
    const statusOf = async (path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    expect([await statusOf('/renamed'), await statusOf('/shown')]).toEqual([404, shown]);
  });
});

describe('a request body that a parser of the application has read', () => {
  /** Returns the body that the endpoint can read after the parser. Null if it cannot be read. */
  async function readBehind(
    parser: express.RequestHandler,
    init: RequestInit,
  ): Promise<string | null> {
    const endpoint = {
      name: 'read',
      path: '/read',
      methods: ['POST'],
      handle: async (request: Request) => new Response(await request.text()),
    };
    const server = {
      origin: 'http://localhost',
      endpoints: [endpoint],
    } as unknown as AuthorizationServer;
    const app = express().use(parser).use(ofExpress.portico(server));
    // In this mode, the default handler does not print the error.
    const listening = app.set('env', 'test').listen(0, '127.0.0.1');
    await once(listening, 'listening');
    onTestFinished(() => void listening.close());
    const { port } = listening.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/read`, { method: 'POST', ...init });
    return response.status === 200 ? response.text() : null;
  }
  const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const leaving =
    (body?: unknown): express.RequestHandler =>
    (req, _, next) => {
      req.resume().once('end', () => {
        if (body !== undefined) req.body = body;
        next();
      });
    };

  test.each(['a=1&a=2', 'a%5B%5D=1', 'a%5Bb%5D=1&a%5Bc%5D=2', 'a=&b=%2B'])(
    'is passed on as it was sent: %s',
    async (body) => {
      expect(
        await readBehind(express.urlencoded({ extended: true }), { headers: FORM, body }),
      ).toBe(body);
    },
  );

  test('contains numbers and other values of the parser as text', async () => {
    const parsed = { a: 7, b: true, c: [1, 'x'] };
    const read = await readBehind(leaving(parsed), { headers: FORM, body: 'a=7' });
    expect(read).toBe('a=7&b=true&c=1&c=x');
  });

  test('is empty if the parser returns a value without a name', async () => {
    expect(await readBehind(leaving(7), { headers: FORM, body: '7' })).toBe('');
  });

  test('is empty if the parser returns null or it cannot be serialized', async () => {
    const circular: Record<string, unknown> = {};
    circular['a'] = circular;
    expect(await readBehind(leaving({ a: null }), { headers: FORM, body: 'a' })).toBe('a=');
    const headers = { 'Content-Type': 'application/json' };
    expect(await readBehind(leaving(circular), { headers, body: '{}' })).toBe('');
  });

  test('is an error if it was discarded, also for a request without a length', async () => {
    const body = new Blob(['a=1']).stream();
    const init = { headers: FORM, body, duplex: 'half' };
    expect(await readBehind(leaving(), init)).toBeNull();
    expect(await readBehind(leaving(), { headers: FORM, body: 'a=1' })).toBeNull();
    expect(await readBehind(leaving(), { headers: FORM })).toBe('');
  });
});

test('a request body that a Fastify hook has read is an error', async () => {
  const app = Fastify();
  app.addHook('preParsing', async (_request, _reply, body) => {
    await once(body.resume(), 'end');
    return body;
  });
  await app.register(ofFastify.portico(serverOf(startSeen())));
  const read = await app.inject({ method: 'POST', url: '/shown', body: 'a=1' });
  expect([read.statusCode, read.json()]).toMatchObject([
    500,
    { message: expect.stringContaining('The body was read from the request before portico()') },
  ]);
});

test('the host receives the original request of Fastify and Express, also for a token', async () => {
  const given: unknown[] = [];
  const looking = (requestOf: (request: Request) => { readonly originalUrl: string }) => ({
    ...serverOf(startSeen()),
    async lookUpToken(_: string | null, asked: () => Request) {
      given.push(requestOf(asked()).originalUrl);
      return { run: <T>(work: () => T) => work() };
    },
  });
  const app = Fastify();
  app.addHook('onRequest', ofFastify.bearer(looking(ofFastify.fastifyRequest)));
  app.get('/in-fastify', async () => 'in');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const listening = express()
    .use(ofExpress.bearer(looking(ofExpress.expressRequest)))
    .get('/in-express', (_, res) => void res.send('in'))
    .listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(async () => {
    listening.close();
    await app.close();
  });
  for (const [each, path] of [
    [app.server, '/in-fastify'],
    [listening, '/in-express'],
  ] as const) {
    const { port } = each.address() as AddressInfo;
    expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toBe('in');
  }
  expect(given).toEqual(['/in-fastify', '/in-express']);
  const another = new Request('http://localhost/');
  expect(() => ofFastify.fastifyRequest(another)).toThrow('portico(server) of portico/');
  expect(() => ofExpress.expressRequest(another)).toThrow('portico(server) of portico/');
});

// @shows AS-6.26
test('in Fastify, cookies set by Express middleware are kept, before those of the reply', async () => {
  const app = Fastify();
  app.addHook('onRequest', async (_, reply) => {
    reply.raw.setHeader('Set-Cookie', ['before=1', 'too=2']);
    reply.header('Set-Cookie', ['too=2', 'reply=3']);
  });
  await app.register(ofFastify.portico(serverOf(startSeen())));
  const { headers } = await app.inject('/shown');
  expect(headers['set-cookie']).toEqual(['before=1', 'too=2', 'reply=3', ...COOKIES]);
});

test('an endpoint receives the original request of Fastify', async () => {
  const endpoint = {
    name: 'asking',
    path: '/asking',
    methods: ['GET'],
    handle: async (request: Request) => new Response(ofFastify.fastifyRequest(request).originalUrl),
  };
  const app = Fastify();
  await app.register(
    ofFastify.portico({ ...serverOf(startSeen()), endpoints: [endpoint] } as AuthorizationServer),
  );
  expect((await app.inject('/asking?a=1')).body).toBe('/asking?a=1');
});

describe('portico() in Fastify', () => {
  test('refuses a prefix, below which its endpoints would not be found', async () => {
    const app = Fastify();
    const registered = async () => {
      await app.register(ofFastify.portico(serverOf(startSeen())), { prefix: '/auth' });
    };
    await expect(registered()).rejects.toThrow('is registered below the prefix /auth');
  });

  test('refuses to start if the application has a route with the path of an endpoint', async () => {
    const app = Fastify().get('/shown', async () => 'mine');
    const registered = async () => {
      await app.register(ofFastify.portico(serverOf(startSeen())));
    };
    await expect(registered()).rejects.toMatchObject({ code: 'FST_ERR_DUPLICATED_ROUTE' });
  });
});

test('in Fastify, a path with a trailing slash can be treated like the path without it', async () => {
  const server = serverOf(startSeen());
  const [shown] = server.endpoints;
  const endpoints = shown === undefined ? [] : [shown, { ...shown, path: '/shown/' }];
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await app.register(ofFastify.portico({ ...server, endpoints }));
  for (const url of ['/shown', '/shown/']) expect((await app.inject(url)).statusCode).toBe(201);
});

test('a response that Express can no longer send is reported as an error of the application', async () => {
  const errors: unknown[] = [];
  const app = express().use((_, res, next) => {
    res.send('mine');
    next();
  });
  const failed = Promise.withResolvers<void>();
  const noted: express.ErrorRequestHandler = (error, _req, _res, _next) => {
    errors.push(error);
    failed.resolve();
  };
  const listening = app
    .use(ofExpress.portico(serverOf(startSeen())))
    .use(noted)
    .listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => void listening.close());
  const { port } = listening.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/shown`)).text()).toBe('mine');
  await failed.promise;
  expect(errors).toMatchObject([{ code: 'ERR_HTTP_HEADERS_SENT' }]);
});

/** Starts an HTTP/2 server with this endpoint, and connects to it. */
async function startHttp2(
  handle: (request: Request) => Promise<Response>,
  { isRead = false, isLeft = false, seen = () => {} }: Http2Options = {},
): Promise<ClientHttp2Session> {
  const endpoint = { name: 'seen', path: '/seen', methods: ['GET', 'POST'], handle };
  const server = {
    origin: 'http://localhost',
    endpoints: [endpoint],
  } as unknown as AuthorizationServer;
  const mounted = ofNode.portico(server);
  const listening = createHttp2Server((incoming, outgoing) => {
    // The types require more members than the code uses.
    const asked = incoming as Http2ServerRequest & IncomingMessage;
    const answered = outgoing as Http2ServerResponse & ServerResponse;
    const answer = () => {
      mounted
        .handle(asked, answered)
        .catch(() => outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    };
    seen(answered);
    if (isRead) incoming.resume().once('end', answer);
    else if (isLeft) outgoing.once('close', answer);
    else answer();
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const session = connect(`http://127.0.0.1:${(listening.address() as AddressInfo).port}`);
  onTestFinished(() => {
    session.destroy();
    listening.close();
  });
  return session;
}

interface Http2Options {
  /** Whether the application reads the body before Portico gets the request. */
  readonly isRead?: boolean;
  /** Whether the caller disconnects before Portico gets the request. */
  readonly isLeft?: boolean;
  /** Gets the response before Portico gets the request. */
  readonly seen?: (outgoing: ServerResponse) => void;
}

/** Sends a request over HTTP/2 to an endpoint. Returns the body of its response. */
async function overHttp2(
  path: string,
  handle: (request: Request) => Promise<Response>,
  sent: Readonly<Record<string, string>>,
  body?: string,
): Promise<unknown> {
  const session = await startHttp2(handle, { isRead: body !== undefined });
  const method = body === undefined ? 'GET' : 'POST';
  const stream = session.request({ ':path': path, ':method': method, ...sent });
  stream.end(body);
  return JSON.parse(await text(stream));
}

test('node:http passes on an HTTP/2 request without its pseudo-headers', async () => {
  const seen = async ({ url, headers }: Request) =>
    Response.json({ url, sent: headers.get('x-sent') });
  expect(await overHttp2('/seen?a=1', seen, { 'x-sent': 'yes' })).toEqual({
    url: 'http://localhost/seen?a=1',
    sent: 'yes',
  });
});

// HTTP/2 has no Transfer-Encoding, and Content-Length is optional.
test('a body of an HTTP/2 request that other code has read is an error', async () => {
  const read = async (request: Request) =>
    Response.json(
      await request.text().then(
        () => 'read',
        (error: Error) => error.message,
      ),
    );
  expect(await overHttp2('/seen', read, {}, 'a=1')).toMatch(/^The body was read from the request/);
});

// Node says of a reset HTTP/2 response that it is finished.
test('a caller that resets its HTTP/2 request aborts the request', async () => {
  const asked = Promise.withResolvers<Request>();
  const outgoing = Promise.withResolvers<ServerResponse>();
  const handle = (request: Request) => {
    asked.resolve(request);
    return new Promise<Response>(() => {});
  };
  const session = await startHttp2(handle, { seen: outgoing.resolve });
  const stream = session.request({ ':path': '/seen', ':method': 'POST' });
  stream.end('a=1');
  const { signal } = await asked.promise;
  expect(signal.aborted).toBe(false);
  const closed = once(await outgoing.promise, 'close');
  stream.close(constants.NGHTTP2_CANCEL);
  await closed;
  expect(signal.aborted).toBe(true);
});

test('an HTTP/2 request is aborted from the start if its caller has already reset it', async () => {
  const asked = Promise.withResolvers<boolean>();
  const arrived = Promise.withResolvers<ServerResponse>();
  const handle = async ({ signal }: Request) => {
    asked.resolve(signal.aborted);
    return new Response('to no one');
  };
  const session = await startHttp2(handle, { isLeft: true, seen: arrived.resolve });
  const stream = session.request({ ':path': '/seen', ':method': 'POST' });
  stream.end('a=1');
  await arrived.promise;
  stream.close(constants.NGHTTP2_CANCEL);
  expect(await asked.promise).toBe(true);
});

test.each([
  ['Koa', (server: AuthorizationServer) => koaOverHttp2(server)],
  ['Fastify', (server: AuthorizationServer) => fastifyOverHttp2(server)],
])(
  'an event stream for a caller that reset its HTTP/2 request is cancelled, in %s',
  async (_, start) => {
    const asked = Promise.withResolvers<AbortSignal>();
    const cancelled = Promise.withResolvers<void>();
    const handle = async ({ signal }: Request) => {
      asked.resolve(signal);
      await once(signal, 'abort');
      return new Response(new ReadableStream({ cancel: () => cancelled.resolve() }), {
        headers: { 'content-type': 'text/event-stream' },
      });
    };
    const endpoint = { name: 'seen', path: '/seen', methods: ['POST'], handle };
    const origin = await start({
      origin: 'http://localhost',
      endpoints: [endpoint],
    } as unknown as AuthorizationServer);
    const session = connect(origin);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':path': '/seen', ':method': 'POST' });
    stream.end('a=1');
    await asked.promise;
    stream.close(constants.NGHTTP2_CANCEL);
    await expect(cancelled.promise).resolves.toBeUndefined();
  },
);

async function koaOverHttp2(server: AuthorizationServer): Promise<string> {
  const app = new Koa().use(ofKoa.portico(server));
  const answer = app.callback();
  const listening = createHttp2Server((incoming, outgoing) => void answer(incoming, outgoing));
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => void listening.close());
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

async function fastifyOverHttp2(server: AuthorizationServer): Promise<string> {
  const app = Fastify({ http2: true });
  await app.register(ofFastify.portico(server));
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  return origin;
}

describe('a request whose header fields are only in `headers`, as on AWS Lambda, keeps all of them', () => {
  const endpoint = {
    name: 'seen',
    path: '/seen',
    methods: ['POST'],
    handle: async (request: Request) => {
      const [type, cookie, lists, none] = ['content-type', 'cookie', 'x-list', 'x-none'].map(
        (name) => request.headers.get(name),
      );
      return Response.json({ type, cookie, lists, none, body: await request.text() });
    },
  };
  const server = {
    origin: 'http://localhost',
    endpoints: [endpoint],
  } as unknown as AuthorizationServer;
  const mounted = ofNode.portico(server);
  const ADAPTED: readonly (readonly [
    name: string,
    listener: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown,
  ])[] = [
    ['Express', express().use(ofExpress.portico(server))],
    ['Express behind a parser', express().use(express.urlencoded()).use(ofExpress.portico(server))],
    ['Koa', new Koa().use(ofKoa.portico(server)).callback()],
    ['node:http', (incoming, outgoing) => mounted.handle(incoming, outgoing)],
  ];

  test.each(ADAPTED)('%s', async (_, listener) => {
    const listening = createServer((incoming, outgoing) => {
      const headers = { ...incoming.headers, 'x-list': ['a', 'b'], 'x-none': undefined };
      Object.assign(incoming, { headers, rawHeaders: [] });
      listener(incoming, outgoing);
    }).listen(0, '127.0.0.1');
    await once(listening, 'listening');
    onTestFinished(() => void listening.close());
    const { port } = listening.address() as AddressInfo;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: 'a=1; b=2' };
    const sent = { method: 'POST', headers, body: 'a=1' };
    const response = await fetch(`http://127.0.0.1:${port}/seen`, sent);
    expect(await response.json()).toEqual({
      type: 'application/x-www-form-urlencoded',
      cookie: 'a=1; b=2',
      lists: 'a, b',
      none: null,
      body: 'a=1',
    });
  });
});

describe.each(WAYS.filter(({ writesParts }) => writesParts))('$name', (way) => {
  // @shows AS-12.21
  test('handles a refusal after a partly sent response, and the next request works', async () => {
    const { url, errors } = await startWay(way);
    const begun = await fetch(`${url}/api/late`).then(
      (response) => response.text().catch(() => 'cut off'),
      () => 'cut off',
    );
    expect(begun).toMatch(/^(?:a part|cut off)$/);
    expect(errors).toEqual([expect.any(BearerError)]);
    expect((await fetch(`${url}/shown`)).status).toBe(201);
  });
});
