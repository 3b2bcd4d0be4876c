// @engines sqlite, needs chromium: pages in a browser are the same on every engine
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import { startRelyingParty, type RelyingParty } from '../examples/relying-party/server.ts';
import { launchChromium } from './support/chromium.ts';
import {
  ADA,
  GRACE,
  PASSWORD,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';

/** The main flow in a real Chromium, with the portal and the relying party of the examples. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Color schemes and widths; the first two cover both schemes and both widths. */
const LOOKS = [
  ['light', 360],
  ['dark', 1280],
  ['light', 1280],
  ['dark', 360],
] as const;

const LINKS = { forgot_password: 'https://help.example/reset', terms: '/terms' };

async function violationsOf(look: Page): Promise<readonly string[]> {
  await look.evaluate(axe);
  return look.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string }[] }> };
    };
    return (await axe.run()).violations.map(({ id }) => id);
  });
}

describe('in a real Chromium', () => {
  let portal: RunningPortal;
  let relyingParty: RelyingParty;
  let home: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
    // Some pages here need wrong passwords, which must not be slowed down.
    portal = await startPortal({ random: () => 0 });
    const port = await freePort();
    home = `http://localhost:${port}`;
    const client = await registerClient(portal, {
      name: 'Notebook',
      redirectUris: [`${home}/callback`],
    });
    relyingParty = await startRelyingParty({
      port,
      publicUrl: home,
      issuer: portal.url,
      clientId: client.id,
      clientSecret: client.secret,
    });
  });
  afterAll(async () => {
    await browser.close();
    await relyingParty.close();
    await portal.close();
  });

  // The pages work without JavaScript, so it is off throughout.
  beforeEach(async () => {
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  async function signIn(on: Page, email: string): Promise<void> {
    await on.getByLabel('Email address').fill(email);
    await on.getByLabel('Password').fill(PASSWORD);
    await on.getByRole('button', { name: 'Sign in' }).click();
  }

  /** From the relying party to the consent screen. */
  async function askFor(email: string, on = page): Promise<void> {
    await on.goto(home);
    await on.getByRole('button', { name: 'Sign in with Portal' }).click();
    await on.getByRole('button', { name: /^(Sign in|Allow)$/ }).waitFor();
    if (new URL(on.url()).pathname === '/login') await signIn(on, email);
    await on.getByRole('button', { name: 'Allow' }).waitFor();
  }

  /** An authorization request whose redirect URI is not a page of the relying party. */
  const parametersOf = (clientId: string, state: string) =>
    new URLSearchParams({
      client_id: clientId,
      redirect_uri: `${home}/nowhere`,
      response_type: 'code',
      scope: 'notes:read',
      state,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });

  const allow = (on = page) => on.getByRole('button', { name: 'Allow' }).click();
  const heading = (on = page) => on.getByRole('heading', { level: 1 }).innerText();
  /** Waits for the page with this heading: a click resolves before the next page has loaded. */
  const arrive = (title: string, on = page) =>
    on.getByRole('heading', { name: title, exact: true }).waitFor();
  const told = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

  // @shows AS-8.8
  test('a person signs in and approves, and the relying party gets claims and calls the API', async () => {
    await askFor(ADA);
    expect(await heading()).toBe('Allow Notebook to use your Portal account?');
    await allow();
    await arrive('Signed in with Portal');
    expect(page.url()).toBe(`${home}/`);
    const text = await page.locator('main').innerText();
    expect(text).toContain('Signed in as Ada Lovelace');
    expect(text).toContain('UserInfo answers 200');
    expect(text).toContain('The notes API answers 200');
  });

  test('the relying party refreshes its tokens and writes a note that the portal shows', async () => {
    await askFor(ADA);
    await allow();
    await page.getByRole('button', { name: 'Refresh the tokens' }).click();
    await told('Refreshed');
    await page.getByLabel('A new note').fill('Buy <b>milk</b> & bread');
    await page.getByRole('button', { name: 'Add it to Portal' }).click();
    await told('stored the note');
    await page.goto(portal.url);
    expect(await page.locator('main').innerText()).toContain('Buy <b>milk</b> & bread');
  });

  test('a person without the permission does not see the scope, and the API refuses it', async () => {
    await askFor(GRACE);
    expect(await page.locator('main').innerText()).not.toContain('Write notes');
    await allow();
    await page.getByLabel('A new note').fill('Hello');
    await page.getByRole('button', { name: 'Add it to Portal' }).click();
    await told('refused the note: 403');
  });

  test('the relying party gets only access_denied if the person denies', async () => {
    await askFor(ADA);
    await page.getByRole('button', { name: 'Deny' }).click();
    await arrive('You did not allow it');
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
  });

  test('a wrong password shows an error and keeps the e-mail address, and the right one continues', async () => {
    await page.goto(home);
    await page.getByRole('button', { name: 'Sign in with Portal' }).click();
    await page.getByLabel('Email address').fill(ADA);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').innerText()).toContain('is wrong');
    expect(await page.getByLabel('Email address').inputValue()).toBe(ADA);
    await signIn(page, ADA);
    await allow();
    await page.waitForURL(`${home}/`);
  });

  // @shows AS-8.21
  test('a double click on Allow redirects with the second response', async () => {
    await askFor(ADA);
    await page.getByRole('button', { name: 'Allow' }).dblclick();
    await arrive('Signed in with Portal');
    expect(await page.locator('main').innerText()).toContain('The notes API answers 200');

    // The same, but the first answer has certainly taken effect.
    await context.clearCookies();
    await askFor(ADA);
    const answers: number[] = [];
    const taken = Promise.withResolvers<void>();
    await page.route('**/oauth/authorize', async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      answers.push(response.status());
      taken.resolve();
      // The browser has canceled the first request before it sends the second.
      if (answers.length > 1) await route.fulfill({ response });
    });
    const box = await page.getByRole('button', { name: 'Allow' }).boundingBox();
    const click = () => page.mouse.click((box?.x ?? 0) + 10, (box?.y ?? 0) + 10);
    await click();
    await taken.promise;
    await click();
    await arrive('Signed in with Portal');
    expect(await page.locator('main').innerText()).toContain('The notes API answers 200');
    expect(answers).toEqual([303, 303]);
  });

  // @shows AS-8.9
  test('the back button after the answer shows that it was answered, with a link to applications', async () => {
    await askFor(ADA);
    await allow();
    await arrive('Signed in with Portal');
    await page.goBack();
    await page.reload();
    await arrive('You already answered this request');
    const text = await page.locator('main').innerText();
    expect(text).toContain('You allowed it');
    expect(text).not.toContain('othing was shared');
    await page.getByRole('link', { name: 'Applications with access to your account' }).click();
    await arrive('Applications with access to your account');
  });

  // @shows AS-7.13
  test('two tabs that a new browser opens at the same time can both be answered', async () => {
    const other = await registerClient(portal, {
      name: 'Second',
      redirectUris: [`${home}/nowhere`],
    });
    const second = await context.newPage();
    const tabs = [page, second];
    const ask = (state: string) => `${portal.url}/oauth/authorize?${parametersOf(other.id, state)}`;
    await Promise.all([page.goto(ask('first')), second.goto(ask('second'))]);
    for (const tab of tabs) {
      await signIn(tab, ADA);
      await tab.getByRole('button', { name: 'Allow' }).waitFor();
    }
    for (const tab of tabs) {
      await allow(tab);
      await tab.waitForURL((url) => url.origin === home);
    }
    const states = tabs.map((tab) => new URL(tab.url()).searchParams);
    expect(states.map((query) => query.get('state'))).toEqual(['first', 'second']);
    expect(states.every((query) => query.has('code'))).toBe(true);
  });

  // @shows AS-7.11, OIDC-3.1.2.1b
  test('an authorization request may be sent as a form from a different site', async () => {
    const other = await registerClient(portal, {
      name: 'Second',
      redirectUris: [`${home}/nowhere`],
    });
    const fields = [...parametersOf(other.id, 'by post')].map(
      ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
    );
    const site = createServer((_, response) => {
      response
        .setHeader('Content-Type', 'text/html')
        .end(
          `<form method="post" action="${portal.url}/oauth/authorize">${fields.join('')}<button>Go</button></form>`,
        );
    });
    const port = await freePort();
    await new Promise<void>((resolve) => site.listen(port, '127.0.0.1', resolve));
    try {
      for (const known of [false, true]) {
        // An IP address is another site than localhost.
        await page.goto(`http://127.0.0.1:${port}/`);
        await page.getByRole('button', { name: 'Go' }).click();
        if (!known) await signIn(page, ADA);
        await allow();
        await page.waitForURL((url) => url.origin === home);
        const { searchParams } = new URL(page.url());
        expect([searchParams.get('state'), searchParams.has('code')]).toEqual(['by post', true]);
      }
    } finally {
      site.closeAllConnections();
      site.close();
    }
  });

  // @shows AS-8.3
  test.each([
    ['in their order', [0, 1]],
    ['the later one first', [1, 0]],
  ])('two consent pages that are open at the same time can be answered %s', async (_, order) => {
    const other = await registerClient(portal, {
      name: 'Second',
      redirectUris: [`${home}/nowhere`],
    });
    await askFor(ADA);
    const second = await context.newPage();
    await second.goto(`${portal.url}/oauth/authorize?${parametersOf(other.id, 'second')}`);
    expect(await heading(second)).toContain('Second');
    const screens = [page, second];
    for (const index of order) {
      const screen = screens[index] ?? page;
      await allow(screen);
      await screen.waitForURL((url) => url.origin === home);
    }
    expect(page.url()).toBe(`${home}/`);
    expect(new URL(second.url()).searchParams.get('code')).toMatch(/^[0-9a-f]{32}\.[\w-]{43}$/);
  });

  test('the first request ends if a different person signs in before the answer', async () => {
    await askFor(ADA);
    const second = await context.newPage();
    await second.goto(`${portal.url}/login`);
    await signIn(second, GRACE);
    await second.waitForURL(`${portal.url}/`);
    await allow();
    await arrive('This answer was not accepted');
    expect(new URL(page.url()).origin).toBe(portal.url);
  });

  // @shows AS-8.6
  test('"Not you?" lets a different person sign in and shows that person the consent page', async () => {
    await askFor(ADA);
    await page.getByRole('button', { name: 'Not you?' }).click();
    await signIn(page, GRACE);
    await page.getByText('Signed in as Grace Hopper').waitFor();
    await allow();
    await arrive('Signed in with Portal');
    expect(await page.locator('main').innerText()).toContain('Signed in as Grace Hopper');
  });

  // @shows AS-8.2
  test('a request id that is opened in a different browser is refused', async () => {
    await askFor(ADA);
    const requestId = await page.locator('input[name=request_id]').inputValue();
    const elsewhere = await browser.newContext({ javaScriptEnabled: false });
    try {
      const stranger = await elsewhere.newPage();
      await stranger.goto(`${portal.url}/login`);
      await signIn(stranger, ADA);
      await stranger.waitForURL(`${portal.url}/`);
      await stranger.goto(`${portal.url}/oauth/authorize?request_id=${requestId}`);
      expect(await heading(stranger)).toBe('This request can no longer be answered');
      await stranger.goto(`${portal.url}/oauth/authorize?request_id=${requestId}x`);
      expect(await heading(stranger)).toBe('This request can no longer be answered');
    } finally {
      await elsewhere.close();
    }
    await allow();
    await page.waitForURL(`${home}/`);
  });

  // @shows AS-8.8, RFC6749-10.13, RFC9700-4.16
  test('a page of a different site cannot frame the consent page', async () => {
    await askFor(ADA);
    const consent = page.url();
    const attacker = createServer((_, response) => {
      response
        .setHeader('Content-Type', 'text/html')
        .end(`<h1>Prizes</h1><iframe src="${consent}"></iframe>`);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => attacker.listen(port, 'localhost', resolve));
    try {
      await page.goto(`http://localhost:${port}/`, { waitUntil: 'load' });
      expect(await heading()).toBe('Prizes');
      const framed = page.frameLocator('iframe');
      expect(await framed.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    } finally {
      attacker.closeAllConnections();
      attacker.close();
    }
  });

  test('a person sees the applications with access, and ends it with one button', async () => {
    await askFor(ADA);
    await allow();
    await arrive('Signed in with Portal');
    await page.goto(portal.url);
    await page.getByRole('link', { name: 'Applications with access to your account' }).click();
    await arrive('Applications with access to your account');
    const notebook = page.getByRole('article', { name: 'Notebook' });
    expect(await notebook.innerText()).toContain('Write notes for you');
    await notebook.getByRole('button', { name: 'Remove access of Notebook' }).click();
    await told('can no longer act for you');
    expect(await page.getByRole('article', { name: 'Notebook' }).count()).toBe(0);
    await page.goto(home);
    expect(await page.locator('main').innerText()).toContain('The notes API answers 401');
  });

  // @shows AS-8.5
  test('everything can be done by keyboard', async () => {
    await page.goto(home);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('Tab', 'Enter');
    // The sign-in page puts the focus where typing begins.
    await page.locator('input[name=identifier]:focus').waitFor();
    await page.keyboard.type(ADA);
    await press('Tab');
    await page.keyboard.type(PASSWORD);
    await press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    const focused = page.locator(':focus');
    const order: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      await press('Tab');
      order.push((await focused.innerText()).replace(/\s+/g, ' '));
    }
    expect(order).toEqual([
      'Not you?',
      'Applications with access (opens in a new tab)',
      'Deny',
      'Allow',
    ]);
    await press('Enter');
    await page.waitForURL(`${home}/`);
  });

  // @shows AS-39.14
  test('a button shows the password by mouse and keyboard, and hides it before it is sent', async () => {
    const other = await startPortal({
      config: { sign_in_show_password: true, sign_in_links: LINKS },
    });
    const own = await browser.newContext();
    try {
      const look = await own.newPage();
      const broken: string[] = [];
      look.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) broken.push(message.text());
      });
      look.on('pageerror', (error) => broken.push(error.message));
      await look.goto(`${other.url}/login`);
      const field = look.getByLabel('Password', { exact: true });
      const button = look.getByRole('button', { name: /^(Show|Hide) password$/ });
      const state = async () =>
        [await field.getAttribute('type'), await button.innerText()].join(', ');
      const [hidden, shown] = ['password, Show password', 'text, Hide password'];
      await look.getByLabel('Email address').fill(ADA);
      await field.fill(PASSWORD);
      expect(await state()).toBe(hidden);
      await button.click();
      expect([await state(), await field.inputValue()]).toEqual([shown, PASSWORD]);
      expect(await violationsOf(look)).toEqual([]);
      await button.click();
      expect(await state()).toBe(hidden);
      expect(await violationsOf(look)).toEqual([]);
      await field.focus();
      await look.keyboard.press('Tab');
      await look.keyboard.press('Space');
      expect(await state()).toBe(shown);
      await look.keyboard.press('Enter');
      expect(await state()).toBe(hidden);
      await look.keyboard.press('Enter');
      expect(await state()).toBe(shown);
      // Prevent the submission, so that the form stays visible while it is being sent.
      const hold = () =>
        addEventListener('submit', (event) => event.preventDefault(), { once: true });
      await look.evaluate(hold);
      await field.press('Enter');
      expect(await state()).toBe(hidden);
      await button.click();
      await field.press('Enter');
      await look.waitForURL(`${other.url}/`);
      expect(broken).toEqual([]);
    } finally {
      await own.close();
      await other.close();
    }
  });

  // @shows AS-39.14
  test('sign-in works without JavaScript, and has no button to show the password', async () => {
    const other = await startPortal({ config: { sign_in_show_password: true } });
    try {
      await page.goto(`${other.url}/login`);
      expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign in']);
      await signIn(page, ADA);
      await page.waitForURL(`${other.url}/`);
    } finally {
      await other.close();
    }
  });

  test('every page passes axe, in light and dark, on a phone and on a desktop', async () => {
    for (const [colorScheme, width] of LOOKS.slice(0, SCALE.looks)) {
      const own = await browser.newContext({
        colorScheme,
        viewport: { width, height: 800 },
        bypassCSP: true,
      });
      const look = await own.newPage();
      const check = async (name: string) => {
        expect(await violationsOf(look), `${name}, ${colorScheme}, ${width} pixels`).toEqual([]);
        const overflow = await look.evaluate(
          () => document.documentElement.scrollWidth > window.innerWidth,
        );
        expect(overflow, `${name} scrolls sideways at ${width} pixels`).toBe(false);
      };
      await look.goto(home);
      await check('start');
      await look.getByRole('button', { name: 'Sign in with Portal' }).click();
      await check('sign-in');
      await look.getByLabel('Email address').fill(ADA);
      await look.getByLabel('Password').fill('wrong');
      await look.getByRole('button', { name: 'Sign in' }).click();
      await check('sign-in refused');
      await signIn(look, ADA);
      await look.getByRole('button', { name: 'Allow' }).waitFor();
      await check('consent');
      await allow(look);
      await look.waitForURL(`${home}/`);
      await check('signed in');
      await look.goto(`${portal.url}/oauth/authorize?client_id=unknown`);
      await check('error');
      await look.goto(portal.url);
      await check('home');
      await look.goto(`${portal.url}/oauth/applications`);
      await check('applications');
      await own.close();
    }
  });
});
