// @engines sqlite: pages are the same on every database
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startApplication } from '@portico/kit';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
} from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGLISH } from '../packages/portico/src/pages/english.ts';
import { LANGUAGES } from '../packages/portico/src/features/languages/catalogs.ts';
import { installPortico, porticoHere } from './support/console.ts';
import { createDatabase } from './support/database.ts';
import { codeBlocks } from './support/documents.ts';
import { openOwnStore } from './support/own-store.ts';
import {
  ADA,
  authorizationUrl,
  CHALLENGE,
  registerClient,
  REDIRECT_URI,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

/** The languages of pages, as browsers get them. */

let folder: string;
let portal: RunningPortal;
let client: TestClient;

const DUTCH = {
  'consent.allow': 'Toestaan',
  'consent.granted_before': { one: 'Eén ding ({count})', other: 'Eerder toegestaan ({count})' },
  'scope.notes:read.label': 'Uw notities <lezen>',
};

async function viewsWith(files: Readonly<Record<string, unknown>>): Promise<string> {
  const views = await mkdtemp(path.join(folder, 'views-'));
  await mkdir(path.join(views, 'words'));
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(path.join(views, 'words', name), text);
  }
  return views;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-languages-'));
  portal = await startPortal({
    random: () => 0,
    views: await viewsWith({ 'nl.json': DUTCH, 'de.json': { 'sign_in.title': 'Willkommen' } }),
    config: {
      oauth_server: {
        languages: true,
        registration: 'open',
        pushed_authorization_requests: 'accept',
      },
    },
  });
  client = await registerClient(portal, { name: 'Notebook' });
});
afterAll(async () => {
  await portal.close();
  await rm(folder, { recursive: true, force: true });
});

async function saying(tag: string): Promise<(key: keyof typeof ENGLISH) => string> {
  const messages = (await LANGUAGES[tag]?.()) ?? ENGLISH;
  return (key) => {
    const message = messages[key];
    return typeof message === 'string' ? message : message.other;
  };
}

/** What a reader of the page reads. */
const textOf = (html: string) =>
  html
    .replace(/<style.*?<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ');

/** The parts of a message between its placeholders. */
const pieces = (message: string) =>
  message
    .split(/\{[a-z_]+\}/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');

async function requirePage(
  page: Response,
  tag: string,
  messages: readonly string[],
): Promise<string> {
  const html = await page.clone().text();
  expect(html).toContain(`<html lang="${tag}"${tag === 'ar' ? ' dir="rtl"' : ''}>`);
  expect(page.headers.get('content-language')).toBe(tag);
  expect(page.headers.get('vary')).toContain('Accept-Language');
  for (const message of messages)
    for (const piece of pieces(message))
      expect(textOf(html)).toContain(piece.replaceAll(/\s+/g, ' '));
  return html;
}

const ask = (changes: Readonly<Record<string, string | undefined>> = {}) =>
  authorizationUrl(portal, client, changes);

describe('the language of pages', () => {
  // @shows AS-38.1, AS-38.2, AS-38.6
  test.each(['en', ...Object.keys(LANGUAGES)])(
    'is that of ui_locales on all pages: %s',
    async (tag) => {
      const say = await saying(tag);
      const visitor = portal.visitor();
      const asked = ask({ ui_locales: `xx ${tag}` });
      const signInPage = await visitor.visit(asked);
      const title = tag === 'de' ? 'Willkommen' : say('sign_in.title');
      await requirePage(signInPage, tag, [title, say('sign_in.identifier'), say('sign_in.to')]);
      const wrong = await signIn(visitor, signInPage, ADA, 'wrong');
      expect(wrong.status).toBe(401);
      await requirePage(wrong, tag, [say('sign_in.wrong')]);

      const signedIn = await signIn(visitor, wrong, ADA);
      const consent = await visitor.visit(locationOf(signedIn).href);
      const shown: readonly string[] = [
        say('consent.title'),
        say('consent.deny'),
        say('scope.email.label'),
      ];
      await requirePage(consent, tag, shown);
      // The page is reloaded and answered. Only the id identifies the request.
      await requirePage(await visitor.get(consent.url), tag, shown);
      expect((await visitor.submit(consent, { decision: 'deny' })).status).toBe(303);
      const again = await visitor.submit(consent, { decision: 'allow' });
      expect(again.status).toBe(400);
      await requirePage(again, tag, [
        say('error.denied_before.title'),
        say('error.denied_before.message'),
      ]);

      const other = await visitor.visit(asked);
      await visitor.submit(other, { decision: 'allow' });
      const applications = await visitor.visit(`/oauth/applications?ui_locales=${tag}`);
      expect((await visitor.submit(applications)).status).toBe(303);
      await requirePage(applications, tag, [say('applications.title'), say('applications.back')]);

      const error = await visitor.get(`/oauth/authorize?client_id=none&ui_locales=${tag}`);
      await requirePage(error, tag, [say('error.unknown_client.title'), say('error.back')]);
      const nowhere = await visitor.get(`/nowhere?ui_locales=${tag}`);
      await requirePage(nowhere, tag, [say('error.not_found.title'), say('error.request_id')]);
      expect(nowhere.headers.get('vary')).toBe('Accept, Accept-Language');
    },
  );

  // @shows AS-38.2
  test('comes from ui_locales, then the browser, then the first configured language', async () => {
    const languageOf = async (uiLocales: string | undefined, accepted?: string) => {
      const headers: Readonly<Record<string, string>> =
        accepted === undefined ? {} : { 'accept-language': accepted };
      const error = await portal
        .visitor()
        .get(ask({ client_id: 'none', ui_locales: uiLocales }), headers);
      return error.headers.get('content-language');
    };
    expect(await languageOf('fr-CA de', 'de-AT,de;q=0.9')).toBe('fr');
    expect(await languageOf('xx tlh', 'de-AT,de;q=0.9')).toBe('de');
    expect(await languageOf(undefined, 'zh-CN,zh;q=0.9,en;q=0.8')).toBe('zh-Hans');
    expect(await languageOf(undefined, 'pt-BR')).toBe('pt');
    expect(await languageOf(undefined, 'xx')).toBe('en');
    expect(await languageOf(undefined)).toBe('en');
  });

  // @shows AS-38.2
  test('is kept if it was requested by a form or in a pushed request', async () => {
    const parameters = Object.fromEntries(new URL(ask({ ui_locales: 'ja' })).searchParams);
    const posted = portal.visitor();
    const begun = await posted.post('/oauth/authorize', parameters);
    expect((await posted.visit(locationOf(begun).href)).headers.get('content-language')).toBe('ja');

    const pushed = await fetch(`${portal.url}/oauth/par`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams(parameters),
    });
    const { request_uri: uri } = (await pushed.json()) as { request_uri: string };
    const url = `/oauth/authorize?${new URLSearchParams({ client_id: client.id, request_uri: uri })}`;
    const visitor = await portal.signedIn(ADA);
    expect((await visitor.visit(url)).headers.get('content-language')).toBe('ja');
    expect((await portal.visitor().visit(ask({ ui_locales: 'ja' }))).status).toBe(200);
  });

  // @shows AS-38.2
  test('is kept through a sign-in without a client, also if the sign-in fails', async () => {
    const visitor = portal.visitor();
    const signInPage = await visitor.visit('/oauth/applications?ui_locales=fr');
    const wrong = await signIn(visitor, signInPage, ADA, 'wrong');
    await requirePage(wrong, 'fr', [(await saying('fr'))('sign_in.wrong')]);
    const signedIn = await signIn(visitor, wrong, ADA);
    expect((await visitor.visit(locationOf(signedIn).href)).headers.get('content-language')).toBe(
      'fr',
    );
  });

  test.each([
    ['a long header', { 'accept-language': `${'de;q=0.1,'.repeat(1000)}fr` }, undefined],
    ['markup', { 'accept-language': '"><script>alert(1)</script>' }, '"><script>alert(1)</script>'],
    ['a path', { 'accept-language': '../../../etc/passwd' }, '../../../etc/passwd %2e%2e/de'],
    [
      'property names of JavaScript',
      { 'accept-language': '__proto__, constructor' },
      '__proto__ constructor',
    ],
    ['a long list', {}, 'x-1 '.repeat(500)],
  ])('is a configured language with %s in place of a language', async (_, headers, uiLocales) => {
    const page = await portal
      .visitor()
      .get(ask({ client_id: 'none', ui_locales: uiLocales }), headers);
    expect(page.status).toBe(400);
    const html = await page.text();
    expect(html).not.toContain('<script');
    expect(['en', 'de']).toContain(page.headers.get('content-language'));
  });

  // @shows AS-38.3
  test('is listed in the metadata', async () => {
    for (const name of ['openid-configuration', 'oauth-authorization-server']) {
      const metadata = (await (await fetch(`${portal.url}/.well-known/${name}`)).json()) as object;
      expect(metadata).toMatchObject({
        ui_locales_supported: ['en', 'de', 'fr', 'es', 'pt', 'ja', 'zh-Hans', 'ar', 'nl'],
      });
    }
  });

  test('is English for administrators and for JSON errors', async () => {
    const answer = await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers: { 'accept-language': 'de' },
    });
    expect(await answer.text()).not.toMatch(/ü|Sie/);
    expect(answer.headers.get('content-language')).toBe(null);
  });
});

describe('with languages off', () => {
  // @shows AS-38.3
  test('pages are in English for every reader, and nothing mentions languages', async () => {
    const plain = await startPortal({
      views: await viewsWith({ 'en.json': { 'consent.deny': 'No' } }),
    });
    try {
      const own = await registerClient(plain);
      const url = authorizationUrl(plain, own, { ui_locales: 'de' });
      const page = await (await plain.signedIn(ADA)).get(url, { 'accept-language': 'ar' });
      const html = await page.text();
      expect(html).toContain('<html lang="en">');
      expect(html).toMatch(/value="deny">No</);
      expect([page.headers.get('content-language'), page.headers.get('vary')]).toEqual([
        null,
        null,
      ]);
      const metadata = await fetch(`${plain.url}/.well-known/openid-configuration`);
      expect(await metadata.text()).not.toContain('ui_locales');
    } finally {
      await plain.close();
    }
  });
});

describe('a slot in a view', () => {
  // @shows AS-38.1
  test('uses the language of its page, as docs/pages.md describes', async () => {
    const views = await viewsWith({});
    const block = codeBlocks().find(({ code }) => code.includes('it.locale'));
    await mkdir(path.join(views, 'slots'));
    await writeFile(path.join(views, 'slots', 'footer.eta'), block?.code ?? '');
    const bilingual = await startPortal({
      views,
      config: { oauth_server: { languages: ['en', 'de'] } },
    });
    try {
      const page = async (language: string) =>
        (
          await fetch(`${bilingual.url}/login`, { headers: { 'accept-language': language } })
        ).text();
      expect(await page('de-AT')).toMatch(/lang="de"[^]*Fragen\?/);
      expect(await page('nl')).toMatch(/lang="en"[^]*Questions\?/);
    } finally {
      await bilingual.close();
    }
  });
});

describe('custom messages of an application', () => {
  // @shows AS-38.4
  test('can add a language, also a partial one, and translate configured texts', async () => {
    const visitor = await portal.signedIn(ADA);
    const html = await requirePage(await visitor.visit(ask({ ui_locales: 'nl-BE' })), 'nl', [
      'Toestaan',
      'Uw notities &lt;lezen&gt;',
      ENGLISH['consent.deny'] as string,
      'Write notes for you',
    ]);
    expect(html).not.toContain('Read your notes');
  });

  // @shows AS-38.4
  test.each([
    [
      'de.json',
      { 'consent.titel': 'Darf sie?' },
      'consent.titel: there is no message with this key',
    ],
    [
      'de.json',
      { 'consent.title': 'Darf {client}?' },
      'consent.title: the placeholder {server} is missing',
    ],
    [
      'de.json',
      { 'consent.allow': 'Ja, {who}' },
      'consent.allow: the placeholder {who} does not exist in this message',
    ],
    ['de.json', { 'consent.allow': 1 }, 'consent.allow: must be a string'],
    [
      'de.json',
      { 'sign_in.slowed': { one: 'Gleich' } },
      'sign_in.slowed: must be a string, or an object',
    ],
    ['de.json', { 'scope.none.label': 'x' }, 'scope.none.label: there is no message with this key'],
    ['de.json', '{ "consent.allow": ', 'cannot be read: '],
    ['de.json', '[]', 'must be a JSON object with message keys and their texts'],
    ['no language.json', {}, 'its name is not a language tag'],
  ])(
    'prevent the start if they are invalid, with file and key: %s %j',
    async (name, content, problem) => {
      const views = await viewsWith({ [name]: content });
      const file = path.join(views, 'words', name);
      await expect(
        startApplication({ ...portal.definition, views }, { env: portal.env }),
      ).rejects.toThrow(`${file}: ${problem}`);
    },
  );

  test('with an error are reported by the doctor, which names the section of the documentation', async () => {
    const app = await mkdtemp(path.join(folder, 'app-'));
    await mkdir(path.join(app, 'node_modules'));
    await installPortico(app);
    await mkdir(path.join(app, 'views', 'words'), { recursive: true });
    await writeFile(path.join(app, 'package.json'), '{"type":"module"}');
    await writeFile(path.join(app, 'views', 'words', 'nl.json'), '{"consent.allaw":"Toestaan"}');
    await writeFile(
      path.join(app, 'app.ts'),
      `import { defineApplication } from '@portico/kit';
      import { oauthServer } from 'portico';
      export default defineApplication({
        config: { public_url: 'http://localhost', oauth_server: { name: 'App', scopes: {} } },
        plugins: [oauthServer()],
      });`,
    );
    const { code, stdout } = await porticoHere(['oauth:server:doctor'], {
      cwd: app,
      env: { APP_ENV: 'dev' },
    });
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('consent.allaw: there is no message with this key'),
    ]);
    expect(stdout).toMatch(/^failing +messages /);
    expect(stdout).toContain('docs/pages.md#words-of-your-own');
    expect(stdout).not.toContain('docs/configuration.md');
  });

  // @shows AS-38.4
  test.each([
    [['tlh'], 'oauth_server:languages: contains tlh, but there are messages only for en, de'],
    [[], 'oauth_server:languages: must contain at least one language'],
    [['_'], 'must be a language tag (BCP 47)'],
    ['de', "must be true, false or a list of languages such as ['en', 'de']"],
  ])('are required for a configured language: %j', async (languages, problem) => {
    await expect(startPortal({ config: { oauth_server: { languages } } })).rejects.toThrow(problem);
  });
});

describe('an application without the kit', () => {
  // @shows AS-38.5
  test('has the languages of the server pages, and its own messages', async () => {
    const created = await createDatabase(folder);
    const database = openOwnStore(created.url);
    await migrate(database, oauthServerMigrations);
    const views = await viewsWith({ 'fr.json': { 'error.unknown_client.title': 'Qui est-ce ?' } });
    const seen: Readonly<Record<string, unknown>>[] = [];
    const config = oauthServerConfiguration.parse({
      name: 'Host',
      scopes: {},
      key_path: path.join(folder, 'keys'),
      languages: ['de', 'fr'],
    });
    const server = (render: boolean) =>
      createAuthorizationServer({
        publicUrl: 'https://host.example',
        config,
        database,
        messages: path.join(views, 'words'),
        host: {
          signedIn: async () => null,
          loadAccount: async () => null,
          holdsPermission: async () => true,
          loginUrl: '/login',
          ...(render
            ? {
                render: async (_: string, data: Readonly<Record<string, unknown>>) => {
                  seen.push(data);
                  return '';
                },
              }
            : {}),
          log: { debug() {}, info() {}, warning() {}, error() {} },
        },
      });
    const get = (render: boolean, language: string) => {
      const url = `https://host.example/oauth/authorize?client_id=none&code_challenge=${CHALLENGE}&redirect_uri=${REDIRECT_URI}`;
      const endpoint = server(render).endpoints.find(
        ({ name }) => name === 'oauth_server_authorize',
      );
      const headers = { accept: 'text/html', 'accept-language': language };
      return endpoint?.handle(new Request(url, { headers }));
    };
    const french = await get(false, 'fr');
    expect(await french?.text()).toContain('<h1>Qui est-ce ?</h1>');
    expect(french?.headers.get('content-language')).toBe('fr');
    expect(await (await get(false, 'ja'))?.text()).toContain('<h1>Unbekannte App</h1>');
    await get(true, 'fr');
    expect(seen[0]).toMatchObject({ locale: 'fr', direction: 'ltr', title: 'Qui est-ce ?' });
    const { t } = (seen[0] ?? {}) as { t: (key: string) => string };
    expect(t('consent.deny')).toBe('Refuser');
    await database.close?.();
    await created.drop();
  });
});
