// @engines sqlite, needs chromium: pages in a browser are the same on every engine
import { createServer, type Server } from 'node:http';
import * as openid from 'openid-client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  GRACE,
  PASSWORD,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/**
 * A person signs in through pushed requests, in a real Chromium. Without one these tests are
 * skipped; in CI that is a failure.
 */

describe('a pushed request in Chromium', () => {
  let portal: RunningPortal;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let config: openid.Configuration;
  /** The page that receives the answers: it says whether there is a code. */
  let callback: string;
  let application: Server;

  beforeAll(async () => {
    browser = await launchChromium();
    portal = await startPortal({
      random: () => 0,
      config: { oauth_server: { pushed_authorization_requests: 'require' } },
    });
    const port = await freePort();
    callback = `http://localhost:${port}/callback`;
    application = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', callback);
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(`<h1>${searchParams.has('code') ? 'Signed in' : 'Not signed in'}</h1>`);
    });
    await new Promise<void>((resolve) => application.listen(port, '127.0.0.1', resolve));
    const client = await registerClient(portal, { name: 'Notebook', redirectUris: [callback] });
    config = await openid.discovery(
      new URL(portal.url),
      client.id,
      undefined,
      openid.ClientSecretBasic(client.secret),
      { execute: [openid.allowInsecureRequests] },
    );
  });
  afterAll(async () => {
    await browser.close();
    application.closeAllConnections();
    await new Promise((resolve) => application.close(resolve));
    await portal.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  async function pushed(): Promise<{ readonly url: string; readonly verifier: string }> {
    const verifier = openid.randomPKCECodeVerifier();
    const url = await openid.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: callback,
      scope: 'openid notes:read',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, verifier };
  }

  const arrive = (title: string, on = page) =>
    on.getByRole('heading', { name: title, exact: true }).waitFor();
  const question = (on = page) => arrive('Allow Notebook to use your Portal account?', on);

  async function signIn(email: string, on = page): Promise<void> {
    await on.getByLabel('Email address').fill(email);
    await on.getByLabel('Password').fill(PASSWORD);
    await on.getByRole('button', { name: 'Sign in' }).click();
  }

  // @shows AS-25.5, AS-25.6, RFC9126-4b
  test('gives one response after sign-in, back, reload and allow', async () => {
    const { url, verifier } = await pushed();
    await page.goto(url);
    await page.reload();
    await signIn(ADA);
    await question();
    await page.reload();
    await question();
    // Opens the link itself again.
    await page.goto(url);
    await question();
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive('Signed in');
    const tokens = await openid.authorizationCodeGrant(config, new URL(page.url()), {
      pkceCodeVerifier: verifier,
    });
    expect(tokens.scope).toBe('openid notes:read');
    await page.goBack();
    await page.reload();
    await arrive('You already answered this request');
    await page.goto(url);
    await arrive('You already answered this request');
  });

  // @shows AS-25.6
  test('cannot be opened in a second browser', async () => {
    const { url } = await pushed();
    await page.goto(url);
    await signIn(ADA);
    await question();
    const second = await browser.newContext({ javaScriptEnabled: false });
    try {
      const other = await second.newPage();
      await other.goto(url);
      await arrive('This link can no longer be used', other);
      await other.goto(`${portal.url}/login`);
      await signIn(GRACE, other);
      await other.goto(url);
      await arrive('This request can no longer be answered', other);
      expect(await other.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    } finally {
      await second.close();
    }
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive('Signed in');
  });

  // @shows AS-25.6
  test('shows the same consent request to a different person after "Not you?"', async () => {
    const { url } = await pushed();
    await page.goto(url);
    await signIn(GRACE);
    await question();
    await page.getByRole('button', { name: /not you/i }).click();
    await signIn(ADA);
    await question();
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive('Signed in');
    expect(new URL(page.url()).searchParams.has('code')).toBe(true);
  });
});
