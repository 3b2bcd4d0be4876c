import { examine, type Check } from 'portico';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  claimsOf,
  headerOf,
  newKey,
  signed,
  withAssertion,
  type ClientKey,
} from './support/assertions.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  errorOf,
  obtainCode,
  REDIRECT_URI,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';

/** The sources of clients' keys: published keys, documents, and registrations. */

const SCOPES = { 'mcp:service': { label: 'Discover', permission: 'notes:read' } };
const clock = createClock();
let host: DocumentHost;
let portal: RunningPortal;

const config = (registration: string) => ({
  oauth_server: {
    private_key_jwt: true,
    client_id_metadata_documents: { denied_hosts: ['vendor.example'] },
    registration,
    scopes: SCOPES,
  },
});

beforeAll(async () => {
  host = await startDocumentHost();
  portal = await startPortal({ clock: clock.now, outbound: host.outbound, config: config('open') });
});
// Time passes, because the limits of a minute must not apply to the next test. Tests that fetch
// documents start with this, so that a tool that runs tests again, such as `npm run mutation`, has
// no effect.
afterEach(() => clock.advance(901));
afterAll(async () => {
  await portal.close();
  await host.close();
});

let numbers = 0;
const newPath = (what: string) => `/oauth/${what}-${(numbers += 1)}.json`;
const keySet = (...keys: readonly ClientKey[]) => ({ keys: keys.map(({ jwk }) => jwk) });
const publishKeys = (path: string, ...keys: readonly ClientKey[]) =>
  host.publish(path, keySet(...keys));
const asked = (path: string) => host.asked.filter((each) => each === path).length;

const assertionOf = (id: string, key: ClientKey, changes: object = {}, at = portal) =>
  signed(key, headerOf(key), { ...claimsOf(id, at.server.issuer, clock.now()), ...changes });

const authenticate = (id: string, key: ClientKey, changes: object = {}) =>
  requestToken(portal, null, {
    grant_type: 'client_credentials',
    ...withAssertion(assertionOf(id, key, changes)),
  });

async function serviceAt(jwksUri: string): Promise<string> {
  const { client } = await portal.server.clients.create({
    name: 'A service',
    scopes: ['notes:read'],
    grants: ['client_credentials'],
    jwksUri,
  });
  return client.id;
}

describe('the keys that a client publishes at a URL', () => {
  // @shows AS-23.7, OIDC-10.1.1b
  test('are fetched once for many requests, and again after the client has changed them', async () => {
    const path = newPath('keys');
    const [old, next] = [newKey('ES256'), newKey('PS256')];
    const id = await serviceAt(publishKeys(path, old));
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async () => (await authenticate(id, old)).status),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect(asked(path)).toBe(1);
    publishKeys(path, next);
    expect((await authenticate(id, next)).status).toBe(200);
    expect((await authenticate(id, old)).status).toBe(401);
    expect(asked(path)).toBe(2);
    const last = newKey('ES256');
    publishKeys(path, last);
    // Wait a minute: otherwise every wrong signature would cause a fetch.
    expect((await authenticate(id, last)).status).toBe(401);
    expect((await authenticate(id, next)).status).toBe(200);
    clock.advance(61);
    expect((await authenticate(id, last)).status).toBe(200);
    expect((await authenticate(id, next)).status).toBe(401);
    expect(asked(path)).toBe(3);
  });

  // @shows AS-23.7
  test('are used for at most an hour, regardless of cache headers, and never if the host is down', async () => {
    const path = newPath('keys');
    const key = newKey('ES256');
    const id = await serviceAt(
      host.publish(path, keySet(key), { 'Cache-Control': 'max-age=86400' }),
    );
    expect((await authenticate(id, key)).status).toBe(200);
    host.answer(path, (_, response) => void response.writeHead(500).end());
    clock.advance(3599);
    expect((await authenticate(id, key)).status).toBe(200);
    expect(asked(path)).toBe(1);
    clock.advance(2);
    const response = await authenticate(id, key);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('10');
    expect(await errorOf(response)).toBe('temporarily_unavailable');
    // The server does not request the keys again immediately. After that, the keys are available
    // again.
    publishKeys(path, key);
    expect((await authenticate(id, key)).status).toBe(503);
    expect(asked(path)).toBe(2);
    clock.advance(11);
    expect((await authenticate(id, key)).status).toBe(200);
  });

  // @shows AS-23.7
  test('are not fetched for an assertion with any error other than its signature', async () => {
    const path = newPath('keys');
    const key = newKey('ES256');
    const id = await serviceAt(publishKeys(path, key));
    for (const changes of [
      { aud: 'https://evil.example' },
      { exp: 1 },
      { jti: undefined },
      { iss: 'another' },
      { sub: 'unknown' },
    ]) {
      expect((await authenticate(id, key, changes)).status).toBe(401);
    }
    const form = { grant_type: 'client_credentials', client_id: id };
    await requestToken(portal, null, form);
    await requestToken(portal, { id, secret: 'a' }, { grant_type: 'client_credentials' });
    expect(asked(path)).toBe(0);
  });

  // @shows AS-23.7
  test('are fetched again at most once a minute for assertions signed with other keys', async () => {
    const path = newPath('keys');
    const key = newKey('ES256');
    const id = await serviceAt(publishKeys(path, key));
    expect((await authenticate(id, key)).status).toBe(200);
    for (let times = 0; times < 20; times += 1) {
      expect([401, 429]).toContain((await authenticate(id, newKey('ES256'))).status);
    }
    expect(asked(path)).toBe(2);
    expect((await authenticate(id, key)).status).toBe(200);
  });

  // @shows AS-23.7
  test.each<[what: string, keys: object | string]>([
    ['an invalid key set', { keys: 'none' }],
    ['a page that is not JSON', '<html>'],
    [
      'no key that can verify signatures',
      {
        keys: [
          { kty: 'oct', k: 'AAAA' },
          { kty: 'RSA', n: 'AQAB', e: 'AQAB' },
        ],
      },
    ],
    ['fifty-one keys', { keys: Array.from({ length: 51 }, () => newKey('Ed25519').jwk) }],
    ['a megabyte', { keys: [], more: 'a'.repeat(1024 * 1024) }],
    ['more than 64 KB', { ...keySet(newKey('ES256')), more: 'a'.repeat(64 * 1024) }],
    ['the private key as well', { keys: [{ ...newKey('ES256').jwk, d: 'AAAA' }] }],
  ])('cause a 503 if the URL returns %s', async (_, keys) => {
    const path = newPath('keys');
    const url = host.answer(
      path,
      (__, response) =>
        void response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end(typeof keys === 'string' ? keys : JSON.stringify(keys)),
    );
    expect((await authenticate(await serviceAt(url), newKey('ES256'))).status).toBe(503);
  });

  // @shows AS-23.7
  test('are limited to ten tries, with the right algorithm, for an assertion without kid', async () => {
    const [key, other] = [newKey('Ed25519'), newKey('ES256')];
    const unnamed = (each: ClientKey) => {
      const { kid: _, ...jwk } = each.jwk;
      return jwk;
    };
    const of = (count: number, each: ClientKey) =>
      Array.from({ length: count }, () => unnamed(each));
    const ask = async (keys: readonly object[], header: object) => {
      const id = await serviceAt(host.publish(newPath('keys'), { keys }));
      const assertion = signed(
        key,
        { alg: 'Ed25519', ...header },
        claimsOf(id, portal.server.issuer, clock.now()),
      );
      return (
        await requestToken(portal, null, {
          grant_type: 'client_credentials',
          ...withAssertion(assertion),
        })
      ).status;
    };
    const strangers = of(9, newKey('Ed25519'));
    expect(await ask([...strangers, unnamed(key)], {})).toBe(200);
    expect(await ask([...strangers, ...of(1, newKey('Ed25519')), unnamed(key)], {})).toBe(401);
    expect(await ask([...strangers, ...of(10, other), unnamed(key)], {})).toBe(200);
    expect(await ask([...strangers, ...strangers, key.jwk], { kid: key.kid })).toBe(200);
    expect(await ask([unnamed(key)], { kid: key.kid })).toBe(401);
  });

  // @shows AS-23.7, RFC7517-4
  test('can be listed with unsupported keys, which are ignored', async () => {
    const key = newKey('RS256');
    const url = host.publish(newPath('keys'), {
      keys: [
        { kty: 'EC', crv: 'P-521', x: 'AA', y: 'AA' },
        null,
        { ...key.jwk, use: 'enc' },
        { ...key.jwk, kid: 'b' },
      ],
    });
    const id = await serviceAt(url);
    expect((await authenticate(id, key)).status).toBe(401);
    expect((await authenticate(id, { ...key, kid: 'b' })).status).toBe(200);
  });
});

describe('a client metadata document', () => {
  const DOCUMENT = {
    client_name: 'Assistant',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'private_key_jwt',
  };

  async function exchange(
    url: string,
    authentication: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const code = await obtainCode(portal, { id: url, secret: '' }, await portal.signedIn(ADA), {
      scope: 'notes:read',
    });
    return requestToken(portal, null, {
      client_id: url,
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
      ...authentication,
    });
  }

  // @shows AS-23.8, AS-21.6
  test.each(['jwks', 'jwks_uri'])(
    'can list its keys in %s, and the client can then authenticate only with these keys',
    async (where) => {
      clock.advance(901);
      const key = newKey('ES256');
      const keysUrl = publishKeys(newPath('keys'), key);
      const url = host.publish(newPath('client'), {
        ...DOCUMENT,
        // Even though the client would not need it.
        token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
        [where]: where === 'jwks' ? keySet(key) : keysUrl,
      });
      expect((await exchange(url, {})).status).toBe(401);
      const answer = await exchange(url, withAssertion(assertionOf(url, key)));
      expect(answer.status).toBe(200);
      const { refresh_token } = (await answer.json()) as Tokens;
      const form = { client_id: url, grant_type: 'refresh_token', refresh_token };
      expect((await requestToken(portal, null, form)).status).toBe(401);
      expect(
        (await requestToken(portal, null, { ...form, ...withAssertion(assertionOf(url, key)) }))
          .status,
      ).toBe(200);
      const client = await portal.server.clients.find(url);
      expect(client).toMatchObject({
        public: false,
        grants: ['authorization_code', 'refresh_token'],
      });
      expect((await authenticate(url, key)).status).toBe(400);
    },
  );

  /** A document with this key, and the tokens of its client. */
  async function authorized(key: ClientKey, headers: Readonly<Record<string, string>> = {}) {
    clock.advance(901);
    const path = newPath('client');
    const url = host.publish(path, { ...DOCUMENT, jwks: keySet(key) }, headers);
    const answer = await exchange(url, withAssertion(assertionOf(url, key)));
    expect(answer.status).toBe(200);
    let { refresh_token: token } = (await answer.json()) as Tokens;
    const refreshWith = async (by: ClientKey, at = portal) => {
      const form = { client_id: url, grant_type: 'refresh_token', refresh_token: token };
      const response = await requestToken(at, null, {
        ...form,
        ...withAssertion(assertionOf(url, by, {}, at)),
      });
      if (response.status === 200)
        ({ refresh_token: token } = (await response.clone().json()) as Tokens);
      return response;
    };
    const change = (changes: object) =>
      void host.publish(path, { ...DOCUMENT, ...changes }, headers);
    return {
      path,
      url,
      change,
      refreshWith,
      status: async (by: ClientKey, at = portal) => (await refreshWith(by, at)).status,
    };
  }

  // @shows AS-23.11
  test('is read again for unknown keys: new keys work, removed keys fail, other fields stay cached', async () => {
    const [old, next] = [newKey('ES256'), newKey('PS256')];
    const { url, change, status } = await authorized(old);
    expect(await status(old)).toBe(200);
    const before = await portal.server.clients.find(url);
    clock.advance(61);
    change({
      client_name: 'Another name',
      redirect_uris: ['https://elsewhere.example/cb'],
      grant_types: ['authorization_code'],
      scope: 'openid',
      token_endpoint_auth_signing_alg: 'PS256',
      jwks: keySet(next),
    });
    expect([await status(next), await status(old), await status(next)]).toEqual([200, 401, 200]);
    expect(await portal.server.clients.find(url)).toEqual(before);
    // The server rejects a key with another algorithm than the document now names.
    clock.advance(61);
    change({ token_endpoint_auth_signing_alg: 'ES256', jwks: keySet(old, next) });
    expect([await status(old), await status(next)]).toEqual([200, 401]);
  });

  // @shows AS-23.11
  test('is read again for its keys after an hour, regardless of cache headers; never used stale', async () => {
    const [old, next] = [newKey('ES256'), newKey('ES256')];
    const { path, change, refreshWith, status } = await authorized(old, {
      'Cache-Control': 'max-age=86400',
    });
    change({ jwks: keySet(next) });
    clock.advance(3599);
    expect(await status(old)).toBe(200);
    clock.advance(2);
    expect([await status(old), await status(next)]).toEqual([401, 200]);
    const fetched = asked(path);
    for (const [at, answer] of [
      [3599, () => host.answer(path, (_, response) => void response.writeHead(404).end())],
      [3601, () => change({ token_endpoint_auth_method: 'none' })],
    ] as const) {
      answer();
      clock.advance(at);
      // A key that was just fetched works for the rest of its hour.
      expect(await status(next)).toBe(at < 3600 ? 200 : 503);
      clock.advance(11);
      const gone = await refreshWith(next);
      expect([gone.status, gone.headers.get('retry-after'), await errorOf(gone)]).toEqual([
        503,
        '10',
        'temporarily_unavailable',
      ]);
      expect(await status(next)).toBe(503);
      change({ jwks: keySet(next) });
      clock.advance(11);
      expect(await status(next)).toBe(200);
    }
    expect(asked(path)).toBe(fetched + 5);
  });

  // @shows AS-23.11
  test('is fetched at most once a minute for assertions signed with other keys, with any kid', async () => {
    const key = newKey('ES256');
    const { path, status } = await authorized(key);
    const before = asked(path);
    clock.advance(61);
    for (let times = 0; times < 20; times += 1) expect(await status(newKey('ES256'))).toBe(401);
    expect(asked(path)).toBe(before + 1);
    expect(await status(key)).toBe(200);
  });

  // @shows AS-23.11
  test('can move its keys to a jwks_uri, and other processes then use these keys too', async () => {
    const [old, next, last] = [newKey('ES256'), newKey('ES256'), newKey('ES256')];
    const { change, status } = await authorized(old);
    const beside = await startPortal({
      clock: clock.now,
      outbound: host.outbound,
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: config('open'),
    });
    try {
      const at = (key: ClientKey) => status(key, beside);
      clock.advance(61);
      change({ jwks: keySet(next) });
      expect([await at(old), await at(next), await status(next), await status(old)]).toEqual([
        401, 200, 200, 401,
      ]);
      clock.advance(61);
      change({ jwks_uri: publishKeys(newPath('keys'), last) });
      expect([await status(last), await status(next), await status(last)]).toEqual([200, 401, 200]);
      clock.advance(61);
      change({ jwks_uri: 'https://vendor.example/keys.json' });
      expect([await status(next), await status(last)]).toEqual([401, 200]);
      clock.advance(3601);
      expect(await status(last)).toBe(503);
    } finally {
      await beside.close();
    }
  });

  // @shows AS-23.1, AS-23.8
  test('that also lists the method "none" is a public client while private_key_jwt is off', async () => {
    clock.advance(901);
    const key = newKey('ES256');
    const url = host.publish(newPath('client'), {
      ...DOCUMENT,
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      jwks: keySet(key),
    });
    expect((await exchange(url, withAssertion(assertionOf(url, key)))).status).toBe(200);
    const { private_key_jwt: _, ...without } = config('open').oauth_server;
    const off = await startPortal({
      clock: clock.now,
      outbound: host.outbound,
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: { oauth_server: without },
    });
    try {
      const redirecting = { scope: 'notes:read' };
      const code = await obtainCode(
        off,
        { id: url, secret: '' },
        await off.signedIn(ADA),
        redirecting,
      );
      const answer = await requestToken(off, null, {
        client_id: url,
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      });
      expect(answer.status).toBe(200);
    } finally {
      await off.close();
    }
  });

  /** Inserts rows like this client's, with other ids and other key URLs. */
  async function copies(url: string, keysAt: readonly string[]): Promise<readonly string[]> {
    const { database } = portal.application;
    const { rows } = await database.execute<Readonly<Record<string, string | number | null>>>(
      'SELECT * FROM oauth_clients WHERE client_id = ?',
      [url],
    );
    return Promise.all(
      keysAt.map(async (jwks_uri) => {
        const row = { ...rows[0], client_id: host.url(newPath('copy')), jwks_uri };
        const columns = Object.keys(row);
        await database.execute(
          `INSERT INTO oauth_clients (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
          Object.values(row),
        );
        return row.client_id;
      }),
    );
  }

  // @shows AS-23.7
  test('cannot block the key fetches of an operator-registered client, even with the same jwks_uri', async () => {
    clock.advance(901);
    const [key, own] = [newKey('ES256'), newKey('ES256')];
    const url = host.publish(newPath('client'), {
      ...DOCUMENT,
      jwks_uri: publishKeys(newPath('keys'), own),
    });
    expect((await exchange(url, withAssertion(assertionOf(url, own)))).status).toBe(200);
    const keysUrl = publishKeys(newPath('keys'), key);
    const nowhere = Array.from({ length: 60 }, () => host.url(newPath('nowhere')));
    const strangers = await copies(url, [...nowhere, keysUrl]);
    for (const stranger of strangers) expect((await authenticate(stranger, own)).status).toBe(503);
    expect(asked(new URL(keysUrl).pathname)).toBe(0);
    expect((await authenticate(await serviceAt(keysUrl), key)).status).toBe(200);
  });

  // @shows AS-23.7
  test('cannot fill the memory with keys: least recently used documents are dropped first', async () => {
    clock.advance(901);
    const key = newKey('Ed25519');
    const fifty = Array.from({ length: 50 }, () => key);
    const paths = Array.from({ length: 45 }, () => newPath('fifty'));
    const url = host.publish(newPath('client'), {
      ...DOCUMENT,
      jwks_uri: publishKeys(newPath('keys'), key),
    });
    expect((await exchange(url, withAssertion(assertionOf(url, key)))).status).toBe(200);
    const strangers = await copies(
      url,
      paths.map((each) => publishKeys(each, ...fifty)),
    );
    const vouchedFor = newPath('vouched-for');
    const service = await serviceAt(publishKeys(vouchedFor, key));
    // The status 400 means that the client is authenticated, but may not act without a person.
    const ask = async (id: string) =>
      expect([200, 400]).toContain((await authenticate(id, key)).status);
    await ask(service);
    for (const stranger of strangers) await ask(stranger);
    await ask(service);
    await ask(strangers.at(-1) ?? '');
    await ask(strangers[0] ?? '');
    expect([vouchedFor, paths.at(-1) ?? '', paths[0] ?? ''].map(asked)).toEqual([1, 1, 2]);
  });

  // @shows AS-23.8
  test.each<[what: string, says: string, changes: object]>([
    ['a key that is too weak', '1024 bits', { jwks: keySet(newKey('RS256', 'a', 1024)) }],
    ['keys on a host that is denied', 'denied_hosts', { jwks_uri: 'https://vendor.example/keys' }],
    ['keys without TLS', 'not https', { jwks_uri: 'http://client.example/keys' }],
    [
      'an unsupported algorithm',
      'RS256',
      { jwks: keySet(newKey('RS256')), token_endpoint_auth_signing_alg: 'HS256' },
    ],
    ['no keys', 'neither', {}],
  ])('with %s is refused', async (_, says, changes) => {
    clock.advance(901);
    const url = host.publish(newPath('client'), { ...DOCUMENT, ...changes });
    const ada = await portal.signedIn(ADA);
    const parameters = new URLSearchParams({
      client_id: url,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'notes:read',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const page = await ada.get(`/oauth/authorize?${parameters}`);
    expect(page.status).toBe(400);
    expect(await page.text()).toContain(says);
  });
});

interface Registration {
  readonly client_id: string;
  readonly registration_access_token: string;
  readonly registration_client_uri: string;
  readonly [name: string]: unknown;
}

describe('dynamic client registration with keys', () => {
  const post = (metadata: object, token?: string) =>
    fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ token_endpoint_auth_method: 'private_key_jwt', ...metadata }),
    });
  const replace = (
    { client_id, registration_client_uri: uri, registration_access_token: token }: Registration,
    metadata: object,
  ) =>
    fetch(uri, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        token_endpoint_auth_method: 'private_key_jwt',
        client_id,
        ...metadata,
      }),
    });
  const forPeople = {
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
  };

  // @shows AS-23.8, AS-22.8
  test('without an initial access token: acts only for people, and can update only the keys', async () => {
    const [key, next] = [newKey('ES256'), newKey('ES256')];
    const both = { ...forPeople, grant_types: [...forPeople.grant_types, 'client_credentials'] };
    const answer = await post({ ...both, jwks: keySet(key), scope: 'notes:read mcp:service' });
    expect(answer.status).toBe(201);
    const registration = (await answer.json()) as Registration;
    expect(registration).toMatchObject({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...key.jwk, use: 'sig' }] },
      grant_types: forPeople.grant_types,
    });
    expect(registration).not.toHaveProperty('client_secret');
    expect(registration['scope']).not.toContain('mcp:service');
    const id = registration.client_id;
    expect(await errorOf(await authenticate(id, key))).toBe('unauthorized_client');

    const replaced = await replace(registration, {
      ...both,
      jwks: keySet(next),
      scope: 'mcp:service notes:read',
    });
    expect(replaced.status).toBe(200);
    expect(await replaced.json()).toMatchObject({ grant_types: forPeople.grant_types });
    expect(await errorOf(await authenticate(id, key))).toBe('invalid_client');
    expect(await errorOf(await authenticate(id, next))).toBe('unauthorized_client');
    expect((await portal.server.clients.find(id))?.scopes).not.toContain('mcp:service');
    for (const token_endpoint_auth_method of ['none', 'client_secret_basic']) {
      expect((await replace(registration, { ...both, token_endpoint_auth_method })).status).toBe(
        400,
      );
    }
    const uri = { ...both, jwks_uri: host.url('/keys') };
    expect(await errorOf(await replace(registration, uri))).toBe('invalid_client_metadata');
  });

  // @shows AS-23.8
  test.each<[what: string, metadata: object]>([
    ['keys at a URL', { jwks_uri: 'https://client.example/keys' }],
    ['no keys', {}],
    ['a private key', { jwks: { keys: [{ ...newKey('ES256').jwk, d: 'AAAA' }] } }],
    ['a secret as its key', { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }],
    ['a text in place of a key set', { jwks: 'keys' }],
    ['a number in place of the URL', { jwks_uri: 1 }],
    [
      'an algorithm that uses a secret',
      { jwks: keySet(newKey('ES256')), token_endpoint_auth_signing_alg: 'HS256' },
    ],
    ['too many keys', { jwks: keySet(...Array.from({ length: 11 }, () => newKey('Ed25519'))) }],
    [
      'a different method',
      { jwks: keySet(newKey('ES256')), token_endpoint_auth_method: 'client_secret_jwt' },
    ],
  ])('without an initial access token and with %s: is refused', async (_, metadata) => {
    const response = await post({ ...forPeople, ...metadata });
    expect(response.status).toBe(400);
    const body = (await response.json()) as { error: string; error_description: string };
    expect(body.error).toBe('invalid_client_metadata');
    expect(body.error_description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
  });

  // @shows AS-22.8
  test('with an initial access token: gets the scopes that it requested, also in an update', async () => {
    const { token } = await portal.server.initialAccessTokens.create({
      note: 'b',
      uses: 1,
      lifetime: 3600,
    });
    const metadata = { ...forPeople, jwks: keySet(newKey('ES256')), scope: 'notes:read' };
    const registration = (await (await post(metadata, token)).json()) as Registration;
    expect(registration['scope']).toBe('notes:read');
    const renamed = await replace(registration, { ...metadata, client_name: 'Renamed' });
    expect(await renamed.json()).toMatchObject({ client_name: 'Renamed', scope: 'notes:read' });
    const more = await replace(registration, { ...metadata, scope: 'notes:read profile' });
    expect(
      String(((await more.json()) as Registration)['scope'])
        .split(' ')
        .sort(),
    ).toEqual(['notes:read', 'profile']);
  });

  // @shows AS-23.8
  test('with an initial access token: can use client credentials and publish its keys', async () => {
    const { token } = await portal.server.initialAccessTokens.create({
      note: 'a',
      uses: 1,
      lifetime: 3600,
    });
    const key = newKey('ES256');
    const jwks_uri = publishKeys(newPath('keys'), key);
    const answer = await post(
      { grant_types: ['client_credentials'], scope: 'notes:read', jwks_uri },
      token,
    );
    expect(answer.status).toBe(201);
    const registration = (await answer.json()) as Registration;
    expect(registration).toMatchObject({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
    expect((await authenticate(registration.client_id, key)).status).toBe(200);
    const again = await replace(registration, {
      grant_types: ['client_credentials'],
      scope: 'notes:read',
      jwks_uri,
    });
    expect(again.status).toBe(200);
  });
});

describe('the doctor', () => {
  const CONFIG = { oauth_server: { private_key_jwt: true } };
  const service = { name: 'A service', scopes: ['notes:read'], grants: ['client_credentials'] };

  async function examined(
    at: RunningPortal,
    online = false,
  ): Promise<Readonly<Record<string, Check>>> {
    const { checks } = await examine(at.application, at.server, { online });
    return Object.fromEntries(checks.map((check) => [check.part, check]));
  }

  // @shows AS-23.9
  test('lists clients with keys, problems of their keys, and the setting that they need', async () => {
    const own = await startPortal({ outbound: host.outbound, config: CONFIG });
    try {
      expect(await examined(own, true)).not.toHaveProperty('client keys');
      await own.server.clients.create({ ...service, jwks: keySet(newKey('ES256')) });
      expect((await examined(own))['client keys']).toMatchObject({
        outcome: 'ok',
        detail: 'clients that authenticate with private_key_jwt: 1',
      });
      expect(await examined(own, true)).not.toHaveProperty('published client keys');
      const paths = ['right', 'weak', 'private', 'empty', 'none', 'away'].map(newPath);
      const [right = '', weak = '', shown = '', empty = '', none = '', away = ''] = paths;
      publishKeys(right, newKey('EdDSA'));
      publishKeys(weak, newKey('RS256', 'a', 1024), newKey('ES256'));
      const key = newKey('ES256');
      host.publish(shown, { keys: [key.jwk, { ...key.jwk, d: 'AAAA' }] });
      host.publish(empty, { keys: [] });
      host.publish(none, { key: 'none' });
      const create = (at: string) =>
        own.server.clients.create({ ...service, jwksUri: host.url(at) });
      const published = await create(right);
      expect((await examined(own, true))['published client keys']).toMatchObject({
        outcome: 'ok',
        detail: 'clients whose keys were fetched: 1',
      });
      const wrong = await Promise.all([weak, shown, empty, none, away].map(create));
      const before = host.asked.length;
      expect((await examined(own))['client keys']).toMatchObject({
        outcome: 'ok',
        detail:
          'clients that authenticate with private_key_jwt: 7; 6 of them publish their keys ' +
          '(to check these keys, add --online)',
      });
      expect(host.asked.length).toBe(before);
      const { outcome, detail = '' } = (await examined(own, true))['published client keys'] ?? {};
      expect(outcome).toBe('warning');
      const says = [
        '1024 bits',
        'private',
        'none of them',
        'not a set',
        'the response status is 404',
      ];
      for (const [index, { client }] of wrong.entries()) {
        expect(detail).toMatch(new RegExp(`of ${client.id}: [^.]*${says[index]}`));
      }
      expect(detail).not.toContain(published.client.id);

      const off = await startPortal({ databaseUrl: own.env['DATABASE_URL'] ?? '' });
      try {
        expect((await examined(off))['client keys']).toMatchObject({
          outcome: 'failing',
          detail: expect.stringContaining(published.client.id) as string,
        });
        expect(await examined(off, true)).not.toHaveProperty('published client keys');
      } finally {
        await off.close();
      }
      for (const { id } of await own.server.clients.list()) await own.server.clients.revoke(id);
      expect(await examined(own, true)).not.toHaveProperty('client keys');
      // Keys that an earlier release of Portico accepted.
      const { client: kept } = await own.server.clients.create({
        ...service,
        jwks: keySet(newKey('ES256')),
      });
      await own.application.database.execute(
        'UPDATE oauth_clients SET jwks = ? WHERE client_id = ?',
        [JSON.stringify(keySet(newKey('RS256', 'a', 1024))), kept.id],
      );
      expect((await examined(own))['client keys']).toMatchObject({
        outcome: 'warning',
        detail: expect.stringContaining(`of ${kept.id}: `) as string,
      });
    } finally {
      await own.close();
    }
  });
});
