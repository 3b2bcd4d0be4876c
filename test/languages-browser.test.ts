// @engines sqlite, needs chromium: pages in a browser are the same on every engine
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
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/**
 * Pages in other languages than English, in a real Chromium; without one these tests are skipped,
 * and fail in CI.
 */

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A language, the width of the window, and its colors. */
const LOOKS = [
  ['ar', 320, 'light'],
  ['ar', 1280, 'dark'],
  ['de', 320, 'dark'],
  ['ja', 320, 'light'],
] as const;

describe('pages in all languages in Chromium', () => {
  let portal: RunningPortal;
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
    portal = await startPortal({
      random: () => 0,
      config: {
        oauth_server: {
          languages: true,
          name: 'Universitätsbibliothek',
          scopes: { 'notes:read': 'Zusammenfassungen und Literaturverwaltungseinträge lesen' },
        },
      },
    });
  });
  afterAll(async () => {
    await browser.close();
    await portal.close();
  });

  async function requireSound(page: Page, name: string): Promise<void> {
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - window.innerWidth',
    );
    expect(overflow, name).toBeLessThanOrEqual(0);
    await page.evaluate(axe);
    const { violations } = (await page.evaluate('axe.run()')) as {
      violations: readonly { id: string }[];
    };
    expect(
      violations.map(({ id }) => id),
      name,
    ).toEqual([]);
    const shots = process.env['SHOTS'];
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  }

  test.each(LOOKS.slice(0, SCALE.lookedAtLanguages))(
    'pass axe and fit the window: %s at %i pixels, %s',
    async (locale, width, colorScheme) => {
      const client = await registerClient(portal, {
        name: 'Zeitschriftenverwaltung (Übungsversion 2.0)',
      });
      const context = await browser.newContext({
        locale,
        colorScheme,
        viewport: { width, height: 800 },
        bypassCSP: true,
      });
      try {
        const page = await context.newPage();
        const sound = (name: string) => requireSound(page, `${locale}-${width}-${name}`);
        await page.goto(authorizationUrl(portal, client));
        await sound('sign-in');
        await page.locator('#identifier').fill(ADA);
        await page.locator('#password').fill('wrong');
        await page.getByRole('button').click();
        await page.getByRole('alert').waitFor();
        await sound('wrong');
        await page.locator('#password').fill(PASSWORD);
        await page.getByRole('button').click();
        await page.locator('[value=allow]').waitFor();
        expect(await page.locator('html').getAttribute('dir')).toBe(locale === 'ar' ? 'rtl' : null);
        // A line's mark is where the line begins.
        const [list, mark] = (await page.evaluate(
          `[document.querySelector('.list li').getBoundingClientRect(), (() => {
            const range = document.createRange();
            range.selectNodeContents(document.querySelector('.list li'));
            return range.getBoundingClientRect();
          })()].map(({ left, right }) => [left, right])`,
        )) as [number, number][];
        const [fromLeft, fromRight] = [
          (mark?.[0] ?? 0) - (list?.[0] ?? 0),
          (list?.[1] ?? 0) - (mark?.[1] ?? 0),
        ];
        expect(locale === 'ar' ? fromRight : fromLeft).toBeGreaterThan(20);
        // A button text that breaks over two lines is hard to read.
        const lines = await page.evaluate(
          `[...document.querySelectorAll('.choices button')].map((button) => {
            const range = document.createRange();
            range.selectNodeContents(button);
            return range.getClientRects().length;
          })`,
        );
        expect(lines).toEqual([1, 1]);
        await sound('consent');
        await page.goto(`${portal.url}/oauth/applications`);
        await sound('applications');
        await page.goto(`${portal.url}/oauth/authorize?client_id=none`);
        await sound('error');
      } finally {
        await context.close();
      }
    },
  );
});
