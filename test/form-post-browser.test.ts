// @engines sqlite, needs chromium: pages in a browser are the same on every engine
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
import { freePort } from './support/free-port.ts';

/** A browser posts the answer to an application of another site, with scripts and without. */

interface Arrival {
  readonly path: string;
  readonly method: string;
  readonly form: Readonly<Record<string, string>>;
  readonly cookies: string;
  readonly referrer: string | undefined;
}

describe('form_post in Chromium', () => {
  let portal: RunningPortal;
  let client: TestClient;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** An application on 127.0.0.1; the portal is on localhost, which is another site. */
  let application: Server;
  let callback: string;
  let arrivals: Arrival[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    const { method = '', url: path = '', headers } = request;
    if (path !== '/favicon.ico')
      arrivals.push({
        path,
        method,
        form,
        cookies: headers.cookie ?? '',
        referrer: headers.referer,
      });
    response.writeHead(200, {
      'Content-Type': 'text/html',
      'Set-Cookie': ['lax=1; SameSite=Lax', 'none=1; SameSite=None; Secure'],
    });
    response.end(`<h1>${'code' in form ? 'Signed in' : 'Not signed in'}</h1>`);
  }

  beforeAll(async () => {
    browser = await launchChromium();
    portal = await startPortal({ random: () => 0, config: { oauth_server: { form_post: true } } });
    const port = await freePort();
    callback = `http://127.0.0.1:${port}/callback?from=1`;
    application = createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve) => application.listen(port, '127.0.0.1', resolve));
    client = await registerClient(portal, { name: 'Notebook', redirectUris: [callback] });
  });
  afterAll(async () => {
    await browser.close();
    application.closeAllConnections();
    await new Promise((resolve) => application.close(resolve));
    await portal.close();
  });
  beforeEach(() => {
    arrivals = [];
  });
  afterEach(() => context.close());

  const arrive = (title: string) =>
    page.getByRole('heading', { name: title, exact: true }).waitFor();

  async function open(
    changes: Readonly<Record<string, string>>,
    javaScriptEnabled: boolean,
  ): Promise<void> {
    context = await browser.newContext({ javaScriptEnabled });
    page = await context.newPage();
    await page.goto(new URL('/', callback).href);
    arrivals = [];
    const asked = { redirect_uri: callback, response_mode: 'form_post', ...changes };
    await page.goto(authorizationUrl(portal, client, asked));
    await page.getByLabel('Email address').fill(ADA);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await arrive('Allow Notebook to use your Portal account?');
  }

  const host = () => new URL(callback).host;
  const STATE = `"><script>document.title='taken'</script>&amp;\u00e9\t'`;

  // @shows AS-7.20, AS-7.21
  test('submits the response by script immediately, with the state unchanged', async () => {
    await open({ state: STATE }, true);
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive('Signed in');
    const [arrival, ...more] = arrivals;
    expect(more).toEqual([]);
    expect(arrival).toMatchObject({
      path: '/callback?from=1',
      method: 'POST',
      referrer: undefined,
    });
    expect(arrival?.form).toMatchObject({ state: STATE, iss: portal.server.issuer });
    const code = arrival?.form['code'] ?? '';
    expect(page.url()).toBe(callback);
    const exchanged = await exchangeCode(portal, client, code, { redirect_uri: callback });
    expect(exchanged.status).toBe(200);
  });

  // @shows AS-7.20, AS-7.23
  test('works by a button without scripts; the browser sends only cookies with SameSite=None', async () => {
    await open({ state: STATE }, false);
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(`Continue to ${host()}`);
    expect(arrivals).toEqual([]);
    expect(await page.title()).toBe(`Continue to ${host()}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await arrive('Signed in');
    expect(arrivals).toMatchObject([{ method: 'POST', cookies: 'none=1', form: { state: STATE } }]);
  });

  // @shows AS-7.20
  test('submits a denial too', async () => {
    await open({}, true);
    await page.getByRole('button', { name: 'Deny' }).click();
    await arrive('Not signed in');
    expect(arrivals).toMatchObject([{ form: { error: 'access_denied', state: 'the-state' } }]);
  });

  // @shows AS-7.21
  test('cannot submit a form to a different origin', async () => {
    await open({}, false);
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(`Continue to ${host()}`);
    const elsewhere = callback.replace('127.0.0.1', 'localhost');
    const violations: string[] = [];
    page.on('console', (message) => violations.push(message.text()));
    await page.evaluate((action) => {
      document.querySelector('form')?.setAttribute('action', action);
      document.querySelector('button')?.click();
    }, elsewhere);
    await expect.poll(() => violations.join(' ')).toContain('form-action');
    expect(arrivals).toEqual([]);
  });
});
