// @engines sqlite, needs chromium: pages are the same on every engine
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  authorizationUrl,
  PASSWORD,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** The consent screen of a client with many scopes, on a phone. */
/** Twenty-five, including those of the portal. */
const MANY = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [
    `thing${index}:${index % 2 === 0 ? 'read' : 'write'}`,
    {
      label: `Do the thing number ${index + 1} for you`,
      permission: 'notes:read',
      description: 'How it is done.',
    },
  ]),
);

let portal: RunningPortal;

beforeAll(async () => {
  portal = await startPortal({
    config: { oauth_server: { scopes: { 'notes:read': 'Read your notes', ...MANY } } },
  });
});
afterAll(() => portal.close());

const registered = (scope: string, more: object = {}) =>
  registerClient(portal, { name: 'Notebook', scopes: scope.split(' '), ...more });

describe('the consent page in Chromium', () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const names = ['openid', 'profile', 'email', 'notes:read', 'notes:write', ...Object.keys(MANY)];
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function open(
    client: TestClient,
    size: { width: number; height: number },
    asks: Record<string, string> = {},
  ): Promise<Page> {
    const context = await browser.newContext({ viewport: size, bypassCSP: true });
    const page = await context.newPage();
    await page.goto(`${portal.url}/login`);
    await page.fill('[name=identifier]', ADA);
    await page.fill('[name=password]', PASSWORD);
    await page.click('button[type=submit]');
    await page.goto(authorizationUrl(portal, client, { scope: names.join(' '), ...asks }));
    return page;
  }

  // @shows AS-40.4
  test('on a phone with 25 scopes: both buttons are always in view and cover no focused element', async () => {
    expect(names.length).toBe(25);
    const page = await open(await registered(names.join(' ')), { width: 360, height: 640 });
    for (const name of ['Deny', 'Allow']) {
      const box = await page.getByRole('button', { name, exact: true }).boundingBox();
      expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(640);
    }
    const reached: string[] = [];
    for (let step = 0; step < 40 && reached.at(-1) !== 'Allow'; step += 1) {
      await page.keyboard.press('Tab');
      const focus = await page.evaluate(() => {
        const focused = document.activeElement;
        const box = focused?.getBoundingClientRect();
        const bar = document.querySelector('.stay')?.getBoundingClientRect();
        const isCovered =
          focused?.closest('.stay') === null &&
          (box?.bottom ?? 0) > (bar?.top ?? 0) &&
          (box?.top ?? 0) < (bar?.bottom ?? 0);
        return { text: focused?.textContent?.trim() ?? '', isCovered };
      });
      expect(focus).toEqual({ text: focus.text, isCovered: false });
      reached.push(focus.text);
    }
    expect(reached[0]).toBe('Not you?');
    expect(reached.slice(-2)).toEqual(['Deny', 'Allow']);
    expect(reached.length).toBeGreaterThan(22);
    await page.context().close();
  });

  // @shows AS-40.4
  test.each([
    [1280, 800],
    [390, 844],
  ])(
    'shows the destination beside the buttons without scrolling, at %i by %i',
    async (width, height) => {
      const site = 'a-client-of-a-person.with-a-long-name.example';
      const few = 'openid profile email notes:read notes:write';
      for (const scope of [few, names.join(' ')]) {
        const client = await registered(scope, { redirectUris: [`https://${site}/callback`] });
        const redirect_uri = `https://${site}/callback`;
        const page = await open(client, { width, height }, { scope, redirect_uri });
        const place = page.getByText(site, { exact: true });
        await place.waitFor();
        const seen = await place.evaluate((element) => {
          // The topmost element there: the bar of buttons covers what is below it.
          return [...element.getClientRects()].map(
            ({ left, top, width: w, height: h }) =>
              document.elementFromPoint(left + w / 2, top + h / 2) === element,
          );
        });
        expect(seen.length).toBeGreaterThan(0);
        expect(seen.every(Boolean)).toBe(true);
        await page.context().close();
      }
    },
  );

  // @shows AS-40.4
  test.each([
    ['one letter', 'X'],
    ['a hundred letters', 'W'.repeat(100)],
    ['Arabic letters', 'دفتر الملاحظات'],
  ])('fits a phone of 320 pixels and passes axe, with a name of %s', async (_, name) => {
    const page = await open(await registered(names.join(' '), { name }), {
      width: 320,
      height: 568,
    });
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
  });
});
