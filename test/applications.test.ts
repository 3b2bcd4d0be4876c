import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
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
let portal: RunningPortal;
let notebook: TestClient;
let ada: Visitor;

beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.close());
beforeEach(async () => {
  notebook = await registerClient(portal, { name: `Notebook <${Math.random()}>` });
  ada = await portal.signedIn(ADA);
});

const textOf = async (response: Response) =>
  (await response.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const opens = async (token: string) => (await callApi(portal, '/api/whoami', token)).status === 200;

/** Presses the one button of an application. */
async function remove(visitor: Visitor, client: TestClient): Promise<Response> {
  const html = await (await visitor.get(PAGE)).text();
  const form = new RegExp(`name="client_id" value="${client.id}">\\s*<input[^>]*value="([^"]*)"`).exec(html);
  return visitor.post(PAGE, { client_id: client.id, csrf_token: form?.[1] ?? '' });
}

describe("a person's own page of applications", () => {
  // @shows AS-6.10, HOST-2.3
  test('says which applications hold access, since when and for what', async () => {
    await obtainTokens(portal, notebook, ADA, { scope: 'openid notes:read' });
    const page = await ada.get(PAGE);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const html = await page.clone().text();
    expect(html).toContain('Notebook &lt;');
    const text = await textOf(page);
    const today = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format();
    expect(text).toContain(`Since ${today}`);
    expect(text).toContain('Read your notes');
    expect(text).toContain('Confirm who you are');
    expect(text).not.toContain('Write notes for you');
  });

  // @shows AS-6.10, HOST-2.3, RFC9700-2.1f
  test('one button takes all of it back, from that moment, and from nobody else', async () => {
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

  test('shows nothing of applications that hold nothing any more', async () => {
    const { refresh_token: token } = await obtainTokens(portal, notebook, ADA);
    expect(await (await ada.get(PAGE)).text()).toContain(notebook.id);
    await refresh(portal, notebook, token);
    await refresh(portal, notebook, token);
    expect(await (await ada.get(PAGE)).text()).not.toContain(notebook.id);
    await obtainTokens(portal, notebook, ADA);
    await portal.server.clients.revoke(notebook.id);
    expect(await (await ada.get(PAGE)).text()).not.toContain(notebook.id);
  });

  test('leads whoever is not signed in to sign in, and back', async () => {
    const visitor = portal.visitor();
    const signInPage = await visitor.visit(PAGE);
    const answer = await signIn(visitor, signInPage, ADA);
    expect(locationOf(answer).pathname).toBe(PAGE);
  });

  // @shows AS-6.10
  test("takes nothing back without its own token, with another person's, or from another browser", async () => {
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

function locationOrStatus(response: Response): string {
  return response.headers.get('location') ?? String(response.status);
}
