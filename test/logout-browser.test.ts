// @engines sqlite, needs chromium: the database makes no difference
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  PASSWORD,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** The page on which people sign out for an application, in a real Chromium without scripts. */

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const tls = (file: string) => readFileSync(`${import.meta.dirname}/fixtures/tls/${file}`);
const TLS = { cert: tls('documents-certificate.pem'), key: tls('documents-key.pem') };

let portal: RunningPortal;
let client: TestClient;
let browser: Browser;
let elsewhere: Server;
/** A page of another site, to which people return. */
let back = '';

beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html').end(formFrom(request.url ?? '/'));
  });
  await once(elsewhere.listen(0, '127.0.0.1'), 'listening');
  back = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/bye`;
  browser = await launchChromium();
  portal = await startPortal({ config: { oauth_server: { logout: true, languages: true } } });
  client = await registerClient(portal, {
    name: 'Notebook',
    metadata: { post_logout_redirect_uris: [back] },
  });
});
afterAll(async () => {
  elsewhere.close();
  await browser.close();
  await portal.close();
});

/** A page with a form that asks the portal to sign out; `/bye` is an empty page. */
function formFrom(path: string): string {
  const fields = { client_id: client.id, post_logout_redirect_uri: back };
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  );
  return path === '/form'
    ? `<form method="post" action="${portal.url}/oauth/logout">${inputs.join('')}<button>Go</button></form>`
    : 'Bye';
}

async function signedIn(
  locale: string,
  scripts: boolean,
  more: BrowserContextOptions = {},
): Promise<Page> {
  const viewport = { width: 320, height: 568 };
  const options = { viewport, locale, bypassCSP: true, javaScriptEnabled: scripts, ...more };
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(`${portal.url}/login`);
  await page.locator('#identifier').fill(ADA);
  await page.locator('#password').fill(PASSWORD);
  await page.locator('button[type=submit]').click();
  await page.waitForURL(`${portal.url}/`);
  return page;
}

async function violationsOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: readonly { id: string }[];
  };
  return violations.map(({ id }) => id);
}

// @shows AS-51.2
test.each([
  ['en', 'Sign out of Portal?', 'You are signed out'],
  ['de', 'Von Portal abmelden?', 'Sie sind abgemeldet'],
  ['es', '¿Cerrar sesión en Portal?', 'Ha cerrado sesión'],
  ['fr', 'Se déconnecter de Portal ?', 'Vous êtes déconnecté'],
  ['pt', 'Sair de Portal?', 'Você saiu'],
  ['ja', 'Portalからログアウトしますか？', 'ログアウトしました'],
  ['zh-CN', '要退出 Portal 吗？', '您已退出登录'],
  ['ar', 'هل تريد تسجيل الخروج من Portal؟', 'تم تسجيل خروجك'],
])('the sign-out page in %s fits a phone and passes axe', async (locale, title, done) => {
  const page = await signedIn(locale, true);
  try {
    await page.goto(`${portal.url}/oauth/logout?client_id=${client.id}`);
    const heading = (await page.locator('h1').textContent()) ?? '';
    expect(heading.replaceAll(/[\u2066-\u2069]/g, '').trim()).toBe(title);
    expect(await page.locator('body').textContent()).toContain('Notebook');
    expect(await violationsOn(page)).toEqual([]);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(320);
    await page.locator('[value=logout]').click();
    await page.waitForURL(`${portal.url}/oauth/logout**`);
    expect(await page.locator('h1').textContent()).toContain(done);
    expect(await violationsOn(page)).toEqual([]);
    await page.goto(`${portal.url}/oauth/applications`);
    expect(page.url()).toContain('/login');
  } finally {
    await page.context().close();
  }
});

// @shows AS-51.1, AS-51.2
test('a cross-site form leads to the sign-out page, and the person returns after confirming', async () => {
  const page = await signedIn('en', false);
  try {
    await page.goto(`${new URL(back).origin}/form`);
    await page.locator('button').click();
    await page.locator('[value=stay]').waitFor();
    await page.locator('[value=logout]').click();
    await page.waitForURL(back);
    expect(await page.locator('body').textContent()).toBe('Bye');
  } finally {
    await page.context().close();
  }
});

// @shows AS-51.7
test.each(['com.example.notebook:/bye', 'http://127.0.0.1/bye'])(
  'after confirming, the browser follows the redirect of an https page of the client to %s',
  async (onwards) => {
    const relay = createTlsServer(TLS, (_, response) => {
      response.writeHead(302, { Location: onwards }).end();
    });
    await once(relay.listen(0, 'localhost'), 'listening');
    const uri = `https://localhost:${(relay.address() as AddressInfo).port}/bye`;
    const { id } = await registerClient(portal, { metadata: { post_logout_redirect_uris: [uri] } });
    const page = await signedIn('en', false, { bypassCSP: false, ignoreHTTPSErrors: true });
    try {
      const query = new URLSearchParams({ client_id: id, post_logout_redirect_uri: uri });
      await page.goto(`${portal.url}/oauth/logout?${query}`);
      const followed = page.waitForRequest((request) => request.url() === onwards);
      await page.locator('[value=logout]').click();
      expect((await followed).isNavigationRequest()).toBe(true);
    } finally {
      await page.context().close();
      relay.close();
    }
  },
);
