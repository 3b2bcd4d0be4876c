// @engines sqlite, needs chromium: pages in a browser are the same on every engine
import { once } from 'node:events';
import type { Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as openid from 'openid-client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startApplication, type Application } from '@portico/kit';
import { authorizationServerOf, setUpServer } from 'portico';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTokens } from '../examples/jwt/jwt.ts';
import { definePortico } from '../examples/jwt/portico.ts';
import { openUsers, type Users } from '../examples/jwt/users.ts';
import { createWeb } from '../examples/jwt/web.ts';
import { launchChromium } from './support/chromium.ts';
import { CHEAP, hashingWith } from './support/hashers.ts';
import { createDatabase } from './support/database.ts';
import { ADA, GRACE, PASSWORD, REDIRECT_URI } from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/**
 * A browser does not send its storage with a navigation. So the pages need a browser that runs
 * their scripts.
 */
describe('an application that signs in with a JWT in localStorage', () => {
  let storage: string;
  let users: Users;
  let application: Application;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let listening: Server;
  let url: string;
  let config: openid.Configuration;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    storage = await mkdtemp(path.join(tmpdir(), 'portico-jwt-'));
    users = openUsers(path.join(storage, 'users.sqlite'));
    database = await createDatabase(storage);
    const port = await freePort();
    url = `http://localhost:${port}`;
    const tokens = createTokens('a secret of the tests, long enough for HS256');
    const definition = definePortico(
      () => users,
      () => tokens,
    );
    const env = {
      APP_ENV: 'dev',
      PORT: String(port),
      STORAGE_DIR: storage,
      DATABASE_URL: database.url,
    };
    application = await startApplication(hashingWith(CHEAP, definition), { env });
    await application.migrate();
    const server = authorizationServerOf(application);
    await setUpServer(application, server);
    listening = createWeb(users, tokens, application).listen(port, '127.0.0.1');
    await once(listening, 'listening');
    const { client, secret } = await server.clients.create({
      name: 'Shop assistant',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid', 'profile', 'orders:read'],
    });
    config = await openid.discovery(
      new URL(url),
      client.id,
      undefined,
      openid.ClientSecretBasic(secret ?? ''),
      { execute: [openid.allowInsecureRequests] },
    );
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    listening.closeAllConnections();
    listening.close();
    await application.close();
    users.close();
    await database.drop();
    await rm(storage, { recursive: true, force: true });
  });
  beforeEach(async () => {
    context = await browser.newContext();
    await context.route(`${new URL(REDIRECT_URI).origin}/**`, (route) =>
      route.fulfill({ body: 'back' }),
    );
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const verifier = openid.randomPKCECodeVerifier();
  async function authorize(): Promise<void> {
    const asked = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid profile orders:read',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    await page.goto(asked.href);
  }

  async function signIn(email: string): Promise<void> {
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', PASSWORD);
    await page.click('form button');
    await page.waitForURL(/\/oauth\/authorize\?request_id=/);
  }

  async function allow(): Promise<URL> {
    await page.click('button[value=allow]');
    await page.waitForURL(`${REDIRECT_URI}?**`);
    return new URL(page.url());
  }

  const shown = () => page.textContent('main');

  test('signs in on a page, shows the consent page to that person, and its API accepts the token', async () => {
    await authorize();
    expect(new URL(page.url()).pathname).toBe('/login');
    await signIn(ADA);
    expect(await shown()).toContain('Signed in as Ada Lovelace');
    const tokens = await openid.authorizationCodeGrant(config, await allow(), {
      pkceCodeVerifier: verifier,
    });
    const orders = () =>
      fetch(`${url}/orders`, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
    expect(await (await orders()).json()).toEqual({ orders: [], of: 'Ada Lovelace' });
    users.setSuspended(users.byEmail(ADA)?.id ?? 0, true);
    expect((await orders()).status).toBe(401);
    users.setSuspended(users.byEmail(ADA)?.id ?? 0, false);
  });

  test('can accept its own JWT and the token of Portico, with scope and permission, on one route', async () => {
    await authorize();
    await signIn(ADA);
    const { access_token: issued } = await openid.authorizationCodeGrant(config, await allow(), {
      pkceCodeVerifier: verifier,
    });
    await page.goto(`${url}/`);
    const own = String(await page.evaluate("localStorage.getItem('jwt')"));
    const status = async (route: string, bearer: string) =>
      (await fetch(`${url}${route}`, { headers: { Authorization: `Bearer ${bearer}` } })).status;
    expect([await status('/api/orders', own), await status('/api/orders', issued)]).toEqual([
      200, 200,
    ]);
    expect([await status('/api/me', issued), await status('/orders', own)]).toEqual([401, 401]);
    expect([await status('/api/orders', 'x'), (await fetch(`${url}/api/orders`)).status]).toEqual([
      401, 401,
    ]);
    const ada = users.byEmail(ADA);
    users.setPermissions(ada?.id ?? 0, 'mcp:tools');
    expect(await status('/api/orders', issued)).toBe(403);
    users.setPermissions(ada?.id ?? 0, ada?.permissions ?? '');
    const { client, secret } = await authorizationServerOf(application).clients.create({
      name: 'Night job',
      redirectUris: [],
      scopes: ['orders:read'],
      grants: ['client_credentials'],
    });
    const asked = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client.id}:${secret ?? ''}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: withoutPerson } = (await asked.json()) as {
      readonly access_token: string;
    };
    expect([
      await status('/orders', withoutPerson),
      await status('/api/orders', withoutPerson),
    ]).toEqual([200, 403]);
  });

  test('continues as the person of the stored JWT, after that person confirms', async () => {
    await authorize();
    await signIn(ADA);
    await context.clearCookies({ name: 'signed_in' });
    await authorize();
    await page.click('text=Continue as Ada Lovelace');
    await page.waitForURL(/request_id=/);
    expect((await allow()).searchParams.has('code')).toBe(true);
  });

  test('"Not you?" removes the JWT and the cookie, and shows consent to the next person', async () => {
    await authorize();
    await signIn(ADA);
    await page.click('button[value=switch]');
    await page.waitForURL(/\/logout\?return_to=/);
    await page.click('text=Sign out');
    await page.waitForURL(/\/login\?return_to=/);
    expect(await page.evaluate("localStorage.getItem('jwt')")).toBeNull();
    await signIn(GRACE);
    expect(await shown()).toContain('Signed in as Grace Hopper');
    expect((await allow()).searchParams.has('code')).toBe(true);
  });

  test('cannot be signed out by a link or form of another site, and its pages cannot be framed', async () => {
    await authorize();
    await signIn(ADA);
    await page.goto(`${url}/logout?return_to=/`);
    expect(await page.evaluate("localStorage.getItem('jwt')")).not.toBeNull();
    await context.route('https://evil.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="${url}/logout"><button>A prize</button></form>`,
      }),
    );
    await page.goto('https://evil.example/');
    const [answer] = await Promise.all([
      page.waitForResponse(`${url}/logout`),
      page.click('button'),
    ]);
    expect(answer.status()).toBe(403);
    for (const at of ['/login', '/logout'])
      expect((await fetch(`${url}${at}`)).headers.get('x-frame-options')).toBe('DENY');
    await authorize();
    expect(await shown()).toContain('Signed in as Ada Lovelace');
  });

  test('has a cookie only for the /oauth pages, not for the API, and a token is not a cookie', async () => {
    await authorize();
    await signIn(ADA);
    const cookies = await context.cookies(`${url}/oauth/authorize`);
    const cookie = cookies.find(({ name }) => name === 'signed_in');
    expect(cookie).toMatchObject({ path: '/oauth', httpOnly: true, sameSite: 'Lax' });
    const me = (bearer: string) =>
      fetch(`${url}/api/me`, { headers: { Authorization: `Bearer ${bearer}` } });
    const jwt = String(await page.evaluate("localStorage.getItem('jwt')"));
    expect([(await me(jwt)).status, (await me(cookie?.value ?? '')).status]).toEqual([200, 401]);
    const applications = (value: string) =>
      fetch(`${url}/oauth/applications`, {
        headers: { Cookie: `signed_in=${value}` },
        redirect: 'manual',
      });
    expect((await applications(cookie?.value ?? '')).status).toBe(200);
    expect((await applications(jwt)).status).toBe(302);
    const unsigned = await fetch(`${url}/login`, { method: 'POST' });
    expect([unsigned.status, unsigned.headers.getSetCookie()]).toEqual([401, []]);
  });
});
