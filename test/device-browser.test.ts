// @engines sqlite, needs chromium: the database makes no difference
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import { begin, DEVICES, poll, registerDevice, tokensOf } from './support/device.ts';
import {
  ADA,
  errorOf,
  PASSWORD,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** The page for a device's code, on a phone, without scripts. */

let portal: RunningPortal;
let tv: TestClient;
let browser: Browser;
const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'zh-Hans', 'ar'] as const;

beforeAll(async () => {
  portal = await startPortal({
    config: { oauth_server: { ...DEVICES.oauth_server, languages: true } },
  });
  tv = await registerDevice(portal);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await portal.close();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function signedIn(locale: string, scripts: boolean): Promise<Page> {
  const viewport = { width: 320, height: 568 };
  const options = { viewport, locale, bypassCSP: true, javaScriptEnabled: scripts };
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(`${portal.url}/login`);
  await page.fill('[name=identifier]', ADA);
  await page.fill('[name=password]', PASSWORD);
  await page.click('button[type=submit]');
  return page;
}

async function faultsOf(page: Page): Promise<readonly string[]> {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.addScriptTag({ content: axe });
  const found = await page.evaluate(async () => {
    const { violations } = await (
      window as unknown as { axe: { run: () => Promise<{ violations: { id: string }[] }> } }
    ).axe.run();
    return violations.map(({ id }) => id);
  });
  return width > 320 ? [...found, `${width} pixels wide`] : found;
}

/** The height of the empty space between two elements, in pixels. */
async function distanceBetween(page: Page, above: string, below: string): Promise<number> {
  const [upper, lower] = [page.locator(above), page.locator(below)].map((each) =>
    each.boundingBox(),
  );
  const [first, second] = [await upper, await lower];
  return (second?.y ?? 0) - (first?.y ?? 0) - (first?.height ?? 0);
}

describe('the device page in Chromium on a phone', () => {
  // @shows AS-48.5, AS-38.1
  test.each(LANGUAGES)('fits the screen and passes axe: %s', async (locale) => {
    const begun = await begin(portal, tv);
    const page = await signedIn(locale, true);
    const faults: string[] = [];
    const look = async (what: string) => {
      for (const fault of await faultsOf(page)) faults.push(`${what}: ${fault}`);
      expect(await page.getAttribute('html', 'lang')).toBe(locale);
    };
    await page.goto(`${portal.url}/oauth/device`);
    await look('empty');
    expect(await distanceBetween(page, 'button.wide', '.person')).toBeGreaterThan(8);
    await page.fill('[name=user_code]', 'XXX');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]');
    await look('mistyped');
    await page.goto(begun.verification_uri_complete);
    await look('from a link');
    await page.keyboard.press('Tab');
    await page.focus('[name=user_code]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[value=allow]');
    await look('question');
    const lines = await page.evaluate(
      () => document.querySelector('.user-code')?.getClientRects().length,
    );
    expect(lines).toBe(1);
    await page.click('[value=deny]');
    await look('denied');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  // @shows AS-48.5
  test('connects a device without scripts', async () => {
    const begun = await begin(portal, tv);
    const page = await signedIn('en', false);
    await page.goto(`${portal.url}/oauth/device`);
    await page.getByLabel('Code').fill(begun.user_code.toLowerCase());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Continue only if you started this on your own device.').waitFor();
    expect(await errorOf(await poll(portal, tv, begun))).toBe('authorization_pending');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByRole('heading', { name: 'Your device is connected' }).waitFor();
    await tokensOf(await poll(portal, tv, begun));
    await page.context().close();
  });
});
