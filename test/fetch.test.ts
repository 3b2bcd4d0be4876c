// @engines sqlite: the database makes no difference
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  token,
  type AuthorizationServer,
  type Host,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { REDIRECT_URI, VERIFIER, type Tokens, codeRequest } from './support/portal.ts';

/** What a framework passes with a request. */
interface Framework {
  readonly name: string;
}

const ISSUER = 'https://host.example';
const PERSON = { provider: 'staff', id: '7' };

let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let server: AuthorizationServer;
let handle: ReturnType<typeof createHandler<Framework>>;
let someone: typeof PERSON | null = PERSON;
let failing = false;
/** The logged errors. */
let errors: string[] = [];
/** The called members, and the context of each. */
let called: (readonly [member: string, context: Framework | undefined])[] = [];

const noted =
  <Arguments extends readonly unknown[], Answer>(
    member: string,
    answer: (...given: Arguments) => Answer,
  ) =>
  (...given: Arguments): Answer => {
    called.push([member, given.at(-1) as Framework | undefined]);
    return answer(...given);
  };

const host: Host<Framework> = {
  signedIn: noted('signedIn', async (_request: Request) => someone),
  loadAccount: noted('loadAccount', async (reference: typeof PERSON) => ({
    reference,
    isActive: () => true,
    getProfile: () => ({ name: 'Ada' }),
  })),
  holdsPermission: noted('holdsPermission', async () => true),
  browserSecret: noted('browserSecret', async (_request: Request) => 'the secret of this browser'),
  signOut: noted('signOut', async () => {}),
  loginUrl: noted('loginUrl', (returnTo: string) => `/sign-in?to=${encodeURIComponent(returnTo)}`),
  passwordHasher: {
    hash: async (password) => `#${password}`,
    verify: async (one, other) => `#${one}` === other,
  },
  render: noted('render', async (_view: string, data: Readonly<Record<string, unknown>>) =>
    JSON.stringify(data),
  ),
  clientAddress: noted('clientAddress', () => null),
  audit: noted('audit', async () => {}),
  log: {
    debug() {},
    info() {},
    warning() {},
    error: (_, context) => void errors.push(String(context?.['exception'])),
  },
  commit: noted('commit', async (_request: Request, response: Response) => {
    if (failing) throw new Error('the session cannot be kept');
    response.headers.append('Set-Cookie', 'session=kept');
  }),
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-fetch-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  const config = oauthServerConfiguration.parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
  });
  server = createAuthorizationServer({ publicUrl: ISSUER, config, host, database });
  await server.keys.generate();
  handle = createHandler(server);
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  called = [];
  errors = [];
  someone = PERSON;
  failing = false;
});

async function answer(at: string, init: RequestInit = {}, context?: Framework): Promise<Response> {
  const response = await handle(new Request(ISSUER + at, init), context);
  if (response === null) throw new Error(`${at} is not an endpoint's`);
  return response;
}

const form = (fields: Readonly<Record<string, string>>) => ({
  method: 'POST',
  body: new URLSearchParams(fields),
});

async function requestOf(): Promise<{
  readonly clientId: string;
  readonly secret: string;
  readonly at: string;
}> {
  const { client, secret } = await server.clients.create({
    name: 'App',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'notes:read'],
  });
  const query = codeRequest(client.id, { scope: 'openid notes:read' });
  return { clientId: client.id, secret: secret ?? '', at: `/oauth/authorize?${query}` };
}

async function questionOf(at: string, context?: Framework) {
  const page = await answer(at, {}, context);
  const { requestId = '', csrfToken = '' } = (await page.json()) as Readonly<
    Record<string, string>
  >;
  return { request_id: requestId, csrf_token: csrfToken };
}

describe('routing of requests', () => {
  test('leaves a path that is not an endpoint to the application, with its body unread', async () => {
    const request = new Request(`${ISSUER}/oauth/tokens`, form({ a: 'b' }));
    expect([await handle(request), request.bodyUsed]).toEqual([null, false]);
    for (const path of ['/', '/oauth/token/', '/oauth/%74oken', '//oauth/token', '/OAUTH/token'])
      expect([path, await handle(new Request(ISSUER + path))]).toEqual([path, null]);
  });

  test('responds to an unsupported method with 405, Allow and the request id', async () => {
    const refused = await answer('/oauth/token?x=/oauth/authorize', {
      headers: { 'X-Request-Id': 'the-one' },
    });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect(refused.headers.get('x-request-id')).toBe('the-one');
    expect(await refused.json()).toEqual({ error: 'invalid_request' });
  });

  test('lists HEAD in Allow where GET works, because HEAD works there too', async () => {
    const url = `${ISSUER}/.well-known/jwks.json`;
    const refused = await handle(new Request(url, { method: 'PUT' }));
    expect([refused?.status, refused?.headers.get('allow')]).toEqual([405, 'GET, OPTIONS, HEAD']);
    expect((await handle(new Request(url, { method: 'HEAD' })))?.status).toBe(200);
  });

  test('lists only methods in Allow for which an endpoint does not refuse every request', async () => {
    const endpoint = { name: 'shared', path: '/shared', handle: async () => new Response('in') };
    const endpoints = [
      { ...endpoint, methods: ['POST'] },
      { ...endpoint, methods: ['GET'], refusesMethods: true },
    ] as const;
    const refused = await createHandler({ endpoints })(
      new Request(`${ISSUER}/shared`, { method: 'PUT' }),
    );
    expect([refused?.status, refused?.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('leaves a path that ends like that of an endpoint to the application, also without a log', async () => {
    const endpoint = { name: 'one', path: '/one', handle: async () => new Response('in') };
    const handling = createHandler({ endpoints: [{ ...endpoint, methods: ['GET'] }] });
    expect(await handling(new Request(`${ISSUER}/below/one`))).toBeNull();
    expect(await (await handling(new Request(`${ISSUER}/one`)))?.text()).toBe('in');
  });

  test('logs the refusal of a method to the host of the first server that has one', async () => {
    const lines: unknown[] = [];
    const log = { ...server.host.log, info: (...line: unknown[]) => void lines.push(line) };
    const endpoint = {
      name: 'one',
      path: '/one',
      methods: ['GET'] as const,
      handle: async () => new Response(),
    };
    const handling = createHandler({ endpoints: [endpoint] }, { endpoints: [], host: { log } });
    const headers = { 'X-Request-Id': 'the-one' };
    await handling(new Request(`${ISSUER}/one`, { method: 'PUT', headers }));
    expect(lines).toEqual([
      [
        '{endpoint} refused: {error} ({detail})',
        {
          endpoint: 'one',
          requestId: 'the-one',
          error: 405,
          detail: 'the endpoint at this path does not accept the method of the request',
          clientId: null,
          address: null,
        },
      ],
    ]);
  });

  // @shows AS-6.14
  test('marks the refusal of a method as not cacheable', async () => {
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect'])
      expect((await answer(path)).headers.get('cache-control')).toBe('no-store');
    const put = await answer('/oauth/userinfo', { method: 'PUT' });
    expect(put.headers.get('cache-control')).toBe('no-store');
  });

  test('responds to HEAD like to GET, without the body', async () => {
    const [head, get] = [
      await answer('/.well-known/jwks.json', { method: 'HEAD' }),
      await answer('/.well-known/jwks.json'),
    ];
    expect([head.status, head.headers.get('etag')]).toEqual([200, get.headers.get('etag')]);
    expect([head.body, (await get.text()).includes('"keys"')]).toEqual([null, true]);
    expect((await answer('/oauth/token', { method: 'HEAD' })).body).toBeNull();
  });
});

describe('the framework context of a request', () => {
  // @shows AS-1.10
  test('is passed to each host function called for it, and never to a simultaneous request', async () => {
    const [one, other]: readonly Framework[] = [{ name: 'one' }, { name: 'other' }];
    const { clientId, secret, at } = await requestOf();
    called = [];
    const [question] = await Promise.all([
      questionOf(at, one),
      questionOf(at, other),
      questionOf(at),
    ]);
    for (const member of [
      'signedIn',
      'loadAccount',
      'holdsPermission',
      'browserSecret',
      'render',
      'commit',
    ]) {
      const contexts = called.filter(([name]) => name === member).map(([, context]) => context);
      expect([member, new Set(contexts)]).toEqual([member, new Set([one, other, undefined])]);
    }
    called = [];
    const allowed = await answer('/oauth/authorize', form({ ...question, decision: 'allow' }), one);
    const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const issued = await answer(
      '/oauth/token',
      form({
        grant_type: 'authorization_code',
        client_id: clientId,
        client_secret: secret,
        code,
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      }),
      one,
    );
    const { access_token: accessToken } = (await issued.json()) as Tokens;
    const Authorization = `Bearer ${accessToken}`;
    await answer('/oauth/userinfo', { headers: { Authorization } }, one);
    const called401 = await server.withToken(
      new Request(`${ISSUER}/notes`, { headers: { Authorization: 'Bearer x' } }),
      async () => {
        token().requireScope('notes:read');
        return new Response();
      },
      one,
    );
    const found = await server.lookUpToken(Authorization, undefined, one);
    someone = null;
    await answer(at, {}, one);
    expect([called401.status, 'run' in found]).toEqual([401, true]);
    const members = new Set(called.map(([member]) => member));
    for (const member of ['audit', 'clientAddress', 'loadAccount', 'holdsPermission', 'loginUrl'])
      expect(members).toContain(member);
    expect(called.filter(([, context]) => context !== one)).toEqual([]);
  });
});

describe('Host.commit', () => {
  // @shows AS-1.11
  test('adds cookies to browser responses, once per request, also to a refusal', async () => {
    const { at } = await requestOf();
    called = [];
    for (const [path, status] of [
      [at, 200],
      ['/oauth/applications', 200],
      ['/oauth/authorize', 400],
    ] as const) {
      const response = await answer(path, { headers: { Accept: 'text/html' } });
      expect([path, response.status, response.headers.getSetCookie()]).toEqual([
        path,
        status,
        ['session=kept'],
      ]);
    }
    expect(called.filter(([member]) => member === 'commit')).toHaveLength(3);
  });

  test('runs after the session has ended, and keeps the cookie of the waiting request', async () => {
    const { at } = await requestOf();
    const question = await questionOf(at);
    called = [];
    const away = await answer('/oauth/authorize', form({ ...question, decision: 'switch' }));
    expect(away.headers.getSetCookie().map((cookie) => cookie.split('=', 1)[0])).toEqual([
      expect.stringMatching(/^__Secure-portico_request_/),
      'session',
    ]);
    const order = called
      .map(([member]) => member)
      .filter((member) => /signOut|commit/.test(member));
    expect(order).toEqual(['signOut', 'commit']);
  });

  // @shows AS-1.11
  test('that fails replaces the response with a 500 without cookies', async () => {
    const { at } = await requestOf();
    failing = true;
    const response = await answer(at);
    expect([response.status, await response.json()]).toEqual([
      500,
      expect.objectContaining({ error: 'server_error' }),
    ]);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test('is not called for requests of applications', async () => {
    await answer('/oauth/token', form({ grant_type: 'refresh_token', client_id: 'unknown' }));
    await answer('/oauth/introspect', form({ token: 'x' }));
    await answer('/oauth/userinfo');
    await answer('/.well-known/jwks.json');
    expect(called.filter(([member]) => member === 'commit')).toEqual([]);
  });
});

test.each([
  ['with a length', { 'Content-Length': '22' }],
  ['without a length', {}],
])(
  'if the application has already read the request body, %s, the log names the cause',
  async (_, length) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...length };
    const init = { method: 'POST', headers, body: 'grant_type=made_up&a=b' };
    const request = new Request(`${ISSUER}/oauth/token`, init);
    await request.text();
    const response = await handle(request);
    expect([response?.status, await response?.json()]).toMatchObject([
      500,
      { error: 'server_error' },
    ]);
    expect(errors).toEqual([
      expect.stringContaining(
        'The body was read from the request before portico() got the request',
      ),
    ]);
  },
);

describe('the session of a person', () => {
  test.each([
    ['no Authorization', {}, 200],
    ['a bearer token', { Authorization: 'Bearer invented' }, 302],
    ['a bearer token in a different case', { Authorization: 'bEARER invented' }, 302],
    ['HTTP Basic of a proxy', { Authorization: 'Basic YTpi' }, 200],
  ])('is ignored only in a request with a token: %s', async (_, headers, status) => {
    const response = await answer('/oauth/applications', { headers: { ...headers } });
    expect(response.status).toBe(status);
    const asked = called.some(([member]) => member === 'signedIn');
    expect(asked).toBe(status === 200);
  });

  // @shows AS-12.18
  test.each([
    ['accept', 302],
    ['off', 200],
  ])('is ignored for the scheme DPoP only if DPoP is on: dpop is %s', async (dpop, status) => {
    const config = oauthServerConfiguration.parse({
      name: 'Host',
      scopes: {},
      key_path: path.join(folder, 'keys'),
      dpop,
    });
    const { endpoints } = createAuthorizationServer({
      publicUrl: ISSUER,
      config,
      host,
      database,
    });
    const page = endpoints.find(({ path }) => path === '/oauth/applications');
    const headers = { Authorization: 'DPoP invented' };
    const response = await page?.handle(new Request(`${ISSUER}/oauth/applications`, { headers }));
    expect(response?.status).toBe(status);
  });
});
