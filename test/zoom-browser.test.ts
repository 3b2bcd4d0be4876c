// @engines sqlite, needs chromium: pages are the same on every engine
import type { Browser, BrowserContextOptions, Page, ViewportSize } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRelyingParty, type RelyingParty } from '../examples/relying-party/server.ts';
import { PAGES, startAdministered } from './support/administration.ts';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  authorizationUrl,
  obtainTokens,
  PASSWORD,
  registerClient,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';
import { putUnverified } from './support/unverified.ts';

/**
 * Pages at 200 %, in a real Chromium. Without one these tests are skipped; in CI
 * test/browser.test.ts fails then.
 */

/**
 * A page at 200 % in a window of 640 pixels has 320 CSS pixels (WCAG 2.2, 1.4.10); text at 200 %
 * keeps its window (1.4.4).
 */
const ZOOMS: readonly Zoom[] = [
  {
    what: 'the page',
    options: { viewport: { width: 320, height: 256 }, deviceScaleFactor: 2 },
    style: '',
  },
  {
    what: 'the text',
    options: { viewport: { width: 640, height: 800 } },
    style: 'html { font-size: 200% !important; }',
  },
];

interface Zoom {
  readonly what: string;
  readonly options: BrowserContextOptions & { readonly viewport: ViewportSize };
  readonly style: string;
}

/** The first is the longest, the second runs from right to left. */
const LANGUAGES = ['de', 'ar', 'ja', 'fr', 'es', 'pt', 'zh-CN', 'en'];

/** Twenty-five, including the existing ones. */
const MANY = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [
    `thing${index}:${index % 2 === 0 ? 'read' : 'write'}`,
    {
      label: `Zusammenfassung Nummer ${index}`,
      permission: 'notes:read',
      description: 'Wie es geschieht.',
    },
  ]),
);
const SCOPES = ['openid', 'profile', 'email', 'notes:read', 'notes:write', ...Object.keys(MANY)];

/**
 * Unreadable content: text outside the window, or behind the edge of an element that does not
 * scroll. A claim about a person is cut on purpose, and fields scroll.
 */
const CUT = `[...document.querySelectorAll('body *')].flatMap((element) => {
  if (element.closest('.unseen, .skip, .claim, input, textarea, select') !== null || !element.checkVisibility()) return [];
  const named = element.tagName + '.' + element.className + ' ' + element.textContent.trim().slice(0, 40);
  const { overflowX, overflowY } = getComputedStyle(element);
  const cut = (overflow, all, shown) => /hidden|clip/.test(overflow) && all > shown + 1;
  if (cut(overflowX, element.scrollWidth, element.clientWidth)) return [named + ' is cut at its side'];
  if (cut(overflowY, element.scrollHeight, element.clientHeight)) return [named + ' is cut below'];
  const beside = [...element.childNodes].some((node) => {
    if (node.nodeType !== Node.TEXT_NODE || node.textContent.trim() === '') return false;
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].some(({ left, right }) => left < -1 || right > innerWidth + 1);
  });
  return beside ? [named + ' is beside the window'] : [];
})`;

describe('at 200 %', () => {
  let portal: RunningPortal;
  let browser: Browser;
  let relyingParty: RelyingParty;
  let home: string;
  let client: TestClient;
  let stranger: TestClient;

  beforeAll(async () => {
    browser = await launchChromium();
    ({ portal } = await startAdministered({
      random: () => 0,
      config: {
        oauth_server: {
          languages: true,
          name: 'Universitätsbibliothek',
          scopes: MANY,
          registration: 'initial_access_token',
          audit: { keep: true },
        },
      },
    }));
    client = await registerClient(portal, {
      name: 'Zeitschriftenverwaltung (Übungsversion 2.0)',
      scopes: SCOPES,
    });
    await obtainTokens(portal, client, ADA, { scope: SCOPES.join(' ') });
    await obtainTokens(portal, await registerClient(portal, { name: 'x'.repeat(100) }), ADA);
    stranger = await putUnverified(portal, {
      document: null,
      name: 'x'.repeat(200),
      redirectUris: ['https://client.example/callback'],
      scopes: SCOPES,
    });
    const port = await freePort();
    home = `http://localhost:${port}`;
    const own = await registerClient(portal, {
      name: 'Notebook',
      redirectUris: [`${home}/callback`],
    });
    relyingParty = await startRelyingParty({
      port,
      publicUrl: home,
      issuer: portal.url,
      clientId: own.id,
      clientSecret: own.secret,
      refreshTokenLifetime: 30 * 86_400,
    });
  });
  afterAll(async () => {
    await browser.close();
    await relyingParty.close();
    await portal.close();
  });

  async function opened({ options, style }: Zoom, locale: string) {
    const context = await browser.newContext({ ...options, locale, bypassCSP: true });
    const page = await context.newPage();
    return {
      context,
      page,
      /** What is wrong with the shown page. */
      faults: async (name: string): Promise<readonly string[]> => {
        if (style !== '') await page.addStyleTag({ content: style });
        const shots = process.env['SHOTS'];
        const file = `${options.viewport.width}-${locale}-${name.replaceAll(/\W+/g, '-')}`;
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/${file}.png`, fullPage: true });
        const wide = await page.evaluate(
          'document.documentElement.scrollWidth > window.innerWidth',
        );
        const cut = (await page.evaluate(CUT)) as readonly string[];
        return [...(wide === true ? ['it scrolls sideways'] : []), ...cut].map(
          (fault) => `${name}: ${fault}`,
        );
      },
    };
  }

  async function signIn(page: Page): Promise<void> {
    await page.locator('#identifier').fill(ADA);
    await page.locator('#password').fill(PASSWORD);
    await page.locator('button[type=submit]').click();
  }

  // @shows AS-40.8
  test.each(
    ZOOMS.flatMap((zoom) =>
      LANGUAGES.slice(0, SCALE.zoomedLanguages).map((locale) => ({ ...zoom, locale })),
    ),
  )(
    'with $what enlarged, nothing is cut and nothing scrolls horizontally: $locale',
    async ({ locale, ...zoom }) => {
      const { context, page, faults } = await opened(zoom, locale);
      try {
        await page.goto(authorizationUrl(portal, client, { scope: SCOPES.join(' ') }));
        expect(await faults('sign-in')).toEqual([]);
        await signIn(page);
        await page.locator('[value=allow]').waitFor();
        await page.locator('summary').first().click();
        expect(await faults('consent')).toEqual([]);
        await page.goto(authorizationUrl(portal, stranger, { scope: SCOPES.join(' ') }));
        expect(await faults('consent to a stranger')).toEqual([]);
        // Both answers can be scrolled into view, and are then complete.
        for (const decision of ['deny', 'allow']) {
          const button = page.locator(`[value=${decision}]`);
          await button.scrollIntoViewIfNeeded();
          const box = await button.boundingBox();
          expect(box?.y).toBeGreaterThanOrEqual(0);
          expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(
            zoom.options.viewport.height,
          );
        }
        await page.goto(`${portal.url}/oauth/applications`);
        expect(await faults('applications')).toEqual([]);
        await page.goto(`${portal.url}/oauth/applications?remove=all`);
        expect(await faults('remove all')).toEqual([]);
        await page.goto(`${portal.url}/oauth/authorize?client_id=none`);
        expect(await faults('error')).toEqual([]);
      } finally {
        await context.close();
      }
    },
  );

  // @shows AS-33.6
  test.each(ZOOMS)(
    'with $what enlarged, nothing of the administration pages is cut',
    async (zoom) => {
      const { context, page, faults } = await opened(zoom, 'en');
      try {
        await page.goto(`${portal.url}${PAGES}`);
        await signIn(page);
        await page.waitForURL(`${portal.url}${PAGES}`);
        const about = ['', '&ask=update', '&ask=rotate-secret', '&ask=revoke'];
        const places = [
          '',
          ...['clients', 'access', 'rotations', 'keys', 'registration', 'audit', 'doctor'].map(
            (at) => `/${at}`,
          ),
          ...about.map((ask) => `/client?id=${client.id}${ask}`),
        ];
        for (const place of places) {
          await page.goto(`${portal.url}${PAGES}${place}`);
          expect(await faults(`admin ${place.replace(client.id, '')}`)).toEqual([]);
        }
      } finally {
        await context.close();
      }
    },
  );

  test.each(ZOOMS)(
    'with $what enlarged, nothing of the last demonstration page is cut',
    async (zoom) => {
      const { context, page, faults } = await opened(zoom, 'en');
      try {
        await page.goto(home);
        expect(await faults('demonstration')).toEqual([]);
        await page.locator('button[type=submit]').first().click();
        await signIn(page);
        await page.locator('[value=allow]').click();
        await page.waitForURL(`${home}/`);
        expect(await faults('demonstration signed in')).toEqual([]);
      } finally {
        await context.close();
      }
    },
  );
});
