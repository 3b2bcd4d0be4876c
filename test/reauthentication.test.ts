import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { token } from 'portico';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  GRACE,
  introspect,
  REDIRECT_URI,
  refresh,
  registerClient,
  requestToken,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { push, pushedNow } from './support/pushing.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** Requests for a new authentication, in an application of the kit. */

const clock = createClock();
let portal: RunningPortal;
/** The same portal without the feature, on the same database. */
let off: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startWith({ reauthentication: true, acr_values: ['gold', 'silver'] });
  off = await startWith({}, portal.env['DATABASE_URL']);
  client = await registerClient(portal, {
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
  });
});
afterAll(async () => {
  await off.close();
  await portal.close();
});

function startWith(
  config: Readonly<Record<string, unknown>>,
  databaseUrl?: string,
): Promise<RunningPortal> {
  return startPortal({
    clock: clock.now,
    hostClock: clock.now,
    random: () => 0,
    config: {
      oauth_server: { pushed_authorization_requests: 'accept', dpop: 'accept', ...config },
    },
    routes: () => [
      {
        name: 'recent',
        methods: ['GET'],
        path: '/api/recent',
        handler: () => {
          token().requireAuthentication({ maxAge: 60 });
          return new Response('done');
        },
      },
      {
        name: 'strong',
        methods: ['GET'],
        path: '/api/strong',
        handler: () => {
          token().requireAuthentication({ acr: ['gold', 'silver'] });
          return new Response('done');
        },
      },
    ],
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
}

type Changes = Readonly<Record<string, string | undefined>>;

const ask = (visitor: Visitor, changes: Changes, at = portal) =>
  visitor.visit(authorizationUrl(at, client, changes));

/**
 * Returns which page this is: the host's page for a new authentication, the consent screen, or the
 * client.
 */
function placeOf(response: Response): string {
  const url = response.headers.has('location') ? locationOf(response) : new URL(response.url);
  const error = url.searchParams.get('error');
  if (url.origin !== portal.url) return error ?? 'code';
  return url.searchParams.has('again')
    ? 'again'
    : url.pathname.replace('/oauth/authorize', 'consent');
}

/** Types the password on the host's page, and follows the redirects. */
async function authenticate(visitor: Visitor, page: Response, email = ADA): Promise<Response> {
  const answer = await signIn(visitor, page, email);
  expect(answer.status).toBe(303);
  return visitor.visit(locationOf(answer).href);
}

async function tokensFrom(visitor: Visitor, consent: Response): Promise<Tokens> {
  expect([consent.status, placeOf(consent)]).toEqual([200, 'consent']);
  const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
  const response = await exchangeCode(portal, client, answer.searchParams.get('code') ?? '');
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

/** A browser in which Ada signed in this many seconds ago. */
async function signedInBefore(seconds: number): Promise<Visitor> {
  const visitor = await portal.signedIn(ADA);
  clock.advance(seconds);
  return visitor;
}

const now = () => Math.floor(clock.now() / 1000);

describe('without oauth_server:reauthentication', () => {
  // @shows AS-44.1
  test.each([{ prompt: 'login' }, { max_age: '60' }, { prompt: 'login consent' }])(
    '%j is refused, and acr_values is ignored',
    async (changes) => {
      const visitor = await off.signedIn(ADA);
      expect(placeOf(await ask(visitor, changes, off))).toBe('invalid_request');
    },
  );

  // @shows AS-44.1
  test('tokens contain nothing about the authentication, and an API that requires it fails', async () => {
    const visitor = await off.signedIn(ADA);
    const consent = await ask(visitor, { acr_values: 'gold' }, off);
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const response = await exchangeCode(off, client, answer.searchParams.get('code') ?? '');
    const { id_token: idToken, access_token: accessToken } = (await response.json()) as Tokens;
    expect(Object.keys(decodeJwt(idToken))).not.toContain('auth_time');
    expect((await callApi(off, '/api/recent', accessToken)).status).toBe(500);
  });

  test('acr_values is a configuration problem', async () => {
    await expect(startWith({ acr_values: ['gold'] }, portal.env['DATABASE_URL'])).rejects.toThrow(
      'oauth_server:acr_values: needs oauth_server:reauthentication',
    );
  });
});

describe('the metadata', () => {
  // @shows AS-44.9
  test('contains what the setting adds', async () => {
    const read = async (config: Readonly<Record<string, unknown>>) => {
      const at = await startWith(config);
      onTestFinished(() => at.close());
      const response = await fetch(`${at.url}/.well-known/openid-configuration`);
      return (await response.json()) as Record<string, string[]>;
    };
    const on = await read({ reauthentication: true, acr_values: ['gold', 'silver'] });
    const without = await read({});
    expect(on['acr_values_supported']).toEqual(['gold', 'silver']);
    expect(on['prompt_values_supported']).toEqual(['consent', 'none', 'login']);
    expect(on['claims_supported']).toEqual([
      ...(without['claims_supported'] ?? []),
      'auth_time',
      'acr',
      'amr',
    ]);
    expect(without).not.toHaveProperty('acr_values_supported');
    expect(without['prompt_values_supported']).toEqual(['consent', 'none']);
    const plain = await read({ reauthentication: true });
    expect(plain).not.toHaveProperty('acr_values_supported');
    expect(plain['prompt_values_supported']).toEqual(['consent', 'none', 'login']);
  });
});

describe('prompt=login', () => {
  // @shows AS-44.2, AS-44.6
  test('asks a signed-in person for the password again, and then for consent', async () => {
    const visitor = await signedInBefore(100);
    const page = await ask(visitor, { prompt: 'login' });
    expect(placeOf(page)).toBe('again');
    clock.advance(5);
    const tokens = await tokensFrom(visitor, await authenticate(visitor, page));
    expect(decodeJwt(tokens.id_token)).toMatchObject({
      auth_time: now(),
      amr: ['pwd'],
      nonce: 'the-nonce',
    });
  });

  // @shows AS-44.2
  test('does not ask a person twice who signs in for this request', async () => {
    const visitor = portal.visitor();
    const page = await ask(visitor, { prompt: 'login consent', max_age: '0' });
    expect(placeOf(page)).toBe('/login');
    clock.advance(30);
    expect(placeOf(await authenticate(visitor, page))).toBe('consent');
  });

  // @shows AS-44.3
  test('sends login_required to the client if the person comes back as before', async () => {
    const visitor = await signedInBefore(100);
    const page = await ask(visitor, { prompt: 'login' });
    const back = new URL(page.url).searchParams.get('return_to') ?? '';
    const answer = locationOf(await visitor.get(back));
    expect(Object.fromEntries(answer.searchParams)).toEqual({
      error: 'login_required',
      error_description: 'The person did not authenticate again.',
      state: 'the-state',
      iss: portal.server.issuer,
    });
    // The request has ended.
    expect((await visitor.get(back)).status).toBe(400);
  });

  // @shows AS-44.3
  test('cannot be avoided without the cookie, or with the cookie of a different request', async () => {
    const visitor = await signedInBefore(100);
    const page = await ask(visitor, { prompt: 'login' });
    const back = new URL(page.url).searchParams.get('return_to') ?? '';
    const cookie = visitor.cookies();
    const plain = await ask(visitor, { prompt: 'login', state: 'other' });
    const other = new URL(plain.url).searchParams.get('return_to') ?? '';
    const [own = '', foreign = ''] = [back, other].map(
      (path) =>
        new RegExp(
          `portico_request_${new URL(path, portal.url).searchParams.get('request_id')}=([^;]+)`,
        ).exec(visitor.cookies())?.[1],
    );
    expect(own).not.toBe(foreign);
    const session = /portico_session=[^;]+/.exec(cookie)?.[0] ?? '';
    const name = `portico_request_${new URL(back, portal.url).searchParams.get('request_id')}`;
    for (const sent of [session, `${session}; ${name}=${foreign}`, `${session}; ${name}=forged`]) {
      const response = await fetch(new URL(back, portal.url), {
        headers: { cookie: sent },
        redirect: 'manual',
      });
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    }
  });

  // @shows AS-44.13
  test('is satisfied by a sign-in in a different tab of the browser, and consent is still asked', async () => {
    const visitor = await signedInBefore(100);
    const page = await ask(visitor, { prompt: 'login' });
    const back = new URL(page.url).searchParams.get('return_to') ?? '';
    clock.advance(1);
    const other = portal.visitor();
    await signIn(visitor, await visitor.get('/login?again=1'), ADA);
    await signIn(other, await other.get('/login'), ADA);
    expect(placeOf(await visitor.visit(back))).toBe('consent');
    // In a browser that did not begin it, the request does not exist.
    expect((await other.get(back)).status).toBe(400);
  });

  // @shows AS-44.3
  test('applies in a second tab too, which uses the same request', async () => {
    const visitor = await signedInBefore(100);
    const url = await pushedNow(portal, client, { prompt: 'login' });
    const first = await visitor.visit(url);
    clock.advance(1);
    const second = await visitor.visit(url);
    expect([placeOf(first), placeOf(second)]).toEqual(['again', 'again']);
    expect(placeOf(await authenticate(visitor, first))).toBe('consent');
  });

  // @shows AS-44.4
  test('of a pushed request cannot be removed in the browser, and the request stays valid', async () => {
    const visitor = await signedInBefore(100);
    const url = new URL(await pushedNow(portal, client, { prompt: 'login', max_age: '10' }));
    url.searchParams.set('prompt', 'consent');
    url.searchParams.set('max_age', '');
    const page = await visitor.visit(url.href);
    expect(placeOf(page)).toBe('again');
    clock.advance(90);
    await tokensFrom(visitor, await authenticate(visitor, page));
    expect((await visitor.get(url.href)).status).toBe(400);
  });

  // @shows AS-44.4
  test('of a request that is too long for a cookie also leads to consent', async () => {
    const visitor = await signedInBefore(100);
    const page = await ask(visitor, { prompt: 'login', state: 's'.repeat(5000) });
    expect(placeOf(page)).toBe('again');
    expect(placeOf(await authenticate(visitor, page))).toBe('consent');
  });

  // @shows AS-44.4
  test('of a request sent by POST also leads to consent', async () => {
    const visitor = await signedInBefore(100);
    const url = new URL(authorizationUrl(portal, client, { prompt: 'login' }));
    const posted = await visitor.post('/oauth/authorize', Object.fromEntries(url.searchParams));
    const page = await visitor.visit(locationOf(posted).href);
    expect(placeOf(page)).toBe('again');
    expect(placeOf(await authenticate(visitor, page))).toBe('consent');
  });

  // @shows AS-44.5
  test('shows the consent screen to a different person who signs in, and not to the first one', async () => {
    const visitor = await signedInBefore(100);
    const page = await ask(visitor, { prompt: 'login' });
    const consent = await authenticate(visitor, page, GRACE);
    expect(await consent.text()).toContain('Grace');
  });

  // @shows AS-44.5
  test('applies to the next person after "Not you?"', async () => {
    const visitor = portal.visitor();
    const consent = await authenticate(visitor, await ask(visitor, { prompt: 'login' }));
    const other = await portal.signedIn(GRACE);
    clock.advance(10);
    const left = await visitor.submit(consent, { decision: 'switch' });
    const back = locationOf(left).searchParams.get('return_to') ?? '';
    // Grace signed in before, in a session that the browser gets back.
    for (const cookie of other.cookies().split('; ')) visitor.accept(`${cookie}; Path=/`);
    expect(placeOf(await visitor.visit(back))).toBe('again');
  });

  // @shows AS-44.2
  test.each(['login none', 'none consent', 'select_account', 'login create'])(
    'as part of "%s" is invalid_request; none alone stays interaction_required',
    async (prompt) => {
      const visitor = await portal.signedIn(ADA);
      expect(placeOf(await ask(visitor, { prompt }))).toBe('invalid_request');
      expect(placeOf(await ask(visitor, { prompt: 'none' }))).toBe('interaction_required');
    },
  );
});

describe('max_age', () => {
  // @shows AS-44.2
  test('asks for the password again if the authentication is older, to the second', async () => {
    const visitor = await signedInBefore(60);
    expect(placeOf(await ask(visitor, { max_age: '60' }))).toBe('consent');
    clock.advance(0.001);
    const page = await ask(visitor, { max_age: '60' });
    expect(placeOf(page)).toBe('again');
    expect(placeOf(await authenticate(visitor, page))).toBe('consent');
  });

  // @shows AS-44.2
  test('asks again after a sign-in that is older than max_age plus a minute, even for this request', async () => {
    const visitor = await portal.signedIn(ADA);
    clock.advance(120);
    const page = await ask(visitor, { max_age: '30' });
    expect(placeOf(page)).toBe('again');
    const answer = await signIn(visitor, page, ADA);
    clock.advance(61);
    expect(placeOf(await visitor.visit(locationOf(answer).href))).toBe('login_required');
  });

  // @shows AS-44.2, AS-44.12
  test('is checked when the person allows the request, and not only when it is shown', async () => {
    const visitor = await portal.signedIn(ADA);
    const shown = await ask(visitor, { max_age: '60' });
    clock.advance(61);
    const sent = await visitor.submit(shown, { decision: 'allow' });
    expect([sent.status, placeOf(sent)]).toEqual([303, 'again']);
    const page = await visitor.visit(locationOf(sent).href);
    // The first page can no longer be answered.
    expect((await visitor.submit(shown, { decision: 'allow' })).status).toBe(400);
    const consent = await authenticate(visitor, page);
    const signedInAt = now();
    clock.advance(20);
    expect(decodeJwt((await tokensFrom(visitor, consent)).id_token)).toMatchObject({
      auth_time: signedInAt,
      nonce: 'the-nonce',
    });
  });

  // @shows AS-44.3, AS-44.12
  test('that is exceeded when the person allows gives login_required without a new sign-in', async () => {
    const visitor = await portal.signedIn(ADA);
    const shown = await ask(visitor, { max_age: '60' });
    clock.advance(61);
    const sent = await visitor.submit(shown, { decision: 'allow' });
    const back = locationOf(sent).searchParams.get('return_to') ?? '';
    expect(placeOf(await visitor.get(back))).toBe('login_required');
  });

  // @shows AS-44.12
  test('does not prevent a person from denying', async () => {
    const visitor = await portal.signedIn(ADA);
    const shown = await ask(visitor, { max_age: '60' });
    clock.advance(61);
    expect(placeOf(await visitor.submit(shown, { decision: 'deny' }))).toBe('access_denied');
  });

  // @shows AS-44.2, AS-44.11
  test('counts from the last password entry, not from the last use of the session', async () => {
    const visitor = await portal.signedIn(ADA);
    const signedInAt = now();
    for (let hour = 0; hour < 5; hour += 1) {
      clock.advance(3601);
      await visitor.get('/login');
    }
    expect(placeOf(await ask(visitor, { max_age: '3600' }))).toBe('again');
    const tokens = await tokensFrom(visitor, await ask(visitor, {}));
    expect(decodeJwt(tokens.id_token)['auth_time']).toBe(signedInAt);
  });

  // @shows AS-44.2
  test('of 0 is like prompt=login', async () => {
    const visitor = await portal.signedIn(ADA);
    clock.advance(0.001);
    expect(placeOf(await ask(visitor, { max_age: '0' }))).toBe('again');
    expect(placeOf(await ask(visitor, { max_age: '9999999999' }))).toBe('consent');
  });

  // @shows AS-44.2
  test.each(['-1', '1.5', '+5', '1e3', '99999999999', 'x', ' 1'])(
    'of "%s" is invalid_request',
    async (value) => {
      const visitor = await portal.signedIn(ADA);
      expect(placeOf(await ask(visitor, { max_age: value }))).toBe('invalid_request');
      expect((await push(portal, client, { max_age: value })).status).toBe(400);
    },
  );

  // @shows AS-44.2
  test.each(['max_age=60&max_age=60', 'prompt=login&prompt=consent', 'acr_values=a&acr_values=b'])(
    'and the other parameters cannot be repeated: %s',
    async (twice) => {
      const visitor = await portal.signedIn(ADA);
      const answer = await visitor.get(`${authorizationUrl(portal, client)}&${twice}`);
      expect(placeOf(answer)).toBe('invalid_request');
    },
  );
});

describe('acr_values', () => {
  // @shows AS-44.7
  test('sends the person to the page once, with the supported values, and then continues', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = await ask(visitor, { acr_values: 'platinum gold' });
    expect(placeOf(page)).toBe('again');
    expect(new URL(page.url).searchParams.get('acr_values')).toBe('gold');
    const back = new URL(page.url).searchParams.get('return_to') ?? '';
    expect(placeOf(await visitor.visit(back))).toBe('consent');
  });

  // @shows AS-44.7
  test('that the server does not support is ignored', async () => {
    const visitor = await portal.signedIn(ADA);
    expect(placeOf(await ask(visitor, { acr_values: 'platinum' }))).toBe('consent');
  });
});

describe('id_token_hint', () => {
  async function hintOf(email: string, changes: Changes = {}): Promise<string> {
    const visitor = await portal.signedIn(email);
    return (await tokensFrom(visitor, await ask(visitor, changes))).id_token;
  }

  // @shows AS-44.15
  test('may be long, for example because of a long nonce', async () => {
    const hint = await hintOf(ADA, { nonce: 'n'.repeat(7000) });
    const visitor = await portal.signedIn(ADA);
    expect(placeOf(await ask(visitor, { id_token_hint: hint }))).toBe('consent');
  });

  // @shows AS-44.15, OIDC-3.1.2.1i
  test('gives a code only for the person of that token', async () => {
    const [own, others] = [await hintOf(ADA), await hintOf(GRACE)];
    const visitor = await portal.signedIn(ADA);
    expect(placeOf(await ask(visitor, { id_token_hint: own }))).toBe('consent');
    const forged = `${own.split('.', 2).join('.')}.${others.split('.')[2]}`;
    for (const hint of [others, forged, 'nonsense']) {
      expect(placeOf(await ask(visitor, { id_token_hint: hint }))).toBe('login_required');
      const pushed = await pushedNow(portal, client, { id_token_hint: hint });
      expect(placeOf(await visitor.visit(pushed))).toBe('login_required');
    }
  });

  // @shows AS-44.15, OIDC-3.1.2.1i
  test.each<[string, Changes]>([
    ['for this request', {}],
    ['again', { prompt: 'login' }],
  ])('must match the person who signs in %s', async (_, changes) => {
    const hint = await hintOf(GRACE);
    const begin = async () => {
      const visitor = changes['prompt'] === undefined ? portal.visitor() : await signedInBefore(9);
      return [visitor, await ask(visitor, { ...changes, id_token_hint: hint })] as const;
    };
    const [wrong, first] = await begin();
    expect(placeOf(await authenticate(wrong, first, ADA))).toBe('login_required');
    const [right, second] = await begin();
    expect(placeOf(await authenticate(right, second, GRACE))).toBe('consent');
  });

  // @shows AS-25.6, AS-44.15
  test('of a pushed request that was refused elsewhere gives the named person no code', async () => {
    const url = await pushedNow(portal, client, { id_token_hint: await hintOf(ADA) });
    const early = portal.visitor();
    const login = await early.visit(url);
    const refused = await (await portal.signedIn(GRACE)).visit(url);
    expect(placeOf(refused)).toBe('login_required');
    const back = await authenticate(early, login, ADA);
    expect(back.status).toBe(400);
  });

  // @shows AS-44.15
  test('is ignored without oauth_server:reauthentication', async () => {
    const visitor = await off.signedIn(ADA);
    const hint = await hintOf(GRACE);
    expect((await ask(visitor, { id_token_hint: hint }, off)).status).toBe(200);
  });
});

describe('openid-client', () => {
  // @shows AS-44.2, AS-44.6, OIDC-2e
  test('sends max_age, and accepts the ID token', async () => {
    const options = { execute: [openid.allowInsecureRequests] };
    const config = await openid.discovery(
      new URL(portal.url),
      client.id,
      client.secret,
      undefined,
      options,
    );
    const verifier = openid.randomPKCECodeVerifier();
    const visitor = portal.visitor();
    // The library uses the real clock.
    clock.advance((Date.now() - clock.now()) / 1000);
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid',
      max_age: '60',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const consent = await authenticate(visitor, await visitor.visit(url.href));
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const tokens = await openid.authorizationCodeGrant(config, answer, {
      pkceCodeVerifier: verifier,
      maxAge: 60,
    });
    expect(tokens.claims()).toMatchObject({ auth_time: now(), amr: ['pwd'] });
  });
});

describe('the authentication in tokens', () => {
  // @shows AS-44.6, AS-44.8, OIDC-2e, OIDC-12.2, RFC9470-6.2
  test('stays the same after refreshes, and is in introspection responses', async () => {
    const visitor = await portal.signedIn(ADA);
    const at = now();
    let tokens = await tokensFrom(visitor, await ask(visitor, {}));
    for (let turn = 0; turn < 2; turn += 1) {
      clock.advance(1000);
      tokens = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
      expect(decodeJwt(tokens.id_token)).toMatchObject({ auth_time: at, amr: ['pwd'] });
      expect(await introspect(portal, tokens.access_token)).toMatchObject({
        auth_time: at,
        amr: ['pwd'],
      });
    }
  });
});

describe('token().requireAuthentication()', () => {
  // @shows AS-44.10, RFC9470-3a
  test('accepts a recent authentication, to the second, and sends a challenge after that', async () => {
    const visitor = await portal.signedIn(ADA);
    const { access_token: accessToken } = await tokensFrom(visitor, await ask(visitor, {}));
    const limit = (Math.floor(clock.now() / 1000) + 60) * 1000;
    clock.advance((limit - clock.now()) / 1000);
    expect((await callApi(portal, '/api/recent', accessToken)).status).toBe(200);
    clock.advance(0.001);
    const response = await callApi(portal, '/api/recent', accessToken);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="oauth", error="insufficient_user_authentication", error_description="[^"]+", max_age="60"/,
    );
  });

  // @shows AS-44.10, RFC9470-3a
  test('lists the accepted authentication levels', async () => {
    const visitor = await portal.signedIn(ADA);
    const { access_token: accessToken } = await tokensFrom(visitor, await ask(visitor, {}));
    const response = await callApi(portal, '/api/strong', accessToken);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('acr_values="gold silver"');
  });

  // @shows AS-44.10
  test('refuses a token of the client itself, and one from before the setting was turned on', async () => {
    const own = await requestToken(portal, client, {
      grant_type: 'client_credentials',
      scope: 'notes:read',
    });
    const visitor = await off.signedIn(ADA);
    const consent = await ask(visitor, {}, off);
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const before = await exchangeCode(off, client, answer.searchParams.get('code') ?? '');
    for (const issued of [own, before]) {
      expect(issued.status).toBe(200);
      const { access_token: accessToken } = (await issued.json()) as Tokens;
      const response = await callApi(portal, '/api/recent', accessToken);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('insufficient_user_authentication'),
      ]);
    }
  });

  // @shows AS-44.10
  test('challenges a request without a token', async () => {
    const response = await fetch(`${portal.url}/api/recent`);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).not.toContain(
      'insufficient_user_authentication',
    );
  });
});
