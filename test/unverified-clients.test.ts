// @engines sqlite: pages describe clients in the same way on every engine
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AUDIT, examine, type AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from './support/chromium.ts';
import { describeWith } from './support/describe-with.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { startDocumentHost } from './support/document-host.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  GRACE,
  PASSWORD,
  requestToken,
  VERIFIER,
  REDIRECT_URI,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { putUnverified } from './support/unverified.ts';
import { isRedirect, locationOf, type Visitor } from './support/visitor.ts';

const DOCUMENT = 'https://client.example/oauth/client.json';
const LOOPBACK = 'http://127.0.0.1:3118/callback';
const PRIVATE_USE = 'com.example.app:/callback';
const SITE = 'https://elsewhere.example/callback';

const clock = createClock();
let portal: RunningPortal;
let ada: Visitor;
/** Clients that no operator registered: one by its document, and two that registered themselves. */
let byDocument: TestClient;
let onLoopback: TestClient;
let onSite: TestClient;

const REGISTRATION = { oauth_server: { registration: 'open' } };
const DOCUMENTS = { oauth_server: { client_id_metadata_documents: true } };

beforeAll(async () => {
  portal = await startPortal({ config: DOCUMENTS, clock: clock.now });
  ada = await portal.signedIn(ADA);
  byDocument = await putUnverified(portal, {
    document: DOCUMENT,
    name: 'Some Assistant',
    redirectUris: [LOOPBACK, PRIVATE_USE, SITE, 'https://client.example/callback'],
  });
  onLoopback = await putUnverified(portal, {
    document: null,
    name: 'A Tool',
    redirectUris: [LOOPBACK],
  });
  onSite = await putUnverified(portal, {
    document: null,
    name: 'A Site',
    redirectUris: [SITE, LOOPBACK],
  });
});
afterAll(() => portal.close());

const SCOPE = 'openid notes:read';

function url(
  client: TestClient,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  return authorizationUrl(portal, client, { scope: SCOPE, redirect_uri: LOOPBACK, ...changes });
}

const textOf = (html: string) =>
  html
    .replace(/<style[\s\S]*<\/style>/, '')
    .replaceAll(/<wbr>|<\/?bdi[^>]*>|<\/?strong>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

/** The words of the consent screen for this person. */
async function asked(
  client: TestClient,
  changes: Readonly<Record<string, string | undefined>> = {},
) {
  const page = await ada.get(url(client, changes));
  expect(page.status).toBe(200);
  return textOf(await page.text());
}

describe('the consent screen of a client that no operator registered', () => {
  // @shows AS-8.14
  test('shows for a metadata document its host, then that it is not verified, then its name', async () => {
    const text = await asked(byDocument);
    expect(text).toMatch(
      /Allow client\.example to use your .* account\? Not verified by .* It calls itself: Some Assistant/,
    );
  });

  // @shows AS-8.14
  test.each([
    ['a loopback address', LOOPBACK, 'you will be sent to a program on this computer'],
    ['a private-use scheme', PRIVATE_USE, 'you will be sent to an application on this device'],
    [
      'the host of the client',
      'https://client.example/callback',
      'you will be sent to client.example. Allow',
    ],
    [
      'a different host',
      SITE,
      'you will be sent to elsewhere.example, which is a different site from client.example',
    ],
  ])('shows where the response goes: %s', async (_, redirectUri, says) => {
    expect(await asked(byDocument, { redirect_uri: redirectUri })).toContain(says);
  });

  // @shows AS-8.14
  test('identifies a self-registered client by its redirect address', async () => {
    expect(await asked(onLoopback)).toContain('Allow a program on this computer to use your');
    expect(await asked(onSite, { redirect_uri: SITE })).toContain(
      'Allow elsewhere.example to use your',
    );
    expect(await asked(onSite)).toContain('Allow a program on this computer to use your');
  });

  // @shows AS-8.15
  test.each([
    ['letters of two scripts', 'https://аррӏе.example/c', 'xn--80ak6aa92e.example'],
    ['an umlaut', 'https://bücher.example/c', 'xn--bcher-kva.example'],
    [
      'the host of a private-use scheme',
      'com.example.app://portal.example/c',
      'an application on this device',
    ],
  ])('shows a host in ASCII: %s', async (_, redirectUri, shown) => {
    const sent = redirectUri.startsWith('https:') ? new URL(redirectUri).href : redirectUri;
    const client = await putUnverified(portal, { document: null, name: 'X', redirectUris: [sent] });
    const text = await asked(client, { redirect_uri: sent });
    expect(text).toContain(`Allow ${shown} to use`);
    expect(text).not.toContain('portal.example');
  });

  // @shows AS-8.15
  test.each([
    ['the name of the server', (own: string) => own],
    [
      'the name of the server in a different spelling',
      (own: string) => `${own.toUpperCase().split('').join('.')} Security`,
    ],
    [
      'the name of the server in wide letters',
      (own: string) =>
        own.replaceAll(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
    ],
    ['letters of two scripts', () => 'Ассоunt Неlp'],
    ['invisible', () => '\u200b\u202e\u2066 \u3164'],
  ])('does not show a name that is %s', async (_, made) => {
    const name = made(portal.server.config.name);
    const client = await putUnverified(portal, { document: null, name, redirectUris: [LOOPBACK] });
    expect(await asked(client)).not.toContain('It calls itself');
  });

  // @shows AS-8.15
  test('shows a name without quotes, control characters and stacked marks, and truncated', async () => {
    const name = `\u202e“Tool«\u2066${'\u0301'.repeat(50)} <b>&</b> ${'very long '.repeat(40)}`;
    const client = await putUnverified(portal, { document: null, name, redirectUris: [LOOPBACK] });
    const html = await (await ada.get(url(client))).text();
    const shown = /It calls itself: <q><bdi>(.*?)<\/bdi>/.exec(html)?.[1] ?? '';
    expect(shown).toMatch(/^Tool\u0301{1,2} &lt;b&gt;&amp;&lt;\/b&gt; very long .*…$/);
    expect(shown.length).toBeLessThan(100);
  });

  // @shows AS-8.14
  test('shows the host and "not verified" in an older view that knows only names', async () => {
    const views = await mkdtemp(path.join(tmpdir(), 'portico-before-'));
    await mkdir(path.join(views, 'oauth'));
    const view =
      '<p>Allow <%= it.clientName %>? You are sent to <%= it.redirectHost %>.</p><% for (const scope of it.scopes) { %><%= scope.label %> <% } %>';
    await writeFile(path.join(views, 'oauth', 'consent.eta'), view);
    const another = await startPortal({ views, config: DOCUMENTS });
    try {
      const client = await putUnverified(another, {
        document: DOCUMENT,
        name: 'Your Bank',
        redirectUris: [LOOPBACK],
      });
      const page = await (
        await another.signedIn(ADA)
      ).get(authorizationUrl(another, client, { scope: SCOPE, redirect_uri: LOOPBACK }));
      const html = await page.text();
      expect(html).toContain(
        'Allow client.example (not verified)? You are sent to a program on this computer.',
      );
      expect(html).toContain('Read your notes');
      expect(html).not.toContain('Your Bank');
    } finally {
      await another.close();
      await rm(views, { recursive: true });
    }
  });
});

describeWith('chromium')('in a real Chromium', () => {
  // @shows AS-8.15
  test('the longest host is fully readable on a small phone, and no name covers anything', async () => {
    const label = 'a'.repeat(63);
    const host = `accounts.example.${label}.${label}.${label}.evil.example`;
    const redirectUri = `https://${host}/c`;
    const name = `${'W'.repeat(59)}${'\u0301'.repeat(60)}`;
    const client = await putUnverified(portal, {
      document: null,
      name,
      redirectUris: [redirectUri],
    });
    const browser = await launchChromium();
    try {
      const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
      await page.goto(`${portal.url}/login`);
      await page.fill('[name=identifier]', ADA);
      await page.fill('[name=password]', PASSWORD);
      await page.click('button[type=submit]');
      await page.goto(url(client, { redirect_uri: redirectUri }));
      expect((await page.textContent('.asks'))?.trim()).toBe(host);
      const measured = await page.evaluate(() => {
        const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect();
        const [asks, claim, person] = [box('.asks'), box('.claim'), box('.person')];
        return {
          overflow: document.documentElement.scrollWidth > innerWidth,
          asks: (asks?.left ?? -1) >= 0 && (asks?.right ?? 9999) <= innerWidth,
          apart:
            (asks?.bottom ?? 9999) <= (claim?.top ?? 0) &&
            (claim?.bottom ?? 9999) <= (person?.top ?? 0),
          clipped: getComputedStyle(document.querySelector('.claim') ?? document.body).overflow,
        };
      });
      expect(measured).toEqual({ overflow: false, asks: true, apart: true, clipped: 'hidden' });
      const answered = page.waitForRequest((request) => request.url().startsWith(redirectUri));
      await page.click('[value=deny]');
      expect((await answered).url()).toContain('error=access_denied');
    } finally {
      await browser.close();
    }
  });
});

describe('a client that an operator registered', () => {
  // @shows AS-8.5, AS-8.14
  test('has its name on the consent screen, without a word about verification', async () => {
    const client = await registerClient(portal, { name: 'A <registered> "client"' });
    const html = await (await ada.get(authorizationUrl(portal, client))).text();
    expect(html).toContain(
      '<h1>Allow <bdi>A &lt;registered&gt; &quot;client&quot;</bdi> to use your Portal account?</h1>',
    );
    expect(textOf(html)).not.toMatch(/verified|calls itself|role="note"/);
  });
});

describe('a browser is redirected to an unverified client only after a person has signed in:', () => {
  const BAD = { scope: 'no:such:scope' };
  const WRONG: readonly [string, Readonly<Record<string, string | undefined>>, string][] = [
    ['an unknown scope', BAD, 'invalid_scope'],
    ['prompt=none', { prompt: 'none' }, 'interaction_required'],
    ['no PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
  ];

  function clients() {
    return { byDocument, onLoopback };
  }

  async function expectSignIn(response: Response): Promise<Response> {
    expect(isRedirect(response)).toBe(true);
    const location = locationOf(response);
    expect(location.origin).toBe(portal.url);
    expect(location.pathname).toBe('/login');
    return response;
  }

  // @shows AS-7.17, RFC9700-4.11.2
  test.each(WRONG)('%s: sign-in comes first, then the error', async (_, changes, error) => {
    for (const client of Object.values(clients())) {
      const visitor = portal.visitor();
      const sent = await expectSignIn(await visitor.get(url(client, changes)));
      const login = await visitor.get(locationOf(sent).href);
      const back = await signIn(visitor, login, ADA);
      const answer = locationOf(await visitor.get(locationOf(back).href));
      expect(answer.href.startsWith(`${LOOPBACK}?`)).toBe(true);
      expect(answer.searchParams.get('error')).toBe(error);
      expect(answer.searchParams.get('state')).toBe('the-state');
      expect(answer.searchParams.get('iss')).toBe(portal.url);
    }
  });

  // @shows AS-7.17
  test('a repeated parameter is still refused after the sign-in', async () => {
    const visitor = portal.visitor();
    const twice = `${url(onLoopback)}&scope=openid&state=another`;
    const sent = await expectSignIn(await visitor.get(twice));
    const back = await signIn(visitor, await visitor.get(locationOf(sent).href), ADA);
    const answer = locationOf(await visitor.get(locationOf(back).href));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
    expect(answer.searchParams.has('state')).toBe(false);
  });

  // @shows AS-7.17, RFC9700-4.11.2
  test.each(WRONG)('%s, in a form that a different site posts', async (_, changes, error) => {
    const visitor = portal.visitor();
    const form = Object.fromEntries(new URL(url(onLoopback, changes)).searchParams);
    const posted = await visitor.post('/oauth/authorize', form);
    expect(posted.status).toBe(303);
    expect(locationOf(posted).pathname).toBe('/oauth/authorize');
    const sent = await expectSignIn(await visitor.get(locationOf(posted).href));
    const back = await signIn(visitor, await visitor.get(locationOf(sent).href), ADA);
    const answer = locationOf(await visitor.get(locationOf(back).href));
    expect(answer.searchParams.get('error')).toBe(error);
  });

  // @shows AS-7.18, RFC9700-4.11.2
  test.each(WRONG)(
    '%s, for a site: a signed-in person, too, must click a link to go there',
    async (_, changes, error) => {
      for (const client of [byDocument, onSite]) {
        const page = await ada.get(url(client, { redirect_uri: SITE, ...changes }));
        expect(page.status).toBe(400);
        expect(page.headers.has('location')).toBe(false);
        const html = await page.text();
        expect(textOf(html)).toContain('Nothing was shared');
        expect(html).not.toContain('Some Assistant');
        const link = new URL(
          /<a href="([^"]*)">Go back to elsewhere\.example</
            .exec(html)?.[1]
            ?.replaceAll('&amp;', '&') ?? '',
        );
        expect(link.href.startsWith(`${SITE}?`)).toBe(true);
        expect(link.searchParams.get('error')).toBe(error);
        expect(link.searchParams.get('iss')).toBe(portal.url);
      }
    },
  );

  // @shows AS-7.18
  test('the answer to a consent screen redirects automatically, even to a site', async () => {
    const local = await ada.submit(await ada.get(url(byDocument)), { decision: 'deny' });
    expect(locationOf(local).searchParams.get('error')).toBe('access_denied');
    const site = await ada.submit(await ada.get(url(byDocument, { redirect_uri: SITE })), {
      decision: 'deny',
    });
    expect(site.status).toBe(303);
    expect(locationOf(site).href).toContain(SITE);
    expect(locationOf(site).searchParams.get('error')).toBe('access_denied');
    const allowed = await ada.submit(await ada.get(url(byDocument, { redirect_uri: SITE })), {
      decision: 'allow',
    });
    expect(locationOf(allowed).searchParams.get('code')).not.toBeNull();
  });

  // @shows AS-7.17
  test('an unregistered redirect URI gives a page, which does not show the name of the client', async () => {
    const client = await putUnverified(portal, {
      document: null,
      name: 'Your Bank',
      redirectUris: [LOOPBACK],
    });
    const page = await portal
      .visitor()
      .get(url(client, { redirect_uri: 'https://evil.example/c' }));
    expect(page.status).toBe(400);
    expect(await page.text()).not.toContain('Your Bank');
  });

  // @shows AS-7.4
  test('an error of a client of an operator redirects immediately', async () => {
    const client = await registerClient(portal);
    const answer = locationOf(await portal.visitor().get(authorizationUrl(portal, client, BAD)));
    expect(answer.href.startsWith(REDIRECT_URI)).toBe(true);
    expect(answer.searchParams.get('error')).toBe('invalid_scope');
  });
});

describe('the applications page of a person', () => {
  // @shows HOST-2.5
  test('identifies an unverified client by its origin, and revokes everything it has', async () => {
    const grace = await portal.signedIn(GRACE);
    for (const client of [byDocument, byDocument, onSite]) {
      const page = await grace.get(url(client));
      expect(
        locationOf(await grace.submit(page, { decision: 'allow' })).searchParams.get('code'),
      ).not.toBeNull();
    }
    const text = async () => textOf(await (await grace.get('/oauth/applications')).text());
    const before = await text();
    expect(before).toMatch(
      /client\.example Not verified by [^.]*\. It calls itself: Some Assistant/,
    );
    expect(before).toContain('elsewhere.example, a program on this computer Not verified by');
    expect(before.match(/Remove access/g)).toHaveLength(2);

    const html = await (await grace.get('/oauth/applications')).text();
    const form = new RegExp(
      `name="client_id" value="${DOCUMENT}">\\s*<input[^>]*value="([^"]*)"`,
    ).exec(html);
    await grace.post('/oauth/applications', { client_id: DOCUMENT, csrf_token: form?.[1] ?? '' });
    expect(await text()).not.toContain('client.example');
    expect(await text()).toContain('elsewhere.example');
  });

  // @shows HOST-2.5
  test('shows all hosts of a self-registered client, so that none can be hidden', async () => {
    const redirectUris = [
      'https://a.example/c',
      'https://b.example/c',
      'https://c.example/c',
      SITE,
    ];
    const client = await putUnverified(portal, { document: null, name: 'X', redirectUris });
    const grace = await portal.signedIn(GRACE);
    const page = await grace.get(url(client, { redirect_uri: SITE }));
    await grace.submit(page, { decision: 'allow' });
    const html = await (await grace.get('/oauth/applications')).text();
    expect(textOf(html)).toContain('a.example, b.example, c.example, elsewhere.example');
  });

  // @shows HOST-2.5
  test('gives the origin in place of the name to an older view', async () => {
    const views = await mkdtemp(path.join(tmpdir(), 'portico-before-'));
    await mkdir(path.join(views, 'oauth'));
    await writeFile(
      path.join(views, 'oauth', 'applications.eta'),
      '<% for (const application of it.applications) { %><p><%= application.name %></p><% } %>',
    );
    const another = await startPortal({ views, config: DOCUMENTS });
    try {
      const name = 'Your Bank';
      const client = await putUnverified(another, {
        document: DOCUMENT,
        name,
        redirectUris: [LOOPBACK],
      });
      const visitor = await another.signedIn(ADA);
      const page = await visitor.get(
        authorizationUrl(another, client, { scope: SCOPE, redirect_uri: LOOPBACK }),
      );
      await visitor.submit(page, { decision: 'allow' });
      expect(await (await visitor.get('/oauth/applications')).text()).toBe(
        '<p>client.example (not verified)</p>',
      );
    } finally {
      await another.close();
      await rm(views, { recursive: true });
    }
  });
});

describe('the console', () => {
  const exchangePublic = (code: string, client: Readonly<Record<string, string>>) =>
    requestToken(portal, null, {
      grant_type: 'authorization_code',
      code,
      code_verifier: VERIFIER,
      ...client,
    });
  const run = (...args: string[]) =>
    porticoHere(args, { cwd: path.join(ROOT, 'examples', 'portal'), env: portal.env });

  // @shows AS-13.4
  test('lists who registered a client, and never shows a self-chosen name as its name', async () => {
    const name = 'Portal\u001b[2J\u202e';
    const client = await putUnverified(portal, { document: null, name, redirectUris: [LOOPBACK] });
    const { stdout } = await run('oauth:client:list');
    expect(stdout).toContain(
      `${client.id}  "Portal\\u{1b}[2J\\u{202e}"  (public, registered itself)\n`,
    );
    expect(stdout).toContain(`${DOCUMENT}  "Some Assistant"  (public, a document)\n`);
    const listed = JSON.parse((await run('oauth:client:list', '--json')).stdout) as readonly Record<
      string,
      unknown
    >[];
    const registeredBy = (id: string) =>
      listed.find((each) => each['client_id'] === id)?.['registered_by'];
    expect([registeredBy(client.id), registeredBy(DOCUMENT)]).toEqual(['registration', 'document']);
  });

  // @shows AS-13.20
  test('blocks the URL of a document that a person has allowed, with its tokens, and prints this', async () => {
    const blocked = 'https://blocked.example/client.json';
    const client = await putUnverified(portal, {
      document: blocked,
      name: 'X',
      redirectUris: [LOOPBACK],
    });
    const grace = await portal.signedIn(GRACE);
    const allowed = await grace.submit(await grace.get(url(client)), { decision: 'allow' });
    const code = locationOf(allowed).searchParams.get('code') ?? '';
    const exchange = { client_id: blocked, redirect_uri: LOOPBACK };
    const tokens = (await (await exchangePublic(code, exchange)).json()) as Tokens;
    const asks = () =>
      fetch(`${portal.url}/oauth/userinfo`, {
        headers: { Authorization: `Bearer ${tokens.access_token}` },
      });
    expect((await asks()).status).toBe(200);
    const open = await grace.get(url(client));

    const { code: exit, stdout, stderr } = await run('oauth:client:revoke', blocked);
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: `The URL ${blocked} is blocked. People can no longer allow this application. All its tokens are revoked.\n`,
    });
    expect(stderr).toContain('Other documents of blocked.example are not');
    expect((await asks()).status).toBe(401);
    expect((await grace.submit(open, { decision: 'allow' })).status).toBe(400);
    expect((await grace.get(url(client))).status).toBe(400);
    expect(textOf(await (await grace.get('/oauth/applications')).text())).not.toContain(
      'blocked.example',
    );
    expect((await run('oauth:client:list')).stdout).toContain(
      `${blocked}  "X"  (public, a document, blocked)`,
    );
    expect((await run('oauth:client:revoke', blocked)).stderr).toContain('is already revoked');
  });

  // @shows AS-13.20
  test('blocks an unused URL permanently', async () => {
    const unseen = 'https://unseen.example/client.json';
    const { stdout } = await run('oauth:client:revoke', unseen);
    expect(stdout).toContain(`The URL ${unseen} is blocked. No person has used it yet`);
    clock.advance(100 * 86_400);
    await portal.server.prune();
    const page = await ada.get(url({ id: unseen, secret: '' }));
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('Unknown application');
    expect((await run('oauth:client:list')).stdout).toContain(
      `${unseen}  "unseen.example"  (public, a document, blocked)`,
    );
  });

  // @shows AS-13.20
  test.each([
    'https://client.example',
    'https://client.example/a/../b',
    'https://user@client.example/c',
  ])('refuses to block a text that cannot be a client ID: %s', async (id) => {
    const { code, stderr } = await run('oauth:client:revoke', id);
    expect(code).toBe(1);
    expect(stderr).toContain('This URL cannot be a client id');
  });

  // @shows AS-13.20, AS-19.1
  test('records revocations and blocks as events, with who registered the client', async () => {
    const events: AuditEvent[] = [];
    portal.application.events.on(AUDIT, (event: AuditEvent) => {
      events.push(event);
    });
    const itself = await putUnverified(portal, {
      document: null,
      name: 'X',
      redirectUris: [LOOPBACK],
    });
    events.length = 0;
    await portal.server.clients.revoke(itself.id);
    await portal.server.clients.revoke('https://events.example/client.json');
    expect(events).toEqual([
      { type: 'client_revoked', clientId: itself.id, registeredBy: 'registration' },
      {
        type: 'client_revoked',
        clientId: 'https://events.example/client.json',
        registeredBy: 'document',
      },
    ]);
  });
});

describe('the first use of the URL of a metadata document', () => {
  // @shows AS-19.1
  test('is one event, when a person first sees its request', async () => {
    const host = await startDocumentHost();
    const another = await startPortal({ config: DOCUMENTS, outbound: host.outbound });
    try {
      const id = host.publish('/client.json', {
        client_name: 'X',
        redirect_uris: [LOOPBACK],
        token_endpoint_auth_method: 'none',
      });
      const events: AuditEvent[] = [];
      another.application.events.on(AUDIT, (event: AuditEvent) => {
        events.push(event);
      });
      const asking = authorizationUrl(
        another,
        { id, secret: '' },
        { scope: SCOPE, redirect_uri: LOOPBACK },
      );
      await another.visitor().visit(asking);
      expect(events).toEqual([]);
      const visitor = await another.signedIn(ADA);
      for (let time = 0; time < 2; time += 1) expect((await visitor.get(asking)).status).toBe(200);
      expect(events).toEqual([
        { type: 'client_registered', clientId: id, registeredBy: 'document' },
      ]);
    } finally {
      await another.close();
      await host.close();
    }
  });
});

describe('a client that registered itself at the endpoint', () => {
  // @shows AS-8.14, AS-19.1
  test('is shown as self-registered on the consent screen, in the list and in the events', async () => {
    const another = await startPortal({ config: REGISTRATION });
    try {
      const events: AuditEvent[] = [];
      another.application.events.on(AUDIT, (event: AuditEvent) => {
        events.push(event);
      });
      const body = JSON.stringify({
        client_name: 'Some Tool',
        redirect_uris: [LOOPBACK],
        token_endpoint_auth_method: 'none',
      });
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(`${another.url}/oauth/register`, {
        method: 'POST',
        headers,
        body,
      });
      const { client_id: id } = (await response.json()) as { client_id: string };
      const changes = { scope: SCOPE, redirect_uri: 'http://127.0.0.1:40404/callback' };
      const page = await (
        await another.signedIn(ADA)
      ).get(authorizationUrl(another, { id, secret: '' }, changes));
      expect(textOf(await page.text())).toMatch(
        /Allow a program on this computer to .* It calls itself: Some Tool/,
      );
      const wrong = await another
        .visitor()
        .get(authorizationUrl(another, { id, secret: '' }, { ...changes, prompt: 'none' }));
      expect(locationOf(wrong).pathname).toBe('/login');
      const run = (...args: string[]) =>
        porticoHere(args, { cwd: path.join(ROOT, 'examples', 'portal'), env: another.env });
      expect((await run('oauth:client:list')).stdout).toContain(
        `${id}  "Some Tool"  (public, native, registered itself)`,
      );
      await another.server.clients.revoke(id);
      expect(events).toMatchObject([
        { type: 'client_registered', clientId: id, registeredBy: 'registration' },
        { type: 'client_revoked', clientId: id, registeredBy: 'registration' },
      ]);
    } finally {
      await another.close();
    }
  });
});

describe('earlier access on the consent screen, if clients may ask for more,', () => {
  let stepping: RunningPortal;
  beforeAll(async () => {
    stepping = await startPortal({
      config: (at) => ({
        oauth_server: { ...DOCUMENTS.oauth_server, challenge: true, audience: `${at}/api` },
      }),
    });
  });
  afterAll(() => stepping.close());

  async function shown(visitor: Visitor, client: TestClient, scope: string, redirectUri: string) {
    const page = await visitor.get(
      authorizationUrl(stepping, client, { scope, redirect_uri: redirectUri }),
    );
    const html = await page.clone().text();
    const [, isOpen, kept = ''] =
      /<details class="granted"( open)?>([\s\S]*)<\/details>/.exec(html) ?? [];
    return {
      page,
      asked: textOf(html.replace(kept, '')),
      kept: textOf(kept),
      isOpen: isOpen !== undefined,
    };
  }

  const codeOf = async (visitor: Visitor, page: Response) =>
    locationOf(await visitor.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';

  /** Says yes, and the client redeems the code; returns the scopes that it then has. */
  async function allow(visitor: Visitor, client: TestClient, page: Response, redirectUri: string) {
    const response = await requestToken(stepping, client.secret === '' ? null : client, {
      ...(client.secret === '' ? { client_id: client.id } : {}),
      grant_type: 'authorization_code',
      code: await codeOf(visitor, page),
      redirect_uri: redirectUri,
      code_verifier: VERIFIER,
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as Tokens).scope;
  }

  // @shows AS-8.20
  test('is separate from new access, and collapsed only for a client of an operator', async () => {
    for (const [client, isVouchedFor] of [
      [
        await putUnverified(stepping, {
          document: 'https://steps.example/c',
          name: 'X',
          redirectUris: [SITE],
        }),
        false,
      ],
      [await putUnverified(stepping, { document: null, name: 'X', redirectUris: [SITE] }), false],
      [await registerClient(stepping, { redirectUris: [SITE] }), true],
    ] as const) {
      const visitor = await stepping.signedIn(ADA);
      const first = await shown(visitor, client, 'openid notes:read', SITE);
      expect(first.asked).toContain(
        'It will be able to Who you are Confirm who you are See Read your notes',
      );
      expect(first.asked).not.toContain('New:');
      await allow(visitor, client, first.page, SITE);

      const more = await shown(visitor, client, 'openid notes:write', SITE);
      expect(more.asked).toMatch(/It will now also be able to Write notes for you/);
      expect(more.asked).not.toContain('Read your notes');
      expect(more.kept).toMatch(
        /It keeps the access that you allowed before \(2\) Who you are Confirm who you are See Read your notes/,
      );
      expect(more.isOpen).toBe(!isVouchedFor);
      await allow(visitor, client, more.page, SITE);

      const again = await shown(visitor, client, 'notes:read', SITE);
      expect(again.asked).toContain('It is not asking for new access');
    }
  });

  // @shows AS-8.20
  test('is not collapsed if a different program could pretend to be the client', async () => {
    const client = await putUnverified(stepping, {
      document: null,
      name: 'X',
      redirectUris: [LOOPBACK],
    });
    const visitor = await stepping.signedIn(ADA);
    const first = await shown(visitor, client, 'notes:read', LOOPBACK);
    await allow(visitor, client, first.page, LOOPBACK);
    const more = await shown(visitor, client, 'notes:write', LOOPBACK);
    expect(more.kept).toContain('Read your notes');
    expect(more.isOpen).toBe(true);
  });

  // @shows AS-8.18
  test('is empty if the code was not redeemed, because the client may never have received it', async () => {
    for (const client of [
      await putUnverified(stepping, { document: null, name: 'X', redirectUris: [SITE] }),
      await registerClient(stepping, { redirectUris: [SITE] }),
    ]) {
      const visitor = await stepping.signedIn(ADA);
      const first = await shown(visitor, client, 'openid notes:read', SITE);
      await codeOf(visitor, first.page);
      const more = await shown(visitor, client, 'notes:write', SITE);
      expect(more.kept).toBe('');
      expect(await allow(visitor, client, more.page, SITE)).toBe('notes:write');
    }
  });

  // @shows AS-8.18
  test.each([
    ['a different site', 'https://evil.example/callback', null],
    ['a program on this computer', LOOPBACK, null],
    ['an application on this device', PRIVATE_USE, 'https://places.example/c'],
  ])(
    'is empty for a client with redirect URIs at several places: %s',
    async (_, elsewhere, document) => {
      const redirectUris = [SITE, elsewhere];
      const client = await putUnverified(stepping, { document, name: 'X', redirectUris });
      const visitor = await stepping.signedIn(ADA);
      const first = await shown(visitor, client, 'notes:read', SITE);
      await allow(visitor, client, first.page, SITE);
      const more = await shown(visitor, client, 'notes:write', elsewhere);
      expect(more.kept).toBe('');
      expect(await allow(visitor, client, more.page, elsewhere)).toBe('notes:write');
    },
  );

  // @shows AS-8.18
  test('stays granted for a client with several redirect URIs at one place', async () => {
    const redirectUris = [LOOPBACK, 'http://localhost:9/callback'];
    const client = await putUnverified(stepping, { document: null, name: 'X', redirectUris });
    const visitor = await stepping.signedIn(ADA);
    const first = await shown(visitor, client, 'notes:read', LOOPBACK);
    await allow(visitor, client, first.page, LOOPBACK);
    const more = await shown(visitor, client, 'notes:write', redirectUris[1] ?? '');
    expect(
      (await allow(visitor, client, more.page, redirectUris[1] ?? '')).split(' ').toSorted(),
    ).toEqual(['notes:read', 'notes:write']);
  });
});

describe('the doctor', () => {
  const form =
    '<form>request_id=<%= it.requestId %> csrf_token=<%= it.csrfToken %> decision</form>';

  // @shows AS-8.14
  test.each([
    ['does not identify the client', '', 'failing', DOCUMENTS],
    ['does not identify the client, with open registration', '', 'failing', REGISTRATION],
    ['shows only the name of the client', '<%= it.clientName %>', 'ok', DOCUMENTS],
    ['does not identify the client, if only operators register clients', '', 'ok', {}],
  ])('checks a custom view that %s', async (_, says, status, config) => {
    const views = await mkdtemp(path.join(tmpdir(), 'portico-doctor-view-'));
    await mkdir(path.join(views, 'oauth'));
    await writeFile(path.join(views, 'oauth', 'consent.eta'), says + form);
    const another = await startPortal({ views, config });
    try {
      const { checks } = await examine(another.application, another.server);
      expect(checks.find(({ part }) => part === 'views')).toMatchObject({ outcome: status });
    } finally {
      await another.close();
      await rm(views, { recursive: true });
    }
  });
});
