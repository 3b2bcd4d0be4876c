import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  GRACE,
  registerClient,
  REDIRECT_URI,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { formOf, locationOf, type Visitor } from './support/visitor.ts';

/** The consent form sent twice: a double click on a button, a reload, the back button. */
const clock = createClock();
let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
let page: Response;

/** What a person must hold for the scope notes:write. */
const EDIT = 'notes.edit';

/** In seconds. */
const CODE_TTL = 60;

beforeAll(async () => {
  const config = { oauth_server: { code_ttl: CODE_TTL, audit: { keep: true } } };
  portal = await startPortal({ clock: clock.now, config });
});
afterAll(() => portal.close());
beforeEach(async () => {
  client = await registerClient(portal);
  ada = await portal.signedIn(ADA);
  page = await ada.get(authorizationUrl(portal, client));
});

type Decision = 'allow' | 'deny';
const answer = (decision: Decision, by = ada) => by.submit(page, { decision });

/** The parameters that the browser brings back to the application. */
async function broughtBack(response: Response): Promise<URLSearchParams> {
  expect([response.status, await response.text()]).toEqual([303, '']);
  const location = locationOf(response);
  expect(`${location.origin}${location.pathname}`).toBe(REDIRECT_URI);
  const told = location.searchParams;
  expect([told.get('state'), told.get('iss')]).toEqual(['the-state', portal.url]);
  return told;
}

async function codeOf(response: Response): Promise<string> {
  const told = await broughtBack(response);
  expect(told.get('error')).toBeNull();
  return told.get('code') ?? '';
}

async function errorBroughtBack(response: Response) {
  const told = await broughtBack(response);
  expect(told.has('code')).toBe(false);
  return [told.get('error'), told.get('error_description')];
}

async function expectRefused(response: Response, title: string): Promise<void> {
  expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  expect(await response.text()).toContain(title);
}

const ANSWERED = 'You already answered this request';
const ENDED = 'This request can no longer be answered';
const NOT_TAKEN = 'This answer was not accepted';

const exchange = (code: string) => exchangeCode(portal, client, code);
async function expectNoTokens(code: string): Promise<void> {
  const response = await exchange(code);
  expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
}
async function tokensFor(code: string): Promise<Tokens> {
  const response = await exchange(code);
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}
const statusWith = async ({ access_token: token }: Tokens) =>
  (await callApi(portal, '/api/whoami', token)).status;

async function eventsOfClient(): Promise<readonly string[]> {
  const { items } = await portal.server.audit.list({ clientId: client.id });
  return items.map(({ type }) => type).toReversed();
}

describe('the same answer to a consent request, sent again within code_ttl', () => {
  // @shows AS-8.21, AS-8.22
  test('creates a code that replaces the previous one, if it is Allow', async () => {
    const first = await codeOf(await answer('allow'));
    const second = await codeOf(await answer('allow'));
    const third = await codeOf(await answer('allow'));
    expect(new Set([first, second, third]).size).toBe(3);
    await expectNoTokens(first);
    await expectNoTokens(second);
    const tokens = await tokensFor(third);
    // A replaced code was never used, so presenting it is not a replay.
    await expectNoTokens(first);
    expect(await statusWith(tokens)).toBe(200);
    expect(await eventsOfClient()).toEqual([
      'client_registered',
      'consent_granted',
      'tokens_issued',
    ]);
    const applications = await (await ada.get('/oauth/applications')).text();
    expect(applications.split(`name="client_id" value="${client.id}"`)).toHaveLength(2);
  });

  // @shows AS-8.21
  test('creates a code that is valid for all of code_ttl, and using it twice ends its tokens', async () => {
    await answer('allow');
    clock.advance(CODE_TTL - 1);
    const code = await codeOf(await answer('allow'));
    clock.advance(CODE_TTL - 1);
    const tokens = await tokensFor(code);
    await expectNoTokens(code);
    expect(await statusWith(tokens)).toBe(401);
  });

  // @shows AS-8.22
  test('redirects with an error after the code was exchanged, and the tokens stay valid', async () => {
    const tokens = await tokensFor(await codeOf(await answer('allow')));
    expect(await errorBroughtBack(await answer('allow'))).toEqual([
      'access_denied',
      'The person has allowed this request before, and its code was used.',
    ]);
    expect(await statusWith(tokens)).toBe(200);
  });

  // @shows AS-8.21
  test('redirects with access_denied again and records one event, if it is Deny', async () => {
    const first = await errorBroughtBack(await answer('deny'));
    expect(first[0]).toBe('access_denied');
    expect(await errorBroughtBack(await answer('deny'))).toEqual(first);
    expect(await eventsOfClient()).toEqual(['client_registered', 'consent_denied']);
  });

  // @shows AS-8.21
  test('redirects with access_denied both times if the person has lost all permissions', async () => {
    page = await ada.get(authorizationUrl(portal, client, { scope: 'notes:write' }));
    await portal.deny(ADA, EDIT);
    try {
      expect((await errorBroughtBack(await answer('allow')))[0]).toBe('access_denied');
      expect((await errorBroughtBack(await answer('allow')))[0]).toBe('access_denied');
      await expectRefused(await answer('deny'), ANSWERED);
    } finally {
      await portal.grant(ADA, EDIT);
    }
    // A denied request stays denied.
    await expectRefused(await answer('deny'), ANSWERED);
    expect((await errorBroughtBack(await answer('allow')))[0]).toBe('access_denied');
  });
});

describe('a consent request that was answered cannot be answered again:', () => {
  // @shows AS-8.9
  test.each<[Decision, Decision]>([
    ['allow', 'deny'],
    ['deny', 'allow'],
  ])('%s, then %s', async (first, then) => {
    const told = await broughtBack(await answer(first));
    await expectRefused(await answer(then), ANSWERED);
    if (first === 'allow') await tokensFor(told.get('code') ?? '');
  });

  // @shows AS-8.9, AS-8.21
  test.each<Decision>(['allow', 'deny'])('%s twice, code_ttl after the first', async (decision) => {
    await answer(decision);
    clock.advance(CODE_TTL - 1);
    const told = await broughtBack(await answer(decision));
    // The second answer does not restart the time.
    clock.advance(1);
    await expectRefused(await answer(decision), ANSWERED);
    if (decision === 'allow') await tokensFor(told.get('code') ?? '');
  });

  // @shows AS-8.9, AS-8.21
  test('from a different browser, by a different person, or signed out', async () => {
    const code = await codeOf(await answer('allow'));
    await expectRefused(await answer('allow', await portal.signedIn(ADA)), NOT_TAKEN);
    await expectRefused(await answer('allow', await portal.signedIn(GRACE)), NOT_TAKEN);
    await expectRefused(await answer('allow', portal.visitor()), 'You are not signed in');
    await signIn(ada, await ada.get('/login'), GRACE);
    await expectRefused(await answer('allow'), NOT_TAKEN);
    await tokensFor(code);
  });

  // @shows AS-8.3, AS-8.21
  test('without the CSRF token, or with that of a different request', async () => {
    const code = await codeOf(await answer('allow'));
    const { fields } = formOf(await page.clone().text());
    const other = formOf(await (await ada.get(authorizationUrl(portal, client))).text()).fields;
    const { csrf_token: foreign = '' } = other;
    const { request_id: id = '' } = fields;
    for (const changes of [{}, { csrf_token: '' }, { csrf_token: foreign }]) {
      const form = { request_id: id, decision: 'allow', ...changes };
      await expectRefused(await ada.post('/oauth/authorize', form), NOT_TAKEN);
    }
    await tokensFor(code);
  });

  // @shows AS-8.21
  test('after a change of permissions that would change the grant', async () => {
    await portal.deny(ADA, EDIT);
    const less = await codeOf(await answer('allow'));
    await portal.grant(ADA, EDIT);
    await expectRefused(await answer('allow'), ANSWERED);
    expect((await tokensFor(less)).scope).not.toContain('notes:write');

    page = await ada.get(authorizationUrl(portal, client));
    const code = await codeOf(await answer('allow'));
    await portal.deny(ADA, EDIT);
    try {
      await expectRefused(await answer('allow'), ANSWERED);
    } finally {
      await portal.grant(ADA, EDIT);
    }
    await tokensFor(code);
  });

  // @shows AS-5.6, AS-8.21
  test.each<Decision>(['allow', 'deny'])('%s, after the client was revoked', async (decision) => {
    const told = await broughtBack(await answer(decision));
    await portal.server.clients.revoke(client.id);
    await expectRefused(await answer(decision), ENDED);
    expect((await exchange(told.get('code') ?? 'none')).status).toBe(401);
  });

  // @shows AS-5.7, AS-8.21
  test('after the account can no longer sign in', async () => {
    const code = await codeOf(await answer('allow'));
    await portal.suspend(ADA);
    try {
      expect((await answer('allow')).status).toBe(400);
      await expectNoTokens(code);
    } finally {
      await portal.restore(ADA);
    }
  });

  // @shows AS-8.21
  test('after the person has removed the access, and nothing becomes valid again', async () => {
    const code = await codeOf(await answer('allow'));
    const html = await (await ada.get('/oauth/applications')).text();
    const [, fields = ''] = html.split(`name="client_id" value="${client.id}"`);
    const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(fields) ?? [];
    const removed = await ada.post('/oauth/applications', { client_id: client.id, csrf_token });
    expect(removed.status).toBe(303);
    await expectRefused(await answer('allow'), ANSWERED);
    await expectNoTokens(code);
  });

  // @shows AS-8.21
  test('after its page was loaded again and showed that it was answered', async () => {
    const code = await codeOf(await answer('allow'));
    const id = formOf(await page.clone().text()).fields['request_id'] ?? '';
    await expectRefused(await ada.get(`/oauth/authorize?request_id=${id}`), ANSWERED);
    await tokensFor(code);
  });
});
