// @engines sqlite: the database makes no difference
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  GRACE,
  obtainCode,
  obtainTokens,
  REDIRECT_URI,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

/** Tests with real OpenID Connect client libraries, with all their checks. */

let portal: RunningPortal;
let client: TestClient;
let config: openid.Configuration;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
  config = await discover(client, openid.ClientSecretBasic(client.secret));
});
afterAll(() => portal.close());

function discover(
  own: TestClient,
  authentication: openid.ClientAuth,
): Promise<openid.Configuration> {
  const execute = [openid.allowInsecureRequests];
  return openid.discovery(new URL(portal.url), own.id, undefined, authentication, { execute });
}

interface Flow {
  readonly callback: URL;
  readonly checks: openid.AuthorizationCodeGrantChecks;
}

/** Sends the request of openid-client, and answers as the person. */
async function authorize(
  configuration: openid.Configuration,
  email: string,
  scope = 'openid profile email notes:read',
): Promise<Flow> {
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: REDIRECT_URI,
    scope,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  const visitor = await portal.signedIn(email);
  const callback = locationOf(
    await visitor.submit(await visitor.get(url.href), { decision: 'allow' }),
  );
  const idTokenExpected = scope.includes('openid');
  return {
    callback,
    checks: {
      pkceCodeVerifier,
      expectedState,
      idTokenExpected,
      ...(idTokenExpected ? { expectedNonce } : {}),
    },
  };
}

describe('openid-client', () => {
  // @shows AS-1.3, AS-2.12, AS-3.2, AS-4.5, AS-6.11, AS-11.1, RFC6749-10.16, RFC9700-2.1d, RFC9700-4.6, OIDC-2b
  // @shows OIDC-2d, OIDC-3.1.2.1a, OIDC-3.1.3.6, OIDC-3.1.3.7, OIDC-5.1a, OIDC-5.3.2a, DISCOVERY-4.3
  test('signs a person in with state, nonce, PKCE and iss, and reads the claims', async () => {
    const { callback, checks } = await authorize(config, ADA);
    const tokens = await openid.authorizationCodeGrant(config, callback, checks);
    const claims = tokens.claims();
    expect(claims).toMatchObject({
      iss: portal.url,
      aud: client.id,
      name: 'Ada Lovelace',
      email: ADA,
    });
    expect(claims?.nonce).toBe(checks.expectedNonce);
    expect(tokens.id_token).toBeDefined();
    expect(decodeProtectedHeader(tokens.id_token ?? '')).toMatchObject({
      alg: 'RS256',
      kid: expect.any(String) as string,
    });
    expect((claims?.exp ?? 0) - (claims?.iat ?? 0)).toBe(3600);
    const userinfo = await openid.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '');
    expect(userinfo).toEqual({
      sub: claims?.sub,
      name: 'Ada Lovelace',
      email: ADA,
      email_verified: true,
    });
  });

  // @shows AS-11.1, OIDC-12.2
  test('refreshes, and gets a new ID token without a nonce, for the same subject', async () => {
    const { callback, checks } = await authorize(config, ADA);
    const first = await openid.authorizationCodeGrant(config, callback, checks);
    const second = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
    expect(second.claims()?.sub).toBe(first.claims()?.sub);
    expect(second.claims()?.nonce).toBeUndefined();
  });

  // @shows OIDC-5.3.3
  test('cannot use a refresh token twice: the whole family is revoked, including its successor', async () => {
    const { callback, checks } = await authorize(config, ADA);
    const first = await openid.authorizationCodeGrant(config, callback, checks);
    const second = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
    for (const used of [first.refresh_token, second.refresh_token]) {
      const attempt = openid.refreshTokenGrant(config, used ?? '');
      await expect(attempt).rejects.toMatchObject({ error: 'invalid_grant' });
    }
    const userinfo = openid.fetchUserInfo(config, second.access_token, second.claims()?.sub ?? '');
    await expect(userinfo).rejects.toMatchObject({ status: 401 });
  });

  // @shows AS-1.3, AS-10.5, OIDC-3.1.2.1c, OIDC-5.3.3
  test('without the scope openid gets no ID token and no UserInfo', async () => {
    const { callback, checks } = await authorize(config, ADA, 'notes:read profile');
    const tokens = await openid.authorizationCodeGrant(config, callback, checks);
    expect(tokens.id_token).toBeUndefined();
    await expect(
      openid.fetchUserInfo(config, tokens.access_token, openid.skipSubjectCheck),
    ).rejects.toMatchObject({ status: 403 });
  });

  // @shows AS-11.1, RFC6749-10.3b, RFC9700-4.6, OIDC-2a, OIDC-3.1.3.6, OIDC-5.4a
  // @shows RFC10017-9.1
  test('with only the scope openid gets only the subject', async () => {
    const { callback, checks } = await authorize(config, ADA, 'openid');
    const tokens = await openid.authorizationCodeGrant(config, callback, checks);
    const claims = tokens.claims();
    expect(Object.keys(claims ?? {}).toSorted()).toEqual([
      'at_hash',
      'aud',
      'exp',
      'iat',
      'iss',
      'nonce',
      'sub',
    ]);
  });

  // @shows AS-4.7, OIDC-2c, OIDC-8
  test('gets a subject that is the same in all applications, differs by person and reveals neither', async () => {
    const other = await registerClient(portal);
    const elsewhere = await discover(other, openid.ClientSecretPost(other.secret));
    const subjects: string[] = [];
    for (const [configuration, email] of [
      [config, ADA],
      [elsewhere, ADA],
      [config, GRACE],
    ] as const) {
      const { callback, checks } = await authorize(configuration, email, 'openid');
      const tokens = await openid.authorizationCodeGrant(configuration, callback, checks);
      subjects.push(tokens.claims()?.sub ?? '');
    }
    expect(subjects[0]).toBe(subjects[1]);
    expect(subjects[0]).not.toBe(subjects[2]);
    const { rows } = await portal.application.database.execute<{ id: string }>(
      'SELECT id FROM host_accounts',
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const { id } of rows) expect(subjects.join()).not.toContain(id);
  });

  // @shows AS-9.1, AS-13.3, AS-14.1, RFC9700-2.2.2
  // @shows RFC10017-6.3.2.3a, RFC10017-6.3.3.1a
  test('signs a person in as a public client with only PKCE', async () => {
    const own = await registerClient(portal, { public: true });
    const configuration = await discover(own, openid.None());
    const { callback, checks } = await authorize(configuration, ADA);
    const tokens = await openid.authorizationCodeGrant(configuration, callback, checks);
    expect(tokens.claims()?.aud).toBe(own.id);
    await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
  });

  test('gets a token with client credentials', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const configuration = await discover(service, openid.ClientSecretBasic(service.secret));
    const tokens = await openid.clientCredentialsGrant(configuration, { scope: 'notes:read' });
    expect(tokens.scope).toBe('notes:read');
    expect(tokens.refresh_token).toBeUndefined();
  });

  // @shows RFC7636-4.6
  test('gets invalid_grant for a wrong code verifier, and the code is used up', async () => {
    const { callback, checks } = await authorize(config, ADA);
    const wrong = { ...checks, pkceCodeVerifier: openid.randomPKCECodeVerifier() };
    const attempt = () => openid.authorizationCodeGrant(config, callback, wrong);
    await expect(attempt()).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(openid.authorizationCodeGrant(config, callback, checks)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true } as const;

  // @shows AS-1.3, AS-2.2, RFC8414-3, RFC8414-3.3, RFC9700-2.6a, DISCOVERY-4, DISCOVERY-4.3
  test('discovers both metadata documents, and finds the key of the ID token in the key set', async () => {
    const issuer = new URL(portal.url);
    const oidc = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure }),
    );
    const oauth2 = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    expect(oidc).toMatchObject(oauth2);
    expect(oauth2.grant_types_supported).toEqual([
      'authorization_code',
      'refresh_token',
      'client_credentials',
    ]);
    expect(oauth2.code_challenge_methods_supported).toEqual(['S256']);
    expect(oauth2.authorization_response_iss_parameter_supported).toBe(true);
    expect(JSON.stringify(oidc)).not.toContain('"Portal"');
  });

  // @shows AS-4.5, AS-6.11, RFC9207-2c, OIDC-2d, OIDC-3.1.3.3, OIDC-3.1.3.7
  test('validates the response of a whole flow, including the signature of the ID token', async () => {
    const issuer = new URL(portal.url);
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, insecure),
    );
    const own: oauth.Client = { client_id: client.id };
    const { callback, checks } = await authorize(config, ADA);
    const parameters = oauth.validateAuthResponse(as, own, callback, checks.expectedState);
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      own,
      oauth.ClientSecretBasic(client.secret),
      parameters,
      REDIRECT_URI,
      checks.pkceCodeVerifier ?? '',
      insecure,
    );
    const result = await oauth.processAuthorizationCodeResponse(as, own, response, {
      ...(checks.expectedNonce === undefined ? {} : { expectedNonce: checks.expectedNonce }),
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(as, response, insecure);
    expect(oauth.getValidatedIdTokenClaims(result)?.email).toBe(ADA);
  });
});

describe('the metadata', () => {
  const common = (issuer: string) => ({
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: ['openid', 'profile', 'email', 'notes:read', 'notes:write'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'none',
    ],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });

  async function metadata(name: string): Promise<unknown> {
    const response = await fetch(`${portal.url}/.well-known/${name}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    return response.json();
  }

  // @shows AS-1.2, AS-2.2, AS-6.9, AS-20.3, RFC8414-2a, RFC8414-2b, RFC8414-3.1, RFC8414-3.2, RFC9207-2.3
  // @shows RFC9700-2.1.1e, RFC9700-2.6a
  test('of the authorization server contains exactly the endpoints and features that are enabled', async () => {
    expect(await metadata('oauth-authorization-server')).toEqual(common(portal.url));
  });

  // @shows AS-6.7, OIDC-3.1.2.6b, OIDC-8, DISCOVERY-3a, DISCOVERY-3b, DISCOVERY-4.1
  test('of the OpenID provider contains the same, plus its own members', async () => {
    const claims = [
      'name',
      'family_name',
      'given_name',
      'middle_name',
      'nickname',
      'preferred_username',
    ];
    expect(await metadata('openid-configuration')).toEqual({
      ...common(portal.url),
      userinfo_endpoint: `${portal.url}/oauth/userinfo`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      prompt_values_supported: ['consent', 'none'],
      claim_types_supported: ['normal'],
      claims_supported: expect.arrayContaining([
        'sub',
        ...claims,
        'email',
        'email_verified',
      ]) as string[],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
  });
});

describe('UserInfo', () => {
  // @shows AS-3.3, AS-6.6, AS-10.5, OIDC-5.3.1, OIDC-5.3.2a, OIDC-5.3.2b, OIDC-5.4a
  test('answers GET and POST alike: JSON with the subject of the ID token and no-store', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'openid email' });
    const { sub } = decodeJwt(tokens.id_token);
    for (const method of ['GET', 'POST']) {
      const answer = await callApi(portal, '/oauth/userinfo', tokens.access_token, { method });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toEqual({ sub, email: ADA, email_verified: true });
    }
  });
});

describe('UserInfo, with the token in a form body,', () => {
  let tokens: Tokens;
  beforeAll(async () => {
    tokens = await obtainTokens(portal, client, ADA, { scope: 'openid email' });
  });

  const post = (body: BodyInit, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${portal.url}/oauth/userinfo`, { method: 'POST', headers, body });
  const form = (value = tokens.access_token) => new URLSearchParams({ access_token: value });

  async function expectInvalidRequest(response: Response): Promise<void> {
    expect(response.status).toBe(400);
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_request"');
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
  }

  // @shows AS-10.6, RFC6750-2.2
  test('gives the same answer as with the header if the media type is right', async () => {
    const answer = await post(form());
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await answer.json()).toEqual({
      sub: decodeJwt(tokens.id_token).sub,
      email: ADA,
      email_verified: true,
    });
  });

  // @shows AS-10.6, RFC6750-2
  test('answers invalid_request if there is also an Authorization header, with any value', async () => {
    for (const header of [`Bearer ${tokens.access_token}`, 'Bearer other', 'Basic YTpi']) {
      await expectInvalidRequest(await post(form(), { Authorization: header }));
    }
  });

  // @shows AS-10.6, RFC6750-2
  test('answers invalid_request if the token is repeated', async () => {
    const twice = form();
    twice.append('access_token', tokens.access_token);
    await expectInvalidRequest(await post(twice));
  });

  test('answers invalid_token for an invalid token, and treats an empty one as missing', async () => {
    expect((await post(form('garbage'))).headers.get('www-authenticate')).toContain(
      'error="invalid_token"',
    );
    const empty = await post(form(''));
    expect([empty.status, empty.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="oauth"',
    ]);
  });

  // @shows RFC6750-2.2
  test('reads no other body, and accepts the header together with a form without a token', async () => {
    const text = `access_token=${tokens.access_token}`;
    expect((await post(text, { 'Content-Type': 'text/plain' })).status).toBe(401);
    const json = JSON.stringify({ access_token: tokens.access_token });
    expect((await post(json, { 'Content-Type': 'application/json' })).status).toBe(401);
    const other = await post('a=b', {
      'Content-Type': 'application/x-www-form-urlencoded',
      Authorization: `Bearer ${tokens.access_token}`,
    });
    expect(other.status).toBe(200);
  });
});

describe('signing keys', () => {
  // @shows AS-4.8, AS-7.7, AS-11.5, MCP-7.7
  test('that are missing cause invalid_scope only for openid, before a person is asked', async () => {
    const keyless = await startPortal({ signingKey: false });
    try {
      const own = await registerClient(keyless);
      const visitor = await keyless.signedIn(ADA);
      const refused = locationOf(
        await visitor.get(authorizationUrl(keyless, own, { scope: 'openid notes:read' })),
      );
      expect(refused.searchParams.get('error')).toBe('invalid_scope');
      const tokens = await obtainTokens(keyless, own, ADA, { scope: 'notes:read' });
      expect((await callApi(keyless, '/api/notes', tokens.access_token)).status).toBe(200);
      expect(await (await fetch(`${keyless.url}/.well-known/jwks.json`)).json()).toEqual({
        keys: [],
      });
    } finally {
      await keyless.close();
    }
  });

  // @shows AS-5.3
  test('that lack the algorithm of a client keep its code valid, and the log has the algorithm', async () => {
    const client = await registerClient(portal);
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const signedWith = (algorithm: string) =>
      portal.application.database.execute(
        'UPDATE oauth_clients SET id_token_alg = ? WHERE client_id = ?',
        [algorithm, client.id],
      );
    await signedWith('ES256');
    const failed = await exchangeCode(portal, client, code);
    expect(failed.status).toBe(500);
    const log = await readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');
    const line = log
      .split('\n')
      .find((each) => each.includes(failed.headers.get('x-request-id') ?? '?'));
    expect(line).toContain('There is no signing key for ES256 in');
    await signedWith('RS256');
    expect((await exchangeCode(portal, client, code)).status).toBe(200);
  });

  // @shows AS-6.8, AS-11.2, AS-13.6, OIDC-10.1.1, DISCOVERY-3c
  test('that are new sign from then on, and the previous key stays published', async () => {
    const sign = async () => {
      const { callback, checks } = await authorize(config, ADA, 'openid');
      return openid.authorizationCodeGrant(config, callback, checks);
    };
    const before = decodeProtectedHeader((await sign()).id_token ?? '').kid;
    const generated = await portal.server.keys.generate();
    const after = decodeProtectedHeader((await sign()).id_token ?? '').kid;
    expect(after).toBe(generated.kid);
    expect(after).not.toBe(before);
    const { keys } = (await (await fetch(`${portal.url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    expect(keys.map(({ kid }) => kid)).toEqual([after, before]);
    for (const key of keys)
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });
});

describe('a key file that cannot be read', () => {
  test('is skipped if it is retired; if it is the newest, no other key signs instead', async () => {
    const portal = await startPortal();
    try {
      const client = await registerClient(portal);
      const directory = portal.server.config.key_path;
      const kids = async () => {
        const response = await fetch(`${portal.url}/.well-known/jwks.json`);
        return {
          status: response.status,
          keys: ((await response.json()) as { keys?: unknown[] }).keys,
        };
      };
      await writeFile(path.join(directory, '1700000000000-torn.json'), '{"kty":"RSA","n":');
      expect(await kids()).toMatchObject({ status: 200, keys: [{ kty: 'RSA' }] });
      await obtainTokens(portal, client, ADA);
      const code = await obtainCode(portal, client, await portal.signedIn(ADA));
      const newest = path.join(directory, `${Date.now() + 1000}-torn.json`);
      await writeFile(newest, '{"kty":"RSA","n":');
      expect(await kids()).toMatchObject({ status: 500 });
      await rm(newest);
      expect((await exchangeCode(portal, client, code)).status).toBe(200);
    } finally {
      await portal.close();
    }
  });
});

describe('a key that is not suitable for RS256', () => {
  test.each([
    ['a key that is too short', { modulusLength: 1024 }, {}],
    ['a key for a different algorithm', { modulusLength: 2048 }, { alg: 'PS512' }],
    ['a key for encryption', { modulusLength: 2048 }, { use: 'enc' }],
  ])('signs nothing: %s', async (_, options, fields) => {
    const own = await startPortal({ signingKey: false });
    try {
      const jwk = generateKeyPairSync('rsa', options).privateKey.export({ format: 'jwk' });
      const directory = own.server.config.key_path;
      await mkdir(directory, { recursive: true });
      const content = { kid: 'made-by-hand', alg: 'RS256', use: 'sig', ...jwk, ...fields };
      await writeFile(
        path.join(directory, `${Date.now()}-made-by-hand.json`),
        JSON.stringify(content),
      );
      expect((await fetch(`${own.url}/.well-known/jwks.json`)).status).toBe(500);
    } finally {
      await own.close();
    }
  });
});

describe('documents that clients may cache', () => {
  test.each([
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/.well-known/jwks.json',
  ])('%s has an ETag, and a request with that ETag is answered with 304', async (document) => {
    const ask = (headers = {}) => fetch(portal.url + document, { headers });
    const first = await ask();
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{43}"$/);
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await ask({ 'If-None-Match': known });
      expect({ known, status: again.status, body: await again.text() }).toEqual({
        known,
        status: 304,
        body: '',
      });
      expect(again.headers.get('etag')).toBe(tag);
      expect(again.headers.get('access-control-allow-origin')).toBe('*');
    }
    const other = await ask({ 'If-None-Match': '"other"' });
    expect([other.status, await other.text()]).toEqual([200, await first.text()]);
  });

  test('the key set gains a key that a different process generates, and loses one that it removes', async () => {
    const own = await startPortal();
    try {
      const directory = own.server.config.key_path;
      const kids = async () => {
        const response = await fetch(`${own.url}/.well-known/jwks.json`);
        return ((await response.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
      };
      // Make the directory look unchanged for an hour. Otherwise the server reads it at each
      // request.
      await utimes(directory, new Date(Date.now() - 3_600_000), new Date(Date.now() - 3_600_000));
      const [first] = await kids();
      expect(await kids()).toEqual([first]);
      const pair = await generateKeyPair('RS256', { extractable: true });
      const jwk = {
        ...(await exportJWK(pair.privateKey)),
        kid: 'from-elsewhere',
        alg: 'RS256',
        use: 'sig',
      };
      const name = path.join(directory, `${Date.now() + 1}-from-elsewhere.json`);
      await writeFile(name, JSON.stringify(jwk));
      expect(await kids()).toEqual(['from-elsewhere', first]);
      await rm(name);
      expect(await kids()).toEqual([first]);
    } finally {
      await own.close();
    }
  });
});

describe('pages of any origin', () => {
  const origin = { Origin: 'https://app.example' };

  // @shows AS-6.15, RFC7009-2.3, RFC9700-2.6d, RFC10017-6.3.3.4a, RFC10017-6.3.3.4b, OIDC-5.3
  test.each([
    '/oauth/token',
    '/oauth/revoke',
    '/oauth/userinfo',
    '/.well-known/jwks.json',
    '/.well-known/openid-configuration',
  ])('may call %s, without credentials', async (path) => {
    const preflight = await fetch(portal.url + path, { method: 'OPTIONS', headers: origin });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
    const method = /token|revoke/.test(path) ? 'POST' : 'GET';
    const answer = await fetch(portal.url + path, { method, headers: origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  const preflightWith = async (asked: string, path = '/oauth/token') => {
    const headers = { ...origin, 'Access-Control-Request-Headers': asked };
    const answer = await fetch(portal.url + path, { method: 'OPTIONS', headers });
    expect([answer.status, answer.headers.get('vary')]).toEqual([
      204,
      'Access-Control-Request-Headers',
    ]);
    return answer.headers.get('access-control-allow-headers');
  };
  const NAMED = 'Authorization, Content-Type, MCP-Protocol-Version';

  // @shows AS-6.27
  test('may send any header fields, such as tracing headers', async () => {
    const traced = 'authorization,baggage,content-type,sentry-trace,traceparent';
    for (const path of ['/oauth/token', '/oauth/userinfo', '/.well-known/jwks.json'])
      expect(await preflightWith(traced, path)).toBe(
        `${NAMED}, baggage, sentry-trace, traceparent`,
      );
    expect(await preflightWith('')).toBe(NAMED);
  });

  // @shows AS-6.27
  test.each([
    ['what is not a valid field name', 'x y, <b>, x:1, x;y, "x", x-ok', `${NAMED}, x-ok`],
    ['the same name twice', 'x-a, x-a,X-A ,,authorization', `${NAMED}, x-a, X-A`],
    ['an asterisk', '*', `${NAMED}, *`],
    [
      'more fields than any browser requests',
      Array.from({ length: 400 }, (_, at) => `x-${at}`).join(),
      NAMED,
    ],
  ])('are not allowed %s as a request header', async (_, asked, told) => {
    expect(await preflightWith(asked)).toBe(told);
  });

  // @shows AS-6.15, RFC9700-2.6e
  test.each(['/oauth/authorize', '/login', '/'])('may not read %s', async (path) => {
    for (const method of ['GET', 'OPTIONS']) {
      const response = await fetch(portal.url + path, {
        method,
        headers: origin,
        redirect: 'manual',
      });
      expect(response.headers.has('access-control-allow-origin')).toBe(false);
    }
  });
});
