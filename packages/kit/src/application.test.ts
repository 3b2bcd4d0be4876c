import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once, type EventEmitter } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { migrate, OverloadedError } from '@portico/sql';
import type { Connection, PersonReference, Plugin, Route } from 'portico';
import { Event } from 'portico/extension';
import type { AccountProvider, Application, ApplicationDefinition } from './contracts.ts';
import { migrationsOf, startApplication } from './application.ts';
import { HttpError } from './errors.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EMPTY_PLUGIN } from '../../../test/support/plugin.ts';
import { databaseAccounts, type DatabaseAccounts } from './accounts/database-accounts.ts';
import { ErrorHandler } from './http/error-handler.ts';
import { argon2idHasher } from './accounts/password-hasher.ts';
import { auth, clientAddress, csrfTokens, session } from './accounts/request-context.ts';
import { listen } from './http/server.ts';

const ORIGIN = 'https://app.example';
/** The kit's password hasher, with very little memory so that tests are fast. */
const HASHER = argon2idHasher({ memory: 64 });
let folder: string;
const started: Application[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-application-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((application) => application.close()));
  await rm(folder, { recursive: true });
});

/** A random number that never lets a slowed attempt through. */
const NEVER_AHEAD = () => 0.999;

interface Options {
  readonly random?: () => number;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly routes?: readonly Route[];
  readonly accounts?: boolean;
  /** Replaces the `authenticate` of the accounts in the database. */
  readonly authenticate?: AccountProvider['authenticate'];
  /** Replaces the `find` of the accounts in the database. */
  readonly find?: AccountProvider['find'];
  readonly register?: (application: Application) => void;
  readonly plugins?: readonly Plugin[];
  readonly env?: Readonly<Record<string, string>>;
  /** Returns milliseconds since 1970. Default: the system's clock. */
  readonly clock?: () => number;
}

async function start({
  config = {},
  routes = [],
  accounts = true,
  authenticate,
  find,
  register,
  plugins,
  env = {},
  clock = Date.now,
  random = Math.random,
}: Options = {}): Promise<Application> {
  const definition: ApplicationDefinition = {
    directory: folder,
    config: { public_url: ORIGIN, ...config },
    ...(accounts
      ? {
          accounts: ({ database }) => {
            const own = databaseAccounts({ database, passwordHasher: HASHER });
            const changed = { ...own, authenticate: authenticate ?? own.authenticate };
            return [{ ...changed, find: find ?? own.find }];
          },
        }
      : {}),
    ...(plugins === undefined ? {} : { plugins }),
    register(application) {
      for (const route of [...ROUTES, ...routes]) application.route(route);
      register?.(application);
    },
  };
  const application = await startApplication(definition, { env, clock, random });
  started.push(application);
  await migrate(application.database, migrationsOf(definition));
  return application;
}

function route(name: string, method: 'GET' | 'POST', at: string, handler: Route['handler']): Route {
  return { name, methods: [method], path: at, handler };
}

const ROUTES: readonly Route[] = [
  route('who', 'GET', '/who', async () =>
    Response.json((await auth().user())?.getProfile().name ?? null),
  ),
  route('token', 'GET', '/token', async () => new Response(await auth().csrfToken())),
  route('secret', 'GET', '/secret', async () => new Response(await session().secret())),
  route(
    'change',
    'POST',
    '/change',
    async (_, request) => new Response(`changed ${await request.text()}`),
  ),
  route('item', 'GET', '/items/{id}', ({ id }) => Response.json({ id })),
  route('remember', 'GET', '/remember/{key}/{value}', async ({ key = '', value }) => {
    await session().set(key, value);
    return new Response('kept');
  }),
  route('recall', 'GET', '/recall/{key}', async ({ key = '' }) =>
    Response.json((await session().get(key)) ?? null),
  ),
];

const SESSION_COOKIE = '__Host-portico_session';

/** Creates a browser that stores cookies. It begins with this session. */
function browser(application: Application, session: string | null = null) {
  const kept = new Map(session === null ? [] : [[SESSION_COOKIE, session]]);
  const send = async (
    at: string,
    init: RequestInit = {},
    connection?: Connection,
  ): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (kept.size > 0) headers.set('cookie', [...kept].map((pair) => pair.join('=')).join('; '));
    const response = await application.fetch(
      new Request(`${ORIGIN}${at}`, { ...init, headers }),
      connection,
    );
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';', 1)[0]?.split('=') ?? [];
      if (set.includes('Max-Age=0')) kept.delete(name);
      else kept.set(name, value);
    }
    return response;
  };
  const post = (at: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    send(at, { method: 'POST', body: new URLSearchParams(form), headers });
  const text = async (at: string, init?: RequestInit) => (await send(at, init)).text();
  return {
    send,
    post,
    text,
    kept,
    session: () => kept.get(SESSION_COOKIE) ?? null,
    async signIn(email: string, password = 'correct', returnTo = '/who') {
      const _csrf = csrfFieldOf(await text('/login'));
      return post('/login', { identifier: email, password, return_to: returnTo, _csrf });
    },
  };
}

function csrfFieldOf(page: string): string {
  return /name="_csrf" value="([^"]*)"/.exec(page)?.[1] ?? '';
}

function identifierOn(page: string): string | undefined {
  return /<input id="identifier"[^>]* value="([^"]*)"/.exec(page)?.[1];
}

async function addPeople({ database }: Application) {
  const accounts = databaseAccounts({ database, passwordHasher: HASHER });
  const ada = await accounts.create({ email: 'Ada@example.com', name: 'Ada', password: 'correct' });
  await accounts.create({ email: 'grace@example.com', name: 'Grace', password: 'correct' });
  return { accounts, ada };
}

describe('signing in', () => {
  // @shows RFC9700-2.1f
  test('redirects to the return path, and the session knows the person', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    const response = await visitor.signIn('ADA@example.com ', 'correct', '/who?x=1');
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/who?x=1');
    expect(await visitor.text('/who')).toBe('"Ada"');
  });

  test('responds the same to a wrong password, an unknown account and a suspended one', async () => {
    const application = await start();
    const { accounts, ada } = await addPeople(application);
    const visitor = browser(application);
    await accounts.setActive(ada.id, false);
    const pages: string[] = [];
    for (const [email, password] of [
      ['grace@example.com', 'wrong'],
      ['no@example.com', 'x'],
      ['ada@example.com', 'correct'],
    ] as const) {
      const response = await visitor.signIn(email, password);
      expect(response.status).toBe(401);
      pages.push((await response.text()).replaceAll(email, '').replaceAll(/nonce="[^"]*"/g, ''));
    }
    expect(new Set(pages).size).toBe(1);
    expect(await visitor.text('/who')).toBe('null');
  });

  test('leaves no session if the account is suspended while its password is checked', async () => {
    let check: AccountProvider['authenticate'] = async () => null;
    const application = await start({ authenticate: (...given) => check(...given) });
    const { accounts, ada } = await addPeople(application);
    check = async (...given) => {
      const user = await accounts.authenticate(...given);
      await accounts.setActive(ada.id, false);
      await application.endSessions(ada.reference);
      return user;
    };
    const visitor = browser(application);
    const response = await visitor.signIn('ada@example.com');
    expect(response.status).toBe(401);
    expect(visitor.session()).toBeNull();
    await accounts.setActive(ada.id, true);
    const [set = ''] = response.headers
      .getSetCookie()
      .filter((cookie) => cookie.startsWith(SESSION_COOKIE));
    expect(set).toContain('Max-Age=0');
    const { rows } = await application.database.execute('SELECT id_hash FROM host_sessions', []);
    expect(rows).toEqual([]);
  });

  test.each([
    [503, new OverloadedError()],
    [500, new Error('the directory is away')],
  ])('leaves no session if the account cannot be loaded after it: %i', async (status, failure) => {
    const application = await start({ find: () => Promise.reject(failure) });
    await addPeople(application);
    const visitor = browser(application);
    expect((await visitor.signIn('ada@example.com')).status).toBe(status);
    expect(visitor.session()).toBeNull();
    expect((await application.database.execute('SELECT * FROM host_sessions')).rows).toEqual([]);
  });

  // @shows HOST-2.6
  test('replaces an empty password by a random one before the providers check it', async () => {
    const offered: string[] = [];
    const application = await start({
      authenticate: async (_, password) => {
        offered.push(password);
        return null;
      },
    });
    for (let times = 0; times < 2; times += 1) {
      const response = await browser(application).signIn('ada@example.com', '');
      expect(response.status).toBe(401);
    }
    expect(offered).toHaveLength(2);
    expect(new Set(offered).size).toBe(2);
    for (const password of offered) expect(password).toMatch(/^[\w-]{36}$/);
  });

  test('refuses a form without a password like a wrong password', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    const _csrf = csrfFieldOf(await visitor.text('/login'));
    const sent = await visitor.post('/login', { identifier: 'ada@example.com', _csrf });
    expect(sent.status).toBe(401);
    expect(await visitor.text('/who')).toBe('null');
  });

  // @shows HOST-2.6
  test('treats a missing field of the form like an empty one', async () => {
    const offered: (readonly string[])[] = [];
    const application = await start({
      authenticate: async (identifier, password) => {
        offered.push([identifier, password]);
        return null;
      },
    });
    const visitor = browser(application);
    const sent = await visitor.post('/login', { _csrf: csrfFieldOf(await visitor.text('/login')) });
    expect(sent.status).toBe(401);
    expect(identifierOn(await sent.text())).toBe('');
    expect(offered).toEqual([['', expect.stringMatching(/^[\w-]{36}$/)]]);
  });

  // @shows HOST-2.1
  test('accepts the CSRF token in a header too', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    const token = csrfFieldOf(await visitor.text('/login'));
    const form = { identifier: 'ada@example.com', password: 'correct' };
    expect((await visitor.post('/login', form, { 'X-CSRF-Token': `${token}x` })).status).toBe(403);
    expect((await visitor.post('/login', form, { 'X-CSRF-Token': token })).status).toBe(303);
  });

  test.each([
    [true, 401],
    [false, 403],
  ])('without a CSRF token and with login_submit exempt: %s, is %i', async (exempt, status) => {
    const config = { csrf_exempt_routes: { login_submit: exempt } };
    const form = { identifier: 'ada@example.com', password: 'wrong' };
    expect((await browser(await start({ config })).post('/login', form)).status).toBe(status);
  });

  test('responds with 500 and logs the error if the accounts throw, and does not sign in', async () => {
    const application = await start({
      authenticate: async () => {
        throw new Error('the directory is broken');
      },
    });
    const visitor = browser(application);
    const refused = await visitor.signIn('ada@example.com');
    expect(refused.status).toBe(500);
    expect(await refused.text()).not.toContain('directory');
    const log = await readFile(path.join(folder, 'logs', 'app.log'), 'utf8');
    expect(log).toContain('the directory is broken');
    expect(await visitor.text('/who')).toBe('null');
  });

  test('responds with 503 and a retry time if the accounts are overloaded', async () => {
    const application = await start({
      authenticate: async () => {
        throw new OverloadedError();
      },
    });
    const refused = await browser(application).signIn('ada@example.com');
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.text()).toContain('name="_csrf"');
  });

  test.each(['a\0@example.com', '', ' ', `${'a'.repeat(10_000)}@example.com`, "' OR 1=1 --"])(
    'finds no account for the address %j',
    async (email) => {
      const application = await start();
      await addPeople(application);
      expect((await browser(application).signIn(email)).status).toBe(401);
    },
  );

  // @shows RFC6749-10.15, RFC9700-2.1c
  test.each(['https://evil.example/', '//evil.example', '/\\evil.example'])(
    'never redirects to %s',
    async (returnTo) => {
      const application = await start();
      await addPeople(application);
      const response = await browser(application).signIn('ada@example.com', 'correct', returnTo);
      expect(response.headers.get('location')).toBe('/');
    },
  );

  test('redirects to a path in any script, percent-encoded for the header', async () => {
    const application = await start();
    await addPeople(application);
    const response = await browser(application).signIn(
      'ada@example.com',
      'correct',
      '/日本/ä?q=é b#😀',
    );
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(
      '/%E6%97%A5%E6%9C%AC/%C3%A4?q=%C3%A9%20b#%F0%9F%98%80',
    );
  });

  // @shows HOST-2.2
  test('creates a new session id, and the previous one is invalid', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    await visitor.text('/secret');
    const planted = visitor.session();
    expect(planted).not.toBeNull();
    await visitor.signIn('ada@example.com');
    expect(visitor.session()).not.toBe(planted);
    expect(await browser(application, planted).text('/who')).toBe('null');
  });

  // @shows HOST-2.2
  test('keeps the session secret and data of a visitor, and drops those of a different person', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    const secret = await visitor.text('/secret');
    await visitor.send('/remember/basket/full');
    await visitor.signIn('ada@example.com');
    expect(await visitor.text('/secret')).toBe(secret);
    expect(await visitor.text('/recall/basket')).toBe('"full"');
    await visitor.signIn('grace@example.com');
    expect(await visitor.text('/secret')).not.toBe(secret);
    expect(await visitor.text('/recall/basket')).toBe('null');
  });
});

describe('the session', () => {
  test('uses a __Host- cookie with Secure, HttpOnly and SameSite=Lax on https', async () => {
    const application = await start();
    const response = await browser(application).send('/secret');
    expect(response.headers.getSetCookie()).toHaveLength(1);
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-portico_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=\d+$/,
    );
  });

  test('uses a cookie without Secure on http', async () => {
    const origin = 'http://localhost:8080';
    const application = await start({ config: { public_url: origin }, env: { APP_ENV: 'dev' } });
    const answer = await application.fetch(new Request(`${origin}/remember/a/b`));
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^portico_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=/,
      ),
    ]);
  });

  test('is not started for a visitor without data', async () => {
    const application = await start();
    expect((await browser(application).send('/who')).headers.has('set-cookie')).toBe(false);
    expect((await application.database.execute('SELECT * FROM host_sessions')).rows).toEqual([]);
  });

  test('survives a restart and works in several processes', async () => {
    const first = await start();
    await addPeople(first);
    const visitor = browser(first);
    await visitor.signIn('ada@example.com');
    const second = await start();
    expect(await browser(second, visitor.session()).text('/who')).toBe('"Ada"');
  });

  test('ends in every browser when a person signs out everywhere', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    await visitor.signIn('ada@example.com');
    const cookie = visitor.session();
    const _csrf = await visitor.text('/token');
    expect((await visitor.post('/logout', { _csrf })).status).toBe(303);
    expect(visitor.session()).toBeNull();
    expect(await browser(application, cookie).text('/who')).toBe('null');
  });

  test('of a suspended account is signed out from the next request on', async () => {
    const application = await start();
    const { accounts, ada } = await addPeople(application);
    const visitor = browser(application);
    await visitor.signIn('ada@example.com');
    await accounts.setActive(ada.id, false);
    const cookie = visitor.session();
    expect(await visitor.text('/who')).toBe('null');
    // The inactive user's session ended. So the user is not signed in after becoming active again.
    await accounts.setActive(ada.id, true);
    expect(await browser(application, cookie).text('/who')).toBe('null');
    await visitor.signIn('ada@example.com');
    expect(await visitor.text('/who')).toBe('"Ada"');
  });

  // @shows HOST-2.1
  test('is not started by a form without a session, and lasts two hours for a visitor', async () => {
    const application = await start();
    const stored = async () =>
      (
        await application.database.execute<{ expires_at: number }>(
          'SELECT expires_at FROM host_sessions',
        )
      ).rows;
    const visitor = browser(application);
    expect((await visitor.post('/login', { identifier: 'x', password: 'y' })).status).toBe(403);
    expect(await stored()).toEqual([]);
    await visitor.text('/secret');
    const [row] = await stored();
    expect((row?.expires_at ?? 0) - Date.now()).toBeLessThanOrEqual(2 * 3_600_000);
  });

  // @shows HOST-1.5
  test('is removed from the store when new sessions start after it has expired', async () => {
    const application = await start();
    await browser(application).text('/secret');
    await application.database.execute('UPDATE host_sessions SET expires_at = 1');
    for (let visit = 0; visit < 40; visit += 1) await browser(application).text('/secret');
    const { rows } = await application.database.execute(
      'SELECT 1 FROM host_sessions WHERE expires_at = 1',
    );
    expect(rows).toEqual([]);
  });

  test('keeps all data that simultaneous requests write', async () => {
    const application = await start();
    const visitor = browser(application);
    await visitor.text('/secret');
    const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
    await Promise.all(keys.map((key) => visitor.send(`/remember/${key}/${key}`)));
    expect(await Promise.all(keys.map((key) => visitor.text(`/recall/${key}`)))).toEqual(
      keys.map((key) => `"${key}"`),
    );
  });

  test.each(['x', 'a'.repeat(43), `${'a'.repeat(43)}'--`, ''])(
    'is not found by an invented cookie %j',
    async (value) => {
      const application = await start();
      expect(await browser(application, value).text('/who')).toBe('null');
    },
  );

  test('cannot be read outside a request, and the error explains why', () => {
    expect(() => session()).toThrow('session() was called outside a request');
    expect(() => auth()).toThrow('auth() was called outside a request');
    expect(() => csrfTokens()).toThrow('csrfTokens() was called outside a request');
    expect(() => clientAddress()).toThrow('clientAddress() was called outside a request');
  });

  test.each<[string, () => unknown]>([
    ['session()', session],
    ['auth()', auth],
    ['csrfTokens()', csrfTokens],
  ])('makes %s throw an explanation in an application without accounts', async (call, ask) => {
    const asking = route('asking', 'GET', '/asking', () => {
      expect(ask).toThrow(
        `${call} was called outside a request, or the application has no accounts`,
      );
      return new Response('refused');
    });
    const application = await start({ accounts: false, routes: [asking] });
    expect(await browser(application).text('/asking')).toBe('refused');
  });

  test('refuses to sign in a person with an empty id', async () => {
    const entering = route('entering', 'GET', '/entering', async () => {
      await auth().signIn({ provider: 'accounts', id: '' }, { amr: ['pwd'] });
      return new Response('signed in');
    });
    const visitor = browser(await start({ routes: [entering] }));
    expect((await visitor.send('/entering')).status).toBe(500);
    expect(visitor.session()).toBeNull();
    expect(await visitor.text('/who')).toBe('null');
  });

  test('may be missing when a visitor signs out', async () => {
    const leaving = route('leaving', 'GET', '/leaving', async () => {
      await auth().signOut();
      return new Response('signed out');
    });
    const visitor = browser(await start({ routes: [leaving] }));
    expect(await visitor.text('/leaving')).toBe('signed out');
    expect(visitor.session()).toBeNull();
  });
});

/** Two times in seconds. */
const [HOUR, DAY] = [3600, 86_400];

/** Returns a clock that stands still until the test moves it. */
function createClock() {
  let now = Date.now();
  return { now: () => now, advance: (seconds: number) => void (now += seconds * 1000) };
}

describe('the lifetime of a session', () => {
  const clock = createClock();
  const LIFETIME = 10 * DAY;
  const begin = async (config: Readonly<Record<string, unknown>> = { session_ttl: LIFETIME }) => {
    const application = await start({ config, clock: clock.now });
    await addPeople(application);
    const visitor = browser(application);
    await visitor.signIn('ada@example.com');
    return { application, visitor };
  };
  const sessionCookieIn = (response: Response) =>
    response.headers.getSetCookie().find((each) => each.startsWith(SESSION_COOKIE)) ?? null;

  // @shows HOST-1.5
  test('is session_ttl after the last use, on the server and in the browser', async () => {
    const { application, visitor } = await begin();
    const cookie = visitor.session();
    for (let use = 0; use < 3; use += 1) {
      clock.advance(LIFETIME - 1);
      const used = await visitor.send('/who');
      expect(await used.json()).toBe('Ada');
      expect(sessionCookieIn(used)).toBe(
        `${SESSION_COOKIE}=${cookie}; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=${LIFETIME}`,
      );
    }
    clock.advance(LIFETIME);
    expect(await browser(application, cookie).text('/who')).toBe('null');
  });

  // @shows HOST-1.5
  test('ends at session_ttl without use, to the second, whatever the browser still sends', async () => {
    const { application, visitor } = await begin();
    const cookie = visitor.session();
    clock.advance(LIFETIME);
    const late = await browser(application, cookie).send('/who');
    expect([await late.json(), sessionCookieIn(late)]).toEqual([null, null]);
    clock.advance(-1);
    expect(await browser(application, cookie).text('/who')).toBe('"Ada"');
  });

  // @shows HOST-1.5
  test('is 14 days by default', async () => {
    const { application, visitor } = await begin({});
    const cookie = visitor.session();
    clock.advance(14 * DAY - 1);
    expect(await browser(application, cookie).text('/who')).toBe('"Ada"');
    clock.advance(14 * DAY);
    expect(await browser(application, cookie).text('/who')).toBe('null');
  });

  // @shows HOST-1.5
  test('is extended at most once an hour, and other uses write nothing and set no cookie', async () => {
    const { application, visitor } = await begin();
    const end = async () =>
      (
        await application.database.execute<{ expires_at: number }>(
          'SELECT expires_at FROM host_sessions',
        )
      ).rows[0]?.expires_at;
    const first = await end();
    clock.advance(HOUR);
    expect(sessionCookieIn(await visitor.send('/who'))).toBeNull();
    expect(await end()).toBe(first);
    clock.advance(1);
    expect(sessionCookieIn(await visitor.send('/who'))).not.toBeNull();
    expect(await end()).toBe((first ?? 0) + (HOUR + 1) * 1000);
  });

  // @shows HOST-1.5
  test('is extended after half its time if it is short', async () => {
    const { visitor } = await begin({ session_ttl: 600 });
    for (let use = 0; use < 3; use += 1) {
      clock.advance(301);
      expect(await visitor.text('/who')).toBe('"Ada"');
    }
  });

  // @shows HOST-2.1
  test.each([
    ['two hours', LIFETIME, 2 * HOUR],
    ['session_ttl if it is shorter', 600, 600],
  ])('for a visitor who is not signed in is %s after the last use', async (_, lifetime, lives) => {
    const application = await start({ config: { session_ttl: lifetime }, clock: clock.now });
    const visitor = browser(application);
    const begun = await visitor.send('/secret');
    expect(sessionCookieIn(begun)).toContain(`Max-Age=${lives}`);
    const secret = await begun.text();
    for (let use = 0; use < 3; use += 1) {
      clock.advance(lives - 1);
      const used = await visitor.send('/secret');
      expect(await used.text()).toBe(secret);
      expect(sessionCookieIn(used)).toContain(`Max-Age=${lives}`);
    }
    clock.advance(lives);
    expect(await visitor.text('/secret')).not.toBe(secret);
  });

  // @shows HOST-2.1
  test('becomes session_ttl when a visitor signs in', async () => {
    const application = await start({ config: { session_ttl: LIFETIME }, clock: clock.now });
    await addPeople(application);
    const visitor = browser(application);
    await visitor.text('/secret');
    const signedIn = await visitor.signIn('ada@example.com');
    expect(sessionCookieIn(signedIn)).toContain(`Max-Age=${LIFETIME}`);
    clock.advance(LIFETIME - 1);
    expect(await visitor.text('/who')).toBe('"Ada"');
  });
});

describe('a session that was replaced', () => {
  /** Signs in as each of these users, one after the other. Returns the session of each. */
  async function inTurn(application: Application, ...emails: readonly string[]) {
    const visitor = browser(application);
    const sessions: (string | null)[] = [];
    for (const email of emails) {
      expect((await visitor.signIn(email)).status).toBe(303);
      sessions.push(visitor.session());
    }
    return { visitor, sessions };
  }

  // @shows HOST-2.2
  test.each([
    ['another person', 'grace@example.com', '"Grace"'],
    ['the same person', 'ada@example.com', '"Ada"'],
  ])('is invalid once %s signs in', async (_, next, name) => {
    const application = await start();
    await addPeople(application);
    const { visitor, sessions } = await inTurn(application, 'ada@example.com', next);
    expect(await visitor.text('/who')).toBe(name);
    expect(new Set(sessions).size).toBe(2);
    const [left = null] = sessions;
    expect(await browser(application, left).text('/who')).toBe('null');
    const { rows } = await application.database.execute('SELECT id_hash FROM host_sessions');
    expect(rows).toHaveLength(1);
  });

  test('does not affect other sessions of the person, at sign-in or sign-out', async () => {
    const application = await start();
    await addPeople(application);
    const elsewhere = await inTurn(application, 'ada@example.com');
    const { visitor } = await inTurn(application, 'ada@example.com', 'grace@example.com');
    await visitor.post('/logout', { _csrf: await visitor.text('/token') });
    expect(await elsewhere.visitor.text('/who')).toBe('"Ada"');
  });

  test('has invalid CSRF tokens', async () => {
    const application = await start();
    await addPeople(application);
    const { visitor } = await inTurn(application, 'ada@example.com');
    const token = await visitor.text('/token');
    expect((await visitor.post('/change', { _csrf: token })).status).toBe(200);
    await visitor.signIn('grace@example.com');
    expect((await visitor.post('/change', { _csrf: token })).status).toBe(403);
    await visitor.post('/logout', { _csrf: await visitor.text('/token') });
    expect((await visitor.post('/change', { _csrf: token })).status).toBe(403);
  });

  test('has its cookie removed at sign-out, with the attributes that it was set with', async () => {
    const application = await start();
    await addPeople(application);
    const { visitor } = await inTurn(application, 'ada@example.com');
    const _csrf = await visitor.text('/token');
    const out = await visitor.post('/logout', { _csrf });
    expect(out.headers.getSetCookie()).toEqual([
      `${SESSION_COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0`,
    ]);
    expect([out.headers.get('location'), out.headers.get('cache-control')]).toEqual([
      '/',
      'no-store',
    ]);
  });

  test('is not signed out by a form without a CSRF token', async () => {
    const application = await start();
    await addPeople(application);
    const { visitor } = await inTurn(application, 'ada@example.com');
    expect((await visitor.post('/logout', {})).status).toBe(403);
    expect(await visitor.text('/who')).toBe('"Ada"');
  });

  test('of a suspended person ends in every browser, and its row is removed', async () => {
    const application = await start();
    const { accounts, ada } = await addPeople(application);
    const visitors = [
      (await inTurn(application, 'ada@example.com')).visitor,
      (await inTurn(application, 'ada@example.com')).visitor,
    ];
    await accounts.setActive(ada.id, false);
    for (const visitor of visitors) expect(await visitor.text('/who')).toBe('null');
    expect((await application.database.execute('SELECT 1 FROM host_sessions')).rows).toEqual([]);
    for (const visitor of visitors) expect(visitor.session()).toBeNull();
  });
});

describe('the CSRF check of the kit', () => {
  // @shows HOST-2.1, OIDC-3.1.2.3
  test('refuses an unsafe request if the token is missing, wrong or from a different session', async () => {
    const application = await start();
    const [visitor, other] = [browser(application), browser(application)];
    await visitor.text('/token');
    expect((await visitor.post('/change', {})).status).toBe(403);
    expect((await visitor.post('/change', { _csrf: 'A'.repeat(43) })).status).toBe(403);
    expect((await visitor.post('/change', { _csrf: await other.text('/token') })).status).toBe(403);
  });

  // @shows HOST-2.1
  test('accepts the token in a form field or header, and the handler can read the body', async () => {
    const application = await start();
    const visitor = browser(application);
    const token = await visitor.text('/token');
    expect(await (await visitor.post('/change', { _csrf: token, a: '1' })).text()).toBe(
      `changed _csrf=${token}&a=1`,
    );
    expect((await visitor.post('/change', {}, { 'X-CSRF-Token': token })).status).toBe(200);
    const multipart = new FormData();
    multipart.set('_csrf', token);
    expect((await visitor.send('/change', { method: 'POST', body: multipart })).status).toBe(200);
  });

  test.each<[string, Record<string, string>, number]>([
    ['another origin', { Origin: 'https://evil.example' }, 403],
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    [
      'another origin of the same site',
      { 'Sec-Fetch-Site': 'same-site', Origin: 'https://evil.app.example' },
      403,
    ],
    ['our origin', { Origin: ORIGIN }, 200],
    ['our origin on another port', { Origin: `${ORIGIN}:8443` }, 403],
    ['our host without TLS', { Origin: ORIGIN.replace('https', 'http') }, 403],
    ['a page with the origin null', { Origin: 'null' }, 200],
    ['the address bar', { 'Sec-Fetch-Site': 'none' }, 200],
    [
      'a different site with our Origin header',
      { 'Sec-Fetch-Site': 'cross-site', Origin: ORIGIN },
      403,
    ],
    ['an empty Sec-Fetch-Site', { 'Sec-Fetch-Site': '' }, 403],
    ['a page of ours without a referrer', { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }, 200],
  ])('accepts a valid token from %s', async (_, headers, status) => {
    const application = await start();
    const visitor = browser(application);
    const token = await visitor.text('/token');
    expect((await visitor.post('/change', { _csrf: token }, headers)).status).toBe(status);
  });

  // @shows HOST-2.1
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('applies to %s', async (method) => {
    const handler = async () => new Response('changed');
    const routes = [{ name: 'any', methods: [method], path: '/any', handler }];
    const visitor = browser(await start({ routes }));
    const token = await visitor.text('/token');
    expect((await visitor.send('/any', { method })).status).toBe(403);
    expect((await visitor.send('/any', { method, headers: { 'X-CSRF-Token': 'x' } })).status).toBe(
      403,
    );
    expect(
      (await visitor.send('/any', { method, headers: { 'X-CSRF-Token': token } })).status,
    ).toBe(200);
  });

  test.each([
    ['GET', 'GET'],
    ['HEAD', 'GET'],
    ['OPTIONS', 'OPTIONS'],
  ] as const)('does not apply to %s', async (method, of) => {
    const handler = async () => new Response(null, { status: 204 });
    const routes = [{ name: 'any', methods: [of], path: '/any', handler }];
    const visitor = browser(await start({ routes }));
    expect((await visitor.send('/any', { method })).status).toBe(204);
  });

  // @shows HOST-2.1
  test('uses a cookie that scripts cannot read, and only the session after sign-in', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    const shown = await visitor.send('/token');
    expect(shown.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-portico_csrf=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const before = await shown.text();
    expect((await visitor.post('/change', { _csrf: before })).status).toBe(200);
    await visitor.signIn('ada@example.com');
    expect((await visitor.post('/change', { _csrf: before })).status).toBe(403);
    expect((await visitor.post('/change', { _csrf: await visitor.text('/token') })).status).toBe(
      200,
    );
  });

  // @shows HOST-1.6
  test('reads a form of up to 1 MiB, to the byte', async () => {
    const application = await start();
    const visitor = browser(application);
    const first = `_csrf=${await visitor.text('/token')}&a=`;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const [size, status] of [
      [1024 * 1024, 200],
      [1024 * 1024 + 1, 413],
    ] as const) {
      const body = first + 'x'.repeat(size - first.length);
      expect((await visitor.send('/change', { method: 'POST', body, headers })).status).toBe(
        status,
      );
    }
  });

  test('skips an exempt route, unless the application disables the exemption by name', async () => {
    const exempt = await start({ config: { csrf_exempt_routes: { change: true } } });
    expect((await browser(exempt).post('/change', {})).status).toBe(200);
    const off = await start({ config: { csrf_exempt_routes: { change: false } } });
    expect((await browser(off).post('/change', {})).status).toBe(403);
  });

  // @shows API-5.3
  test('is skipped for an Authorization: Bearer header, which signs no person in', async () => {
    const application = await start({
      routes: [
        route('who.post', 'POST', '/who', async () =>
          Response.json((await auth().user()) === null),
        ),
      ],
    });
    await addPeople(application);
    const visitor = browser(application);
    await visitor.signIn('ada@example.com');
    for (const scheme of ['Bearer x', 'bearer x', 'BEARER  x', 'Bearer']) {
      const response = await visitor.post('/who', {}, { Authorization: scheme });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('true');
    }
    expect((await visitor.post('/who', {}, { Authorization: 'Bearerx' })).status).toBe(403);
  });

  test('is skipped for a bearer request, where an endpoint that needs a session returns 400', async () => {
    const application = await start();
    for (const at of ['/login', '/token', '/secret', '/remember/a/b']) {
      const response = await browser(application).send(at, {
        headers: { Authorization: 'Bearer x' },
      });
      expect(response.status).toBe(400);
      expect(response.headers.has('set-cookie')).toBe(false);
    }
  });

  // @shows HOST-1.6
  test('responds with 413 to a form above 1 MiB', async () => {
    const application = await start();
    expect(
      (await browser(application).post('/change', { a: 'x'.repeat(1024 * 1024) })).status,
    ).toBe(413);
  });

  test('responds with 400, not a server error, to an incomplete form', async () => {
    const application = await start();
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error('aborted')),
    });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    expect((await application.fetch(new Request(`${ORIGIN}/change`, init))).status).toBe(400);
  });

  test('does not exist in an application without accounts', async () => {
    const application = await start({ accounts: false });
    expect((await browser(application).post('/change', {})).status).toBe(200);
    expect(application.hasRoute('login')).toBe(false);
  });
});

describe('a response of the kit', () => {
  const PAGE_POLICY =
    "default-src 'none'; style-src 'self' 'nonce-N'; img-src 'self' data:; font-src 'self'; base-uri 'none'; frame-ancestors 'none'";
  const headersOf = ({ headers }: Response) =>
    Object.fromEntries(
      [...headers]
        .filter(([name]) => name !== 'x-request-id' && name !== 'set-cookie')
        .map(([name, value]) => [name, value.replace(/'nonce-[\w+/=]{24}'/, "'nonce-N'")]),
    );
  const PAGE = {
    'cache-control': 'no-store',
    'content-security-policy': PAGE_POLICY,
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
  const html = { headers: { Accept: 'text/html' } };

  test('cannot be framed or stored and runs no script, if it is a page', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    const pages: readonly (readonly [Response, number])[] = [
      [await visitor.send('/login'), 200],
      [await visitor.post('/login', {}), 403],
      [await visitor.signIn('ada@example.com', 'wrong'), 401],
      [await visitor.send('/nowhere', html), 404],
      [await visitor.send('/change', { ...html, method: 'POST' }), 403],
    ];
    for (const [page, status] of pages) {
      expect(page.status).toBe(status);
      expect(headersOf(page)).toMatchObject(PAGE);
    }
    const nonces = pages.map(([{ headers }]) => headers.get('content-security-policy'));
    expect(new Set(nonces).size).toBe(pages.length);
  });

  test('has the JSON type and is not stored, if it is a JSON error', async () => {
    const response = await browser(await start()).send('/nowhere');
    expect(headersOf(response)).toEqual({
      'cache-control': 'no-store',
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      vary: 'Accept',
    });
  });

  test('is not stored by the browser after sign-in and sign-out', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    expect(headersOf(await visitor.signIn('ada@example.com'))).toEqual({
      'cache-control': 'no-store',
      location: '/who',
    });
    const out = await visitor.post('/logout', { _csrf: await visitor.text('/token') });
    expect(headersOf(out)).toEqual({ 'cache-control': 'no-store', location: '/' });
  });

  test('shows a refused form again without the input, and without an unsafe return path', async () => {
    const application = await start();
    const form = {
      identifier: 'typed@example.com',
      password: 'typed-secret',
      return_to: '//evil.example',
    };
    const page = await (await browser(application).post('/login', form)).text();
    expect(page).toContain('name="return_to" value="/"');
    for (const word of ['typed@example.com', 'typed-secret', 'evil'])
      expect(page).not.toContain(word);
  });

  test('never contains a wrong password', async () => {
    const application = await start();
    await addPeople(application);
    const response = await browser(application).signIn('ada@example.com', 'typed-secret', '/who');
    const page = await response.text();
    expect(page).toContain('ada@example.com');
    expect(page).not.toContain('typed-secret');
  });

  // @shows HOST-1.6
  test('is 413 for a sign-in form above 64 KiB, to the byte', async () => {
    const application = await start();
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
    };
    const sent = (size: number) => {
      const first = 'identifier=x&password=';
      const body = first + 'y'.repeat(size - first.length);
      return browser(application).send('/login', { method: 'POST', body, headers });
    };
    expect((await sent(64 * 1024)).status).toBe(401);
    expect((await sent(64 * 1024 + 1)).status).toBe(413);
  });

  // @shows HOST-2.1
  test.each([
    ['same-origin', 401],
    ['none', 403],
    ['same-site', 403],
    ['cross-site', 403],
  ])(
    'to a sign-in form without a token, from a browser that sends %s, is %i',
    async (site, status) => {
      const application = await start();
      const form = { identifier: 'x', password: 'y' };
      const sent = await browser(application).post('/login', form, { 'Sec-Fetch-Site': site });
      expect(sent.status).toBe(status);
    },
  );

  test.each([401, 403])('that refuses a sign-in with %i writes one log line', async (status) => {
    const application = await start();
    const visitor = browser(application);
    const answer =
      status === 401
        ? await visitor.signIn('x', 'y')
        : await visitor.post('/login', { identifier: 'x' });
    expect(answer.status).toBe(status);
    await application.close();
    started.pop();
    const lines = (await readFile(path.join(folder, 'logs', 'app.log'), 'utf8')).trim().split('\n');
    const id = answer.headers.get('x-request-id');
    expect(
      lines.filter((line) => (JSON.parse(line) as { requestId?: string }).requestId === id),
    ).toHaveLength(1);
  });
});

describe('the sign-in page', () => {
  const linesIn = async () =>
    (await readFile(path.join(folder, 'logs', 'app.log'), 'utf8')).split('\n');
  const returnTo = '/who?x=1';
  const submit = (visitor: ReturnType<typeof browser>, more: Record<string, string> = {}) =>
    visitor.post(
      '/login',
      { identifier: 'ada@example.com', password: 'wrong', return_to: returnTo, ...more },
      { 'Sec-Fetch-Site': 'same-origin' },
    );
  const invalidFieldsOn = (page: string) => page.match(/aria-invalid="true"/g)?.length ?? 0;
  /** Starts an application that accepts no password. If the load is too high, it checks none. */
  async function startOverloadable() {
    const load = { isTooHigh: false };
    const application = await start({
      random: NEVER_AHEAD,
      authenticate: async () => {
        if (load.isTooHigh) throw new OverloadedError();
        return null;
      },
    });
    return { application, load };
  }

  // @shows AS-17.2
  test('marks its fields as wrong only after a wrong password, and keeps the return path', async () => {
    const { application, load } = await startOverloadable();
    const visitor = browser(application);
    const opened = await visitor.text(`/login?return_to=${encodeURIComponent(returnTo)}`);
    expect([identifierOn(opened), invalidFieldsOn(opened)]).toEqual(['', 0]);
    const refused = await visitor.post('/login', { identifier: 'x', return_to: returnTo });
    const stale = await refused.text();
    expect([refused.status, identifierOn(stale), invalidFieldsOn(stale)]).toEqual([403, '', 0]);
    const pages = [opened, stale];
    const expectPage = async (status: number, retryAfter: string | null, invalid: number) => {
      const response = await submit(visitor);
      const page = await response.text();
      expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter]);
      expect([identifierOn(page), invalidFieldsOn(page)]).toEqual(['ada@example.com', invalid]);
      pages.push(page);
    };
    for (let times = 0; times < 4; times += 1) await expectPage(401, null, 2);
    load.isTooHigh = true;
    await expectPage(503, '2', 0);
    load.isTooHigh = false;
    await expectPage(401, null, 2);
    await expectPage(429, '1', 0);
    for (const page of pages) expect(page).toContain(`name="return_to" value="${returnTo}"`);
  });

  test('logs too many password checks, but not a slowed sign-in, as an overload', async () => {
    const { application, load } = await startOverloadable();
    const logged = async () =>
      (await linesIn())
        .filter((line) => line.includes('Too many password checks'))
        .map((line) => (JSON.parse(line) as { times?: number }).times);
    const visitor = browser(application);
    for (let times = 0; times < 5; times += 1) await submit(visitor);
    expect((await submit(visitor)).status).toBe(429);
    expect(await logged()).toEqual([]);
    load.isTooHigh = true;
    expect((await submit(visitor, { identifier: 'grace@example.com' })).status).toBe(503);
    expect(await logged()).toEqual([1]);
  });

  // @shows HOST-2.1
  test.each([
    [{}, 'the CSRF token is missing or belongs to another browser'],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 'another site sent the form'],
  ])('logs why it refused a form: %j', async (headers, detail) => {
    const visitor = browser(await start());
    const refused = await visitor.post('/login', { identifier: 'x' }, headers);
    const id = refused.headers.get('x-request-id') ?? 'none';
    const lines = (await linesIn()).filter((line) => line.includes(id));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { message: `login_submit refused: 403 (${detail})` },
    ]);
  });

  test('asks a signed-in person again with `again`, also after a wrong password', async () => {
    const application = await start();
    await addPeople(application);
    const visitor = browser(application);
    const titleOf = (page: string) => /<h1>(.*?)<\/h1>/.exec(page)?.[1];
    const asksAgain = (page: string) => page.includes('name="again" value="1"');
    const stranger = await visitor.text('/login?again=1');
    expect([identifierOn(stranger), asksAgain(stranger)]).toEqual(['', false]);
    await visitor.signIn('grace@example.com');
    const plain = await visitor.text('/login');
    expect([identifierOn(plain), asksAgain(plain)]).toEqual(['', false]);
    const opened = await visitor.text('/login?again');
    const wrong = await submit(visitor, { identifier: '', again: '1' });
    expect(wrong.status).toBe(401);
    for (const page of [opened, await wrong.text()])
      expect([identifierOn(page), asksAgain(page)]).toEqual(['grace@example.com', true]);
    expect(titleOf(stranger)).toBe(titleOf(plain));
    expect(titleOf(opened)).not.toBe(titleOf(plain));
  });
});

describe('a browser in which a person has signed in', () => {
  const KNOWN = '__Host-portico_known';
  const HALF_A_YEAR = 180 * DAY;
  const clock = createClock();
  const from = { address: '192.0.2.7' };

  /**
   * Whether the browser is known for the account. First slows down all other attempts on its
   * network.
   */
  async function isKnown(
    application: Application,
    known: string | null,
    email = 'ada@example.com',
  ) {
    const attempt = async (cookie: string | null) => {
      const visitor = browser(application);
      if (cookie !== null) visitor.kept.set(KNOWN, cookie);
      const body = new URLSearchParams({ identifier: email, password: 'wrong' });
      const headers = { 'Sec-Fetch-Site': 'same-origin' };
      return (await visitor.send('/login', { method: 'POST', body, headers }, from)).status;
    };
    for (let times = 0; times < 6; times += 1) await attempt(null);
    expect(await attempt(null)).toBe(429);
    const answer = await attempt(known);
    expect([401, 429]).toContain(answer);
    clock.advance(HOUR);
    return answer === 401;
  }
  const begin = async () => {
    const application = await start({ clock: clock.now, random: NEVER_AHEAD });
    const { accounts } = await addPeople(application);
    const visitor = browser(application);
    const signedIn = await visitor.signIn('ada@example.com');
    const cookie = signedIn.headers.getSetCookie().find((each) => each.startsWith(KNOWN)) ?? '';
    return { application, accounts, visitor, cookie, known: visitor.kept.get(KNOWN) ?? '' };
  };

  // @shows AS-17.2
  test('has a cookie for half a year that scripts cannot read', async () => {
    const { cookie } = await begin();
    expect(cookie).toMatch(
      new RegExp(
        `^${KNOWN}=\\d{10}-[\\w-]{43}; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=${HALF_A_YEAR}$`,
      ),
    );
  });

  // @shows AS-17.2
  test('gets its cookie also from a route that checks the password without a session', async () => {
    const checks: { application?: Application } = {};
    const application = await start({
      routes: [
        route('check', 'GET', '/check/{password}', async ({ password = '' }) => {
          const user = await checks.application?.accounts.authenticate('ada@example.com', password);
          return Response.json(user?.getProfile().name ?? null);
        }),
      ],
    });
    checks.application = application;
    await addPeople(application);
    for (const [password, name, cookies] of [
      ['wrong', null, []],
      ['correct', 'Ada', [expect.stringContaining(`${KNOWN}=`)]],
    ] as const) {
      const response = await browser(application).send(`/check/${password}`);
      expect([await response.json(), response.headers.getSetCookie()]).toEqual([name, cookies]);
    }
  });

  // @shows AS-17.2
  test('is known for half a year, only for its account, and not before the time of the sign-in', async () => {
    const { application, known } = await begin();
    const began = clock.now();
    expect(await isKnown(application, known)).toBe(true);
    expect(await isKnown(application, known, 'grace@example.com')).toBe(false);
    const passed = () => (clock.now() - began) / 1000;
    clock.advance(HALF_A_YEAR - passed() - 1);
    expect(await isKnown(application, known)).toBe(true);
    clock.advance(HALF_A_YEAR - passed());
    expect(await isKnown(application, known)).toBe(false);
    clock.advance(-DAY - passed());
    expect(await isKnown(application, known)).toBe(false);
  });

  // @shows AS-17.2
  test('is known for the last four accounts', async () => {
    const { application, accounts, visitor } = await begin();
    const emails = ['one', 'two', 'three', 'four'].map((name) => `${name}@example.com`);
    for (const email of emails) {
      await accounts.create({ email, name: email, password: 'correct' });
      clock.advance(1);
      expect((await visitor.signIn(email)).status).toBe(303);
    }
    const known = visitor.kept.get(KNOWN) ?? '';
    expect(known.split('.')).toHaveLength(4);
    expect(await isKnown(application, known)).toBe(false);
    expect(await isKnown(application, known, emails[0])).toBe(true);
    expect(await isKnown(application, known, emails[3])).toBe(true);
  });
});

describe('the client address of a request', () => {
  const where = route('where', 'GET', '/where', () => new Response(clientAddress()));

  // @shows HOST-1.7
  test.each([
    [0, '198.51.100.1', '192.0.2.9'],
    [1, null, '192.0.2.9'],
    [1, '', '192.0.2.9'],
    [1, '198.51.100.1', '198.51.100.1'],
    [1, '203.0.113.5, 198.51.100.1', '198.51.100.1'],
    [1, '203.0.113.5, unknown', '192.0.2.9'],
    [1, '198.51.100.1:4711', '198.51.100.1'],
    [1, '[2001:DB8::1]:443', '2001:db8::1'],
    [1, '::ffff:198.51.100.1', '198.51.100.1'],
    [2, '203.0.113.5, 198.51.100.1', '203.0.113.5'],
    [2, '1.1.1.1, 203.0.113.5, 198.51.100.1', '203.0.113.5'],
    [2, '198.51.100.1', '192.0.2.9'],
    [3, '203.0.113.5,, 198.51.100.1, 10.0.0.1', '203.0.113.5'],
  ])('behind %i proxies, with X-Forwarded-For %j, is %s', async (proxies, forwarded, address) => {
    const application = await start({ config: { trusted_proxies: proxies }, routes: [where] });
    const headers = forwarded === null ? {} : { 'X-Forwarded-For': forwarded };
    const sent = await browser(application).send('/where', { headers }, { address: '192.0.2.9' });
    expect(await sent.text()).toBe(address);
  });

  test('is null if the connection is unknown', async () => {
    const known = route('known', 'GET', '/known', () => Response.json(clientAddress()));
    const application = await start({ routes: [known] });
    expect(await browser(application).text('/known')).toBe('null');
  });
});

describe('the size limit of a request body:', () => {
  const LIMIT = 1024;
  const echo = route(
    'echo',
    'POST',
    '/echo',
    async (_, request) => new Response(await request.text()),
  );

  // @shows HOST-1.6
  test.each([
    ['as many bytes as the limit', LIMIT, 200],
    ['one byte more than the limit', LIMIT + 1, 413],
  ])('%s, with or without Content-Length', async (_, size, status) => {
    const application = await start({
      config: { body_limit: LIMIT },
      routes: [echo],
      accounts: false,
    });
    const body = 'x'.repeat(size);
    const declared = { 'Content-Length': String(size) };
    const send = (headers: Record<string, string>) =>
      browser(application).send('/echo', { method: 'POST', body, headers });
    for (const sent of [await send({}), await send(declared)]) {
      expect(sent.status).toBe(status);
      expect((await sent.text()) === body).toBe(status === 200);
    }
  });

  // @shows HOST-1.6
  test.each([
    ['as many bytes as the limit', LIMIT, 200],
    ['one byte more than the limit', LIMIT + 1, 413],
  ])('%s, in chunks that are each below the limit', async (_, size, status) => {
    const application = await start({
      config: { body_limit: LIMIT },
      routes: [echo],
      accounts: false,
    });
    const pieces = [LIMIT - 1, size - LIMIT + 1].map((length) => Buffer.alloc(length, 'x'));
    const body = Readable.toWeb(Readable.from(pieces));
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit;
    expect((await browser(application).send('/echo', init)).status).toBe(status);
  });
});

test('an account is created at the time of the application', async () => {
  let accounts: DatabaseAccounts | null = null;
  const definition: ApplicationDefinition = {
    directory: folder,
    config: { public_url: ORIGIN },
    accounts: (services) => [(accounts = databaseAccounts(services))],
  };
  const application = await startApplication(definition, { env: {}, clock: () => 1234 });
  started.push(application);
  await migrate(application.database, migrationsOf(definition));
  await (accounts as DatabaseAccounts | null)?.create({
    email: 'ada@example.com',
    name: 'Ada',
    password: 'correct',
  });
  const { rows } = await application.database.execute('SELECT created_at FROM host_accounts');
  expect(rows).toEqual([{ created_at: 1234 }]);
});

describe('in one request', () => {
  const name = async () => (await auth().user())?.getProfile().name ?? null;
  const routes = (ada: () => PersonReference) => [
    route('in', 'GET', '/in', async () => {
      const before = await name();
      await auth().signIn(ada());
      return Response.json([before, await name(), (await auth().person())?.id === ada().id]);
    }),
    route('out', 'GET', '/out', async () => {
      const before = await name();
      await auth().signOut();
      return Response.json([before, await name(), await auth().person()]);
    }),
    route('forget', 'GET', '/forget', async () => {
      await session().set('a', 1);
      await session().set('b', 2);
      await session().set('a', undefined);
      return Response.json([(await session().get('a')) ?? null, await session().get('b')]);
    }),
  ];

  // @shows HOST-2.2
  test('signing in and out changes the current person and the session at once', async () => {
    let person: PersonReference = { provider: '', id: '' };
    const application = await start({ routes: routes(() => person) });
    const { ada } = await addPeople(application);
    person = ada.reference;
    const visitor = browser(application);
    expect(await (await visitor.send('/in')).json()).toEqual([null, 'Ada', true]);
    expect(await visitor.text('/who')).toBe('"Ada"');
    const left = visitor.session();
    expect(await (await visitor.send('/out')).json()).toEqual(['Ada', null, null]);
    expect(await browser(application, left).text('/who')).toBe('null');
  });

  test.each(['none', 'hooks', 'failing hooks'])(
    'cookies are set although the handler throws, with %s',
    async (hooks) => {
      let person: PersonReference = { provider: '', id: '' };
      const thrower = (name: string, work: () => Promise<void>) =>
        route(name, 'GET', `/${name}`, async () => {
          await work();
          throw new Error('as the test wants');
        });
      const application = await start({
        routes: [
          thrower('in', () => auth().signIn(person)),
          thrower('out', () => auth().signOut()),
        ],
        register({ events }) {
          if (hooks === 'none') return;
          events.on(Event.EXCEPTION, () => {
            if (hooks === 'failing hooks') throw new Error('the hook');
            return new Response('own', { status: 500 });
          });
        },
      });
      person = (await addPeople(application)).ada.reference;
      const visitor = browser(application);
      await visitor.send('/remember/basket/full');
      expect((await visitor.send('/in')).status).toBe(500);
      expect(await visitor.text('/who')).toBe('"Ada"');
      expect(await visitor.text('/recall/basket')).toBe('"full"');
      expect((await visitor.send('/out')).status).toBe(500);
      expect(visitor.session()).toBeNull();
    },
  );

  test('a value can be removed from the session without affecting the others', async () => {
    const application = await start({ routes: routes(() => ({ provider: '', id: '' })) });
    const visitor = browser(application);
    expect(await (await visitor.send('/forget')).json()).toEqual([null, 2]);
    expect(await visitor.text('/recall/a')).toBe('null');
    expect(await visitor.text('/recall/b')).toBe('2');
    for (const name of ['toString', '__proto__', 'constructor'])
      expect(await visitor.text(`/recall/${name}`)).toBe('null');
  });
});

describe('a route', () => {
  // @shows API-1.5
  test('receives its placeholders by name, percent-decoded', async () => {
    const application = await start();
    expect(await browser(application).text('/items/a%2Fb%20%C3%A4')).toBe('{"id":"a/b ä"}');
    expect(application.path('item', { id: 'a/b ä' })).toBe('/items/a%2Fb%20%C3%A4');
  });

  test.each(['/items/%', '/items/%zz', '/items/%ff', '/nowhere', '/items', '/items/a/b'])(
    'that does not exist (%s) is 404, as JSON with method and path',
    async (at) => {
      const response = await browser(await start()).send(at);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ error: 'Not found', method: 'GET', path: at });
    },
  );

  test('responds to a wrong method with 405 and Allow, and to HEAD like GET without a body', async () => {
    const application = await start();
    const wrong = await browser(application).send('/items/1', { method: 'DELETE' });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, HEAD');
    const head = await browser(application).send('/items/1', { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });

  // @shows API-1.5
  test('is found by a path with letters of any language', async () => {
    const weather = route('weather', 'GET', '/größe/天気/{place}', ({ place }) =>
      Response.json(place),
    );
    const application = await start({ routes: [weather] });
    const place = application.path('weather', { place: 'Zürich' });
    expect(place).toBe('/gr%C3%B6%C3%9Fe/%E5%A4%A9%E6%B0%97/Z%C3%BCrich');
    for (const asked of [place, '/größe/天気/Zürich'])
      expect(await browser(application).text(asked)).toBe('"Zürich"');
  });

  test('receives the placeholders of each request, also of a repeated path', async () => {
    const visitor = browser(await start());
    for (const id of ['1', '1', '2', '1'])
      expect(await visitor.text(`/items/${id}`)).toBe(JSON.stringify({ id }));
  });

  test('is in Allow with every method of its path, unless the route only refuses the method', async () => {
    const handler = () => new Response(null, { status: 405 });
    const routes: readonly Route[] = [
      { name: 'list', methods: ['POST', 'PUT'], path: '/both', handler },
      { name: 'none', methods: ['GET'], path: '/both', refusesMethods: true, handler },
    ];
    const application = await start({ routes });
    const allowed = async (at: string, method: string) => {
      const { status, headers } = await browser(application).send(at, { method });
      return [status, headers.get('allow')];
    };
    expect(await allowed('/both', 'DELETE')).toEqual([405, 'POST, PUT']);
    expect(await allowed('/change', 'GET')).toEqual([405, 'POST']);
    expect(await allowed('/change', 'HEAD')).toEqual([405, 'POST']);
    expect(await allowed('/login', 'DELETE')).toEqual([405, 'GET, POST, HEAD']);
  });

  test('that yields is not added if a different route has its name or path, with any method', async () => {
    const yielding = (name: string, at: string): Route => ({
      ...route(name, 'GET', at, () => new Response('yields')),
      yields: true,
    });
    const routes = [
      yielding('free', '/free'),
      yielding('change', '/named'),
      yielding('posted', '/change'),
      yielding('seventh', '/items/7'),
    ];
    const application = await start({ routes });
    const visitor = browser(application);
    expect(await visitor.text('/free')).toBe('yields');
    expect((await visitor.send('/named')).status).toBe(404);
    expect((await visitor.send('/change')).status).toBe(405);
    expect(await visitor.text('/items/7')).toBe('{"id":"7"}');
    expect(['free', 'posted', 'seventh'].map((name) => application.hasRoute(name))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('with the name or path of a different one is an error at the start', async () => {
    const ok = () => new Response('ok');
    await expect(start({ routes: [route('item', 'GET', '/other', ok)] })).rejects.toThrow("'item'");
    await expect(start({ routes: [route('other', 'GET', '/items/{key}', ok)] })).rejects.toThrow(
      '/items/{}',
    );
  });

  test('without a leading slash in its path is an error at the start', async () => {
    const wrong = route('relative', 'GET', 'relative', () => new Response('ok'));
    await expect(start({ routes: [wrong] })).rejects.toThrow(
      "The path of the route 'relative' must begin with /",
    );
  });

  // @shows API-1.5
  test.each(['/items/{id}.json', '/@{name}', '/{from}-{to}', '/{{id}'])(
    'with a placeholder that is only a part of a segment is an error at the start: %s',
    async (place) => {
      const wrong = route('partial', 'GET', place, () => new Response('ok'));
      await expect(start({ routes: [wrong] })).rejects.toThrow(
        `The path of the route 'partial' is ${place}, but a placeholder must be a whole segment`,
      );
    },
  );

  test('with a placeholder needs a value to build its path', async () => {
    const application = await start();
    expect(() => application.path('item')).toThrow("The route 'item' needs a value for {id}");
    expect(() => application.path('nothing')).toThrow("There is no route 'nothing'");
  });

  test('of the kit signs out at the path of the route logout', async () => {
    const application = await start({ config: { base_path: '/app' } });
    expect([application.path('login'), application.path('logout')]).toEqual([
      '/app/login',
      '/app/logout',
    ]);
  });

  test('of the application may replace the login route', async () => {
    const own = route('login', 'GET', '/anmelden', () => new Response('own'));
    const application = await start({ routes: [own] });
    expect(application.path('login')).toBe('/anmelden');
    expect((await browser(application).send('/login')).status).toBe(404);
  });
});

describe('a plugin of the application', () => {
  const plugin = (name: string, more: Partial<Plugin> = {}): Plugin => ({
    ...EMPTY_PLUGIN,
    name,
    ...more,
  });

  test('names schemes of access tokens, which need no CSRF token and use no session', async () => {
    const application = await start({
      plugins: [plugin('none'), plugin('own', { tokenSchemes: () => ['Own'] })],
    });
    await addPeople(application);
    const visitor = browser(application);
    await visitor.signIn('ada@example.com');
    const seenWith = async (Authorization: string) => [
      (await visitor.post('/change', {}, { Authorization })).status,
      await visitor.text('/who', { headers: { Authorization } }),
    ];
    expect(await seenWith('Own x')).toEqual([200, 'null']);
    expect(await seenWith('Other x')).toEqual([403, '"Ada"']);
  });

  test('shows on the sign-in page who waits, if no plugin before it does', async () => {
    const waitingFor = (clientName: string) => async () => ({
      clientName,
      isVerified: true,
      loginHint: null,
      uiLocales: [],
    });
    const silent = [plugin('none'), plugin('unaware', { waitingFor: async () => null })];
    const application = await start({
      plugins: [
        ...silent,
        plugin('one', { waitingFor: waitingFor('First App') }),
        plugin('other', { waitingFor: waitingFor('Second App') }),
      ],
    });
    const page = await browser(application).text('/login');
    expect(page).toContain('First App');
    expect(page).not.toContain('Second App');
    expect((await browser(await start({ plugins: silent })).send('/login')).status).toBe(200);
  });

  test('adds routes that the middleware of the application does not see', async () => {
    const theirs = route('theirs', 'GET', '/theirs', () => new Response());
    const application = await start({
      plugins: [plugin('own', { register: (registering) => registering.route(theirs) })],
      register: (registering) =>
        registering.middleware(async () => new Response(null, { status: 418 })),
    });
    const status = async (at: string) => (await browser(application).send(at)).status;
    expect([await status('/theirs'), await status('/who')]).toEqual([200, 418]);
  });
});

describe('an application without accounts', () => {
  test('finds no account, ends no session, and has no tables of the kit', async () => {
    const application: Application = await start({
      accounts: false,
      routes: [
        route('attempt', 'GET', '/attempt', async () =>
          Response.json(await application.accounts.authenticate('ada@example.com', 'correct')),
        ),
      ],
    });
    expect(await browser(application).text('/attempt')).toBe('null');
    expect(await application.endSessions({ provider: 'accounts', id: 'ada' })).toBe(0);
    const tables = await application.database.execute(
      "SELECT name FROM sqlite_master WHERE name LIKE 'host_%'",
    );
    expect(tables.rows).toEqual([]);
  });
});

describe('the hashes of an application', () => {
  test('are computed one at a time, so that they do not delay the passwords of people', async () => {
    const { passwordHasher } = await start();
    const slow = await argon2idHasher({ memory: 65_536, passes: 4 }).hash('secret');
    const quick = await HASHER.hash('secret');
    const ended: string[] = [];
    const verify = async (hash: string) => {
      await passwordHasher.verify('secret', hash);
      ended.push(hash);
    };
    await Promise.all([verify(slow), verify(quick)]);
    expect(ended).toEqual([slow, quick]);
  });
});

/** Sends these lines, byte by byte. Returns the response, also byte by byte. */
function exchange(url: string, ...lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1'),
    );
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('a Host header', () => {
  test.each([
    ['app.example', 404],
    ['app.example:8080', 404],
    ['[::1]:8080', 404],
    ['\u00FC.\u00FC/who?xxxxxxx', 400],
    ['app.example/who?', 400],
    ['user@app.example', 400],
    ['\u00FC', 400],
  ])('%s never changes the path of the request', async (host, status) => {
    const server = await listen(await start(), { port: 0, hostname: '127.0.0.1' });
    const answer = await exchange(server.url, 'GET /nowhere HTTP/1.1', `Host: ${host}`);
    expect(Number(answer.split(' ')[1])).toBe(status);
    await server.close();
  });

  test('that is wrong gets a response in JSON with a request id', async () => {
    const server = await listen(await start(), { port: 0, hostname: '127.0.0.1' });
    const answer = await exchange(server.url, 'GET /who HTTP/1.1', 'Host: .1');
    const [head = '', body] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toMatch(/^content-type: application\/json\r$/m);
    expect(head).toMatch(/^x-request-id: [\w-]{36}\r$/m);
    expect(body).toBe('{"error":"Bad request"}');
    await server.close();
  });
});

describe('the HTTP server', () => {
  const where = route('where', 'GET', '/where', () => new Response(clientAddress()));

  const hasIPv6 = Object.values(networkInterfaces()).some((addresses = []) =>
    addresses.some(({ address }) => address === '::1'),
  );

  test.each<readonly [hostname: string, host: string]>([
    ['127.0.0.1', '127.0.0.1'],
    ...(hasIPv6 ? [['::1', '[::1]'] as const] : []),
  ])('listens on %s, and knows the address of the client', async (hostname, host) => {
    const server = await listen(await start({ routes: [where] }), { port: 0, hostname });
    expect(server.port).toBeGreaterThan(0);
    expect(server.url).toBe(`http://${host}:${server.port}`);
    expect(await (await fetch(`${server.url}/where`)).text()).toBe(hostname);
    await server.close();
  });

  test('answers a request of HTTP/1.0, which has no Host header', async () => {
    const server = await listen(await start(), { port: 0, hostname: '127.0.0.1' });
    const answer = await exchange(server.url, 'GET /who HTTP/1.0');
    await server.close();
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('does not start on a port that is in use', async () => {
    const application = await start();
    const hostname = '127.0.0.1';
    const server = await listen(application, { port: 0, hostname });
    await expect(listen(application, { port: server.port, hostname })).rejects.toThrow(
      'EADDRINUSE',
    );
    await server.close();
  });
});

describe('a running server', () => {
  test('logs that a connection cannot be accepted, and keeps serving', async () => {
    const server = await listen(await start(), { port: 0, hostname: '127.0.0.1' });
    const { resolve, promise } = Promise.withResolvers<EventEmitter>();
    const onRequest = (message: unknown) => resolve((message as { server: EventEmitter }).server);
    subscribe('http.server.request.start', onRequest);
    await fetch(`${server.url}/who`);
    unsubscribe('http.server.request.start', onRequest);
    // Node emits this if the process has too many open files.
    (await promise).emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    expect((await fetch(`${server.url}/who`)).status).toBe(200);
    await server.close();
    const log = await readFile(path.join(folder, 'logs', 'app.log'), 'utf8');
    expect(log).toContain('accept EMFILE');
  });
});

describe('the two host hooks', () => {
  const failing = route('fail', 'GET', '/fail', () => {
    throw new HttpError(418, 'the secret of the teapot');
  });
  const faulty = route('fault', 'GET', '/fault', () => {
    throw new Error('the secret of the fault');
  });

  test('are optional: an exception becomes JSON without details, and a server error is logged', async () => {
    const application = await start({ routes: [failing, faulty] });
    const refused = await browser(application).send('/fail');
    expect(refused.status).toBe(418);
    expect(await refused.json()).toEqual({ error: "I'm a teapot", method: 'GET', path: '/fail' });
    const fault = await browser(application).send('/fault');
    expect(fault.status).toBe(500);
    expect(await fault.json()).toEqual({
      error: 'Internal server error',
      method: 'GET',
      path: '/fault',
    });
    const log = await readFile(path.join(folder, 'logs', 'app.log'), 'utf8');
    expect(log).toContain('the secret of the fault');
  });

  // @shows API-6.2
  test('receive every exception (EXCEPTION) and every response (RESPONSE_HEADER)', async () => {
    const application = await start({
      routes: [failing],
      register({ events }) {
        events.on(Event.EXCEPTION, (error: unknown) => {
          const status = ErrorHandler.resolveStatusCode(error);
          return Response.json({ status }, { status });
        });
        events.on(Event.RESPONSE_HEADER, (response: Response) => {
          response.headers.set('X-Content-Type-Options', 'nosniff');
          return response;
        });
      },
    });
    for (const [at, status] of [
      ['/fail', 418],
      ['/nowhere', 404],
    ] as const) {
      const response = await browser(application).send(at);
      expect(await response.json()).toEqual({ status });
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(
      (await browser(application).send('/items/1')).headers.get('x-content-type-options'),
    ).toBe('nosniff');
  });

  test('are optional: the error page and the JSON have the headers of the exception', async () => {
    const busy = route('busy', 'GET', '/busy', () => {
      throw new HttpError(503, 'as the test wants', { 'Retry-After': '7' });
    });
    const visitor = browser(await start({ routes: [busy] }));
    for (const accept of ['text/html', 'application/json']) {
      const { status, headers } = await visitor.send('/busy', { headers: { Accept: accept } });
      expect([status, headers.get('retry-after')]).toEqual([503, '7']);
      expect([headers.get('content-type')?.split(';')[0], headers.get('vary')]).toEqual([
        accept,
        'Accept',
      ]);
    }
  });

  test('are optional: an error view that cannot be rendered is replaced by JSON, and logged', async () => {
    await mkdir(path.join(folder, 'views'));
    await writeFile(path.join(folder, 'views', 'error.eta'), '<%= it.nothing.here %>');
    const response = await browser(await start()).send('/nowhere', {
      headers: { Accept: 'text/html' },
    });
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: 'Not found', method: 'GET', path: '/nowhere' },
    ]);
    const log = await readFile(path.join(folder, 'logs', 'app.log'), 'utf8');
    expect(log).toMatch(/The error view cannot be rendered: .*reading 'here'/);
    expect(log).toContain(response.headers.get('x-request-id'));
  });

  test('cause a plain 500 if one of them throws, and the log has both errors', async () => {
    const application = await start({
      routes: [failing],
      register: ({ events }) =>
        events.on(Event.EXCEPTION, () => {
          throw new Error('the hook');
        }),
    });
    expect((await browser(application).send('/fail')).status).toBe(500);
    const log = await readFile(path.join(folder, 'logs', 'app.log'), 'utf8');
    expect(log).toContain('The request failed: HttpError: the secret of the teapot');
    expect(log).toContain('A host hook failed: Error: the hook');
  });
});

describe('stopping the application', () => {
  test('finishes running requests and refuses new ones', async () => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const application = await start({
      routes: [
        route('slow', 'GET', '/slow', async () => {
          arrived.resolve();
          await gate.promise;
          return new Response('finished');
        }),
      ],
    });
    const server = await listen(application, { port: 0, hostname: '127.0.0.1' });
    const inFlight = fetch(`${server.url}/slow`);
    await arrived.promise;
    const closed = server.close();
    await expect(fetch(`${server.url}/who`)).rejects.toThrow('fetch failed');
    gate.resolve();
    expect(await (await inFlight).text()).toBe('finished');
    await closed;
  });

  test('closes the database only after the last running request', async () => {
    const gate = Promise.withResolvers<void>();
    const read = async () => (await application.database.execute('SELECT 1')).rows.length;
    const handler = async () => {
      await gate.promise;
      return Response.json(await read());
    };
    const routes = [route('slow', 'GET', '/slow', handler)];
    const application: Application = await start({ routes });
    const answer = browser(application).text('/slow');
    const closed = application.close();
    gate.resolve();
    expect(await answer).toBe('1');
    await closed;
    await expect(read()).rejects.toThrow('The database is closed');
  });

  describe('with a clock of the test', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());

    test('closes the connections of requests that run longer than ten seconds', async () => {
      const gate = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      const handler = async () => {
        arrived.resolve();
        await gate.promise;
        return new Response('late');
      };
      const application = await start({ routes: [route('slow', 'GET', '/slow', handler)] });
      const server = await listen(application, { port: 0, hostname: '127.0.0.1' });
      const ended: string[] = [];
      const answer = exchange(server.url, 'GET /slow HTTP/1.1', 'Host: app.example').then((text) =>
        ended.push(text),
      );
      await arrived.promise;
      const closed = server.close();
      await vi.advanceTimersByTimeAsync(9999);
      expect(ended).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      await Promise.all([closed, answer]);
      expect(ended).toEqual(['']);
      gate.resolve();
    });

    test('answers a request on an idle connection, and then closes the connection', async () => {
      const routes = [route('in', 'GET', '/in', async () => new Response('in'))];
      const server = await listen(await start({ routes }), { port: 0, hostname: '127.0.0.1' });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = async () => {
        const sent = get(`${server.url}/in`, { agent });
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        await once(response.resume(), 'end');
        return [sent.reusedSocket, response.statusCode, response.headers.connection];
      };
      expect(await ask()).toEqual([false, 200, 'keep-alive']);
      const closed = server.close();
      expect(await ask()).toEqual([true, 200, 'close']);
      await closed;
    });

    test('leaves no timer behind if no request runs', async () => {
      const server = await listen(await start(), { port: 0, hostname: '127.0.0.1' });
      const before = vi.getTimerCount();
      await server.close();
      expect(vi.getTimerCount()).toBe(before);
    });
  });
});
