// @engines sqlite: the database makes no difference
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeJwt } from 'jose';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  migrationsWith,
  openDatabase,
  token,
  type Authentication,
  type AuthorizationServer,
  type Host,
  type Log,
  type OpenedDatabase,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { findAuthentication } from '../packages/portico/src/authorization/authentication.ts';
import type { Server } from '../packages/portico/src/server.ts';
import { createClock } from './support/clock.ts';
import { createHostLog } from './support/host-log.ts';
import { codeRequest, REDIRECT_URI, VERIFIER, type Tokens } from './support/portal.ts';

/** Requests for a new authentication, with different values from the host. */

const ISSUER = 'https://host.example';
const PERSON = { provider: 'staff', id: '7' };
const clock = createClock();
const { log, lines: logged } = createHostLog();

let folder: string;
let database: OpenedDatabase;
let server: AuthorizationServer;
let client: { readonly id: string; readonly secret: string };
/** What the host answers. */
let answer: () => unknown;

const base: Host = {
  signedIn: async () => PERSON,
  loadAccount: async (reference) => ({ reference, isActive: () => true, getProfile: () => ({}) }),
  holdsPermission: async () => true,
  browserSecret: async () => 'the secret of this browser',
  loginUrl: '/sign-in',
  passwordHasher: {
    hash: async (text) => `#${text}`,
    verify: async (text, hash) => hash === `#${text}`,
  },
  render: async (_, data) => JSON.stringify(data),
  clientAddress: () => null,
  audit: async () => {},
  log,
};
const authenticatedAt = async () => answer() as Authentication | null;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-authentication-'));
  database = openDatabase(`sqlite:${folder}/app.db`, { directory: folder });
  await migrate(database, migrationsWith(configWith({ remember_consent: true })));
  server = serverWith({ authenticatedAt, reauthenticateUrl: '/sign-in/again?from=oauth' });
  await server.keys.generate();
  const registration = {
    name: 'App',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'notes:read'],
  };
  const created = await server.clients.create(registration);
  client = { id: created.client.id, secret: created.secret ?? '' };
});
beforeEach(() => {
  logged.length = 0;
  answer = () => null;
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

function configWith(settings: object) {
  return configurationWith([]).parse({
    name: 'Another host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
    dpop: 'accept',
    reauthentication: true,
    acr_values: ['gold', 'silver'],
    ...settings,
  });
}

/** Creates a server on the same database, with these members of the host and these settings. */
function serverWith(more: Partial<Host>, settings: object = {}): AuthorizationServer {
  const config = configWith(settings);
  const host = { ...base, ...more };
  return createAuthorizationServer({ publicUrl: ISSUER, config, host, database, clock: clock.now });
}

async function send(
  name: string,
  at: string,
  init: RequestInit = {},
  by = server,
): Promise<Response> {
  const endpoint = by.endpoints.find((each) => each.name === name);
  if (endpoint === undefined) throw new Error(`No endpoint ${name}`);
  return endpoint.handle(new Request(new URL(at, ISSUER), init));
}

const ask = (more: Readonly<Record<string, string>>, by = server) =>
  send('oauth_server_authorize', `/oauth/authorize?${codeRequest(client.id, more)}`, {}, by);

/** Returns from the host's page, with the cookies of this response. */
function comeBack(answered: Response, by = server): Promise<Response> {
  const location = new URL(answered.headers.get('location') ?? '', ISSUER);
  const cookie = answered.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const back = location.searchParams.get('return_to') ?? '';
  return send('oauth_server_authorize', back, { headers: { cookie } }, by);
}

/** Presses the button that allows. */
async function allow(page: Response, by = server): Promise<Response> {
  expect(page.status).toBe(200);
  const { requestId, csrfToken } = (await page.json()) as { requestId: string; csrfToken: string };
  const form = { request_id: requestId, csrf_token: csrfToken, decision: 'allow' };
  const body = new URLSearchParams(form);
  return send('oauth_server_consent', '/oauth/authorize', { method: 'POST', body }, by);
}

async function tokensFrom(page: Response, by = server): Promise<Tokens> {
  const allowed = await allow(page, by);
  const exchange = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: client.id,
    client_secret: client.secret,
    code: new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '',
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
  const response = await send('oauth_server_token', '/oauth/token', {
    method: 'POST',
    body: exchange,
  });
  return (await response.json()) as Tokens;
}

const errorOf = (response: Response) =>
  new URL(response.headers.get('location') ?? '', ISSUER).searchParams.get('error');
/** Returns where the response sends the browser. */
const placeOf = (response: Response) =>
  new URL(response.headers.get('location') ?? '', ISSUER).pathname;
const ago = (milliseconds: number) => ({ at: new Date(clock.now() - milliseconds) });

describe('a host that lacks a member for reauthentication', () => {
  // @shows AS-44.1
  test.each([
    [['authenticatedAt', 'reauthenticateUrl'], {}],
    [['reauthenticateUrl'], { authenticatedAt }],
    [['authenticatedAt'], { reauthenticateUrl: '/again' }],
  ])('does not start without %j', (missing, members) => {
    const problems = missing.map(
      (member) =>
        `oauth_server:reauthentication: needs ${member} in the host contract; add it, or set this setting to false`,
    );
    expect(() => serverWith(members)).toThrow(problems.join('\n'));
  });

  test('does not start with a reauthentication page on a different site', () => {
    expect(() =>
      serverWith({ authenticatedAt, reauthenticateUrl: 'https://other.example/' }),
    ).toThrow("Host.reauthenticateUrl is 'https://other.example/', but must be a path");
  });
});

// An unhandled rejection would fail the test.
test('a page whose URL is a promise that is rejected causes a server error, and the log says why', async () => {
  const reauthenticateUrl = (() => Promise.reject(new Error('away'))) as unknown as () => string;
  const by = serverWith({ authenticatedAt, reauthenticateUrl });
  expect((await ask({ prompt: 'login' }, by)).status).toBe(500);
  expect(JSON.stringify(logged)).toContain(
    'Host.reauthenticateUrl returned a promise, but must return a string',
  );
});

const OFF = { reauthentication: false, acr_values: undefined };

describe('the setting', () => {
  const host = { authenticatedAt, reauthenticateUrl: '/again' };

  // @shows AS-44.2
  test.each([{ prompt: 'login' }, { max_age: '0' }])('makes the server honor %j', async (asked) => {
    answer = () => ago(5000);
    expect(placeOf(await ask(asked, serverWith(host)))).toBe('/again');
  });

  // @shows AS-44.2, AS-44.15
  test.each([
    [{ prompt: 'login create' }, 'invalid_request'],
    [{ max_age: 'x' }, 'invalid_request'],
    [{ id_token_hint: 'nonsense' }, 'login_required'],
  ])('makes the server check %j', async (asked, error) => {
    expect(errorOf(await ask(asked, serverWith(host)))).toBe(error);
  });

  // @shows AS-44.10
  test.each([
    [{}, 'needs maxAge or acr'],
    [OFF, 'needs oauth_server:reauthentication; set it to true'],
  ])('with %j, token().requireAuthentication() says what it needs', async (settings, problem) => {
    const by = serverWith(host, settings);
    const asking = by.withToken(new Request(`${ISSUER}/api`), async () => {
      token().requireAuthentication({});
      return new Response('done');
    });
    await expect(asking).rejects.toThrow(problem);
  });

  // @shows AS-44.8
  test('adds the authentication to introspection responses', async () => {
    answer = () => ago(0);
    const by = serverWith(host);
    const { access_token: accessToken } = await tokensFrom(await ask({ scope: 'notes:read' }));
    const introspecting = { redirectUris: [], scopes: [], grants: ['introspection'] };
    const api = await by.clients.create({ name: 'API', ...introspecting });
    const secret = { client_id: api.client.id, client_secret: api.secret ?? '' };
    const body = new URLSearchParams({ ...secret, token: accessToken });
    const init = { method: 'POST', body };
    const response = await send('oauth_server_introspect', '/oauth/introspect', init, by);
    expect(await response.json()).toMatchObject({ auth_time: Math.floor(clock.now() / 1000) });
  });

  // @shows AS-44.6
  test('applies to the answer to a page that was shown while it was off', async () => {
    answer = () => ago(0);
    const page = await ask({ scope: 'openid' }, serverWith(host, OFF));
    expect(decodeJwt((await tokensFrom(page)).id_token)).toMatchObject({
      auth_time: Math.floor(clock.now() / 1000),
    });
  });

  // @shows AS-29.10
  test('makes the log say why the person must authenticate', async () => {
    const details: unknown[] = [];
    const info: Log['info'] = (_, context) => void details.push(context?.['detail']);
    const by = serverWith({ ...host, log: { ...log, info } });
    const call = async () => {
      const { access_token: accessToken } = await tokensFrom(await ask({ scope: 'notes:read' }));
      const headers = { Authorization: `Bearer ${accessToken}` };
      await by.withToken(new Request(`${ISSUER}/api`, { headers }), async () => {
        token().requireAuthentication({ acr: 'gold' });
        return new Response('done');
      });
    };
    const left = await ask({ prompt: 'login' }, by);
    await comeBack(left, by);
    answer = () => ago(5000);
    const again = await ask({ prompt: 'login' }, by);
    await comeBack(again, by);
    await call();
    expect(details).toEqual([
      'the host does not know when the person authenticated',
      `the person returned from the sign-in page, but last authenticated at ${ago(5000).at.toISOString()}`,
      'the authentication has no acr',
    ]);
  });
});

// @shows AS-7.13, AS-44.3
test('a request that waits for two sign-ins waits no longer in total than consent_ttl', async () => {
  let person: typeof PERSON | null = null;
  const members = { authenticatedAt, reauthenticateUrl: '/again' };
  const by = serverWith({ ...members, signedIn: async () => person });
  const left = await ask({ prompt: 'login' }, by);
  clock.advance(599);
  person = PERSON;
  const again = await comeBack(left, by);
  expect(placeOf(again)).toBe('/again');
  clock.advance(1);
  answer = () => ago(0);
  expect((await comeBack(again, by)).status).toBe(400);
});

test('a request for authorization with an access token is refused, whatever its method', async () => {
  const headers = { Authorization: 'Bearer token' };
  const url = `/oauth/authorize?${codeRequest(client.id, {})}`;
  const body = new URLSearchParams(codeRequest(client.id, {}));
  for (const [name, path, init] of [
    ['oauth_server_authorize', url, { headers }],
    ['oauth_server_consent', '/oauth/authorize', { method: 'POST', body, headers }],
  ] as const) {
    const refused = await send(name, path, init);
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
    expect(await refused.text()).toContain('takes no access token');
  }
});

describe('Host.reauthenticateUrl', () => {
  // @shows AS-44.2, AS-44.7
  test('as a path gets return_to, and acr_values if a client requests supported ones', async () => {
    const plain = new URL((await ask({ prompt: 'login' })).headers.get('location') ?? '', ISSUER);
    expect([plain.pathname, [...plain.searchParams.keys()]]).toEqual([
      '/sign-in/again',
      ['from', 'return_to'],
    ]);
    const asked = await ask({ prompt: 'login', acr_values: 'silver other gold' });
    const { searchParams } = new URL(asked.headers.get('location') ?? '', ISSUER);
    expect(searchParams.get('acr_values')).toBe('silver gold');
    expect(searchParams.get('return_to')).toMatch(/^\/oauth\/authorize\?request_id=[\w-]{43}$/);
  });

  // @shows AS-44.2
  test('as a function chooses the URL from return_to and the acr_values', async () => {
    const by = serverWith({
      authenticatedAt,
      reauthenticateUrl: (returnTo, { acrValues }) =>
        `/step?${acrValues.join()}&${returnTo.split('?')[0]}`,
    });
    const location = (await ask({ acr_values: 'gold silver' }, by)).headers.get('location');
    expect(location).toBe('/step?gold,silver&/oauth/authorize');
  });
});

describe('authenticatedAt()', () => {
  test('that is missing says nothing about the authentication', async () => {
    const lacking = { host: base, clock: clock.now } as unknown as Server;
    expect(await findAuthentication(lacking, new Request(ISSUER))).toBeNull();
  });

  // @shows AS-44.3
  test('that returns nothing causes no loop, and adds nothing to tokens', async () => {
    const left = await ask({ max_age: '60' });
    expect(errorOf(await comeBack(left))).toBe('login_required');
    const tokens = await tokensFrom(await ask({ scope: 'openid' }));
    expect(Object.keys(decodeJwt(tokens.id_token))).not.toContain('auth_time');
  });

  // @shows AS-44.3
  test.each([
    ['must return a valid Date as at', { at: new Date(Number.NaN) }],
    ['must return a valid Date as at', { at: 1_800_000_000_000 }],
    ['must return a valid Date as at', {}],
    ['must return a valid Date as at', { at: new Date(-1) }],
    ['must return a string as acr', { at: new Date(0), acr: '' }],
    ['must return a string as acr', { at: new Date(0), acr: 1 }],
    ['must return a list of strings as amr', { at: new Date(0), amr: 'pwd' }],
    ['must return a list of strings as amr', { at: new Date(0), amr: ['\ud800'] }],
    ['must return a list of strings as amr', { at: new Date(0), amr: ['pwd', ''] }],
  ])(
    'that returns an invalid value causes an error, and no consent screen: %s, not %j',
    async (problem, given) => {
      answer = () => given;
      const response = await ask({});
      expect([response.status, response.headers.get('location')]).toEqual([500, null]);
      expect(logged.join('\n')).toContain(problem);
    },
  );

  // @shows AS-44.3
  test('that throws makes the request fail, and the person can come back later', async () => {
    const left = await ask({ prompt: 'login' });
    answer = () => {
      throw new Error('The session store is down');
    };
    const failed = await comeBack(left);
    expect([failed.status, failed.headers.getSetCookie()]).toEqual([500, []]);
    answer = () => ({ at: new Date(clock.now()) });
    expect((await comeBack(left)).status).toBe(200);
  });

  // @shows AS-44.3
  test('that returns a time in the future proves nothing; clocks may differ by a minute', async () => {
    answer = () => ago(-60_001);
    const warnings: unknown[] = [];
    const warning: Log['warning'] = (...line) => void warnings.push(line);
    const by = serverWith({
      authenticatedAt,
      reauthenticateUrl: '/again',
      log: { ...log, warning },
    });
    const left = await ask({ max_age: '60' }, by);
    expect(errorOf(await comeBack(left, by))).toBe('login_required');
    expect(warnings).toContainEqual([
      'Host.authenticatedAt returned a time in the future: {at}. Portico ignores this time',
      expect.objectContaining({ at: ago(-60_001).at.toISOString() }),
    ]);
    answer = () => ago(-60_000);
    const tokens = await tokensFrom(await ask({ max_age: '60', scope: 'openid' }));
    expect(decodeJwt(tokens.id_token)['auth_time']).toBe(Math.floor(clock.now() / 1000));
  });

  // @shows AS-44.2
  test('must return the time of the request or a later one, to the millisecond', async () => {
    const left = await ask({ prompt: 'login' });
    const received = clock.now();
    clock.advance(100);
    answer = () => ({ at: new Date(received - 1) });
    expect(errorOf(await comeBack(left))).toBe('login_required');
    answer = () => ({ at: new Date(received) });
    expect((await comeBack(left)).status).toBe(200);
  });

  // @shows AS-44.2
  test('may return a time that is a minute ago when the person comes back, even if max_age is less', async () => {
    const left = await ask({ max_age: '30' });
    const signedInAt = new Date(clock.now());
    answer = () => ({ at: signedInAt });
    clock.advance(60);
    expect((await comeBack(left)).status).toBe(200);
  });

  // @shows AS-44.12
  test('may return the time of a sign-in since the request when the person answers, too', async () => {
    answer = () => ago(0);
    const shown = await ask({ max_age: '30' });
    clock.advance(1);
    const signedInAt = new Date(clock.now());
    answer = () => ({ at: signedInAt });
    clock.advance(60);
    expect(new URL((await allow(shown)).headers.get('location') ?? '').origin).toBe(
      new URL(REDIRECT_URI).origin,
    );
  });

  // @shows AS-44.12
  test('of an older session is too old when the person answers, who then sees the page again', async () => {
    const left = await ask({ prompt: 'login' });
    answer = () => ago(0);
    const shown = await comeBack(left);
    clock.advance(1);
    answer = () => ago(5000);
    const sent = await allow(shown);
    const location = new URL(sent.headers.get('location') ?? '', ISSUER);
    expect([sent.status, location.pathname]).toEqual([303, '/sign-in/again']);
    expect(location.searchParams.has('code')).toBe(false);
    // The host's first value has no effect, but a later sign-in does.
    expect(errorOf(await comeBack(sent))).toBe('login_required');
    answer = () => ago(0);
    expect((await comeBack(sent)).status).toBe(200);
  });

  // @shows AS-44.12
  test('that becomes too old while consent is reused leads to the page, and not to a code', async () => {
    const members = { authenticatedAt, reauthenticateUrl: '/again' };
    const by = serverWith(members, { remember_consent: true });
    const before = client;
    onTestFinished(() => void (client = before));
    const metadata = { first_party: ['true'] };
    const registration = { redirectUris: [REDIRECT_URI], scopes: ['notes:read'], metadata };
    const own = await by.clients.create({ name: 'Own', ...registration });
    client = { id: own.client.id, secret: own.secret ?? '' };
    answer = () => ago(0);
    const asked = { scope: 'notes:read', max_age: '60' };
    await tokensFrom(await ask(asked, by), by);
    const location = (await ask(asked, by)).headers.get('location') ?? '';
    expect(new URL(location).searchParams.has('code')).toBe(true);
    const ages = [0, 61_000];
    answer = () => ago(ages.shift() ?? 61_000);
    const page = await ask(asked, by);
    expect([page.status, page.headers.get('location'), ages]).toEqual([200, null, []]);
    expect(errorOf(await ask({ ...asked, prompt: 'none' }, by))).toBe('login_required');
  });

  // @shows AS-44.6
  test('sets auth_time in the ID token from the session that answers', async () => {
    answer = () => ({ ...ago(1000), acr: 'gold' });
    const shown = await ask({ scope: 'openid' });
    answer = () => ago(90_000);
    const claims = decodeJwt((await tokensFrom(shown)).id_token);
    expect(claims['auth_time']).toBe(Math.floor((clock.now() - 90_000) / 1000));
    expect(claims).not.toHaveProperty('acr');
    expect(claims).not.toHaveProperty('request_received_at');
  });

  // @shows AS-44.12
  test('that no longer returns a time sends the person to the page', async () => {
    const left = await ask({ max_age: '60' });
    answer = () => ago(0);
    const shown = await comeBack(left);
    answer = () => null;
    expect(new URL((await allow(shown)).headers.get('location') ?? '', ISSUER).pathname).toBe(
      '/sign-in/again',
    );
  });

  // @shows AS-44.3
  test('cannot extend the lifetime of a request, which ends with consent_ttl', async () => {
    const left = await ask({ prompt: 'login' });
    answer = () => ago(0);
    clock.advance(600);
    expect((await comeBack(left)).status).toBe(400);
  });

  // @shows AS-44.6, AS-44.7
  test('with one of the acr_values leads directly to consent, and the value is in the ID token', async () => {
    answer = () => ({ ...ago(5000), acr: 'silver', amr: ['pwd', 'otp'] });
    const tokens = await tokensFrom(await ask({ acr_values: 'gold silver', scope: 'openid' }));
    expect(decodeJwt(tokens.id_token)).toMatchObject({
      auth_time: Math.floor((clock.now() - 5000) / 1000),
      acr: 'silver',
      amr: ['pwd', 'otp'],
    });
    const ofGold = await ask({ acr_values: 'gold' });
    expect(new URL(ofGold.headers.get('location') ?? '', ISSUER).pathname).toBe('/sign-in/again');
    expect((await comeBack(ofGold)).status).toBe(200);
  });

  // @shows AS-44.10
  test('with the acr that an API requires is sufficient', async () => {
    answer = () => ({ ...ago(0), acr: 'silver' });
    const { access_token: accessToken } = await tokensFrom(await ask({ scope: 'notes:read' }));
    const call = (acr: string | readonly string[]) => {
      const headers = { Authorization: `Bearer ${accessToken}` };
      return server.withToken(new Request(`${ISSUER}/api`, { headers }), async () => {
        token().requireAuthentication({ acr });
        return new Response('done');
      });
    };
    expect((await call('silver')).status).toBe(200);
    expect((await call(['gold', 'silver'])).status).toBe(200);
    const refused = await call('gold');
    expect(refused.status).toBe(401);
    const [bearer, bound] = (refused.headers.get('www-authenticate') ?? '').split(', DPoP ');
    expect(bearer).toContain('error="insufficient_user_authentication"');
    expect(bearer).toContain('acr_values="gold"');
    expect(bound).not.toContain('error');
  });
});

describe('requireAuthentication()', () => {
  test.each([
    [{}, 'needs maxAge or acr'],
    [{ acr: [] }, 'needs maxAge or acr'],
    [{ maxAge: 0 }, 'needs a maxAge in whole seconds, at least 1'],
    [{ maxAge: -1 }, 'needs a maxAge in whole seconds, at least 1'],
    [{ maxAge: 1.5 }, 'needs a maxAge in whole seconds, at least 1'],
    [{ maxAge: Number.NaN }, 'needs a maxAge in whole seconds, at least 1'],
    [{ acr: 'a b' }, 'needs an acr without spaces'],
    [{ acr: 'a"' }, 'needs an acr without spaces'],
    [{ acr: '' }, 'needs an acr without spaces'],
  ])('throws an error for the invalid requirement %j', async (requirement, problem) => {
    const asking = server.withToken(new Request(`${ISSUER}/api`), async () => {
      token().requireAuthentication(requirement);
      return new Response('done');
    });
    await expect(asking).rejects.toThrow(problem);
  });
});
