// @engines sqlite, needs chromium: pages in a browser are the same on every engine
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  authorizationUrl,
  PASSWORD,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';

/** The kit's page on which a signed-in person authenticates again, in a real Chromium. */

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let portal: RunningPortal;
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
  portal = await startPortal({
    random: () => 0,
    config: { oauth_server: { reauthentication: true, languages: true } },
  });
});
afterAll(async () => {
  await browser.close();
  await portal.close();
});

// @shows AS-44.2, AS-44.11
test.each([
  ['en', 'Confirm your identity'],
  ['de', 'Bestätigen Sie, dass Sie es sind'],
  ['es', 'Confirme que es usted'],
  ['fr', 'Confirmez votre identité'],
  ['pt', 'Confirme que é você'],
  ['ja', 'ご本人であることの確認'],
  ['zh-CN', '请确认是您本人'],
  ['ar', 'أكّد هويتك'],
])(
  'in %s the reauthentication page asks only for the password, and passes axe',
  async (locale, title) => {
    const client = await registerClient(portal, { name: 'Notebook' });
    const context = await browser.newContext({
      locale,
      bypassCSP: true,
      viewport: { width: 320, height: 800 },
    });
    try {
      const page = await context.newPage();
      await page.goto(`${portal.url}/login`);
      await page.locator('#identifier').fill(ADA);
      await page.locator('#password').fill(PASSWORD);
      await page.locator('button[type=submit]').click();
      await page.waitForURL(`${portal.url}/`);
      await page.goto(authorizationUrl(portal, client, { prompt: 'login' }));
      const session = async () =>
        (await context.cookies()).find(({ name }) => name.endsWith('portico_session'))?.value;
      const before = await session();
      await page.locator('#password').fill('wrong');
      await page.locator('button[type=submit]').click();
      await page.getByRole('alert').waitFor();
      expect(await page.locator('h1').textContent()).toBe(title);
      expect(await page.locator('#identifier').inputValue()).toBe(ADA);
      expect(await page.locator('.to').textContent()).toContain('Notebook');
      await page.evaluate(axe);
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: readonly { id: string }[];
      };
      expect(violations.map(({ id }) => id)).toEqual([]);
      await page.locator('#password').fill(PASSWORD);
      await page.locator('button[type=submit]').click();
      await page.locator('[value=allow]').waitFor();
      expect(await session()).not.toBe(before);
    } finally {
      await context.close();
    }
  },
);
