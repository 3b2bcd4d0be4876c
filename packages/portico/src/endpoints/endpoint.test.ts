import { getRequestListener } from '@hono/node-server';
import type { LogContext } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { currentOrigin, runFrom } from '../auditing/origin.ts';
import { OAuthError } from '../errors.ts';
import { dpopOffer } from '../http/dpop.ts';
import { currentContext, currentRequestId } from '../http/context.ts';
import type { Server } from '../server.ts';
import { noteClient } from '../refusals.ts';
import {
  AnsweringEndpoint,
  endpointsAt,
  replyingOf,
  type Answering,
  type Handler,
} from './endpoint.ts';
import type { Failures } from './replies/failures.ts';
import { jsonReply, type Reply } from './replies/responses.ts';
import { csrfExemptRoutes, ENDPOINT_TABLE, mountedAt, type EndpointDescription } from './table.ts';

const DESCRIPTION: EndpointDescription = { name: 'orders', path: '/orders', methods: ['GET'] };
const done: Handler = async () => jsonReply('done');

/** Starts an endpoint. `did` has what the endpoint did with the parts of the server. */
function start(
  description: Partial<EndpointDescription> = {},
  handler: Handler = done,
  {
    commit = null,
    measuring = null,
    ...changes
  }: Partial<Answering> & { readonly commit?: unknown; readonly measuring?: unknown } = {},
) {
  const did: unknown[] = [];
  const lines: (readonly [string, LogContext])[] = [];
  const failures = {
    reply: async (error: unknown, { endpoint, requestId, asPage, request }) => {
      did.push(['failed', String(error), endpoint, requestId, asPage, request?.url]);
      const refused = error instanceof OAuthError ? { refused: error } : {};
      return { ...jsonReply('failed', 400), ...refused };
    },
  } as Failures;
  const server = {
    basePath: '/auth',
    mountPath: '',
    host: {
      commit,
      clientAddress: () => '192.0.2.1',
      log: { info: (text: string, context: LogContext) => void lines.push([text, context]) },
    },
    measuring,
    outbox: { start: () => void did.push('outbox') },
    database: {
      readTogether: async (work: () => Promise<Reply>) => {
        did.push('together');
        return work();
      },
    },
  } as unknown as Server;
  const by: Answering = { server, failures, binding: null, runFrom: null, ...changes };
  const endpoint = new AnsweringEndpoint({ ...DESCRIPTION, ...description }, handler, by);
  return { endpoint, did, lines, by };
}

const requestWith = (headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  new Request('https://app.example/orders', {
    method,
    headers: { 'X-Request-Id': 'the-request', ...headers },
  });

const fieldsOf = (response: Response) => Object.fromEntries(response.headers);

describe('an endpoint', () => {
  test('runs its handler for the request of the host, and adds the id of the request', async () => {
    const seen: unknown[] = [];
    const { endpoint, did } = start({}, async ({ url }) => {
      seen.push([url, currentContext(), currentRequestId()]);
      return jsonReply('done', 201, { 'X-Own': 'yes' });
    });
    const response = await endpoint.handle(requestWith(), 'a framework');
    expect([response.status, await response.json()]).toEqual([201, 'done']);
    expect(fieldsOf(response)).toEqual({
      'content-type': 'application/json',
      'x-own': 'yes',
      'x-request-id': 'the-request',
    });
    expect(seen).toEqual([['https://app.example/orders', 'a framework', 'the-request']]);
    expect(did).toEqual(['outbox']);
    expect(endpoint).toMatchObject({ name: 'orders', path: '/orders', methods: ['GET'] });
    expect(endpoint.operations).toBeUndefined();
    const operations = async () => ({});
    expect(start({ operations }).endpoint.operations).toBe(operations);
  });

  test('answers a preflight request only if pages of any origin may call it', async () => {
    const binding = dpopOffer({ required: false, algorithms: ['ES256'] });
    const open = start({ anyOrigin: true, methods: ['GET', 'DELETE'] }, done, { binding });
    expect(open.endpoint.methods).toEqual(['GET', 'DELETE', 'OPTIONS']);
    const preflight = await open.endpoint.handle(requestWith({}, 'OPTIONS'));
    expect([preflight.status, await preflight.text()]).toEqual([204, '']);
    expect(fieldsOf(preflight)).toMatchObject({
      'access-control-allow-methods': 'GET, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version, DPoP',
      'x-request-id': 'the-request',
    });
    const answer = await open.endpoint.handle(requestWith());
    expect(fieldsOf(answer)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Request-Id, DPoP-Nonce',
    });
    for (const method of ['GET', 'OPTIONS']) {
      const closed = await start({}, done, { binding }).endpoint.handle(requestWith({}, method));
      expect([closed.status, closed.headers.get('access-control-allow-origin')]).toEqual([
        200,
        null,
      ]);
    }
  });

  test('combines its reads only if it only reads', async () => {
    const { endpoint, did } = start({ onlyReads: true });
    expect((await endpoint.handle(requestWith())).status).toBe(200);
    expect(did).toEqual(['outbox', 'together']);
  });

  test('logs and measures a refusal once, with its client', async () => {
    const refusal = new OAuthError('invalid_grant', 'No.', 'the reason');
    const measured: unknown[] = [];
    const measuring = {
      endpoint: (task: unknown, request: Request, answer: () => unknown) => {
        measured.push([task, request.url]);
        return answer();
      },
      refused: (...refused: unknown[]) => void measured.push(refused),
    };
    const refuse: Handler = async (request) => {
      noteClient(request, 'notebook');
      throw refusal;
    };
    const { endpoint, did, lines } = start({}, refuse, { measuring });
    const response = await endpoint.handle(requestWith());
    expect([response.status, await response.json()]).toEqual([400, 'failed']);
    expect(did).toEqual([
      'outbox',
      ['failed', 'OAuthError: No.', 'orders', 'the-request', false, 'https://app.example/orders'],
    ]);
    expect(lines).toEqual([
      [
        '{endpoint} refused: {error} ({detail})',
        {
          endpoint: 'orders',
          requestId: 'the-request',
          error: 'invalid_grant',
          detail: 'the reason',
          clientId: 'notebook',
          address: '192.0.2.1',
        },
      ],
    ]);
    expect(measured).toEqual([
      [{ kind: 'endpoint', name: 'orders', route: '/orders' }, 'https://app.example/orders'],
      ['orders', refusal],
    ]);
    const unmeasured = start({}, refuse);
    expect((await unmeasured.endpoint.handle(requestWith())).status).toBe(400);
    expect([unmeasured.lines.length, unmeasured.did.length]).toEqual([1, 2]);
  });

  test('fails if its refusal cannot be measured', async () => {
    const measuring = {
      endpoint: (_: unknown, __: Request, answer: () => unknown) => answer(),
      refused() {
        throw new Error('not measured');
      },
    };
    const refuse = () => Promise.reject(new OAuthError('invalid_grant', 'No.'));
    const { endpoint, did } = start({}, refuse, { measuring });
    expect((await endpoint.handle(requestWith())).status).toBe(400);
    expect((did[2] as unknown[])[1]).toBe('Error: not measured');
  });

  test('logs no refusal for a failure, and nothing for a reply', async () => {
    const failing = start({}, () => Promise.reject(new Error('broken')));
    await failing.endpoint.handle(requestWith());
    const { endpoint, lines } = start();
    await endpoint.handle(requestWith());
    expect([failing.lines, lines]).toEqual([[], []]);
  });

  test.each([
    [true, 'text/html', true],
    [true, 'application/json', false],
    [false, 'text/html', false],
    [undefined, 'text/html', false],
  ])('for people: %s, asked for %s, fails with a page: %s', async (forPeople, accept, asPage) => {
    const { endpoint, did } = start(forPeople === undefined ? {} : { forPeople }, () =>
      Promise.reject(new Error('broken')),
    );
    await endpoint.handle(requestWith({ Accept: accept }));
    expect(did[1]).toEqual([
      'failed',
      'Error: broken',
      'orders',
      'the-request',
      asPage,
      'https://app.example/orders',
    ]);
  });

  test('fails without a page for a reply that is not valid, and names no value', async () => {
    // From here on, `Response` is a class of this package, which refuses headers only when it reads
    // them.
    getRequestListener(() => new Response());
    const reply = { status: 200, headers: { 'X-Own': 'a\nsecret', 'X-More': '1' }, body: 'done' };
    const { endpoint, did } = start({ forPeople: true }, async () => reply);
    const response = await endpoint.handle(requestWith({ Accept: 'text/html' }));
    expect([response.status, response.headers.get('x-request-id')]).toEqual([400, 'the-request']);
    expect(did[1]).toEqual([
      'failed',
      'TypeError: The status, a header or a cookie of the reply is not valid: ' +
        '200; X-Own, X-More, X-Request-Id',
      'orders',
      'the-request',
      false,
      'https://app.example/orders',
    ]);
  });

  test('passes its response to the host if it is for people, and fails if the host does', async () => {
    const stored: unknown[] = [];
    const commit = async (request: Request, response: Response) =>
      void stored.push([request.url, response.status]);
    const forPeople = true;
    await start({ forPeople }, done, { commit }).endpoint.handle(requestWith());
    expect(stored).toEqual([['https://app.example/orders', 200]]);
    await start({}, done, { commit }).endpoint.handle(requestWith());
    expect(stored).toHaveLength(1);
    const unable = { commit: () => Promise.reject(new Error('not stored')) };
    const { endpoint, did } = start({ forPeople }, done, unable);
    const response = await endpoint.handle(requestWith({ Accept: 'text/html' }));
    expect([response.status, response.headers.get('x-request-id')]).toEqual([400, 'the-request']);
    expect((did[1] as unknown[]).slice(0, 5)).toEqual([
      'failed',
      'Error: not stored',
      'orders',
      'the-request',
      true,
    ]);
  });

  test('records audit events with the origin of the request', async () => {
    const origin: Handler = async () =>
      jsonReply(currentOrigin(() => `of ${String(currentContext())}`));
    const recorded = start({}, origin, { runFrom });
    const response = await recorded.endpoint.handle(requestWith(), 'a framework');
    expect(await response.json()).toEqual({
      address: 'of a framework',
      requestId: 'the-request',
    });
    expect(await (await start({}, origin).endpoint.handle(requestWith())).json()).toEqual({
      address: null,
      requestId: null,
    });
  });
});

describe('a mount on the HTTP server of Node', () => {
  const convert = ({ status, body, headers }: Reply) => ({ status, body, headers });

  test('gets plain data from endpoints that are not for people', async () => {
    const { endpoint, did } = start();
    const replying = replyingOf(endpoint);
    expect(await replying?.(requestWith(), 'a framework', convert)).toMatchObject({
      status: 200,
      body: '"done"',
      headers: { 'X-Request-Id': 'the-request' },
    });
    expect(did).toEqual(['outbox']);
    expect(
      replyingOf({
        name: '',
        path: '',
        methods: [],
        handle: (request) => endpoint.handle(request),
      }),
    ).toBeNull();
    for (const [forPeople, expected] of [
      [true, null],
      [false, expect.any(Function) as unknown],
    ] as const)
      expect(replyingOf(start({ forPeople }).endpoint)).toEqual(expected);
  });

  test('gets an error if the reply cannot be converted', async () => {
    const { endpoint, did } = start({}, async () => jsonReply('done', 299));
    const refusing = (reply: Reply) => {
      if (reply.status === 299) throw new Error('cannot be sent');
      return convert(reply);
    };
    const asked = requestWith();
    expect(await replyingOf(endpoint)?.(asked, undefined, refusing)).toMatchObject({
      status: 400,
      headers: { 'X-Request-Id': 'the-request' },
    });
    expect((did[1] as unknown[])[1]).toContain('is not valid: 299; Content-Type');
  });
});

describe('the paths of endpoints', () => {
  const issuer = {
    name: 'about',
    path: '/about',
    methods: ['GET'],
    describesIssuer: true,
  } as const;

  test('begin with the mount path; a description of the issuer has a second path', () => {
    const paths = (description: EndpointDescription, basePath: string, mountPath = basePath) =>
      mountedAt(description, { basePath, mountPath }).map(({ name, path }) => `${name} ${path}`);
    expect(paths(DESCRIPTION, '/auth')).toEqual(['orders /auth/orders']);
    expect(paths(DESCRIPTION, '/auth', '')).toEqual(['orders /orders']);
    expect(paths(issuer, '/auth')).toEqual(['about /auth/about', 'about_in_front /about/auth']);
    expect(paths(issuer, '/auth', '')).toEqual(['about /about', 'about_in_front /about/auth']);
    expect(paths(issuer, '')).toEqual(['about /about']);
    const [, second] = mountedAt(issuer, { basePath: '/auth', mountPath: '' });
    expect(second).toMatchObject({ methods: ['GET'], describesIssuer: true });
  });

  test('of features follow those of the server, each with its own handler', async () => {
    const { by } = start();
    const names = ENDPOINT_TABLE.map(({ name }) => name);
    const handlers = Object.fromEntries(
      names.map((name): [string, Handler] => [name, async () => jsonReply(name)]),
    ) as Parameters<typeof endpointsAt>[0];
    const own = { description: issuer, handler: async () => jsonReply('own') };
    const endpoints = endpointsAt(handlers, [own], by);
    expect(endpoints.map(({ name, path, methods }) => [name, path, methods.join(' ')])).toEqual([
      ['oauth_server_authorize', '/oauth/authorize', 'GET'],
      ['oauth_server_consent', '/oauth/authorize', 'POST'],
      ['oauth_server_token', '/oauth/token', 'POST OPTIONS'],
      ['oauth_server_revoke', '/oauth/revoke', 'POST OPTIONS'],
      ['oauth_server_introspect', '/oauth/introspect', 'POST'],
      ['oauth_server_userinfo', '/oauth/userinfo', 'GET POST OPTIONS'],
      ...['openid_configuration', 'metadata'].flatMap((name, index) => {
        const at = ['openid-configuration', 'oauth-authorization-server'][index] ?? '';
        return [
          [`oauth_server_${name}`, `/.well-known/${at}`, 'GET OPTIONS'],
          [`oauth_server_${name}_in_front`, `/.well-known/${at}/auth`, 'GET OPTIONS'],
        ];
      }),
      ['oauth_server_jwks', '/.well-known/jwks.json', 'GET OPTIONS'],
      ['about', '/about', 'GET'],
      ['about_in_front', '/about/auth', 'GET'],
    ]);
    const bodies = await Promise.all(
      endpoints.map(async ({ handle }) => (await handle(requestWith())).json() as unknown),
    );
    const expected = endpoints.map(({ name }) => name.replace('_in_front', ''));
    expect(bodies).toEqual(expected.map((name) => (name === 'about' ? 'own' : name)));
  });

  test('that receive POST requests are exempt from the CSRF check', () => {
    const own = ['consent', 'token', 'revoke', 'introspect', 'userinfo'];
    const names = own.map((name): [string, true] => [`oauth_server_${name}`, true]);
    expect(csrfExemptRoutes([{}])).toEqual(Object.fromEntries(names));
    const endpoints: readonly EndpointDescription[] = [
      { name: 'form', path: '/form', methods: ['GET', 'POST'] },
      { name: 'deleting', path: '/deleting', methods: ['PUT', 'DELETE'] },
    ];
    expect(csrfExemptRoutes([{ endpoints }, {}])).toEqual({
      ...Object.fromEntries(names),
      form: true,
    });
  });
});
