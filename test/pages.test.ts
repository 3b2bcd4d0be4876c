// @engines sqlite: pages are the same on every database
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startApplication, type Application, type ErrorView, type SignInView } from '@portico/kit';
import {
  createAuthorizationServer,
  oauthServerConfiguration,
  type BrandingView,
  type OAuthViews,
  type Route,
} from 'portico';
import { createHandler } from 'portico/fetch';
import { afterAll, beforeAll, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { ROOT } from './support/console.ts';
import {
  ADA,
  authorizationUrl,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import { codeBlocks } from './support/documents.ts';
import { formOf, locationOf } from './support/visitor.ts';

/** How an application adapts the pages: with its branding, and with slots. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-pages-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}
const policyOf = (response: Response) =>
  (response.headers.get('content-security-policy') ?? '').replaceAll(/'nonce-[^']*'/g, "'nonce'");
const nonceOf = (response: Response) =>
  /'nonce-([^']*)'/.exec(response.headers.get('content-security-policy') ?? '')?.[1] ?? '';

describe('branding', () => {
  let portal: RunningPortal;
  let pages: readonly (readonly [string, string])[];
  let logo: string;
  const SVG =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>';

  beforeAll(async () => {
    portal = await startPortal({
      config: {
        base_path: '/id',
        branding: { logo: await write('logo.txt', SVG), accent: '#5b3df5' },
        oauth_server: { admin_permission: 'notes:write' },
      },
    });
    const client = await registerClient(portal);
    const ada = portal.visitor();
    const login = await ada.visit(
      authorizationUrl(portal, client).replace('/oauth/', '/id/oauth/'),
    );
    const consent = await ada.submit(login.clone(), { identifier: ADA, password: 'portico' });
    pages = [
      ['sign-in', await login.text()],
      ['consent', await (await ada.visit(locationOf(consent).href)).text()],
      ['applications', await (await ada.visit('/id/oauth/applications')).text()],
      ['error', await (await ada.visit('/id/oauth/authorize?client_id=x')).text()],
      ['administration', await (await ada.visit('/id/oauth/admin')).text()],
      ['404', await (await ada.visit('/nowhere')).text()],
    ];
    logo = /src="([^"]*)"/.exec(pages[0]?.[1] ?? '')?.[1] ?? '';
  });
  afterAll(() => portal.close());

  // @shows AS-39.6
  test('is on every page: the logo from this origin, and light and dark colors', () => {
    expect(logo).toMatch(/^\/id\/oauth\/branding\/logo\?v=[\w-]{16}$/);
    for (const [name, html] of pages) {
      expect([name, html.includes(`<img class="brand" src="${logo}" alt="">`)]).toEqual([
        name,
        true,
      ]);
      expect([name, html.includes(':root { --brand: #5b3df5;')]).toEqual([name, true]);
      expect([name, /dark\) \{ :root \{ --brand: #5b3df5;/.test(html)]).toEqual([name, true]);
    }
  });

  // @shows AS-39.8, AS-6.31
  test('serves the logo at a versioned URL with a long cache time, its type and no scripts', async () => {
    const served = await fetch(`${portal.url}${logo}`);
    expect([served.status, await served.text()]).toEqual([200, SVG]);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      etag: `"${logo.split('=')[1]}"`,
    });
    expect(served.headers.get('set-cookie')).toBeNull();
    const shown = await fetch(`${portal.url}${logo}`, { headers: { Cookie: 'session=1' } });
    expect(shown.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    const other = await fetch(`${portal.url}${logo}x`);
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    const own = await fetch(`${portal.url}${logo}x`, { headers: { Cookie: 'session=1' } });
    expect(own.headers.get('cache-control')).toBe('private, no-cache');
    const etag = served.headers.get('etag') ?? '';
    const again = await fetch(`${portal.url}${logo}`, { headers: { 'If-None-Match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  // @shows AS-39.8
  test('serves a logo for each mode, only to GET, and none without the setting', async () => {
    const [light, dark] = [await write('light.svg', SVG), await write('dark.svg', `${SVG}\n`)];
    const branded = await startPortal({
      config: { base_path: '/id', branding: { logo: light, logo_dark: dark } },
    });
    onTestFinished(() => branded.close());
    const logos = `${branded.url}/id/oauth/branding`;
    expect(await (await fetch(`${logos}/logo`)).text()).toBe(SVG);
    expect(await (await fetch(`${logos}/logo-dark`)).text()).toBe(`${SVG}\n`);
    expect((await fetch(`${logos}/logo`, { method: 'POST' })).status).toBe(405);
    const plain = await startPortal();
    onTestFinished(() => plain.close());
    expect((await fetch(`${plain.url}/oauth/branding/logo`)).status).toBe(404);
  });

  // @shows AS-39.8
  test('serves the logo in an application of a different framework, too', async () => {
    const server = createAuthorizationServer({
      publicUrl: 'https://host.example',
      config: oauthServerConfiguration.parse({
        name: 'Host',
        scopes: {},
        key_path: folder,
        branding: { logo: await write('host.svg', SVG) },
      }),
      database: portal.application.database,
      host: {
        signedIn: async () => null,
        loadAccount: async () => null,
        holdsPermission: async () => false,
        loginUrl: '/login',
        log: { debug() {}, info() {}, warning() {}, error() {} },
      },
    });
    const asked = new Request('https://host.example/oauth/branding/logo');
    expect(await (await createHandler(server)(asked))?.text()).toBe(SVG);
  });

  // @shows AS-39.8
  test('with a file that is unreadable or not an image prevents the start, with a message', async () => {
    const { definition, env } = portal;
    const branding = {
      accent: '#ffcc0',
      accent_dark: 'red',
      logo: await write('logo.png', 'text'),
    };
    const config = { ...(await configurationOf(portal.application)), branding };
    const starting = startApplication({ ...definition, config }, { env });
    await expect(starting).rejects.toThrow(
      /branding:accent: must be a color such as[\s\S]*branding:accent_dark/,
    );
    const readable = { ...config, branding: { logo: branding.logo } };
    await expect(startApplication({ ...definition, config: readable }, { env })).rejects.toThrow(
      /branding:logo.*is not a PNG, SVG, WebP or JPEG/,
    );
  });

  async function configurationOf({ config }: Application) {
    return { ...config, branding: undefined };
  }
});

describe('slots', () => {
  let portal: RunningPortal;
  let views: string;

  /** Another way to sign in: a single sign-on that already knows the person. */
  const singleSignOn = (application: Application): Route => ({
    name: 'sso',
    methods: ['POST'],
    path: '/sso',
    async handler(_, request) {
      const form = new URLSearchParams(await request.text());
      const account = await application.accounts.authenticate(ADA, 'portico');
      if (account === null) return new Response(null, { status: 403 });
      await application.auth().signIn(account.reference);
      return new Response(null, {
        status: 303,
        headers: { Location: form.get('return_to') ?? '/' },
      });
    },
  });

  beforeAll(async () => {
    views = path.join(folder, 'views');
    // As in docs/pages.md.
    const [terms, form, passkey] = codeBlocks().filter(
      ({ page, info }) => page === 'docs/pages.md' && info[0] === 'html',
    );
    await write('views/oauth/consent/before.eta', terms?.code ?? '');
    await write(
      'views/oauth/consent/after.eta',
      '<p>Ask <%= it.person.email %> about <%= it.scopes.length %></p>',
    );
    await write(
      'views/oauth/applications/before.eta',
      '<p class="notice">You have <%= it.applications.length %></p>',
    );
    await write(
      'views/oauth/applications/after.eta',
      '<p><a href="<%= it.home %>">Devices</a></p>',
    );
    await write('views/login/before.eta', form?.code ?? '');
    await write('views/login/after.eta', passkey?.code ?? '');
    await write(
      'views/slots/footer.eta',
      '<p class="foot"><a href="/imprint">Imprint of <%= it.host %></a></p>',
    );
    await write(
      'views/slots/head.eta',
      '<style nonce="<%= it.nonce %>">.mine { color: red; }</style>',
    );
    portal = await startPortal({
      views,
      config: { sign_in_scripts: true },
      routes: (application) => [singleSignOn(application)],
    });
  });
  afterAll(() => portal.close());

  // @shows AS-39.9
  test('of the sign-in page can offer a second sign-in method, which leads to the consent screen', async () => {
    const client = await registerClient(portal, { name: 'Notebook' });
    const visitor = portal.visitor();
    const login = await visitor.visit(authorizationUrl(portal, client));
    const html = await login.clone().text();
    expect(html.indexOf('Go on with Example ID')).toBeLessThan(html.indexOf('name="identifier"'));
    const { action, fields } = formOf(`${html.split('</form>')[0] ?? ''}</form>`);
    expect(action).toBe('/sso');
    const back = await visitor.post(action, fields);
    expect(back.status).toBe(303);
    const consent = await (await visitor.visit(locationOf(back).href)).text();
    expect(consent).toContain('Notebook');
    expect(consent).toContain('Imprint of Portal');
  });

  // @shows AS-39.9
  test('of the consent and applications pages surround the form and the list, and get their data', async () => {
    const client = await registerClient(portal, { name: '<i>Tom & Co</i>' });
    const ada = await portal.signedIn(ADA);
    const inOrder = (html: string, parts: readonly string[]) => {
      const places = parts.map((part) => html.indexOf(part));
      expect([parts, places]).toEqual([
        parts,
        places.filter((at) => at > 0).toSorted((a, b) => a - b),
      ]);
    };
    const consent = await ada.get(authorizationUrl(portal, client, { scope: 'notes:read' }));
    const name = '<bdi>&lt;i&gt;Tom &amp; Co&lt;/i&gt;</bdi>';
    inOrder(await consent.clone().text(), [
      `<p class="soft">Orders that leave us are in the care of ${name}.</p>`,
      'name="request_id"',
      'value="allow"',
      '<p>Ask ada@example.com about 1</p>',
    ]);
    await ada.submit(consent, { decision: 'allow' });
    const page = await (await ada.get('/oauth/applications')).text();
    inOrder(page, [
      'You have 1',
      'class="application"',
      '<p><a href="/">Devices</a></p>',
      'class="soft back"',
    ]);
    const second = await ada.get(authorizationUrl(portal, await registerClient(portal)));
    await ada.submit(second, { decision: 'allow' });
    const asked = await (await ada.get('/oauth/applications?remove=all')).text();
    expect(asked).not.toMatch(/You have|Devices/);
  });

  // @shows AS-39.9
  test('of every page have the nonce of its policy, and the name of the application', async () => {
    for (const url of ['/login', '/oauth/authorize?client_id=x', '/nowhere']) {
      const page = await portal.visitor().visit(url);
      const html = await page.text();
      expect([url, html.includes(`<style nonce="${nonceOf(page)}">.mine`)]).toEqual([url, true]);
      expect([
        url,
        html.includes('<p class="foot"><a href="/imprint">Imprint of Portal</a></p>'),
      ]).toEqual([url, true]);
    }
  });

  // @shows AS-39.10
  test('can run scripts only on the sign-in page, and only with sign_in_scripts', async () => {
    const page = await portal.visitor().get('/login');
    expect(await page.clone().text()).toContain(
      `<script nonce="${nonceOf(page)}" src="/passkeys.js"></script>`,
    );
    const policy = policyOf(page);
    expect(policy).toContain("script-src 'nonce'; connect-src 'self'");
    for (const url of ['/oauth/authorize?client_id=x', '/nowhere'])
      expect(policyOf(await portal.visitor().get(url))).not.toMatch(/script-src|connect-src/);
    const plain = await startPortal();
    try {
      expect(policyOf(await plain.visitor().get('/login'))).toBe(
        "default-src 'none'; style-src 'self' 'nonce'; img-src 'self' data:; font-src 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
    } finally {
      await plain.close();
    }
  });

  // @shows AS-39.11
  test('and views are reloaded for each page in development, and an error has its line', async () => {
    const page = async () => (await portal.visitor().get('/login')).text();
    const footer = path.join(views, 'slots', 'header.eta');
    expect(await page()).not.toContain('Closed tonight');
    await writeFile(footer, '<p>Closed tonight</p>');
    expect(await page()).toContain('Closed tonight');
    await writeFile(footer, '<p>Open again</p>');
    expect(await page()).toContain('Open again');
    await writeFile(footer, '<% } %>');
    expect((await portal.visitor().get('/login')).status).toBe(500);
    const [problem] = await portal.application.views.problems();
    expect(problem).toMatchObject({ file: footer, line: 1 });
    await rm(footer);
    expect(await page()).not.toContain('Open again');
  });

  // @shows AS-39.11
  test('are not reloaded in production', async () => {
    const own = await mkdtemp(path.join(folder, 'views-'));
    const footer = path.join(path.basename(own), 'slots', 'footer.eta');
    await write(footer, '<p>Open</p>');
    const production = await startPortal({
      views: own,
      mode: 'prod',
      config: { public_url: 'https://portal.example' },
    });
    onTestFinished(() => production.close());
    const page = async () =>
      (await production.application.fetch(new Request('https://portal.example/login'))).text();
    expect(await page()).toContain('<p>Open</p>');
    await write(footer, '<p>Closed tonight</p>');
    expect(await page()).toContain('<p>Open</p>');
  });
});

describe('the sign-in page of the kit', () => {
  const LINKS = {
    forgot_password: 'https://help.example/reset?from=portal&lang=en',
    terms: '/terms',
  };
  const formIn = (html: string) =>
    (/<form[^]*<\/form>/.exec(html)?.[0] ?? '').replaceAll(
      /(name="_csrf" value=")[^"]*/g,
      '$1token',
    );

  // @shows AS-39.13
  test('has links for a forgotten password and to the terms, in the language of the page', async () => {
    const linked = await startPortal({
      config: { sign_in_links: LINKS, oauth_server: { languages: ['en', 'de'] } },
    });
    try {
      const html = await (await linked.visitor().get('/login')).text();
      expect(html).toContain(
        '<a href="https://help.example/reset?from=portal&amp;lang=en">Forgot your password?</a>',
      );
      expect(html).toContain('<a href="/terms">Terms</a>');
      const german = await (
        await linked.visitor().get('/login', { 'accept-language': 'de' })
      ).text();
      expect(german).toContain('>Passwort vergessen?</a>');
      expect(german).toContain('>Nutzungsbedingungen</a>');
    } finally {
      await linked.close();
    }
  });

  // @shows AS-39.13
  test('is the same, byte for byte, without the links and the button', async () => {
    const plain = await startPortal();
    try {
      const html = await (await plain.visitor().get('/login')).text();
      expect(formIn(html)).toBe(`<form method="post" action="/login">
  <input type="hidden" name="_csrf" value="token">
  <input type="hidden" name="return_to" value="/">
  <label for="identifier">Email address</label>
  <input id="identifier" name="identifier" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required value="" autofocus>
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password" required>
  <button class="primary wide" type="submit">Sign in</button>
</form>`);
      expect(html).toContain('</form>\n\n\n\n    </main>');
    } finally {
      await plain.close();
    }
  });

  // @shows AS-39.13
  test.each([
    ['forgot_password', 'javascript:alert(1)'],
    ['forgot_password', 'http://help.example/reset'],
    ['terms', '//evil.example/terms'],
    ['terms', '/\\evil.example'],
    ['terms', 'https://ada:secret@help.example/'],
    ['terms', ''],
  ])('prevents the start with a link %s of %j', async (key, href) => {
    await expect(startPortal({ config: { sign_in_links: { [key]: href } } })).rejects.toThrow(
      `sign_in_links:${key}: must be an https URL, or a path such as /terms`,
    );
  });

  // @shows AS-39.14
  test('allows one script, by its hash, with sign_in_show_password, and no others', async () => {
    const portal = await startPortal({ config: { sign_in_show_password: true } });
    try {
      const page = await portal.visitor().get('/login');
      const policy = policyOf(page);
      const html = await page.text();
      const script = /<script>([^]*?)<\/script>/.exec(html)?.[1] ?? '';
      const hash = createHash('sha256').update(script).digest('base64');
      expect(policy).toContain(`; script-src 'sha256-${hash}'`);
      expect(policy).not.toContain('connect-src');
      expect(html).toMatch(/<button [^>]*type="button"[^>]* hidden>Show password<\/button>/);
      expect(policyOf(await portal.visitor().get('/nowhere'))).not.toContain('script-src');
    } finally {
      await portal.close();
    }
    const both = await startPortal({
      config: { sign_in_show_password: true, sign_in_scripts: true },
    });
    try {
      expect(policyOf(await both.visitor().get('/login'))).toMatch(
        /; script-src 'nonce' 'sha256-[^']{44}'; connect-src 'self'$/,
      );
    } finally {
      await both.close();
    }
  });
});

describe('the data of a view', () => {
  /** The values in the first column of the table that follows these words. */
  async function documented(words: string): Promise<readonly string[]> {
    const files = ['consent-page.md', 'own-views.md'].map((file) => path.join(ROOT, 'docs', file));
    const page = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n\n');
    const [, table = ''] = /\n(\|[^]*?)\n\n/.exec(`${page.slice(page.indexOf(words))}\n\n`) ?? [];
    const first = table.split('\n').map((row) => row.split('|')[1] ?? '');
    return first.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
  }

  // @shows AS-39.12
  test('are exactly the values in its table', async () => {
    const views = path.join(folder, 'keys');
    const names = ['login', 'error', 'oauth/error', 'oauth/consent', 'oauth/applications'];
    const form =
      '<form method="post" action="/login"><input type="hidden" name="_csrf" value="<%= it.csrfToken %>">';
    for (const name of names)
      await write(
        `keys/${name}.eta`,
        `<code><%= Object.keys(it).toSorted().join(' ') %></code>${form}</form>`,
      );
    const portal = await startPortal({ views, config: { branding: { accent: '#5b3df5' } } });
    try {
      const client = await registerClient(portal);
      const keysAt = async (response: Response) =>
        /<code>(.*?)<\/code>/.exec(await response.text())?.[1]?.split(' ') ?? [];
      const visitor = portal.visitor();
      const login = await visitor.visit(authorizationUrl(portal, client));
      const ada = await portal.signedIn(ADA);
      const shown = {
        login: await keysAt(login),
        'oauth/error': await keysAt(await visitor.visit('/oauth/authorize?client_id=x')),
        error: await keysAt(await visitor.visit('/nowhere')),
        'oauth/consent': await keysAt(await ada.get(authorizationUrl(portal, client))),
        'oauth/applications': await keysAt(await ada.get('/oauth/applications')),
      };
      const every = await documented('## Values for every view');
      const words = {
        login: '(`SignInView`',
        'oauth/error': '(`ErrorView` of `portico`)',
        error: '(`ErrorView` of `@portico/kit`)',
        'oauth/consent': '(`ConsentView`)',
        'oauth/applications': '(`ApplicationsView`)',
      } as const;
      for (const [view, keys] of Object.entries(shown)) {
        const told = await documented(words[view as keyof typeof words]);
        expect([view, keys]).toEqual([view, [...told, ...every].toSorted()]);
      }
    } finally {
      await portal.close();
    }
  });

  // @shows AS-39.12
  test('includes the branding in each published type', () => {
    type Shown = BrandingView | undefined;
    expectTypeOf<SignInView['branding']>().toEqualTypeOf<Shown>();
    expectTypeOf<ErrorView['branding']>().toEqualTypeOf<Shown>();
    expectTypeOf<OAuthViews[keyof OAuthViews]['branding']>().toEqualTypeOf<Shown>();
  });
});
