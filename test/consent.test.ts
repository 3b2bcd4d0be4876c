import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  GRACE,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

let portal: RunningPortal;
let client: TestClient;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
  client = await registerClient(portal);
});
afterAll(() => portal.close());

async function expectNotTaken(response: Response): Promise<void> {
  expect(response.status).toBe(400);
  expect(response.headers.has('location')).toBe(false);
}

/** The request id of a consent screen. */
async function requestIdOf(page: Response): Promise<string> {
  const html = await page.clone().text();
  return /name="request_id" value="([^"]+)"/.exec(html)?.[1] ?? '';
}

function ask(visitor: Visitor, changes: Record<string, string> = {}): Promise<Response> {
  return visitor.get(authorizationUrl(portal, client, changes));
}

describe('a consent request', () => {
  // @shows AS-4.13, AS-6.2, AS-8.3, RFC6749-4.1.1, RFC6749-10.10a, RFC9207-2a, RFC9207-2c, RFC9700-2.1e, RFC9700-2.1f
  // @shows RFC9700-4.4, OIDC-3.1.2.4, OIDC-3.1.2.5
  test('redirects with a code, state and iss when the person allows it', async () => {
    const visitor = await portal.signedIn(ADA);
    const answer = await visitor.submit(await ask(visitor), { decision: 'allow' });
    expect(answer.status).toBe(303);
    const location = locationOf(answer);
    expect(location.searchParams.get('code')).toMatch(/^[0-9a-f]{32}\.[\w-]{43}$/);
    expect(location.searchParams.get('state')).toBe('the-state');
    expect(location.searchParams.get('iss')).toBe(portal.url);
  });

  // @shows AS-8.5, RFC6749-4.1.2.1a
  test('redirects with access_denied and without a code when the person denies it', async () => {
    const visitor = await portal.signedIn(ADA);
    const location = locationOf(await visitor.submit(await ask(visitor), { decision: 'deny' }));
    expect(location.searchParams.get('error')).toBe('access_denied');
    expect(location.searchParams.get('state')).toBe('the-state');
    expect(location.searchParams.has('code')).toBe(false);
  });

  // @shows AS-8.1, AS-14.3, RFC6749-10.2, OIDC-3.1.2.1g, OIDC-3.1.2.4
  // @shows RFC10017-6.3.3.2
  test('is always shown again, even if the person allowed the same before', async () => {
    const visitor = await portal.signedIn(ADA);
    for (let time = 0; time < 2; time += 1) {
      const page = await ask(visitor);
      expect(page.status).toBe(200);
      expect(await page.clone().text()).toContain('value="allow"');
      const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
      const code = answer.searchParams.get('code') ?? '';
      expect((await exchangeCode(portal, client, code)).status).toBe(200);
    }
  });

  test('accepts no second answer, after allow and after deny', async () => {
    for (const [decision, other] of Object.entries({ allow: 'deny', deny: 'allow' })) {
      const visitor = await portal.signedIn(ADA);
      const page = await ask(visitor);
      await visitor.submit(page, { decision });
      await expectNotTaken(await visitor.submit(page, { decision: other }));
    }
  });

  // @shows AS-8.9
  test('once answered, shows the result only to the same person in the same browser', async () => {
    const said = { allow: 'You allowed it', deny: 'You denied it, and nothing was shared' };
    for (const [decision, text] of Object.entries(said)) {
      const visitor = await portal.signedIn(ADA);
      const page = await ask(visitor);
      const back = `/oauth/authorize?request_id=${await requestIdOf(page)}`;
      await visitor.submit(page, { decision });
      const other = decision === 'allow' ? 'deny' : 'allow';
      for (const again of [
        await visitor.submit(page, { decision: other }),
        await visitor.get(back),
      ]) {
        await expectNotTaken(again.clone());
        const html = await again.text();
        expect(html).toContain('You already answered this request');
        expect(html).toContain(text);
        expect(html).toContain('href="/oauth/applications"');
      }
      const elsewhere = await portal.signedIn(ADA);
      await signIn(visitor, await visitor.get('/login'), GRACE);
      for (const other of [await elsewhere.get(back), await visitor.get(back)]) {
        await expectNotTaken(other.clone());
        const html = await other.text();
        expect(html).toContain('This request can no longer be answered');
        expect(html).not.toContain('othing was shared');
      }
    }
  });

  // @shows AS-8.9
  test('accepts one of many simultaneous answers; all redirect, and one code is valid', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor);
    const form = {
      request_id: await requestIdOf(page),
      csrf_token: /name="csrf_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? '',
      decision: 'allow',
    };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => visitor.post('/oauth/authorize', form)),
    );
    const codes = answers.map((answer) => locationOf(answer).searchParams.get('code') ?? '');
    expect(new Set(codes).size).toBe(20);
    const statuses = [];
    for (const code of codes) statuses.push((await exchangeCode(portal, client, code)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  // @shows AS-6.2, AS-8.3, RFC6749-10.12, RFC9700-4.7
  test('is not answered by its id without a token, or with an invented token', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor);
    const request_id = await requestIdOf(page);
    await expectNotTaken(await visitor.post('/oauth/authorize', { request_id, decision: 'allow' }));
    const forged = { request_id, decision: 'allow', csrf_token: 'A'.repeat(43) };
    await expectNotTaken(await visitor.post('/oauth/authorize', forged));
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(303);
  });

  // @shows AS-8.3, RFC6749-10.12
  test('is not answered by the token of a different request', async () => {
    const visitor = await portal.signedIn(ADA);
    const [one, other] = [await ask(visitor), await ask(visitor)];
    await expectNotTaken(
      await visitor.submit(one, { decision: 'allow', request_id: await requestIdOf(other) }),
    );
  });

  test('refuses an unknown decision', async () => {
    const visitor = await portal.signedIn(ADA);
    await expectNotTaken(await visitor.submit(await ask(visitor), { decision: 'yes' }));
  });

  // @shows AS-8.2, AS-8.3
  test('is refused in a different browser, even if the same person is signed in', async () => {
    const [visitor, elsewhere] = [await portal.signedIn(ADA), await portal.signedIn(ADA)];
    const page = await ask(visitor);
    const requestId = await requestIdOf(page);
    await expectNotTaken(await elsewhere.get(`/oauth/authorize?request_id=${requestId}`));
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(303);
  });

  // @shows AS-8.2
  test('becomes invalid if a different person signs in before the answer', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor);
    const requestId = await requestIdOf(page);
    await signIn(visitor, await visitor.get('/login'), GRACE);
    await expectNotTaken(await visitor.submit(page, { decision: 'allow' }));
    await expectNotTaken(await visitor.get(`/oauth/authorize?request_id=${requestId}`));
  });

  // @shows AS-5.12
  test('stays invalid when the first person signs in again', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor);
    await signIn(visitor, await visitor.get('/login'), GRACE);
    await signIn(visitor, await visitor.get('/login'), ADA);
    await expectNotTaken(await visitor.submit(page, { decision: 'allow' }));
  });

  test('cannot be answered in a browser that is signed out', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor);
    await visitor.submit(await visitor.get('/'));
    await expectNotTaken(await visitor.submit(page, { decision: 'allow' }));
  });

  test('cannot be answered by a suspended person', async () => {
    const visitor = await portal.signedIn(GRACE);
    const page = await ask(visitor, { scope: 'notes:read' });
    await portal.suspend(GRACE);
    await expectNotTaken(await visitor.submit(page, { decision: 'allow' }));
    await portal.restore(GRACE);
  });

  // @shows AS-8.3
  test('can be open twice, and both can be answered in either order', async () => {
    const visitor = await portal.signedIn(ADA);
    const [first, second] = [
      await ask(visitor, { state: 'first' }),
      await ask(visitor, { state: 'second' }),
    ];
    const later = locationOf(await visitor.submit(second, { decision: 'allow' }));
    const earlier = locationOf(await visitor.submit(first, { decision: 'allow' }));
    expect([earlier, later].map((answer) => answer.searchParams.get('state'))).toEqual([
      'first',
      'second',
    ]);
  });

  test('of a suspended person does not affect the next person who signs in', async () => {
    const visitor = await portal.signedIn(ADA);
    await portal.suspend(ADA);
    const signInPage = await visitor.visit(authorizationUrl(portal, client));
    await portal.restore(ADA);
    const back = locationOf(await signIn(visitor, signInPage, GRACE));
    const page = await visitor.get(back.href);
    expect(await page.clone().text()).toContain('Grace Hopper');
    expect(
      locationOf(await visitor.submit(page, { decision: 'allow' })).searchParams.has('code'),
    ).toBe(true);
  });

  test('of a suspended person ends the session at the next use', async () => {
    const visitor = await portal.signedIn(ADA);
    await portal.suspend(ADA);
    const response = await visitor.get(authorizationUrl(portal, client));
    expect(response.headers.getSetCookie().join()).toMatch(/portico_session=; [^,]*Max-Age=0/);
    await portal.restore(ADA);
    expect(locationOf(await visitor.get(authorizationUrl(portal, client))).pathname).toBe('/login');
  });

  test('loads the account once when it is shown and once when it is answered', async () => {
    const visitor = await portal.signedIn(ADA);
    const loaded = vi.spyOn(portal.application.accounts, 'find');
    const page = await ask(visitor);
    expect(loaded).toHaveBeenCalledTimes(1);
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(303);
    expect(loaded).toHaveBeenCalledTimes(2);
    loaded.mockRestore();
  });

  // @shows AS-2.14
  test('can be answered only within consent_ttl', async () => {
    const visitor = await portal.signedIn(ADA);
    const [inTime, late] = [await ask(visitor), await ask(visitor)];
    clock.advance(599);
    expect((await visitor.submit(inTime, { decision: 'allow' })).status).toBe(303);
    clock.advance(2);
    await expectNotTaken(await visitor.submit(late, { decision: 'allow' }));
  });

  test('never redirects to a URI that is no longer registered', async () => {
    const own = await registerClient(portal);
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.visit(authorizationUrl(portal, own));
    await portal.application.database.execute(
      'UPDATE oauth_clients SET redirect_uris = \'["https://client.example/other"]\' WHERE client_id = ?',
      [own.id],
    );
    const again = `/oauth/authorize?request_id=${await requestIdOf(page)}`;
    await expectNotTaken(await visitor.get(again));
    for (const decision of ['allow', 'deny'])
      await expectNotTaken(await visitor.submit(page, { decision }));
  });
});

describe('"Not you?"', () => {
  // @shows AS-8.6
  test('signs out, invalidates the first request, and shows consent to the next person', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor, { scope: 'openid profile notes:read notes:write' });
    const login = await visitor.visit(
      (await visitor.submit(page, { decision: 'switch' })).headers.get('location') ?? '',
    );
    const back = await signIn(visitor, login, GRACE);
    const consent = await visitor.visit(back.headers.get('location') ?? '');
    const html = await consent.clone().text();
    expect(html).toContain('Grace Hopper');
    await expectNotTaken(await visitor.submit(page, { decision: 'allow' }));
    const code =
      locationOf(await visitor.submit(consent, { decision: 'allow' })).searchParams.get('code') ??
      '';
    const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    expect(tokens.scope).toBe('openid profile notes:read');
  });
});

describe('a grant contains only what the consent page showed', () => {
  // @shows AS-3.1, AS-8.7, RFC6749-3.3b, RFC6749-10.3b
  test('a scope without the permission of the person is neither shown nor granted', async () => {
    const visitor = await portal.signedIn(GRACE);
    const page = await ask(visitor);
    const html = await page.clone().text();
    expect(html).toContain('Read your notes');
    expect(html).not.toContain('Write notes for you');
    const code =
      locationOf(await visitor.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
    const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    expect(tokens.scope).toBe('openid profile email notes:read');
  });

  // @shows AS-8.7
  test('a permission gained after the page was shown is not granted', async () => {
    const visitor = await portal.signedIn(GRACE);
    const page = await ask(visitor);
    await portal.grant(GRACE, 'notes.edit');
    const code =
      locationOf(await visitor.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
    await portal.deny(GRACE, 'notes.edit');
    const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    expect(tokens.scope).toBe('openid profile email notes:read');
  });

  // @shows AS-8.7
  test('a permission gained while two tabs are open is granted in neither', async () => {
    const visitor = await portal.signedIn(GRACE);
    const first = await ask(visitor);
    await portal.grant(GRACE, 'notes.edit');
    const second = await visitor.get(`/oauth/authorize?request_id=${await requestIdOf(first)}`);
    await portal.deny(GRACE, 'notes.edit');
    expect(await second.text()).not.toContain('Write notes for you');
    await portal.grant(GRACE, 'notes.edit');
    const answer = locationOf(await visitor.submit(first, { decision: 'allow' }));
    await portal.deny(GRACE, 'notes.edit');
    const code = answer.searchParams.get('code') ?? '';
    const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    expect(tokens.scope).toBe('openid profile email notes:read');
  });

  // @shows AS-8.7
  test('a permission lost before the answer is not granted', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor, { scope: 'notes:read notes:write' });
    await portal.deny(ADA, 'notes.edit');
    const code =
      locationOf(await visitor.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
    await portal.grant(ADA, 'notes.edit');
    const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    expect(tokens.scope).toBe('notes:read');
  });
});
