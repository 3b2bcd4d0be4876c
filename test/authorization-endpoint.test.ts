// @engines sqlite: the host's database decides; test/store-contract.test.ts tests the store
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type Database,
  type Host,
  type LogContext,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { createClock } from './support/clock.ts';
import { CHALLENGE, REDIRECT_URI } from './support/portal.ts';
import { sendingBrowsers } from './support/sending-browser.ts';
import { formOf } from './support/visitor.ts';

/**
 * Tests which requests the authorization endpoint accepts, and what happens if two tabs of a
 * browser open the same request.
 */

interface Browser {
  person: string | null;
  readonly jar: Map<string, string>;
}

const ADA = 'ada';
/** Reads a request that waits in the store, or was pushed. */
const READS_WAITING = 'SELECT parameters FROM oauth_waiting_requests';

const clock = createClock();
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let server: ReturnType<typeof start>;
let clientId: string;
/** The log context of each rejected request. */
let refusals: LogContext[] = [];
/** Runs once, before the server reads a waiting request. */
let meanwhile: (() => Promise<unknown>) | null = null;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-twice-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  server = start();
  clientId = await server.newClient();
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  meanwhile = null;
  refusals = [];
});

/** Starts another server on the same store and keys, for the same browsers. */
function start(
  mode = 'accept',
  more: Readonly<Record<string, unknown>> = {},
  hosts: Partial<Host<Browser>> = {},
) {
  const publicUrl = 'https://host.example';
  const note = (message: string, context: LogContext = {}) => {
    if (message.startsWith('{endpoint} refused')) refusals.push(context);
  };
  const host: Host<Browser> = {
    signedIn: async (_, { person }) => (person === null ? null : { provider: 'staff', id: person }),
    loadAccount: async (reference) => ({
      reference,
      isActive: () => true,
      getProfile: () => ({ name: reference.id }),
    }),
    holdsPermission: async () => true,
    loginUrl: '/sign-in',
    log: { debug: () => {}, info: note, warning: note, error: note },
    ...hosts,
  };
  const watched: Database = {
    ...database,
    async execute(sql, parameters) {
      if (sql.startsWith(READS_WAITING)) {
        const now = meanwhile;
        meanwhile = null;
        await now?.();
      }
      return database.execute(sql, parameters);
    },
  };
  const config = oauthServerConfiguration.parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
    pushed_authorization_requests: mode,
    ...more,
  });
  const { now } = clock;
  const made = createAuthorizationServer({
    publicUrl,
    config,
    host,
    database: watched,
    clock: now,
  });
  const handle = createHandler<Browser>(made);

  const send = sendingBrowsers<Browser>(publicUrl, handle);

  async function newClient(redirectUri = REDIRECT_URI): Promise<string> {
    const about = {
      name: 'App',
      redirectUris: [redirectUri],
      scopes: ['notes:read'],
      public: true,
    };
    const { client } = await made.clients.create(about);
    return client.id;
  }
  return { send, newClient };
}

const parameters = (changes: Readonly<Record<string, string>> = {}) => ({
  client_id: clientId,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  ...changes,
});
const at = (query: Readonly<Record<string, string>>) =>
  `/oauth/authorize?${new URLSearchParams(query)}`;
const browserOf = (person: string | null): Browser => ({ person, jar: new Map() });

/** The URL to which the client sends the browser with a pushed request. */
async function pushed(
  changes: Readonly<Record<string, string>> = {},
  to = server,
): Promise<string> {
  const sent = parameters(changes);
  const response = await to.send(browserOf(null), '/oauth/par', sent);
  const { request_uri: uri = '' } = (await response.json()) as { readonly request_uri?: string };
  return at({ client_id: sent.client_id, request_uri: uri });
}

/** The URL to which the browser returns from the sign-in page. */
async function wayBack(browser: Browser, query: string): Promise<string> {
  const away = await server.send(browser, query);
  const login = new URL(away.headers.get('location') ?? '', 'https://host.example');
  expect(login.pathname).toBe('/sign-in');
  return login.searchParams.get('return_to') ?? '';
}

async function questionOf(response: Response): Promise<Readonly<Record<string, string>>> {
  expect(response.status).toBe(200);
  return formOf(await response.text()).fields;
}

const codeOf = async (browser: Browser, question: Readonly<Record<string, string>>) => {
  const answered = await server.send(browser, '/oauth/authorize', {
    ...question,
    decision: 'allow',
  });
  return new URL(answered.headers.get('location') ?? 'x:').searchParams.get('code');
};

describe('the slower of two tabs with the same authorization request', () => {
  test('shows the consent request of the faster one, for a pushed request', async () => {
    const url = await pushed();
    const browser = browserOf(ADA);
    // Send a request first, so that both tabs have the same cookie.
    await server.send(browser, at(parameters()));
    let quicker: Response | null = null;
    meanwhile = async () => (quicker = await server.send(browser, url));
    const slower = await questionOf(await server.send(browser, url));
    expect(quicker).not.toBeNull();
    expect(slower['request_id']).toBe(
      (await questionOf(quicker ?? Response.error()))['request_id'],
    );
    expect(await codeOf(browser, slower)).not.toBeNull();
  });

  test('shows the consent request of the faster one, for a request that waited in the store', async () => {
    const browser = browserOf(null);
    const back = await wayBack(browser, at(parameters({ state: 's'.repeat(6000) })));
    browser.person = ADA;
    await server.send(browser, at(parameters()));
    const cookies = new Map(browser.jar);
    let quicker: Response | null = null;
    meanwhile = async () => (quicker = await server.send({ person: ADA, jar: cookies }, back));
    const slower = await questionOf(await server.send(browser, back));
    expect(quicker).not.toBeNull();
    expect(slower['request_id']).toBe(
      (await questionOf(quicker ?? Response.error()))['request_id'],
    );
    expect(await codeOf(browser, slower)).not.toBeNull();
  });

  test('shows an error if a different person has opened the pushed request meanwhile', async () => {
    const url = await pushed();
    meanwhile = () => server.send(browserOf('grace'), url);
    const refused = await server.send(browserOf(ADA), url);
    expect(refused.status).toBe(400);
    expect((await refused.text()).includes('This request can no longer be answered')).toBe(true);
  });
});

test('the link of a waiting pushed request still leads to it after the pushed request has expired', async () => {
  const url = await pushed();
  const browser = browserOf(null);
  const back = await wayBack(browser, url);
  clock.advance(61);
  const led = await server.send(browser, url);
  expect([led.status, led.headers.get('location')]).toEqual([303, back]);
  // In another browser, the waiting request does not exist.
  expect((await server.send(browserOf(null), url)).status).toBe(400);
  browser.person = ADA;
  expect(await codeOf(browser, await questionOf(await server.send(browser, back)))).not.toBeNull();
});

// @shows AS-7.13
test('a pushed request that is opened again is no longer the oldest one that waits', async () => {
  const browser = browserOf(null);
  const url = await pushed();
  await wayBack(browser, url);
  const openAnother = async () => {
    clock.advance(1);
    await wayBack(browser, at(parameters()));
  };
  for (let tab = 0; tab < 7; tab += 1) await openAnother();
  clock.advance(1);
  const back = await wayBack(browser, url);
  await openAnother();
  browser.person = ADA;
  expect((await server.send(browser, back)).status).toBe(200);
});

// @shows AS-44.2, AS-44.4
test('a new sign-in for a pushed request also counts in a second tab', async () => {
  let signedInAt = clock.now() - 5000;
  const authenticatedAt = async () => ({ at: new Date(signedInAt) });
  const again = { authenticatedAt, reauthenticateUrl: '/again' };
  const demanding = start('accept', { reauthentication: true }, again);
  const browser = browserOf(ADA);
  const url = await pushed({ prompt: 'login' }, demanding);
  const away = await demanding.send(browser, url);
  expect(away.headers.get('location')).toMatch(/^\/again\?/);
  clock.advance(1);
  signedInAt = clock.now();
  clock.advance(1);
  await questionOf(await demanding.send(browser, url));
});

test('a waiting pushed request continues after pushed requests are disabled', async () => {
  const browser = browserOf(null);
  const back = await wayBack(browser, await pushed());
  browser.person = ADA;
  const off = start('off');
  const question = await questionOf(await off.send(browser, back));
  expect(await codeOf(browser, question)).not.toBeNull();
});

test('a browser that returns signed out without a waiting request gets no request cookie', async () => {
  for (const tellsWhoWaits of [true, false]) {
    const telling = start('accept', {}, { tellsWhoWaits });
    const away = await telling.send(browserOf(null), at({ request_id: 'x'.repeat(43) }));
    const cookies = away.headers
      .getSetCookie()
      .filter((cookie) => !cookie.startsWith('__Host-portico_browser='));
    expect([tellsWhoWaits, away.status, cookies]).toEqual([tellsWhoWaits, 302, []]);
  }
});

test('a page uses the ui_locales of a request that was sent in a form or pushed', async () => {
  const speaking = start('accept', { languages: true });
  const form = parameters({ client_id: 'unknown', ui_locales: 'ja' });
  const page = await speaking.send(browserOf(null), '/oauth/authorize', form);
  expect([page.status, page.headers.get('content-language')]).toEqual([400, 'ja']);

  const app = await server.newClient();
  const sent = parameters({ client_id: app, ui_locales: 'ja' });
  const response = await speaking.send(browserOf(null), '/oauth/par', sent);
  const { request_uri: uri = '' } = (await response.json()) as { readonly request_uri?: string };
  const question = await speaking.send(browserOf(ADA), at({ client_id: app, request_uri: uri }));
  expect([question.status, question.headers.get('content-language')]).toEqual([200, 'ja']);
});

test('a pushed request stores only parameters that are used, and dpop_jkt only if DPoP is on', async () => {
  const state = `kept-${Math.random()}`;
  await pushed({ dpop_jkt: 'k'.repeat(43), state, unknown: 'u' });
  const { rows } = await database.execute<{ parameters: string }>(
    'SELECT parameters FROM oauth_waiting_requests',
  );
  const { parameters: kept = '[]' } = rows.find((row) => row.parameters.includes(state)) ?? {};
  const names = (JSON.parse(kept) as [string, string][]).map(([name]) => name);
  expect(names.toSorted()).toEqual(Object.keys(parameters({ state: '' })).toSorted());
});

describe('a pushed request that its client is no longer allowed to send', () => {
  test.each([
    ['in a link', 302, (url: string) => server.send(browserOf(null), url)],
    [
      'in a form',
      303,
      (url: string) =>
        server.send(
          browserOf(null),
          '/oauth/authorize',
          Object.fromEntries(new URL(url, 'https://host.example').searchParams),
        ),
    ],
  ])('is answered with an error, once, sent %s', async (_, status, open) => {
    const app = await server.newClient();
    const url = await pushed({ client_id: app, scope: 'notes:read' });
    await database.execute('UPDATE oauth_clients SET scope = ? WHERE client_id = ?', [
      'openid',
      app,
    ]);
    const answered = await open(url);
    const answer = new URL(answered.headers.get('location') ?? 'x:').searchParams;
    expect([answered.status, answer.get('error')]).toEqual([status, 'invalid_scope']);
    expect((await open(url)).status).toBe(400);
    expect(refusals.map(({ detail }) => detail).at(-1)).toBe(
      'the request_uri: it has expired, has already been used, belongs to a different client, or never existed',
    );
  });
});

test('"Not you?" does not turn an ordinary request into a pushed one', async () => {
  const browser = browserOf(ADA);
  const question = await questionOf(await server.send(browser, at(parameters())));
  const page = await server.send(browser, '/oauth/authorize', { ...question, decision: 'switch' });
  const [, link = ''] =
    /href="(\/oauth\/authorize\?request_id=[\w-]{43})"/.exec(await page.text()) ?? [];
  const cookies = new Map(browser.jar);
  // The server now accepts only pushed requests.
  const requiring = start('require');
  const refused = await requiring.send({ person: 'grace', jar: cookies }, link);
  expect(new URL(refused.headers.get('location') ?? 'x:').searchParams.get('error')).toBe(
    'invalid_request',
  );
  await questionOf(await server.send({ person: 'grace', jar: browser.jar }, link));
});

describe('an error redirect to an unverified site', () => {
  test('is replaced by an error page without a redirect, and the error is logged', async () => {
    const site = 'https://elsewhere.example/callback';
    const app = await server.newClient(site);
    await database.execute('UPDATE oauth_clients SET registered_by = ? WHERE client_id = ?', [
      'registration',
      app,
    ]);
    const changes = { client_id: app, redirect_uri: site, scope: 'unknown', state: 's' };
    const page = await server.send(browserOf(ADA), at(parameters(changes)), undefined, {
      'X-Request-Id': 'abc-1',
    });
    const html = await page.text();
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'none'");
    for (const text of ['Nothing was shared', 'abc-1', `${site}?error=invalid_scope`])
      expect(html).toContain(text);
    expect(refusals.map(({ error }) => error)).toEqual(['invalid_scope']);
  });
});

test.each([
  [
    'throws',
    () => {
      throw new Error('the disk is full');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the disk is full'))],
])('a log that %s fails no request', async (_, line) => {
  const log = { debug: line, info: line, warning: line, error: line };
  const { send } = start('accept', {}, { log });
  const response = await send(browserOf(null), '/oauth/token', {});
  expect([response.status, await response.json()]).toMatchObject([
    401,
    { error: 'invalid_client' },
  ]);
});

describe('a request to the authorization endpoint', () => {
  /** The detail of the refusal in the log. */
  async function refused(work: Promise<Response>): Promise<unknown> {
    refusals = [];
    expect((await work).status).toBe(400);
    return refusals[0]?.['detail'];
  }

  test('cannot be both an authorization request and an answer to the consent page', async () => {
    const both = { ...parameters(), request_id: 'x'.repeat(43) };
    expect(await refused(server.send(browserOf(ADA), '/oauth/authorize', both))).toBe(
      'a form with a client_id and a request_id',
    );
  });

  test('is an answer only with a request_id, a csrf_token and a known decision', async () => {
    const browser = browserOf(ADA);
    const question = await questionOf(await server.send(browser, at(parameters())));
    const { request_id: id = '', csrf_token: token = '' } = question;
    const lacking =
      'the form has no request_id or csrf_token, or its decision is missing or unknown';
    const answers: readonly Readonly<Record<string, string>>[] = [
      { csrf_token: token, decision: 'allow' },
      { request_id: id, decision: 'allow' },
      { request_id: id, csrf_token: token },
      { request_id: id, csrf_token: token, decision: '' },
      { request_id: id, csrf_token: token, decision: 'Allow' },
    ];
    for (const form of answers)
      expect(await refused(server.send(browser, '/oauth/authorize', form))).toBe(lacking);
    const twice = `${new URLSearchParams({ ...question, decision: 'deny' })}&decision=allow`;
    expect(
      await refused(
        server.send(browser, '/oauth/authorize', twice, {
          'Content-Type': 'application/x-www-form-urlencoded',
        }),
      ),
    ).toBe('repeated: "decision"');
    expect(
      await refused(
        server.send({ ...browser, person: null }, '/oauth/authorize', {
          ...question,
          decision: 'allow',
        }),
      ),
    ).toBe('no person is signed in to the browser session that sent this answer');
    expect(await codeOf(browser, question)).not.toBeNull();
  });

  test('is a return from sign-in only with one request_id and no client_id', async () => {
    const browser = browserOf(ADA);
    const { request_id: id = '' } = await questionOf(await server.send(browser, at(parameters())));
    expect((await server.send(browser, at({ request_id: id }))).status).toBe(200);
    for (const query of [
      `request_id=${id}&request_id=${id}`,
      `request_id=${id}&client_id=unknown`,
      'request_id=',
      '',
    ]) {
      const refusal = await server.send(browser, `/oauth/authorize?${query}`);
      const type = refusal.headers.get('content-type')?.split(';')[0];
      expect([query, refusal.status, type]).toEqual([query, 400, 'text/html']);
    }
    // A client may send a parameter with this name, which then has no meaning.
    const other = await questionOf(
      await server.send(browser, at({ ...parameters(), request_id: id })),
    );
    expect(other['request_id']).not.toBe(id);
  });
});

describe('the URL of the sign-in page', () => {
  test.each<[how: string, loginUrl: Host<Browser>['loginUrl']]>([
    ['a path', '/ログイン/Straße%20?seite=ü'],
    [
      'a function',
      (returnTo) => `/ログイン/Straße%20?seite=ü&${new URLSearchParams({ return_to: returnTo })}`,
    ],
  ])('can contain characters that are not in ASCII: %s', async (_, loginUrl) => {
    const { send } = start('accept', {}, { loginUrl, tellsWhoWaits: true });
    const away = await send(browserOf(null), at(parameters()));
    expect(away.status).toBe(302);
    const location = away.headers.get('location') ?? '';
    expect(location).toMatch(
      /^\/%E3%83%AD%E3%82%B0%E3%82%A4%E3%83%B3\/Stra%C3%9Fe%20\?seite=%C3%BC&return_to=%2Foauth/,
    );
    const [path] = location.split('?');
    expect(away.headers.getSetCookie().some((each) => each.includes(`Path=${path};`))).toBe(true);
  });

  test('causes one server error if no header can contain it, and the request gets an answer', async () => {
    const exceptions: unknown[] = [];
    const log = {
      debug() {},
      info() {},
      warning() {},
      error(_: string, { exception }: LogContext = {}) {
        if (exception !== undefined) exceptions.push(exception);
      },
    };
    const { send } = start('accept', {}, { log, loginUrl: (to) => `/sign-in\n?to=${to}` });
    const answered = await send(browserOf(null), at(parameters()));
    expect([answered.status, await answered.json()]).toEqual([
      500,
      { error: 'server_error', error_description: 'The server failed to answer.' },
    ]);
    expect(exceptions.map(String)).toEqual([
      'TypeError: The status, a header or a cookie of the reply is not valid: 302; ' +
        'Location, Cache-Control, Referrer-Policy, X-Request-Id',
    ]);
  });
});
