// @engines sqlite: middleware before a route does not affect the store
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunningMount } from './support/mounts.ts';
import { checkedBy, CSRF_CHECKS } from './support/mounts/csrf.ts';
import {
  ADA,
  PASSWORD,
  REDIRECT_URI,
  VERIFIER,
  type TestClient,
  codeRequest,
} from './support/portal.ts';
import { createVisitor, locationOf, type Visitor } from './support/visitor.ts';

/** A header with the scheme, without a usable token. */
const UNUSABLE = [
  'Bearer garbage',
  'Bearer',
  'bearer  x y',
  'BEARER a, Bearer b',
  'DPoP garbage',
  'DPoP',
];

describe.each(Object.entries(CSRF_CHECKS))('CSRF middleware of Express with %s', (_, check) => {
  const { mount, written } = checkedBy(check);
  let running: RunningMount;
  let client: TestClient;
  let ada: Visitor;
  let accessToken: string;

  beforeAll(async () => {
    running = await mount.start();
    client = await running.register({
      name: 'Shop',
      redirectUris: [REDIRECT_URI],
      scopes: ['orders:read'],
    });
    ada = createVisitor(running.url);
    accessToken = await authorize();
  });
  afterAll(() => running.close());
  beforeEach(() => {
    (written as string[]).length = 0;
  });

  /**
   * Sends the requests from sign-in to the token through the check, because the endpoints come
   * before it.
   */
  async function authorize(): Promise<string> {
    const request = codeRequest(client.id, { scope: 'orders:read' });
    const login = await ada.visit(`/oauth/authorize?${request}`);
    const back = await ada.submit(login, { email: ADA, password: PASSWORD });
    const question = await ada.visit(locationOf(back).href);
    const callback = locationOf(await ada.submit(question, { decision: 'allow' }));
    const answer = await fetch(`${running.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: callback.searchParams.get('code') ?? '',
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  const write = (to: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${running.url}${to}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ note: 'one' }),
    });
  const cookie = () => ({ Cookie: ada.cookies() });

  test('accepts a write with a token, and a write with the CSRF token of a page', async () => {
    expect((await write('/api/orders', { Authorization: `Bearer ${accessToken}` })).status).toBe(
      200,
    );
    const { token } = (await (await ada.get('/profile')).json()) as { token: string };
    expect((await ada.post('/profile', { _csrf: token })).status).toBe(200);
    expect(written).toEqual(['a token of Ada Lovelace', 'the session of 1']);
  });

  test('refuses a session write without a CSRF token, with any other Authorization header', async () => {
    for (const headers of [
      {},
      { Authorization: 'Basic YTpi' },
      { Authorization: 'Bear x' },
      { Authorization: '' },
    ])
      for (const to of ['/profile', '/api/orders'])
        expect([to, headers, (await write(to, { ...cookie(), ...headers })).status]).toEqual([
          to,
          headers,
          403,
        ]);
    expect(written).toEqual([]);
  });

  // @shows API-5.3
  test('lets unusable tokens pass to Portico, which ignores the cookie and refuses the request', async () => {
    for (const authorization of [...UNUSABLE, `Bearer ${accessToken}x`])
      for (const to of ['/profile', '/api/orders']) {
        const { status } = await write(to, { ...cookie(), Authorization: authorization });
        expect([to, authorization, status]).toEqual([to, authorization, 401]);
      }
    // A valid token works only at the API. It does not create a session.
    const good = { ...cookie(), Authorization: `Bearer ${accessToken}` };
    expect((await write('/profile', good)).status).toBe(401);
    expect(written).toEqual([]);
    expect((await write('/api/orders', good)).status).toBe(200);
  });

  test('keeps Portico pages from using a session that is sent together with a token', async () => {
    for (const page of ['/oauth/applications', '/oauth/authorize']) {
      const answer = await fetch(`${running.url}${page}`, {
        redirect: 'manual',
        headers: { ...cookie(), Authorization: `Bearer ${accessToken}` },
      });
      expect(await answer.text()).not.toContain('Ada Lovelace');
      expect(answer.status).toBeLessThan(500);
    }
  });
});
