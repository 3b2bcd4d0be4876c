// @engines sqlite: the data for the sign-in page is in a cookie
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthorizationServer, oauthServerConfiguration, type Host } from 'portico';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** What a sign-in page can show about the waiting authorization request. */
const clock = createClock();
let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    random: () => 0,
    config: {
      oauth_server: {
        registration: 'open',
        client_id_metadata_documents: true,
        pushed_authorization_requests: 'accept',
      },
    },
  });
  client = await registerClient(portal, { name: 'Notebook <b>' });
});
afterAll(() => portal.close());

type Changes = Readonly<Record<string, string | undefined>>;

/** The sign-in page to which a request leads. */
const signInPage = (changes: Changes = {}, visitor = portal.visitor(), of = client) =>
  visitor.visit(authorizationUrl(portal, of, changes));
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
const identifierOn = (html: string) =>
  /<input id="identifier"[^>]* value="([^"]*)"/.exec(html)?.[1];

describe('the sign-in page of the kit', () => {
  // @shows AS-39.1
  test('shows the application for which a person signs in, also after a wrong password', async () => {
    const visitor = portal.visitor();
    const page = await signInPage({}, visitor);
    expect(new URL(page.url).pathname).toBe('/login');
    expect(await page.clone().text()).toContain(
      'to continue to <strong><bdi>Notebook &lt;b&gt;</bdi></strong></p>',
    );
    const again = await visitor.submit(page, { identifier: ADA, password: 'wrong' });
    expect(again.status).toBe(401);
    const html = await again.text();
    expect(html).toContain('to continue to <strong><bdi>Notebook &lt;b&gt;</bdi></strong></p>');
    expect(identifierOn(html)).toBe(ADA);
  });

  test.each([
    '/login',
    '/login?return_to=/notes',
    '/login?return_to=%2Foauth%2Fauthorize%3Frequest_id%3Dx',
  ])('shows no application at %s', async (path) => {
    const visitor = portal.visitor();
    await signInPage({}, visitor);
    expect(textOf(await (await visitor.get(path)).text())).not.toContain('to continue to');
  });

  // @shows AS-39.1
  test('shows the application only in the browser of the request, until the request expires', async () => {
    const visitor = portal.visitor();
    const page = await signInPage({}, visitor);
    const says = async (at: Visitor) =>
      (await (await at.get(page.url)).text()).includes('to continue to');
    expect(await says(visitor)).toBe(true);
    expect(await says(portal.visitor())).toBe(false);
    const other = portal.visitor();
    await signInPage({}, other);
    expect(await says(other)).toBe(false);
    clock.advance(599);
    expect(await says(visitor)).toBe(true);
    clock.advance(1);
    expect(await says(visitor)).toBe(false);
  });

  // @shows AS-39.2
  test('shows an unverified client by its host, and never by the name it chose', async () => {
    const registered = await fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Your bank',
        redirect_uris: ['https://notes.example/callback'],
        token_endpoint_auth_method: 'none',
      }),
    });
    const { client_id: id } = (await registered.json()) as { readonly client_id: string };
    const asks = { redirect_uri: 'https://notes.example/callback', scope: undefined };
    const ofRegistered = await (
      await signInPage(asks, portal.visitor(), { id, secret: '' })
    ).text();
    expect(textOf(ofRegistered)).toContain(
      'to continue to notes.example, which Portal has not verified',
    );
    expect(ofRegistered).not.toContain('Your bank');
    const document = { id: 'https://pages.example/client.json', secret: '' };
    const ofDocument = await (await signInPage(asks, portal.visitor(), document)).text();
    expect(textOf(ofDocument)).toContain(
      'to continue to pages.example, which Portal has not verified',
    );
  });

  // @shows AS-39.3
  test.each([
    ['in the query', (hint: string) => signInPage({ login_hint: hint })],
    [
      'that is too long for a cookie',
      (hint: string) => signInPage({ login_hint: hint, state: 's'.repeat(5000) }),
    ],
    [
      'that is posted',
      async (hint: string) => {
        const visitor = portal.visitor();
        const url = new URL(authorizationUrl(portal, client, { login_hint: hint }));
        const led = await visitor.post('/oauth/authorize', Object.fromEntries(url.searchParams));
        return visitor.visit(locationOf(led).href);
      },
    ],
    [
      'that is pushed',
      async (hint: string) => {
        const url = new URL(authorizationUrl(portal, client, { login_hint: hint }));
        const pushed = await fetch(`${portal.url}/oauth/par`, {
          method: 'POST',
          headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
          body: url.searchParams,
        });
        const { request_uri: uri = '' } = (await pushed.json()) as {
          readonly request_uri?: string;
        };
        const query = new URLSearchParams({ client_id: client.id, request_uri: uri });
        return portal.visitor().visit(`/oauth/authorize?${query}`);
      },
    ],
  ])('has the login_hint of a request %s in its field', async (_, ask) => {
    const html = await (await ask('grace+notes@example.com')).text();
    expect(identifierOn(html)).toBe('grace+notes@example.com');
    expect(html).toContain('to continue to');
    expect(html).toMatch(/<input id="password"[^>]* autofocus>/);
  });

  // @shows AS-39.3
  test('shows a login_hint as text, and ignores one that is too long, repeated or unreadable', async () => {
    expect(identifierOn(await (await signInPage({ login_hint: '"><script>' })).text())).toBe(
      '&quot;&gt;&lt;script&gt;',
    );
    for (const hint of ['x'.repeat(255), 'a\u0000b', 'a\u202eb', 'a\nb', '  ', '']) {
      const page = await signInPage({ login_hint: hint });
      expect([hint, page.status, identifierOn(await page.text())]).toEqual([hint, 200, '']);
    }
    const twice = `${authorizationUrl(portal, client)}&login_hint=a&login_hint=b`;
    expect(identifierOn(await (await portal.visitor().visit(twice)).text())).toBe('');
    expect(identifierOn(await (await signInPage({ login_hint: 'x'.repeat(254) })).text())).toBe(
      'x'.repeat(254),
    );
  });

  // @shows AS-39.3
  test('is the same for the login_hint of a known and of an unknown person', async () => {
    const page = async (hint: string) =>
      (await (await signInPage({ login_hint: hint })).text())
        .replaceAll(hint, 'hint')
        .replaceAll(
          /nonce="[^"]*"|name="_csrf" value="[^"]*"|request_id%3D[\w-]*|request_id=[\w-]*/g,
          '',
        );
    expect(await page(ADA)).toBe(await page('nobody@example.com'));
  });
});

describe('a custom sign-in page', () => {
  const person = {
    signedIn: async () => null,
    loadAccount: async () => null,
    holdsPermission: async () => false,
  };
  const serverOf = (
    host: Partial<Host> = {},
    config: { readonly languages?: true } = {},
    publicUrl = 'https://app.example.com',
  ) =>
    createAuthorizationServer({
      publicUrl,
      basePath: '/id',
      config: oauthServerConfiguration.parse({
        ...config,
        name: 'Shop',
        scopes: { 'notes:read': 'Read your notes' },
        key_path: '/nowhere',
      }),
      database: portal.application.database,
      host: { ...person, loginUrl: '/id/sign-in', tellsWhoWaits: true, ...host },
    });
  type Server = ReturnType<typeof serverOf>;

  async function asked(server: Server, changes: Changes = {}) {
    const { search } = new URL(
      authorizationUrl(portal, client, { scope: 'notes:read', ...changes }),
    );
    return load(server, `/id/oauth/authorize${search}`);
  }
  async function load(server: Server, at: string, cookie = '') {
    const endpoint = server.endpoints.find(({ name }) => name === 'oauth_server_authorize');
    const request = new Request(new URL(at, server.issuer), { headers: { cookie } });
    const response = (await endpoint?.handle(request)) ?? Response.error();
    // Leave out the cookie that identifies the browser, which these tests do not check.
    const cookies = response.headers
      .getSetCookie()
      .filter((cookie) => !cookie.includes('portico_browser'));
    const [, returnTo = ''] =
      /[?&]return_to=([^&]*)/.exec(response.headers.get('location') ?? '') ?? [];
    return { status: response.status, cookies, returnTo: decodeURIComponent(returnTo) };
  }
  const sentBack = (cookies: readonly string[]) =>
    cookies.map((cookie) => cookie.split(';')[0]).join('; ');

  // @shows AS-39.4
  test('gets the waiting client, the hint and the languages from a Request or framework headers', async () => {
    const server = serverOf();
    const { cookies, returnTo } = await asked(server, { login_hint: ADA, ui_locales: 'de-AT en' });
    const cookie = sentBack(cookies);
    const expected = {
      clientName: 'Notebook <b>',
      isVerified: true,
      loginHint: ADA,
      uiLocales: ['de-AT', 'en'],
    };
    const request = new Request('https://app.example.com/id/sign-in', { headers: { cookie } });
    expect(await server.waitingFor(request, returnTo)).toEqual(expected);
    expect(await server.waitingFor({ headers: { cookie } }, returnTo)).toEqual(expected);
    for (const elsewhere of [
      null,
      undefined,
      '',
      '/',
      `https://evil.example${returnTo}`,
      `${returnTo}x`,
      returnTo.replace('/authorize', '/applications'),
      'a b',
      'https://',
      // As frameworks represent a repeated parameter.
      [returnTo] as unknown as string,
    ])
      expect(await server.waitingFor(request, elsewhere)).toBeNull();
    expect(await server.waitingFor({ headers: { cookie: [cookie] } }, returnTo)).toBeNull();
    // A cookie of another name, or an unreadable one, adds nothing and hides nothing.
    const [name = '', value = ''] =
      cookie
        .split('; ')
        .find((each) => each.includes('sign_in'))
        ?.split('=') ?? [];
    const withCookies = (sent: string) =>
      server.waitingFor({ headers: { cookie: sent } }, returnTo);
    expect(await withCookies(`x${name}=${value}`)).toBeNull();
    expect(await withCookies(`${name}=x; ${name}=${value}`)).toEqual(expected);
    const plain = await asked(server);
    expect(
      await server.waitingFor({ headers: { cookie: sentBack(plain.cookies) } }, plain.returnTo),
    ).toEqual({
      ...expected,
      loginHint: null,
      uiLocales: [],
    });
    expect(await server.waitingFor({ headers: {} }, returnTo)).toBeNull();
    expect(
      await server.waitingFor({ headers: { cookie: cookie.replaceAll(/.$/g, '') } }, returnTo),
    ).toBeNull();
  });

  // @shows AS-39.4
  test('that does not read hint and languages adds no length to the cookie of a request', async () => {
    const sizeWith = async (server: Server, changes: Changes = {}) =>
      (await asked(server, changes)).cookies[0]?.length ?? 0;
    const [login_hint, ui_locales] = ['ada'.repeat(80), 'de fr es pt ja ar'];
    const silent = serverOf({ tellsWhoWaits: false });
    const plain = await sizeWith(silent);
    expect(await sizeWith(silent, { login_hint, ui_locales })).toBe(plain);
    const translated = serverOf({ tellsWhoWaits: false }, { languages: true });
    expect(await sizeWith(translated, { login_hint })).toBe(plain);
    expect(await sizeWith(translated, { ui_locales })).toBeGreaterThan(plain);
    expect(await sizeWith(serverOf(), { login_hint })).toBeGreaterThan(plain);
  });

  // @shows AS-39.4
  test('gets the data in an encrypted cookie for its path, and only if it reads the data', async () => {
    const { cookies } = await asked(serverOf(), { login_hint: ADA });
    const [waits = '', tells = '', ...more] = cookies;
    expect([waits.startsWith('__Secure-portico_request_'), more]).toEqual([true, []]);
    expect(tells).toMatch(
      /^__Secure-portico_sign_in%2Fid=\d+\.[\w-]+; Path=\/id\/sign-in; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
    expect(Buffer.from(tells.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain(
      'Notebook',
    );
    expect((await asked(serverOf({ tellsWhoWaits: false }))).cookies).toHaveLength(1);
    expect((await asked(serverOf({ loginUrl: () => 'https://id.example/' }))).cookies).toHaveLength(
      1,
    );
    // A page with an invalid URL gets no cookie either, and neither does a page whose path contains
    // a `;`, which would end the cookie's path.
    for (const loginUrl of ['https://', '/sign;in']) {
      const { status, cookies: sent } = await asked(serverOf({ loginUrl: () => loginUrl }));
      expect([status, sent.length]).toEqual([302, 1]);
    }
    const [, overHttp] = (await asked(serverOf({}, {}, 'http://localhost:8080'))).cookies;
    expect(overHttp).toMatch(
      /^portico_sign_in%2Fid=\d+\.[\w-]+; Path=\/id\/sign-in; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    await expect(
      serverOf({ tellsWhoWaits: false }).waitingFor({ headers: {} }, '/'),
    ).rejects.toThrow('waitingFor() needs tellsWhoWaits: true in the host');
  });

  test('shows no removed client to a person who returns without a session', async () => {
    const server = serverOf();
    const own = await registerClient(portal);
    const url = new URL(authorizationUrl(portal, own, { scope: 'notes:read' }));
    const { cookies, returnTo } = await load(server, `/id/oauth/authorize${url.search}`);
    expect(cookies).toHaveLength(2);
    const [waits = ''] = cookies;
    const back = () => load(server, returnTo, waits.split(';')[0]);
    expect((await back()).cookies).toEqual([expect.stringContaining('portico_sign_in')]);
    await portal.application.database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [
      own.id,
    ]);
    expect(await back()).toMatchObject({ status: 302, cookies: [] });
  });
});
