// @engines all, long: it takes some seconds on each engine
import { setImmediate } from 'node:timers/promises';
import fc, { type Arbitrary } from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  ADA,
  authorizationUrl,
  callApi,
  CHALLENGE,
  obtainCode,
  obtainTokens,
  PASSWORD,
  REDIRECT_URI,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import {
  anyQuery,
  getNear,
  MARKUP,
  nearMiss,
  postNear,
  queryNear,
  rarely,
  requestOf,
  word,
  type Parameters,
  type Sent,
} from './support/hostile.ts';
import { formDoing, PERMISSION } from './support/administration.ts';
import { SCALE, RUNS_ALL } from './support/scale.ts';
import { formOf, type Visitor } from './support/visitor.ts';

/** How many requests every endpoint gets. */
const ON_A_SERVER = inject('databaseServer') !== undefined;
const CASES = ON_A_SERVER ? SCALE.hostileRequestsOnServers : SCALE.hostileRequests;
/** The maximum duration of a request, in milliseconds. It is high enough for a busy machine. */
const HANGS = 60_000;

let portal: RunningPortal;
/** A public client. It has no secret, so no request needs the slow check of a secret. */
let client: TestClient;
/** A client whose secret is never sent, so the server must reject even its unchanged tokens. */
let owner: TestClient;
/** A client that may only introspect. One of fifty requests contains its secret. */
let inspector: TestClient;
let ada: Visitor;
let own: Tokens;
let owners: Tokens;
let code: string;

beforeAll(async () => {
  // The server's clock stands still, so that nothing expires during the test.
  const now = Date.now();
  const config = { oauth_server: { admin_permission: PERMISSION } };
  portal = await startPortal({ clock: () => now, random: () => 0, config });
  await portal.grant(ADA, PERMISSION);
  const { database } = portal.application;
  // No fsync: every session would wait for the disk.
  if (database.dialect === 'sqlite') await database.execute('PRAGMA synchronous = OFF');
  client = await registerClient(portal, { public: true });
  owner = await registerClient(portal);
  inspector = await registerClient(portal, {
    redirectUris: [],
    scopes: [],
    grants: ['introspection'],
  });
  ada = await portal.signedIn(ADA);
  own = (await (await exchangePublicly(await obtainCode(portal, client, ada))).json()) as Tokens;
  owners = await obtainTokens(portal, owner, ADA);
  code = await obtainCode(portal, client, ada);
});
afterAll(() => portal.close());

/** The public client exchanges its code. */
function exchangePublicly(issued: string): Promise<Response> {
  return requestToken(portal, null, {
    grant_type: 'authorization_code',
    client_id: client.id,
    code: issued,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
}

// --- what must hold for every answer
// --------------------------------------------------------------------------

interface Answer {
  readonly sent: Sent;
  readonly response: Response;
  readonly body: string;
}

/** Returns the problems of a response, in words. The list is empty if there are none. */
type Judge = (answer: Answer) => readonly string[];

const TRACE = /\bat .*\(.*:\d+:\d+\)|node_modules|\.[jt]s:\d+|node:internal/;
const TOKEN = /"(?:access|refresh|id)_token"\s*:/;

/**
 * Checks for every endpoint that the response is no server error, reveals no internals and no
 * token, and redirects to no other place.
 */
function judged(answer: Answer): string[] {
  const { response, body } = answer;
  const headers = [...response.headers].map((header) => header.join(': ')).join('\n');
  const wrong: string[] = [];
  if (response.status >= 500) wrong.push(`status ${response.status}`);
  if (TRACE.test(body) || TRACE.test(headers)) wrong.push('tells of the code');
  if (TOKEN.test(body)) wrong.push('issues a token');
  return [...wrong, ...astray(response)];
}

/**
 * Checks the redirect target. It must be on this origin, or the registered redirect URI without a
 * code.
 */
function astray(response: Response): readonly string[] {
  const location = response.headers.get('location');
  if (location === null)
    return response.status >= 300 && response.status < 400 ? ['leads nowhere'] : [];
  if (location.startsWith(`${REDIRECT_URI}?`)) {
    return new URL(location).searchParams.has('code') ? ['issues a code'] : [];
  }
  const target = new URL(location, portal.url);
  const home = new URL(portal.url).origin;
  const next = target.pathname === '/login' ? target.searchParams.get('return_to') : null;
  return /^\/(?![/\\])/.test(location) && target.origin === home && originOf(next ?? '/') === home
    ? []
    : [`leads to ${location}`];
}

function originOf(path: string): string | null {
  return URL.canParse(path, portal.url) ? new URL(path, portal.url).origin : null;
}

function mediaTypeOf({ response }: Answer): string | null {
  return response.headers.get('content-type')?.split(';', 1)[0] ?? null;
}

/** Checks for a JSON response. If the request was rejected, it must have the member `error`. */
const inJson: Judge = (answer) => {
  if (mediaTypeOf(answer) !== 'application/json') return [`is ${mediaTypeOf(answer)}`];
  let value: unknown;
  try {
    value = JSON.parse(answer.body);
  } catch {
    return ['is not JSON'];
  }
  if (typeof value !== 'object' || value === null) return ['is not an object'];
  const refused = answer.response.status >= 400;
  return refused && (!('error' in value) || typeof value.error !== 'string')
    ? ['names no error']
    : [];
};

/** Checks for a page or a redirect. A request that no browser sends may be rejected with JSON. */
const forPeople: Judge = (answer) => {
  const { response, body } = answer;
  if (response.status >= 300 && response.status < 400) return [];
  if (response.status >= 400 && mediaTypeOf(answer) === 'application/json') return inJson(answer);
  if (mediaTypeOf(answer) !== 'text/html') return [`is ${mediaTypeOf(answer)}`];
  return body.includes(MARKUP) ? ['repeats markup'] : [];
};

async function answerTo(method: string, path: string, sent: Sent): Promise<Answer> {
  // Let timers run: the timer that finds hanging requests, and those that close idle connections.
  await setImmediate();
  const response = await portal.application.fetch(requestOf(portal, method, path, sent));
  return { sent, response, body: await response.text() };
}

/**
 * Sends the requests to the endpoint, such as `POST /oauth/token`, and checks every response. Some
 * responses must have these statuses. Otherwise all requests could have been rejected too early to
 * test much.
 */
async function expectAll(
  endpoint: string,
  requests: Arbitrary<Sent>,
  reached: readonly number[],
  judge: Judge,
): Promise<void> {
  const [method, path] = endpoint.split(' ') as [string, string];
  const before = await kept();
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(requests, async (sent) => {
      const answer = await answerTo(method, path, sent);
      seen.add(answer.response.status);
      expect([...judged(answer), ...judge(answer)]).toEqual([]);
    }),
    { numRuns: CASES, timeout: HANGS },
  );
  expect(await kept()).toEqual(before);
  // Only a long run certainly gets all of these statuses.
  expect(RUNS_ALL && !ON_A_SERVER ? reached.filter((status) => !seen.has(status)) : []).toEqual([]);
}

/** The paths of the server and of the kit. */
const PATHS = [
  '/oauth/authorize',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/userinfo',
  '/oauth/applications',
  '/oauth/admin',
  '/oauth/admin/client',
  '/oauth/admin/access',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/jwks.json',
  '/login',
  '/logout',
] as const;

const TABLES = [
  'oauth_clients',
  'oauth_subjects',
  'oauth_families',
  'oauth_access_tokens',
  'host_accounts',
  'host_account_permissions',
] as const;

/** Returns the rows that only an authorized caller may add, change or remove. */
async function kept(): Promise<Readonly<Record<string, readonly string[]>>> {
  const { database } = portal.application;
  const tables = TABLES.map(async (table) => {
    const { rows } = await database.execute(`SELECT * FROM ${table}`);
    return [table, rows.map((row) => JSON.stringify(row)).sort()] as const;
  });
  return Object.fromEntries(await Promise.all(tables));
}

// --- what is sent
// ---------------------------------------------------------------------------------------------

/**
 * A text that looks like a token but is not valid for this client. It is a token of another client,
 * or has one different character.
 */
function anyToken(): Arbitrary<string> {
  const living = [own.access_token, own.id_token, code, owners.access_token];
  return fc.oneof(
    ...living.map(nearMiss),
    ...[own.refresh_token, owners.refresh_token].map(nearRefreshToken),
    fc.constantFrom(owners.access_token, owners.refresh_token, owners.id_token),
  );
}

/**
 * Changes the part of a refresh token that contains the mark of its family. The changed token is
 * unknown. With the right mark and another rest, the server would treat it as a used token and end
 * the family (docs/decisions/0008), because the sender must have had a token of the family.
 */
function nearRefreshToken(token: string): Arbitrary<string> {
  const end = token.lastIndexOf('.');
  return fc.oneof(
    nearMiss(token.slice(0, end)).map((before) => before + token.slice(end)),
    fc.constantFrom(token.slice(0, end), token.slice(end + 1)),
  );
}

function anyClientId(): Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(client.id) },
    { weight: 1, arbitrary: fc.constantFrom(owner.id, inspector.id) },
    { weight: 1, arbitrary: nearMiss(client.id) },
  );
}

function anyRedirectUri(): Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(REDIRECT_URI) },
    { weight: 1, arbitrary: nearMiss(REDIRECT_URI) },
    { weight: 1, arbitrary: word.map((more) => `${REDIRECT_URI}${more}`) },
    { weight: 1, arbitrary: word.map((host) => `https://client.example${host}/callback`) },
  );
}

/**
 * A POST of a client. Most are from the public client. One of fifty has a secret, correct or wrong.
 */
function clientPost(...alternatives: readonly Parameters[]): Arbitrary<Sent> {
  const token = anyToken();
  const named = alternatives.map((parameters) => ({ client_id: anyClientId(), ...parameters }));
  const withSecret = (id: string, secret: string) =>
    postNear(alternatives, { token, authorized: 0 }, [
      ['Authorization', `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`],
    ]);
  return rarely(
    postNear(named, { token }),
    fc.oneof(
      { weight: 6, arbitrary: withSecret(inspector.id, inspector.secret) },
      { weight: 1, arbitrary: withSecret(owner.id, inspector.secret) },
      { weight: 1, arbitrary: withSecret(client.id, '') },
      {
        weight: 2,
        arbitrary: postNear(
          named.map((parameters) => ({ ...parameters, client_secret: word })),
          { token },
        ),
      },
    ),
  );
}

const constant = (value: string) => fc.constant(value);

describe('for every generated input', () => {
  // @shows AS-6.19, RFC6749-10.14, RFC9700-2.1.2
  test('GET /oauth/authorize returns a page or a redirect to the client or sign-in, without a code', async () => {
    const requestId = await requestIdOf(ada);
    const scope = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom('openid', 'notes:read notes:write', 'profile openid profile'),
      },
      { weight: 1, arbitrary: fc.constantFrom('openid unknown', ' ', 'a"b') },
    );
    const query = queryNear(
      {
        client_id: anyClientId(),
        redirect_uri: anyRedirectUri(),
        response_type: constant('code'),
        scope,
        state: word,
        nonce: word,
        code_challenge: fc.oneof(
          { weight: 8, arbitrary: constant(CHALLENGE) },
          { weight: 1, arbitrary: nearMiss(CHALLENGE) },
        ),
        code_challenge_method: constant('S256'),
      },
      { request_id: fc.oneof(constant(requestId), nearMiss(requestId), word) },
    );
    const requests = getNear(query, { token: anyToken(), cookie: ada.cookies(), authorized: 5 });
    await expectAll('GET /oauth/authorize', requests, [200, 302, 400], (answer) => [
      ...forPeople(answer),
      ...(mediaTypeOf(answer) === 'application/json' && !hasBearer(answer.sent) ? ['is JSON'] : []),
    ]);
  });

  // @shows RFC9700-4.7
  test('POST /oauth/authorize returns a page, accepts no answer, and keeps the request open', async () => {
    const consent = await ada.visit(authorizationUrl(portal, client));
    const { request_id: requestId = '', csrf_token: csrfToken = '' } = formOf(
      await consent.clone().text(),
    ).fields;
    const another = formOf(await (await ada.visit(authorizationUrl(portal, client))).text()).fields;
    const decision = fc.constantFrom('allow', 'deny', 'switch');
    const requests = postNear(
      [
        {
          request_id: fc.oneof(constant(requestId), nearMiss(requestId)),
          csrf_token: fc.oneof(nearMiss(csrfToken), constant(another['csrf_token'] ?? '')),
          decision,
        },
        {
          request_id: constant(requestId),
          csrf_token: constant(csrfToken),
          decision: fc.oneof(word, nearMiss('allow'), nearMiss('switch')),
        },
        { request_id: nearMiss(requestId), csrf_token: constant(csrfToken), decision },
      ],
      { token: anyToken(), cookie: ada.cookies(), authorized: 5 },
    );
    await expectAll('POST /oauth/authorize', requests, [400, 413], (answer) => [
      ...forPeople(answer),
      ...(answer.response.headers.has('location') ? ['is an answer'] : []),
    ]);
    const answered = await ada.submit(consent, { decision: 'allow' });
    expect(answered.headers.get('location')).toMatch(/[?&]code=/);
  });

  // @shows AS-6.19
  test('POST /oauth/token returns JSON, never a server error, never a token', async () => {
    const token = anyToken();
    const requests = clientPost(
      { grant_type: constant('refresh_token'), refresh_token: token },
      { grant_type: constant('refresh_token'), refresh_token: token, scope: word, resource: word },
      {
        grant_type: constant('authorization_code'),
        code: fc.oneof(nearMiss(code), token),
        redirect_uri: anyRedirectUri(),
        code_verifier: fc.oneof(constant(VERIFIER), nearMiss(VERIFIER)),
      },
      { grant_type: constant('client_credentials'), scope: word },
      { grant_type: word },
    );
    await expectAll('POST /oauth/token', requests, [400, 401, 413], (answer) => [
      ...inJson(answer),
      ...(answer.response.status < 400 ? ['succeeds'] : []),
    ]);
  });

  // @shows AS-6.19
  test('POST /oauth/revoke returns nothing or JSON, and revokes no valid token', async () => {
    const hint = fc.oneof(fc.constantFrom('access_token', 'refresh_token'), word);
    const requests = clientPost(
      { token: anyToken() },
      { token: anyToken(), token_type_hint: hint },
    );
    await expectAll('POST /oauth/revoke', requests, [200, 400, 401, 413], (answer) => {
      if (answer.response.status !== 200) return inJson(answer);
      return answer.body === '' ? [] : ['says something'];
    });
  });

  // @shows RFC7662-2.1a
  test('POST /oauth/introspect returns JSON, and only a token that was sent can be active', async () => {
    const requests = clientPost({ token: anyToken() });
    await expectAll('POST /oauth/introspect', requests, [200, 400, 401, 413], (answer) => {
      const { body } = answer.sent;
      const exact = Buffer.from(body ?? '').includes(owners.access_token);
      const opened = answer.response.status < 400 && !exact && answer.body !== '{"active":false}';
      return [...inJson(answer), ...(opened ? ['is active'] : [])];
    });
  });

  test.each([
    ['GET', [200, 401]],
    // Only a request with a body can be 413 or have a wrong type.
    ['POST', [200, 400, 401, 413]],
  ] as const)(
    '%s /oauth/userinfo returns JSON, with a person only for a valid token',
    async (method, reached) => {
      const options = {
        token: fc.oneof(nearMiss(own.access_token), anyToken()),
        cookie: ada.cookies(),
        authorized: 80,
      };
      const requests =
        method === 'GET'
          ? getNear(queryNear({ access_token: constant(own.access_token) }), options)
          : postNear([{ access_token: constant(own.access_token) }], options);
      await expectAll(`${method} /oauth/userinfo`, requests, reached, (answer) => {
        const sent = `${authorizationOf(answer.sent)} ${Buffer.from(answer.sent.body ?? '').toString('latin1')}`;
        const exact = [own, owners].some((tokens) => sent.includes(tokens.access_token));
        return [
          ...inJson(answer),
          ...(answer.response.status < 400 && !exact ? ['tells of somebody'] : []),
        ];
      });
    },
  );

  test.each(['openid-configuration', 'oauth-authorization-server', 'jwks.json'])(
    'GET /.well-known/%s returns the same document',
    async (name) => {
      const path = `/.well-known/${name}`;
      const document = await (await fetch(new URL(path, portal.url))).text();
      const requests = getNear(anyQuery, { token: anyToken(), cookie: ada.cookies() });
      await expectAll(`GET ${path}`, requests, [200], (answer) => [
        ...inJson(answer),
        ...(answer.response.status === 200 && answer.body === document
          ? []
          : ['is another document']),
      ]);
    },
  );

  test('GET /oauth/applications returns the page or redirects to sign-in', async () => {
    const requests = getNear(anyQuery, { token: anyToken(), cookie: ada.cookies(), authorized: 5 });
    await expectAll('GET /oauth/applications', requests, [200, 302], forPeople);
  });

  test('POST /oauth/applications ends no access without the CSRF token', async () => {
    const page = await ada.visit('/oauth/applications');
    const { client_id: clientId = '', csrf_token: csrfToken = '' } = formOf(
      await page.text(),
    ).fields;
    const requests = postNear(
      [
        { client_id: constant(clientId), csrf_token: fc.oneof(nearMiss(csrfToken), word) },
        { client_id: fc.oneof(nearMiss(clientId), word), csrf_token: constant(csrfToken) },
      ],
      { token: anyToken(), cookie: ada.cookies(), authorized: 5 },
    );
    await expectAll('POST /oauth/applications', requests, [303, 400, 413], (answer) => [
      ...forPeople(answer),
      ...(answer.response.headers.get('location')?.includes('removed') === true
        ? ['takes access back']
        : []),
    ]);
  });

  // @shows AS-33.6
  test.each(['clients', 'client', 'access', 'person', 'registration', 'keys'])(
    'GET /oauth/admin/%s returns a page or redirects to sign-in',
    async (page) => {
      const query = queryNear(
        {
          id: fc.oneof(constant(client.id), nearMiss(client.id), word),
          ask: fc.oneof(word, constant('update')),
        },
        {
          provider: word,
          person: word,
          client: anyClientId(),
          scope: word,
          after: word,
          unused_days: word,
          done: word,
        },
        {
          provider: fc.oneof(constant('accounts'), word),
          id: fc.oneof(constant('1'), word),
          ask: fc.oneof(constant('erase'), word),
        },
      );
      const requests = getNear(query, { token: anyToken(), cookie: ada.cookies(), authorized: 5 });
      await expectAll(`GET /oauth/admin/${page}`, requests, [200, 302], forPeople);
    },
  );

  // @shows AS-33.3
  test('POST /oauth/admin/client changes nothing without the complete form', async () => {
    const page = await ada.get(`/oauth/admin/client?id=${client.id}&ask=revoke`);
    const { fields } = await formDoing(page, 'revoke');
    const near = (name: string) => fc.oneof(nearMiss(fields[name] ?? ''), word);
    const exact = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, constant(value)]),
    );
    const requests = postNear(
      [
        { ...exact, csrf_token: near('csrf_token') },
        { ...exact, state: near('state') },
        { ...exact, form_id: near('form_id') },
        { ...exact, shown_at: near('shown_at') },
        {
          ...exact,
          do: fc.constantFrom('update', 'rotate-secret', 'unblock', 'constructor', '__proto__'),
        },
      ],
      { token: anyToken(), cookie: ada.cookies(), authorized: 5 },
    );
    await expectAll('POST /oauth/admin/client', requests, [303, 400, 413], forPeople);
  });

  // @shows RFC6749-10.15, RFC9700-2.1c
  test('similar paths with any method return no server error and no redirect to another site', async () => {
    const methods = fc.constantFrom(
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'PROPFIND',
    );
    const path = fc.constantFrom(...PATHS);
    const near = fc.oneof(
      path,
      path.chain(nearMiss),
      fc.tuple(path, word).map((parts) => parts.join('/')),
      fc.tuple(word, path).map(([before, after]) => `/${before}${after}`),
    );
    const requests = getNear(anyQuery, { token: anyToken(), cookie: ada.cookies() });
    await fc.assert(
      fc.asyncProperty(methods, near, requests, async (method, at, sent) => {
        const answer = await answerTo(method, at, sent);
        expect(judged(answer)).toEqual([]);
      }),
      { numRuns: CASES, timeout: HANGS },
    );
  });

  test('GET /login returns the page', async () => {
    const query = queryNear({ return_to: word });
    const requests = getNear(query, { token: anyToken(), cookie: ada.cookies(), authorized: 5 });
    await expectAll('GET /login', requests, [200, 400], (answer) => [
      ...forPeople(answer),
      ...(answer.response.status === 200 || hasBearer(answer.sent) ? [] : ['is not the page']),
    ]);
  });

  // @shows OIDC-3.1.2.3
  test('POST /login does not sign in without the CSRF token', async () => {
    const csrf = await csrfTokenOf(ada);
    const form = { identifier: constant(ADA), password: constant(PASSWORD), return_to: word };
    const token = anyToken();
    const usual = { token, cookie: ada.cookies(), authorized: 0 };
    const requests = rarely(
      postNear([form, { ...form, _csrf: fc.oneof(nearMiss(csrf), word) }], usual),
      // These requests get to the password check, which is slow by design.
      fc.oneof(
        postNear(
          [{ ...form, _csrf: constant(csrf), password: fc.oneof(nearMiss(PASSWORD), word) }],
          usual,
        ),
        postNear([form], { token, authorized: 100 }),
      ),
    );
    await expectAll('POST /login', requests, [400, 401, 403], (answer) => [
      ...forPeople(answer),
      ...(answer.response.headers.has('location') ? ['signs somebody in'] : []),
    ]);
  });

  // @shows RFC9700-2.1c
  test('POST /login with the right password never redirects to another host for any return_to', async () => {
    const hosts = fc
      .array(
        fc.constantFrom('/', '\\', '\t', '\n', '.', '@', ':', '%2f', 'https:', 'evil.example'),
        {
          maxLength: 6,
        },
      )
      .map((found) => found.join(''));
    const paths = word.map((rest) => `/${rest}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(word, paths, hosts), async (returnTo) => {
        const visitor = portal.visitor();
        const _csrf = await csrfTokenOf(visitor);
        const body = new URLSearchParams({
          _csrf,
          identifier: ADA,
          password: PASSWORD,
          return_to: returnTo,
        });
        const answer = await answerTo('POST', '/login', {
          query: '',
          headers: [
            ['Cookie', visitor.cookies()],
            ['Content-Type', 'application/x-www-form-urlencoded'],
          ],
          body: body.toString(),
        });
        expect(judged(answer)).toEqual([]);
        expect(answer.response.status).toBe(body.toString().length > 64 * 1024 ? 413 : 303);
      }),
      { numRuns: Math.ceil(CASES / 50), timeout: HANGS },
    );
  });

  test('POST /logout does not sign out without a CSRF token', async () => {
    const csrf = await csrfTokenOf(ada);
    const requests = postNear([{ _csrf: fc.oneof(nearMiss(csrf), word) }], {
      token: anyToken(),
      cookie: ada.cookies(),
    });
    await expectAll('POST /logout', requests, [303, 403], forPeople);
    expect((await ada.visit(authorizationUrl(portal, client))).status).toBe(200);
  });
});

// @shows AS-6.19
test('after all hostile input, the session, the code and every token issued before are still valid', async () => {
  expect((await ada.visit(authorizationUrl(portal, client))).status).toBe(200);
  for (const tokens of [own, owners]) {
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
    expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
  }
  expect((await exchangePublicly(code)).status).toBe(200);
  const refreshed = await requestToken(portal, null, {
    grant_type: 'refresh_token',
    client_id: client.id,
    refresh_token: own.refresh_token,
  });
  expect(refreshed.status).toBe(200);
  expect((await refresh(portal, owner, owners.refresh_token)).status).toBe(200);
});

// --- what the tests read of requests and pages
// ----------------------------------------------------------------

function authorizationOf(sent: Sent): string {
  const values = sent.headers
    .filter(([name]) => name === 'Authorization')
    .map(([, value]) => value);
  return values.join(', ');
}

function hasBearer(sent: Sent): boolean {
  return /^\s*Bearer(?:\s|$)/i.test(authorizationOf(sent));
}

async function csrfTokenOf(visitor: Visitor): Promise<string> {
  return formOf(await (await visitor.get('/login')).text()).fields['_csrf'] ?? '';
}

/** Returns the id of a request for which this visitor sees the consent screen. */
async function requestIdOf(visitor: Visitor): Promise<string> {
  const consent = await visitor.visit(authorizationUrl(portal, client));
  return formOf(await consent.text()).fields['request_id'] ?? '';
}
