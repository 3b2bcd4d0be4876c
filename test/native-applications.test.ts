// @engines sqlite: redirect URIs are compared without the database
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import { describeWith } from './support/describe-with.ts';
import {
  ADA,
  authorizationUrl,
  obtainCode,
  PASSWORD,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

const PRIVATE_USE = 'com.example.desktop:/callback';

/** A self-signed certificate for localhost, made by `openssl`. */
function selfSigned(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-tls-'));
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const files = ['-keyout', key, '-out', cert];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  try {
    execFileSync('openssl', ['req', '-x509', ...curve, ...files, '-subj', '/CN=localhost'], {
      stdio: 'pipe',
    });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

let portal: RunningPortal;
let native: TestClient;
let web: TestClient;
let visitor: Visitor;

beforeAll(async () => {
  portal = await startPortal();
  const redirectUris = ['http://127.0.0.1/callback', 'http://localhost:8080/callback'];
  native = await registerClient(portal, {
    name: 'Desktop',
    public: true,
    applicationType: 'native',
    redirectUris: [...redirectUris, PRIVATE_USE],
  });
  web = await registerClient(portal, { name: 'Web', public: true, redirectUris });
  visitor = await portal.signedIn(ADA);
});
afterAll(() => portal.close());

function exchange(code: string, redirectUri: string): Promise<Response> {
  return requestToken(portal, null, {
    client_id: native.id,
    grant_type: 'authorization_code',
    code,
    code_verifier: VERIFIER,
    redirect_uri: redirectUri,
  });
}

describe('a native application', () => {
  // @shows AS-7.15, RFC8252-7.3, RFC9700-2.1b
  test('receives the response on the loopback port of its request, and can exchange the code', async () => {
    const redirectUri = 'http://127.0.0.1:49152/callback';
    const consent = await visitor.visit(
      authorizationUrl(portal, native, { redirect_uri: redirectUri }),
    );
    expect(await consent.clone().text()).toContain('127.0.0.1:49152');
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    expect(answer.href.startsWith(`${redirectUri}?code=`)).toBe(true);
    const exchanged = await exchange(answer.searchParams.get('code') ?? '', redirectUri);
    expect(exchanged.status).toBe(200);
  });

  // @shows AS-7.15, RFC6749-4.1.3a
  test.each([
    'http://127.0.0.1/callback',
    'http://127.0.0.1:49153/callback',
    'http://localhost:49152/callback',
  ])('exchanges a code only with the redirect URI of its request, not with %s', async (other) => {
    const code = await obtainCode(portal, native, visitor, {
      redirect_uri: 'http://127.0.0.1:49152/callback',
    });
    const exchanged = await exchange(code, other);
    expect(exchanged.status).toBe(400);
    expect(await exchanged.json()).toMatchObject({ error: 'invalid_grant' });
  });

  // @shows AS-7.15, RFC8252-7.3, RFC8252-8.10
  test.each([
    'http://127.0.0.1:49152@evil.example/callback',
    'http://127.0.0.1:49152/other',
    'http://[::1]:49152/callback',
    'http://localhost:08080/callback',
    'http://localhost:0/callback',
    'com.example.desktop:/other',
  ])('receives no response at a redirect URI that does not match: %s', async (redirectUri) => {
    const refused = await visitor.get(
      authorizationUrl(portal, native, { redirect_uri: redirectUri }),
    );
    expect(refused.status).toBe(400);
    expect(refused.headers.has('location')).toBe(false);
    expect(await refused.text()).toContain('Unregistered return address');
  });

  // @shows AS-7.1, AS-7.15
  test('must use its exact registered redirect URI if it is a web application', async () => {
    const ask = (redirectUri: string) =>
      visitor.get(authorizationUrl(portal, web, { redirect_uri: redirectUri }));
    expect((await ask('http://localhost:8080/callback')).status).toBe(200);
    expect((await ask('http://localhost:8081/callback')).status).toBe(400);
  });

  // @shows AS-13.18, RFC8252-7.1, RFC8252-8.4
  test('can be registered with private-use schemes that contain a dot', async () => {
    const registering = (applicationType: string, redirectUri: string) =>
      registerClient(portal, { public: true, applicationType, redirectUris: [redirectUri] });
    await expect(registering('native', 'desktop:/callback')).rejects.toThrow(
      'private-use scheme with a dot',
    );
    await expect(registering('web', PRIVATE_USE)).rejects.toThrow('is not an absolute https URL');
    await expect(registering('browser', PRIVATE_USE)).rejects.toThrow('use web or native');
  });

  // @shows RFC8252-7.1
  test('receives the response at its private-use scheme, which the consent screen shows', async () => {
    const url = authorizationUrl(portal, native, { redirect_uri: PRIVATE_USE });
    const consent = await visitor.visit(url);
    expect(await consent.clone().text()).toContain('com.example.desktop:');
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    expect(answer.href.startsWith(`${PRIVATE_USE}?code=`)).toBe(true);
    expect(answer.searchParams.get('state')).toBe('the-state');
    expect((await exchange(answer.searchParams.get('code') ?? '', PRIVATE_USE)).status).toBe(200);
  });
});

describeWith('chromium')('in a real Chromium, the answer of the consent screen', () => {
  let browser: Browser;
  let page: Page;
  let listener: Server;
  /** An https callback that redirects to another URL, with all parameters that it received. */
  let relay: Server;
  let leadsTo: string;
  let relayed: TestClient;

  beforeAll(async () => {
    browser = await launchChromium();
    page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
    await page.goto(`${portal.url}/login`);
    await page.getByLabel('Email address').fill(ADA);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${portal.url}/`);
    listener = createServer((_, response) => void response.end('back in the application'));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    relay = createTlsServer(selfSigned(), ({ url = '' }, response) => {
      response
        .writeHead(302, { Location: `${leadsTo}${new URL(url, 'https://relay').search}` })
        .end();
    });
    await new Promise<void>((resolve) => relay.listen(0, 'localhost', resolve));
    const redirectUris = [`https://localhost:${(relay.address() as AddressInfo).port}/callback`];
    relayed = await registerClient(portal, { name: 'Relayed', redirectUris });
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all(
      [listener, relay].map((each) => new Promise((resolve) => each.close(resolve))),
    );
  });

  /** Returns the URL to which the browser brings the response. */
  async function answeredAt(redirectUri: string): Promise<string> {
    await page.goto(authorizationUrl(portal, native, { redirect_uri: redirectUri }));
    const answer = page.waitForRequest((request) => request.url().startsWith(redirectUri));
    await page.getByRole('button', { name: 'Allow' }).click();
    return (await answer).url();
  }

  // @shows AS-7.15, RFC8252-7.3
  test('the redirect reaches a program that listens on its own loopback port', async () => {
    const redirectUri = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
    expect(await answeredAt(redirectUri)).toContain('?code=');
    await page.getByText('back in the application').waitFor();
  });

  // @shows RFC8252-7.1
  test('the content security policy allows the redirect to a private-use scheme', async () => {
    expect(await answeredAt(PRIVATE_USE)).toContain('?code=');
  });

  // @shows AS-8.8
  test.each<[string, () => string]>([
    [
      'a program on this computer',
      () => `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`,
    ],
    ['a private-use scheme', () => PRIVATE_USE],
    ['a scheme without a dot', () => 'claude://callback'],
  ])('the browser follows the redirect of an https callback to %s', async (_, place) => {
    leadsTo = place();
    const redirectUri = `https://localhost:${(relay.address() as AddressInfo).port}/callback`;
    for (const decision of ['Deny', 'Allow']) {
      const tab = await page.context().newPage();
      await tab.goto(authorizationUrl(portal, relayed, { redirect_uri: redirectUri }));
      const answer = tab.waitForRequest((request) => request.url().startsWith(leadsTo));
      await tab.getByRole('button', { name: decision }).click();
      const { searchParams } = new URL((await answer).url());
      expect(searchParams.has(decision === 'Allow' ? 'code' : 'error')).toBe(true);
      await tab.close();
    }
  });
});
