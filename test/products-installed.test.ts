// @engines sqlite, needs apache go npm python: products see no difference between engines
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import type { ConfigMap, OutboundOptions } from 'portico';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startDocumentHost } from './support/document-host.ts';
import { freePort } from './support/free-port.ts';
import {
  INSTALLED_PRODUCTS,
  RunningProduct,
  type InstalledProduct,
} from './support/installed-products.ts';
import { ADA, startPortal, type RunningPortal } from './support/portal.ts';
import { ProductPage } from './support/product-page.ts';
import { startServer } from './support/reverse-proxy.ts';
import { createVisitor, formOf, type Visitor } from './support/visitor.ts';

/**
 * Products run as they are published, with the settings of their pages: oauth2-proxy.md,
 * mod-auth-openidc.md, mozilla-django-oidc.md and authjs.md of docs/connecting.
 */

/** The data about Ada that every product knows after sign-in. */
const KNOWN = { email: ADA };
/** Ada's claims. Her `sub` is different at each server. */
const CLAIMS = {
  sub: expect.stringMatching(/^[\w-]{8,}$/) as unknown,
  email: ADA,
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
/** Ends what a test started. */
async function end(): Promise<void> {
  await running?.stop();
  await portal?.close();
  [running, portal] = [null, null];
}
afterEach(end);
afterAll(async () => {
  await behind.close();
  await rm(folder, { recursive: true });
});

/** A server and a product with the settings of its page, each with these changes. */
async function start(
  product: InstalledProduct,
  change: (settings: string) => string,
  changes: ConfigMap = {},
  outbound: OutboundOptions = {},
) {
  await end();
  const page = new ProductPage(product.page);
  const oauth_server = { ...(await page.serverSettings()), ...changes };
  const server = await startPortal({ config: { oauth_server }, outbound });
  portal = server;
  const port = await freePort();
  const client = await page.register(server, `http://localhost:${port}`);
  const settings = change(page.code(product.language, server, client));
  const place = {
    port,
    folder: await mkdtemp(path.join(folder, `${product.page}-`)),
    behind: behind.url,
  };
  const started = await RunningProduct.start(product, settings, place);
  running = started;
  const browser = createVisitor(started.origin);
  return {
    server,
    client,
    origin: started.origin,
    log: () => readFile(path.join(server.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8'),
    knows: () => started.knows(browser),
    signIn: async (atServer?: Visitor) =>
      started.signIn(browser, atServer ?? (await server.signedIn(ADA))),
  };
}

/** Replaces a setting of the page. */
const replacing =
  ([setting, other]: readonly [string, string]) =>
  (settings: string) => {
    expect(settings).toContain(setting);
    return settings.replace(setting, other);
  };

describe.each(INSTALLED_PRODUCTS)('$name', (product) => {
  test('signs a person in with the settings of its page, and gets their claims', async () => {
    const { knows, signIn } = await start(product, (settings) => settings);
    expect(await knows()).not.toMatchObject(KNOWN);
    const arrived = await signIn();
    expect(arrived.status, await arrived.clone().text()).toBeLessThan(400);
    const told = Object.keys(product.names).map((claim) => [claim, CLAIMS[claim as 'sub']]);
    expect(await knows()).toEqual(Object.fromEntries(told));
  });

  test('cannot sign a person in without its PKCE setting, and the page quotes the log line', async () => {
    const { knows, signIn, log } = await start(product, replacing(product.pkce));
    await signIn();
    expect(await knows()).not.toMatchObject(KNOWN);
    const quoted = 'no code_challenge was sent';
    expect(await log()).toContain(quoted);
    expect(new ProductPage(product.page).text).toContain(quoted);
  });

  test('can request an unknown scope only if the server ignores unknown scopes', async () => {
    const wider = replacing(product.scopes);
    const refused = await start(product, wider);
    await refused.signIn();
    expect(await refused.knows()).not.toMatchObject(KNOWN);
    expect(await refused.log()).toContain('groups');
    const ignored = await start(product, wider, { unknown_scopes: 'ignore' });
    await ignored.signIn();
    expect(await ignored.knows()).toMatchObject(KNOWN);
  });
});

test.each(INSTALLED_PRODUCTS.filter(({ formPost }) => formPost !== undefined))(
  '$name with form_post signs people in only if the server supports form_post',
  async (product) => {
    const change = (settings: string) => `${settings}\n${product.formPost}\n`;
    const refused = await start(product, change);
    await refused.signIn();
    expect(await refused.knows()).not.toMatchObject(KNOWN);
    const posted = await start(product, change, { form_post: true });
    await posted.signIn();
    expect(await posted.knows()).toMatchObject(KNOWN);
  },
);

// @shows AS-53.2, AS-53.3
test('mod_auth_openidc ends its session when the person signs out at the server', async () => {
  const product = INSTALLED_PRODUCTS.find(({ page }) => page === 'mod-auth-openidc');
  if (product === undefined) throw new Error('There is no such product');
  const settings = { back_channel_logout: true };
  // The server sends logout tokens only over https. This host passes them on.
  const host = await startDocumentHost();
  try {
    const at = await start(product, (own) => own, settings, host.outbound);
    const { server, client, origin, knows, signIn } = at;
    const uri = '/callback?logout=backchannel';
    const answers: number[] = [];
    const passOn = async (request: IncomingMessage): Promise<number> => {
      const headers = { 'Content-Type': request.headers['content-type'] ?? '' };
      const body = await text(request);
      const { status } = await fetch(`${origin}${uri}`, { method: 'POST', headers, body });
      answers.push(status);
      return status;
    };
    host.answer(uri, (request, response) => {
      void passOn(request).then((status) => response.writeHead(status).end());
    });
    await server.server.clients.update(client.id, {
      metadata: { backchannel_logout_uri: [host.url(uri)] },
    });
    const ada = await server.signedIn(ADA);
    await signIn(ada);
    expect(await knows()).toMatchObject(KNOWN);
    await ada.post('/logout', formOf(await (await ada.get('/')).text()).fields);
    await expect.poll(() => answers).toEqual([200]);
    expect(await knows()).not.toMatchObject(KNOWN);
    const { outbox } = server.server;
    await expect.poll(() => outbox.counts()).toMatchObject({ waiting: 0, undelivered: 0 });
  } finally {
    await end();
    await host.close();
  }
});
