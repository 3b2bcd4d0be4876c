// @engines sqlite, long: it tests cookies and pages; the store is the same for every host
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type Host,
  type LogContext,
} from 'portico';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { createClock } from './support/clock.ts';
import { REDIRECT_URI, codeRequest } from './support/portal.ts';
import { formOf } from './support/visitor.ts';

/**
 * A host that implements only the four required members. Portico then keeps the browser's secret in
 * a cookie.
 */

/**
 * The person who is signed in in a browser, according to its framework. The rest of the host's
 * session does not matter.
 */
interface Browser {
  person: string | null;
  /** The cookies of the browser, by name. */
  readonly jar: Map<string, string>;
}

const DAY = 86_400;
const ADA = 'ada';
const GRACE = 'grace';

let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let clock: ReturnType<typeof createClock>;
let logged: { readonly message: string; readonly context: LogContext }[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-browser-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  clock = createClock();
  logged = [];
});
afterEach(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

async function start(more: Partial<Host<Browser>> = {}, issuer = 'https://host.example') {
  const line = (message: string, context: LogContext = {}) =>
    void logged.push({ message, context });
  const host: Host<Browser> = {
    signedIn: async (_, { person }) => (person === null ? null : { provider: 'staff', id: person }),
    loadAccount: async (reference) => ({
      reference,
      isActive: () => true,
      getProfile: () => ({ name: reference.id }),
    }),
    holdsPermission: async () => true,
    loginUrl: '/sign-in',
    log: { debug: line, info: line, warning: line, error: line },
    ...more,
  };
  const config = oauthServerConfiguration.parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
  });
  const { now } = clock;
  const { origin: publicUrl } = new URL(issuer);
  const basePath = issuer.slice(publicUrl.length);
  const server = createAuthorizationServer({
    publicUrl,
    basePath,
    config,
    host,
    database,
    clock: now,
  });
  const handle = createHandler<Browser>(server);
  const { client } = await server.clients.create({
    name: 'App',
    redirectUris: [REDIRECT_URI],
    scopes: ['notes:read'],
    public: true,
  });
  const query = codeRequest(client.id);

  /** Sends a request as the browser would; `cookies` replaces the browser's. */
  async function send(
    browser: Browser,
    at: string,
    { form, headers = {}, cookies }: { form?: object; headers?: object; cookies?: string } = {},
  ): Promise<Response> {
    const own = [...browser.jar].map((pair) => pair.join('=')).join('; ');
    const request = new Request(issuer + at, {
      headers: { Accept: 'text/html', Cookie: cookies ?? own, ...headers },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams({ ...form }) }),
    });
    const response = await handle(request, browser);
    if (response === null) throw new Error(`${at} is not an endpoint's`);
    return response;
  }

  function keep({ jar }: Browser, response: Response): Response {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/Max-Age=0/.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  const visit = async (browser: Browser, at: string) => keep(browser, await send(browser, at));
  /** Returns the form of the question, without answering it. */
  const ask = async (browser: Browser, at = `/oauth/authorize?${query}`) => {
    const page = await visit(browser, at);
    expect(page.status).toBe(200);
    return formOf(await page.text()).fields;
  };
  const answer = async (browser: Browser, form: object, decision = 'allow') =>
    keep(browser, await send(browser, '/oauth/authorize', { form: { ...form, decision } }));
  return { ask, answer, visit, send, keep, authorize: `/oauth/authorize?${query}` };
}

const browserOf = (person: string | null): Browser => ({ person, jar: new Map() });
const isAllowed = (response: Response) =>
  new URL(response.headers.get('location') ?? 'x:').searchParams.has('code');
const ownCookie = (response: Response) =>
  response.headers.getSetCookie().find((cookie) => cookie.includes('portico_browser')) ?? null;

describe('a host with only the four required members', () => {
  // @shows AS-1.10, AS-8.11
  test('has pages, a log and the whole flow, and keeps nothing in its session during sign-in', async () => {
    const { visit, authorize, answer } = await start();
    const browser = browserOf(null);
    const away = await visit(browser, authorize);
    const login = new URL(away.headers.get('location') ?? '', 'https://host.example');
    expect(login.pathname).toBe('/sign-in');
    browser.person = ADA;
    const page = await visit(browser, login.searchParams.get('return_to') ?? '');
    const html = await page.text();
    expect(html).toContain('Signed in as <strong><bdi>ada</bdi>');
    expect(isAllowed(await answer(browser, formOf(html).fields))).toBe(true);
    const events = logged.filter(({ message }) => message.startsWith('audit'));
    expect(events.map(({ context }) => context['event'])).toEqual([
      'client_registered',
      'consent_granted',
    ]);
    expect(events[1]?.context).toMatchObject({
      authorizationId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      person: { provider: 'staff', id: ADA },
    });
  });

  // @shows AS-8.11
  test.each([
    [
      'https://host.example',
      /^__Host-portico_browser=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    ],
    ['http://localhost:8080', /^portico_browser=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax$/],
  ])(
    'at %s sets only one cookie with the first page and one after sign-in',
    async (issuer, form) => {
      const { visit, authorize } = await start({}, issuer);
      for (const person of [null, ADA]) {
        const browser = browserOf(person);
        expect(ownCookie(await visit(browser, authorize))).toMatch(form);
        for (const at of [authorize, '/oauth/applications', '/oauth/authorize'])
          expect(ownCookie(await visit(browser, at))).toBeNull();
      }
      const browser = browserOf(null);
      const before = ownCookie(await visit(browser, authorize));
      browser.person = ADA;
      const signedIn = ownCookie(await visit(browser, authorize));
      expect(signedIn).toMatch(form);
      expect(signedIn).not.toBe(before);
      expect(ownCookie(await visit(browser, authorize))).toBeNull();
    },
  );
});

describe('a host without the optional members', () => {
  // @shows AS-1.10
  test.each([
    [
      'its ip, as in Express, Fastify and Koa',
      { ip: '203.0.113.7', socket: { remoteAddress: '::1' } },
    ],
    ['the remote address of its socket', { socket: { remoteAddress: '203.0.113.7' } }],
    ['neither', {}],
  ])('gets the client address from the request of its framework: %s', async (_, context) => {
    const { send } = await start();
    const form = { grant_type: 'client_credentials', client_id: 'unknown', client_secret: 'wrong' };
    await send({ ...browserOf(null), ...context }, '/oauth/token', { form });
    const refusal = logged.find(({ message }) => message.startsWith('{endpoint} refused'));
    expect(refusal?.context['address']).toBe('socket' in context ? '203.0.113.7' : null);
  });

  test('logs a warning if a person returns signed out from its sign-in page, not from elsewhere', async () => {
    const { send } = await start();
    const warned = () =>
      logged.filter(({ message }) => message.includes('signedIn() returned null'));
    const back = async (headers: object) => {
      const response = await send(
        browserOf(null),
        `/oauth/authorize?request_id=${'x'.repeat(43)}`,
        {
          headers,
        },
      );
      expect([response.status, response.headers.get('location')?.split('?')[0]]).toEqual([
        302,
        '/sign-in',
      ]);
    };
    for (const site of ['cross-site', 'none']) await back({ 'Sec-Fetch-Site': site });
    await back({});
    expect(warned()).toEqual([]);
    await back({ 'Sec-Fetch-Site': 'same-origin' });
    expect(warned().map(({ context }) => context)).toMatchObject([
      { times: 1, path: '/oauth/authorize' },
    ]);
  });

  test.each([
    ['loginUrl', { loginUrl: 'https://elsewhere.example/login' }],
    ['loginUrl', { loginUrl: 'login' }],
    ['signOut', { signOut: '//elsewhere.example/logout' }],
    ['signOut', { signOut: '/\\elsewhere.example' }],
  ])('does not start with a %s that is not a path of this host: %j', async (member, more) => {
    await expect(start(more)).rejects.toThrow(`Host.${member} is '`);
  });
});

describe('a consent request', () => {
  // @shows AS-8.2, AS-8.11
  test('can be answered only in the browser in which it was shown, even by the same person', async () => {
    const { ask, answer } = await start();
    const [browser, other] = [browserOf(ADA), browserOf(ADA)];
    const question = await ask(browser);
    for (const elsewhere of [browserOf(ADA), other]) {
      expect((await answer(elsewhere, question)).status).toBe(400);
      await ask(elsewhere);
      expect((await answer(elsewhere, question)).status).toBe(400);
    }
    expect(isAllowed(await answer(browser, question))).toBe(true);
  });

  // @shows AS-6.21, AS-8.11
  test('can be answered only below its base path, and by no other server on the same store', async () => {
    const one = await start({}, 'https://host.example/a');
    const other = await start({}, 'https://host.example/b');
    const browser = browserOf(ADA);
    const question = await one.ask(browser);
    await other.ask(browser);
    expect([...browser.jar.keys()]).toEqual([
      '__Host-portico_browser%2Fa',
      '__Host-portico_browser%2Fb',
    ]);
    expect((await other.answer(browser, question)).status).toBe(400);
    const planted = browser.jar.get('__Host-portico_browser%2Fa') ?? '';
    const thief: Browser = { person: ADA, jar: new Map([['__Host-portico_browser%2Fb', planted]]) };
    expect((await other.answer(thief, question)).status).toBe(400);
    expect(isAllowed(await one.answer(browser, question))).toBe(true);
  });

  // @shows AS-8.11
  test('cannot be answered by the next person in the same browser, not even with their form', async () => {
    const { ask, answer, send } = await start();
    const browser = browserOf(ADA);
    const question = await ask(browser);
    browser.person = GRACE;
    const hers = await ask(browser);
    const at = `/oauth/authorize?request_id=${question['request_id']}`;
    expect((await send(browser, at)).status).toBe(400);
    for (const token of [question['csrf_token'], hers['csrf_token']])
      expect((await answer(browser, { ...question, csrf_token: token })).status).toBe(400);
    expect(isAllowed(await answer(browser, hers))).toBe(true);
  });

  // @shows AS-5.12, AS-8.11
  test.each([
    ['/oauth/applications', undefined],
    ['/oauth/authorize', { decision: 'allow' }],
  ])(
    'ends if a different person opens %s in the same browser, even with the first cookie',
    async (at, form) => {
      const { ask, answer, send, keep } = await start();
      const browser = browserOf(null);
      await ask({ ...browser, person: ADA });
      const before = browser.jar.get('__Host-portico_browser');
      const question = await ask({ ...browser, person: ADA });
      expect(browser.jar.get('__Host-portico_browser')).toBe(before);
      const elsewhere = browserOf(ADA);
      const untouched = await ask(elsewhere);
      browser.person = GRACE;
      keep(
        browser,
        await send(browser, at, form === undefined ? {} : { form: { ...question, ...form } }),
      );
      const hers = await ask(browser);
      browser.person = ADA;
      for (const asked of [question, hers]) expect((await answer(browser, asked)).status).toBe(400);
      expect(isAllowed(await answer(browser, await ask(browser)))).toBe(true);
      expect(isAllowed(await answer(elsewhere, untouched))).toBe(true);
    },
  );

  test('can be answered in each of several tabs, even if a new browser opens them together', async () => {
    const { ask, answer, send, keep, authorize } = await start();
    const browser = browserOf(null);
    const tabs = await Promise.all(Array.from({ length: 4 }, () => send(browser, authorize)));
    for (const tab of tabs.toReversed()) keep(browser, tab);
    browser.person = ADA;
    const questions = [];
    for (const tab of tabs) {
      const login = new URL(tab.headers.get('location') ?? '', 'https://host.example');
      questions.push(await ask(browser, login.searchParams.get('return_to') ?? ''));
    }
    for (const question of questions) expect(isAllowed(await answer(browser, question))).toBe(true);
  });

  test('is refused with a different cookie, and the log contains the reason', async () => {
    const { ask, answer, send, keep, authorize } = await start();
    const browser = browserOf(ADA);
    const [first, second] = await Promise.all([send(browser, authorize), send(browser, authorize)]);
    for (const page of [first, second]) keep(browser, page);
    const forms = await Promise.all(
      [first, second].map(async (page) => formOf(await page.text()).fields),
    );
    expect((await answer(browser, forms[0] ?? {})).status).toBe(400);
    expect(logged.map(({ message }) => message).join()).toContain('The browser secret has changed');
    expect(isAllowed(await answer(browser, forms[1] ?? {}))).toBe(true);
    expect(isAllowed(await answer(browser, await ask(browser)))).toBe(true);
  });

  test('stays valid after the cookie key changes, and the browser keeps its secret', async () => {
    const { ask, answer, visit } = await start();
    const browser = browserOf(ADA);
    clock.advance(30 * DAY - ((clock.now() / 1000) % (30 * DAY)) - 60);
    const [one, other] = [await ask(browser), await ask(browser)];
    clock.advance(120);
    const allowed = await answer(browser, one);
    expect([isAllowed(allowed), ownCookie(allowed)]).toEqual([true, expect.any(String)]);
    expect(ownCookie(await visit(browser, '/oauth/applications'))).toBeNull();
    expect(isAllowed(await answer(browser, other))).toBe(true);
  });
});

describe('the page of applications', () => {
  test('accepts its form from this browser and person only', async () => {
    const { ask, answer, visit, send } = await start();
    const browser = browserOf(ADA);
    expect(isAllowed(await answer(browser, await ask(browser)))).toBe(true);
    const form = formOf(await (await visit(browser, '/oauth/applications')).text()).fields;
    const other = browserOf(ADA);
    await visit(other, '/oauth/applications');
    expect((await send(other, '/oauth/applications', { form })).status).toBe(400);
    expect((await send(browser, '/oauth/applications', { form })).status).toBe(303);
  });
});

describe('the browser cookie under attack', () => {
  // @shows AS-8.12
  test.each([
    ['garbage', 'garbage'],
    ['too short', '1.x'],
    ['with an unknown key', `${'9'.repeat(9)}.${'A'.repeat(95)}`],
    ['thousands of bytes', 'x'.repeat(5000)],
    ['empty', ''],
  ])(
    'is replaced if it was not sealed here (%s), and cannot answer a consent request',
    async (_, value) => {
      const { ask, answer, visit, authorize } = await start();
      const browser = browserOf(ADA);
      const question = await ask(browser);
      const cookie = browser.jar.get('__Host-portico_browser') ?? '';
      browser.jar.set('__Host-portico_browser', value);
      const refused = await answer(browser, question);
      expect([refused.status, ownCookie(refused)]).toEqual([400, null]);
      expect(ownCookie(await visit(browser, authorize))).not.toBeNull();
      browser.jar.set('__Host-portico_browser', cookie);
      expect(isAllowed(await answer(browser, question))).toBe(true);
    },
  );

  // @shows AS-8.12
  test('is neither sent nor replaced by a form of a different site or a page in a frame', async () => {
    const { send, authorize } = await start();
    const browser = browserOf(null);
    const form = Object.fromEntries(new URLSearchParams(authorize.split('?')[1]));
    const posted = await send(browser, '/oauth/authorize', { form, cookies: '' });
    expect([posted.status, ownCookie(posted)]).toEqual([303, null]);
    for (const destination of ['iframe', 'image', 'empty']) {
      const headers = { 'Sec-Fetch-Dest': destination };
      expect(ownCookie(await send(browser, authorize, { headers, cookies: '' }))).toBeNull();
    }
    const headers = { 'Sec-Fetch-Dest': 'document' };
    expect(ownCookie(await send(browser, authorize, { headers, cookies: '' }))).not.toBeNull();
  });

  // @shows AS-8.12
  test('is not replaced by a cookie that a sibling domain planted', async () => {
    const secure = await start();
    const [ada, sibling] = [browserOf(ADA), browserOf(null)];
    await secure.visit(sibling, secure.authorize);
    const [[name = '', planted = ''] = []] = sibling.jar;
    const question = await secure.ask(ada);
    for (const prefix of ['\u00A0', '\u000B', '']) {
      const shadow = prefix === '' ? `portico_browser=${planted}` : `${prefix}${name}=${planted}`;
      const cookies = `${shadow}; ${[...ada.jar].map((pair) => pair.join('=')).join('; ')}`;
      const again = await secure.send(ada, secure.authorize, { cookies });
      expect([again.status, ownCookie(again)]).toEqual([200, null]);
      const form = formOf(await again.text()).fields;
      expect(isAllowed(await secure.answer(ada, form))).toBe(true);
    }
    expect(isAllowed(await secure.answer(ada, question))).toBe(true);

    const plain = await start({}, 'http://localhost:8080');
    const browser = browserOf(ADA);
    const open = await plain.ask(browser);
    const [nobody, grace] = [browserOf(null), browserOf(GRACE)];
    for (const each of [nobody, grace]) await plain.visit(each, plain.authorize);
    const shadows = [nobody, grace].map(({ jar }) => jar.get('portico_browser') ?? '');
    for (const shadow of ['garbage', ...shadows]) {
      const cookies = `portico_browser=${shadow}; ${[...browser.jar].map((pair) => pair.join('=')).join('; ')}`;
      const again = await plain.send(browser, `/oauth/authorize?request_id=${open['request_id']}`, {
        cookies,
      });
      expect([shadow, again.status, ownCookie(again)]).toEqual([shadow, 200, null]);
    }
    expect(isAllowed(await plain.answer(browser, open))).toBe(true);
  });

  // @shows AS-8.12
  test('is not displaced by many planted cookies before it or three after it', async () => {
    const { ask, answer, visit, send, authorize } = await start({}, 'http://localhost:8080');
    const browser = browserOf(ADA);
    const open = await ask(browser);
    const own = `portico_browser=${browser.jar.get('portico_browser') ?? ''}`;
    const planted: string[] = [];
    for (let count = 0; count < 40; count += 1) {
      const sibling = browserOf(count % 2 === 0 ? null : GRACE);
      await visit(sibling, authorize);
      planted.push(`portico_browser=${sibling.jar.get('portico_browser') ?? ''}`);
    }
    const cookies = [...planted.slice(3), own, ...planted.slice(0, 3)].join('; ');
    const at = `/oauth/authorize?request_id=${open['request_id']}`;
    const again = await send(browser, at, { cookies });
    expect([again.status, ownCookie(again)]).toEqual([200, null]);
    expect(isAllowed(await answer(browser, formOf(await again.text()).fields))).toBe(true);
  });

  // @shows AS-8.12
  test('does not help an attacker who planted it to create the form token, as it is encrypted', async () => {
    const { ask } = await start({}, 'http://localhost:8080');
    const browser = browserOf(ADA);
    const { request_id: requestId = '', csrf_token: csrfToken } = await ask(browser);
    const planted = browser.jar.get('portico_browser') ?? '';
    const keyed = (key: string, parts: readonly string[]) =>
      createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
    for (const known of [planted, ...planted.split('.')]) {
      for (const key of [known, keyed(known, ['browser', 'staff', ADA])])
        expect(keyed(key, ['oauth/consent', requestId])).not.toBe(csrfToken);
    }
  });
});

describe('"Not you?"', () => {
  // @shows AS-8.6, AS-8.13
  test('with a sign-out function gives the browser a new cookie, and the next person consents', async () => {
    const { ask, answer } = await start({
      signOut: async (_, browser) => {
        browser.person = null;
      },
    });
    const browser = browserOf(ADA);
    const [question, openElsewhere] = [await ask(browser), await ask(browser)];
    const before = browser.jar.get('__Host-portico_browser');
    const away = await answer(browser, question, 'switch');
    expect(away.headers.get('location')).toMatch(
      /^\/sign-in\?return_to=%2Foauth%2Fauthorize%3Frequest_id%3D/,
    );
    expect(browser.jar.get('__Host-portico_browser')).not.toBe(before);
    browser.person = ADA;
    expect((await answer(browser, openElsewhere)).status).toBe(400);
    browser.person = GRACE;
    const login = new URL(away.headers.get('location') ?? '', 'https://host.example');
    const hers = await ask(browser, login.searchParams.get('return_to') ?? '');
    expect(isAllowed(await answer(browser, hers))).toBe(true);
  });

  // @shows AS-8.13
  test.each([
    ['/logout', /^\/logout\?return_to=%2Foauth%2Fauthorize%3Frequest_id%3D[\w-]{43}$/],
    ['/logout?all=1', /^\/logout\?all=1&return_to=%2Foauth%2Fauthorize%3Frequest_id%3D[\w-]{43}$/],
  ])(
    'with sign-out at %s sends the browser there, to return with the request',
    async (path, to) => {
      const { ask, answer } = await start({ signOut: path });
      const browser = browserOf(ADA);
      const question = await ask(browser);
      const away = await answer(browser, question, 'switch');
      expect([away.status, away.headers.get('location')]).toEqual([303, expect.stringMatching(to)]);
      expect((await answer(browser, question)).status).toBe(400);
    },
  );

  // @shows AS-8.13
  test('without sign-out ends the consent request, and a page explains how to continue', async () => {
    const { ask, answer } = await start();
    const browser = browserOf(ADA);
    const question = await ask(browser);
    const page = await answer(browser, question, 'switch');
    const html = await page.text();
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(html).toContain('Sign out of Host first');
    expect((await answer(browser, question)).status).toBe(400);
    browser.person = GRACE;
    const [, link = ''] = /href="(\/oauth\/authorize\?request_id=[\w-]{43})"/.exec(html) ?? [];
    expect(isAllowed(await answer(browser, await ask(browser, link)))).toBe(true);
  });
});
