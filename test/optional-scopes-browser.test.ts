// @engines sqlite, needs chromium: pages are the same on every engine
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  PASSWORD,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** The consent screen on which a person chooses scopes. */

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let portal: RunningPortal;
let client: TestClient;
let browser: Browser;

beforeAll(async () => {
  portal = await startPortal({
    config: {
      oauth_server: {
        languages: true,
        scopes: {
          'notes:archive': {
            label: 'Archive your notes after you have not opened them for some time',
            permission: 'notes.edit',
            description: 'You find them in the archive.',
          },
        },
        optional_scopes: { leave_out: ['email', 'notes:archive'], add: ['notes:write'] },
      },
    },
  });
  client = await registerClient(portal, {
    scopes: ['email', 'notes:read', 'notes:write', 'notes:archive'],
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await portal.close();
});

async function open(locale: string, javaScriptEnabled: boolean): Promise<Page> {
  const viewport = { width: 320, height: 568 };
  const context = await browser.newContext({
    viewport,
    locale,
    javaScriptEnabled,
    bypassCSP: javaScriptEnabled,
  });
  const page = await context.newPage();
  await page.goto(`${portal.url}/login`);
  await page.fill('[name=identifier]', ADA);
  await page.fill('[name=password]', PASSWORD);
  await page.click('button[type=submit]');
  await page.goto(authorizationUrl(portal, client, { scope: 'email notes:read notes:archive' }));
  return page;
}

// @shows AS-8.23, AS-8.24
test('the checkboxes for optional scopes work by keyboard and without JavaScript', async () => {
  const page = await open('en', false);
  const focused = () => page.locator(':focus');
  const boxes: string[] = [];
  for (let step = 0; step < 20 && boxes.length < 3; step += 1) {
    await page.keyboard.press('Tab');
    if ((await focused().getAttribute('type')) !== 'checkbox') continue;
    boxes.push((await focused().getAttribute('name')) ?? '');
    if (boxes.at(-1) !== 'scope.notes:archive') await page.keyboard.press('Space');
  }
  expect(boxes).toEqual(['scope.email', 'scope.notes:archive', 'scope.notes:write']);
  let answer = '';
  await page.route('https://client.example/**', async (route) => {
    answer = route.request().url();
    await route.fulfill({ body: 'done' });
  });
  await page.getByRole('button', { name: 'Allow', exact: true }).press('Enter');
  await page.waitForURL('https://client.example/**');
  const exchanged = await exchangeCode(
    portal,
    client,
    new URL(answer).searchParams.get('code') ?? '',
  );
  const { scope } = (await exchanged.json()) as { scope: string };
  expect(scope.split(' ').toSorted()).toEqual(['notes:archive', 'notes:read', 'notes:write']);
  await page.context().close();
});

// @shows AS-40.4
test.each(['en', 'de', 'fr', 'es', 'pt', 'ja', 'zh-CN', 'ar'])(
  'in %s the page fits a phone of 320 pixels, and axe finds no fault',
  async (locale) => {
    const page = await open(locale, true);
    expect(await page.locator('input[type=checkbox]').count()).toBe(3);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      320,
    );
    await page.addScriptTag({ content: axe });
    const found = await page.evaluate(async () => {
      const { violations } = await (
        window as unknown as { axe: { run: () => Promise<{ violations: { id: string }[] }> } }
      ).axe.run();
      return violations.map(({ id }) => id);
    });
    expect(found).toEqual([]);
    await page.context().close();
  },
);
