import { readFile } from 'node:fs/promises';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  authorizationUrl,
  errorOf,
  exchangeCode,
  GRACE,
  REDIRECT_URI,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { push, pushedNow } from './support/pushing.ts';
import { putUnverified } from './support/unverified.ts';
import { createVisitor, formOf, locationOf, type Visitor } from './support/visitor.ts';

/** Answers that the browser posts to the client (OAuth 2.0 Form Post Response Mode). */

let portal: RunningPortal;
/** The same without the feature, on the same database. */
let off: RunningPortal;
let client: TestClient;
let ada: Visitor;

const CONFIG = {
  pushed_authorization_requests: 'accept',
  registration: 'open',
  languages: ['en', 'de', 'ar'],
};

beforeAll(async () => {
  portal = await startPortal({ config: { oauth_server: { ...CONFIG, form_post: true } } });
  const databaseUrl = portal.env['DATABASE_URL'] ?? '';
  off = await startPortal({ config: { oauth_server: CONFIG }, databaseUrl });
  client = await registerClient(portal);
  ada = await portal.signedIn(ADA);
});
afterAll(async () => {
  await off.close();
  await portal.close();
});

type Changes = Readonly<Record<string, string | undefined>>;

const url = (changes: Changes = {}, of = client) =>
  authorizationUrl(portal, of, { response_mode: 'form_post', ...changes });

/** The form of a page that posts, which is never a redirect. */
async function posted(response: Response, status = 200) {
  expect([response.status, response.headers.get('location')]).toEqual([status, null]);
  return formOf(await response.clone().text());
}

const policyOf = (response: Response) => response.headers.get('content-security-policy') ?? '';
const logOf = (at: RunningPortal) => readFile(`${at.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');

async function metadataOf(at: RunningPortal, name: string): Promise<Record<string, unknown>> {
  return (await (await fetch(`${at.url}/.well-known/${name}`)).json()) as Record<string, unknown>;
}

describe('response_mode=form_post', () => {
  // @shows AS-2.30
  test('is not in the metadata and is refused while the feature is off', async () => {
    for (const name of ['openid-configuration', 'oauth-authorization-server'])
      expect((await metadataOf(off, name))['response_modes_supported']).toEqual(['query']);
    const there = await off.signedIn(ADA);
    const { searchParams } = locationOf(
      await there.get(authorizationUrl(off, client, { response_mode: 'form_post' })),
    );
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'invalid_request',
      error_description: 'The only response_mode is query.',
      state: 'the-state',
      iss: off.server.issuer,
    });
  });

  // @shows AS-2.30, AS-7.20
  test('is in the metadata while the feature is on; other clients still get the query', async () => {
    for (const name of ['openid-configuration', 'oauth-authorization-server'])
      expect((await metadataOf(portal, name))['response_modes_supported']).toEqual([
        'query',
        'form_post',
      ]);
    for (const mode of [undefined, '', 'query']) {
      const consent = await ada.visit(url({ response_mode: mode }));
      const answer = locationOf(await ada.submit(consent, { decision: 'allow' }));
      expect([...answer.searchParams.keys()]).toEqual(['code', 'state', 'iss']);
    }
  });

  // @shows AS-7.20
  test.each([
    'fragment',
    'jwt',
    'form_post.jwt',
    'web_message',
    'FORM_POST',
    'form_post ',
    'form_post query',
  ])('is the only additional mode; others are refused in the query: %s', async (mode) => {
    const { searchParams } = locationOf(await ada.get(url({ response_mode: mode })));
    expect(searchParams.get('error')).toBe('invalid_request');
    expect(searchParams.get('error_description')).toBe(
      'The response_mode is none of query, form_post.',
    );
  });

  test('sent twice is refused in the query', async () => {
    for (const second of ['form_post', 'query', 'fragment']) {
      const { searchParams } = locationOf(await ada.get(`${url()}&response_mode=${second}`));
      expect(searchParams.get('error_description')).toBe(
        'The parameter response_mode is repeated.',
      );
    }
  });
});

describe('a form_post response', () => {
  // @shows AS-7.20, AS-7.21
  test('has code, state and iss only in its form and not in a URL, and the code works', async () => {
    const page = await ada.submit(await ada.visit(url()), { decision: 'allow' });
    const { action, fields } = await posted(page);
    expect(action).toBe(REDIRECT_URI);
    expect(Object.keys(fields)).toEqual(['code', 'state', 'iss']);
    expect(fields).toMatchObject({ state: 'the-state', iss: portal.server.issuer });
    expect((await exchangeCode(portal, client, fields['code'] ?? '')).status).toBe(200);
  });

  // @shows AS-7.21
  test('is never stored or framed, sends no referrer, and posts only to its origin', async () => {
    const page = await ada.submit(await ada.visit(url()), { decision: 'allow' });
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      'content-type': 'text/html; charset=utf-8',
    });
    const policy = policyOf(page).split('; ');
    expect(policy).toContain('form-action https://client.example');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy.filter((each) => each.startsWith('script-src'))).toEqual([
      expect.stringMatching(/^script-src 'sha256-[A-Za-z0-9+/]{43}='$/),
    ]);
  });

  // @shows AS-7.21
  test('keeps the port that a native client chose, and the query of its redirect URI', async () => {
    const native = await registerClient(portal, {
      public: true,
      applicationType: 'native',
      redirectUris: ["http://127.0.0.1:4000/cb?a=1&b=%22x'"],
    });
    const redirectUri = "http://127.0.0.1:51234/cb?a=1&b=%22x'";
    const page = await ada.submit(await ada.visit(url({ redirect_uri: redirectUri }, native)), {
      decision: 'allow',
    });
    expect((await posted(page)).action).toBe(redirectUri);
    expect(policyOf(page)).toContain('form-action http://127.0.0.1:51234');
  });

  // @shows AS-7.20
  test('contains access_denied if the person denies', async () => {
    const { action, fields } = await posted(
      await ada.submit(await ada.visit(url()), { decision: 'deny' }),
    );
    expect([action, Object.keys(fields)]).toEqual([
      REDIRECT_URI,
      ['error', 'error_description', 'state', 'iss'],
    ]);
    expect(fields['error']).toBe('access_denied');
  });

  // @shows AS-7.20
  test.each<[string, Changes]>([
    ['interaction_required', { prompt: 'none' }],
    ['invalid_request', { code_challenge: undefined }],
    ['invalid_request', { max_age: '0' }],
    ['invalid_scope', { scope: 'nothing' }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['request_not_supported', { request: 'e30' }],
    ['invalid_target', { resource: 'https://other.example/' }],
  ])('contains the error of a wrong request: %s %j', async (error, changes) => {
    for (const who of [ada, portal.visitor()]) {
      const { action, fields } = await posted(await who.get(url(changes)));
      expect([action, fields['error'], fields['state']]).toEqual([
        REDIRECT_URI,
        error,
        'the-state',
      ]);
    }
    // The same as a form of another site.
    const form = Object.fromEntries(new URL(url(changes)).searchParams);
    expect(
      (await posted(await portal.visitor().post('/oauth/authorize', form))).fields['error'],
    ).toBe(error);
  });

  // @shows AS-7.20
  test('contains the error for a person who lost every permission', async () => {
    const own = await registerClient(portal, { scopes: ['notes:write'] });
    const grace = await portal.signedIn(GRACE);
    await portal.grant(GRACE, 'notes.edit');
    const consent = await grace.visit(url({ scope: 'notes:write' }, own));
    await portal.deny(GRACE, 'notes.edit');
    const { fields } = await posted(await grace.submit(consent, { decision: 'allow' }));
    expect(fields['error']).toBe('access_denied');
    expect(
      (await posted(await grace.visit(url({ scope: 'notes:write' }, own)))).fields['error'],
    ).toBe('access_denied');
  });

  // @shows AS-7.20
  test('also follows sign-in, "Not you?", and a cross-site form request', async () => {
    const visitor = portal.visitor();
    const signInPage = await visitor.visit(url({ scope: 'openid' }));
    const back = locationOf(await signIn(visitor, signInPage, GRACE));
    const consent = await visitor.visit(back.href);
    const again = locationOf(await visitor.submit(consent, { decision: 'switch' }));
    const next = locationOf(await signIn(visitor, await visitor.visit(again.href), ADA));
    const asked = await visitor.visit(next.href);
    const { fields } = await posted(await visitor.submit(asked, { decision: 'allow' }));
    expect((await exchangeCode(portal, client, fields['code'] ?? '')).status).toBe(200);

    const form = Object.fromEntries(new URL(url()).searchParams);
    const question = await ada.visit(locationOf(await ada.post('/oauth/authorize', form)).href);
    const answer = await posted(await ada.submit(question, { decision: 'allow' }));
    expect(Object.keys(answer.fields)).toEqual(['code', 'state', 'iss']);
  });

  // @shows AS-7.20
  test('is sent again for a second click, with a code that replaces the first', async () => {
    const consent = await ada.visit(url());
    const [first, second] = [
      await posted(await ada.submit(consent, { decision: 'allow' })),
      await posted(await ada.submit(consent, { decision: 'allow' })),
    ];
    expect(first.fields['code']).not.toBe(second.fields['code']);
    expect(await errorOf(await exchangeCode(portal, client, first.fields['code'] ?? ''))).toBe(
      'invalid_grant',
    );
    expect((await exchangeCode(portal, client, second.fields['code'] ?? '')).status).toBe(200);
  });

  // @shows AS-7.21
  test('contains client input only as escaped text', async () => {
    const state = `"><script>alert(1)</script>'&amp;&#34;<!--\t\u00e9\u{1F600}\u202e]]>`;
    for (const decision of ['allow', 'deny']) {
      const page = await ada.submit(await ada.visit(url({ state })), { decision });
      const html = await page.clone().text();
      expect((await posted(page)).fields['state']?.replaceAll('&amp;', '&')).toBe(
        state.replaceAll('&amp;', '&'),
      );
      expect(html.match(/<script/g)).toHaveLength(1);
      expect(html).not.toContain("alert(1)</script>'");
      expect(html).not.toContain('<!--');
    }
  });

  // @shows AS-7.21
  test('is in the language of the person', async () => {
    const german = await ada.submit(await ada.visit(url({ ui_locales: 'de' })), {
      decision: 'allow',
    });
    expect(german.headers.get('content-language')).toBe('de');
    expect(await german.text()).toContain('Weiter zu client.example');
    const arabic = await portal.visitor().get(url({ prompt: 'none' }), { 'accept-language': 'ar' });
    expect(await arabic.text()).toContain('dir="rtl"');
  });
});

describe('a form_post request that cannot be answered with a form', () => {
  // @shows AS-7.22
  test.each([
    ['com.example.app:/callback', 'private-use scheme'],
    ['http://[::1]:8080/callback', 'a content security policy cannot'],
  ])('is refused in the query for the redirect URI %s', async (redirectUri, detail) => {
    const native = await registerClient(portal, {
      public: true,
      applicationType: 'native',
      redirectUris: [redirectUri],
    });
    const changes = { redirect_uri: redirectUri, scope: 'openid' };
    const answer = locationOf(await ada.get(url(changes, native)));
    expect(answer.href.startsWith(redirectUri)).toBe(true);
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({
      error: 'invalid_request',
      error_description: 'This request cannot be answered with response_mode=form_post.',
      state: 'the-state',
    });
    const pushed = await push(portal, native, { ...changes, response_mode: 'form_post' });
    expect([pushed.status, await errorOf(pushed)]).toEqual([400, 'invalid_request']);
    expect(await logOf(portal)).toContain(detail);
    // Without the mode, the response is a redirect, as before.
    expect((await ada.get(url({ ...changes, response_mode: undefined }, native))).status).toBe(200);
  });

  // @shows AS-7.22
  test.each(['a\r\nb', 'a\nb', 'a\rb', 'a\0b'])(
    'is refused in the query for the state %j',
    async (state) => {
      const { searchParams } = locationOf(await ada.get(url({ state })));
      expect([searchParams.get('error'), searchParams.get('state')]).toEqual([
        'invalid_request',
        state,
      ]);
    },
  );

  test('shows an error page if the redirect URI is not registered', async () => {
    const page = await ada.get(url({ redirect_uri: 'https://evil.example/' }));
    expect(page.status).toBe(400);
    const html = await page.text();
    expect(html).not.toContain('<form');
  });
});

describe('a pushed request, regardless of parameters that the browser adds,', () => {
  // @shows AS-7.20
  test('with form_post gets its response in a form', async () => {
    const link = await pushedNow(portal, client, { response_mode: 'form_post' });
    const consent = await ada.visit(`${link}&response_mode=query`);
    const { fields } = await posted(await ada.submit(consent, { decision: 'allow' }));
    expect((await exchangeCode(portal, client, fields['code'] ?? '')).status).toBe(200);
  });

  test('without form_post gets its response in the query', async () => {
    const consent = await ada.visit(`${await pushedNow(portal, client)}&response_mode=form_post`);
    expect(
      locationOf(await ada.submit(consent, { decision: 'allow' })).searchParams.has('code'),
    ).toBe(true);
  });

  test('with an unknown response_mode is refused when it is pushed', async () => {
    const refused = await push(portal, client, { response_mode: 'fragment' });
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_request']);
  });
});

describe('form_post for a client that no operator registered', () => {
  // @shows AS-7.18, AS-7.21
  test('sends an error only when the person presses the button, without a script', async () => {
    const site = 'https://elsewhere.example/callback';
    const stranger = await putUnverified(portal, {
      document: null,
      name: '<b>Me</b>',
      redirectUris: [site],
    });
    const changes = { redirect_uri: site, scope: 'openid', prompt: 'none' };
    const page = await ada.get(url(changes, stranger));
    const { action, fields } = await posted(page, 400);
    expect([action, fields['error'], fields['state']]).toEqual([
      site,
      'interaction_required',
      'the-state',
    ]);
    const html = await page.text();
    expect(html).toContain('Nothing was shared');
    expect(html).toContain('Go back to elsewhere.example');
    expect(html).not.toContain('<script');
    expect(html).not.toContain('Me<');
    expect(policyOf(page)).not.toContain('script-src');
    expect(policyOf(page)).toContain('form-action https://elsewhere.example');
  });
});

test('an open form_post request cannot be answered after the feature is switched off', async () => {
  const visitor = await portal.signedIn(ADA);
  const consent = await visitor.visit(url());
  const { fields } = formOf(await consent.clone().text());
  // The same browser at the other process.
  const there = createVisitor(off.url);
  for (const cookie of visitor.cookies().split('; ')) there.accept(`${cookie}; Path=/`);
  const page = await there.post('/oauth/authorize', { ...fields, decision: 'allow' });
  expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  expect(await page.text()).not.toContain('client.example');
  expect(await logOf(off)).toContain('this server no longer supports the response_mode form_post');
  // Nothing was recorded: the person can still deny it here.
  const denied = await visitor.submit(consent, { decision: 'deny' });
  expect(formOf(await denied.text()).fields).toMatchObject({ error: 'access_denied' });
});

// @shows AS-7.20
test('openid-client signs in with form_post', async () => {
  const config = await openid.discovery(
    new URL(portal.url),
    client.id,
    undefined,
    openid.ClientSecretBasic(client.secret),
    { execute: [openid.allowInsecureRequests] },
  );
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  const target = openid.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    response_mode: 'form_post',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  });
  const page = await ada.submit(await ada.visit(target.href), { decision: 'allow' });
  const { action, fields } = await posted(page);
  const arriving = new Request(action, { method: 'POST', body: new URLSearchParams(fields) });
  const tokens = await openid.authorizationCodeGrant(config, arriving, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  });
  expect(tokens.claims()?.['email']).toBe(ADA);
});
