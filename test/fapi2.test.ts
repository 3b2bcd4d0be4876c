import * as openid from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { examine } from 'portico';
import { newKey, type Algorithm, type ClientKey } from './support/assertions.ts';
import { startDocumentHost } from './support/document-host.ts';
import {
  allow,
  call,
  exchange,
  obtainCode,
  post,
  proofOf,
  push,
  pushedUrl,
  refresh,
  registerBanker,
  tokensOf,
  type At,
  type Banker,
  type Otherwise,
} from './support/fapi2.ts';
import {
  assertionFor,
  IDP,
  JWT_BEARER,
  link,
  startIdentityProvider,
  type IdentityProvider,
} from './support/identity-provider.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  errorOf,
  REDIRECT_URI,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/**
 * The final FAPI 2.0 Security Profile. For each rule for authorization servers, there is a test
 * with the request that the rule forbids.
 */

const clock = createClock();
let portal: RunningPortal;
let at: At;
let banker: Banker;
let ada: Visitor;

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now, config: { oauth_server: { profile: 'fapi2' } } });
  at = { portal, now: clock.now };
  banker = await registerBanker(portal);
  ada = await portal.signedIn(ADA);
});
afterAll(() => portal.close());
// A failure in one test does not delay the next.
beforeEach(() => clock.advance(3600));

const seconds = () => Math.floor(clock.now() / 1000);
const tokens = async (otherwise: Otherwise = {}) =>
  tokensOf(exchange(at, banker, await obtainCode(at, banker, ada), otherwise));

async function expectRefused(answer: Promise<Response>, error: string): Promise<void> {
  const response = await answer;
  expect(await errorOf(response)).toBe(error);
  expect(response.status).toBe(error === 'invalid_client' ? 401 : 400);
}

describe('a server with the profile fapi2', () => {
  // @shows AS-2.28, AS-27.1, FAPI2-5.3.2.1.4, FAPI2-5.3.2.1.12, FAPI2-5.3.2.2.2, FAPI2-5.3.2.3, FAPI2-5.3.4.5
  test('completes the flow of a conforming client: pushed, allowed, exchanged, used, refreshed', async () => {
    const key = banker.proofKey;
    const bound = { proofKey: key };
    const code = await obtainCode(at, banker, ada, bound);
    const answered = await tokensOf(exchange(at, banker, code));
    expect(answered).toMatchObject({ token_type: 'DPoP', refresh_token: expect.any(String) });
    const [header = ''] = answered.id_token.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: 'ES256' });
    expect(
      await (await call(at, '/oauth/userinfo', key, answered.access_token)).json(),
    ).toMatchObject({
      name: expect.any(String),
    });
    const again = await tokensOf(refresh(at, banker, answered.refresh_token));
    expect((await call(at, '/oauth/userinfo', key, again.access_token)).status).toBe(200);
    // Without the key, a token is invalid: as a bearer token or with a proof of another key.
    const asBearer = await fetch(`${portal.url}/oauth/userinfo`, {
      headers: { Authorization: `Bearer ${again.access_token}` },
    });
    expect(asBearer.status).toBe(401);
    expect((await call(at, '/oauth/userinfo', newKey('ES256'), again.access_token)).status).toBe(
      401,
    );
  });

  // @shows AS-27.1
  test('works with openid-client from its metadata: pushed, exchanged, refreshed, UserInfo', async () => {
    const skew = { [openid.clockSkew]: Math.round((clock.now() - Date.now()) / 1000) };
    const pkcs8 = new Uint8Array(banker.key.privateKey.export({ type: 'pkcs8', format: 'der' }));
    const how = { name: 'ECDSA', namedCurve: 'P-256' };
    const key = {
      key: await crypto.subtle.importKey('pkcs8', pkcs8, how, false, ['sign']),
      kid: banker.key.kid,
    };
    const config = await openid.discovery(
      new URL(portal.server.issuer),
      banker.id,
      { ...skew, require_pushed_authorization_requests: true },
      openid.PrivateKeyJwt(key),
      { execute: [openid.allowInsecureRequests] },
    );
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'));
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const parameters = {
      redirect_uri: REDIRECT_URI,
      scope: 'openid profile notes:read',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    };
    const url = await openid.buildAuthorizationUrlWithPAR(config, parameters, { DPoP });
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    const answered = await openid.authorizationCodeGrant(
      config,
      await allow(ada, url.href),
      checks,
      undefined,
      {
        DPoP,
      },
    );
    expect(answered.token_type).toBe('dpop');
    const { refresh_token: token = '' } = answered;
    for (let use = 0; use < 2; use += 1) {
      const again = await openid.refreshTokenGrant(config, token, undefined, { DPoP });
      expect(again.refresh_token).toBe(token);
      const subject = answered.claims()?.sub ?? '';
      const claims = await openid.fetchUserInfo(config, again.access_token, subject, { DPoP });
      expect(claims).toMatchObject({ sub: subject, name: expect.any(String) });
    }
  });

  // @shows FAPI2-5.3.2.1.12
  test('exchanges a code that was requested with a key only with that key', async () => {
    const { proofKey } = banker;
    const code = await obtainCode(at, banker, ada, { proofKey });
    await expectRefused(exchange(at, banker, code, { proofKey: newKey('ES256') }), 'invalid_grant');
  });

  // @shows FAPI2-5.3.2.1.4
  test('issues no token without a proof, also to a service', async () => {
    const service = await registerBanker(portal, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
    });
    const form = { grant_type: 'client_credentials' };
    expect(await tokensOf(post(at, '/oauth/token', service, form))).toMatchObject({
      token_type: 'DPoP',
    });
    await expectRefused(
      post(at, '/oauth/token', service, form, { proofKey: null }),
      'invalid_dpop_proof',
    );
    const code = await obtainCode(at, banker, ada);
    await expectRefused(exchange(at, banker, code, { proofKey: null }), 'invalid_dpop_proof');
  });

  // @shows FAPI2-5.3.2.1.1, FAPI2-5.3.2.1.2, FAPI2-5.3.2.2.1
  test('lists in its metadata exactly what it accepts, without client secrets', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const metadata = await (await fetch(`${portal.url}/.well-known/${name}`)).json();
      expect(metadata).toMatchObject({
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        revocation_endpoint_auth_methods_supported: ['private_key_jwt'],
        token_endpoint_auth_signing_alg_values_supported: ['PS256', 'ES256', 'EdDSA', 'Ed25519'],
        require_pushed_authorization_requests: true,
        pushed_authorization_request_endpoint: `${portal.server.issuer}/oauth/par`,
        authorization_response_iss_parameter_supported: true,
        code_challenge_methods_supported: ['S256'],
        dpop_signing_alg_values_supported: ['PS256', 'ES256', 'EdDSA', 'Ed25519'],
      });
      expect(
        Object.keys(metadata as object).filter((member) => member.includes('tls_client')),
      ).toEqual([]);
    }
    const openid = (await (
      await fetch(`${portal.url}/.well-known/openid-configuration`)
    ).json()) as object;
    expect(openid).toMatchObject({ id_token_signing_alg_values_supported: ['ES256'] });
    const form = { grant_type: 'password', username: ADA, password: 'portico' };
    await expectRefused(post(at, '/oauth/token', banker, form), 'unsupported_grant_type');
  });

  // @shows AS-27.1, AS-48.6
  test('offers neither device codes nor workload identity, which it would always refuse', async () => {
    const device = 'urn:ietf:params:oauth:grant-type:device_code';
    const cluster = {
      jwks_uri: 'https://cluster.example/jwks',
      algorithms: ['ES256'],
      asserts: ['clients'],
    };
    const other = await startPortal({
      config: {
        oauth_server: {
          profile: 'fapi2',
          device_authorization: true,
          workload_identity: true,
          trusted_issuers: { 'https://cluster.example': cluster },
        },
      },
    });
    onTestFinished(() => other.close());
    const answer = await fetch(`${other.url}/.well-known/openid-configuration`);
    const metadata = (await answer.json()) as Readonly<Record<string, unknown>>;
    expect(metadata['grant_types_supported']).toEqual([
      'authorization_code',
      'refresh_token',
      'client_credentials',
    ]);
    expect(metadata).not.toHaveProperty('device_authorization_endpoint');
    const asked = await fetch(`${other.url}/oauth/device_authorization`, { method: 'POST' });
    expect(asked.status).toBe(404);
    await expect(registerBanker(other, { grants: ['authorization_code', device] })).rejects.toThrow(
      `The grant "${device}" is unknown`,
    );
  });

  // @shows FAPI2-5.2.3.3
  test('does not let pages of other origins call the authorization endpoint', async () => {
    const headers = { Origin: 'https://other.example' };
    const url = await pushedUrl(at, banker);
    const asked = await fetch(url, { headers, redirect: 'manual' });
    const preflight = await fetch(url, { method: 'OPTIONS', headers });
    for (const response of [asked, preflight])
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('with fapi2, a client authenticates only with its own keys', () => {
  // @shows FAPI2-5.3.2.1.6
  test('and not with its id alone or a secret', async () => {
    const code = await obtainCode(at, banker, ada);
    const basic = {
      Authorization: `Basic ${Buffer.from(`${banker.id}:secret`).toString('base64')}`,
    };
    for (const authentication of [
      { form: { client_id: banker.id } },
      { form: { client_id: banker.id, client_secret: 'secret' } },
      { headers: basic },
    ]) {
      await expectRefused(exchange(at, banker, code, { authentication }), 'invalid_client');
    }
    expect((await exchange(at, banker, code)).status).toBe(200);
  });

  // @shows FAPI2-5.3.2.2.4
  test('also when it pushes requests', async () => {
    for (const form of [
      {},
      { client_id: banker.id },
      { client_id: banker.id, client_secret: 'secret' },
    ]) {
      await expectRefused(push(at, banker, { authentication: { form } }), 'invalid_client');
    }
    await expectRefused(push(at, banker, { key: newKey('ES256') }), 'invalid_client');
  });

  // @shows FAPI2-5.3.2.1.8
  test.each<readonly [what: string, aud: () => unknown]>([
    ['the token endpoint', () => `${portal.server.issuer}/oauth/token`],
    ['the endpoint for pushed requests', () => `${portal.server.issuer}/oauth/par`],
    ['a list of the issuer', () => [portal.server.issuer]],
    [
      'issuer and token endpoint',
      () => [portal.server.issuer, `${portal.server.issuer}/oauth/token`],
    ],
    ['the issuer with a slash', () => `${portal.server.issuer}/`],
    ['a different issuer', () => 'https://other.example'],
  ])('and the audience cannot be %s', async (_, aud) => {
    await expectRefused(push(at, banker, { assertion: { aud: aud() } }), 'invalid_client');
    await expectRefused(exchange(at, banker, 'a', { assertion: { aud: aud() } }), 'invalid_client');
  });

  // @shows FAPI2-5.3.2.1.13
  test('with a clock up to ten seconds ahead, and never more than a minute', async () => {
    for (const name of ['iat', 'nbf']) {
      const ahead = (by: number) => ({
        assertion: { [name]: seconds() + by, exp: seconds() + 120 },
      });
      expect((await push(at, banker, ahead(10))).status).toBe(201);
      await expectRefused(push(at, banker, ahead(61)), 'invalid_client');
    }
    const code = await obtainCode(at, banker, ada);
    const proofs = (by: number) => exchange(at, banker, code, { proof: { iat: seconds() + by } });
    await expectRefused(proofs(61), 'invalid_dpop_proof');
    expect((await proofs(10)).status).toBe(200);
  });

  // @shows FAPI2-5.4.1.1
  test.each<Algorithm>(['PS256', 'ES256', 'EdDSA', 'Ed25519'])('with %s', async (algorithm) => {
    const own = await registerBanker(portal, {}, newKey(algorithm));
    const code = await obtainCode(at, own, ada);
    expect((await exchange(at, own, code, { proofKey: newKey(algorithm) })).status).toBe(200);
  });

  // @shows FAPI2-5.4.1.1
  test('and never with RS256 or none, as in proofs and ID tokens', async () => {
    const rsa = newKey('RS256');
    const own = await registerBanker(portal, {}, { ...rsa, algorithm: 'PS256' });
    await expectRefused(push(at, own, { key: rsa }), 'invalid_client');
    await expectRefused(push(at, own, { header: { alg: 'none' } }), 'invalid_client');
    const code = await obtainCode(at, own, ada);
    await expectRefused(exchange(at, own, code, { proofKey: rsa }), 'invalid_dpop_proof');
    const answered = await tokensOf(
      exchange(at, own, code, { proofKey: { ...rsa, algorithm: 'PS256' } }),
    );
    expect((await call(at, '/oauth/userinfo', rsa, answered.access_token)).status).toBe(401);
    await expect(registerBanker(portal, { idTokenSignedResponseAlg: 'RS256' })).rejects.toThrow(
      'its ID tokens are signed with RS256',
    );
    await expect(registerBanker(portal, { tokenEndpointAuthSigningAlg: 'RS256' })).rejects.toThrow(
      /RS256/,
    );
    const only = { ...rsa, jwk: { ...rsa.jwk, alg: 'RS256' } };
    await expect(registerBanker(portal, {}, only)).rejects.toThrow(
      'no key for PS256, ES256 or EdDSA',
    );
  });

  // @shows FAPI2-5.4.1.2, FAPI2-5.4.1.3
  test('that are long enough: short keys are refused', async () => {
    await expect(registerBanker(portal, {}, newKey('PS256', 'small', 1024))).rejects.toThrow(
      '2048',
    );
    // A curve of 192 bits is not known here, nor any below 256.
    await expect(
      registerBanker(portal, {
        jwks: { keys: [{ kty: 'EC', crv: 'P-192', x: 'AAAA', y: 'AAAA' }] },
      }),
    ).rejects.toThrow('no key');
    const small = newKey('PS256', 'small', 1024);
    const code = await obtainCode(at, banker, ada);
    await expectRefused(exchange(at, banker, code, { proofKey: small }), 'invalid_dpop_proof');
  });

  // @shows FAPI2-5.4.3
  test('even if several keys have one kid: the key with the right type is used', async () => {
    const [one, other] = [newKey('ES256', 'the-same'), newKey('EdDSA', 'the-same')];
    const own = await registerBanker(portal, { jwks: { keys: [one.jwk, other.jwk] } }, one);
    for (const key of [one, other]) expect((await push(at, own, { key })).status).toBe(201);
  });
});

describe('with fapi2, the registration of a client', () => {
  // @shows AS-27.2, FAPI2-5.3.2.1.3, FAPI2-5.3.2.1.6, FAPI2-5.3.2.2.8
  test.each([
    ['a public client', { public: true, jwks: undefined }, 'public'],
    ['a client with a secret', { jwks: undefined }, 'no keys'],
    ['an http address of a web application', { redirectUris: ['http://localhost/cb'] }, 'http'],
    [
      'localhost by name, which may be anywhere',
      { applicationType: 'native', redirectUris: ['http://localhost/cb'] },
      'http',
    ],
    ['an unknown profile', { profile: 'fapi3' }, 'fapi3'],
  ] as const)('is refused: %s', async (_, registration, why) => {
    const { jwks, ...changes } = { jwks: null, ...registration };
    const key = newKey('ES256');
    const create = portal.server.clients.create({
      name: 'A client',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid'],
      ...changes,
      ...(jwks === undefined ? {} : { jwks: { keys: [key.jwk] } }),
    });
    await expect(create).rejects.toThrow(why);
  });

  // @shows FAPI2-5.3.2.2.8
  test('accepts a native application, which gets its response on loopback at any port', async () => {
    const own = await registerBanker(portal, {
      applicationType: 'native',
      redirectUris: ['http://127.0.0.1/cb'],
    });
    const form = { redirect_uri: 'http://127.0.0.1:4000/cb' };
    expect((await allow(ada, await pushedUrl(at, own, { form }))).href).toMatch(
      /^http:\/\/127\.0\.0\.1:4000\/cb\?/,
    );
  });
});

describe('with fapi2, authorization requests', () => {
  // @shows FAPI2-5.3.2.2.3
  test('are refused if they were not pushed, even if a pushed request exists', async () => {
    const client = { id: banker.id, secret: '' };
    const asked = await ada.get(authorizationUrl(portal, client, { scope: 'openid notes:read' }));
    expect(locationOf(asked).searchParams.get('error')).toBe('invalid_request');
    // URL parameters besides the pushed ones change nothing.
    const url = `${await pushedUrl(at, banker)}&redirect_uri=${encodeURIComponent('https://thief.example/')}&state=other`;
    const page = await ada.visit(url);
    const answer = locationOf(await ada.submit(page, { decision: 'allow' }));
    expect(answer.href.startsWith(REDIRECT_URI)).toBe(true);
    expect(answer.searchParams.get('state')).toBe('the-state');
  });

  // @shows FAPI2-5.3.2.2.1, FAPI2-5.3.2.2.5, FAPI2-5.3.2.2.6, FAPI2-5.3.2.1.7
  test.each([
    ['a different response_type', { response_type: 'code id_token' }],
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['PKCE with plain', { code_challenge_method: 'plain' }],
    ['no redirect_uri', { redirect_uri: undefined }],
    ['a different redirect_uri', { redirect_uri: `${REDIRECT_URI}/` }],
    ['a redirect_uri of a different client', { redirect_uri: 'https://thief.example/' }],
    ['a request object', { request: 'a.b.c' }],
    ['a request_uri', { request_uri: 'https://client.example/request' }],
  ])('are refused with %s', async (_, form) => {
    const response = await push(at, banker, { form });
    expect(response.status).toBe(400);
    expect(await response.json()).not.toHaveProperty('request_uri');
  });

  // @shows FAPI2-5.3.2.2.12
  test('are valid for less than ten minutes', async () => {
    const { expires_in: lifetime } = (await (await push(at, banker)).json()) as {
      expires_in: number;
    };
    expect(lifetime).toBeLessThan(600);
    const url = await pushedUrl(at, banker);
    clock.advance(lifetime);
    const late = await portal.visitor().get(url);
    expect(late.status).toBe(400);
  });

  // @shows FAPI2-5.3.2.2.7, FAPI2-5.3.2.2.14
  test('are answered with iss, also with a long state and nonce', async () => {
    const [state, nonce] = ['s'.repeat(1500), 'n'.repeat(64)];
    const answer = await allow(ada, await pushedUrl(at, banker, { form: { state, nonce } }));
    expect(answer.searchParams.get('iss')).toBe(portal.server.issuer);
    expect(answer.searchParams.get('state')).toBe(state);
    const { id_token: idToken } = await tokensOf(
      exchange(at, banker, answer.searchParams.get('code') ?? ''),
    );
    const claims = Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString();
    expect(JSON.parse(claims)).toMatchObject({ nonce });
  });

  // @shows FAPI2-5.3.2.2.10, FAPI2-5.3.2.2.11
  test('redirect with 303 and never with 307: to sign-in, back, to the client', async () => {
    const browser = portal.visitor();
    const signIn = await browser.get(await pushedUrl(at, banker));
    expect(signIn.status).toBe(303);
    const back = await browser.submit(await browser.get(locationOf(signIn).href), {
      identifier: ADA,
      password: 'portico',
    });
    expect(back.status).toBe(303);
    const page = await browser.get(locationOf(back).href);
    const answer = await browser.submit(page, { decision: 'allow' });
    expect(answer.status).toBe(303);
    // A signed-out browser that returns without a waiting request.
    const lost = await portal.visitor().get(`${portal.url}/oauth/authorize?request_id=none`);
    expect(lost.status).toBe(303);
    const refused = await ada.get(await pushedUrl(at, banker).then((url) => url));
    expect([200, 303]).toContain(refused.status);
  });

  // @shows FAPI2-5.3.2.2.13
  test('show the person the application and the requested access', async () => {
    const text = await (await ada.visit(await pushedUrl(at, banker))).text();
    expect(text).toContain('A bank’s application');
    expect(text).toContain('Read your notes');
  });

  // @shows FAPI2-5.3.2.1.11, FAPI2-5.3.2.2.9
  test('give a code that is valid for a minute, once', async () => {
    const late = await obtainCode(at, banker, ada);
    clock.advance(60);
    await expectRefused(exchange(at, banker, late), 'invalid_grant');
    const code = await obtainCode(at, banker, ada);
    const answered = await tokensOf(exchange(at, banker, code));
    await expectRefused(exchange(at, banker, code), 'invalid_grant');
    // An attacker may have stolen the code. So everything ends, including the refresh token that
    // does not rotate.
    await expectRefused(refresh(at, banker, answered.refresh_token), 'invalid_grant');
  });

  // @shows AS-27.7, AS-5.2
  test('end in invalid_grant if the exchange has no verifier, and the code becomes invalid', async () => {
    for (const verifier of [undefined, '']) {
      const code = await obtainCode(at, banker, ada);
      const form = { code_verifier: verifier };
      await expectRefused(exchange(at, banker, code, { form }), 'invalid_grant');
      await expectRefused(exchange(at, banker, code), 'invalid_grant');
    }
    // An exchanged code that is presented again this way ends its tokens, as with a wrong verifier.
    const code = await obtainCode(at, banker, ada);
    const { access_token: token } = await tokensOf(exchange(at, banker, code));
    const form = { code_verifier: undefined };
    await expectRefused(exchange(at, banker, code, { form }), 'invalid_grant');
    expect((await call(at, '/oauth/userinfo', banker.proofKey, token)).status).toBe(401);
  });

  // @shows FAPI2-5.4.1.4, FAPI2-5.4.2.3
  test('lead to tokens that cannot be guessed, and each signing key has a unique kid', async () => {
    const { access_token: access, refresh_token: again } = await tokens();
    for (const value of [access, again])
      expect(value.split('.').at(-1)?.length).toBeGreaterThanOrEqual(43);
    const { keys } = (await (await fetch(`${portal.url}/.well-known/jwks.json`)).json()) as {
      readonly keys: readonly { readonly kid: string; readonly alg: string }[];
    };
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    expect(keys.map(({ alg }) => alg)).toEqual(['ES256']);
  });
});

describe('with fapi2, a refresh token', () => {
  // @shows AS-27.4, FAPI2-5.3.2.1.9
  test('stays the same after any number of uses, also two at the same time', async () => {
    const { refresh_token: token, access_token: first } = await tokens();
    const accessTokens = [first];
    for (let use = 0; use < 3; use += 1) {
      const answered = await tokensOf(refresh(at, banker, token));
      expect(answered.refresh_token).toBe(token);
      accessTokens.push(answered.access_token);
    }
    const atOnce = await Promise.all([1, 2, 3, 4].map(() => tokensOf(refresh(at, banker, token))));
    accessTokens.push(...atOnce.map((each) => each.access_token));
    expect(new Set(accessTokens).size).toBe(8);
    for (const each of accessTokens)
      expect((await call(at, '/oauth/userinfo', banker.proofKey, each)).status).toBe(200);
  });

  // @shows AS-27.4
  test('is useless to a thief, whose attempts do not end the authorization', async () => {
    const { refresh_token: token } = await tokens();
    const thief = await registerBanker(portal);
    await expectRefused(refresh(at, thief, token), 'invalid_grant');
    await expectRefused(refresh(at, banker, token, { key: thief.key }), 'invalid_client');
    const authentication = { form: { client_id: banker.id } };
    await expectRefused(refresh(at, banker, token, { authentication }), 'invalid_client');
    await expectRefused(refresh(at, banker, token, { proofKey: null }), 'invalid_dpop_proof');
    await expectRefused(refresh(at, banker, `${token.slice(0, -4)}AAAA`), 'invalid_grant');
  });

  // @shows AS-27.4
  test('can be used with a different key of the client', async () => {
    const { refresh_token: token } = await tokens();
    const next = newKey('EdDSA');
    const answered = await tokensOf(refresh(at, banker, token, { proofKey: next }));
    expect((await call(at, '/oauth/userinfo', next, answered.access_token)).status).toBe(200);
    expect((await call(at, '/oauth/userinfo', banker.proofKey, answered.access_token)).status).toBe(
      401,
    );
  });

  // @shows AS-27.4
  test('expires if unused, and ends if it is revoked or its person is suspended', async () => {
    const own = await registerBanker(portal);
    const obtain = async () => tokensOf(exchange(at, own, await obtainCode(at, own, ada)));
    const { refresh_token: revoked } = await obtain();
    expect((await post(at, '/oauth/revoke', own, { token: revoked })).status).toBe(200);
    await expectRefused(refresh(at, own, revoked), 'invalid_grant');
    const { refresh_token: token, access_token: access } = await obtain();
    await portal.suspend(ADA);
    await expectRefused(refresh(at, own, token), 'invalid_grant');
    expect((await call(at, '/oauth/userinfo', own.proofKey, access)).status).toBe(401);
    await portal.restore(ADA);
    const lifetime = portal.server.config.refresh_token_ttl;
    clock.advance(lifetime - 1);
    expect((await refresh(at, own, token)).status).toBe(200);
    clock.advance(lifetime - 1);
    expect((await refresh(at, own, token)).status).toBe(200);
    clock.advance(lifetime);
    await expectRefused(refresh(at, own, token), 'invalid_grant');
    ada = await portal.signedIn(ADA);
  });
});

describe('with fapi2, an access token', () => {
  // @shows FAPI2-5.3.4.2, FAPI2-5.3.4.3
  test('is accepted only in the header, and ends immediately when it is revoked', async () => {
    const { access_token: token } = await tokens();
    const url = `${portal.url}/oauth/userinfo?access_token=${encodeURIComponent(token)}`;
    const proof = proofOf(at, banker.proofKey, { method: 'GET', url, accessToken: token });
    expect((await fetch(url, { headers: { DPoP: proof } })).status).toBe(401);
    expect((await call(at, '/oauth/userinfo', banker.proofKey, token)).status).toBe(200);
    expect((await post(at, '/oauth/revoke', banker, { token })).status).toBe(200);
    expect((await call(at, '/oauth/userinfo', banker.proofKey, token)).status).toBe(401);
  });
});

describe('fapi2 with a contradicting configuration', () => {
  // @shows AS-27.3, FAPI2-5.3.2.1.11, FAPI2-5.3.2.2.3
  test('prevents the start, and all errors are listed together', async () => {
    const config = {
      oauth_server: {
        profile: 'fapi2',
        private_key_jwt: false,
        dpop: 'accept',
        pushed_authorization_requests: 'off',
        registration: 'open',
        code_ttl: 120,
      },
    };
    const starting = startPortal({ config });
    for (const key of [
      'private_key_jwt',
      'dpop',
      'pushed_authorization_requests',
      'registration',
      'code_ttl',
    ])
      await expect(starting).rejects.toThrow(new RegExp(`^oauth_server:${key}: `, 'm'));
  });

  // @shows AS-27.3
  test.each([
    ['private_key_jwt', true],
    ['dpop', 'require'],
    ['pushed_authorization_requests', 'require'],
    ['registration', 'initial_access_token'],
    ['code_ttl', 30],
  ])('accepts %s with the value that the profile requires', async (key, value) => {
    const other = await startPortal({
      config: { oauth_server: { profile: 'fapi2', [key]: value } },
    });
    expect(other.server.config).toMatchObject({ dpop: 'require', [key]: value });
    await other.close();
  });
});

describe('with fapi2, a client with a metadata document', () => {
  const document = (key: ClientKey, changes: object = {}) => ({
    client_name: 'A bank’s document',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'openid profile notes:read',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [key.jwk] },
    ...changes,
  });

  // @shows AS-27.2, FAPI2-5.4.1.1
  test('gets ID tokens with an algorithm of the profile by default, and RS256 is refused', async () => {
    const host = await startDocumentHost();
    const other = await startPortal({
      clock: clock.now,
      outbound: host.outbound,
      config: { oauth_server: { profile: 'fapi2', client_id_metadata_documents: true } },
    });
    try {
      const there = { portal: other, now: clock.now };
      const key = newKey('ES256');
      const documented = (path: string, changes?: object): Banker => ({
        id: host.publish(path, document(key, changes)),
        key,
        proofKey: newKey('ES256'),
      });
      const visitor = await other.signedIn(ADA);
      const client = documented('/unnamed.json');
      const { id_token: idToken } = await tokensOf(
        exchange(there, client, await obtainCode(there, client, visitor)),
      );
      const [header = ''] = idToken.split('.');
      expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({
        alg: 'ES256',
      });
      const rsa = documented('/rsa.json', { id_token_signed_response_alg: 'RS256' });
      await expectRefused(push(there, rsa), 'invalid_client');
    } finally {
      await other.close();
      await host.close();
    }
  });

  // @shows AS-11.1
  test('gets RS256 on every server without the profile', async () => {
    const host = await startDocumentHost();
    const other = await startPortal({
      clock: clock.now,
      outbound: host.outbound,
      config: {
        oauth_server: {
          private_key_jwt: true,
          pushed_authorization_requests: 'accept',
          client_id_metadata_documents: true,
        },
      },
    });
    try {
      await other.server.keys.generate('ES256');
      const there = { portal: other, now: clock.now };
      const key = newKey('ES256');
      const client: Banker = {
        id: host.publish('/unnamed.json', document(key)),
        key,
        proofKey: key,
      };
      await obtainCode(there, client, await other.signedIn(ADA));
      expect(await other.server.clients.find(client.id)).toMatchObject({
        idTokenSignedResponseAlg: 'RS256',
      });
    } finally {
      await other.close();
      await host.close();
    }
  });
});

describe('a client with the profile fapi2 on a server without it', () => {
  const ON = {
    private_key_jwt: true,
    dpop: 'accept',
    pushed_authorization_requests: 'accept',
    code_ttl: 120,
    refresh_retry_seconds: 30,
  };
  let mixed: RunningPortal;
  let here: At;
  let own: Banker;
  let visitor: Visitor;

  beforeAll(async () => {
    mixed = await startPortal({ clock: clock.now, config: { oauth_server: ON } });
    await mixed.server.keys.generate('EdDSA');
    here = { portal: mixed, now: clock.now };
    own = await registerBanker(mixed, { profile: 'fapi2' });
    visitor = await mixed.signedIn(ADA);
  });
  afterAll(() => mixed.close());

  // @shows AS-27.2, AS-27.7
  test('must follow the profile, and other clients need not', async () => {
    const answered = await tokensOf(exchange(here, own, await obtainCode(here, own, visitor)));
    const again = await tokensOf(refresh(here, own, answered.refresh_token));
    expect([again.refresh_token, again.token_type]).toEqual([answered.refresh_token, 'DPoP']);
    // Deviations are refused.
    const unpushed = await visitor.get(
      authorizationUrl(mixed, { id: own.id, secret: '' }, { scope: 'openid notes:read' }),
    );
    expect(locationOf(unpushed).searchParams.get('error')).toBe('invalid_request');
    expect(unpushed.status).toBe(303);
    expect((await mixed.visitor().get(await pushedUrl(here, own))).status).toBe(303);
    const code = await obtainCode(here, own, visitor);
    await expectRefused(exchange(here, own, code, { proofKey: null }), 'invalid_dpop_proof');
    await expectRefused(
      exchange(here, own, code, { assertion: { aud: `${mixed.server.issuer}/oauth/token` } }),
      'invalid_client',
    );
    clock.advance(60);
    await expectRefused(exchange(here, own, code), 'invalid_grant');
    const rsa = newKey('RS256');
    await expectRefused(
      refresh(here, own, again.refresh_token, { proofKey: rsa }),
      'invalid_dpop_proof',
    );
    await expectRefused(push(here, own, { proofKey: rsa }), 'invalid_dpop_proof');

    clock.advance(3600);
    const unverified = await obtainCode(here, own, visitor);
    await expectRefused(
      exchange(here, own, unverified, { form: { code_verifier: undefined } }),
      'invalid_grant',
    );

    // Next to it, a client without the profile.
    const other = await registerClient(mixed);
    const asked = await visitor.visit(authorizationUrl(mixed, other));
    const reply = locationOf(await visitor.submit(asked, { decision: 'allow' }));
    const form = {
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
      grant_type: 'authorization_code',
    };
    clock.advance(61);
    const code2 = reply.searchParams.get('code') ?? '';
    await expectRefused(
      requestToken(mixed, other, { ...form, code: code2, code_verifier: '' }),
      'invalid_request',
    );
    const bearer = await tokensOf(requestToken(mixed, other, { ...form, code: code2 }));
    expect(bearer.token_type).toBe('Bearer');
    const rotated = await tokensOf(
      requestToken(mixed, other, {
        grant_type: 'refresh_token',
        refresh_token: bearer.refresh_token,
      }),
    );
    expect(rotated.refresh_token).not.toBe(bearer.refresh_token);
  });

  // @shows FAPI2-5.4.1.1
  test('cannot use proofs with RS256, as other clients can', async () => {
    const rsa = newKey('RS256');
    const proofKey = { ...rsa, algorithm: 'PS256' as const };
    const code = await obtainCode(here, own, visitor);
    const { access_token: bound } = await tokensOf(exchange(here, own, code, { proofKey }));
    const refused = await call(here, '/oauth/userinfo', rsa, bound);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="invalid_dpop_proof"'),
    ]);
    expect((await call(here, '/oauth/userinfo', proofKey, bound)).status).toBe(200);

    const other = await registerBanker(mixed);
    const { access_token: free } = await tokensOf(
      exchange(here, other, await obtainCode(here, other, visitor), { proofKey: rsa }),
    );
    expect((await call(here, '/oauth/userinfo', rsa, free)).status).toBe(200);
  });

  // @shows AS-27.5
  test.each([
    ['private_key_jwt', { ...ON, private_key_jwt: false }],
    ['dpop', { ...ON, dpop: 'off' }],
    ['pushed_authorization_requests', { ...ON, pushed_authorization_requests: 'off' }],
  ])('gets no tokens and cannot be registered if %s is off', async (key, changed) => {
    const answered = await tokensOf(exchange(here, own, await obtainCode(here, own, visitor)));
    const without = await startPortal({
      clock: clock.now,
      databaseUrl: mixed.env['DATABASE_URL'] ?? '',
      config: (url) => ({ public_url: url, oauth_server: changed }),
    });
    try {
      await expect(registerBanker(without, { profile: 'fapi2' })).rejects.toThrow(key);
      const there = { portal: without, now: clock.now };
      await expectRefused(refresh(there, own, answered.refresh_token), 'invalid_client');
      const page = await without
        .visitor()
        .get(authorizationUrl(without, { id: own.id, secret: '' }, { scope: 'notes:read' }));
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
      const { checks } = await examine(without.application, without.server);
      const found = checks.find(({ part }) => part === 'profile');
      expect(found).toMatchObject({ outcome: 'failing', detail: expect.stringContaining(own.id) });
      expect(found?.detail).toContain(`oauth_server:${key}`);
    } finally {
      await without.close();
    }
    expect((await refresh(here, own, answered.refresh_token)).status).toBe(200);
  });
});

describe('with fapi2, the assertion of an organization', () => {
  const rsa = newKey('RS256');
  let idp: IdentityProvider;
  beforeAll(async () => {
    idp = await startIdentityProvider();
    await idp.publish(idp.key, rsa);
  });
  afterAll(() => idp.close());

  const trusting = (algorithms: readonly Algorithm[], settings: object = {}) => ({
    jwt_bearer_grant: true,
    trusted_issuers: {
      [IDP]: { jwks_file: idp.file, algorithms, asserts: ['people'], ...settings },
    },
  });

  /** A server without the profile. It has one client of the profile, and one without. */
  async function startMixed(settings: object) {
    const on = { private_key_jwt: true, dpop: 'accept', pushed_authorization_requests: 'accept' };
    const mixed = await startPortal({
      clock: clock.now,
      config: { oauth_server: { ...on, ...settings } },
    });
    onTestFinished(() => mixed.close());
    await link(mixed, ADA);
    const registration = { redirectUris: [], scopes: ['notes:read'], grants: [JWT_BEARER] };
    const own = await registerBanker(mixed, { ...registration, profile: 'fapi2' });
    const other = await registerBanker(mixed, registration);
    return { mixed, own, other };
  }

  // @shows FAPI2-5.4.1.1
  test('needs an algorithm of the profile, even if other clients can use RS256', async () => {
    const { mixed, own, other } = await startMixed(trusting(['ES256', 'RS256']));
    const ask = (client: Banker, key: ClientKey, otherwise: Otherwise = {}) => {
      const about = { id: client.id, secret: '' };
      const assertion = assertionFor(mixed, about, key, {}, clock.now());
      const form = { grant_type: JWT_BEARER, assertion };
      return post({ portal: mixed, now: clock.now }, '/oauth/token', client, form, otherwise);
    };
    await expectRefused(ask(own, rsa), 'invalid_grant');
    await expectRefused(ask(own, idp.key, { proofKey: null }), 'invalid_dpop_proof');
    expect((await tokensOf(ask(own, idp.key))).token_type).toBe('DPoP');
    expect((await ask(other, rsa)).status).toBe(200);
  });

  /** Sends an assertion of the organization with these times, in seconds from now. */
  function sendAhead(
    mixed: RunningPortal,
    client: Banker,
    ahead: Readonly<Record<string, number>>,
  ) {
    const at = Math.floor(clock.now() / 1000);
    const claims = Object.fromEntries(
      Object.entries(ahead).map(([name, seconds]) => [name, at + seconds]),
    );
    const about = { id: client.id, secret: '' };
    const assertion = assertionFor(mixed, about, idp.key, claims, clock.now());
    const form = { grant_type: JWT_BEARER, assertion };
    return post({ portal: mixed, now: clock.now }, '/oauth/token', client, form);
  }

  // @shows FAPI2-5.3.2.1.13
  test('can be ten seconds ahead for a client with the profile, even if the limit is lower', async () => {
    const { mixed, own, other } = await startMixed(trusting(['ES256'], { clock_tolerance: 0 }));
    const ask = sendAhead.bind(null, mixed);
    await expectRefused(ask(own, { iat: 12 }), 'invalid_grant');
    await expectRefused(ask(own, { nbf: 12 }), 'invalid_grant');
    expect((await ask(own, { iat: 10, nbf: 10 })).status).toBe(200);
    await expectRefused(ask(other, { iat: 10 }), 'invalid_grant');
    await expectRefused(ask(other, { nbf: 10 }), 'invalid_grant');
    await expectRefused(ask(own, { iat: -60, exp: -1 }), 'invalid_grant');
  });

  // @shows FAPI2-5.3.2.1.13
  test('can be at most 60 seconds ahead for a client with the profile, even if the limit is higher', async () => {
    const { mixed, own, other } = await startMixed(trusting(['ES256'], { clock_tolerance: 300 }));
    const ask = sendAhead.bind(null, mixed);
    await expectRefused(ask(own, { iat: 62 }), 'invalid_grant');
    await expectRefused(ask(own, { nbf: 62 }), 'invalid_grant');
    expect((await ask(own, { iat: 60, nbf: 60 })).status).toBe(200);
    expect((await ask(other, { iat: 62, nbf: 62 })).status).toBe(200);
  });

  // @shows FAPI2-5.3.2.1.13
  test('can be ten seconds ahead on a server with the profile, which does not start with less', async () => {
    const start = (clock_tolerance: number) =>
      startPortal({
        config: { oauth_server: { profile: 'fapi2', ...trusting(['ES256'], { clock_tolerance }) } },
      });
    await expect(start(9)).rejects.toThrow(
      `oauth_server:trusted_issuers:${IDP}:clock_tolerance: is 9 seconds; set it to at least 10`,
    );
    await (await start(10)).close();
  });

  // @shows FAPI2-5.4.1.1
  test('cannot be configured with RS256 on a server with the profile', async () => {
    const start = (algorithms: readonly Algorithm[]) =>
      startPortal({ config: { oauth_server: { profile: 'fapi2', ...trusting(algorithms) } } });
    await expect(start(['ES256', 'RS256'])).rejects.toThrow(
      `oauth_server:trusted_issuers:${IDP}:algorithms: contains RS256; remove it`,
    );
    await (await start(['PS256', 'ES256', 'EdDSA', 'Ed25519'])).close();
  });
});
