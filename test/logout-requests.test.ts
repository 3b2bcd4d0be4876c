// @engines sqlite: test/logout.test.ts runs on every engine
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createAuthorizationServer,
  migrate,
  migrationsWith,
  oauthServerConfiguration,
  openDatabase,
  type AuditEvent,
  type AuthorizationServer,
  type ClientRegistration,
  type Host,
  type LogContext,
  type OpenedDatabase,
  type PersonReference,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHALLENGE, REDIRECT_URI, VERIFIER } from './support/portal.ts';

/** Each check of a sign-out request. The host has no kit, and its clock stands still. */

const ISSUER = 'https://shop.example';
const BACK = 'https://client.example/signed-out';
const START = 1_795_240_016_123;
const SECOND = 1000;
const ADA = { provider: 'staff', id: 'ada' };
const METADATA = { post_logout_redirect_uris: [BACK] };

let folder = '';
let database: OpenedDatabase;
let server: AuthorizationServer;
let client = '';
let idToken = '';
let now = START;
let authenticatedAt: number | null = START;
let person: PersonReference | null = ADA;
let session: string | null = null;
let sessions = 0;
/** How often the host has signed a person out. */
let signedOut = 0;
let events: AuditEvent[] = [];
let refusals: (LogContext | undefined)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-logout-'));
  database = openDatabase('sqlite:logout.db', { directory: folder });
  server = serverWith();
  await migrate(database, migrationsWith(configOf({})));
  await server.keys.generate('ES256');
  client = await newClient({ name: 'Calendar' });
  idToken = await idTokenOf(client);
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  [now, authenticatedAt, person, session] = [START, START, ADA, 'session 1'];
  [signedOut, events, refusals] = [0, [], []];
});

const configOf = (changes: object) =>
  oauthServerConfiguration.parse({
    name: 'Shop',
    scopes: {},
    key_path: path.join(folder, 'keys'),
    logout: true,
    back_channel_logout: true,
    registration: 'open',
    languages: ['en', 'de'],
    ...changes,
  });

function serverWith(host: Partial<Host> = {}, config: object = {}): AuthorizationServer {
  return createAuthorizationServer({
    publicUrl: ISSUER,
    config: configOf(config),
    database,
    clock: () => now,
    host: {
      signedIn: async () => person,
      loadAccount: async (reference) => ({
        reference,
        isActive: () => true,
        getProfile: () => ({ name: 'Ada', email: 'ada@shop.example' }),
      }),
      holdsPermission: async () => true,
      browserSecret: async () => 'the secret of this browser',
      sessionId: async () => session,
      authenticatedAt: async () =>
        authenticatedAt === null ? null : { at: new Date(authenticatedAt) },
      signOut: async () => void (signedOut += 1),
      loginUrl: '/login',
      render: async (view, data) => JSON.stringify({ view, ...data }),
      audit: async (event) => void (event.type === 'signed_out' && events.push(event)),
      log: { debug() {}, info: (_, about) => void refusals.push(about), warning() {}, error() {} },
      ...host,
    },
  });
}

async function newClient(changes: Partial<ClientRegistration> = {}, of = server): Promise<string> {
  const created = await of.clients.create({
    name: 'Notes',
    public: true,
    redirectUris: [REDIRECT_URI],
    scopes: ['openid'],
    idTokenSignedResponseAlg: 'ES256',
    metadata: METADATA,
    ...changes,
  });
  return created.client.id;
}

function ask(at: string, init: RequestInit = {}, of = server): Promise<Response> {
  const url = new URL(at, ISSUER);
  const { method = 'GET' } = init;
  const endpoint = of.endpoints.find(
    (each) => each.path === url.pathname && each.methods.some((one) => one === method),
  );
  if (endpoint === undefined) throw new Error(`No endpoint ${url.pathname}`);
  return endpoint.handle(new Request(url, init));
}
type Sent = Readonly<Record<string, string>>;
const open = (sent: Sent = {}, headers: Sent = {}, of = server) =>
  ask(`/oauth/logout?${new URLSearchParams(sent)}`, { headers }, of);
const post = (form: Sent, at = '/oauth/logout', of = server) =>
  ask(at, { method: 'POST', body: new URLSearchParams(form) }, of);

/** Signs the person in to a client, in a new session of the host. */
async function idTokenOf(clientId: string, of = server): Promise<string> {
  sessions += 1;
  session = `session ${sessions}`;
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  });
  const asked = await ask(`/oauth/authorize?${query}`, {}, of);
  const page = (await asked.json()) as Readonly<Record<string, string>>;
  const answer = await ask(
    page['action'] ?? '',
    {
      method: 'POST',
      body: new URLSearchParams({
        request_id: page['requestId'] ?? '',
        csrf_token: page['csrfToken'] ?? '',
        decision: 'allow',
      }),
    },
    of,
  );
  const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const exchanged = await ask(
    '/oauth/token',
    {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      }),
    },
    of,
  );
  return ((await exchanged.json()) as { readonly id_token: string }).id_token;
}

interface Page {
  readonly view: string;
  readonly title: string;
  readonly action: string;
  readonly request: string;
  readonly csrfToken: string;
}
const pageOf = async (response: Response | Promise<Response>) =>
  (await (await response).json()) as Page;
/** What the answer is: its status and where it leads. */
const led = async (response: Response | Promise<Response>) => {
  const { status, headers } = await response;
  return [status, headers.get('location')];
};
const titleOf = async (response: Response | Promise<Response>) => {
  const { status, ...page } = { status: (await response).status, ...(await pageOf(response)) };
  return [status, page.view, page.title];
};
const DONE = [200, 'oauth/error', 'You are signed out'];
const REFUSED = [400, 'oauth/error', 'You cannot sign out this way'];
/** Asks with these parameters, and returns the page with the question. */
async function question(sent: Sent = {}, headers: Sent = {}, of = server): Promise<Page> {
  const page = await pageOf(open(sent, headers, of));
  expect([page.view, signedOut]).toEqual(['oauth/logout', 0]);
  return page;
}
const answer = ({ action, request, csrfToken }: Page, decision = 'logout', of = server) =>
  post({ request, csrf_token: csrfToken, decision }, action, of);

const hinted = () => ({ id_token_hint: idToken });
const returning = () => ({ ...hinted(), post_logout_redirect_uri: BACK });
const named = () => ({ client_id: client, post_logout_redirect_uri: BACK });

describe('a request with an ID token of the session', () => {
  test('signs the person out, and returns to the client with its state', async () => {
    const response = await open({ ...returning(), state: 'x y' });
    expect(await led(response)).toEqual([302, `${BACK}?state=x+y`]);
    expect(await led(open(returning()))).toEqual([302, BACK]);
    expect(signedOut).toBe(2);
    const event = { type: 'signed_out', clientId: client, person: ADA, confirmed: false };
    expect(events).toEqual([event, event]);
  });

  test('signs the person out without a URI, and says so', async () => {
    expect(await pageOf(open(hinted()))).toMatchObject({
      view: 'oauth/error',
      serverName: 'Shop',
      title: 'You are signed out',
      status: 200,
      link: { href: '/', text: 'Back to Shop' },
      requestId: null,
    });
    expect(signedOut).toBe(1);
  });

  test.each([
    [{ 'Sec-Purpose': 'prefetch' }],
    [{ Purpose: 'prefetch' }],
    [{ 'Sec-Fetch-Dest': 'image' }],
  ])('asks if no person sees the page: %o', async (headers) => {
    await question(returning(), headers);
    expect(await led(open(returning(), { 'Sec-Fetch-Dest': 'document' }))).toEqual([302, BACK]);
  });

  test('asks if the person authenticated after the token was issued', async () => {
    now = Math.floor(START / SECOND) * SECOND + SECOND;
    authenticatedAt = now;
    await question(hinted());
    authenticatedAt -= 1;
    await titleOf(open(hinted()));
    authenticatedAt = null;
    await titleOf(open(hinted()));
    expect(signedOut).toBe(2);
  });

  test('asks another person, and in another session of the person', async () => {
    for (const other of [
      { ...ADA, id: 'bob' },
      { ...ADA, provider: 'guests' },
    ]) {
      person = other;
      await question(hinted());
    }
    await idTokenOf(client);
    [authenticatedAt, session] = [null, 'session 1'];
    await question(hinted());
    [person, session] = [ADA, 'another'];
    await question(hinted());
    session = null;
    await question(hinted());
    expect(events).toEqual([]);
  });

  test('is needed, even if the store has no subject of the person any more', async () => {
    [person, authenticatedAt] = [{ ...ADA, id: 'carol' }, null];
    await idTokenOf(client);
    await database.execute("DELETE FROM oauth_subjects WHERE user_id = 'carol'");
    expect(await question({ client_id: client })).toMatchObject({ clientName: 'Calendar' });
  });

  test('asks on a server that knows no sessions, unless the token names none', async () => {
    const without = serverWith({}, { back_channel_logout: false });
    await question(hinted(), {}, without);
    const own = await idTokenOf(client, without);
    for (const of of [server, without])
      expect(await titleOf(open({ id_token_hint: own }, {}, of))).toEqual(DONE);
  });

  test('asks if its client has no access any more, although another client has', async () => {
    const other = await newClient();
    const hint = await idTokenOf(other);
    const { items } = await server.access.list({ clientId: other });
    for (const { id } of items) await server.access.revokeAuthorization(id);
    await question({ id_token_hint: hint });
    now += 30 * 86_400 * SECOND;
    authenticatedAt = null;
    await question(hinted());
    expect(events).toEqual([]);
  });
});

describe('the question', () => {
  test('names the person and the client that an operator registered', async () => {
    const response = await open(named());
    expect(response.headers.get('content-security-policy')).not.toContain('form-action');
    expect(await pageOf(response)).toMatchObject({
      view: 'oauth/logout',
      serverName: 'Shop',
      clientName: 'Calendar',
      person: { name: 'Ada', email: 'ada@shop.example' },
      action: '/oauth/logout',
    });
    const without = await open();
    expect(without.headers.get('content-security-policy')).toContain("form-action 'self' https:");
    expect(await pageOf(without)).toMatchObject({ clientName: null });
  });

  test('is in the language that the client asked for, and so is the next page', async () => {
    const page = await question({ ...named(), ui_locales: 'de' });
    expect(page.action).toBe('/oauth/logout?ui_locales=de');
    const begun = await post({ ...named(), ui_locales: 'fr de' });
    const next = new URL(begun.headers.get('location') ?? '', ISSUER);
    expect([begun.status, next.pathname]).toEqual([303, '/oauth/logout']);
    expect([...next.searchParams.keys()]).toEqual(['request', 'ui_locales']);
    expect(next.searchParams.get('ui_locales')).toContain('de');
    const plain = new URL((await post(named())).headers.get('location') ?? '', ISSUER);
    expect([...plain.searchParams.keys()]).toEqual(['request']);
  });

  test('ends the session only if the answer is to sign out', async () => {
    const page = await question({ ...named(), state: 's' });
    for (const decision of ['stay', 'other'])
      expect(await titleOf(answer(page, decision))).toEqual([
        200,
        'oauth/error',
        'You are still signed in',
      ]);
    expect([signedOut, events]).toEqual([0, []]);
    expect(await led(answer(page))).toEqual([303, `${BACK}?state=s`]);
    const event = { type: 'signed_out', clientId: client, person: ADA, confirmed: true };
    expect([signedOut, events]).toEqual([1, [event]]);
  });

  test('can be answered for a request without a client', async () => {
    expect(await titleOf(answer(await question()))).toEqual(DONE);
    expect(events).toMatchObject([{ clientId: null }]);
  });

  test('can be answered only by its form, and by the person that it was for', async () => {
    const [page, other] = [await question(named()), await question(named())];
    const refused = async (response: Promise<Response>) =>
      expect([(await response).status, signedOut]).toEqual([400, 0]);
    await refused(answer({ ...page, csrfToken: other.csrfToken }));
    await refused(post({ request: page.request, decision: 'logout' }));
    await refused(post({ csrf_token: page.csrfToken, decision: 'logout' }));
    await refused(answer({ ...page, request: other.request }));
    for (const someone of [
      { ...ADA, id: 'bob' },
      { ...ADA, provider: 'guests' },
    ]) {
      person = someone;
      await refused(answer(page));
    }
    person = ADA;
    expect(refusals).toContainEqual(
      expect.objectContaining({
        detail: 'the csrf_token is not valid for this form, person and browser session',
      }),
    );
    expect((await answer(page)).status).toBe(303);
  });

  test('can be answered until ten minutes after the request', async () => {
    const early = await question(named());
    now += 300_000;
    // The time limit continues if the browser returns without its session.
    person = null;
    const [, next] = await led(answer(early));
    person = ADA;
    const page = await pageOf(ask(String(next)));
    now += 299_999;
    for (const each of [early, page]) expect((await answer(each)).status).toBe(303);
    now += 1;
    for (const each of [early, page]) expect(await titleOf(answer(each))).toEqual(REFUSED);
    expect(await titleOf(open({ request: page.request }))).toEqual(REFUSED);
    expect(await titleOf(open({ request: 'forged' }))).toEqual(REFUSED);
  });

  test('is asked again, in a GET request, if the answer has no session', async () => {
    const page = await question({ ...named(), state: 's' });
    person = null;
    const [status, next] = await led(answer(page));
    expect([status, signedOut]).toEqual([303, 0]);
    person = ADA;
    const again = await pageOf(ask(String(next)));
    expect(again.view).toBe('oauth/logout');
    expect(await led(answer(again))).toEqual([303, `${BACK}?state=s`]);
  });

  test('of a form request with an ID token of the session is not asked', async () => {
    const [status, next] = await led(post({ ...returning(), state: 's' }));
    expect([status, signedOut]).toEqual([303, 0]);
    expect(await led(ask(String(next)))).toEqual([302, `${BACK}?state=s`]);
    expect(signedOut).toBe(1);
  });

  test('can be answered after the client lost its URI only if the request has none', async () => {
    const own = await newClient();
    const sent = { client_id: own };
    const without = await question(sent);
    const page = await question({ ...sent, post_logout_redirect_uri: BACK });
    await server.clients.update(own, { metadata: { post_logout_redirect_uris: [] } });
    expect(await titleOf(answer(page))).toEqual(REFUSED);
    expect(refusals.at(-1)).toMatchObject({ clientId: own });
    expect(await titleOf(answer(without))).toEqual(DONE);
    await server.clients.revoke(own);
    expect(await titleOf(answer(without))).toEqual(REFUSED);
    await database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [own]);
    expect(await titleOf(answer(without))).toEqual(REFUSED);
    expect(signedOut).toBe(1);
  });
});

describe('a request that is not valid', () => {
  test.each<[string, () => Sent]>([
    ['no active client has the client_id "unknown"', () => ({ client_id: 'unknown' })],
    [
      'the id_token_hint and the client_id name different clients',
      () => ({ ...hinted(), client_id: other }),
    ],
    [
      'a post_logout_redirect_uri needs client_id or a valid id_token_hint',
      () => ({ post_logout_redirect_uri: BACK }),
    ],
    [
      'a post_logout_redirect_uri needs client_id or a valid id_token_hint',
      () => ({ post_logout_redirect_uri: BACK, id_token_hint: 'forged' }),
    ],
    [
      `the post_logout_redirect_uri is not registered: it is "${BACK}/"`,
      () => ({ ...named(), post_logout_redirect_uri: `${BACK}/` }),
    ],
    ['the state is longer than 2000 bytes', () => ({ state: 's'.repeat(2001) })],
    ['the state is longer than 2000 bytes', () => ({ state: 'é'.repeat(1001) })],
    [
      'the post_logout_redirect_uri is longer than 6000 bytes',
      () => ({ ...named(), post_logout_redirect_uri: `${BACK}?`.padEnd(6001, 'a') }),
    ],
  ])('is refused: %s', async (detail, sent) => {
    expect(await titleOf(open(sent()))).toEqual(REFUSED);
    const endpoint = 'oauth_server_logout';
    expect(refusals).toEqual([expect.objectContaining({ endpoint, detail })]);
    expect(await titleOf(post(sent()))).toEqual(REFUSED);
    expect(refusals.at(-1)).toMatchObject({ endpoint: 'oauth_server_answer_logout', detail });
  });
  let other = '';
  beforeAll(async () => {
    other = await newClient();
  });

  test('is refused with the client in the log, once it is known', async () => {
    await open({ ...named(), state: 's'.repeat(2001) });
    await open({ ...hinted(), state: 's'.repeat(2001) });
    await open({ state: 's'.repeat(2001) });
    expect(refusals.map((line) => line?.['clientId'])).toEqual([client, client, null]);
  });

  test('may have the longest state and URI', async () => {
    const uri = `${BACK}?`.padEnd(6000, 'a');
    await open({ ...named(), post_logout_redirect_uri: uri });
    expect(refusals[0]?.['detail']).toContain('is not registered');
    await question({ ...named(), state: 's'.repeat(2000) });
  });

  test('with a repeated parameter says which', async () => {
    expect(await titleOf(ask('/oauth/logout?state=a&state=b'))).toEqual(REFUSED);
    expect(await titleOf(ask('/oauth/logout', { method: 'POST', body: 'a' }))).toEqual(REFUSED);
    expect(refusals).toMatchObject([
      { detail: 'repeated: "state"' },
      { detail: 'its Content-Type is "text/plain;charset=UTF-8"' },
    ]);
    const broken = new Request(`${ISSUER}/oauth/logout`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ a: 'a'.repeat(70_000) }),
    });
    const endpoint = server.endpoints.find(({ name }) => name === 'oauth_server_answer_logout');
    expect((await endpoint?.handle(broken))?.status).toBe(413);
  });

  test('with the ID token of a client that was revoked or removed counts as without one', async () => {
    const own = await newClient();
    const sent = { id_token_hint: await idTokenOf(own) };
    const back = { ...sent, post_logout_redirect_uri: BACK };
    await server.clients.revoke(own);
    await question(sent);
    expect(await titleOf(open(back))).toEqual(REFUSED);
    expect(await titleOf(open({ client_id: own }))).toEqual(REFUSED);
    await database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [own]);
    await question(sent);
    expect(await titleOf(open({ ...sent, client_id: own }))).toEqual(REFUSED);
  });

  test('with an invalid ID token leads nowhere, even if the person signs out', async () => {
    const page = await question({ ...named(), id_token_hint: 'forged' });
    expect(await titleOf(answer(page))).toEqual(DONE);
  });
});

describe('without a signed-in person', () => {
  beforeEach(() => {
    person = null;
  });

  test('the browser returns to the client of the ID token, and otherwise stays', async () => {
    expect(await led(open({ ...returning(), state: 's' }))).toEqual([302, `${BACK}?state=s`]);
    expect(await titleOf(open(named()))).toEqual(DONE);
    expect(await titleOf(open({ ...named(), id_token_hint: 'forged' }))).toEqual(DONE);
    expect([signedOut, events]).toEqual([0, []]);
  });

  test('the browser stays if the client registered itself, but a person can return to it', async () => {
    person = ADA;
    const registered = await ask('/oauth/register', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: 'ES256',
        ...METADATA,
      }),
    });
    const { client_id: own } = (await registered.json()) as { readonly client_id: string };
    const back = { post_logout_redirect_uri: BACK };
    const page = await question({ client_id: own, ...back });
    expect(page).toMatchObject({ clientName: null });
    expect(await titleOf(answer(page))).toEqual(DONE);
    const sent = { ...back, id_token_hint: await idTokenOf(own) };
    signedOut = 0;
    const asked = await question(sent, { 'Sec-Purpose': 'prefetch' });
    expect(await led(open(sent))).toEqual([302, BACK]);
    expect(await led(answer(asked))).toEqual([303, BACK]);
    const withPage = serverWith({ signOut: '/bye' });
    const [, away] = await led(open(sent, {}, withPage));
    person = null;
    expect(await titleOf(open(sent))).toEqual(DONE);
    // A link of any site can lead to the page of the host.
    const returnTo = new URL(String(away), ISSUER).searchParams.get('return_to') ?? '';
    expect(await titleOf(ask(returnTo, {}, withPage))).toEqual(DONE);
  });
});

describe('on a host with a sign-out page', () => {
  const withPage = () => serverWith({ signOut: '/bye' });
  const returnOf = ([, away]: readonly unknown[]) =>
    new URL(String(away), ISSUER).searchParams.get('return_to') ?? '';

  test('the page signs the person out, and the browser then returns', async () => {
    const of = withPage();
    const away = await led(open({ ...returning(), state: 's' }, {}, of));
    expect([away[0], new URL(String(away[1]), ISSUER).pathname]).toEqual([302, '/bye']);
    expect([signedOut, events]).toEqual([0, []]);
    person = null;
    expect(await led(ask(returnOf(away), {}, of))).toEqual([302, `${BACK}?state=s`]);
    person = ADA;
    const page = await question(named(), {}, of);
    const confirmed = await led(answer(page, 'logout', of));
    expect(confirmed[0]).toBe(303);
    person = null;
    expect(await led(ask(returnOf(confirmed), {}, of))).toEqual([302, BACK]);
  });

  test('the person is asked if that page ended no session, and a revoked client is refused', async () => {
    const of = withPage();
    const own = await newClient();
    const back = { post_logout_redirect_uri: BACK };
    const away = await led(open({ ...back, id_token_hint: await idTokenOf(own) }, {}, of));
    const page = await pageOf(ask(returnOf(away), {}, of));
    expect(page.view).toBe('oauth/logout');
    expect((await answer(page, 'logout', of)).status).toBe(303);
    await server.clients.revoke(own);
    expect(await titleOf(answer(page, 'logout', of))).toEqual(REFUSED);
    // The session has already ended for this request.
    person = null;
    expect(await titleOf(ask(returnOf(away), {}, of))).toEqual(DONE);
    await database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [own]);
    expect(await titleOf(ask(returnOf(away), {}, of))).toEqual(DONE);
    person = ADA;
    const without = await pageOf(ask(returnOf(away), {}, of));
    expect(without).toMatchObject({ view: 'oauth/logout', clientName: null });
    expect((await answer(without, 'logout', of)).status).toBe(303);
  });
});

describe('the setting logout', () => {
  test('needs signOut in the host', () => {
    const start = () => serverWith({ signOut: undefined as never });
    expect(start).toThrow(
      'oauth_server:logout: needs signOut in the host contract; add signOut, or set this setting',
    );
  });

  test('offers the endpoint and the metadata field, with at most 20 URIs', async () => {
    const metadata = async (of: AuthorizationServer) =>
      (await (await ask('/.well-known/oauth-authorization-server', {}, of)).json()) as object;
    expect(await metadata(serverWith())).toMatchObject({
      end_session_endpoint: `${ISSUER}/oauth/logout`,
    });
    const uris = Array.from({ length: 21 }, (_, index) => `${BACK}/${index}`);
    await newClient({ metadata: { post_logout_redirect_uris: uris.slice(1) } });
    await expect(newClient({ metadata: { post_logout_redirect_uris: uris } })).rejects.toThrow(
      'A client can have at most 20 values of post_logout_redirect_uris',
    );
    await expect(
      newClient({ metadata: { post_logout_redirect_uris: ['http://client.example/'] } }),
    ).rejects.toThrow('The post-logout redirect URI');
    for (const off of [{ logout: false }, { logout: undefined }]) {
      const without = serverWith({}, off);
      expect(await metadata(without)).not.toHaveProperty('end_session_endpoint');
      await expect(newClient({}, without)).rejects.toThrow('does not support the field');
    }
  });
});
