// @engines sqlite, needs chromium: pages in a browser are the same on every engine
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PAGES, startAdministered } from './support/administration.ts';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  obtainTokens,
  PASSWORD,
  registerClient,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';

/** Without a Chromium these tests are skipped; under CI test/browser.test.ts fails then. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Color schemes and widths; 640 equals 1280 at a zoom of 200 %. */
const LOOKS = [
  ['light', 320],
  ['dark', 1280],
  ['light', 640],
  ['dark', 320],
] as const;

/** Twenty-five, including the built-in ones and the portal's own. */
const MANY_SCOPES = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [
    `team-${index}:read`,
    { label: `Read what team ${index} writes`, permission: 'notes:read' },
  ]),
);
/** A list, a list with filters, the details of one item, and a question. */
const OF_EVERY_KIND =
  /\/(?:clients|clients\?ask=register|access|access\?q=ada|client\?id=[0-9a-f]+|person\?.*ask=.*)$/;
const HOSTILE = ['<script>alert(1)</script>', 'دفتر الملاحظات', 'x'.repeat(100)];

describe('the pages of an administrator in a real Chromium', () => {
  let portal: RunningPortal;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let client: TestClient;

  beforeAll(async () => {
    browser = await launchChromium();
    ({ portal } = await startAdministered({
      random: () => 0,
      config: {
        oauth_server: {
          scopes: MANY_SCOPES,
          registration: 'initial_access_token',
          audit: { keep: true },
          client_id_metadata_documents: true,
        },
      },
    }));
    for (const name of HOSTILE) {
      const named = await registerClient(portal, { name, scopes: Object.keys(MANY_SCOPES) });
      await obtainTokens(portal, named, ADA, { scope: Object.keys(MANY_SCOPES).join(' ') });
    }
    await portal.server.initialAccessTokens.create({ note: 'For the shop' });
  });
  afterAll(async () => {
    await browser.close();
    await portal.close();
  });
  beforeEach(async () => {
    client = await registerClient(portal, { name: 'Notebook' });
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const at = (path: string) => `${portal.url}${PAGES}${path}`;
  const of = (id: string, ask = '') => at(`/client?id=${id}${ask === '' ? '' : `&ask=${ask}`}`);

  async function open(on: Page, url: string): Promise<void> {
    await on.goto(url);
    await on.getByLabel('Email address').fill(ADA);
    await on.getByLabel('Password').fill(PASSWORD);
    await on.getByRole('button', { name: 'Sign in' }).click();
    await on.waitForURL(url);
  }

  // @shows AS-33.2, AS-33.5
  test('create a new secret once, and reloading the page creates no other', async () => {
    await open(page, of(client.id));
    await page.getByRole('link', { name: 'Give it a new secret' }).click();
    await page.getByRole('radio', { name: 'for one week' }).check();
    await page.getByRole('button', { name: 'Create a new secret' }).click();
    await page.getByRole('heading', { name: 'A new secret' }).waitFor();
    const secret = await page.locator('.secret').innerText();
    await page.reload();
    await page.getByRole('heading', { name: 'Request refused' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('link', { name: 'Open the page again' }).click();
    await page.getByText('is accepted until').waitFor();
  });

  // @shows AS-33.6
  test('let a person revoke an application with the keyboard only', async () => {
    await open(page, of(client.id, 'revoke'));
    const focused = page.locator(':focus');
    await page.keyboard.press('Tab');
    expect(await focused.innerText()).toBe('Skip to the page');
    await page.keyboard.press('Enter');
    const order: string[] = [];
    for (let index = 0; index < 2; index += 1) {
      await page.keyboard.press('Tab');
      order.push(await focused.innerText());
    }
    expect(order).toEqual(['Revoke it permanently', 'Cancel']);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'The application is revoked' }).waitFor();
    expect((await portal.server.clients.find(client.id))?.revokedAt).not.toBeNull();
  });

  // @shows AS-33.3, AS-33.6
  test('cannot be framed by a different site, and refuse forms from it', async () => {
    await open(page, of(client.id, 'revoke'));
    const fields = await page.locator('form[method=post] input').all();
    const copied = await Promise.all(
      fields.map((field) => field.evaluate((input) => input.outerHTML)),
    );
    const site = createServer((_, response) => {
      response
        .setHeader('Content-Type', 'text/html')
        .end(
          `<iframe src="${of(client.id)}"></iframe><form method="post" action="${of(client.id)}">${copied.join('')}<button>Win</button></form>`,
        );
    });
    const port = await freePort();
    await new Promise<void>((resolve) => site.listen(port, '127.0.0.1', resolve));
    try {
      // An IP address is a different site than localhost. Another port of localhost is a different
      // origin of the same site.
      for (const host of ['127.0.0.1', 'localhost']) {
        await page.goto(`http://${host}:${port}/`);
        expect(await page.frameLocator('iframe').getByRole('heading').count()).toBe(0);
        await page.getByRole('button', { name: 'Win' }).click();
        await page.getByRole('heading', { name: /Request refused|Sign in/ }).waitFor();
      }
    } finally {
      site.closeAllConnections();
      site.close();
    }
    expect((await portal.server.clients.find(client.id))?.revokedAt).toBeNull();
  });

  // @shows AS-33.6
  test('pass axe and never scroll sideways, in light and dark, from 320 pixels on', async () => {
    await portal.server.clients.rotateSecret(client.id);
    const { items } = await portal.server.access.list({}, { limit: 1 });
    const [{ provider, id } = { provider: '', id: '' }] = items.map(({ person }) => person);
    const person = `/person?${new URLSearchParams({ provider, id })}`;
    const paths = [
      '',
      '/clients',
      '/clients?ask=register',
      '/access',
      '/access?q=ada',
      '/rotations',
      '/keys',
      '/keys?ask=rotate-now',
      '/registration',
      '/audit',
      '/doctor',
      person,
    ];
    const asks = ['', 'update', 'rotate-secret', 'revoke'];
    const urls = [
      ...paths.map(at),
      at(`${person}&ask=erase`),
      ...asks.map((ask) => of(client.id, ask)),
      of('unknown'),
    ];
    for (const [colorScheme, width] of LOOKS.slice(0, SCALE.administrationLooks)) {
      const own = await browser.newContext({
        colorScheme,
        viewport: { width, height: 800 },
        bypassCSP: true,
      });
      const look = await own.newPage();
      await open(look, at(''));
      const check = async (name: string, isAlike = false) => {
        const overflow = await look.evaluate(
          () => document.documentElement.scrollWidth > window.innerWidth,
        );
        expect(overflow, `${name} scrolls sideways at ${width} pixels`).toBe(false);
        // Pages made of the same parts are checked in the long form.
        if (isAlike && SCALE.administrationLooks === 1) return;
        await look.evaluate(axe);
        const violations = await look.evaluate(async () => {
          const { axe } = globalThis as unknown as {
            axe: { run(): Promise<{ violations: { id: string }[] }> };
          };
          return (await axe.run()).violations.map(({ id }) => id);
        });
        expect(violations, `${name}, ${colorScheme}, ${width} pixels`).toEqual([]);
      };
      for (const url of urls) {
        await look.goto(url);
        await check(url, !OF_EVERY_KIND.test(url));
      }
      await look.goto(of(client.id, 'update'));
      await look.getByLabel('Redirect URIs').fill('javascript:alert(1)');
      await look.getByRole('button', { name: 'Save' }).click();
      await look.getByRole('alert').waitFor();
      await check('a refused change');
      await look.goto(of(client.id, 'rotate-secret'));
      await look.getByRole('button', { name: 'Create a new secret' }).click();
      await look.getByRole('heading', { name: 'A new secret' }).waitFor();
      await check('a new secret');
      await own.close();
    }
  });
});
