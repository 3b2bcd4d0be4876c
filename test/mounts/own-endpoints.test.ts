// @engines sqlite: the database makes no difference
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { bodyParser } from '@koa/bodyparser';
import express from 'express';
import Fastify from 'fastify';
import Koa from 'koa';
import * as ofExpress from 'portico/express';
import * as ofFastify from 'portico/fastify';
import * as ofKoa from 'portico/koa';
import * as ofNode from 'portico/node';
import {
  configurationWith,
  createAuthorizationServer,
  defineFeature,
  openDatabase,
  type AuthorizationServer,
  type Endpoint,
  type LogContext,
  type OpenedDatabase,
} from 'portico';
import { promisify } from 'node:util';
import { createGunzip, gzipSync } from 'node:zlib';
import { ROOT } from '../support/console.ts';
import { useResponseOfNode } from '../support/response-of-node.ts';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';

const PATH = '/oauth/own';
/** Headers of the application: two for another body, one that is replaced, and three that stay. */
const BEFORE = {
  'Content-Language': 'de',
  ETag: '"other"',
  'Cache-Control': 'public',
  'X-Kept': 'yes',
  Vary: 'Cookie',
  'Set-Cookie': 'before=1',
};

let folder: string;
let database: OpenedDatabase;
/** What the endpoint does with its request. If it returns null, the reply has no body. */
let handler: (request: Request) => Promise<unknown>;
/** The header fields of its reply, and its status. */
let fields: Readonly<Record<string, string>>;
let status: number;
/** Whether the endpoint returns nothing, as a handler in JavaScript can do. */
let isMissing: boolean;
let cookies: readonly string[];
/** The errors in the log. */
const errors: LogContext[] = [];
/** Errors that nothing handled. */
const unheard: unknown[] = [];
const hear = (error: unknown) => void unheard.push(error);

/** A feature with an endpoint for clients, which answers with what the handler returns. */
const own = defineFeature({
  name: 'own',
  endpoints: [{ name: 'own_endpoint', path: PATH, methods: ['GET', 'POST'] }],
  start: () => ({
    handlers: () => ({
      own_endpoint: async (request) => {
        const body = await handler(request);
        if (isMissing) return undefined as never;
        return {
          status,
          headers: fields,
          cookies,
          body: body === null ? null : JSON.stringify(body ?? null),
        };
      },
    }),
  }),
});

function createServerWithFeature(): AuthorizationServer {
  return createAuthorizationServer({
    publicUrl: 'https://app.example',
    config: configurationWith([own]).parse({ name: 'App', scopes: {}, key_path: folder }),
    database,
    features: [own],
    host: {
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => false,
      browserSecret: async () => 'the secret of this one browser',
      loginUrl: '/login',
      log: {
        debug() {},
        info() {},
        warning() {},
        error: (message, context) => void errors.push({ message, ...context }),
      },
    },
  });
}

const inExpress =
  (...parsers: readonly express.RequestHandler[]) =>
  async (server: AuthorizationServer): Promise<Server> => {
    const app = express().use((_, res, next) => {
      res.set(BEFORE);
      next();
    });
    for (const parser of parsers) app.use(parser);
    return app.use(ofExpress.portico(server)).listen(0, '127.0.0.1');
  };

const WAYS: readonly (readonly [
  name: string,
  start: (server: AuthorizationServer) => Promise<Server>,
])[] = [
  ['Express', inExpress()],
  ['Express, after its parsers', inExpress(express.urlencoded(), express.json(), express.text())],
  [
    'Fastify',
    async (server) => {
      const app = Fastify();
      app.addHook('onRequest', async (_, reply) => void reply.headers(BEFORE));
      await app.register(ofFastify.portico(server));
      await app.listen({ port: 0, host: '127.0.0.1' });
      return app.server;
    },
  ],
  ...[[], [bodyParser()]].map(
    (parsers) =>
      [
        parsers.length === 0 ? 'Koa' : 'Koa, after its parser',
        async (server: AuthorizationServer) => {
          const app = new Koa().use(async (ctx, next) => {
            ctx.set(BEFORE);
            await next();
          });
          for (const parser of parsers) app.use(parser);
          return app.use(ofKoa.portico(server)).listen(0, '127.0.0.1');
        },
      ] as const,
  ),
  [
    'node:http',
    async (server) => {
      const mounted = ofNode.portico(server);
      return createServer((incoming, outgoing) => {
        for (const [name, value] of Object.entries(BEFORE)) outgoing.setHeader(name, value);
        void mounted.handle(incoming, outgoing);
      }).listen(0, '127.0.0.1');
    },
  ],
];

beforeEach(() => {
  fields = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Vary: 'Accept' };
  status = 200;
  isMissing = false;
  cookies = ['own=1', 'more=2'];
  errors.length = 0;
  unheard.length = 0;
  process.on('uncaughtException', hear);
});
afterEach(() => {
  process.off('uncaughtException', hear);
});
useResponseOfNode();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-own-endpoints-'));
  database = openDatabase('sqlite:data.sqlite', { directory: folder });
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

describe.each(WAYS)('a custom endpoint of a feature in %s', (framework, start) => {
  async function started(
    does: typeof handler,
    server = createServerWithFeature(),
  ): Promise<{ url: string; port: number }> {
    handler = does;
    const listening = await start(server);
    if (!listening.listening) await once(listening, 'listening');
    onTestFinished(() => {
      listening.closeAllConnections();
      listening.close();
    });
    const { port } = listening.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}${PATH}?a=%20b`, port };
  }
  const sent = { method: 'POST', body: new URLSearchParams({ text: 'Grüße', more: 'a b' }) };

  test('receives the method, the URL with the public origin, and the header fields', async () => {
    const { url } = await started(async (request) => ({
      is: request instanceof Request,
      method: request.method,
      url: request.url,
      type: request.headers.get('content-type'),
      length: request.headers.get('content-length'),
      isSame: request.signal === request.signal,
      aborted: request.signal.aborted,
      used: request.bodyUsed,
    }));
    expect(await (await fetch(url, sent)).json()).toEqual({
      is: true,
      method: 'POST',
      url: `https://app.example${PATH}?a=%20b`,
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
      length: String(String(sent.body).length),
      isSame: true,
      aborted: false,
      used: false,
    });
  });

  test.each<[how: string, read: (request: Request) => Promise<unknown>]>([
    ['as text', (request) => request.text()],
    ['as bytes', async (request) => Buffer.from(await request.arrayBuffer()).toString()],
    ['as a stream', (request) => new Response(request.body).text()],
    [
      'as a form',
      async (request) =>
        String(new URLSearchParams([...(await request.formData())] as [string, string][])),
    ],
    ['from a copy', (request) => request.clone().text()],
    [
      'as text after its signal',
      (request) => (request.signal.aborted ? Promise.reject(new Error('aborted')) : request.text()),
    ],
  ])('reads the request body %s', async (_how, read) => {
    const { url } = await started(read);
    expect(await (await fetch(url, sent)).json()).toBe('text=Gr%C3%BC%C3%9Fe&more=a+b');
  });

  test('cannot read a body twice', async () => {
    const { url } = await started(async (request) => {
      const first = await request.text();
      const again = [request.text(), request.arrayBuffer(), request.formData()];
      const results = await Promise.allSettled(again);
      return [first !== '', request.bodyUsed, ...results.map(({ status }) => status)];
    });
    expect(await (await fetch(url, sent)).json()).toEqual([
      true,
      true,
      'rejected',
      'rejected',
      'rejected',
    ]);
  });

  test('cannot read a body as text that it has read as bytes', async () => {
    const { url } = await started(async (request) => {
      const { byteLength } = await request.arrayBuffer();
      const [again] = await Promise.allSettled([request.text()]);
      return [byteLength, request.bodyUsed, again.status];
    });
    const { length } = String(sent.body);
    expect(await (await fetch(url, sent)).json()).toEqual([length, true, 'rejected']);
  });

  test('reads an empty string if the request has no body', async () => {
    const { url } = await started((request) => request.text());
    expect(await (await fetch(url)).json()).toBe('');
  });

  test('can read the rest of a GET request after its body', async () => {
    const { url } = await started(async (asked) => [await asked.text(), asked.url]);
    expect(await (await fetch(url)).json()).toEqual(['', `https://app.example${PATH}?a=%20b`]);
  });

  test('reads an empty string from a GET request, even if the caller sent a body', async () => {
    const { port } = await started((request) => request.text());
    const headers = { 'Content-Type': 'a/b', 'Content-Length': 4 };
    const get = request({ port, path: PATH, headers });
    get.end('text');
    const [got] = (await once(get, 'response')) as [IncomingMessage];
    expect(JSON.parse(await text(got))).toBe('');
  });

  test.each(['text', 'arrayBuffer'] as const)(
    'cannot read a body of which the caller sent only a part: %s()',
    async (read) => {
      // Koa prints that its request ended early.
      const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
      onTestFinished(() => printed.mockRestore());
      const arrived = Promise.withResolvers<void>();
      const outcome = Promise.withResolvers<string>();
      const { port } = await started(async (asked) => {
        arrived.resolve();
        outcome.resolve(
          await asked[read]().then(
            () => 'read',
            () => 'rejected',
          ),
        );
      });
      const socket = connect(port, '127.0.0.1');
      socket.write(
        `POST ${PATH} HTTP/1.1\r\nHost: app.example\r\nContent-Type: a/b\r\nContent-Length: 10\r\n\r\nhalf`,
      );
      await arrived.promise;
      socket.destroy();
      expect(await outcome.promise).toBe('rejected');
    },
  );

  test('can cancel a body, which is then read to its end without an error', async () => {
    const { url } = await started(async (asked) => {
      await asked.body?.cancel();
      const incoming = ofNode.incomingOf(asked);
      if (incoming?.readableEnded === false) await once(incoming, 'end');
      return incoming?.complete;
    });
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'a/b' },
      body: 'x'.repeat(2_000_000),
    };
    expect([await (await fetch(url, init)).json(), unheard]).toEqual([true, []]);
  });

  test('is notified by the signal when the caller disconnects', async () => {
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { port } = await started(async (request) => {
      request.signal.addEventListener('abort', () => left.resolve());
      arrived.resolve();
      await left.promise;
    });
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: app.example\r\n\r\n`);
    await arrived.promise;
    socket.destroy();
    await expect(left.promise).resolves.toBeUndefined();
  });

  test('has an aborted signal if the caller disconnected before the endpoint reads the signal', async () => {
    const arrived = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<boolean>();
    const { port } = await started(async (asked) => {
      const socket = ofNode.incomingOf(asked)?.socket;
      arrived.resolve();
      if (socket?.closed === false) await once(socket, 'close');
      aborted.resolve(asked.signal.aborted);
    });
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: app.example\r\n\r\n`);
    await arrived.promise;
    socket.destroy();
    expect(await aborted.promise).toBe(true);
  });

  test('is not notified by the signal if the caller received the whole response', async () => {
    const signals: AbortSignal[] = [];
    const { url } = await started(async ({ signal }) => void signals.push(signal));
    for (let count = 0; count < 2; count += 1) await (await fetch(url)).text();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  test('replaces the body headers that the application set, and keeps and adds other headers', async () => {
    const { url } = await started(async () => 'read');
    const { headers } = await fetch(url);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      // Portico's answers have no length in Fastify.
      ...(framework === 'Fastify' ? { 'transfer-encoding': 'chunked' } : { 'content-length': '6' }),
      'cache-control': 'no-store',
      'x-kept': 'yes',
      vary: 'Cookie, Accept',
      'x-request-id': expect.any(String) as string,
    });
    expect([headers.get('content-language'), headers.get('etag')]).toEqual([null, null]);
    expect(headers.getSetCookie()).toEqual(['before=1', 'own=1', 'more=2']);
  });

  test('answers HEAD without a body', async () => {
    const { url } = await started(async () => 'read');
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('keeps the connection open after a request whose body it did not read', async () => {
    const { port } = await started(async ({ method }) => method);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const body = 'x'.repeat(2_000_000);
    const ports = new Set<number | undefined>();
    for (const method of ['POST', 'POST', 'GET']) {
      const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': body.length };
      const asked = request({
        agent,
        port,
        path: PATH,
        method,
        ...(method === 'GET' ? {} : { headers }),
      });
      asked.end(method === 'GET' ? undefined : body);
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      ports.add(answer.socket.localPort);
      expect([answer.headers.connection, await text(answer)]).toEqual([
        'keep-alive',
        `"${method}"`,
      ]);
    }
    expect(ports.size).toBe(1);
  });

  test('sends header fields like a Response: joined and trimmed', async () => {
    fields = { 'X-Own': ' a ', 'Content-Type': 'a/b', 'x-own': 'b', 'Set-Cookie': 'third=3' };
    const { url } = await started(async () => 'read');
    const { headers } = await fetch(url);
    expect([headers.get('x-own'), headers.get('content-type')]).toEqual(['a, b', 'a/b']);
    expect(headers.getSetCookie()).toEqual(['before=1', 'third=3', 'own=1', 'more=2']);
  });

  // Each of these replies needs only one of the changes that a Response makes.
  test.each<[what: string, given: typeof fields, name: string, got: string]>([
    [
      'names that differ only in case',
      { 'X-Own': 'a', 'X-Next': 'c', 'Content-Type': 'a/b', 'x-own': 'b' },
      'x-own',
      'a, b',
    ],
    [
      'no Content-Type',
      { 'X-Own': 'a', Vary: 'Accept' },
      'content-type',
      'text/plain;charset=UTF-8',
    ],
    [
      'a cookie among the fields',
      { 'Content-Type': 'a/b', 'Set-Cookie': 'third=3' },
      'set-cookie',
      'before=1, third=3, own=1, more=2',
    ],
  ])('sends a reply with %s like a Response', async (_, given, name, got) => {
    fields = given;
    const { url } = await started(async () => 'read');
    expect((await fetch(url)).headers.get(name)).toBe(got);
  });

  test('sends a reply without a body, with its fields and cookies', async () => {
    fields = { 'X-Own': 'a', Vary: 'Accept' };
    const { url } = await started(async () => null);
    const { headers, body } = await fetch(url);
    expect([headers.get('x-own'), headers.get('vary')]).toEqual(['a', 'Cookie, Accept']);
    expect(headers.getSetCookie()).toEqual(['before=1', 'own=1', 'more=2']);
    expect(await new Response(body).text()).toBe('');
    fields = { 'Set-Cookie': 'third=3' };
    const cookies = (await fetch(url)).headers.getSetCookie();
    expect(cookies).toEqual(['before=1', 'third=3', 'own=1', 'more=2']);
  });

  test('does not change the cookies of the application if a reply has none', async () => {
    const { url } = await started(async () => 'not asked');
    const { headers } = await fetch(new URL('/.well-known/jwks.json', url));
    expect(headers.getSetCookie()).toEqual(['before=1']);
  });

  test.each<[what: string, give: () => void]>([
    ['no reply at all', () => (isMissing = true)],
    ['a status below 200', () => (status = 99)],
    ['the status 204 and a body', () => (status = 204)],
    ['a header that is not in Latin-1', () => (fields = { Location: '/ログイン' })],
    ['a header with a line break', () => (fields = { 'X-Own': 'a\r\nb' })],
    ['a cookie that is not in Latin-1', () => (cookies = ['own=ログイン'])],
    ['a cookie with a line break', () => (cookies = ['own=1\r\nX-Own: a'])],
  ])('answers a reply that no Response can have with server_error: %s', async (_, give) => {
    give();
    const { url } = await started(async () => 'never sent');
    const answer = await fetch(url);
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { error: 'server_error', error_description: 'The server failed to answer.' },
    ]);
    expect(answer.headers.getSetCookie()).toEqual(['before=1']);
    expect(errors.filter(({ endpoint }) => endpoint === 'own_endpoint')).toEqual([
      {
        message: '{endpoint} failed: {exception}',
        endpoint: 'own_endpoint',
        requestId: answer.headers.get('x-request-id'),
        exception: expect.any(TypeError) as Error,
      },
    ]);
    expect(String(errors[0]?.['exception'])).not.toMatch(/ログイン|a\r\nb|own=/);
  });

  test.each([
    ['wrapped', (endpoint: Endpoint, handle: Endpoint['handle']) => ({ ...endpoint, handle })],
    [
      'inherited',
      (endpoint: Endpoint, handle: Endpoint['handle']) =>
        Object.create(endpoint, { handle: { value: handle } }) as Endpoint,
    ],
  ])('uses the function of the application if the endpoint is %s', async (_how, wrap) => {
    const server = createServerWithFeature();
    const limited = async () => new Response('later', { status: 429 });
    const endpoints = server.endpoints.map((endpoint) => wrap(endpoint, limited));
    const { url } = await started(async () => 'read', { ...server, endpoints });
    const answer = await fetch(url);
    expect(answer.status).toBe(429);
    // Express and node:http send the body in one piece, so that a session is saved before it.
    expect(answer.headers.get('content-length')).toBe(framework === 'Fastify' ? null : '5');
  });

  test.each(['answers with a reply', 'is wrapped'])(
    'closes the connection if the unread body of a request does not end, if it %s',
    async (how) => {
      const server = createServerWithFeature();
      const handle = async () => new Response('not read');
      const endpoints = server.endpoints.map((each) => ({ ...each, handle }));
      const { port } = await started(
        async () => 'not read',
        how === 'is wrapped' ? { ...server, endpoints } : server,
      );
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      socket.write(
        `POST ${PATH} HTTP/1.1\r\nHost: app.example\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const chunk = Buffer.concat([
        Buffer.from('100000\r\n'),
        Buffer.alloc(0x10_00_00),
        Buffer.from('\r\n'),
      ]);
      const closed = new Promise((resolve) => socket.once('close', () => resolve('closed')));
      let sent = 0;
      const send = (error?: Error | null): void => {
        if (error instanceof Error || socket.destroyed || sent === 100) return;
        sent += 1;
        socket.write(chunk, send);
      };
      send();
      expect(await closed).toBe('closed');
      expect(sent).toBeLessThan(100);
    },
  );
});

test('reads the text that a parser of Koa has kept, as it was sent', async () => {
  handler = (asked) => asked.text();
  const app = new Koa().use(bodyParser()).use(ofKoa.portico(createServerWithFeature()));
  const listening = app.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => void listening.close());
  const { port } = listening.address() as AddressInfo;
  const headers = { 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body: '{ "a": 1,  "a": 2 }' };
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, init);
  expect(await response.json()).toBe(init.body);
});

describe('a body that the application has replaced with another stream', () => {
  /** Starts Express with this stream as the body of each request. Returns the URL. */
  async function startedWith(source: Readable): Promise<string> {
    const listening = await inExpress((req, _res, next) => {
      req.body = source;
      next();
    })(createServerWithFeature());
    onTestFinished(() => void listening.close());
    if (!listening.listening) await once(listening, 'listening');
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}${PATH}`;
  }
  const sent = { method: 'POST', headers: { 'Content-Type': 'a/b' }, body: 'replaced' };

  test('is read only as fast as the endpoint reads it', async () => {
    let chunks = 0;
    const source = new Readable({
      read() {
        chunks += 1;
        this.push(Buffer.alloc(65_536));
      },
    });
    handler = async (asked) => {
      const reader = asked.body?.getReader();
      await reader?.read();
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
      const read = chunks;
      await reader?.cancel();
      return read;
    };
    const response = await fetch(await startedWith(source), sent);
    expect(await response.json()).toBeLessThan(10);
  });

  test('may break off while the endpoint does not read it', async () => {
    const source = new Readable({ read() {} });
    handler = async () => {
      const closed = new Promise((resolve) => source.once('close', resolve));
      source.destroy(new Error('it broke off'));
      await closed;
      return 'not read';
    };
    const response = await fetch(await startedWith(source), sent);
    expect([response.status, await response.json(), unheard]).toEqual([200, 'not read', []]);
  });
});

test.each<[how: string, read: (request: Request) => Promise<string>]>([
  ['as text', (asked) => asked.text()],
  ['as bytes', async (asked) => Buffer.from(await asked.arrayBuffer()).toString()],
  ['as a stream', (asked) => new Response(asked.body).text()],
])('a body is read %s if the application has set its encoding', async (_, read) => {
  handler = read;
  const listening = await inExpress((req, _res, next) => {
    req.setEncoding('latin1');
    next();
  })(createServerWithFeature());
  onTestFinished(() => void listening.close());
  if (!listening.listening) await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  const init = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'Grüße' };
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, init);
  expect([response.status, await response.json()]).toEqual([200, 'Grüße']);
});

test('an endpoint can read its request after Hono has replaced the global Request', async () => {
  const program = `
    import { getRequestListener } from '@hono/node-server';
    getRequestListener(() => new Response());
    const { createServer } = await import('node:http');
    const { portico } = await import('portico/node');
    const { configurationWith, createAuthorizationServer, defineFeature, openDatabase } = await import('portico');
    const own = defineFeature({
      name: 'own',
      endpoints: [{ name: 'own_endpoint', path: '/own', methods: ['POST'] }],
      start: () => ({
        handlers: () => ({
          own_endpoint: async (request) => ({
            status: 200,
            headers: { 'Content-Type': 'text/plain' },
            body: [request instanceof Request, request.url, Buffer.from(await request.arrayBuffer())].join(' '),
          }),
        }),
      }),
    });
    const server = createAuthorizationServer({
      publicUrl: 'https://app.example',
      config: configurationWith([own]).parse({ name: 'App', scopes: {}, key_path: 'keys' }),
      database: openDatabase('sqlite:data.sqlite', { directory: ${JSON.stringify(folder)} }),
      features: [own],
      host: {
        signedIn: async () => null,
        loadAccount: async () => null,
        holdsPermission: async () => false,
        browserSecret: async () => 'the secret of this one browser',
        loginUrl: '/login',
      },
    });
    const mounted = portico(server);
    const listening = createServer((incoming, outgoing) => void mounted.handle(incoming, outgoing));
    listening.listen(0, '127.0.0.1', async () => {
      const url = 'http://127.0.0.1:' + listening.address().port + '/own';
      console.log(await (await fetch(url, { method: 'POST', body: 'text' })).text());
      process.exit();
    });
  `;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: ROOT,
  });
  expect(stdout.trim()).toBe('true https://app.example/own text');
});

describe('a compressed body that Fastify decompresses before a custom endpoint', () => {
  /** Starts an application. Returns its URL. `wait` runs between the parser and the endpoint. */
  async function started(
    wait: (body: unknown) => Promise<unknown> = async () => null,
  ): Promise<string> {
    const app = Fastify();
    app.addHook('preParsing', (request, _reply, payload, done) =>
      done(
        null,
        request.headers['content-encoding'] === 'gzip' ? payload.pipe(createGunzip()) : payload,
      ),
    );
    app.addHook('preHandler', async ({ body }) => {
      await wait(body);
    });
    await app.register(ofFastify.portico(createServerWithFeature()));
    await app.listen({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => app.close());
    return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  }
  async function post(body: Uint8Array<ArrayBuffer>, type: string): Promise<readonly unknown[]> {
    const response = await fetch(`${await started()}/oauth/token`, {
      method: 'POST',
      headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' },
      body,
    });
    const { error } = (await response.json()) as { readonly error: string };
    return [response.status, error];
  }
  const FORM = 'application/x-www-form-urlencoded';

  test.each([FORM, 'application/json'])(
    'is answered with 400 if it is not really compressed (%s)',
    async (type) => {
      expect(await post(Buffer.from('notgzip'), type)).toEqual([400, 'invalid_request']);
    },
  );

  test('does not break the response if it is invalid and the endpoint does not read it', async () => {
    const url = await started();
    const headers = { 'Content-Type': 'a/b', 'Content-Encoding': 'gzip' };
    const sent = { method: 'PUT', headers, body: 'notgzip' };
    const response = await fetch(`${url}/oauth/token`, sent);
    expect(response.status).toBe(405);
    const { port } = new URL(url);
    const get = request({
      port,
      path: '/.well-known/jwks.json',
      headers: { ...headers, 'Content-Length': 7 },
    });
    get.end('notgzip');
    const [got] = (await once(get, 'response')) as [IncomingMessage];
    expect(got.statusCode).toBe(200);
  });

  test('does not break the response if it is invalid and a hook of the application still runs', async () => {
    const url = await started(async (body) => {
      const stream = body as Readable;
      if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
    });
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { 'Content-Type': FORM, 'Content-Encoding': 'gzip' },
      body: 'notgzip',
    });
    expect([response.status, unheard]).toEqual([400, []]);
  });

  // The declared length is that of the compressed body.
  test('has no declared length', async () => {
    handler = async (asked) => [asked.headers.get('content-length'), await asked.text()];
    const headers = { 'Content-Type': 'a/b', 'Content-Encoding': 'gzip' };
    const init = { method: 'POST', headers, body: gzipSync('text') };
    expect(await (await fetch((await started()) + PATH, init)).json()).toEqual([null, 'text']);
  });

  test('is read decompressed', async () => {
    expect(await post(gzipSync('grant_type=unknown'), FORM)).toEqual([401, 'invalid_client']);
  });

  test('is answered with 413 if it is too large after decompression', async () => {
    const body = gzipSync(`a=${'b'.repeat(1_000_000)}`);
    expect(body.length).toBeLessThan(2000);
    expect(await post(body, FORM)).toEqual([413, 'invalid_request']);
  });
});
