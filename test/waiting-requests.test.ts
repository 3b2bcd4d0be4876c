// @engines all, long: it takes some seconds on each engine
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  CHALLENGE,
  exchangeCode,
  GRACE,
  REDIRECT_URI,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { isRedirect, locationOf, type Visitor } from './support/visitor.ts';

/**
 * Until a person is signed in, an authorization request waits in a cookie, and the server stores
 * nothing (AS-7.13).
 */
let portal: RunningPortal;
let client: TestClient;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now, config: { trusted_proxies: 1 } });
  client = await registerClient(portal);
});
afterAll(() => portal.close());

/** Longer than a cookie may be. */
const LONG = 's'.repeat(5000);
const MIB = 1024 * 1024;

async function rows(table: string): Promise<number> {
  const { rows: found } = await portal.application.database.execute<{ count: number | string }>(
    `SELECT COUNT(*) AS count FROM ${table}`,
  );
  return Number(found[0]?.count);
}

async function counted() {
  const database = portal.application.database;
  const { rows: found } = await database.execute<{ bytes: number | string | null }>(
    'SELECT SUM(LENGTH(parameters)) AS bytes FROM oauth_waiting_requests',
  );
  return {
    sessions: await rows('host_sessions'),
    consentRequests: await rows('oauth_consent_requests'),
    waiting: (await rows('oauth_waiting_requests')) - 1,
    bytes: Number(found[0]?.bytes ?? 0),
  };
}

/** An authorization request without a session, from this address. */
function ask(state: string, from = '192.0.2.1'): Promise<Response> {
  const headers = { 'X-Forwarded-For': from };
  return fetch(authorizationUrl(portal, client, { state }), { headers, redirect: 'manual' });
}

const waitingIn = (visitor: Visitor) =>
  visitor
    .cookies()
    .split('; ')
    .filter((cookie) => cookie.startsWith('portico_request_'));

/** Follows the redirect to sign-in, signs in, and returns. */
async function signInAt(visitor: Visitor, asked: Response, email = ADA): Promise<Response> {
  const login = await visitor.visit(locationOf(asked).href);
  return visitor.get(locationOf(await signIn(visitor, login, email)).href);
}

async function allowed(visitor: Visitor, page: Response): Promise<URL> {
  expect(page.status).toBe(200);
  return locationOf(await visitor.submit(page, { decision: 'allow' }));
}

describe('an authorization request without a signed-in person', () => {
  // @shows AS-7.13
  test('stores nothing: no row and no session', async () => {
    const before = await counted();
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask('s'.repeat(1500))));
    expect(answers.every(isRedirect)).toBe(true);
    expect(await counted()).toEqual(before);
  });

  // @shows AS-7.13
  test('waits for consent_ttl in an encrypted cookie that scripts cannot read', async () => {
    const answer = await ask('a-telling-state');
    const [cookie = '', ...more] = answer.headers.getSetCookie();
    // The other one is for the sign-in page.
    expect(more).toEqual([expect.stringMatching(/^portico_sign_in=.*; Path=\/login; /)]);
    const requestId = new URL(
      locationOf(answer).searchParams.get('return_to') ?? '',
      portal.url,
    ).searchParams.get('request_id');
    expect(cookie).toMatch(
      /^portico_request_[\w-]{43}=\d+\.[\w-]+; Path=\/oauth\/authorize; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    expect(cookie).toContain(`portico_request_${requestId}=`);
    const [, content = ''] = /=\d+\.([\w-]+);/.exec(cookie) ?? [];
    const plain = Buffer.from(content, 'base64url').toString('latin1');
    for (const secret of [
      'a-telling-state',
      client.id,
      'client.example',
      'notes:read',
      CHALLENGE,
    ]) {
      expect(plain).not.toContain(secret);
      expect(cookie).not.toContain(secret);
    }
  });

  test('is shown to the next person who signs in, and then its cookie is removed', async () => {
    const visitor = portal.visitor();
    const asked = await visitor.get(authorizationUrl(portal, client));
    expect(waitingIn(visitor)).toHaveLength(1);
    const page = await signInAt(visitor, asked);
    expect(waitingIn(visitor)).toEqual([]);
    // The page can be reloaded and answered.
    const again = await visitor.get(page.url);
    const answer = await allowed(visitor, again);
    expect(answer.searchParams.get('state')).toBe('the-state');
    expect((await exchangeCode(portal, client, answer.searchParams.get('code') ?? '')).status).toBe(
      200,
    );
  });

  test('gives one consent request if the page is loaded twice at once after sign-in', async () => {
    const visitor = portal.visitor();
    const asked = await visitor.get(authorizationUrl(portal, client));
    const login = await visitor.visit(locationOf(asked).href);
    const back = locationOf(await signIn(visitor, login, ADA)).href;
    const before = await rows('oauth_consent_requests');
    const pages = await Promise.all(Array.from({ length: 5 }, () => visitor.get(back)));
    expect(pages.map((page) => page.status)).toEqual([200, 200, 200, 200, 200]);
    expect(await rows('oauth_consent_requests')).toBe(before + 1);
    expect((await allowed(visitor, pages[3] ?? Response.error())).searchParams.has('code')).toBe(
      true,
    );
  });

  // @shows AS-7.13
  test('waits in each of several tabs of a new browser, and each can be answered', async () => {
    const visitor = portal.visitor();
    const asked = await Promise.all(
      ['first', 'second', 'third'].map((state) =>
        visitor.get(authorizationUrl(portal, client, { state })),
      ),
    );
    const [login] = await Promise.all(asked.map((each) => visitor.visit(locationOf(each).href)));
    await signIn(visitor, await visitor.visit(login?.url ?? ''), ADA);
    const states: unknown[] = [];
    for (const each of asked.toReversed()) {
      const page = await visitor.get(locationOf(each).searchParams.get('return_to') ?? '');
      states.push((await allowed(visitor, page)).searchParams.get('state'));
    }
    expect(states).toEqual(['third', 'second', 'first']);
  });

  // @shows AS-7.13
  test('over the limit of one browser drops the oldest, and only a few kilobytes wait', async () => {
    const visitor = portal.visitor();
    const asked: Response[] = [];
    for (let count = 0; count < 12; count += 1) {
      asked.push(await visitor.get(authorizationUrl(portal, client, { state: `tab-${count}` })));
      clock.advance(1);
    }
    expect(waitingIn(visitor)).toHaveLength(8);
    for (const state of ['m'.repeat(1500), 'n'.repeat(1500), 'o'.repeat(1500)]) {
      await visitor.get(authorizationUrl(portal, client, { state }));
      clock.advance(1);
      expect(waitingIn(visitor).join('; ').length).toBeLessThan(6300);
    }
    await signIn(visitor, await visitor.get('/login'), ADA);
    const back = (response: Response | undefined) =>
      visitor.get(
        response === undefined ? '' : (locationOf(response).searchParams.get('return_to') ?? ''),
      );
    expect((await back(asked[0])).status).toBe(400);
  });

  // @shows AS-7.13
  test('waits at most consent_ttl, and a shown consent request has the same time for its answer', async () => {
    const [inTime, late] = [portal.visitor(), portal.visitor()];
    const asked = [
      await inTime.get(authorizationUrl(portal, client)),
      await late.get(authorizationUrl(portal, client)),
    ];
    clock.advance(595);
    const page = await signInAt(inTime, asked[0] ?? Response.error());
    clock.advance(10);
    expect((await signInAt(late, asked[1] ?? Response.error())).status).toBe(400);
    clock.advance(580);
    expect((await allowed(inTime, page)).searchParams.has('code')).toBe(true);
  });

  // @shows AS-7.13
  test('is checked again after sign-in: the consent screen omits rights that were removed', async () => {
    const { database } = portal.application;
    const cases = [
      {
        change:
          'UPDATE oauth_clients SET redirect_uris = \'["https://client.example/other"]\' WHERE client_id = ?',
        expected: async (response: Response) =>
          expect(await response.text()).toContain('Unregistered return address'),
      },
      {
        change: "UPDATE oauth_clients SET scope = 'notes:read' WHERE client_id = ?",
        expected: async (response: Response) =>
          expect(locationOf(response).searchParams.get('error')).toBe('invalid_scope'),
      },
      {
        change: 'UPDATE oauth_clients SET revoked_at = 1 WHERE client_id = ?',
        expected: async (response: Response) =>
          expect(await response.text()).toContain('Unknown application'),
      },
    ];
    for (const { change, expected } of cases) {
      const own = await registerClient(portal);
      const visitor = portal.visitor();
      const asked = await visitor.get(authorizationUrl(portal, own));
      await database.execute(change, [own.id]);
      await expected(await signInAt(visitor, asked));
    }
  });

  test('exists only in the browser in which it waits', async () => {
    const [visitor, stranger] = [portal.visitor(), await portal.signedIn(ADA)];
    const asked = await visitor.get(authorizationUrl(portal, client));
    const back = locationOf(asked).searchParams.get('return_to') ?? '';
    expect((await stranger.get(back)).status).toBe(400);
    expect((await signInAt(visitor, asked)).status).toBe(200);
  });

  // @shows AS-7.13
  test('can be opened only with its cookie, unchanged and under the right name', async () => {
    const visitor = portal.visitor();
    const other = portal.visitor();
    const [asked, otherAsked] = [
      await visitor.get(authorizationUrl(portal, client)),
      await other.get(authorizationUrl(portal, client)),
    ];
    const signedIn = await portal.signedIn(ADA);
    const [, value = ''] = waitingIn(visitor)[0]?.split('=') ?? [];
    const [name = '', otherValue = ''] = waitingIn(other)[0]?.split('=') ?? [];
    const back = locationOf(otherAsked).searchParams.get('return_to') ?? '';
    const [period = '', text = ''] = otherValue.split('.');
    const flipped = `${text.slice(0, 30)}${text[30] === 'A' ? 'B' : 'A'}${text.slice(31)}`;
    const forged = [
      value,
      `${period}.${flipped}`,
      `${period}.${text.slice(0, -4)}`,
      `${Number(period) + 1}.${text}`,
      `${Number(period) - 1}.${text}`,
      `999999999.${text}`,
      `.${text}`,
      text,
      '',
    ];
    const open = (content: string) =>
      fetch(new URL(back, portal.url), {
        headers: { Cookie: `${signedIn.cookies()}; ${name}=${content}` },
      });
    for (const content of forged) expect((await open(content)).status).toBe(400);
    expect((await open(otherValue)).status).toBe(200);
    expect(isRedirect(asked)).toBe(true);
  });

  test('continues after a cookie key change, and unneeded keys are removed', async () => {
    const keys = () => rows('oauth_cookie_keys');
    for (let count = 0; count < 3; count += 1) {
      const visitor = portal.visitor();
      const asked = await visitor.get(authorizationUrl(portal, client));
      clock.advance(300);
      expect((await signInAt(visitor, asked)).status).toBe(200);
      clock.advance(30 * 86_400);
    }
    await portal.visitor().get(authorizationUrl(portal, client));
    expect(await keys()).toBe(1);
  });
});

describe('the button "Not you?"', () => {
  test('keeps the same request in the browser for the next person who signs in', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client, { state: 'kept' }));
    const before = await counted();
    const away = await visitor.submit(page, { decision: 'switch' });
    expect(waitingIn(visitor)).toHaveLength(1);
    expect(await counted()).toMatchObject({
      consentRequests: before.consentRequests,
      waiting: before.waiting,
    });
    const answer = await allowed(visitor, await signInAt(visitor, away, GRACE));
    expect(answer.searchParams.get('state')).toBe('kept');
  });
});

describe('a request that is too long for a cookie', () => {
  // @shows AS-7.14
  test('waits in the store for the browser with its secret, and is removed when it is shown', async () => {
    const before = await counted();
    const visitor = portal.visitor();
    const asked = await visitor.get(authorizationUrl(portal, client, { state: LONG }));
    expect(await counted()).toMatchObject({
      sessions: before.sessions,
      waiting: before.waiting + 1,
    });
    expect(waitingIn(visitor).join('').length).toBeLessThan(300);
    const back = locationOf(asked).searchParams.get('return_to') ?? '';
    expect((await (await portal.signedIn(ADA)).get(back)).status).toBe(400);
    const answer = await allowed(visitor, await signInAt(visitor, asked));
    expect(answer.searchParams.get('state')).toBe(LONG);
    expect((await counted()).waiting).toBe(before.waiting);
  });

  // @shows AS-31.9
  test('does not continue after oauth:restored, but a later one does', async () => {
    const [before, after] = [portal.visitor(), portal.visitor()];
    const asked = await before.get(authorizationUrl(portal, client, { state: LONG }));
    await portal.server.access.endAll();
    expect((await signInAt(before, asked)).status).toBe(400);
    const later = await after.get(authorizationUrl(portal, client, { state: LONG }));
    const answer = await allowed(after, await signInAt(after, later));
    expect(answer.searchParams.get('state')).toBe(LONG);
  });

  // @shows AS-7.14
  test('is limited per network in a flood: others can continue, and no session is created', async () => {
    const before = await counted();
    const flood: Response[] = [];
    while (flood.length < 600) {
      flood.push(
        ...(await Promise.all(Array.from({ length: 50 }, () => ask(LONG, '198.51.100.7')))),
      );
    }
    const refused = flood.filter((response) => response.status === 503);
    expect(flood.filter(isRedirect).length + refused.length).toBe(600);
    expect(refused.length).toBeGreaterThan(300);
    expect(refused[0]?.headers.get('retry-after')).toBe('60');
    expect(refused[0]?.headers.get('content-type')).toContain('text/html');
    const after = await counted();
    expect(after.sessions).toBe(before.sessions);
    expect(after.consentRequests).toBeLessThanOrEqual(before.consentRequests);
    expect(after.bytes - before.bytes).toBeLessThanOrEqual(MIB);
    expect(after.waiting - before.waiting).toBeLessThan(220);
    expect(isRedirect(await ask(LONG, '198.51.100.8'))).toBe(true);
    expect(isRedirect(await ask('short', '198.51.100.7'))).toBe(true);
    // Nothing waits once a person is signed in.
    const visitor = await portal.signedIn(ADA);
    expect((await visitor.get(authorizationUrl(portal, client, { state: LONG }))).status).toBe(200);
  });

  test('is accepted again after the earlier ones have expired', async () => {
    clock.advance(601);
    expect(isRedirect(await ask(LONG, '198.51.100.7'))).toBe(true);
    await portal.server.prune();
    expect((await counted()).bytes).toBeLessThan(10_000);
  });
});

describe('an authorization request by POST /oauth/authorize', () => {
  const parameters = (changes: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(new URL(authorizationUrl(portal, client, changes)).searchParams);

  // @shows AS-7.11, OIDC-3.1.2.1b
  test('is checked like GET, and continues under its ID, with and without a session', async () => {
    for (const visitor of [portal.visitor(), await portal.signedIn(ADA)]) {
      const before = await counted();
      const answer = await visitor.post('/oauth/authorize', parameters());
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toMatch(/^\/oauth\/authorize\?request_id=[\w-]{43}$/);
      expect(await counted()).toEqual(before);
    }
  });

  // @shows AS-7.11, OIDC-3.1.2.1b
  test('completes the whole flow: sign in, allow, code', async () => {
    const visitor = portal.visitor();
    const posted = await visitor.post('/oauth/authorize', parameters({ state: 'by-post' }));
    const asked = await visitor.get(locationOf(posted).href);
    const answer = await allowed(visitor, await signInAt(visitor, asked));
    expect(answer.searchParams.get('state')).toBe('by-post');
    expect((await exchangeCode(portal, client, answer.searchParams.get('code') ?? '')).status).toBe(
      200,
    );
  });

  test('keeps a state that is longer than a cookie may be', async () => {
    const state = 's'.repeat(9000);
    const visitor = await portal.signedIn(ADA);
    const posted = await visitor.post('/oauth/authorize', parameters({ state }));
    const page = await visitor.get(locationOf(posted).href);
    const answer = await visitor.submit(page, { decision: 'deny' });
    expect(locationOf(answer).searchParams.get('state')).toBe(state);
  });

  // @shows AS-7.11, OIDC-3.1.2.1b
  test('sends errors to the same place as GET, and a repeated parameter is an error', async () => {
    const visitor = portal.visitor();
    const wrong = locationOf(
      await visitor.post('/oauth/authorize', parameters({ scope: 'notes:destroy' })),
    );
    expect([wrong.origin, wrong.searchParams.get('error')]).toEqual([
      new URL(REDIRECT_URI).origin,
      'invalid_scope',
    ]);
    const unknown = await visitor.post('/oauth/authorize', parameters({ client_id: 'unknown' }));
    expect([unknown.status, unknown.headers.has('location')]).toEqual([400, false]);
    const form = new URLSearchParams(parameters());
    form.append('scope', 'openid');
    const init = { method: 'POST', body: form, redirect: 'manual' } as const;
    const twice = locationOf(await fetch(`${portal.url}/oauth/authorize`, init));
    expect(twice.searchParams.get('error')).toBe('invalid_request');
  });

  // @shows AS-7.11, OIDC-3.1.2.1b
  test('is refused with a request_id, because it cannot also be an answer', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client));
    const both = await visitor.submit(page, { ...parameters(), decision: 'allow' });
    expect([both.status, both.headers.has('location')]).toEqual([400, false]);
    expect((await allowed(visitor, page)).searchParams.has('code')).toBe(true);
  });

  test('from a different site cannot fill a browser: the next visit removes the oldest', async () => {
    const visitor = portal.visitor();
    for (let count = 0; count < 12; count += 1) {
      const init = {
        method: 'POST',
        body: new URLSearchParams(parameters()),
        redirect: 'manual',
      } as const;
      const posted = await fetch(`${portal.url}/oauth/authorize`, init);
      const [cookie = ''] = posted.headers.getSetCookie();
      visitor.accept(cookie);
      clock.advance(1);
    }
    const posted = await visitor.get('/oauth/authorize?request_id=none');
    expect(isRedirect(posted)).toBe(true);
    expect(waitingIn(visitor).length).toBeLessThanOrEqual(8);
  });
});
