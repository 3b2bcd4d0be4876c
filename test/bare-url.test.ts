// @engines sqlite, needs chromium go cargo python npm: clients see no difference between engines
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import { ROOT } from './support/console.ts';
import { startClient, type ClientProgram } from './support/mcp/bare-client.ts';
import { startBareHost, startCallback, type BareHost } from './support/mcp/bare-host.ts';
import { goClient, once, pythonClient, rustClient } from './support/mcp/toolchains.ts';
import { ADA, PASSWORD } from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';

const typescript = (file: string) => () =>
  Promise.resolve([process.execPath, path.join(ROOT, 'test', 'clients', 'typescript', file)]);

/** The official SDKs, the inspector and mcp-remote, from `test/clients/`. */
const PROGRAMS: readonly ClientProgram[] = [
  { name: 'TypeScript, @modelcontextprotocol/client 2.x', command: typescript('sdk-2.ts') },
  { name: 'TypeScript, @modelcontextprotocol/sdk 1.x', command: typescript('sdk-1.ts') },
  {
    name: 'mcp-remote',
    command: typescript('mcp-remote.ts'),
    hostname: 'localhost',
    callbackPath: '/oauth/callback',
    listens: true,
  },
  {
    name: 'the inspector',
    command: typescript('inspector.ts'),
    callbackPath: '/oauth/callback',
    listens: true,
  },
  { name: 'Python', command: once(pythonClient), registersAnew: false },
  { name: 'Go', command: once(goClient) },
  { name: 'Rust', command: once(rustClient), registersAnew: false },
];

const programs = PROGRAMS.slice(0, SCALE.bareClients);

describe('a client that knows only the URL of the tools connects', () => {
  let host: BareHost;
  let browser: Browser;
  let home: string;

  beforeAll(async () => {
    // Programs that need a build are built while others run.
    for (const { command } of programs) command().catch(() => {});
    home = await mkdtemp(path.join(tmpdir(), 'portico-bare-url-'));
    host = await startBareHost();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await host.close();
    await rm(home, { recursive: true, force: true });
  });

  describe.each(programs)('$name', (program) => {
    test.each(['dynamic registration', 'a metadata document'])('by %s', async (way) => {
      const port = await freePort();
      const { hostname = '127.0.0.1', callbackPath = '/callback', listens = false } = program;
      const redirectUri = `http://${hostname}:${port}${callbackPath}`;
      const args = [host.assistant.resource, redirectUri];
      if (way === 'a metadata document') {
        args.push(host.document(program.name, [`http://${hostname}${callbackPath}`]));
      }
      const callback = listens ? null : await startCallback(port);
      const context = await browser.newContext();
      const client = await startClient(program, args, await mkdtemp(path.join(home, 'home-')));
      /** The client requests this scope, alone or with others, and Ada allows it. */
      async function allowed(scope: string) {
        const { authorize, ...otherwise } = await client.next();
        expect(otherwise).toEqual({});
        const url = new URL(authorize ?? '');
        expect(url.searchParams.get('scope')?.split(' ')).toContain(scope);
        expect(url.searchParams.get('resource')).toBe(host.assistant.resource);
        client.tell(await allow(context, url, redirectUri));
      }
      async function answered(text: string) {
        expect(await client.next()).toEqual({ answer: expect.stringContaining(text) as string });
      }
      async function refused() {
        expect(await client.next()).not.toHaveProperty('answer');
      }
      try {
        await allowed('mcp:tools');
        expect(await client.next()).toHaveProperty('connected');
        client.tell('call my_account');
        await answered('Ada Lovelace');

        // Step-up: a tool whose scope was not requested. Earlier scopes stay granted.
        client.tell('call my_orders');
        await allowed('orders:read');
        await answered('soup');
        client.tell('call my_account');
        await answered('Ada Lovelace');

        // Refresh: the person sees no new question.
        host.hour();
        client.tell('hour');
        expect(await client.next()).toEqual({ answer: '' });
        client.tell('call my_orders');
        await answered('soup');

        // The person revokes the access. The program reports this at its next use, and starts
        // again.
        await removeAll(context, host.assistant.url);
        client.tell('call my_account');
        await allowed('mcp:tools');
        await answered('Ada Lovelace');

        // The operator ends its registration. None of its tokens works, and it registers again if
        // it can.
        if (way !== 'dynamic registration') return;
        await host.endRegistrations();
        client.tell('call my_account');
        if (program.registersAnew === false) await refused();
        else {
          await allowed('mcp:tools');
          await answered('Ada Lovelace');
        }
      } finally {
        await client.close();
        await context.close();
        await callback?.close();
      }
    });
  });
});

/** Signs Ada in if needed, and allows the request; resolves to the final URL of the browser. */
async function allow(context: BrowserContext, url: URL, redirectUri: string): Promise<string> {
  const page = await context.newPage();
  try {
    await page.goto(url.href);
    const button = page.getByRole('button', { name: 'Allow' });
    const email = page.getByLabel('Email address');
    await button.or(email).first().waitFor();
    if (await email.isVisible()) {
      await email.fill(ADA);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
    }
    await button.click();
    await page.waitForURL((to) => to.href.startsWith(redirectUri));
    return page.url();
  } finally {
    await page.close();
  }
}

/** Ada revokes what she has allowed, on her page of applications. */
async function removeAll(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${url}/oauth/applications`);
  const button = page.getByRole('button', { name: 'Remove access' }).first();
  while (await button.isVisible()) {
    await button.click();
    await page.waitForURL(/removed/);
  }
  await page.close();
}
