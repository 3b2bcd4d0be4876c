// @engines sqlite, needs chromium npm: it builds the documentation site, and reads it in a browser
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import { ROOT } from './support/console.ts';
import { SCALE } from './support/scale.ts';
import { searchOfSite } from './support/site-search.ts';
import { QUESTIONS, UNSEEN_QUESTIONS } from './support/site-questions.ts';

const SITE = path.join(ROOT, 'tools', 'site');
const BUILT = path.join(SITE, '.dist');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Builds the site. It takes some seconds, and needs no network when its packages are installed. */
function buildSite(): void {
  const npm = { cwd: ROOT, stdio: 'inherit' } as const;
  if (!existsSync(path.join(SITE, 'node_modules')))
    spawnSync(
      'npm',
      ['ci', '--prefix', 'tools/site', '--no-audit', '--no-fund', '--ignore-scripts'],
      npm,
    );
  const { status, stderr } = spawnSync(process.execPath, [path.join(SITE, 'build.ts')], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The site cannot be built:\n${stderr}`);
}

/** The limit for a run that hangs, in milliseconds. */
const SOON = { timeout: 60_000 };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** Serves the files of the site as any file server does. */
function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const asked = decodeURIComponent(new URL(request.url ?? '', 'http://localhost').pathname);
    const named = asked.endsWith('/') ? `${asked}index.html` : asked;
    const file = path.join(BUILT, path.extname(named) === '' ? `${named}.html` : named);
    readFile(file).then(
      (body) =>
        response
          .writeHead(200, { 'Content-Type': TYPES[path.extname(file)] ?? 'text/plain' })
          .end(body),
      () => response.writeHead(404).end(),
    );
  });
  return new Promise((resolve) => server.listen(0, () => resolve(server)));
}

/** A page, the width of the window, and whether it is dark. */
const LOOKS = [
  ['/', 320, true],
  ['/mounting/express', 1280, false],
  ['/reference/resource-server', 640, true],
  ['/', 1280, false],
  ['/mounting/', 1280, false],
  ['/benchmarks', 1280, true],
] as const;

let server: Server;
let url: string;
beforeAll(async () => {
  buildSite();
  server = await serve();
  url = `http://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe('the built site', () => {
  const pages = () =>
    new Map(
      globSync('**/*.html', { cwd: BUILT }).map((file) => [
        file,
        readFileSync(path.join(BUILT, file), 'utf8'),
      ]),
    );

  test('has no link to a missing page or anchor', () => {
    const built = pages();
    const ids = new Map(
      [...built].map(([file, html]) => [
        file,
        new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
      ]),
    );
    const dead = [...built].flatMap(([file, html]) =>
      [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, href = '']) => {
        if (/^(?:[a-z]+:|$)/.test(href)) return [];
        const [to = '', anchor] = decodeURIComponent(href).split('#');
        const joined =
          to === ''
            ? file
            : path.join(to.startsWith('/') ? '' : path.dirname(file), to.replace(/^\//, ''));
        const found = [joined, `${joined}.html`, path.join(joined, 'index.html')].find((each) =>
          built.has(each),
        );
        if (found === undefined) return [`${file}: ${href}`];
        return anchor === undefined || anchor === '' || ids.get(found)?.has(anchor) === true
          ? []
          : [`${file}: ${href}`];
      }),
    );
    expect(dead).toEqual([]);
    expect(built.size).toBeGreaterThan(100);
  });

  test('loads nothing from other origins', () => {
    const html = [...pages()].flatMap(([file, text]) =>
      [
        ...text.matchAll(
          /<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)="((?:https?:)?\/\/[^"]+)"/g,
        ),
      ].map(([, from]) => `${file}: ${from}`),
    );
    const styles = globSync('**/*.css', { cwd: BUILT }).flatMap((file) =>
      [
        ...readFileSync(path.join(BUILT, file), 'utf8').matchAll(
          /(?:url\(|@import\s*)["']?((?:https?:)?\/\/[^"')]+)/g,
        ),
      ].map(([, from]) => `${file}: ${from}`),
    );
    expect([...html, ...styles]).toEqual([]);
  });
});

describe('the search of the built site', () => {
  /** Returns the questions for which none of the first three results is a page with the answer. */
  async function misses(questions: typeof QUESTIONS): Promise<readonly string[]> {
    const search = await searchOfSite(SITE);
    return questions.flatMap(([question, ...pages]) => {
      const found = search(question).slice(0, 3);
      const answers = found.some((id) =>
        pages.some((page) => id.replace(/(?:\.html)?(?:#.*)?$/, '') === `/${page}`),
      );
      return answers ? [] : [`${question}: ${found.join(' ')}`];
    });
  }

  test('has a matching page for the questions of users among the first three results', async () => {
    expect(QUESTIONS.length).toBeGreaterThanOrEqual(30);
    expect(await misses(QUESTIONS)).toEqual([]);
  });

  test('answers three of four questions that were not used to develop it', async () => {
    const missed = await misses(UNSEEN_QUESTIONS);
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(UNSEEN_QUESTIONS.length / 4);
  });

  test('excludes the changelog and the decisions', async () => {
    const search = await searchOfSite(SITE);
    const found = ['changelog', 'decision', 'context consequences'].flatMap((words) =>
      search(words),
    );
    expect(found.filter((id) => /^\/(?:changelog|decisions)\b/.test(id))).toEqual([]);
  });

  test('is tested with pages that exist', () => {
    const named = [...QUESTIONS, ...UNSEEN_QUESTIONS].flatMap(([, ...pages]) => pages);
    const missing = named.filter(
      (page) => !existsSync(path.join(BUILT, page.replace(/\/$/, '/index') + '.html')),
    );
    expect(missing).toEqual([]);
  });
});

describe('the site in Chromium', () => {
  let browser: Browser;
  let context: BrowserContext | null = null;
  /** The errors, and the requests to other origins, while a page is shown. */
  let complaints: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await context?.close();
    if (complaints.length > 0)
      throw new Error(`The page said, or asked for:\n${complaints.join('\n')}`);
  });

  async function open(at: string, options: { width?: number; dark?: boolean } = {}): Promise<Page> {
    const { width = 1280, dark = false } = options;
    complaints = [];
    context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
    });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
        complaints.push(request.url());
    });
    await page.goto(`${url}${at}`, { waitUntil: 'networkidle' });
    await page.waitForFunction(hasComeAlive);
    return page;
  }

  /** The script of the page sets the name of the appearance switch when it has started. */
  const hasComeAlive = () =>
    [...document.querySelectorAll<HTMLElement>('.VPSwitchAppearance')].every(
      ({ title }) => title !== '',
    );
  const background = (page: Page) =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);

  test.each(LOOKS.slice(0, SCALE.sitePages))(
    '%s, %i wide, dark: %s: meets WCAG 2.2 AA, and has no horizontal scrolling',
    async (at, width, dark) => {
      const page = await open(at, { width, dark });
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
      await page.evaluate(axe);
      const violations = await page.evaluate(() =>
        (
          globalThis as unknown as {
            axe: {
              run(
                options: unknown,
              ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
            };
          }
        ).axe
          .run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
          .then((result) => result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)),
      );
      expect(violations).toEqual([]);
    },
  );

  test('finds typed text, and links to it', async () => {
    const page = await open('/');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('token is used twice');
    const first = page.getByRole('option').first();
    await first.waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((at) => at.pathname !== '/');
    await expect
      .poll(() => page.getByRole('main').first().innerText(), SOON)
      .toMatch(/refresh token/i);
  });

  test('finds the page for a question, not the changelog', async () => {
    const page = await open('/');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('how do I log a user out');
    await page.getByRole('option').first().waitFor();
    const found = await page
      .locator('#localsearch-list a')
      .evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute('href') ?? ''));
    expect(found).toContainEqual(expect.stringMatching(/concepts\/sessions|host-contract/));
  });

  test('copies a code block with its button', async () => {
    const page = await open('/mounting/express');
    await context?.grantPermissions(['clipboard-read', 'clipboard-write']);
    const block = page.locator('div[class*="language-"]').first();
    await block.hover();
    await block.getByRole('button', { name: 'Copy Code' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()), SOON)
      .toBe('npm install portico');
  });

  test('has no edit link without a repository URL', async () => {
    const page = await open('/keys');
    expect(await page.getByRole('link', { name: 'Edit this page' }).count()).toBe(0);
  });

  test('serves plain text for language models, and each page that it lists', async () => {
    const list = await (await fetch(`${url}/llms.txt`)).text();
    const places = [...list.matchAll(/\]\((\/[^)]+)\)/g)].map(([, place = '']) => place);
    expect(places).toContain('/llms-full.txt');
    const statuses = await Promise.all(
      places.map(async (place) => (await fetch(url + place)).status),
    );
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(places.length).toBeGreaterThan(80);
  });

  const openTab = (page: Page) =>
    page.locator('.frameworks details[open] > summary').allInnerTexts();

  test('shows one framework at a time, and remembers the choice', async () => {
    const page = await open('/mounting/');
    expect(await openTab(page)).toEqual(['Express']);
    await page.locator('.frameworks summary', { hasText: 'Koa' }).click();
    await expect.poll(() => openTab(page), SOON).toEqual(['Koa']);
    expect(await page.getByText("from 'portico/koa'").isVisible()).toBe(true);
    expect(await page.getByText("from 'portico/express'").isVisible()).toBe(false);
    await page.reload({ waitUntil: 'networkidle' });
    await expect.poll(() => openTab(page), SOON).toEqual(['Koa']);
  });

  test('shows one framework at a time without JavaScript too', async () => {
    complaints = [];
    context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${url}/mounting/`);
    await page.locator('.frameworks summary', { hasText: 'Fastify' }).click();
    await expect.poll(() => page.getByText("from 'portico/fastify'").isVisible(), SOON).toBe(true);
    expect(await page.getByText("from 'portico/express'").isVisible()).toBe(false);
  });

  test('is dark when the reader chooses it', async () => {
    const page = await open('/troubleshooting');
    const light = await background(page);
    await page.getByRole('switch').first().click();
    await expect.poll(() => background(page), SOON).not.toBe(light);
  });

  test('opens its menu on a phone, and follows its links', async () => {
    const page = await open('/troubleshooting', { width: 360 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Signing keys', exact: true }).first().click();
    await page.waitForURL('**/keys.html');
    await expect
      .poll(() => page.getByRole('heading', { level: 1 }).innerText(), SOON)
      .toContain('Signing keys');
  });
});
