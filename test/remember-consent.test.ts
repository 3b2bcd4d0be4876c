// @engines all: remembered consent is in the store
import path from 'node:path';
import {
  AUDIT,
  configurationWith,
  createAuthorizationServer,
  defineFeature,
  mergeConfig,
  type AuditEvent,
  type ClientRegistration,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  begin,
  decide,
  DEVICE_GRANT,
  DEVICES,
  enter,
  poll,
  registerDevice,
  tokensOf,
} from './support/device.ts';
import { ROOT } from './support/console.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import {
  assertionFor,
  JWT_BEARER,
  link,
  present,
  startIdentityProvider,
  type IdentityProvider,
} from './support/identity-provider.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  GRACE,
  obtainCode,
  PASSWORD,
  refresh,
  registerClient,
  REDIRECT_URI,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
  VERIFIER,
} from './support/portal.ts';
import { createVisitor, isRedirect, locationOf, type Visitor } from './support/visitor.ts';

/**
 * First-party clients for which the server skips the consent page
 * (`oauth_server:remember_consent`).
 */

const API = 'https://api.example/';
const OTHER_API = 'https://other.example/';
const FIRST_PARTY = { metadata: { first_party: ['true'] } } as const;
const RESOURCES = {
  audience: API,
  resources: {
    [API]: { scopes: ['notes:read', 'notes:write'] },
    [OTHER_API]: { scopes: ['notes:read'] },
  },
} as const;
const CONFIG = {
  oauth_server: {
    ...DEVICES.oauth_server,
    ...RESOURCES,
    remember_consent: true,
    registration: 'open',
    reauthentication: true,
    acr_values: ['gold'],
    optional_scopes: { leave_out: ['notes:write'], add: ['profile'] },
  },
} as const;
const READ = { scope: 'openid notes:read' };

let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
/** How far the server's clock is ahead, in milliseconds. */
let ahead = 0;
const events: AuditEvent[] = [];

beforeAll(async () => {
  portal = await startPortal({
    clock: () => Date.now() + ahead,
    hostClock: () => Date.now() + ahead,
    config: CONFIG,
  });
  portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
});
afterAll(() => portal.close());
beforeEach(async () => {
  ahead = 0;
  client = await registerClient(portal, FIRST_PARTY);
  ada = await portal.signedIn(ADA);
  events.length = 0;
});

/** Starts a portal on the same database with these settings. */
async function openBeside(settings: object): Promise<RunningPortal> {
  const beside = await startPortal({
    databaseUrl: portal.env['DATABASE_URL'] ?? '',
    config: { oauth_server: { ...RESOURCES, ...settings } },
  });
  onTestFinished(() => beside.close());
  return beside;
}

type Changes = Readonly<Record<string, string | undefined>>;

const open = (changes: Changes = READ, headers = {}, visitor = ada, of = client) =>
  visitor.get(authorizationUrl(portal, of, changes), headers);

/** Opens the request and answers the page; returns the tokens. */
async function allow(changes: Changes = READ, visitor = ada, of = client): Promise<Tokens> {
  const { redirect_uri: redirectUri = REDIRECT_URI } = changes;
  const code = await obtainCode(portal, of, visitor, changes);
  return (await (
    await exchangeCode(portal, of, code, { redirect_uri: redirectUri })
  ).json()) as Tokens;
}

/** Returns the result of the response: the consent page, a code, or an error for the client. */
async function outcomeOf(response: Response): Promise<string> {
  if (!isRedirect(response))
    return (await response.text()).includes('value="allow"') ? 'page' : `${response.status}`;
  const { origin, searchParams } = locationOf(response);
  if (origin === new URL(portal.url).origin) return 'sign-in';
  return searchParams.has('code') ? 'code' : (searchParams.get('error') ?? '');
}

const codeOf = (response: Response) => locationOf(response).searchParams.get('code') ?? '';

describe('a first-party client', () => {
  // @shows AS-2.52, AS-52.1
  test('gets a code without the consent page if the person has allowed the same before', async () => {
    await allow();
    const response = await open();
    expect(response.status).toBe(302);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(locationOf(response).searchParams.get('state')).toBe('the-state');
    const tokens = await tokensOf(await exchangeCode(portal, client, codeOf(response)));
    expect(tokens.scope).toBe('openid notes:read');
    expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('code');
  });

  // @shows AS-52.1
  test('needs the code verifier of its current request', async () => {
    await allow();
    const code = codeOf(await open());
    const wrong = { code_verifier: 'x'.repeat(43) };
    expect((await exchangeCode(portal, client, code, wrong)).status).toBe(400);
  });

  // @shows AS-52.1
  test('is remembered after the first authorization has ended, while another is active', async () => {
    const first = await allow();
    await tokensOf(await exchangeCode(portal, client, codeOf(await open())));
    await requestRevocation(first.refresh_token);
    expect(await outcomeOf(await open())).toBe('code');
  });

  // @shows AS-52.3
  test('is remembered after the person denied another client, resource or scope', async () => {
    await allow();
    const deny = async (changes: Changes, of = client) =>
      ada.submit(await open({ prompt: 'consent', ...changes }, {}, ada, of), { decision: 'deny' });
    await deny(READ, await registerClient(portal, FIRST_PARTY));
    await deny({ scope: 'notes:read', resource: OTHER_API });
    await deny({ scope: 'email' });
    expect(await outcomeOf(await open())).toBe('code');
  });

  // @shows AS-52.3
  test('is remembered for a scope that the person kept when they left out another', async () => {
    await allow({ scope: 'notes:read' });
    const page = await open({ scope: 'notes:read notes:write', prompt: 'consent' });
    const answer = await ada.submit(page, { decision: 'allow' });
    const later = await tokensOf(await exchangeCode(portal, client, codeOf(answer)));
    await requestRevocation(later.refresh_token);
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('code');
  });

  // @shows AS-52.3
  test('is remembered as the page described the access, also through a later authorization', async () => {
    const { refresh_token: first } = await allow();
    await portal.server.clients.update(client.id, { removeGrants: ['refresh_token'] });
    await exchangeCode(portal, client, codeOf(await open()));
    await portal.server.clients.update(client.id, { addGrants: ['refresh_token'] });
    await requestRevocation(first);
    expect(await outcomeOf(await open())).toBe('code');
  });

  // @shows AS-52.1
  test('gets a code after sign-in, for a request that waited', async () => {
    await allow();
    const visitor = createVisitor(portal.url);
    const page = await visitor.visit(authorizationUrl(portal, client, READ));
    const back = await visitor.submit(page, { identifier: ADA, password: PASSWORD });
    const next = await visitor.visit(locationOf(back).href);
    expect(await outcomeOf(next)).toBe('code');
  });

  // @shows AS-52.1
  test('gets only scopes for which the person still has the permission', async () => {
    await allow();
    await portal.deny(ADA, 'notes:read');
    try {
      const tokens = await tokensOf(await exchangeCode(portal, client, codeOf(await open())));
      expect(tokens.scope).toBe('openid');
    } finally {
      await portal.grant(ADA, 'notes:read');
    }
  });
});

async function requestRevocation(token: string): Promise<void> {
  const response = await fetch(`${portal.url}/oauth/revoke`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({ token }),
  });
  expect(response.status).toBe(200);
}

describe('the person is asked for consent', () => {
  // @shows AS-52.2
  test('by a client that is not marked as first-party', async () => {
    client = await registerClient(portal);
    await allow();
    expect(await outcomeOf(await open())).toBe('page');
  });

  // @shows AS-52.2
  test('by a client that is no longer marked, until it is marked again', async () => {
    await allow();
    await portal.server.clients.update(client.id, { metadata: { first_party: [] } });
    expect(await outcomeOf(await open())).toBe('page');
    await portal.server.clients.update(client.id, FIRST_PARTY);
    expect(await outcomeOf(await open())).toBe('code');
  });

  // @shows AS-52.2
  test('by a client that was marked only after they had allowed it', async () => {
    client = await registerClient(portal);
    await allow();
    await portal.server.clients.update(client.id, FIRST_PARTY);
    expect(await outcomeOf(await open())).toBe('page');
  });

  // @shows AS-52.2
  test('by a client that registered itself, with any parameters', async () => {
    const response = await fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'none',
        scope: 'openid notes:read',
        first_party: true,
      }),
    });
    const registered = (await response.json()) as { readonly client_id: string };
    expect(registered).not.toHaveProperty('first_party');
    const own = { id: registered.client_id, secret: '' };
    const code = await obtainCode(portal, own, ada, READ);
    await tokensOf(await requestPublic(own, code));
    await expect(portal.server.clients.update(own.id, FIRST_PARTY)).rejects.toThrow(
      'registered itself',
    );
    expect(await outcomeOf(await open(READ, {}, ada, own))).toBe('page');
  });

  // @shows AS-52.3
  test.each<[string, Changes]>([
    ['wider scopes', { scope: 'openid notes:read email' }],
    ['a different resource', { scope: 'notes:read', resource: OTHER_API }],
    ['prompt=consent', { ...READ, prompt: 'consent' }],
    ['prompt=login consent', { ...READ, prompt: 'consent login' }],
  ])('for %s', async (_, changes) => {
    await allow();
    const before = await open(changes);
    const outcome = await outcomeOf(before);
    expect(['page', 'sign-in']).toContain(outcome);
  });

  // @shows AS-52.3
  test('for a different client, and for a different person', async () => {
    await allow();
    const other = await registerClient(portal, FIRST_PARTY);
    expect(await outcomeOf(await open(READ, {}, ada, other))).toBe('page');
    const grace = await portal.signedIn(GRACE);
    expect(await outcomeOf(await open(READ, {}, grace))).toBe('page');
  });

  // @shows AS-52.3
  test('for scopes that they left out before', async () => {
    const both = { scope: 'notes:read notes:write' };
    const page = await open(both);
    const answer = await ada.submit(page, { decision: 'allow', 'scope.profile': 'on' });
    const tokens = await tokensOf(await exchangeCode(portal, client, codeOf(answer)));
    expect(tokens.scope).toBe('notes:read profile');
    expect(await outcomeOf(await open(both))).toBe('page');
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('code');
  });

  // @shows AS-52.3
  test('for scopes that they denied later, even after the later access has ended', async () => {
    const both = { scope: 'notes:read notes:write' };
    const answer = async (given: Changes, form: Readonly<Record<string, string>>) =>
      ada.submit(await open({ ...given, prompt: 'consent' }), form);
    const tokensFor = async (response: Response) =>
      tokensOf(await exchangeCode(portal, client, codeOf(response)));
    const all = { decision: 'allow', 'scope.notes:write': 'on' };
    await tokensFor(await answer(both, all));
    await tokensFor(await open({ scope: 'notes:write' }));
    const later = await tokensFor(await answer(both, { decision: 'allow' }));
    expect(later.scope).toBe('notes:read');
    expect(await outcomeOf(await open({ scope: 'notes:write' }))).toBe('page');
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('code');
    await requestRevocation(later.refresh_token);
    expect(await outcomeOf(await open(both))).toBe('page');
    await tokensFor(await answer(both, all));
    expect(await outcomeOf(await open(both))).toBe('code');
    await answer(both, { decision: 'deny' });
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('page');
  });

  // @shows AS-52.3
  test.each([
    ['not for a scope that they allowed, even if', { 'scope.notes:write': 'on' }, 'code'],
    ['for a scope that they left out, even if', {}, 'page'],
  ])('%s they had lost the permission when they answered', async (_, boxes, outcome) => {
    const both = { scope: 'notes:read notes:write' };
    const answer = { decision: 'allow', ...boxes };
    await exchangeCode(
      portal,
      client,
      codeOf(await ada.submit(await open(both), { ...answer, 'scope.notes:write': 'on' })),
    );
    const page = await open({ ...both, prompt: 'consent' });
    await portal.deny(ADA, 'notes.edit');
    try {
      const given = await ada.submit(page, answer);
      const tokens = await tokensOf(await exchangeCode(portal, client, codeOf(given)));
      expect(tokens.scope).toBe('notes:read');
    } finally {
      await portal.grant(ADA, 'notes.edit');
    }
    expect(await outcomeOf(await open({ scope: 'notes:write' }))).toBe(outcome);
  });

  // @shows AS-52.3
  test('for scopes that they denied while oauth_server:remember_consent was off', async () => {
    await allow();
    const off = await openBeside({});
    const there = await off.signedIn(ADA);
    const page = await there.get(authorizationUrl(off, client, READ));
    await there.submit(page, { decision: 'deny' });
    expect(await outcomeOf(await open())).toBe('page');
  });

  // @shows AS-52.3
  test('while the code of the first consent has not been used', async () => {
    await obtainCode(portal, client, ada, READ);
    expect(await outcomeOf(await open())).toBe('page');
  });

  // @shows AS-52.3
  test('after all their consents have expired', async () => {
    await allow();
    ahead += 3600 * 24 * 365 * 1000;
    expect(await outcomeOf(await open(READ, {}, await portal.signedIn(ADA)))).toBe('page');
  });

  // @shows AS-52.3
  test('if the access would continue now, and did not before', async () => {
    client = await registerClient(portal, { ...FIRST_PARTY, grants: ['authorization_code'] });
    await allow({ ...READ, scope: 'notes:read offline_access' });
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('code');
    await portal.server.clients.update(client.id, { addGrants: ['refresh_token'] });
    expect(await outcomeOf(await open({ scope: 'notes:read offline_access' }))).toBe('page');
  });

  // @shows AS-52.3
  test('if they allowed the client only on a device', async () => {
    client = await registerDevice(portal, {
      ...FIRST_PARTY,
      redirectUris: [REDIRECT_URI],
      grants: ['authorization_code', 'refresh_token', DEVICE_GRANT],
      public: false,
    });
    const begun = await begin(portal, client, { scope: 'notes:read' });
    await decide(ada, begun);
    await tokensOf(await poll(portal, client, begun));
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('page');
  });

  // @shows AS-52.3
  test('on a device, even if they allowed the same in a browser', async () => {
    client = await registerDevice(portal, {
      ...FIRST_PARTY,
      redirectUris: [REDIRECT_URI],
      grants: ['authorization_code', 'refresh_token', DEVICE_GRANT],
      public: false,
    });
    await allow({ scope: 'notes:read' });
    const begun = await begin(portal, client, { scope: 'notes:read' });
    expect(await (await enter(ada, begun.user_code)).text()).toContain('value="allow"');
    expect(await errorOf(await poll(portal, client, begun))).toBe('authorization_pending');
    // Denying the device does not change what the client has in the browser.
    expect((await decide(ada, begun, 'deny')).status).toBe(200);
    expect(await errorOf(await poll(portal, client, begun))).toBe('access_denied');
    expect(await outcomeOf(await open({ scope: 'notes:read' }))).toBe('code');
  });

  // @shows AS-52.3
  test.each([
    'http://localhost:7777/cb',
    'https://127.0.0.1/cb',
    'https://127.0.0.2/cb',
    'https://[::ffff:7f00:1]/cb',
    'https://0.0.0.0/cb',
    'https://[::]/cb',
    'https://app.localhost/cb',
    'https://localhost./cb',
  ])('by a client that can receive its response at %s', async (uri) => {
    client = await registerClient(portal, { ...FIRST_PARTY, redirectUris: [REDIRECT_URI, uri] });
    await allow();
    await allow({ ...READ, redirect_uri: uri });
    expect(await outcomeOf(await open())).toBe('page');
    expect(await outcomeOf(await open({ ...READ, redirect_uri: uri }))).toBe('page');
  });

  // @shows AS-52.4
  test.each<[string, Readonly<Record<string, string>>]>([
    ['prefetches the page', { 'Sec-Purpose': 'prefetch' }],
    ['prerenders the page', { 'Sec-Purpose': 'prefetch;prerender' }],
    ['prefetches the page with the older header', { Purpose: 'prefetch' }],
    ['loads the page as an image', { 'Sec-Fetch-Dest': 'image' }],
    ['loads the page in a frame', { 'Sec-Fetch-Dest': 'iframe' }],
    ['fetches the page with a script', { 'Sec-Fetch-Dest': 'empty' }],
  ])('if the browser %s', async (_, headers) => {
    await allow();
    expect(await outcomeOf(await open(READ, headers))).toBe('page');
    expect(await outcomeOf(await open(READ, { 'Sec-Fetch-Dest': 'document' }))).toBe('code');
  });

  // @shows AS-52.4
  test('only to authenticate again if that is required, and then gets a code', async () => {
    await allow();
    ahead += 3600 * 1000;
    expect(await outcomeOf(await open({ ...READ, prompt: 'login' }))).toBe('sign-in');
    const page = await ada.visit(authorizationUrl(portal, client, { ...READ, max_age: '60' }));
    expect(await page.clone().text()).toContain('type="password"');
    const back = await ada.submit(page, { identifier: ADA, password: PASSWORD });
    expect(await outcomeOf(await ada.visit(locationOf(back).href))).toBe('code');
  });

  // @shows AS-52.4
  test('only to sign in, without a session or with a suspended account', async () => {
    await allow();
    expect(await outcomeOf(await open(READ, {}, createVisitor(portal.url)))).toBe('sign-in');
    await portal.suspend(ADA);
    try {
      expect(await outcomeOf(await open())).toBe('sign-in');
    } finally {
      await portal.restore(ADA);
    }
  });
});

function requestPublic({ id }: TestClient, code: string, at = portal): Promise<Response> {
  return requestToken(at, null, {
    grant_type: 'authorization_code',
    client_id: id,
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
}

// @shows AS-52.2
test.each<[string, Partial<ClientRegistration>, string]>([
  ['with another value', { metadata: { first_party: ['yes'] } }, 'is not true'],
  [
    'for a native application',
    { ...FIRST_PARTY, applicationType: 'native' },
    'is only for web applications',
  ],
])('a client cannot be marked %s', async (_, registration, problem) => {
  await expect(registerClient(portal, registration)).rejects.toThrow(problem);
});

describe('prompt=none', () => {
  const SILENT = { ...READ, prompt: 'none' };

  // @shows AS-52.5
  test('gives a code for remembered consent, also in a frame', async () => {
    await allow();
    expect(await outcomeOf(await open(SILENT))).toBe('code');
    expect(await outcomeOf(await open(SILENT, { 'Sec-Fetch-Dest': 'iframe' }))).toBe('code');
  });

  // @shows AS-52.5
  test('with an id_token_hint gives a code only for the person of that token', async () => {
    const { id_token: own } = await allow();
    const { id_token: others } = await allow(READ, await portal.signedIn(GRACE));
    expect(await outcomeOf(await open({ ...SILENT, id_token_hint: own }))).toBe('code');
    for (const hint of [others, 'nonsense'])
      expect(await outcomeOf(await open({ ...SILENT, id_token_hint: hint }))).toBe(
        'interaction_required',
      );
  });

  // @shows AS-44.7, AS-52.5
  test('gives a code even if the session has none of the acr_values, which are voluntary', async () => {
    await allow();
    expect(await outcomeOf(await open({ ...SILENT, acr_values: 'gold' }))).toBe('code');
  });

  // @shows AS-52.5
  test('gives interaction_required for anything else, without a page', async () => {
    expect(await outcomeOf(await open(SILENT))).toBe('interaction_required');
    await allow();
    const wider = { ...SILENT, scope: 'openid email' };
    expect(await outcomeOf(await open(wider))).toBe('interaction_required');
    expect(await outcomeOf(await open(SILENT, { 'Sec-Purpose': 'prefetch' }))).toBe(
      'interaction_required',
    );
    const { searchParams } = new URL(authorizationUrl(portal, client, SILENT));
    const form = Object.fromEntries(searchParams);
    const posted = await ada.post(`${portal.url}/oauth/authorize`, form);
    expect(await outcomeOf(posted)).toBe('interaction_required');
  });

  // @shows AS-52.5
  test('gives login_required without a session, and if the person must authenticate', async () => {
    await allow();
    const stranger = createVisitor(portal.url);
    expect(await outcomeOf(await open(SILENT, {}, stranger))).toBe('login_required');
    ahead += 3600 * 1000;
    expect(await outcomeOf(await open({ ...SILENT, max_age: '60' }))).toBe('login_required');
  });

  // @shows AS-52.5
  test('is refused for a client that is not marked', async () => {
    const other = await registerClient(portal);
    const stranger = createVisitor(portal.url);
    for (const visitor of [ada, stranger]) {
      const response = locationOf(await open(SILENT, {}, visitor, other));
      expect(response.searchParams.get('error_description')).toBe(
        'Consent is always asked for, so prompt=none cannot succeed.',
      );
    }
  });
});

describe('access that ends', () => {
  const idOf = async () =>
    (await portal.server.access.list({ clientId: client.id })).items.map(({ id }) => id);

  // @shows AS-52.6
  test('through the applications page is not remembered', async () => {
    await allow();
    const { refresh_token: second } = await tokensOf(
      await exchangeCode(portal, client, codeOf(await open())),
    );
    const page = await ada
      .visit('/account/applications')
      .then(async (found) => (found.status === 200 ? found : ada.visit('/oauth/applications')));
    await ada.submit(page);
    expect(await outcomeOf(await open())).toBe('page');
    expect((await refresh(portal, client, second)).status).toBe(400);
  });

  // @shows AS-52.6
  test('through an administrator ends all remembered consent for the client', async () => {
    await allow();
    const { refresh_token: second } = await tokensOf(
      await exchangeCode(portal, client, codeOf(await open())),
    );
    const [newest = ''] = await idOf();
    expect(await portal.server.access.revokeAuthorization(newest)).toMatchObject({
      id: newest,
      revoked: true,
    });
    expect(await idOf()).toEqual([]);
    expect((await refresh(portal, client, second)).status).toBe(400);
    expect(await outcomeOf(await open())).toBe('page');
    expect(events.filter(({ type }) => type === 'family_revoked')).toHaveLength(2);
  });

  // @shows AS-52.6
  test.each([
    ['ends no access that is not remembered', 'remembered', [200, 400]],
    ['that is not remembered ends no other access', 'plain', [400, 200]],
  ])('through an administrator %s', async (_, ended, statuses) => {
    client = await registerClient(portal);
    const plain = await allow();
    await portal.server.clients.update(client.id, FIRST_PARTY);
    const remembered = await allow();
    const [newest = '', oldest = ''] = await idOf();
    await portal.server.access.revokeAuthorization(ended === 'plain' ? oldest : newest);
    const refreshed = [plain, remembered].map((each) =>
      refresh(portal, client, each.refresh_token),
    );
    expect((await Promise.all(refreshed)).map(({ status }) => status)).toEqual(statuses);
  });

  // @shows AS-52.6
  test.each(['revokePerson', 'endAll'] as const)('through %s is not remembered', async (end) => {
    await allow();
    const code = codeOf(await open());
    const { items } = await portal.server.access.list({ clientId: client.id });
    const person = items[0]?.person ?? { provider: '', id: '' };
    await (end === 'endAll'
      ? portal.server.access.endAll()
      : portal.server.access.revokePerson(person));
    expect((await exchangeCode(portal, client, code)).status).toBe(400);
    expect(await outcomeOf(await open())).toBe('page');
  });

  // @shows AS-52.6
  test('through a revoked client gives no code', async () => {
    await allow();
    const code = codeOf(await open());
    await portal.server.clients.revoke(client.id);
    expect((await exchangeCode(portal, client, code)).status).toBe(401);
    expect((await open()).status).toBe(400);
  });
});

describe('the audit log', () => {
  // @shows AS-52.7
  test('records when the consent page was skipped, and because of which authorization', async () => {
    await allow();
    await open();
    const granted = events.filter((event) => event.type === 'consent_granted');
    expect(granted).toHaveLength(2);
    const [first, second] = granted;
    expect(first).not.toHaveProperty('remembered');
    expect(second).toMatchObject({
      clientId: client.id,
      scopes: ['openid', 'notes:read'],
      remembered: first?.authorization,
    });
  });
});

describe('if clients can request more scopes step by step', () => {
  let both: RunningPortal;
  let own: TestClient;
  let visitor: Visitor;
  beforeAll(async () => {
    both = await startPortal({
      config: (url) => ({
        oauth_server: { remember_consent: true, challenge: true, audience: `${url}/api` },
      }),
    });
  });
  afterAll(() => both.close());
  beforeEach(async () => {
    own = await registerClient(both, FIRST_PARTY);
    visitor = await both.signedIn(ADA);
  });

  const visit = (scope: string) => visitor.get(authorizationUrl(both, own, { scope }));
  /** Allows these scopes on the consent page. */
  async function allowed(scope: string): Promise<void> {
    const code = await obtainCode(both, own, visitor, { scope });
    await tokensOf(await exchangeCode(both, own, code));
  }

  // @shows AS-52.1, AS-8.18
  test('a skipped page adds no earlier scopes', async () => {
    await allowed('openid notes:read notes:write');
    const code = codeOf(await visit('notes:read'));
    const tokens = await tokensOf(await exchangeCode(both, own, code));
    expect(tokens.scope).toBe('notes:read');
  });

  // @shows AS-52.2
  test('a person who allows more, but may not grant it, has not refused what they allowed', async () => {
    await allowed('notes:read');
    const page = await visit('notes:write');
    await both.deny(ADA, 'notes.edit');
    onTestFinished(() => both.grant(ADA, 'notes.edit'));
    const answer = await visitor.submit(page, { decision: 'allow' });
    expect(await outcomeOf(answer)).toBe('access_denied');
    expect(await outcomeOf(await visit('notes:read'))).toBe('code');
  });
});

describe('remembered consent with other clients and grants', () => {
  let idp: IdentityProvider;
  let documents: DocumentHost;
  let other: RunningPortal;
  beforeAll(async () => {
    [idp, documents] = [await startIdentityProvider(), await startDocumentHost()];
    other = await startPortal({
      outbound: documents.outbound,
      config: mergeConfig(idp.config, {
        oauth_server: { remember_consent: true, client_id_metadata_documents: true },
      }),
    });
    await link(other, ADA);
  });
  afterAll(async () => {
    await other.close();
    await documents.close();
    await idp.close();
  });

  // @shows AS-52.3
  test('does not include access that an organization gave', async () => {
    const grants = ['authorization_code', 'refresh_token', JWT_BEARER];
    const both = await registerClient(other, { ...FIRST_PARTY, grants });
    await tokensOf(await present(other, both, assertionFor(other, both, idp.key)));
    const visitor = await other.signedIn(ADA);
    const url = authorizationUrl(other, both, { scope: 'notes:read' });
    expect(await outcomeOf(await visitor.get(url))).toBe('page');
  });

  // @shows AS-52.2
  test('does not apply to a client metadata document, which always leads to the consent page', async () => {
    const id = documents.publish('/client.json', {
      client_name: 'Assistant',
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'none',
      first_party: true,
    });
    const visitor = await other.signedIn(ADA);
    const url = authorizationUrl(other, { id, secret: '' }, { scope: 'notes:read' });
    const answer = await visitor.submit(await visitor.get(url), { decision: 'allow' });
    await tokensOf(await requestPublic({ id, secret: '' }, codeOf(answer), other));
    await expect(other.server.clients.update(id, FIRST_PARTY)).rejects.toThrow('document');
    expect(await outcomeOf(await visitor.get(url))).toBe('page');
  });
});

// @shows AS-52.5
test('after a restart, consent is still remembered, and the parameters still count', async () => {
  await allow();
  const later = await openBeside({ remember_consent: true });
  const there = await later.signedIn(ADA);
  const ask = async (changes: Changes) =>
    outcomeOf(await there.get(authorizationUrl(later, client, { ...READ, ...changes })));
  expect(await ask({ prompt: 'none' })).toBe('code');
  expect(await ask({ prompt: 'none', id_token_hint: 'nonsense' })).toBe('interaction_required');
  expect(await ask({ prompt: 'consent' })).toBe('page');
});

// @shows AS-52.6
test('after a restart, an administrator still ends all remembered consent for the client', async () => {
  await allow();
  await tokensOf(await exchangeCode(portal, client, codeOf(await open())));
  const later = await openBeside({ remember_consent: true });
  const { access } = later.server;
  const [newest] = (await access.list({ clientId: client.id })).items;
  await access.revokeAuthorization(newest?.id ?? '');
  expect((await access.list({ clientId: client.id })).items).toEqual([]);
});

// @shows AS-2.52
test('without oauth_server:remember_consent, a client cannot be marked', async () => {
  await expect(registerClient(await openBeside({}), FIRST_PARTY)).rejects.toThrow(
    'does not support the field first_party',
  );
});

// @shows AS-2.52, AS-52.8
test('without oauth_server:remember_consent, the person is asked for consent, even by a marked client', async () => {
  await allow();
  const off = await openBeside({});
  const visitor = await off.signedIn(ADA);
  expect(await outcomeOf(await visitor.get(authorizationUrl(off, client, READ)))).toBe('page');
  const silent = authorizationUrl(off, client, { ...READ, prompt: 'none' });
  expect(await outcomeOf(await visitor.get(silent))).toBe('interaction_required');
});

test('a custom feature can provide priorConsent only if oauth_server:remember_consent is off', () => {
  const own = defineFeature({
    name: 'own',
    start: () => ({ priorConsent: { find: async () => null } }),
  });
  const start = (remember: boolean) =>
    createAuthorizationServer({
      publicUrl: 'https://app.example',
      config: configurationWith([]).parse({
        name: 'App',
        scopes: {},
        key_path: path.join(ROOT, 'keys'),
        remember_consent: remember,
      }),
      database: portal.application.database,
      host: {
        signedIn: async () => null,
        loadAccount: async () => null,
        holdsPermission: async () => false,
        loginUrl: '/login',
        log: { debug() {}, info() {}, warning() {}, error() {} },
      },
      features: [own],
    });
  expect(() => start(false)).not.toThrow();
  expect(() => start(true)).toThrow('remember_consent');
});
