// @engines sqlite: the host decides; test/store-contract.test.ts tests the store
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  defineFeature,
  migrate,
  migrationsWith,
  oauthServerConfiguration,
  type AuditEvent,
  type Feature,
  type Host,
  type LogContext,
  type OutboundOptions,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { startDocumentHost } from './support/document-host.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { createClock } from './support/clock.ts';
import { CHALLENGE, REDIRECT_URI, VERIFIER, codeRequest } from './support/portal.ts';
import { sendingBrowsers } from './support/sending-browser.ts';
import { formOf } from './support/visitor.ts';

/**
 * Tests what happens to a question before it is answered, and what the log contains when it cannot
 * be answered.
 */

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
/** Permissions that every person has lost. */
const lost = new Set<string>();
/**
 * Runs once, when the server asks the host for a permission. This is between the server's read and
 * its write.
 */
let meanwhile: (() => Promise<unknown>) | null = null;
/** The permissions for which the server asked the host. */
let lookedUp: string[] = [];
/** The last data of the consent view. */
let shown: Readonly<Record<string, unknown>> = {};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-questions-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, migrationsWith(configWith({ remember_consent: true })));
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
    lookedUp.push(permission);
    await now?.();
    return !lost.has(permission);
  },
  browserSecret: async (_, { secret }) => secret,
  loginUrl: '/sign-in',
  log: { debug: () => {}, info: note('info'), warning: note('warning'), error: note('warning') },
  audit: async (event) => void events.push(event),
};

type Server = ReturnType<typeof start>;

function configWith(more: Readonly<Record<string, unknown>>) {
  return oauthServerConfiguration.parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write notes for you' },
    key_path: path.join(folder, 'keys'),
    ...more,
  });
}

function start(
  more: Readonly<Record<string, unknown>> = {},
  hosts: Partial<Host<Browser>> = {},
  outbound: OutboundOptions | null = null,
  features: readonly Feature[] = [],
) {
  const config = configWith(more);
  // Documents are fetched from this machine only in development.
  const publicUrl = outbound === null ? 'https://host.example' : 'http://localhost:8080';
  const host = { ...HOST, ...hosts };
  const { now } = clock;
  const server = createAuthorizationServer({
    publicUrl,
    config,
    host,
    database,
    clock: now,
    features,
    ...(outbound === null ? {} : { outbound, showsDetails: true }),
  });
  const handle = createHandler<Browser>(server);

  const send = sendingBrowsers<Browser>(publicUrl, handle);

  async function newClient(): Promise<string> {
    const { client } = await server.clients.create({
      name: 'App',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read', 'notes:write'],
      public: true,
    });
    return client.id;
  }

  /** An unverified client, as if it had registered itself. */
  async function selfRegistered(): Promise<string> {
    const clientId = await newClient();
    await put(clientId, { registered_by: 'registration' });
    return clientId;
  }

  /** The question of a pushed request of this client. */
  async function push(browser: Browser, clientId: string) {
    const parameters = Object.fromEntries(new URL(publicUrl + asking(clientId)).searchParams);
    const pushed = await send(browserOf(null), '/oauth/par', parameters);
    const { request_uri: uri = '' } = (await pushed.json()) as { readonly request_uri?: string };
    const query = new URLSearchParams({ client_id: clientId, request_uri: uri });
    const page = await send(browser, `/oauth/authorize?${query}`);
    expect(page.status).toBe(200);
    return formOf(await page.text()).fields;
  }

  const asking = (clientId: string, changes: Readonly<Record<string, string>> = {}) =>
    `/oauth/authorize?${codeRequest(clientId, { ...changes })}`;

  /** The form of the question, without an answer. */
  async function ask(
    browser: Browser,
    clientId: string,
    changes: Readonly<Record<string, string>> = {},
  ) {
    const page = await send(browser, asking(clientId, changes));
    expect(page.status).toBe(200);
    return formOf(await page.text()).fields;
  }

  const answer = (
    browser: Browser,
    question: Readonly<Record<string, string>>,
    decision = 'allow',
  ) => send(browser, '/oauth/authorize', { ...question, decision });
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

  return {
    ...server,
    send,
    newClient,
    selfRegistered,
    push,
    asking,
    ask,
    answer,
    reload,
    exchange,
  };
}

/** Starts a server with a feature that receives the answers: what was allowed, and refused. */
function startListening(more: Readonly<Record<string, unknown>> = {}) {
  const told: unknown[] = [];
  const allowed: unknown[] = [];
  const listening = defineFeature({
    name: 'listening',
    start: () => ({
      consentAnswered: async (_, ...answer) => void told.push(answer),
      keepsDetails: async (authorization) => void allowed.push(authorization),
    }),
  });
  return { server: start(more, {}, null, [listening]), told, allowed };
}

/** Changes the row of a client. */
async function put(
  clientId: string,
  columns: Readonly<Record<string, string | number>>,
): Promise<void> {
  const names = Object.keys(columns).map((name) => `${name} = ?`);
  if (names.length === 0) return;
  await database.execute(`UPDATE oauth_clients SET ${names.join(', ')} WHERE client_id = ?`, [
    ...Object.values(columns),
    clientId,
  ]);
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');

let browsers = 0;
const browserOf = (person: string | null): Browser => ({
  person,
  secret: `the-secret-of-the-browser-${(browsers += 1)}`,
  jar: new Map(),
});
const answerOf = (response: Response) =>
  new URL(response.headers.get('location') ?? 'x:').searchParams;

/** Returns the page that the person sees instead of the question, and the log lines. */
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

describe('a consent request that', () => {
  test('was answered elsewhere during a reload is not shown, and the page explains this', async () => {
    asUsual();
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    meanwhile = () => usual.answer(ada, question, 'deny');
    const again = await usual.reload(ada, question);
    expect(again.status).toBe(400);
    const html = await again.text();
    expect(html).toContain('You denied it, and nothing was shared');
    expect(html).toMatch(
      /<a [^>]*href="\/oauth\/applications"[^>]*>Applications with access to your account<\/a>/,
    );
  });

  test('is denied while an approval is processed is denied: no code is issued', async () => {
    asUsual();
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    events = [];
    meanwhile = () => usual.answer(ada, question, 'deny');
    const { status, title } = await refusalOf(() => usual.answer(ada, question));
    expect([status, title]).toEqual([400, 'You already answered this request']);
    expect(events.map(({ type }) => type)).toEqual(['consent_denied']);
  });

  test('is allowed again while an approval is processed gives another code, and one is valid', async () => {
    asUsual();
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    const answers: Response[] = [];
    meanwhile = async () => answers.push(await usual.answer(ada, question));
    answers.push(await usual.answer(ada, question));
    const codes = answers.map((answer) => answerOf(answer).get('code'));
    expect([codes.length, new Set(codes).size, codes.includes(null)]).toEqual([2, 2, false]);
    const statuses = [];
    for (const answer of answers) statuses.push((await usual.exchange(clientId, answer)).status);
    expect(statuses).toEqual([400, 200]);
  });

  test('was narrowed by a parallel reload is shown only with the fewer scopes', async () => {
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
      reasons: [
        'at the same time, the consent request was shown again with other scopes, or the session ended',
      ],
      warnings: [],
    });
    const tokens = await usual.exchange(clientId, await usual.answer(ada, question));
    expect(await tokens.json()).toMatchObject({ scope: 'notes:read' });
  });

  test('was reloaded when the person had none of its permissions has ended permanently', async () => {
    asUsual();
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    for (const permission of ['notes:read', 'notes:write']) lost.add(permission);
    expect(answerOf(await usual.reload(ada, question)).get('error')).toBe('access_denied');
    // And also while they do not hold the permission.
    for (const again of [
      () => usual.reload(ada, question),
      () => (lost.clear(), usual.reload(ada, question)),
      () => usual.answer(ada, question),
      () => usual.answer(ada, question, 'deny'),
    ]) {
      expect(await refusalOf(again)).toEqual({
        ...UNANSWERABLE,
        reasons: ['the consent request has ended without an answer'],
        warnings: [],
      });
    }
  });

  // @shows AS-2.14
  test('is as old as consent_ttl is not shown and cannot be answered', async () => {
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
        reasons: ['the consent request has expired'],
        warnings: [],
      });
    }
  });

  // @shows AS-8.2
  test('is opened by a different person ends for both of them', async () => {
    const browser = browserOf('ada');
    const server = start();
    const question = await server.ask(browser, await server.newClient());
    const reason = async () => (await refusalOf(() => server.reload(browser, question))).reasons;
    browser.person = 'grace';
    expect(await reason()).toEqual(['the consent request was shown to another person']);
    browser.person = 'ada';
    expect(await reason()).toEqual(['the consent request has ended without an answer']);
  });

  // @shows AS-8.10
  test('is opened in a different browser causes a warning with the client and the request', async () => {
    const [ada, elsewhere] = [browserOf('ada'), browserOf('ada')];
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    const attempts = [
      [usual.reload, 'the consent request was shown in another browser session'],
      [usual.answer, 'the csrf_token is not valid for this request and browser session'],
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
    // A wrong token from its own browser causes no warning.
    const forged = { ...question, csrf_token: 'made up' };
    expect((await refusalOf(() => usual.answer(ada, forged))).warnings).toEqual([]);
    // A person who opens a request that is over causes no warning.
    await usual.answer(ada, question);
    expect(await found()).toEqual([]);
    const late = await usual.ask(ada, clientId);
    clock.advance(600);
    expect((await refusalOf(() => usual.reload(elsewhere, late))).warnings).toEqual([]);
  });

  test('was never shown cannot be answered', async () => {
    const ada = browserOf('ada');
    const { csrf_token: token = '' } = await usual.ask(ada, await usual.newClient());
    const answered = await refusalOf(() =>
      usual.answer(ada, { request_id: 'x', csrf_token: token }),
    );
    expect(answered).toMatchObject({
      status: 400,
      title: 'This answer was not accepted',
      warnings: [],
    });
  });

  test('has ended still has its client in the log line', async () => {
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
});

describe('the client of a consent request', () => {
  // @shows AS-30.3, AS-30.4
  test.each([
    ['was revoked', { revoked_at: 1 }, 'was revoked'],
    [
      'has lost its redirect URI',
      { redirect_uris: '["https://client.example/x"]' },
      'is no longer',
    ],
    [
      'has lost its scopes',
      { scope: '' },
      'is no longer registered for any of the requested scopes',
    ],
    [
      'has no grant types',
      { grants: '' },
      'was unblocked, and its document has not been fetched since then',
    ],
    ['was deleted', { client_id: 'gone' }, 'was revoked'],
  ])(
    'that %s gets no response: its request is not shown and cannot be answered',
    async (_, columns, reason) => {
      const ada = browserOf('ada');
      const clientId = await usual.newClient();
      const question = await usual.ask(ada, clientId);
      if ('client_id' in columns)
        await database.execute("DELETE FROM oauth_clients WHERE client_id = 'gone'");
      await put(clientId, columns);
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
    },
  );

  test('that is unverified gets a code only if its redirect URI is still registered', async () => {
    asUsual();
    const ada = browserOf('ada');
    const clientId = await usual.selfRegistered();
    const question = await usual.ask(ada, clientId);
    events = [];
    meanwhile = () => put(clientId, { redirect_uris: '["https://client.example/x"]' });
    expect((await usual.answer(ada, question)).status).toBe(400);
    expect(events).toEqual([]);
    await put(clientId, { redirect_uris: JSON.stringify([REDIRECT_URI]) });
    expect(answerOf(await usual.answer(ada, question)).has('code')).toBe(true);
  });

  test('that is unverified counts as used when a person allows it, not when they deny it', async () => {
    const ada = browserOf('ada');
    const clientId = await usual.selfRegistered();
    const usedAt = async () => (await usual.clients.find(clientId))?.usedAt;
    await usual.answer(ada, await usual.ask(ada, clientId), 'deny');
    expect(await usedAt()).toBeNull();
    await usual.answer(ada, await usual.ask(ada, clientId));
    expect(await usedAt()).toBe(clock.now());
  });
});

describe('a client that is a metadata document, with an open consent request', () => {
  // @shows AS-21.8
  test('keeps the request as it was shown, even if the document has changed', async () => {
    const ada = browserOf('ada');
    const server = start({ client_id_metadata_documents: true });
    const clientId = `https://client.example/${(browsers += 1)}.json`;
    const columns = {
      client_id: clientId,
      registered_by: 'document',
      name: 'Notebook',
      document_fresh_until: clock.now() + 86_400_000,
    };
    await put(await server.newClient(), columns);
    const question = await server.ask(ada, clientId);
    await put(clientId, {
      name: 'Diary',
      redirect_uris: '["https://client.example/elsewhere"]',
      scope: 'notes:read',
      pushes_requests: 1,
    });
    const page = await (await server.reload(ada, question)).text();
    for (const part of ['Notebook', 'Read your notes', 'Write notes for you'])
      expect(page).toContain(part);
    expect(page).not.toContain('Diary');
    const tokens = await server.answer(ada, question);
    expect(answerOf(tokens).has('code')).toBe(true);
    expect(events.at(-1)).toMatchObject({ clientId, scopes: ['notes:read', 'notes:write'] });
  });
});

describe('a cached metadata document', () => {
  test('is fetched again only for a scope that the process that cached it did not offer', async () => {
    const host = await startDocumentHost();
    onTestFinished(() => host.close());
    const documents = { client_id_metadata_documents: true };
    const before = start(
      { ...documents, scopes: { 'notes:read': 'Read your notes' } },
      {},
      host.outbound,
    );
    const server = start(documents, {}, host.outbound);
    const at = `/${(browsers += 1)}.json`;
    const clientId = host.publish(
      at,
      {
        client_name: 'Assistant',
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
        scope: 'notes:read notes:write',
      },
      { 'Cache-Control': 'max-age=86400' },
    );
    const ada = browserOf('ada');
    await before.ask(ada, clientId);
    expect(host.asked).toEqual([at]);
    await server.ask(ada, clientId);
    await server.ask(ada, clientId, { scope: 'notes:read' });
    const twice = await server.send(
      ada,
      `${server.asking(clientId, { scope: 'notes:read' })}&scope=notes:write`,
    );
    expect(twice.status).toBe(400);
    expect(await twice.text()).toContain('Nothing was shared');
    expect(host.asked).toEqual([at]);
    await server.ask(ada, clientId, { scope: 'notes:read notes:write' });
    expect(host.asked).toEqual([at, at]);
  });
});

describe('a rule that starts to apply after a consent request was shown', () => {
  const NO_WAY = { ...UNANSWERABLE, warnings: [] };
  async function expectRefused(
    server: Server,
    ada: Browser,
    question: Record<string, string>,
    reason: string,
  ) {
    for (const attempt of [server.reload, server.answer]) {
      const reasons = [expect.stringContaining(reason) as string];
      expect(await refusalOf(() => attempt(ada, question))).toEqual({ ...NO_WAY, reasons });
    }
  }

  // @shows AS-25.8
  test('that every client must push its requests: only a pushed request can still be answered', async () => {
    const ada = browserOf('ada');
    const [accepting, requiring] = [
      start({ pushed_authorization_requests: 'accept' }),
      start({ pushed_authorization_requests: 'require' }),
    ];
    const clientId = await accepting.newClient();
    const question = await accepting.ask(ada, clientId);
    await expectRefused(requiring, ada, question, 'is require, but the request was not pushed');
    expect(answerOf(await accepting.answer(ada, question)).has('code')).toBe(true);
    const pushed = await accepting.push(ada, clientId);
    expect((await requiring.reload(ada, pushed)).status).toBe(200);
    expect(answerOf(await requiring.answer(ada, pushed)).has('code')).toBe(true);
    const another = await requiring.push(ada, clientId);
    expect(answerOf(await requiring.answer(ada, another)).has('code')).toBe(true);
  });

  // @shows AS-25.8
  test('that this client must push its requests: only a pushed request can still be answered', async () => {
    const ada = browserOf('ada');
    const server = start({ pushed_authorization_requests: 'accept' });
    const clientId = await server.newClient();
    const question = await server.ask(ada, clientId);
    const pushed = await server.push(ada, clientId);
    await put(clientId, { pushes_requests: 1 });
    await expectRefused(server, ada, question, 'is registered to push its requests');
    expect(answerOf(await server.answer(ada, pushed)).has('code')).toBe(true);
  });

  // @shows AS-27.2
  test('for the profile of the client applies to the answer', async () => {
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    await put(clientId, { profile: 'fapi2' });
    await expectRefused(usual, ada, question, `the client ${clientId} is refused: `);
  });
});

describe('a person', () => {
  test('who has no permission of the request is not asked: the client gets an error, with a log line', async () => {
    asUsual();
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    for (const permission of ['notes:read', 'notes:write']) lost.add(permission);
    logged = [];
    const answered = answerOf(
      await usual.send(ada, usual.asking(clientId, { state: 'the-state' })),
    );
    expect([answered.get('error'), answered.get('state')]).toEqual(['access_denied', 'the-state']);
    expect(logged.map(({ context }) => context['detail'])).toEqual([
      'the person has no permission for the requested scopes: "notes:read", "notes:write"',
    ]);
  });

  test('has each permission checked once for the page and once for Yes, and not for No', async () => {
    asUsual();
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    for (const [decision, byAnswer] of [
      ['allow', ['notes:read', 'notes:write']],
      ['deny', []],
    ] as const) {
      lookedUp = [];
      const question = await usual.ask(ada, clientId);
      expect(lookedUp).toEqual(['notes:read', 'notes:write']);
      lookedUp = [];
      await usual.answer(ada, question, decision);
      expect(lookedUp).toEqual(byAnswer);
    }
  });

  // @shows AS-19.1
  test('who allows a client is in the audit log, with what they allowed', async () => {
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    events = [];
    const answered = await usual.answer(ada, question);
    const [authorization] = (answerOf(answered).get('code') ?? '').split('.');
    const person = { provider: 'staff', id: 'ada' };
    const scopes = ['notes:read', 'notes:write'];
    expect(events).toEqual([
      { type: 'consent_granted', authorization, clientId, person, scopes, audience: null },
    ]);
  });

  test('sees the language that the client requested, also after a reload', async () => {
    const ada = browserOf('ada');
    const server = start({ languages: true });
    const question = await server.ask(ada, await server.newClient(), { ui_locales: 'fr de' });
    expect(await (await server.reload(ada, question)).text()).toContain('<html lang="fr"');
  });

  test('cannot answer if the request was removed from the store', async () => {
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    await database.execute('DELETE FROM oauth_consent_requests WHERE browser_hash = ?', [
      hashOf(ada.secret),
    ]);
    expect(await refusalOf(() => usual.answer(ada, question))).toEqual({
      ...UNANSWERABLE,
      reasons: ['the consent request is unknown, or expired long ago'],
      warnings: [],
    });
  });

  test('who is erased while they answer leaves nothing, and no feature learns an answer', async () => {
    const { server, told } = startListening();
    const eve = browserOf('eve');
    const clientId = await server.newClient();
    const question = await server.ask(eve, clientId);
    events = [];
    meanwhile = () => server.access.erasePerson({ provider: 'staff', id: 'eve' });
    expect(await refusalOf(() => server.answer(eve, question))).toMatchObject(UNANSWERABLE);
    const { rows } = await database.execute("SELECT 1 FROM oauth_subjects WHERE user_id = 'eve'");
    expect([rows, told]).toEqual([[], []]);
    expect(events.filter(({ type }) => type.startsWith('consent'))).toEqual([]);
  });

  test('who allows a client gives features all about the authorization, before it is stored', async () => {
    const { server, allowed } = startListening();
    const ada = browserOf('ada');
    const clientId = await server.newClient();
    await server.answer(ada, await server.ask(ada, clientId, { scope: 'notes:read' }));
    expect(allowed).toEqual([
      {
        id: expect.any(String) as string,
        clientId,
        client: expect.objectContaining({ id: clientId }) as object,
        person: { provider: 'staff', id: 'ada' },
        subject: expect.any(String) as string,
        scopes: ['notes:read'],
        prior: null,
        request: expect.any(Request) as Request,
        readAt: clock.now(),
        further: {},
      },
    ]);
    const families = 'SELECT details FROM oauth_families WHERE client_id = ?';
    expect((await database.execute(families, [clientId])).rows).toEqual([{ details: null }]);
  });

  const [read, write] = ['notes:read', 'notes:write'];
  const leftOut = { optional_scopes: { leave_out: [write] } };
  test.each([
    ['allows', {}, 'allow', [], [read, write], []],
    ['denies', {}, 'deny', [], [], [read, write]],
    ['allows what they lack in part', {}, 'allow', [write], [read], []],
    ['allows what they lack', {}, 'allow', [read, write], [], []],
    ['denies what they lack in part', {}, 'deny', [write], [], [read, write]],
    ['leaves a scope out', leftOut, 'allow', [], [read], [write]],
    ['leaves out a scope that they lack', leftOut, 'allow', [write], [read], [write]],
    ['leaves a scope out and lacks the other', leftOut, 'allow', [read], [], [write]],
  ])(
    'who %s is told to features: what they allowed, and what they refused',
    async (_, more, decision, lacks, allowed, refused) => {
      const { server, told } = startListening(more);
      const ada = browserOf('ada');
      const question = await server.ask(ada, await server.newClient());
      for (const permission of lacks) lost.add(permission);
      await server.answer(ada, question, decision);
      expect(told).toEqual([[allowed, refused]]);
    },
  );

  test('sees in a custom view the redirect host of an unverified client, not the name it chose', async () => {
    const render = async (_: string, data: Readonly<Record<string, unknown>>) => {
      shown = data;
      return '<form><input type="hidden" name="request_id" value="x"></form>';
    };
    const server = start({}, { render });
    const clientId = await server.selfRegistered();
    const ada = browserOf('ada');
    for (const [redirectUri, host] of [
      [REDIRECT_URI, 'client.example'],
      ['http://127.0.0.1/callback', 'a program on this computer'],
    ] as const) {
      await put(clientId, { redirect_uris: JSON.stringify([redirectUri]) });
      await server.ask(ada, clientId, { redirect_uri: redirectUri });
      expect(shown).toMatchObject({ redirectHost: host });
      expect(shown['clientName']).toContain(host);
      expect(shown['clientName']).not.toContain('App');
    }
    await server.ask(ada, await server.newClient());
    expect(shown).toMatchObject({
      clientName: 'App',
      redirectHost: 'client.example',
      unverified: null,
    });
  });
});

describe('an authorization request without a consent screen', () => {
  const FOREIGN = 'https://client.example/callback';
  /** Returns what the client or the page gets, and the log lines. */
  async function refused(server: Server, at: string, browser = browserOf('ada')) {
    logged = [];
    const response = await server.send(browser, at);
    const answered = answerOf(response);
    const [reasons, clients] = ['detail', 'clientId'].map((name) =>
      logged.map(({ context }) => context[name]),
    );
    return {
      told: answered.get('error') ?? response.status,
      state: answered.get('state'),
      reasons,
      clients,
    };
  }

  // @shows AS-19.4
  test.each([
    ['a revoked client', { revoked_at: 1 }, {}, (id: string) => `the client ${id} was revoked`],
    [
      'a redirect URI that differs in its query',
      { redirect_uris: `["${FOREIGN}?a=1"]` },
      { redirect_uri: `${FOREIGN}?a=2` },
      (id: string) =>
        `the redirect_uri is "${FOREIGN}?…", but the client ${id} is registered with "${FOREIGN}?…", and they differ in parts that the log does not show`,
    ],
    [
      'a redirect URI on a different port',
      { redirect_uris: '["http://127.0.0.1:1/cb"]' },
      { redirect_uri: 'http://127.0.0.1:2/cb' },
      (id: string) =>
        `the redirect_uri is "http://127.0.0.1:2/cb", but the client ${id} is registered with "http://127.0.0.1:1/cb"; only a native application may use another port`,
    ],
    [
      'a redirect URI, but none is registered',
      { redirect_uris: '[]' },
      {},
      (id: string) =>
        `the redirect_uri is "${FOREIGN}", but the client ${id} is registered with none`,
    ],
    [
      'an unregistered redirect URI',
      { redirect_uris: `["${FOREIGN}","https://client.example/other"]` },
      { redirect_uri: 'https://client.example/third' },
      (id: string) =>
        `the redirect_uri is "https://client.example/third", but the client ${id} is registered with "${FOREIGN}", "https://client.example/other"`,
    ],
    [
      'no redirect URI',
      {},
      { redirect_uri: '' },
      (id: string) => `the client ${id} sent no redirect_uri, or more than one`,
    ],
  ])('gets an error page if it contains %s', async (_, columns, changes, reason) => {
    const clientId = await usual.newClient();
    await put(clientId, columns);
    const found = await refused(usual, usual.asking(clientId, changes));
    expect(found).toEqual({
      told: 400,
      state: null,
      reasons: [reason(clientId)],
      clients: [clientId],
    });
  });

  // @shows AS-19.4
  test.each<[string, Record<string, string | number>, Record<string, string>, string, string]>([
    [
      'a client without the grant type',
      { grants: 'client_credentials refresh_token' },
      {},
      'unauthorized_client',
      'the client is registered only for client_credentials, refresh_token',
    ],
    [
      'a client that must push its requests',
      { pushes_requests: 1 },
      {},
      'invalid_request',
      'the client is registered to push its requests, and did not push this one',
    ],
    [
      'the scope openid without a signing key',
      { scope: 'openid notes:read' },
      { scope: 'openid' },
      'invalid_scope',
      'there is no signing key in ',
    ],
    [
      'no code_challenge',
      {},
      { code_challenge: '' },
      'invalid_request',
      'no code_challenge was sent',
    ],
    [
      'an unsupported response_mode',
      {},
      { response_mode: 'fragment' },
      'invalid_request',
      'the response_mode is "fragment"',
    ],
    ['prompt=create', {}, { prompt: 'create' }, 'invalid_request', 'the prompt is "create"'],
  ])(
    'sends the client an error with the state, and logs the reason: %s',
    async (_, columns, changes, error, reason) => {
      const clientId = await usual.newClient();
      await put(clientId, columns);
      const found = await refused(
        usual,
        usual.asking(clientId, { ...changes, state: 'the-state' }),
      );
      expect(found).toEqual({
        told: error,
        state: 'the-state',
        reasons: [expect.stringContaining(reason)],
        clients: [clientId],
      });
    },
  );

  test('is not caused by response_mode=query, extra spaces in prompt or an unknown language', async () => {
    const clientId = await usual.newClient();
    for (const changes of [
      { response_mode: 'query' },
      { prompt: ' consent  ' },
      { ui_locales: 'fr' },
    ]) {
      await usual.ask(browserOf('ada'), clientId, changes);
    }
    const none = await refused(usual, usual.asking(clientId, { prompt: ' none ' }));
    expect(none.told).toBe('interaction_required');
  });

  // @shows AS-24.1, AS-24.5
  test('is the result of an invalid or repeated dpop_jkt, which is ignored without DPoP', async () => {
    const server = start({ dpop: 'accept' });
    const clientId = await server.newClient();
    const jkt = 'x'.repeat(43);
    for (const wrong of [`${jkt}x`, jkt.slice(1), `${jkt.slice(1)}!`]) {
      expect((await refused(server, server.asking(clientId, { dpop_jkt: wrong }))).told).toBe(
        'invalid_request',
      );
      await usual.ask(browserOf('ada'), clientId, { dpop_jkt: wrong });
    }
    const twice = `${server.asking(clientId, { dpop_jkt: jkt })}&dpop_jkt=${jkt}`;
    expect((await refused(server, twice)).told).toBe('invalid_request');
    expect((await usual.send(browserOf('ada'), twice)).status).toBe(200);
    await server.ask(browserOf('ada'), clientId, { dpop_jkt: jkt });
    // For an unverified client, the server sends no response before a person has signed in.
    const own = await server.selfRegistered();
    for (const [at, status] of [
      [server.asking(own, { dpop_jkt: jkt }), 200],
      [server.asking(own, { dpop_jkt: jkt, state: '' }), 200],
      [server.asking(own, { dpop_jkt: 'x' }), 400],
      [`${server.asking(own, { dpop_jkt: jkt })}&dpop_jkt=${jkt}`, 400],
      [`${server.asking(own)}&state=a&state=b&state=c`, 400],
      [`${server.asking(own)}&state=&state=a`, 400],
      [server.asking(own, { resource: 'https://elsewhere.example' }), 400],
    ] as const) {
      const browser = browserOf(null);
      const away = await server.send(browser, at);
      const login = new URL(away.headers.get('location') ?? '', 'https://host.example');
      expect(login.pathname).toBe('/sign-in');
      browser.person = 'ada';
      const back = await server.send(browser, login.searchParams.get('return_to') ?? '');
      expect(back.status).toBe(status);
    }
  });

  // @shows AS-7.13
  test('needs no more space in a cookie for empty or many repeated parameters', async () => {
    const own = await usual.selfRegistered();
    const sizeOf = async (more: string) => {
      const away = await usual.send(browserOf(null), usual.asking(own) + more);
      return away.headers.getSetCookie().join().length;
    };
    const size = await sizeOf('');
    for (const empty of ['&state=', '&nonce=&state=']) expect(await sizeOf(empty)).toBe(size);
    const twice = await sizeOf('&state=a&state=a');
    expect(twice).toBeGreaterThan(size);
    expect(await sizeOf('&state=a'.repeat(50))).toBe(twice);
  });

  test('is the result of a scope that the client has and the server no longer has', async () => {
    const clientId = await usual.newClient();
    await put(clientId, { scope: 'notes:read notes:gone' });
    const { told } = await refused(usual, usual.asking(clientId, { scope: 'notes:gone' }));
    expect(told).toBe('invalid_scope');
    const ada = browserOf('ada');
    events = [];
    await usual.answer(ada, await usual.ask(ada, clientId));
    expect(events).toEqual([expect.objectContaining({ scopes: ['notes:read'] })]);
  });

  // @shows AS-27.2
  test('is the result of a client that violates its profile; an unverified one is not named', async () => {
    for (const [clientId, called] of [
      [await usual.newClient(), 'Notebook'],
      [await usual.selfRegistered(), 'The application that brought you here'],
    ] as const) {
      await put(clientId, { profile: 'fapi2', name: 'Notebook' });
      logged = [];
      const page = await usual.send(browserOf('ada'), usual.asking(clientId));
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
      expect(await page.text()).toContain(`${called} does not currently meet the rules of Host.`);
      expect(logged.map(({ context }) => context)).toEqual([
        expect.objectContaining({
          clientId,
          detail: expect.stringContaining(`the client ${clientId} is refused: `) as string,
        }),
      ]);
    }
  });

  // @shows RFC9126-2.3
  test('is refused if it is pushed without a redirect URI or with an unregistered one', async () => {
    const server = start({ pushed_authorization_requests: 'accept' });
    const clientId = await server.newClient();
    for (const [redirectUri, reason] of [
      ['', `the client ${clientId} sent no redirect_uri, or more than one`],
      [
        `${FOREIGN}/x`,
        `the redirect_uri is "${FOREIGN}/x", but the client ${clientId} is registered with "${FOREIGN}"`,
      ],
    ] as const) {
      const { searchParams } = new URL(
        `https://x.example${server.asking(clientId, { redirect_uri: redirectUri })}`,
      );
      logged = [];
      const response = await server.send(
        browserOf(null),
        '/oauth/par',
        Object.fromEntries(searchParams),
      );
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: 'invalid_request' },
      ]);
      expect(logged.map(({ context }) => context['detail'])).toEqual([reason]);
    }
  });
});

describe('"Not you?"', () => {
  // @shows AS-8.6
  test('shows the same consent request to the next person who signs in', async () => {
    const server = start({ languages: true, dpop: 'accept', audience: 'https://host.example/api' });
    const browser = browserOf('ada');
    const asked = {
      scope: 'notes:write',
      state: 'the state & more',
      nonce: 'the-nonce',
      dpop_jkt: 'x'.repeat(43),
      ui_locales: 'fr',
      resource: 'https://host.example/api',
    };
    const question = await server.ask(browser, await server.newClient(), asked);
    const page = await (await server.answer(browser, question, 'switch')).text();
    const [, back = ''] = /href="([^"]*request_id=[^"]*)"/.exec(page) ?? [];
    browser.person = 'grace';
    const again = formOf(await (await server.send(browser, back)).text()).fields;
    const { rows } = await database.execute(
      'SELECT client_id, parameters, audience, asked_scope FROM oauth_consent_requests WHERE id_hash IN (?, ?)',
      [question, again].map(({ request_id: id = '' }) => hashOf(id)),
    );
    expect(rows).toHaveLength(2);
    expect(rows[1]).toEqual(rows[0]);
    for (const value of ['the state & more', 'the-nonce', 'x'.repeat(43), 'fr'])
      expect(rows[0]?.['parameters']).toContain(JSON.stringify(value));
  });

  test('adds nothing to a plain request', async () => {
    const browser = browserOf('ada');
    const question = await usual.ask(browser, await usual.newClient(), { ui_locales: 'fr' });
    const page = await (await usual.answer(browser, question, 'switch')).text();
    const [, back = ''] = /href="([^"]*request_id=[^"]*)"/.exec(page) ?? [];
    browser.person = 'grace';
    const again = formOf(await (await usual.send(browser, back)).text()).fields;
    const { rows } = await database.execute<Record<string, string>>(
      'SELECT parameters FROM oauth_consent_requests WHERE id_hash IN (?, ?)',
      [question, again].map(({ request_id: id = '' }) => hashOf(id)),
    );
    expect(rows.map(({ parameters = '' }) => JSON.parse(parameters) as unknown)).toEqual(
      [1, 2].map(() => ({
        redirectUri: REDIRECT_URI,
        scopes: ['notes:read', 'notes:write'],
        state: null,
        nonce: null,
        codeChallenge: CHALLENGE,
        dpopJkt: null,
      })),
    );
  });
});

describe('an authorization code', () => {
  test('is valid for exactly code_ttl', async () => {
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

  test('that was used is not replaced: another Allow is an error for the client', async () => {
    const ada = browserOf('ada');
    const clientId = await usual.newClient();
    const question = await usual.ask(ada, clientId);
    const exchanged = await usual.exchange(clientId, await usual.answer(ada, question));
    expect(exchanged.status).toBe(200);
    const again = answerOf(await usual.answer(ada, question));
    expect([again.get('error'), again.get('error_description'), again.get('code')]).toEqual([
      'access_denied',
      'The person has allowed this request before, and its code was used.',
      null,
    ]);
  });

  test('is not given to a person who denies, also if they deny again', async () => {
    const ada = browserOf('ada');
    const question = await usual.ask(ada, await usual.newClient());
    for (const time of ['first', 'second']) {
      const denied = answerOf(await usual.answer(ada, question, 'deny'));
      expect([time, denied.get('error'), denied.get('code')]).toEqual([
        time,
        'access_denied',
        null,
      ]);
    }
  });

  test('replaces an unused one if the person answers again, for exactly code_ttl', async () => {
    const ada = browserOf('ada');
    const server = start({ code_ttl: 90 });
    const question = await server.ask(ada, await server.newClient());
    const code = async () => answerOf(await server.answer(ada, question)).get('code');
    const first = await code();
    clock.advance(89.999);
    const second = await code();
    expect([typeof second, second === first]).toEqual(['string', false]);
    clock.advance(0.001);
    expect(await code()).toBeNull();
  });
});

describe('the access that a person allowed before', () => {
  const audience = 'https://host.example/api';

  /** A first-party client that ada has allowed before, and the events since then. */
  async function allowedBefore(challenge: boolean) {
    const server = start({ remember_consent: true, challenge, audience });
    const { client } = await server.clients.create({
      name: 'Own',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read', 'notes:write'],
      public: true,
      metadata: { first_party: ['true'] },
    });
    const ada = browserOf('ada');
    const answered = await server.answer(ada, await server.ask(ada, client.id));
    expect((await server.exchange(client.id, answered)).status).toBe(200);
    const [first] = events.slice(-1) as { readonly authorization?: string }[];
    events = [];
    const again = () => server.send(ada, server.asking(client.id, { scope: 'notes:read' }));
    return { server, ada, clientId: client.id, first: first?.authorization ?? '', again };
  }
  const consents = () => events.filter(({ type }) => type.startsWith('consent'));

  test('can be enough: a first-party client gets only what it requests, and the log says why', async () => {
    const { server, clientId, first, again } = await allowedBefore(true);
    const tokens = await server.exchange(clientId, await again());
    expect(await tokens.json()).toMatchObject({ scope: 'notes:read' });
    const granted = { type: 'consent_granted', scopes: ['notes:read'], remembered: first };
    expect(consents()).toEqual([expect.objectContaining(granted)]);
    const families = 'SELECT details FROM oauth_families WHERE client_id = ? AND details LIKE ?';
    expect(
      (await database.execute(families, [clientId, `%"prior":"${first}"%`])).rows,
    ).toHaveLength(1);
  });

  test('is required for prompt=none: otherwise the client gets an error, and no page is shown', async () => {
    const { server, ada, clientId } = await allowedBefore(false);
    const asked = server.asking(clientId, { scope: 'notes:read', prompt: 'none' });
    const silent = async (browser: Browser) => answerOf(await server.send(browser, asked));
    expect((await silent(ada)).has('code')).toBe(true);
    expect((await silent(browserOf('bob'))).get('error')).toBe('interaction_required');
    expect((await silent(browserOf(null))).get('error')).toBe('login_required');
    const form = Object.fromEntries(new URL(asked, audience).searchParams);
    const posted = await server.send(ada, '/oauth/authorize', form);
    expect([posted.status, answerOf(posted).get('error')]).toEqual([303, 'interaction_required']);
  });

  test('is not enough without the permission, and the person has then denied nothing', async () => {
    const { again } = await allowedBefore(false);
    // Ada loses the permission after the first check of this request.
    meanwhile = async () => {
      meanwhile = async () => void lost.add('notes:read');
    };
    lookedUp = [];
    expect(answerOf(await again()).get('error')).toBe('access_denied');
    expect(lookedUp).toEqual(['notes:read', 'notes:read', 'notes:read']);
    expect(consents()).toEqual([]);
  });

  test('is shown only if clients may ask for more, also after a reload', async () => {
    const ada = browserOf('ada');
    const more = start({ challenge: true, audience: 'https://host.example/api' });
    const clientId = await usual.newClient();
    const allowed = await more.answer(ada, await more.ask(ada, clientId, { scope: 'notes:read' }));
    expect((await more.exchange(clientId, allowed)).status).toBe(200);
    const elsewhere = start({ challenge: true, audience: 'https://host.example/other' });
    for (const [server, says] of [
      [more, true],
      [elsewhere, false],
      [usual, false],
    ] as const) {
      const asked = await server.send(ada, server.asking(clientId));
      const question = formOf(await asked.clone().text()).fields;
      for (const page of [asked, await server.reload(ada, question)]) {
        expect(page.status).toBe(200);
        const html = await page.text();
        expect(html.includes('It keeps the access that you allowed before')).toBe(says);
        expect(html.split('Read your notes')).toHaveLength(2);
      }
    }
  });

  test('is granted again only if clients may ask for more at the time of the answer', async () => {
    const ada = browserOf('ada');
    const more = start({ challenge: true, audience: 'https://host.example/api' });
    const less = start({ audience: 'https://host.example/api' });
    const clientId = await more.newClient();
    const allowed = await more.answer(ada, await more.ask(ada, clientId, { scope: 'notes:read' }));
    expect((await more.exchange(clientId, allowed)).status).toBe(200);
    for (const [server, scope] of [
      [less, 'notes:write'],
      [more, 'notes:write notes:read'],
    ] as const) {
      const question = await more.ask(ada, clientId, { scope: 'notes:write' });
      const tokens = await more.exchange(clientId, await server.answer(ada, question));
      expect(await tokens.json()).toMatchObject({ scope });
    }
  });
});
