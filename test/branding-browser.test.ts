// @engines sqlite, needs chromium: pages are the same on every engine
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import { ADA, authorizationUrl, PASSWORD, registerClient, startPortal } from './support/portal.ts';

/** The brand's color in pages, as a browser adapts it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Every corner of sRGB, many colors between, and those whose luminance is at a limit. */
const STEPS = ['00', '33', '66', '99', 'cc', 'ff'];
const BRANDS = STEPS.flatMap((red) =>
  STEPS.flatMap((green) => STEPS.map((blue) => `#${red}${green}${blue}`)),
).concat(['#6b6b6b', '#8a8a8a', '#757575', '#5b3df5', '#1f5c4d', '#8fd3bd']);

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** The consent screen of an application with this color. */
async function withConsent(
  accent: string,
  colorScheme: 'light' | 'dark',
  look: (page: Page) => Promise<void>,
): Promise<void> {
  const portal = await startPortal({ config: { branding: { accent } } });
  try {
    const client = await registerClient(portal);
    const context = await browser.newContext({ colorScheme, bypassCSP: true });
    const page = await context.newPage();
    await page.goto(authorizationUrl(portal, client));
    await page.getByLabel('Email address').fill(ADA);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await look(page);
    await context.close();
  } finally {
    await portal.close();
  }
}

/** The colors of a page for a brand, as red, green and blue, and those of its page and card. */
function colorsOf(
  page: Page,
  brands: readonly string[],
): Promise<readonly Record<string, number[]>[]> {
  return page.evaluate((given) => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const shown = document.body.appendChild(document.createElement('p'));
    const colorOf = (property: string) => {
      shown.style.color = `var(--${property})`;
      if (canvas === null) throw new Error('There is no canvas');
      canvas.fillStyle = getComputedStyle(shown).color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const names = ['brand', 'accent', 'accent-hover', 'accent-ink', 'accent-page', 'page', 'card'];
    return given.map((brand) => {
      document.documentElement.style.setProperty('--brand', brand);
      return Object.fromEntries(names.map((name) => [name, colorOf(name)]));
    });
  }, brands);
}

/** WCAG 2.2, "relative luminance". */
function luminance(color: readonly number[] = []): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(
  one: readonly number[] | undefined,
  other: readonly number[] | undefined,
): number {
  const [lower = 0, higher = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (higher + 0.05) / (lower + 0.05);
}

// @shows AS-39.7
test.each([
  ['light', 0.154],
  ['dark', 0.262],
] as const)(
  'in %s mode, every branding color is readable, and one that already was stays unchanged',
  async (scheme, at) => {
    await withConsent('#5b3df5', scheme, async (page) => {
      for (const [index, colors] of (await colorsOf(page, BRANDS)).entries()) {
        const { brand, accent, page: behind, card } = colors;
        const least = Math.min(
          contrast(accent, behind),
          contrast(accent, card),
          contrast(accent, colors['accent-page']),
          contrast(colors['accent-ink'], accent),
          contrast(colors['accent-ink'], colors['accent-hover']),
        );
        expect([BRANDS[index], least >= 4.5 ? 4.5 : least]).toEqual([BRANDS[index], 4.5]);
        const isReadable = scheme === 'light' ? luminance(brand) < at : luminance(brand) > at;
        expect([BRANDS[index], isReadable ? accent : brand]).toEqual([BRANDS[index], brand]);
      }
    });
  },
);

// @shows AS-39.7
test.each([
  ['#fff3b0', 'light'],
  ['#fff3b0', 'dark'],
  ['#1a0033', 'light'],
  ['#1a0033', 'dark'],
] as const)('a consent page with the color %s passes axe in %s mode', async (accent, scheme) => {
  await withConsent(accent, scheme, async (page) => {
    await page.evaluate(AXE);
    const { violations } = await page.evaluate<{ violations: { id: string }[] }>('axe.run()');
    expect(violations.map(({ id }) => id)).toEqual([]);
    if (process.env['SHOTS'] !== undefined)
      await page.screenshot({ path: `${process.env['SHOTS']}/${accent.slice(1)}-${scheme}.png` });
  });
});
