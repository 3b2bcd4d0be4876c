import { setImmediate } from 'node:timers/promises';
import { OverloadedError } from '@portico/sql';
import type { Middleware } from 'portico';
import { describe, expect, test } from 'vitest';
import { CsrfCheck } from './accounts/csrf.ts';
import { clientAddress, session as readSession } from './accounts/request-context.ts';
import { Dispatcher } from './dispatch.ts';
import { HttpError } from './errors.ts';
import { ErrorHandler } from './http/error-handler.ts';
import { Routes, type RouteKind } from './http/routes.ts';
import type { Kit } from './kit.ts';

/** The lines of the log. */
const lines: unknown[] = [];
const line = (level: string) => (text: string, values: Readonly<Record<string, unknown>>) =>
  lines.push([level, text, values]);
const EVENTS = {
  passResponse: (response: Response) => response,
  answerException: async (): Promise<Response | null> => null,
};
/** The parts of an application without accounts that answer in JSON. */
const PARTS = {
  config: { body_limit: 1000, trusted_proxies: 0 },
  people: null,
  csrf: null,
  events: EVENTS,
  database: { isUnavailable: (error: unknown) => error === UNAVAILABLE },
  log: { error: line('error'), info: line('info') },
  logOverload: () => lines.push('overload'),
};
const KIT = PARTS as unknown as Kit;
const UNAVAILABLE = new Error('the store is away');

/** Creates an application with one route, whose requests run until they are released. */
function waiting() {
  const gates: PromiseWithResolvers<void>[] = [];
  const routes = new Routes('');
  routes.add({
    name: 'slow',
    methods: ['GET'],
    path: '/slow',
    async handler() {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return new Response('finished');
    },
  });
  const dispatcher = new Dispatcher(KIT, routes, []);
  return {
    request: () => dispatcher.fetch(new Request('https://app.example/slow'), { address: null }),
    release: (index: number) => gates[index]?.resolve(),
    ended: () => dispatcher.ended().then(() => true),
  };
}

/** Whether this is true before the next turn of the event loop. */
const atOnce = (work: Promise<boolean>) => Promise.race([work, setImmediate(false)]);

describe('stopping the dispatcher', () => {
  test('does not wait if no request is running', async () => {
    expect(await atOnce(waiting().ended())).toBe(true);
  });

  test('does not wait for requests that were answered', async () => {
    const { request, release, ended } = waiting();
    const response = request();
    await setImmediate();
    release(0);
    expect(await (await response).text()).toBe('finished');
    expect(await atOnce(ended())).toBe(true);
  });

  test('waits for every running request', async () => {
    const { request, release, ended } = waiting();
    const responses = [request(), request()];
    await setImmediate();
    const stopped = ended();
    expect(await atOnce(stopped)).toBe(false);
    release(1);
    await responses[1];
    expect(await atOnce(stopped)).toBe(false);
    release(0);
    await responses[0];
    expect(await atOnce(stopped)).toBe(true);
  });

  test('lets every caller continue after the last request', async () => {
    const { request, release, ended } = waiting();
    const response = request();
    await setImmediate();
    const stopped = [ended(), ended()];
    release(0);
    await response;
    expect(await Promise.all(stopped.map(atOnce))).toEqual([true, true]);
  });
});

/** Sends requests to an application with one route of this kind. */
function serving(
  handler: (request: Request) => unknown,
  kind: RouteKind = 'application',
  middlewares: readonly Middleware[] = [],
  parts: object = {},
) {
  lines.length = 0;
  const routes = new Routes('');
  const answer = async (_: unknown, request: Request) => handler(request) as Response;
  routes.add({ name: 'one', methods: ['GET', 'POST'], path: '/one', handler: answer }, kind);
  const dispatcher = new Dispatcher({ ...PARTS, ...parts } as unknown as Kit, routes, middlewares);
  return (init: RequestInit = {}, target?: string, at = '/one') =>
    dispatcher.fetch(new Request(`https://app.example${at}`, init), {
      address: '192.0.2.1',
      ...(target === undefined ? {} : { target }),
    });
}

describe('a request', () => {
  test.each([
    ['/one', 200],
    ['/one?a=//b', 200],
    ['/../one', 404],
    ['/./one', 404],
    ['/%2e%2E/one', 404],
    ['/one#a', 404],
    ['https://app.example/one', 200],
  ])('with the target %s is %i, because a path must be in normal form', async (target, status) => {
    expect((await serving(() => new Response())({}, target)).status).toBe(status);
  });

  test.each<[RouteKind, number]>([
    ['application', 413],
    ['plugin', 200],
    ['sign-in', 200],
  ])('with a body above the limit to a route of kind %s is %i', async (kind, status) => {
    const send = serving(async (request) => new Response(await request.text()), kind);
    const response = await send({ method: 'POST', body: 'x'.repeat(1001) });
    expect(response.status).toBe(status);
  });

  test.each(['GET', 'HEAD'])(
    'with the method %s has no body, whatever Content-Length it declares',
    async (method) => {
      const send = serving(() => new Response());
      expect((await send({ method, headers: { 'Content-Length': '1001' } })).status).toBe(200);
    },
  );

  test('with the method HEAD cancels the body that the route returned', async () => {
    let cancelled = false;
    const body = () => new ReadableStream({ cancel: () => void (cancelled = true) });
    const send = serving(() => new Response(body(), { status: 203, headers: { 'X-Own': '1' } }));
    const response = await send({ method: 'HEAD' });
    expect(await response.text()).toBe('');
    expect([response.status, response.headers.get('x-own'), cancelled]).toEqual([203, '1', true]);
  });

  test.each<[RouteKind, string]>([
    ['application', 'outer inner one'],
    ['plugin', 'one'],
    ['sign-in', 'one'],
  ])('to a route of kind %s passes through %s', async (kind, passed) => {
    const seen: string[] = [];
    const through =
      (name: string): Middleware =>
      (_, next) => {
        seen.push(name);
        return next();
      };
    const handler = () => {
      seen.push('one');
      return new Response();
    };
    await serving(handler, kind, [through('outer'), through('inner')])();
    expect(seen.join(' ')).toBe(passed);
  });

  test('that a middleware refuses does not reach its route', async () => {
    const refuse: Middleware = async () => new Response(null, { status: 418 });
    const handler = () => expect.unreachable();
    expect((await serving(handler, 'application', [refuse])()).status).toBe(418);
  });

  test.each([undefined, null, 'text', 1, [], {}, { status: 200 }, { headers: {} }, () => {}])(
    'whose handler returns %j is 500, and the log names the route',
    async (returned) => {
      expect((await serving(() => returned)()).status).toBe(500);
      const exception = expect.objectContaining({
        message: expect.stringContaining('The handler of the route one') as string,
      }) as Error;
      const values = { requestId: expect.any(String) as string, route: 'one', exception };
      expect(lines).toEqual([['error', 'The request failed: {exception}', values]]);
    },
  );
});

describe('a request to an application with accounts', () => {
  const csrf = new CsrfCheck('https://app.example', {}, []);
  const session = { setCookie: () => 'a=b' };
  const people = { sessions: { of: () => session }, knownBrowsers: { of: () => null } };

  test.each<[RouteKind, string, number]>([
    ['application', 'GET', 200],
    ['application', 'POST', 403],
    ['plugin', 'POST', 403],
    ['sign-in', 'POST', 200],
  ])('to a route of kind %s with %s and without a token is %i', async (kind, method, status) => {
    const send = serving(() => new Response(), kind, [], { csrf });
    expect((await send({ method })).status).toBe(status);
  });

  test.each([null, csrf])(
    'knows the address of the client, with the CSRF check %j',
    async (check) => {
      const send = serving(() => new Response(clientAddress()), 'application', [], { csrf: check });
      expect(await (await send()).text()).toBe('192.0.2.1');
    },
  );

  test('gets the cookies of its session besides those of the route', async () => {
    const handler = () => {
      readSession();
      const headers = { 'Set-Cookie': 'own=1', 'X-Own': '1' };
      return new Response('text', { status: 203, statusText: 'Own', headers });
    };
    const response = await serving(handler, 'application', [], { people })();
    expect([response.status, response.statusText, await response.text()]).toEqual([
      203,
      'Own',
      'text',
    ]);
    expect([response.headers.getSetCookie(), response.headers.get('x-own')]).toEqual([
      ['own=1', 'a=b'],
      '1',
    ]);
  });
});

describe('an error', () => {
  const REFUSED = '{route} refused: {status} ({detail})';
  const requestId = expect.any(String) as string;
  const failing = (error: unknown) =>
    serving(() => {
      throw error;
    });

  test('of HTTP is logged with its route and reason', async () => {
    const response = await failing(new HttpError(409, 'taken', { 'X-Own': '1' }))();
    expect([response.status, response.headers.get('x-own')]).toEqual([409, '1']);
    expect(response.headers.has('retry-after')).toBe(false);
    expect(lines).toEqual([
      ['info', REFUSED, { route: 'one', requestId, status: 409, detail: 'taken' }],
    ]);
  });

  test('for a wrong method is logged with the route that has the path', async () => {
    const send = serving(() => new Response());
    expect((await send({ method: 'DELETE' })).status).toBe(405);
    const detail = 'This path does not support the method';
    expect(lines).toEqual([['info', REFUSED, { route: 'one', requestId, status: 405, detail }]]);
  });

  test('for a page that was not found, or with a 4xx status but no HttpError, is not logged', async () => {
    expect((await failing(new HttpError(404, 'gone'))()).status).toBe(404);
    expect(lines).toEqual([]);
    const notFound = await serving(() => new Response())({}, undefined, '/two');
    expect([notFound.status, notFound.headers.getSetCookie()]).toEqual([404, []]);
    expect(lines).toEqual([]);
    expect((await failing(Object.assign(new Error('own'), { status: 403 }))()).status).toBe(403);
    expect(lines).toEqual([]);
  });

  test.each([
    [new Error('broken'), 500, null],
    [Object.assign(new Error('broken'), { status: 502 }), 502, null],
    [UNAVAILABLE, 503, '2'],
    [new HttpError(503, 'later', { 'Retry-After': '9' }), 503, '9'],
  ])('of the server (%s) is logged as an error: %i', async (exception, status, after) => {
    const response = await failing(exception)();
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, after]);
    expect(await response.text()).not.toContain('broken');
    const values = { requestId, route: 'one', exception };
    expect(lines).toEqual([['error', 'The request failed: {exception}', values]]);
  });

  test('for too many password checks is 503, and the log counts it', async () => {
    expect((await failing(new OverloadedError())()).status).toBe(503);
    expect(lines).toEqual(['overload']);
  });

  test('is answered by the hook of the application', async () => {
    const answer = new Response('own', { status: 418 });
    const events = { ...EVENTS, answerException: async () => answer };
    const failure = () => {
      throw new Error('broken');
    };
    const response = await serving(failure, 'application', [], { events })();
    expect([response.status, await response.text(), lines]).toEqual([418, 'own', []]);
  });

  test('is logged, also if the hook of the application fails', async () => {
    const [exception, hook] = [new Error('broken'), new Error('the hook is broken')];
    const events = { ...EVENTS, answerException: () => Promise.reject(hook) };
    const failure = () => {
      throw exception;
    };
    expect((await serving(failure, 'application', [], { events })()).status).toBe(500);
    expect(lines).toEqual([
      ['error', 'The request failed: {exception}', { requestId, route: 'one', exception }],
      ['error', 'A host hook failed: {exception}', { requestId, exception: hook }],
    ]);
  });

  test('in a hook of the application is a plain 500, and is logged', async () => {
    const exception = new Error('the hook is broken');
    const passResponse = () => {
      throw exception;
    };
    const parts = { events: { ...EVENTS, passResponse } };
    const response = await serving(() => new Response(), 'application', [], parts)();
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hook');
    expect(lines).toEqual([['error', 'A host hook failed: {exception}', { requestId, exception }]]);
  });
});

test.each([
  [{ status: 400 }, 400],
  [{ status: 599 }, 599],
  [{ statusCode: 413 }, 413],
  [{ status: 404, statusCode: 413 }, 404],
  [{ status: 'gone', statusCode: 413 }, 500],
  [{ status: 399 }, 500],
  [{ status: 600 }, 500],
  [{ status: 404.5 }, 500],
  [{ statusCode: '404' }, 500],
  [{ status: Number.NaN }, 500],
  [{}, 500],
])('an exception with %j has the status %i', (fields, status) => {
  expect(ErrorHandler.resolveStatusCode(Object.assign(new Error('a'), fields))).toBe(status);
  expect(ErrorHandler.resolveStatusCode({ ...fields })).toBe(500);
  expect(ErrorHandler.resolveStatusCode(null)).toBe(500);
});
