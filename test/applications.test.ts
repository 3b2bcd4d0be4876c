import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  GRACE,
  obtainTokens,
  refresh,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

const PAGE = '/oauth/applications';
const clock = createClock();
let portal: RunningPortal;
let notebook: TestClient;
let ada: Visitor;

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
});
afterAll(() => portal.close());
beforeEach(async () => {
  notebook = await registerClient(portal, { name: `Notebook <${Math.random()}>` });
  ada = await portal.signedIn(ADA);
});

const textOf = async (response: Response) =>
  (await response.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const opens = async (token: string) => (await callApi(portal, '/api/whoami', token)).status === 200;

/** Presses the only button of an application. */
async function remove(visitor: Visitor, client: TestClient): Promise<Response> {
  const html = await (await visitor.get(PAGE)).text();
  const form = new RegExp(
    `name="client_id" value="${client.id}">\\s*<input[^>]*value="([^"]*)"`,
  ).exec(html);
  return visitor.post(PAGE, { client_id: client.id, csrf_token: form?.[1] ?? '' });
}

const day = (time: number) =>
  new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(time);

describe('the page of applications of a person', () => {
  // @shows AS-6.10, HOST-2.3
  test('lists the applications with access, since when and for what', async () => {
    await obtainTokens(portal, notebook, ADA, { scope: 'openid notes:read' });
    const page = await ada.get(PAGE);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const html = await page.clone().text();
    expect(html).toContain('Notebook &lt;');
    const text = await textOf(page);
    expect(text).toContain(`Since ${day(clock.now())}`);
    expect(text).toContain('Read your notes');
    expect(text).toContain('Confirm who you are');
    expect(text).not.toContain('Write notes for you');
  });

  // @shows AS-6.10, HOST-2.3, RFC9700-2.1f
  test('ends all access of an application with one button, only for this person', async () => {
    const first = await obtainTokens(portal, notebook, ADA, { scope: 'openid notes:read' });
    const second = await obtainTokens(portal, notebook, ADA, { scope: 'notes:write' });
    const graces = await obtainTokens(portal, notebook, GRACE);
    const other = await registerClient(portal, { name: 'Another' });
    const others = await obtainTokens(portal, other, ADA);
    expect(await textOf(await ada.get(PAGE))).toContain('Write notes for you');

    const answer = await remove(ada, notebook);
    expect([answer.status, locationOf(answer).pathname]).toEqual([303, PAGE]);
    expect(await opens(first.access_token)).toBe(false);
    expect(await opens(second.access_token)).toBe(false);
    expect((await refresh(portal, notebook, first.refresh_token)).status).toBe(400);
    expect(await opens(graces.access_token)).toBe(true);
    expect(await opens(others.access_token)).toBe(true);
    const after = await (await ada.get(locationOf(answer).href)).text();
    expect(after).toContain('can no longer act for you');
    expect(after).not.toContain(notebook.id);
    expect(after).toContain(other.id);
  });

  test('does not show applications whose access has ended', async () => {
    const { refresh_token: token } = await obtainTokens(portal, notebook, ADA);
    expect(await (await ada.get(PAGE)).text()).toContain(notebook.id);
    await refresh(portal, notebook, token);
    await refresh(portal, notebook, token);
    expect(await (await ada.get(PAGE)).text()).not.toContain(notebook.id);
    await obtainTokens(portal, notebook, ADA);
    await portal.server.clients.revoke(notebook.id);
    expect(await (await ada.get(PAGE)).text()).not.toContain(notebook.id);
  });

  test('sends a signed-out person to sign-in, and back', async () => {
    const visitor = portal.visitor();
    const signInPage = await visitor.visit(PAGE);
    const answer = await signIn(visitor, signInPage, ADA);
    expect(locationOf(answer).pathname).toBe(PAGE);
  });

  // @shows AS-6.10
  test('ends nothing without its own token, with that of a different person, or elsewhere', async () => {
    const tokens = await obtainTokens(portal, notebook, ADA);
    const page = await ada.get(PAGE);
    const grace = await portal.signedIn(GRACE);
    const elsewhere = await portal.signedIn(ADA);
    for (const attempt of [
      ada.post(PAGE, { client_id: notebook.id }),
      ada.submit(page, { csrf_token: 'made-up' }),
      elsewhere.submit(page),
      grace.submit(page),
      portal.visitor().submit(page),
    ]) {
      expect(locationOrStatus(await attempt)).not.toBe(`${PAGE}?removed=1`);
    }
    expect(await opens(tokens.access_token)).toBe(true);
  });
});

describe('the page of applications, for each application,', () => {
  // @shows AS-40.5
  test('shows when it was allowed, when tokens were last issued, and where responses go', async () => {
    const { refresh_token: token } = await obtainTokens(portal, notebook, ADA, {
      scope: 'notes:read',
    });
    const begun = clock.now();
    const entry = async () => {
      const html = await (await ada.get(PAGE)).text();
      const article = html.split('<article').find((each) => each.includes(notebook.id)) ?? '';
      return article.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    };
    expect(await entry()).toContain(
      `Since ${day(begun)} Last active on ${day(begun)} Sends you back to client.example What it can do (1) Read your notes`,
    );
    clock.advance(3 * 86_400);
    expect(await entry()).toContain(`Last active on ${day(begun)}`);
    await refresh(portal, notebook, token);
    expect(await entry()).toContain(`Since ${day(begun)} Last active on ${day(clock.now())}`);
  });

  // @shows AS-40.5
  test('does not show when it was last active if it never had a token', async () => {
    const page = await ada.get(authorizationUrl(portal, notebook));
    await ada.submit(page, { decision: 'allow' });
    const html = await (await ada.get(PAGE)).text();
    const article = html.split('<article').find((each) => each.includes(notebook.id)) ?? '';
    expect(article).toContain('Since ');
    expect(article).not.toContain('Last active');
  });
});

describe('removing all applications', () => {
  // @shows AS-40.5
  test('asks for confirmation, ends all that this person has allowed, and is audited', async () => {
    const other = await registerClient(portal, { name: 'Another' });
    const own = [await obtainTokens(portal, notebook, ADA), await obtainTokens(portal, other, ADA)];
    const graces = await obtainTokens(portal, notebook, GRACE);
    expect(await (await ada.get(PAGE)).text()).toContain(`href="${PAGE}?remove=all"`);
    const question = await ada.get(`${PAGE}?remove=all`);
    expect(await question.clone().text()).toContain('Remove access for all applications?');
    expect(await Promise.all(own.map(({ access_token: token }) => opens(token)))).toEqual([
      true,
      true,
    ]);

    const events: AuditEvent[] = [];
    portal.application.events.on(AUDIT, (event) => void events.push(event));
    const answer = await ada.submit(question);
    expect(locationOrStatus(answer)).toBe(`${PAGE}?removed=all`);
    expect(await Promise.all(own.map(({ access_token: token }) => opens(token)))).toEqual([
      false,
      false,
    ]);
    expect(await opens(graces.access_token)).toBe(true);
    const ended = events.filter(({ type }) => type === 'family_revoked');
    expect(ended.length).toBeGreaterThanOrEqual(2);
    expect(ended).toEqual(
      ended.map(() => expect.objectContaining({ reason: 'person' }) as unknown),
    );
    const after = await textOf(await ada.get(`${PAGE}?removed=all`));
    expect(after).toContain('None of these applications can act for you any more. Signed in as');
    expect(after).toContain('No applications have access.');
    // The second time, there is nothing to end, so the page shows no question.
    expect(await textOf(await ada.get(`${PAGE}?remove=all`))).not.toContain(
      'Remove the access of all',
    );
  });

  // @shows AS-40.5
  test('needs its own token, and cannot remove a single application', async () => {
    const tokens = await obtainTokens(portal, notebook, ADA);
    await obtainTokens(portal, notebook, GRACE);
    const tokenIn = async (visitor: Visitor, page: string) =>
      /name="csrf_token" value="([^"]*)"/.exec(await (await visitor.get(page)).text())?.[1] ?? '';
    const grace = await portal.signedIn(GRACE);
    const elsewhere = await portal.signedIn(ADA);
    const all = `${PAGE}?remove=all`;
    const own = await tokenIn(ada, all);
    for (const form of [
      { remove: 'all' },
      { remove: 'all', csrf_token: await tokenIn(ada, PAGE) },
      { remove: 'all', csrf_token: await tokenIn(grace, all) },
      { remove: 'all', csrf_token: await tokenIn(elsewhere, all) },
      { client_id: notebook.id, csrf_token: own },
      { client_id: notebook.id, remove: 'all', csrf_token: own },
      { remove: 'everything', csrf_token: own },
    ]) {
      expect((await ada.post(PAGE, form)).status).toBe(400);
    }
    expect(await opens(tokens.access_token)).toBe(true);
    expect(locationOrStatus(await ada.post(PAGE, { remove: 'all', csrf_token: own }))).toBe(
      `${PAGE}?removed=all`,
    );
    expect(await opens(tokens.access_token)).toBe(false);
  });
});

function locationOrStatus(response: Response): string {
  return response.headers.get('location') ?? String(response.status);
}
