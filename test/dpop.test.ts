import { readFile } from 'node:fs/promises';
import { listen, startApplication } from '@portico/kit';
import { mergeConfig } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  claimsOf,
  headerOf,
  newKey,
  signed,
  withAssertion,
  type Algorithm,
  type ClientKey,
} from './support/assertions.ts';
import { jktOf, newDpopKey, requestWithProof, tokenProof } from './support/dpop.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  GRACE,
  introspect,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  signIn,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { locationOf } from './support/visitor.ts';

/**
 * Tokens that are bound to a key (RFC 9449), at the endpoints that issue them. Other tests present
 * them.
 */

const clock = createClock();
const ALGORITHMS: readonly Algorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
const closing: (() => Promise<void>)[] = [];
let portal: RunningPortal;
let application: TestClient;
let service: TestClient;

beforeAll(async () => {
  portal = await start({
    dpop: 'accept',
    refresh_retry_seconds: 30,
    private_key_jwt: true,
    registration: 'open',
    pushed_authorization_requests: 'accept',
  });
  application = await registerClient(portal, { public: true });
  service = await newService();
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function start(config: Readonly<Record<string, unknown>>): Promise<RunningPortal> {
  const running = await startPortal({ clock: clock.now, config: { oauth_server: config } });
  closing.push(() => running.close());
  return running;
}

/** Another installation's configuration on the same database, with the same clock. */
async function startBeside(
  one: RunningPortal,
  changes: Readonly<Record<string, unknown>>,
): Promise<RunningPortal> {
  const port = await freePort();
  const env = { ...one.env, PORT: String(port), PUBLIC_URL: one.url };
  const { config } = one.definition;
  const changed = (given: Readonly<Record<string, string | undefined>>) =>
    mergeConfig(typeof config === 'function' ? config(given) : (config ?? {}), {
      oauth_server: changes,
    });
  const beside = await startApplication({ ...one.definition, config: changed }, { env });
  const running = await listen(beside, { port, hostname: '127.0.0.1' });
  closing.push(async () => {
    await running.close();
    await beside.close();
  });
  return { ...one, application: beside, url: `http://localhost:${port}` };
}

const newService = (at = portal, more = {}) =>
  registerClient(at, {
    redirectUris: [],
    scopes: ['notes:read'],
    grants: ['client_credentials'],
    ...more,
  });

type Claims = Readonly<Record<string, unknown>>;
const proof = (key: ClientKey, claims: Claims = {}, at = portal) =>
  tokenProof(key, at.server.issuer, clock.now(), claims);

const exchange = (
  client: TestClient,
  code: string,
  sent: string | null,
  changes = {},
  at = portal,
) =>
  requestWithProof(at, client, sent, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
    ...changes,
  });
const refresh = (
  client: TestClient,
  token: string,
  sent: string | null,
  changes = {},
  at = portal,
) =>
  requestWithProof(at, client, sent, {
    grant_type: 'refresh_token',
    refresh_token: token,
    ...changes,
  });
const forService = (sent: string | null, at = portal, client = service) =>
  requestWithProof(at, client, sent, { grant_type: 'client_credentials' });

const codeOf = async (client: TestClient, changes = {}, at = portal) =>
  obtainCode(at, client, await at.signedIn(ADA), changes);

async function tokensOf(response: Response): Promise<Tokens> {
  expect([response.status, response.ok ? '' : await response.text()]).toEqual([200, '']);
  return (await response.json()) as Tokens;
}

async function expectRefused(response: Response, error: string): Promise<void> {
  expect([response.status, await errorOf(response)]).toEqual([400, error]);
  expect(response.headers.get('cache-control')).toBe('no-store');
}

const boundTo = async (token: string) => {
  const { active, token_type, cnf } = await introspect(portal, token);
  return { active, token_type, cnf };
};
const bound = (key: ClientKey) => ({ active: true, token_type: 'DPoP', cnf: { jkt: jktOf(key) } });
const UNBOUND = { active: true, token_type: 'Bearer', cnf: undefined };

/** Returns from the log why the server refused the request. */
async function reasonOf(response: Response, at = portal): Promise<unknown> {
  const log = await readFile(`${at.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');
  const lines = log.split('\n').filter((line) => line !== '');
  const id = response.headers.get('x-request-id');
  const known = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return known.find((line) => line['requestId'] === id)?.['detail'];
}

describe('with DPoP off', () => {
  // @shows AS-24.1
  test('no metadata mentions DPoP, and the header is ignored', async () => {
    const off = await start({});
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      expect(await (await fetch(`${off.url}/.well-known/${name}`)).text()).not.toContain('dpop');
    }
    const preflight = await fetch(`${off.url}/oauth/token`, { method: 'OPTIONS' });
    expect(preflight.headers.get('access-control-allow-headers')).not.toContain('DPoP');
    const client = await registerClient(off, { public: true });
    const code = await codeOf(client, { dpop_jkt: 'no thumbprint' }, off);
    const response = await exchange(client, code, 'no proof', {}, off);
    expect(response.headers.get('access-control-expose-headers')).not.toContain('DPoP');
    expect(response.headers.get('dpop-nonce')).toBeNull();
    expect((await tokensOf(response)).token_type).toBe('Bearer');
  });

  // @shows AS-24.1
  test('a client or document that requires DPoP is refused', async () => {
    const off = await start({ registration: 'open' });
    await expect(registerClient(off, { dpopBoundAccessTokens: true })).rejects.toThrow(
      /oauth_server:dpop is off/,
    );
    const answer = await registerItself(off, { dpop_bound_access_tokens: true });
    expect(answer).not.toHaveProperty('dpop_bound_access_tokens');
  });

  // @shows AS-24.6
  test('tokens that were bound, or whose client requires bound tokens, are not issued unbound', async () => {
    const key = newDpopKey();
    const off = await startBeside(portal, { dpop: 'off' });
    const demanding = await newService(portal, { dpopBoundAccessTokens: true });
    const refused = await forService(proof(key), off, demanding);
    await expectRefused(refused, 'unauthorized_client');
    const tokens = await tokensOf(
      await exchange(application, await codeOf(application), proof(key)),
    );
    await expectRefused(
      await refresh(application, tokens.refresh_token, proof(key), {}, off),
      'invalid_grant',
    );
    expect((await callApi(off, '/api/notes', tokens.access_token)).status).toBe(401);
    const code = await codeOf(application, { dpop_jkt: jktOf(key) });
    await expectRefused(await exchange(application, code, proof(key), {}, off), 'invalid_grant');
    await tokensOf(await refresh(application, tokens.refresh_token, proof(key)));
  });

  // @shows AS-24.6, AS-25.8
  test('a client that updates its registration keeps the requirement', async () => {
    const switches = {
      dpop: 'accept',
      pushed_authorization_requests: 'accept',
      registration: 'open',
    };
    const on = await start(switches);
    const off = await startBeside(on, { dpop: 'off', pushed_authorization_requests: 'off' });
    const demands = { dpop_bound_access_tokens: true, require_pushed_authorization_requests: true };
    const {
      registration_access_token: token,
      registration_client_uri: uri,
      client_id_issued_at: _,
      ...described
    } = await registerItself(on, demands);
    const replace = (at: RunningPortal, changes: object) =>
      fetch(String(uri).replace(on.url, at.url), {
        method: 'PUT',
        headers: { Authorization: `Bearer ${String(token)}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...described, ...changes }),
      });
    for (const changes of [{}, { dpop_bound_access_tokens: false }, { client_name: 'Renamed' }]) {
      expect(await (await replace(off, changes)).json()).toMatchObject(demands);
    }
    expect(await on.server.clients.find(String(described['client_id']))).toMatchObject({
      name: 'Renamed',
      dpopBoundAccessTokens: true,
      pushesRequests: true,
    });
    const without = {
      dpop_bound_access_tokens: false,
      require_pushed_authorization_requests: false,
    };
    const freed = await (await replace(on, without)).json();
    for (const name of Object.keys(demands)) expect(freed).not.toHaveProperty(name);
  });

  // @shows AS-2.25
  test('the other DPoP settings prevent the start', async () => {
    await expect(
      start({ scopes: { 'notes:read': { label: 'Read', dpop: true } } }),
    ).rejects.toThrow(/oauth_server:scopes:notes:read:dpop/);
    await expect(start({ dpop_nonces: true })).rejects.toThrow(/oauth_server:dpop_nonces/);
  });
});

async function registerItself(
  at: RunningPortal,
  metadata: object,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${at.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'none',
      ...metadata,
    }),
  });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

describe('a token request with a proof', () => {
  // @shows AS-24.1, RFC9449-5.1
  // @shows RFC10017-9.2
  test('is announced in the metadata with its algorithms, and pages of other origins can send it', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const response = await fetch(`${portal.url}/.well-known/${name}`);
      expect(await response.json()).toMatchObject({
        dpop_signing_alg_values_supported: ALGORITHMS,
      });
    }
    const preflight = await fetch(`${portal.url}/oauth/token`, { method: 'OPTIONS' });
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/, DPoP$/);
    const response = await forService(null);
    expect(response.headers.get('access-control-expose-headers')).toMatch(/, DPoP-Nonce$/);
  });

  // @shows AS-24.2, AS-24.8, RFC9449-5a, RFC9449-6.2, RFC9700-2.2.1
  test.each(ALGORITHMS)('gives a token that is bound to its key: %s', async (algorithm) => {
    const key = newKey(algorithm);
    const tokens = await tokensOf(
      await exchange(application, await codeOf(application), proof(key)),
    );
    expect(tokens.token_type).toBe('DPoP');
    expect(await boundTo(tokens.access_token)).toEqual(bound(key));
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(401);
    const own = await tokensOf(await forService(proof(key)));
    expect(own.token_type).toBe('DPoP');
    expect(await boundTo(own.access_token)).toEqual(bound(key));
  });

  // @shows AS-24.2
  test('does not affect requests without a proof, which get a bearer token', async () => {
    const tokens = await tokensOf(await exchange(application, await codeOf(application), null));
    expect(tokens.token_type).toBe('Bearer');
    expect(await boundTo(tokens.access_token)).toEqual(UNBOUND);
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(200);
  });

  // @shows AS-24.3, RFC9449-5b, RFC9449-11.1
  test('that is wrong, old or used leaves the code or token valid, and the log has the reason', async () => {
    const key = newDpopKey();
    const once = proof(key);
    await tokensOf(await forService(once));
    const code = await codeOf(application);
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['no proof', /^DPoP proof refused: its payload|^DPoP proof refused: its header/],
      [`${proof(key)}, ${proof(key)}`, /there is more than one/],
      [once, /it was used before/],
      [proof(key, { htm: 'GET' }), /its htm/],
      [proof(key, { htu: `${portal.server.issuer}/oauth/revoke` }), /its htu/],
      [proof(key, { iat: clock.now() / 1000 - 200 }), /its iat/],
      [
        proof(newDpopKey()).replace(/[^.]+$/, (signature) =>
          signature.split('').toReversed().join(''),
        ),
        /signature|did not sign/,
      ],
    ];
    for (const [sent, reason] of wrong) {
      const response = await exchange(application, code, sent);
      await expectRefused(response, 'invalid_dpop_proof');
      expect(await reasonOf(response)).toMatch(reason);
    }
    const tokens = await tokensOf(await exchange(application, code, proof(key)));
    for (const [sent] of wrong) {
      await expectRefused(
        await refresh(application, tokens.refresh_token, sent),
        'invalid_dpop_proof',
      );
    }
    await tokensOf(await refresh(application, tokens.refresh_token, proof(key)));
  });

  // @shows AS-24.3
  test('that is repeated exactly is refused because of its proof, and ends nothing', async () => {
    for (const client of [application, await registerClient(portal)]) {
      const key = newDpopKey();
      const [code, exchanged, refreshed] = [await codeOf(client), proof(key), proof(key)];
      const first = await tokensOf(await exchange(client, code, exchanged));
      await expectRefused(await exchange(client, code, exchanged), 'invalid_dpop_proof');
      const second = await tokensOf(await refresh(client, first.refresh_token, refreshed));
      await expectRefused(
        await refresh(client, first.refresh_token, refreshed),
        'invalid_dpop_proof',
      );
      await tokensOf(await refresh(client, second.refresh_token, proof(key)));
    }
  });

  // @shows AS-24.3
  test('with nothing valid to exchange stores no proof', async () => {
    const { database } = portal.application;
    const written = async () =>
      (await database.execute<{ n: number }>('SELECT COUNT(*) AS n FROM oauth_single_uses')).rows[0]
        ?.n;
    const before = await written();
    const key = newDpopKey();
    await expectRefused(await exchange(application, 'unknown', proof(key)), 'invalid_grant');
    await expectRefused(await refresh(application, 'unknown', proof(key)), 'invalid_grant');
    await expectRefused(await forService(proof(key), portal, application), 'unauthorized_client');
    expect(await written()).toBe(before);
    await tokensOf(await forService(proof(key)));
    expect(await written()).not.toBe(before);
  });

  // @shows AS-24.3, RFC9449-4.3c
  test('accepts a proof for one minute, with up to a minute of clock difference', async () => {
    const key = newDpopKey();
    const at = (seconds: number) =>
      forService(proof(key, { iat: Math.floor(clock.now() / 1000) + seconds }));
    for (const seconds of [-118, -60, 60]) await tokensOf(await at(seconds));
    for (const seconds of [-121, 62]) await expectRefused(await at(seconds), 'invalid_dpop_proof');
  });

  // @shows AS-24.3
  test('can use a key that a different client uses too', async () => {
    const key = newDpopKey();
    const other = await newService();
    expect(await boundTo((await tokensOf(await forService(proof(key)))).access_token)).toEqual(
      bound(key),
    );
    const another = await tokensOf(await forService(proof(key), portal, other));
    expect(await boundTo(another.access_token)).toEqual(bound(key));
  });

  // @shows AS-24.8
  test('gives a token that can be revoked like any other token', async () => {
    const { access_token: token } = await tokensOf(await forService(proof(newDpopKey())));
    const basic = Buffer.from(`${service.id}:${service.secret}`).toString('base64');
    const headers = { Authorization: `Basic ${basic}` };
    const body = new URLSearchParams({ token });
    expect(
      (await fetch(`${portal.url}/oauth/revoke`, { method: 'POST', headers, body })).status,
    ).toBe(200);
    expect(await introspect(portal, token)).toEqual({ active: false });
  });
});

describe('a refresh token', () => {
  // @shows AS-24.4, RFC9449-5c
  test('of a public client is bound to the key of the exchange, and stays valid if a key is wrong', async () => {
    const key = newDpopKey();
    const first = await tokensOf(
      await exchange(application, await codeOf(application), proof(key)),
    );
    const second = await tokensOf(await refresh(application, first.refresh_token, proof(key)));
    expect([second.token_type, await boundTo(second.access_token)]).toEqual(['DPoP', bound(key)]);
    for (const sent of [() => proof(newDpopKey()), () => null]) {
      for (const { refresh_token: token } of [second, first]) {
        const response = await refresh(application, token, sent());
        await expectRefused(response, 'invalid_grant');
        expect(await reasonOf(response)).toMatch(/^the refresh token is bound to a key/);
      }
    }
    await tokensOf(await refresh(application, second.refresh_token, proof(key)));
  });

  // @shows AS-24.4
  test('of a public client without a key is bound by the first proof', async () => {
    const key = newDpopKey();
    const first = await tokensOf(await exchange(application, await codeOf(application), null));
    const second = await tokensOf(await refresh(application, first.refresh_token, proof(key)));
    await expectRefused(await refresh(application, second.refresh_token, null), 'invalid_grant');
    await tokensOf(await refresh(application, second.refresh_token, proof(key)));
  });

  // @shows AS-24.4
  test('that a thief binds first ends when its owner uses it, with or without a proof', async () => {
    const thief = newDpopKey();
    for (const [uses, own] of [
      [1, () => null],
      [2, () => null],
      [2, () => proof(newDpopKey())],
    ] as const) {
      const first = await tokensOf(await exchange(application, await codeOf(application), null));
      let later = first;
      for (let use = 0; use < uses; use += 1)
        later = await tokensOf(await refresh(application, later.refresh_token, proof(thief)));
      await expectRefused(await refresh(application, first.refresh_token, own()), 'invalid_grant');
      expect(await introspect(portal, later.access_token)).toEqual({ active: false });
      await expectRefused(
        await refresh(application, later.refresh_token, proof(thief)),
        'invalid_grant',
      );
    }
  });

  // @shows AS-24.4
  test('of a public client that was used without a key ends if it is sent again with a key', async () => {
    const first = await tokensOf(await exchange(application, await codeOf(application), null));
    const second = await tokensOf(await refresh(application, first.refresh_token, null));
    await expectRefused(
      await refresh(application, first.refresh_token, proof(newDpopKey())),
      'invalid_grant',
    );
    expect(await introspect(portal, second.access_token)).toEqual({ active: false });
  });

  // @shows AS-24.4, RFC9449-5c
  test('of a confidential client is not bound: each access token has the key of its request', async () => {
    const client = await registerClient(portal);
    const [one, other] = [newDpopKey(), newDpopKey()];
    const first = await tokensOf(await exchange(client, await codeOf(client), proof(one)));
    const second = await tokensOf(await refresh(client, first.refresh_token, proof(other)));
    expect(await boundTo(second.access_token)).toEqual(bound(other));
    const third = await tokensOf(await refresh(client, second.refresh_token, null));
    expect(await boundTo(third.access_token)).toEqual(UNBOUND);
  });

  // @shows AS-24.4
  test('that was used is answered again only for the same key; a different key ends nothing', async () => {
    for (const client of [application, await registerClient(portal)]) {
      const key = newDpopKey();
      const first = await tokensOf(await exchange(client, await codeOf(client), proof(key)));
      const second = await tokensOf(await refresh(client, first.refresh_token, proof(key)));
      for (const sent of [proof(newDpopKey()), null]) {
        await expectRefused(await refresh(client, first.refresh_token, sent), 'invalid_grant');
      }
      const again = await tokensOf(await refresh(client, first.refresh_token, proof(key)));
      expect(again).toMatchObject({ access_token: second.access_token, token_type: 'DPoP' });
      await tokensOf(await refresh(client, again.refresh_token, proof(key)));
    }
  });

  // @shows AS-24.4
  test('that is used twice with its key ends the authorization, as without DPoP', async () => {
    const key = newDpopKey();
    const first = await tokensOf(
      await exchange(application, await codeOf(application), proof(key)),
    );
    const second = await tokensOf(await refresh(application, first.refresh_token, proof(key)));
    clock.advance(31);
    await expectRefused(
      await refresh(application, first.refresh_token, proof(key)),
      'invalid_grant',
    );
    await expectRefused(
      await refresh(application, second.refresh_token, proof(key)),
      'invalid_grant',
    );
    expect(await introspect(portal, second.access_token)).toEqual({ active: false });
  });
});

describe('dpop_jkt', () => {
  // @shows AS-24.5, RFC9449-10
  test('allows the exchange only with this key; a wrong or missing key invalidates the code', async () => {
    const key = newDpopKey();
    const jkt = { dpop_jkt: jktOf(key) };
    for (const client of [application, await registerClient(portal)]) {
      expect(
        (await tokensOf(await exchange(client, await codeOf(client, jkt), proof(key)))).token_type,
      ).toBe('DPoP');
      for (const sent of [proof(newDpopKey()), null]) {
        const code = await codeOf(client, jkt);
        const response = await exchange(client, code, sent);
        await expectRefused(response, 'invalid_grant');
        expect(await reasonOf(response)).toMatch(/^the code is bound to a key/);
        await expectRefused(await exchange(client, code, proof(key)), 'invalid_grant');
      }
    }
  });

  // @shows AS-24.5
  test('of a confidential client binds the code but not the refresh token', async () => {
    const client = await registerClient(portal);
    const key = newDpopKey();
    const code = await codeOf(client, { dpop_jkt: jktOf(key) });
    const tokens = await tokensOf(await exchange(client, code, proof(key)));
    await tokensOf(await refresh(client, tokens.refresh_token, proof(newDpopKey())));
  });

  // @shows AS-24.5
  test('stays in effect through sign-in, also if a different person signs in', async () => {
    const key = newDpopKey();
    const visitor = portal.visitor();
    const sent = { dpop_jkt: jktOf(key) };
    const url = authorizationUrl(portal, application, sent);
    const asPerson = async (page: Response, email: string) =>
      visitor.visit(locationOf(await signIn(visitor, page, email)).href);
    const question = await asPerson(await visitor.visit(url), ADA);
    const switched = locationOf(await visitor.submit(question, { decision: 'switch' }));
    const page = await asPerson(await visitor.visit(switched.href), GRACE);
    const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
    const code = answer.searchParams.get('code') ?? '';
    await expectRefused(await exchange(application, code, proof(newDpopKey())), 'invalid_grant');
  });

  // @shows AS-24.5
  test.each(['a', 'a'.repeat(44), `${'a'.repeat(42)}=`])(
    'is refused if it is not a thumbprint: %j',
    async (jkt) => {
      const visitor = await portal.signedIn(ADA);
      const response = await visitor.get(authorizationUrl(portal, application, { dpop_jkt: jkt }));
      expect(locationOf(response).searchParams.get('error')).toBe('invalid_request');
    },
  );

  // @shows AS-24.5, RFC9449-10.1
  test('of a pushed request is taken only from the proof sent with it', async () => {
    const key = newDpopKey();
    const proofOf = (claims: Claims = {}) =>
      proof(key, { htu: `${portal.server.issuer}/oauth/par`, ...claims });
    const push = (sent: string, changes: Readonly<Record<string, string>> = {}) => {
      const body = new URL(authorizationUrl(portal, application, changes)).searchParams;
      return fetch(`${portal.url}/oauth/par`, { method: 'POST', headers: { DPoP: sent }, body });
    };
    for (const changes of [{}, { dpop_jkt: jktOf(key) }]) {
      const pushed = await push(proofOf(), changes);
      expect(pushed.status).toBe(201);
      const { request_uri: requestUri } = (await pushed.json()) as { request_uri: string };
      const visitor = await portal.signedIn(ADA);
      const url = new URL(`${portal.url}/oauth/authorize`);
      url.search = new URLSearchParams({
        client_id: application.id,
        request_uri: requestUri,
      }).toString();
      const answer = locationOf(
        await visitor.submit(await visitor.visit(url.href), { decision: 'allow' }),
      );
      const code = answer.searchParams.get('code') ?? '';
      await expectRefused(await exchange(application, code, proof(newDpopKey())), 'invalid_grant');
    }
    await expectRefused(
      await push(proofOf(), { dpop_jkt: jktOf(newDpopKey()) }),
      'invalid_request',
    );
    await expectRefused(await push(proof(key)), 'invalid_dpop_proof');
    const once = proofOf();
    expect((await push(once)).status).toBe(201);
    await expectRefused(await push(once), 'invalid_dpop_proof');
  });

  // @shows AS-24.5
  test('can be sent only once', async () => {
    const visitor = await portal.signedIn(ADA);
    const url = authorizationUrl(portal, application, { dpop_jkt: jktOf(newDpopKey()) });
    const response = await visitor.get(`${url}&dpop_jkt=${jktOf(newDpopKey())}`);
    expect(locationOf(response).searchParams.get('error')).toBe('invalid_request');
  });
});

describe('bound tokens are required', () => {
  // @shows AS-24.6, RFC9449-5.2
  test('by a client: it gets no others, and a code requested without a proof stays usable', async () => {
    const key = newDpopKey();
    const client = await registerClient(portal, { dpopBoundAccessTokens: true });
    const code = await codeOf(client);
    const refused = await exchange(client, code, null);
    await expectRefused(refused, 'invalid_dpop_proof');
    expect(await reasonOf(refused)).toContain('the client requires it');
    const tokens = await tokensOf(await exchange(client, code, proof(key)));
    await expectRefused(await refresh(client, tokens.refresh_token, null), 'invalid_dpop_proof');
    await tokensOf(await refresh(client, tokens.refresh_token, proof(key)));
    const demanding = await newService(portal, { dpopBoundAccessTokens: true });
    await expectRefused(await forService(null, portal, demanding), 'invalid_dpop_proof');
    await tokensOf(await forService(proof(key), portal, demanding));
  });

  // @shows AS-24.6
  test('by the server, for all clients', async () => {
    const strict = await startBeside(portal, { dpop: 'require' });
    const code = await codeOf(application);
    await expectRefused(await exchange(application, code, null, {}, strict), 'invalid_dpop_proof');
    await expectRefused(await forService(null, strict), 'invalid_dpop_proof');
    const key = newDpopKey();
    await tokensOf(await exchange(application, code, proof(key), {}, strict));
    await tokensOf(await forService(proof(key), strict));
  });

  // @shows AS-24.6, AS-5.18
  test('even if a refresh token was used without a proof: a retry gets no unbound tokens', async () => {
    const strict = await startBeside(portal, { dpop: 'require' });
    const first = await tokensOf(await exchange(application, await codeOf(application), null));
    const second = await tokensOf(await refresh(application, first.refresh_token, null));
    clock.advance(1);
    const again = (at: RunningPortal) => refresh(application, first.refresh_token, null, {}, at);
    await expectRefused(await again(strict), 'invalid_dpop_proof');
    const { access_token: access } = await tokensOf(await again(portal));
    expect(access).toBe(second.access_token);
  });

  // @shows AS-24.6
  test('by a scope, wherever it would be in the token', async () => {
    const scopes = { 'notes:write': { label: 'Write notes', dpop: true } };
    const strict = await startBeside(portal, { scopes });
    const key = newDpopKey();
    const code = await codeOf(application);
    const refused = await exchange(application, code, null, {}, strict);
    await expectRefused(refused, 'invalid_dpop_proof');
    expect(await reasonOf(refused)).toContain('the scope notes:write requires it');
    await tokensOf(await exchange(application, code, proof(key), {}, strict));
    const client = await registerClient(portal);
    const tokens = await tokensOf(await exchange(client, await codeOf(client), null));
    await expectRefused(
      await refresh(client, tokens.refresh_token, null, {}, strict),
      'invalid_dpop_proof',
    );
    const less = await refresh(client, tokens.refresh_token, null, { scope: 'notes:read' }, strict);
    expect((await tokensOf(less)).token_type).toBe('Bearer');
  });

  // @shows AS-24.6, RFC9449-5.2
  test('by a client that registers itself and requests it', async () => {
    const registered = await registerItself(portal, { dpop_bound_access_tokens: true });
    expect(registered['dpop_bound_access_tokens']).toBe(true);
    const client = { id: String(registered['client_id']), secret: '' };
    await expectRefused(
      await exchange(client, await codeOf(client, { scope: 'notes:read' }), null),
      'invalid_dpop_proof',
    );
    expect(await registerItself(portal, { dpop_bound_access_tokens: 'yes' })).toMatchObject({
      error: 'invalid_client_metadata',
    });
    expect(await registerItself(portal, {})).not.toHaveProperty('dpop_bound_access_tokens');
  });

  // @shows AS-22.11
  test('except by a client that registers itself with an empty value for it', async () => {
    for (const empty of [null, '', []]) {
      const registered = await registerItself(portal, { dpop_bound_access_tokens: empty });
      expect(registered['client_id']).toMatch(/^[0-9a-f]{32}$/);
      expect(registered).not.toHaveProperty('dpop_bound_access_tokens');
    }
  });
});

describe('a DPoP nonce', () => {
  let strict: RunningPortal;
  beforeAll(async () => {
    strict = await startBeside(portal, { dpop: 'accept', dpop_nonces: true });
  });
  const nonceOf = ({ headers }: Response) => headers.get('dpop-nonce') ?? '';
  const withNonce = (key: ClientKey, nonce: string) => proof(key, { nonce });

  // @shows AS-24.7, RFC9449-8
  test('is sent to a client without one, required in each proof, and valid for some minutes', async () => {
    const key = newDpopKey();
    const refused = await forService(proof(key), strict);
    const nonce = nonceOf(refused);
    expect(nonce).toMatch(/^[\w.-]{20,255}$/);
    expect(refused.headers.get('access-control-expose-headers')).toMatch(/, DPoP-Nonce$/);
    await expectRefused(refused, 'use_dpop_nonce');
    const answered = await forService(withNonce(key, nonce), strict);
    expect(nonceOf(answered)).toBe(nonce);
    await tokensOf(answered);
    clock.advance(100);
    const later = await forService(withNonce(key, nonce), strict);
    expect(nonceOf(later)).not.toBe(nonce);
    await tokensOf(later);
    clock.advance(80);
    await expectRefused(await forService(withNonce(key, nonce), strict), 'use_dpop_nonce');
    await tokensOf(await forService(withNonce(key, nonceOf(later)), strict));
  });

  // @shows AS-24.7
  test('that is invented, changed, or sealed for a different purpose is invalid', async () => {
    const key = newDpopKey();
    const nonce = nonceOf(await forService(proof(key), strict));
    const sealed = await portal.server.sealing.seal('dpop nonce', String(clock.now()));
    for (const wrong of ['x', nonce.slice(0, -1), `${nonce}A`, `9${nonce}`, sealed]) {
      await expectRefused(await forService(withNonce(key, wrong), strict), 'use_dpop_nonce');
    }
  });

  // @shows AS-24.7
  test('of one process is valid in a different process', async () => {
    const key = newDpopKey();
    const nonce = nonceOf(await forService(proof(key), strict));
    const other = await startBeside(portal, { dpop: 'accept', dpop_nonces: true });
    await tokensOf(await forService(withNonce(key, nonce), other));
  });

  // @shows AS-24.7
  test('is required before client authentication: assertion, code and refresh token stay valid', async () => {
    const [key, own] = [newDpopKey(), newKey('ES256')];
    const { client } = await portal.server.clients.create({
      name: 'An application with keys',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read'],
      jwks: { keys: [own.jwk] },
    });
    const keyed = { id: client.id, secret: '' };
    const assertion = () =>
      withAssertion(
        signed(own, headerOf(own), claimsOf(client.id, portal.server.issuer, clock.now())),
      );
    const code = await codeOf(keyed, { scope: 'notes:read' });
    const twice = async (ask: (sent: string) => Promise<Response>) => {
      const refused = await ask(proof(key));
      await expectRefused(refused, 'use_dpop_nonce');
      return tokensOf(await ask(withNonce(key, nonceOf(refused))));
    };
    const first = assertion();
    const tokens = await twice((sent) => exchange(keyed, code, sent, first, strict));
    const second = assertion();
    await twice((sent) => refresh(keyed, tokens.refresh_token, sent, second, strict));
  });
});
