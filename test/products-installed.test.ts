// @engines sqlite, needs apache go npm python: products see no difference
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from './support/free-port.ts';
import { INSTALLED_PRODUCTS, RunningProduct } from './support/installed-products.ts';
import { ADA, startPortal, type RunningPortal } from './support/portal.ts';
import { ProductPage } from './support/product-page.ts';
import { startServer } from './support/reverse-proxy.ts';
import { createVisitor } from './support/visitor.ts';

/**
 * Products run as they are published, with the settings of their pages: oauth2-proxy.md,
 * mod-auth-openidc.md, mozilla-django-oidc.md and authjs.md of docs/connecting.
 */

/** Of Ada; her `sub` is another one at each server. */
const CLAIMS = {
  sub: expect.stringMatching(/^[\w-]{8,}$/) as unknown,
  email: 'ada@example.com',
  name: 'Ada Lovelace',
};

let folder: string;
let behind: Awaited<ReturnType<typeof startServer>>;
let portal: RunningPortal | null = null;
let running: RunningProduct | null = null;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-products-'));
  behind = await startServer(({ headers }, response) => response.end(JSON.stringify(headers)));
});
afterEach(async () => {
  await running?.stop();
  await portal?.close();
});
afterAll(async () => {
  await behind.close();
  await rm(folder, { recursive: true });
});

describe.each(INSTALLED_PRODUCTS)('$name', (product) => {
  const page = new ProductPage(product.page);

  /** The product with the settings of its page, changed in this way, and a person's browsers. */
  async function start(change: (settings: string) => string = (settings) => settings) {
    portal = await startPortal({ config: { oauth_server: await page.serverSettings() } });
    const port = await freePort();
    const client = await page.register(portal, `http://localhost:${port}`);
    const settings = change(page.code(product.language, portal, client));
    const own = await mkdtemp(path.join(folder, `${product.page}-`));
    running = await RunningProduct.start(product, settings, {
      port,
      folder: own,
      behind: behind.url,
    });
    return {
      log: path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'),
      running,
      browser: createVisitor(running.origin),
      atServer: await portal.signedIn(ADA),
    };
  }

  test('lets a person in with the settings of its page, and knows their claims', async () => {
    const { browser, atServer, ...started } = await start();
    expect(await started.running.knows(browser)).not.toHaveProperty('email', expect.any(String));
    const arrived = await started.running.signIn(browser, atServer);
    expect(arrived.status, await arrived.clone().text()).toBeLessThan(400);
    const told = Object.keys(product.names).map((claim) => [claim, CLAIMS[claim as 'sub']]);
    expect(await started.running.knows(browser)).toEqual(Object.fromEntries(told));
  });

  test('without its setting for PKCE lets no one in, and the page quotes the log line', async () => {
    const [setting, off] = product.pkce;
    const { browser, atServer, ...started } = await start((settings) => {
      expect(settings).toContain(setting);
      return settings.replace(setting, off);
    });
    await started.running.signIn(browser, atServer);
    expect(await started.running.knows(browser)).not.toHaveProperty('email', expect.any(String));
    const [line = 'none'] =
      /no code_challenge was sent/.exec(await readFile(started.log, 'utf8')) ?? [];
    expect(page.text).toContain(line);
  });
});
