// @engines sqlite: what happens meanwhile is done by the host; what the store makes of it is in test/store-contract.test.ts
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type AuditEvent,
  type Host,
  type LogContext,
} from 'portico/oauth-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { CHALLENGE, createClock, REDIRECT_URI, VERIFIER } from './support/portal.ts';
import { formOf } from './support/visitor.ts';

/** What becomes of a question between being asked and being answered, and what the log says of the one that cannot be answered. */

interface Browser {
  person: string | null;
  readonly secret: string;
  readonly jar: Map<string, string>;
}

interface Line {
  readonly level: 'info' | 'warning';
  readonly message: string;
  readonly context: LogContext;
}

const clock = createClock();
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let usual: Server;
let logged: Line[] = [];
let events: AuditEvent[] = [];
/** Permissions that nobody holds now. */
const lost = new Set<string>();
/** Done once, when the server asks the host for a permission: so between what it has read and what it writes. */
let meanwhile: (() => Promise<unknown>) | null = null;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-questions-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  usual = start();
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});
beforeEach(asUsual);

function asUsual(): void {
  lost.clear();
  meanwhile = null;
}

const note =
  (level: Line['level']) =>
  (message: string, context: LogContext = {}) =>
    void logged.push({ level, message, context });
const HOST: Host<Browser> = {
  signedIn: async (_, { person }) => (person === null ? null : { provider: 'staff', id: person }),
  loadAccount: async (reference) => ({
    reference,
    isActive: () => true,
    getProfile: () => ({ name: reference.id }),
  }),
  async holdsPermission(_, permission) {
    const now = meanwhile;
    meanwhile = null;
    await now?.();
    return !lost.has(permission);
  },
  browserSecret: async (_, { secret }) => secret,
  loginUrl: '/sign-in',
  log: { debug: () => {}, info: note('info'), warning: note('warning'), error: note('warning') },
  audit: async (event) => void events.push(event),
};

type Server = ReturnType<typeof start>;

function start(more: Readonly<Record<string, unknown>> = {}) {
  const config = oauthServerConfiguration.parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write notes for you' },
    key_path: path.join(folder, 'keys'),
    ...more,
  });
  const publicUrl = 'https://host.example';
  const server = createAuthorizationServer({ publicUrl, config, host: HOST, database, clock: clock.now });
  const handle = createHandler<Browser>(server);

  async function send(browser: Browser, at: string, form?: Readonly<Record<string, string>>) {
    const cookie = [...browser.jar].map((pair) => pair.join('=')).join('; ');
    const request = new Request(publicUrl + at, {
      headers: { Accept: 'text/html', Cookie: cookie },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    const response = (await handle(request, browser)) ?? Response.error();
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set)) browser.jar.delete(name);
      else browser.jar.set(name, value);
    }
    return response;
  }

  async function newClient(): Promise<string> {
    const { client } = await server.clients.create({
      name: 'App',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read', 'notes:write'],
      public: true,
    });
    return client.id;
  }

  /** A client that nobody vouches for, as if it had registered itself. */
  async function selfRegistered(): Promise<string> {
    const clientId = await newClient();
    await database.execute("UPDATE oauth_clients SET registered_by = 'registration' WHERE client_id = ?", [
      clientId,
    ]);
    return clientId;
  }

  const asking = (clientId: string, changes: Readonly<Record<string, string>> = {}) =>
    `/oauth/authorize?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...changes,
    })}`;

  /** The form of the question, without an answer. */
  async function ask(browser: Browser, clientId: string, changes: Readonly<Record<string, string>> = {}) {
    const page = await send(browser, asking(clientId, changes));
    expect(page.status).toBe(200);
    return formOf(await page.text()).fields;
  }

  const answer = (browser: Browser, question: Readonly<Record<string, string>>, decision = 'allow') =>
    send(browser, '/oauth/authorize', { ...question, decision });
  const reload = (browser: Browser, { request_id: id = '' }: Readonly<Record<string, string>>) =>
    send(browser, `/oauth/authorize?request_id=${id}`);
  const exchange = (clientId: string, answered: Response) =>
    send(browserOf(null), '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      code: answerOf(answered).get('code') ?? '',
      code_verifier: VERIFIER,
    });

  return { ...server, send, newClient, selfRegistered, asking, ask, answer, reload, exchange };
}

let browsers = 0;
const browserOf = (person: string | null): Browser => ({
  person,
  secret: `the-secret-of-the-browser-${(browsers += 1)}`,
  jar: new Map(),
});
const answerOf = (response: Response) => new URL(response.headers.get('location') ?? 'x:').searchParams;

/** What the person is told in place of the question, and what the log says. */
async function refusalOf(work: () => Promise<Response>) {
  logged = [];
  const response = await work();
  const [, title] = /<h1[^>]*>([^<]*)</.exec(await response.text()) ?? [];
  const refusals = logged.filter(({ message }) => message.startsWith('{endpoint} refused'));
  return {
    status: response.status,
    title,
    reasons: refusals.map(({ context }) => context['detail']),
    warnings: logged.filter(({ level }) => level === 'warning').map(({ context }) => context),
  };
}

const UNANSWERABLE = { status: 400, title: 'This request can no longer be answered' };

describe('a question that', () => {
  test('is answered elsewhere while it is loaded again is not shown, and the page says so', async () => {
    asUsual();
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    meanwhile = () => usual.answer(ada, question, 'deny');
    const again = await usual.reload(ada, question);
    expect(again.status).toBe(400);
    const html = await again.text();
    expect(html).toContain('You did not allow it, and nothing was shared');
    expect(html).toMatch(
      /<a [^>]*href="\/oauth\/applications"[^>]*>Applications with access to your account<\/a>/,
    );
  });

  test('is answered by No while Yes is looked at is answered by No: there is no code, and no event of one', async () => {
    asUsual();
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    events = [];
    meanwhile = () => usual.answer(ada, question, 'deny');
    const { status, title } = await refusalOf(() => usual.answer(ada, question));
    expect([status, title]).toEqual([400, 'You have answered this request']);
    expect(events.map(({ type }) => type)).toEqual(['consent_denied']);
  });

  test('is loaded with less while it is loaded with more is shown with less alone', async () => {
    asUsual();
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    meanwhile = async () => {
      lost.add('notes:write');
      expect((await usual.reload(ada, question)).status).toBe(200);
      lost.clear();
    };
    expect(await refusalOf(() => usual.reload(ada, question))).toEqual({
      ...UNANSWERABLE,
      reasons: ['it was put to the person with other scopes at the same moment'],
      warnings: [],
    });
    const tokens = await usual.exchange(clientId, await usual.answer(ada, question));
    expect(await tokens.json()).toMatchObject({ scope: 'notes:read' });
  });

  test('is loaded again when its person holds nothing of it is over, also when they hold it again', async () => {
    asUsual();
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    for (const permission of ['notes:read', 'notes:write']) lost.add(permission);
    expect(answerOf(await usual.reload(ada, question)).get('error')).toBe('access_denied');
    // Also while they do not.
    for (const again of [
      () => usual.reload(ada, question),
      () => (lost.clear(), usual.reload(ada, question)),
      () => usual.answer(ada, question),
      () => usual.answer(ada, question, 'deny'),
    ]) {
      expect(await refusalOf(again)).toEqual({
        ...UNANSWERABLE,
        reasons: ['it was ended without an answer'],
        warnings: [],
      });
    }
  });

  // @shows AS-2.14
  test('is as old as consent_ttl is too old: it is shown and answered no more', async () => {
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const questions = [await usual.ask(ada, clientId), await usual.ask(ada, clientId)];
    clock.advance(599.999);
    expect((await usual.reload(ada, questions[0] ?? {})).status).toBe(200);
    expect(answerOf(await usual.answer(ada, questions[0] ?? {})).has('code')).toBe(true);
    clock.advance(0.001);
    for (const late of [usual.reload, usual.answer]) {
      expect(await refusalOf(() => late(ada, questions[1] ?? {}))).toEqual({
        ...UNANSWERABLE,
        reasons: ['it has expired'],
        warnings: [],
      });
    }
  });

  // @shows AS-8.2
  test('meets another person is over, for both of them', async () => {
    const browser = browserOf('ada');
    const question = await usual.ask(browser, await usual.newClient());
    const reason = async () => (await refusalOf(() => usual.reload(browser, question))).reasons;
    browser.person = 'grace';
    expect(await reason()).toEqual(['it was put to another person']);
    browser.person = 'ada';
    expect(await reason()).toEqual(['it was ended without an answer']);
  });

  // @shows AS-8.10
  test('waits for its answer and meets another browser is a warning in the log, with its client and the request', async () => {
    const [ada, elsewhere] = [browserOf('ada'), browserOf('ada')];
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    const attempts = [
      [usual.reload, 'it was asked in another browser session'],
      [usual.answer, 'the csrf_token is not the one of this request and browser session'],
    ] as const;
    const found = async () => {
      const all = [];
      for (const [attempt, reason] of attempts) {
        const { reasons, warnings } = await refusalOf(() => attempt(elsewhere, question));
        expect(reasons).toEqual([reason]);
        all.push(...warnings);
      }
      return all;
    };
    const warning = { clientId, requestId: expect.stringMatching(/./) as string };
    expect(await found()).toEqual([warning, warning]);
    // Nor is there one where its own browser sends a wrong token.
    const forged = { ...question, csrf_token: 'made up' };
    expect((await refusalOf(() => usual.answer(ada, forged))).warnings).toEqual([]);
    // Whoever comes to one that is over finds nothing that somebody should look into.
    await usual.answer(ada, question);
    expect(await found()).toEqual([]);
    const late = await usual.ask(ada, clientId);
    clock.advance(600);
    expect((await refusalOf(() => usual.reload(elsewhere, late))).warnings).toEqual([]);
  });

  test('nobody was asked is not answered', async () => {
    const ada = browserOf('ada');
    const { csrf_token: token = '' } = await usual.ask(ada, await usual.newClient());
    const answered = await refusalOf(() => usual.answer(ada, { request_id: 'x', csrf_token: token }));
    expect(answered).toMatchObject({ status: 400, title: 'This answer was not accepted', warnings: [] });
  });

  test('is over leaves its client in the line of the log', async () => {
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    await usual.answer(ada, question);
    logged = [];
    await usual.reload(ada, question);
    expect(logged).toEqual([
      expect.objectContaining({ context: expect.objectContaining({ clientId }) as unknown }),
    ]);
  });

  test('has the id of a request that an earlier release kept, and never put to anybody, is not put', async () => {
    const browser = browserOf(null);
    const clientId = await usual.newClient();
    const away = await usual.send(browser, usual.asking(clientId));
    const login = new URL(away.headers.get('location') ?? '', 'https://host.example');
    const back = login.searchParams.get('return_to') ?? '';
    const requestId = new URL(back, login).searchParams.get('request_id') ?? '';
    await database.execute(
      `INSERT INTO oauth_consent_requests (id_hash, browser_hash, client_id, parameters, expires_at)
      VALUES (?, ?, ?, ?, ?)`,
      [
        createHash('sha256').update(requestId).digest('base64url'),
        'x',
        clientId,
        '{}',
        clock.now() + 600_000,
      ],
    );
    browser.person = 'ada';
    expect(await refusalOf(() => usual.send(browser, back))).toMatchObject({
      ...UNANSWERABLE,
      reasons: ['it was pruned at the same moment'],
    });
  });
});

describe('the client of a question', () => {
  const change = (column: string, value: string | number) => (clientId: string) =>
    database.execute(`UPDATE oauth_clients SET ${column} = ? WHERE client_id = ?`, [value, clientId]);

  // @shows AS-30.3, AS-30.4
  test.each([
    ['was revoked', change('revoked_at', 1), 'was revoked'],
    ['has lost its redirect URI', change('redirect_uris', '["https://client.example/x"]'), 'is no longer'],
    ['has lost its scopes', change('scope', ''), 'is no longer registered for any of the scopes asked for'],
    ['has no grants', change('grants', ''), 'was unblocked, and its document has not been read since'],
    [
      'is gone',
      (clientId: string) =>
        database.execute('UPDATE oauth_clients SET client_id = ? WHERE client_id = ?', [
          `gone-${clientId}`,
          clientId,
        ]),
      'was revoked',
    ],
  ])('that %s is given nothing: it is neither shown nor answered', async (_, happens, reason) => {
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    await happens(clientId);
    const attempts = [
      () => usual.reload(ada, question),
      () => usual.answer(ada, question),
      () => usual.answer(ada, question, 'deny'),
    ];
    for (const attempt of attempts) {
      const { reasons, ...shown } = await refusalOf(attempt);
      expect(shown).toEqual({ ...UNANSWERABLE, warnings: [] });
      expect(reasons).toEqual([expect.stringContaining(`the client ${clientId} ${reason}`)]);
    }
  });

  test('that nobody vouches for has the redirect URI that it had when it was first allowed, or no code', async () => {
    asUsual();
    const ada = browserOf('ada');
    const clientId = await usual.selfRegistered();
    const question = await usual.ask(ada, clientId);
    events = [];
    meanwhile = () => change('redirect_uris', '["https://client.example/x"]')(clientId);
    expect((await usual.answer(ada, question)).status).toBe(400);
    expect(events).toEqual([]);
    await change('redirect_uris', JSON.stringify([REDIRECT_URI]))(clientId);
    expect(answerOf(await usual.answer(ada, question)).has('code')).toBe(true);
  });

  test('that nobody vouches for is used from when somebody allows it, and not when they do not', async () => {
    const ada = browserOf('ada');
    const clientId = await usual.selfRegistered();
    const usedAt = async () => (await usual.clients.find(clientId))?.usedAt;
    await usual.answer(ada, await usual.ask(ada, clientId), 'deny');
    expect(await usedAt()).toBeNull();
    await usual.answer(ada, await usual.ask(ada, clientId));
    expect(await usedAt()).toBe(clock.now());
  });
});

describe('a code', () => {
  test('is good for code_ttl, and not a moment longer', async () => {
    const ada = browserOf('ada');
    const server = start({ code_ttl: 90 });
    const clientId = await server.newClient();
    const [first, second] = [
      await server.answer(ada, await server.ask(ada, clientId)),
      await server.answer(ada, await server.ask(ada, clientId)),
    ];
    clock.advance(89.999);
    expect((await server.exchange(clientId, first)).status).toBe(200);
    clock.advance(0.001);
    expect((await server.exchange(clientId, second)).status).toBe(400);
  });
});

describe('what was allowed before', () => {
  test('is said where clients may ask for more, also when the page is loaded again, and nowhere else', async () => {
    const ada = browserOf('ada');
    const more = start({ challenge: true, audience: 'https://host.example/api' });
    const clientId = await usual.newClient();
    const allowed = await more.answer(ada, await more.ask(ada, clientId, { scope: 'notes:read' }));
    expect((await more.exchange(clientId, allowed)).status).toBe(200);
    for (const [server, says] of [
      [more, true],
      [usual, false],
    ] as const) {
      const asked = await server.send(ada, server.asking(clientId));
      const question = formOf(await asked.clone().text()).fields;
      for (const page of [asked, await server.reload(ada, question)]) {
        expect(page.status).toBe(200);
        expect((await page.text()).includes('It keeps what you allowed before')).toBe(says);
      }
    }
  });
});
