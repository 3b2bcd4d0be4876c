// @engines all: the store contains the workload of each client
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { examine, type Check } from 'portico';
import { ASSERTION_TYPE, newKey, signed } from './support/assertions.ts';
import { PAGES, startAdministered } from './support/administration.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { decide, DEVICE_GRANT, type Begun } from './support/device.ts';
import { startDocumentHost } from './support/document-host.ts';
import {
  assertionFor,
  JWT_BEARER,
  link,
  startIdentityProvider,
} from './support/identity-provider.ts';
import { INSECURE } from './support/installation.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  obtainCode,
  REDIRECT_URI,
  requestToken,
  startPortal,
  VERIFIER,
  type PortalOptions,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';
import { pushedUrl, requestUriOf } from './support/pushing.ts';
import {
  accepting,
  ACCOUNT,
  accountClaims,
  accountToken,
  CLUSTER,
  JWT_SVID_TYPE,
  jwtSvid,
  present,
  registerWorkload,
  SPIFFE_ID,
  startPlatform,
  TRUST_DOMAIN,
  type Platform,
} from './support/workloads.ts';
import { locationOf } from './support/visitor.ts';

/** Clients that authenticate with the token of their platform (RFC 7523 section 2.2). */

const NAMESPACE = 'system:serviceaccount:prod:*';
let cluster: Platform;
let domain: Platform;
let portal: RunningPortal;
let client: string;

beforeAll(async () => {
  [cluster, domain] = [await startPlatform(), await startPlatform('jwt-svid')];
  portal = await startPortal({ config: trusting() });
  client = await registerWorkload(portal);
});
afterAll(async () => {
  await portal.close();
  await cluster.close();
  await domain.close();
});

function trusting(more: Readonly<Record<string, unknown>> = {}) {
  const issuers = { [CLUSTER]: cluster.settings, [TRUST_DOMAIN]: domain.settings };
  return accepting(issuers, more);
}

/** A portal that is closed after the test. */
async function started(options: PortalOptions): Promise<RunningPortal> {
  const at = await startPortal(options);
  onTestFinished(() => at.close());
  return at;
}

const token = (changes: Readonly<Record<string, unknown>> = {}) =>
  accountToken(portal, cluster.key, changes);
const seconds = () => Math.floor(Date.now() / 1000);

async function expectRefused(response: Response): Promise<void> {
  expect([response.status, await errorOf(response)]).toEqual([401, 'invalid_client']);
}

async function metadataOf(at: RunningPortal): Promise<Readonly<Record<string, readonly string[]>>> {
  const response = await fetch(`${at.url}/.well-known/oauth-authorization-server`);
  return (await response.json()) as Readonly<Record<string, readonly string[]>>;
}

describe('a workload', () => {
  // @shows AS-54.1, AS-54.5
  test('gets tokens with the token in a file that its platform replaces', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-projected-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'token');
    const authenticate: openid.ClientAuth = (_, { client_id: id }, body) => {
      body.set('client_id', id);
      body.set('client_assertion_type', ASSERTION_TYPE);
      body.set('client_assertion', readFileSync(file, 'utf8'));
    };
    await writeFile(file, token());
    const config = await openid.discovery(
      new URL(portal.server.issuer),
      client,
      undefined,
      authenticate,
      { execute: [openid.allowInsecureRequests] },
    );
    const ask = async () =>
      (await openid.clientCredentialsGrant(config, { scope: 'notes:read' })).access_token;
    const first = await ask();
    // The same file works until the platform replaces it.
    await ask();
    await writeFile(file, token());
    const second = await ask();
    expect(await openid.tokenIntrospection(config, second)).toMatchObject({
      active: true,
      client_id: client,
    });
    await openid.tokenRevocation(config, first);
    expect(await openid.tokenIntrospection(config, first)).toEqual({ active: false });
  });

  // @shows AS-54.1
  test('pushes a request, exchanges the code and refreshes with oauth4webapi', async () => {
    const id = await registerWorkload(portal, undefined, {
      redirectUris: [REDIRECT_URI],
      scopes: ['openid', 'notes:read'],
      grants: ['authorization_code', 'refresh_token'],
    });
    const pushing = await started({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: trusting({ pushed_authorization_requests: 'require' }),
    });
    const proof = () => ({
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: accountToken(pushing, cluster.key),
    });
    const asked = new URL(
      authorizationUrl(pushing, { id, secret: '' }, { scope: 'openid notes:read' }),
    );
    const parameters = Object.fromEntries(asked.searchParams);
    const push = (more: object) =>
      fetch(`${pushing.url}/oauth/par`, {
        method: 'POST',
        body: new URLSearchParams({ ...parameters, ...more }),
      });
    expect((await push({})).status).toBe(401);
    const visitor = await pushing.signedIn(ADA);
    const consent = await visitor.visit(
      pushedUrl(pushing, { id }, await requestUriOf(await push(proof()))),
    );
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const as = await oauth
      .discoveryRequest(new URL(pushing.server.issuer), INSECURE)
      .then((response) => oauth.processDiscoveryResponse(new URL(pushing.server.issuer), response));
    const own = { client_id: id };
    const authenticate: oauth.ClientAuth = (_, __, body) => {
      for (const [name, value] of Object.entries({ ...own, ...proof() })) body.set(name, value);
    };
    const code = oauth.validateAuthResponse(as, own, answer, 'the-state');
    const tokens = await oauth
      .authorizationCodeGrantRequest(as, own, authenticate, code, REDIRECT_URI, VERIFIER, INSECURE)
      .then((response) =>
        oauth.processAuthorizationCodeResponse(as, own, response, { expectedNonce: 'the-nonce' }),
      );
    const refreshed = await oauth
      .refreshTokenGrantRequest(as, own, authenticate, tokens.refresh_token ?? '', INSECURE)
      .then((response) => oauth.processRefreshTokenResponse(as, own, response));
    expect(refreshed.access_token).not.toBe(tokens.access_token);
  });

  // @shows AS-54.2
  test('with a SPIFFE ID is identified by the trust domain of its sub, with any iss', async () => {
    const id = await registerWorkload(portal, { issuer: TRUST_DOMAIN, subject: SPIFFE_ID });
    const send = (changes: object) =>
      present(portal, id, jwtSvid(portal, domain.key, { ...changes }), {
        client_assertion_type: JWT_SVID_TYPE,
      });
    for (const changes of [
      {},
      { iss: 'https://spire.example' },
      { iat: undefined, exp: seconds() + 300 },
      { aud: portal.server.issuer },
    ])
      expect((await send(changes)).status).toBe(200);
  });

  // @shows AS-54.2
  test('with a SPIFFE ID is not accepted if the key is not published as jwt-svid', async () => {
    const id = await registerWorkload(portal, { issuer: TRUST_DOMAIN, subject: SPIFFE_ID });
    onTestFinished(() => domain.publish([domain.key]));
    const send = () =>
      present(portal, id, jwtSvid(portal, domain.key), { client_assertion_type: JWT_SVID_TYPE });
    for (const use of ['x509-svid', 'sig', 'enc']) {
      await domain.publish([domain.key], use);
      await expectRefused(await send());
    }
    await domain.publish([domain.key]);
    expect((await send()).status).toBe(200);
  });

  // @shows AS-54.2
  test('may use a token while it is valid, up to the configured maximum age', async () => {
    const old = { iat: seconds() - 3500, nbf: seconds() - 3500, exp: seconds() + 100 };
    expect((await present(portal, client, token(old))).status).toBe(200);
    // The clocks may differ by 30 seconds.
    const justExpired = token({ iat: undefined, nbf: undefined, exp: seconds() - 10 });
    expect((await present(portal, client, justExpired)).status).toBe(200);
    const again = token({ jti: undefined });
    for (let round = 0; round < 3; round += 1)
      expect((await present(portal, client, again)).status).toBe(200);
    const strict = await started({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: accepting({ [CLUSTER]: { ...cluster.settings, maximum_age: 600 } }),
    });
    const sent = accountToken(strict, cluster.key, old);
    await expectRefused(await present(strict, client, sent));
  });

  // @shows AS-54.3
  test('has the name of its client, even where the patterns of two clients overlap', async () => {
    const wide = await registerWorkload(portal, { issuer: CLUSTER, subject: NAMESPACE });
    for (const id of [client, wide]) {
      const response = await present(portal, id, token());
      const { access_token: issued } = (await response.json()) as Tokens;
      const introspected = await fetch(`${portal.url}/oauth/introspect`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: id,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: token(),
          token: issued,
        }),
      });
      expect(await introspected.json()).toMatchObject({ active: true, client_id: id });
    }
    const other = { sub: 'system:serviceaccount:prod:billing' };
    expect((await present(portal, wide, token(other))).status).toBe(200);
    await expectRefused(await present(portal, client, token(other)));
  });

  // @shows AS-54.3
  test('is logged with its subject and the request if its client has a pattern', async () => {
    const wide = await registerWorkload(portal, { issuer: CLUSTER, subject: NAMESPACE });
    const sub = 'system:serviceaccount:prod:nightly';
    const proof = token({ sub });
    const response = await present(portal, wide, proof);
    expect(response.status).toBe(200);
    await present(portal, wide, `${proof.slice(0, -4)}AAAA`);
    await present(portal, client, token());
    const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
    const lines = log
      .split('\n')
      .filter((line) => line.includes('authenticated as') && line.includes(wide));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 'info',
        clientId: wide,
        subject: sub,
        requestId: response.headers.get('x-request-id'),
      }),
    ]);
    expect(log).not.toContain(proof);
  });

  // @shows AS-54.1, AS-49.1
  test('exchanges the assertion of an organization, which cannot replace its platform token', async () => {
    const idp = await startIdentityProvider();
    onTestFinished(() => idp.close());
    const { trusted_issuers: organizations } = idp.config.oauth_server;
    const issuers = { ...(organizations as object), [CLUSTER]: cluster.settings };
    const at = await started({ config: accepting(issuers, { jwt_bearer_grant: true }) });
    await link(at, ADA);
    const id = await registerWorkload(at, undefined, { grants: [JWT_BEARER] });
    const about = () => assertionFor(at, { id, secret: '' }, idp.key);
    const ask = (proof: string, assertion: string) =>
      present(at, id, proof, { grant_type: JWT_BEARER, assertion });
    const proof = accountToken(at, cluster.key);
    const given = await ask(proof, about());
    expect(given.status).toBe(200);
    const tokens = (await given.json()) as Tokens;
    expect(tokens).not.toHaveProperty('refresh_token');
    expect((await callApi(at, '/api/whoami', tokens.access_token)).status).toBe(200);
    await expectRefused(await ask(about(), about()));
    const swapped = await ask(proof, proof);
    expect([swapped.status, await errorOf(swapped)]).toEqual([400, 'invalid_grant']);
    const assertion = about();
    await expectRefused(await ask(accountToken(at, newKey('ES256')), assertion));
    expect((await ask(proof, assertion)).status).toBe(200);
  });

  // @shows AS-54.1, AS-48.1
  test('starts a device request, polls and refreshes with the tokens of its platform', async () => {
    const at = await started({ config: trusting({ device_authorization: true }) });
    const id = await registerWorkload(at, undefined, { grants: [DEVICE_GRANT, 'refresh_token'] });
    const proved = () => ({
      client_id: id,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: accountToken(at, cluster.key),
    });
    const begin = (form: Readonly<Record<string, string>>) =>
      fetch(`${at.url}/oauth/device_authorization`, {
        method: 'POST',
        body: new URLSearchParams({ scope: 'notes:read', ...form }),
      });
    await expectRefused(await begin({ client_id: id }));
    const begun = (await (await begin(proved())).json()) as Begun;
    await decide(await at.signedIn(ADA), begun);
    const poll = { grant_type: DEVICE_GRANT, device_code: begun.device_code };
    await expectRefused(await requestToken(at, null, { ...poll, client_id: id }));
    const polled = await requestToken(at, null, { ...poll, ...proved() });
    const { refresh_token } = (await polled.json()) as Tokens;
    const again = { grant_type: 'refresh_token', refresh_token };
    await expectRefused(await requestToken(at, null, { ...again, client_id: id }));
    const refreshed = await requestToken(at, null, { ...again, ...proved() });
    expect([polled.status, refreshed.status]).toEqual([200, 200]);
  });

  // @shows AS-54.1
  test('has no secret, and its ID without a token is not sufficient', async () => {
    const form = { grant_type: 'client_credentials' };
    await expectRefused(await requestToken(portal, null, { ...form, client_id: client }));
    await expectRefused(await requestToken(portal, { id: client, secret: 'a' }, form));
    await expect(portal.server.clients.rotateSecret(client)).rejects.toThrow(/no secret/);
    await expect(
      portal.server.clients.update(client, { jwks: { keys: [newKey('ES256').jwk] } }),
    ).rejects.toThrow(/oauth_server:private_key_jwt is off/);
    await portal.server.clients.update(client, { name: 'Monthly reports' });
    expect((await present(portal, client, token())).status).toBe(200);
  });

  // @shows AS-54.1
  test('and a client with keys cannot use the credentials of each other', async () => {
    const both = await started({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: trusting({ private_key_jwt: true }),
    });
    const key = newKey('ES256');
    const { client: keyed } = await both.server.clients.create({
      name: 'Keyed',
      scopes: ['notes:read'],
      grants: ['client_credentials'],
      jwks: { keys: [key.jwk] },
    });
    const own = (id: string, by = key) =>
      signed(
        by,
        { alg: by.algorithm, kid: by.kid },
        { ...accountClaims(both), iss: id, sub: id, exp: seconds() + 60 },
      );
    expect((await present(both, keyed.id, own(keyed.id))).status).toBe(200);
    expect((await present(both, client, accountToken(both, cluster.key))).status).toBe(200);
    await expectRefused(await present(both, client, own(client)));
    await expectRefused(await present(both, client, own(client, cluster.key)));
    await expectRefused(await present(both, keyed.id, accountToken(both, cluster.key)));
    await expect(both.server.clients.update(client, { jwks: { keys: [key.jwk] } })).rejects.toThrow(
      /does not authenticate with keys/,
    );
  });
});

describe('a workload is refused', () => {
  // @shows AS-54.5
  test('immediately after its client was revoked', async () => {
    const id = await registerWorkload(portal);
    const response = await present(portal, id, token());
    const { access_token: issued } = (await response.json()) as Tokens;
    await portal.server.clients.revoke(id);
    await expectRefused(await present(portal, id, token()));
    const whoami = await fetch(`${portal.url}/api/whoami`, {
      headers: { Authorization: `Bearer ${issued}` },
    });
    expect(whoami.status).toBe(401);
  });

  // @shows AS-54.5, AS-54.7
  test.each([
    ['the issuer is removed', {}, {}],
    ['the issuer may only assert people', { asserts: ['people'] }, {}],
    ['the switch is off', {}, { workload_identity: false }],
  ])('immediately after %s', async (what, changes, switches) => {
    const other = { 'https://other.example': cluster.settings };
    const own = { [CLUSTER]: { ...cluster.settings, ...changes } };
    const at = await started({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: accepting(what === 'the issuer is removed' ? other : { ...own, ...other }, switches),
    });
    await expectRefused(await present(at, client, accountToken(at, cluster.key)));
  });

  // @shows AS-54.5
  test('after its issuer is removed, but its access tokens stay valid until they are revoked', async () => {
    const id = await registerWorkload(portal);
    const { access_token: issued } = (await (await present(portal, id, token())).json()) as Tokens;
    const at = await started({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: accepting({ 'https://other.example': cluster.settings }),
    });
    const use = async () =>
      (await fetch(`${at.url}/api/whoami`, { headers: { Authorization: `Bearer ${issued}` } }))
        .status;
    await expectRefused(await present(at, id, accountToken(at, cluster.key)));
    expect(await use()).toBe(200);
    await at.server.clients.revoke(id);
    expect(await use()).toBe(401);
  });

  // @shows AS-54.5
  test('immediately after its key was withdrawn, and a new key works without a fetch', async () => {
    onTestFinished(() => cluster.publish([cluster.key]));
    const next = newKey('ES256');
    const by = (key: typeof next) => present(portal, client, accountToken(portal, key));
    await expectRefused(await by(next));
    await cluster.publish([cluster.key, next]);
    expect([(await by(cluster.key)).status, (await by(next)).status]).toEqual([200, 200]);
    await cluster.publish([next]);
    await expectRefused(await by(cluster.key));
    expect((await by(next)).status).toBe(200);
  });

  // @shows AS-54.5
  test('within a minute after its key is no longer at the key URL', async () => {
    let now = Date.now();
    const host = await startDocumentHost();
    onTestFinished(() => host.close());
    const [old, next] = [newKey('RS256'), newKey('RS256')];
    const url = host.publish('/keys', { keys: [old.jwk] });
    const settings = { jwks_uri: url, algorithms: ['RS256'], asserts: ['clients'] };
    const at = await started({
      clock: () => now,
      outbound: host.outbound,
      config: accepting({ [CLUSTER]: settings }),
    });
    const id = await registerWorkload(at);
    const by = (key: typeof old, as = id) =>
      present(at, as, signed(key, { alg: 'RS256', kid: key.kid }, { ...accountClaims(at, now) }));
    expect((await by(old)).status).toBe(200);
    host.publish('/keys', { keys: [next.jwk] });
    now += 15_000;
    expect((await by(next)).status).toBe(200);
    await expectRefused(await by(old));
    host.answer('/keys', (_, response) => void response.writeHead(500).end());
    now += 60_000;
    // The answer is the same for a client that does not exist.
    for (const as of [id, 'unknown']) {
      const unavailable = await by(next, as);
      expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '5']);
    }
  });
});

describe('the registration of a workload', () => {
  // @shows AS-54.3
  test.each([
    [{ issuer: 'https://evil.example', subject: ACCOUNT }, {}, /is not in oauth_server:trusted_/],
    [{ issuer: `${CLUSTER}/`, subject: ACCOUNT }, {}, /is not in oauth_server:trusted_issuers/],
    [{ issuer: CLUSTER, subject: '' }, {}, /1 to 255 visible ASCII characters/],
    [{ issuer: CLUSTER, subject: 'a'.repeat(256) }, {}, /1 to 255 visible ASCII characters/],
    [{ issuer: CLUSTER, subject: 'system:serviceaccount:prod-*' }, {}, /only one \*/],
    [{ issuer: CLUSTER, subject: 'system:serviceaccount:*:reports' }, {}, /only one \*/],
    [{ issuer: CLUSTER, subject: '*' }, {}, /only one \*/],
    [{ issuer: TRUST_DOMAIN, subject: ACCOUNT }, {}, /a SPIFFE ID below spiffe:\/\/example\.org/],
    [{ issuer: TRUST_DOMAIN, subject: 'spiffe://example.com/a' }, {}, /a SPIFFE ID below/],
    [{ issuer: CLUSTER, subject: ACCOUNT }, { public: true }, /cannot be public/],
    [
      { issuer: CLUSTER, subject: ACCOUNT },
      { jwksUri: 'https://client.example/keys' },
      /both a workload and keys/,
    ],
  ])('is refused with %o and %o', async (workload, more, problem) => {
    await expect(registerWorkload(portal, workload, more)).rejects.toThrow(problem);
  });

  // @shows AS-54.6
  test('is refused to a client that registers itself or is a metadata document', async () => {
    const host = await startDocumentHost();
    onTestFinished(() => host.close());
    const at = await started({
      outbound: host.outbound,
      config: trusting({
        private_key_jwt: true,
        registration: 'open',
        client_id_metadata_documents: true,
      }),
    });
    const claim = {
      redirect_uris: [REDIRECT_URI],
      workload: { issuer: CLUSTER, subject: ACCOUNT },
      spiffe_id: SPIFFE_ID,
      spiffe_bundle_endpoint: 'https://client.example/bundle',
    };
    const register = (metadata: object) =>
      fetch(`${at.url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ client_name: 'Claims', ...claim, ...metadata }),
      });
    for (const method of [ASSERTION_TYPE, JWT_SVID_TYPE, 'workload', 'spiffe_jwt']) {
      const refused = await register({ token_endpoint_auth_method: method });
      expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_client_metadata']);
    }
    const registered = await register({ token_endpoint_auth_method: 'none' });
    const { client_id: own, ...metadata } = (await registered.json()) as { client_id: string };
    expect(metadata).not.toHaveProperty('workload');
    const url = host.publish('/client.json', {
      client_name: 'Document',
      ...claim,
      token_endpoint_auth_method: 'none',
    });
    await obtainCode(at, { id: url, secret: '' }, await at.signedIn(ADA), { scope: 'notes:read' });
    for (const id of [own, url]) {
      expect((await at.server.clients.find(id))?.keys ?? null).toBeNull();
      const jwt = accountToken(at, cluster.key);
      await expectRefused(await present(at, id, jwt));
      const svid = jwtSvid(at, domain.key);
      const form = { client_assertion_type: JWT_SVID_TYPE };
      await expectRefused(await present(at, id, svid, form));
    }
  });

  // @shows AS-54.4
  test('is refused to a client with the profile fapi2', async () => {
    const settings = { ...cluster.settings, algorithms: ['ES256'] };
    const profiled = await started({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: accepting({ [CLUSTER]: settings }, { profile: 'fapi2' }),
    });
    await expect(registerWorkload(profiled)).rejects.toThrow(/no keys for authentication/);
    const sent = () => accountToken(profiled, cluster.key);
    await expectRefused(await present(profiled, client, sent()));
    const { token_endpoint_auth_methods_supported: methods } = await metadataOf(profiled);
    expect(methods).toEqual(['private_key_jwt']);
    // An API that only introspects gets no token. The profile does not apply to it (decision 45).
    const api = await registerWorkload(profiled, undefined, {
      scopes: [],
      grants: ['introspection'],
    });
    const introspected = await fetch(`${profiled.url}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: api,
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: sent(),
        token: 'unknown',
      }),
    });
    expect(await introspected.json()).toEqual({ active: false });
  });
});

describe('operators', () => {
  const run = (config: object, ...args: readonly string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PORTAL_CONFIG: JSON.stringify(config) },
    });
  const create = ['oauth:client:create', 'Job', '--grant=client_credentials', '--scope=notes:read'];

  // @shows AS-54.6
  test('register a workload on the console, and see its issuer and subject', async () => {
    const named = ['--workload', CLUSTER, '--subject', NAMESPACE];
    const { code, stdout, stderr } = await run(trusting(), ...create, ...named);
    expect([code, stderr]).toEqual([
      0,
      "This client has no secret. It authenticates with its workload's token.\n",
    ]);
    const id = /client id: +(\S+)/.exec(stdout)?.[1] ?? '';
    expect(stdout).not.toContain('secret');
    expect((await present(portal, id, token())).status).toBe(200);
    const list = await run(trusting(), 'oauth:client:list');
    expect(list.stdout).toContain(`workload   ${NAMESPACE} of ${CLUSTER}`);
    const show = await run(trusting(), 'oauth:client:show', id);
    expect(show.stdout).toContain(`as the workload ${NAMESPACE}, with tokens from ${CLUSTER}`);
    const json = await run(trusting(), 'oauth:client:show', id, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      token_endpoint_auth_method: ASSERTION_TYPE,
      workload: { issuer: CLUSTER, subject: NAMESPACE },
    });
    const spiffe = ['--workload', TRUST_DOMAIN, '--subject', SPIFFE_ID, '--json'];
    const printed = JSON.parse((await run(trusting(), ...create, ...spiffe)).stdout) as object;
    expect(printed).toMatchObject({ token_endpoint_auth_method: JWT_SVID_TYPE });
    expect(printed).not.toHaveProperty('client_secret');
  });

  // @shows AS-54.6
  test.each([
    [['--workload', CLUSTER], true, 'Use --workload and --subject together'],
    [['--subject', ACCOUNT], true, 'Use --workload and --subject together'],
    [['--workload', CLUSTER, '--subject', ACCOUNT], false, 'oauth_server:workload_identity is off'],
  ])('get the reason if %j is wrong', async (args, isOn, problem) => {
    const config = trusting({ workload_identity: isOn });
    const { code, stdout, stderr } = await run(config, ...create, ...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(problem);
  });

  // @shows AS-54.6
  test('see the issuer and subject on the page of the client', async () => {
    const { portal: at } = await startAdministered({ config: trusting() });
    onTestFinished(() => at.close());
    const id = await registerWorkload(at, { issuer: CLUSTER, subject: NAMESPACE });
    const page = await (await at.signedIn(ADA)).get(`${PAGES}/client?id=${id}`);
    const text = await page.text();
    for (const shown of [CLUSTER, NAMESPACE, ASSERTION_TYPE]) expect(text).toContain(shown);
  });

  // @shows AS-54.6
  test('see in the doctor which workloads cannot authenticate', async () => {
    const own = await started({ config: trusting() });
    const examined = async (at: RunningPortal): Promise<Check | undefined> =>
      (await examine(at.application, at.server)).checks.find(({ part }) => part === 'workloads');
    expect(await examined(own)).toBeUndefined();
    const id = await registerWorkload(own);
    expect(await examined(own)).toMatchObject({
      outcome: 'ok',
      detail: 'clients that authenticate as workloads: 1',
    });
    const elsewhere = { [TRUST_DOMAIN]: domain.settings };
    const databaseUrl = own.env['DATABASE_URL'] ?? '';
    for (const [config, detail] of [
      [
        accepting(elsewhere),
        /the issuer of these workloads is not trusted to authenticate clients/,
      ],
      [trusting({ workload_identity: false }), /oauth_server:workload_identity is off/],
    ] as const) {
      const found = await examined(await started({ databaseUrl, config }));
      expect(found?.outcome).toBe('failing');
      expect(found?.detail).toMatch(detail);
      expect(found?.detail).toContain(id);
    }
  });
});

describe('the metadata', () => {
  // @shows AS-2.54, AS-54.4, AS-54.7
  test('lists the token types that a trusted issuer signs, only with the setting on', async () => {
    const bare = (await metadataOf(await started({})))['token_endpoint_auth_methods_supported'];
    expect(bare).toEqual(['client_secret_basic', 'client_secret_post', 'none']);
    const secrets = ['client_secret_basic', 'client_secret_post'];
    for (const [config, types] of [
      [trusting(), [ASSERTION_TYPE, JWT_SVID_TYPE]],
      [accepting({ [CLUSTER]: cluster.settings }), [ASSERTION_TYPE]],
      [accepting({ [TRUST_DOMAIN]: domain.settings }), [JWT_SVID_TYPE]],
      [accepting({ [CLUSTER]: { ...cluster.settings, asserts: ['people'] } }), []],
      [trusting({ workload_identity: false }), []],
    ] as const) {
      const metadata = await metadataOf(await started({ config }));
      for (const endpoint of ['token', 'revocation'])
        expect(metadata[`${endpoint}_endpoint_auth_methods_supported`]).toEqual([
          ...secrets,
          ...types,
          'none',
        ]);
      expect(metadata['introspection_endpoint_auth_methods_supported']).toEqual([
        ...secrets,
        ...types,
      ]);
    }
  });
});

// @shows AS-54.8
test('a token for an impossible client ID is an invalid grant on every engine', async () => {
  const assertion = jwtSvid(portal, domain.key, { iss: CLUSTER });
  for (const id of ['\0', 'a\0b', 'ä', 'a'.repeat(300)]) {
    const form = { grant_type: JWT_BEARER, client_id: id, assertion };
    const response = await requestToken(portal, null, form);
    expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
  }
});

// @shows AS-2.49
test.each([
  ['spiffe://Example.org', { asserts: ['clients'] }, /must be an issuer/],
  ['spiffe://example.org/', { asserts: ['clients'] }, /must be an issuer/],
  ['spiffe://example.org/ns', { asserts: ['clients'] }, /must be an issuer/],
  ['spiffe://', { asserts: ['clients'] }, /must be an issuer/],
  [TRUST_DOMAIN, { asserts: ['people'] }, /must be \['clients'\], because/],
  [TRUST_DOMAIN, { asserts: ['clients', 'people'] }, /must be \['clients'\], because/],
  [
    CLUSTER,
    { asserts: ['people', 'clients'] },
    /asserts: must be \['people'\] or \['clients'\], not both; use two/,
  ],
  [CLUSTER, { asserts: ['workloads'] }, /must be "people" or "clients"/],
])('the trusted issuer %s with %o is a configuration problem', async (issuer, more, said) => {
  const config = accepting({ [issuer]: { ...cluster.settings, ...more } });
  await expect(startPortal({ config })).rejects.toThrow(said);
});
