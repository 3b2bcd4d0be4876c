import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { HOST_REGISTRATIONS } from './support/mcp/known-hosts.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  obtainCode,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

/** Clients that register themselves (RFC 7591), and manage their registration (RFC 7592). */

const LOOPBACK = 'http://127.0.0.1:33418/callback';
const CODE_GRANTS = ['authorization_code', 'refresh_token'];
const DAY = 86_400;

interface Registration {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly registration_access_token: string;
  readonly registration_client_uri: string;
  readonly [name: string]: unknown;
}

let portal: RunningPortal;
let clock: ReturnType<typeof createClock>;

async function start(config: Readonly<Record<string, unknown>>): Promise<void> {
  clock = createClock();
  portal = await startPortal({ clock: clock.now, config: { oauth_server: config } });
}

/** More time passes than the server keeps an unused client that registered itself. */
async function forgetAll(): Promise<void> {
  clock.advance(92 * DAY);
  await portal.server.prune();
}

const registered = async () =>
  (await portal.server.clients.list()).filter(
    ({ registeredBy }) => registeredBy === 'registration',
  );

const SCOPES = { 'mcp:service': { label: 'Discover', permission: 'notes:read' } };

function post(metadata: unknown, token?: string): Promise<Response> {
  return fetch(`${portal.url}/oauth/register`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(metadata),
  });
}

async function register(metadata: object = {}, token?: string): Promise<Registration> {
  const response = await post(
    { redirect_uris: [LOOPBACK], grant_types: CODE_GRANTS, ...metadata },
    token,
  );
  expect(response.status).toBe(201);
  return (await response.json()) as Registration;
}

function manage(
  method: string,
  { registration_client_uri: uri, registration_access_token: token }: Registration,
  metadata?: object,
): Promise<Response> {
  return fetch(uri, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: metadata === undefined || method === 'GET' ? null : JSON.stringify(metadata),
  });
}

async function expectRefused(response: Response, status: number, error: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const body = (await response.json()) as { error: string; error_description: string };
  expect(body.error).toBe(error);
  expect(body.error_description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
}

/** Signs in as Ada, allows the client, and exchanges the code. */
async function connect(
  { client_id: id }: Registration,
  redirectUri = 'http://127.0.0.1:50123/callback',
): Promise<{ access_token: string; refresh_token: string; scope: string }> {
  const visitor = await portal.signedIn(ADA);
  const changes = { redirect_uri: redirectUri, scope: 'notes:read' };
  const code = await obtainCode(portal, { id, secret: '' }, visitor, changes);
  const response = await requestToken(portal, null, {
    client_id: id,
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: VERIFIER,
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { access_token: string; refresh_token: string; scope: string };
}

const refreshOf = ({ client_id: id }: Registration, token: string) =>
  requestToken(portal, null, { client_id: id, grant_type: 'refresh_token', refresh_token: token });

const notes = (token: string) =>
  fetch(`${portal.url}/api/notes`, { headers: { Authorization: `Bearer ${token}` } });

describe('without oauth_server:registration', () => {
  beforeAll(() => start({}));
  afterAll(() => portal.close());

  // @shows AS-22.1
  test('there is no registration endpoint, and the metadata omits it', async () => {
    expect((await post({ redirect_uris: [LOOPBACK] })).status).toBe(404);
    const metadata = await fetch(`${portal.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).not.toHaveProperty('registration_endpoint');
    expect(portal.server.endpoints.map(({ path }) => path)).not.toContain('/oauth/register');
  });
});

describe('with oauth_server:registrations_per_hour', () => {
  beforeAll(() => start({ registration: 'open', registrations_per_hour: 2 }));
  afterAll(() => portal.close());

  // @shows AS-22.13
  test('each network can register that many clients, and replace that many', async () => {
    const first = await register();
    await register();
    clock.advance(1000);
    const refused = await post({ redirect_uris: [LOOPBACK] });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2600']);
    expect(await refused.json()).toMatchObject({
      error_description: 'Too many clients have registered from this network; try again in 2600 s.',
    });
    const { client_id, redirect_uris } = first;
    const replace = async () => (await manage('PUT', first, { client_id, redirect_uris })).status;
    expect([await replace(), await replace(), await replace()]).toEqual([200, 200, 429]);
    clock.advance(2601);
    expect((await post({ redirect_uris: [LOOPBACK] })).status).toBe(201);
  });
});

describe('open registration', () => {
  beforeAll(() => start({ registration: 'open', scopes: SCOPES }));
  beforeEach(forgetAll);
  afterAll(() => portal.close());

  // @shows AS-22.1, AS-22.2, RFC7591-3.2.1
  test('registers a public client, which a person can allow, and returns all its metadata', async () => {
    const metadata = await fetch(`${portal.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      registration_endpoint: `${portal.url}/oauth/register`,
    });
    const response = await post({
      redirect_uris: [LOOPBACK, 'https://assistant.example/callback'],
      client_name: 'An assistant',
      token_endpoint_auth_method: 'none',
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code'],
      application_type: 'native',
      client_uri: 'https://assistant.example/',
      logo_uri: 'https://assistant.example/logo.png',
      software_id: 'assistant',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const client = (await response.json()) as Registration;
    expect(client).toEqual({
      client_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      client_id_issued_at: Math.floor(clock.now() / 1000),
      registration_access_token: expect.stringMatching(/^[\w-]{43}$/),
      registration_client_uri: `${portal.url}/oauth/register?client_id=${client.client_id}`,
      client_name: 'An assistant',
      application_type: 'native',
      redirect_uris: [LOOPBACK, 'https://assistant.example/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'openid profile email notes:read notes:write',
      id_token_signed_response_alg: 'RS256',
    });
    const tokens = await connect(client);
    expect((await notes(tokens.access_token)).status).toBe(200);
    expect((await refreshOf(client, tokens.refresh_token)).status).toBe(200);
  });

  // @shows AS-22.3
  test.each([
    [
      'with a loopback redirect URI, which works on any port',
      [LOOPBACK],
      undefined,
      'native',
      [LOOPBACK],
    ],
    ['with localhost', ['http://localhost:3118/callback'], undefined, 'native', undefined],
    ['with a private-use scheme', ['com.example.app:/callback'], undefined, 'native', undefined],
    ['with https', ['https://assistant.example/callback'], undefined, 'web', undefined],
    ['with application_type web', [LOOPBACK], 'web', 'web', undefined],
    [
      'with application_type native',
      ['https://assistant.example/callback'],
      'native',
      'native',
      undefined,
    ],
    [
      'and omits a private-use scheme without a dot',
      [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/cb',
        'http://localhost:8787/cb',
      ],
      undefined,
      'native',
      ['https://www.cursor.com/cb', 'http://localhost:8787/cb'],
    ],
    [
      'and omits such a scheme with an upper-case letter',
      ['MyApp://callback', LOOPBACK],
      undefined,
      'native',
      [LOOPBACK],
    ],
  ])(
    'accepts a registration %s',
    async (_, redirectUris, type, registeredType, kept = redirectUris) => {
      const client = await register({ redirect_uris: redirectUris, application_type: type });
      expect(client).toMatchObject({ application_type: registeredType, redirect_uris: kept });
    },
  );

  // @shows RFC7591-2
  test('gives a client without grant_types only the authorization code grant', async () => {
    expect(await register({ grant_types: undefined })).toMatchObject({
      grant_types: ['authorization_code'],
    });
  });

  test.each(Object.entries(HOST_REGISTRATIONS))(
    'accepts the registration of a known host application, which can then connect: %s',
    async (_, { asked, uses }) => {
      const { scope: _asked, ...metadata } = { scope: '', ...asked };
      const client = await register(metadata);
      expect(client).toMatchObject({
        token_endpoint_auth_method: 'none',
        grant_types: CODE_GRANTS,
      });
      await connect(client, uses);
    },
  );

  // @shows AS-22.2, RFC7591-2
  test.each([
    ['requests a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['requests a secret in the body', { token_endpoint_auth_method: 'client_secret_post' }],
    ['does not specify a method', {}],
  ])(
    'creates a public client, and reports this in the response, if the request %s',
    async (_, metadata) => {
      const client = await register(metadata);
      expect(client).toMatchObject({ token_endpoint_auth_method: 'none' });
      expect(client).not.toHaveProperty('client_secret');
    },
  );

  // @shows AS-22.4
  test('gives all scopes that people may allow, and never those for services', async () => {
    const all = 'openid profile email notes:read notes:write';
    for (const scope of [
      undefined,
      'offline_access',
      'notes:read unheard:of mcp:service offline_access',
    ]) {
      expect((await register({ scope })).scope).toBe(all);
    }
    await expectRefused(
      await post({ redirect_uris: [LOOPBACK], scope: 'mcp:service' }),
      400,
      'invalid_client_metadata',
    );
  });

  // @shows RFC7591-3.1.1
  test('ignores a software statement, and does not confirm it', async () => {
    const statement = 'eyJhbGciOiJub25lIn0.eyJjbGllbnRfbmFtZSI6IkJhbmsifQ.';
    const client = await register({ client_name: 'Mine', software_statement: statement });
    expect(client['client_name']).toBe('Mine');
    expect(client).not.toHaveProperty('software_statement');
  });

  // @shows AS-22.11
  test.each([
    'application_type',
    'client_name',
    'client_uri',
    'contacts',
    'grant_types',
    'id_token_signed_response_alg',
    'jwks',
    'jwks_uri',
    'logo_uri',
    'policy_uri',
    'response_types',
    'scope',
    'software_id',
    'software_statement',
    'software_version',
    'subject_type',
    'token_endpoint_auth_method',
    'token_endpoint_auth_signing_alg',
    'tos_uri',
  ])('treats an empty %s as missing', async (name) => {
    const { client_id: _, ...left } = await register({ grant_types: undefined });
    for (const empty of [null, '', []]) {
      const { client_id: __, ...taken } = await register({ grant_types: undefined, [name]: empty });
      for (const own of ['registration_access_token', 'registration_client_uri'] as const) {
        expect(taken[own]).not.toBe(left[own]);
        taken[own] = left[own];
      }
      expect(taken).toEqual(left);
    }
  });

  // @shows AS-22.16
  test('refuses a client that asks for different subjects than the server has', async () => {
    const response = await post({ redirect_uris: [LOOPBACK], subject_type: 'pairwise' });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 'invalid_client_metadata',
      error_description: 'The subject_type must be public.',
    });
    const { client_id: id } = await register({ subject_type: 'public' });
    expect(id).toMatch(/./);
  });

  // @shows AS-22.12
  test.each([
    ['none', 'The id_token_signed_response_alg must be one of RS256, ES256, EdDSA.'],
    ['HS256', 'The id_token_signed_response_alg must be one of RS256, ES256, EdDSA.'],
    [
      'ES256',
      'The id_token_signed_response_alg cannot be ES256: the server has no signing key for it.',
    ],
  ])(
    'refuses an unsupported algorithm, with the name of the field: %s',
    async (algorithm, told) => {
      const response = await post({
        redirect_uris: [LOOPBACK],
        id_token_signed_response_alg: algorithm,
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: 'invalid_client_metadata',
        error_description: told,
      });
    },
  );

  // @shows AS-22.5, RFC7591-3.2.2, RFC7591-5
  test.each([
    ['no redirect URI', { redirect_uris: undefined }, 'invalid_redirect_uri'],
    ['an empty list of redirect URIs', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['a javascript: URI', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [
      'only a private-use scheme without a dot',
      { redirect_uris: ['cursor://callback'] },
      'invalid_redirect_uri',
    ],
    [
      'one invalid redirect URI among valid ones',
      { redirect_uris: [LOOPBACK, 'http://evil.example/'] },
      'invalid_redirect_uri',
    ],
    [
      'a private-use scheme of a web application',
      { redirect_uris: ['com.example:/'], application_type: 'web' },
      'invalid_redirect_uri',
    ],
    ['a fragment', { redirect_uris: ['https://app.example/#x'] }, 'invalid_redirect_uri'],
    ['a wildcard', { redirect_uris: ['https://*.example/'] }, 'invalid_redirect_uri'],
    ['credentials', { redirect_uris: ['https://a:b@app.example/'] }, 'invalid_redirect_uri'],
    [
      'a response parameter in the redirect URI',
      { redirect_uris: ['https://app.example/?code=1'] },
      'invalid_redirect_uri',
    ],
    ['an unknown type', { application_type: 'desktop' }, 'invalid_client_metadata'],
    [
      'private_key_jwt',
      { token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
    ['client credentials', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['the implicit grant', { grant_types: ['implicit'] }, 'invalid_client_metadata'],
    ['introspection', { grant_types: ['introspection'] }, 'invalid_client_metadata'],
    [
      'only the grant type refresh_token',
      { grant_types: ['refresh_token'] },
      'invalid_client_metadata',
    ],
    [
      'tokens in the authorization response',
      { response_types: ['token'] },
      'invalid_client_metadata',
    ],
    ['only unknown scopes', { scope: 'unheard:of' }, 'invalid_client_metadata'],
    [
      'an algorithm without a key',
      { id_token_signed_response_alg: 'ES256' },
      'invalid_client_metadata',
    ],
    ['an unsigned ID token', { id_token_signed_response_alg: 'none' }, 'invalid_client_metadata'],
    ['a long name', { client_name: 'x'.repeat(101) }, 'invalid_client_metadata'],
    [
      'a name with text direction controls',
      { client_name: 'abc\u202Edef' },
      'invalid_client_metadata',
    ],
    ['an unpaired surrogate in the name', { client_name: 'a\uD800b' }, 'invalid_client_metadata'],
    ['a NUL in the name', { client_name: 'a\0b' }, 'invalid_client_metadata'],
    ['a name that is not a string', { client_name: ['A'] }, 'invalid_client_metadata'],
  ])('refuses %s', async (_, metadata, error) => {
    await expectRefused(await post({ redirect_uris: [LOOPBACK], ...metadata }), 400, error);
    expect(await registered()).toEqual([]);
  });

  test('refuses an invalid token in the request, and does not ignore it', async () => {
    const response = await post({ redirect_uris: [LOOPBACK] }, 'a'.repeat(43));
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
    await expectRefused(response, 401, 'invalid_token');
  });

  // @shows AS-22.6
  test('limits a network per hour, also for simultaneous requests, with a time to retry', async () => {
    const answers = await Promise.all(
      Array.from({ length: 70 }, () => post({ redirect_uris: [LOOPBACK] })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(60);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(refused[0]?.headers.get('retry-after')).toBe('3600');
    expect(await refused[0]?.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'Too many clients have registered from this network; try again in 3600 s.',
    });
    expect(await registered()).toHaveLength(60);
    clock.advance(3601);
    expect((await post({ redirect_uris: [LOOPBACK] })).status).toBe(201);
  });

  // @shows AS-22.7
  test('deletes a client that is not used within a day', async () => {
    const unused = await register();
    const used = await register();
    const shown = await (
      await portal.signedIn(ADA)
    ).visit(
      authorizationUrl(
        portal,
        { id: unused.client_id, secret: '' },
        { redirect_uri: LOOPBACK, scope: 'notes:read' },
      ),
    );
    expect(shown.status).toBe(200);
    const tokens = await connect(used);
    clock.advance(DAY);
    expect((await manage('GET', unused)).status).toBe(401);
    const visitor = await portal.signedIn(ADA);
    const ask = await visitor.get(
      authorizationUrl(
        portal,
        { id: unused.client_id, secret: '' },
        { redirect_uri: LOOPBACK, scope: 'notes:read' },
      ),
    );
    expect(ask.status).toBe(400);
    expect(await ask.text()).toContain('Unknown application');
    expect((await refreshOf(used, tokens.refresh_token)).status).toBe(200);
    expect(await portal.server.prune()).toMatchObject({ clients: 0 });
    // A client that is used at the last moment must not be removed at the same time.
    clock.advance(3601);
    expect(await portal.server.prune()).toMatchObject({ clients: 1 });
    expect((await registered()).map(({ id }) => id)).toEqual([used.client_id]);
  });

  // @shows AS-22.7
  test('deletes a client that was not used for ninety days, and keeps one in use', async () => {
    const idle = await register();
    const used = await register();
    await connect(idle);
    let { refresh_token: token } = await connect(used);
    for (let days = 0; days < 92; days += 23) {
      clock.advance(23 * DAY);
      const refreshed = await refreshOf(used, token);
      expect(refreshed.status).toBe(200);
      ({ refresh_token: token } = (await refreshed.json()) as { refresh_token: string });
    }
    expect((await manage('GET', idle)).status).toBe(401);
    expect((await manage('GET', used)).status).toBe(200);
    expect(await portal.server.prune()).toMatchObject({ clients: 1 });
    expect((await registered()).map(({ id }) => id)).toEqual([used.client_id]);
  });

  // @shows AS-18.8, AS-22.7
  test('deletes the row of an unused client while others register', async () => {
    const unused = await register();
    clock.advance(DAY + 3601);
    for (let count = 0; count < 50; count += 1) await register();
    expect((await registered()).map(({ id }) => id)).not.toContain(unused.client_id);
  });

  // @shows AS-22.7
  test('records the use of a client once a day', async () => {
    const client = await register();
    const tokens = await connect(client);
    const first = (await portal.server.clients.find(client.client_id))?.usedAt;
    expect(first).toBe(clock.now());
    clock.advance(DAY - 1);
    const refreshed = await refreshOf(client, tokens.refresh_token);
    expect((await portal.server.clients.find(client.client_id))?.usedAt).toBe(first);
    clock.advance(1);
    const { refresh_token: token } = (await refreshed.json()) as { refresh_token: string };
    await refreshOf(client, token);
    expect((await portal.server.clients.find(client.client_id))?.usedAt).toBe(clock.now());
  });

  // @shows RFC7592-2.1, RFC7592-3
  test('allows a client to read its registration with its registration access token', async () => {
    const client = await register({ client_name: 'Mine' });
    const read = await manage('GET', client);
    expect(read.status).toBe(200);
    expect(read.headers.get('cache-control')).toBe('no-store');
    expect(await read.json()).toEqual(client);
  });

  // @shows AS-22.8, RFC7592-2, RFC7592-2.1
  test('refuses any other token for reading a registration', async () => {
    const client = await register();
    const other = await register();
    const tokens = await connect(other);
    for (const token of [
      other.registration_access_token,
      tokens.access_token,
      client.client_id,
      'x',
      '',
    ]) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const response = await manage(method, { ...client, registration_access_token: token }, {});
        expect([400, 401]).toContain(response.status);
      }
    }
    const without = await fetch(client.registration_client_uri);
    expect(without.headers.get('www-authenticate')).toBe('Bearer realm="oauth"');
    await expectRefused(without, 401, 'invalid_token');
    const unknown = `${portal.url}/oauth/register?client_id=${'0'.repeat(32)}`;
    await expectRefused(
      await manage('GET', { ...client, registration_client_uri: unknown }),
      401,
      'invalid_token',
    );
    expect((await manage('GET', client)).status).toBe(200);
  });

  // @shows AS-22.8, RFC7592-2
  test('has no registration to manage for a client of an operator', async () => {
    const own = await portal.server.clients.create({
      name: 'Own',
      public: true,
      redirectUris: ['https://client.example/cb'],
      scopes: ['notes:read'],
    });
    const client = await register();
    const uri = `${portal.url}/oauth/register?client_id=${own.client.id}`;
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const response = await manage(
        method,
        { ...client, registration_client_uri: uri },
        { client_id: own.client.id },
      );
      expect(response.status).toBe(401);
    }
    expect((await portal.server.clients.find(own.client.id))?.revokedAt).toBeNull();
  });

  // @shows AS-22.8, RFC7592-2.2
  test('allows a client to replace its registration, and existing permissions continue', async () => {
    const client = await register({ client_name: 'Mine', scope: 'notes:read notes:write' });
    const tokens = await connect(client);
    const replaced = await manage('PUT', client, {
      client_id: client.client_id,
      client_name: 'Still mine',
      redirect_uris: [LOOPBACK],
      grant_types: CODE_GRANTS,
      scope: 'notes:read',
    });
    expect(replaced.status).toBe(200);
    expect(await replaced.json()).toEqual({ ...client, client_name: 'Still mine' });
    expect((await notes(tokens.access_token)).status).toBe(200);
  });

  // @shows AS-22.11, RFC7592-2.2
  test.each([
    'client_secret',
    'client_secret_expires_at',
    'client_id_issued_at',
    'registration_access_token',
    'registration_client_uri',
  ])('treats an empty %s in a replacement as missing', async (name) => {
    const client = await register();
    const { client_id } = client;
    const metadata = { client_id, redirect_uris: [LOOPBACK], grant_types: CODE_GRANTS };
    for (const empty of [null, '', []]) {
      const replaced = await manage('PUT', client, { ...metadata, [name]: empty });
      expect([replaced.status, await replaced.json()]).toEqual([200, client]);
    }
  });

  // @shows AS-22.8, RFC7592-2.2
  test('allows a client to replace its redirect URIs until a person has allowed it', async () => {
    const client = await register();
    const metadata = { client_id: client.client_id, grant_types: CODE_GRANTS };
    const elsewhere = { ...metadata, redirect_uris: ['http://localhost/other'] };
    expect(await (await manage('PUT', client, elsewhere)).json()).toEqual({
      ...client,
      redirect_uris: ['http://localhost/other'],
    });
    const old = await (
      await portal.signedIn(ADA)
    ).get(
      authorizationUrl(
        portal,
        { id: client.client_id, secret: '' },
        { redirect_uri: LOOPBACK, scope: 'notes:read' },
      ),
    );
    expect(old.status).toBe(400);
    const tokens = await connect(client, 'http://localhost:1234/other');
    // The page of applications identifies the client by these URIs, so they must not change later.
    for (const redirectUris of [
      ['https://known.example/callback'],
      ['https://known.example/callback', 'http://localhost/other'],
    ]) {
      const renamed = await manage('PUT', client, { ...metadata, redirect_uris: redirectUris });
      await expectRefused(renamed, 400, 'invalid_redirect_uri');
    }
    expect((await manage('PUT', client, elsewhere)).status).toBe(200);
    expect((await notes(tokens.access_token)).status).toBe(200);
  });

  // @shows AS-22.8
  test('accepts the same redirect URIs in another order after a person has allowed the client', async () => {
    const redirectUris = [LOOPBACK, 'https://known.example/callback'];
    const client = await register({ redirect_uris: redirectUris });
    await connect(client);
    const replaced = await manage('PUT', client, {
      client_id: client.client_id,
      client_name: 'Sorted',
      grant_types: CODE_GRANTS,
      redirect_uris: redirectUris.toReversed(),
    });
    expect([replaced.status, await replaced.json()]).toEqual([
      200,
      { ...client, client_name: 'Sorted' },
    ]);
  });

  // @shows AS-22.8
  test('refuses consent if the redirect URIs are replaced while a person allows the client', async () => {
    const client = await register();
    const visitor = await portal.signedIn(ADA);
    const one = { id: client.client_id, secret: '' };
    const request = authorizationUrl(portal, one, { redirect_uri: LOOPBACK, scope: 'notes:read' });
    const page = await visitor.visit(request);
    const metadata = {
      client_id: client.client_id,
      redirect_uris: ['https://known.example/callback'],
    };
    const { database } = portal.application;
    const replaced: Promise<number>[] = [];
    const original = database.execute.bind(database);
    const spy = vi.spyOn(database, 'execute').mockImplementation(async (statement, ...rest) => {
      if (statement.includes('SET used_at') && replaced.length === 0) {
        replaced.push(manage('PUT', client, metadata).then(({ status }) => status));
        await replaced[0];
      }
      return original(statement, ...rest);
    });
    try {
      const answer = await visitor.submit(page, { decision: 'allow' });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(await Promise.all(replaced)).toEqual([200]);
    } finally {
      spy.mockRestore();
    }
    expect(await (await visitor.get('/oauth/applications')).text()).not.toContain('known.example');
  });

  // @shows AS-40.2
  test('issues no refresh token if the consent page announced that the access ends', async () => {
    const grantTypes = ['authorization_code'];
    for (const when of ['while the page is open', 'after the answer']) {
      const client = await register({ grant_types: grantTypes });
      const { client_id: id } = client;
      const renew = async () => {
        const redirects = { client_id: id, redirect_uris: [LOOPBACK] };
        const replaced = await manage('PUT', client, { ...redirects, grant_types: CODE_GRANTS });
        expect(replaced.status).toBe(200);
      };
      const visitor = await portal.signedIn(ADA);
      const changes = { redirect_uri: LOOPBACK, scope: 'notes:read' };
      const page = await visitor.visit(authorizationUrl(portal, { id, secret: '' }, changes));
      if (when === 'while the page is open') await renew();
      const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
      if (when === 'after the answer') await renew();
      const response = await requestToken(portal, null, {
        client_id: id,
        grant_type: 'authorization_code',
        code: answer.searchParams.get('code') ?? '',
        redirect_uri: LOOPBACK,
        code_verifier: VERIFIER,
      });
      const tokens = (await response.json()) as Record<string, unknown>;
      expect([when, Object.keys(tokens).toSorted()]).toEqual([
        when,
        ['access_token', 'expires_in', 'scope', 'token_type'],
      ]);
      // If the person is asked again, the page says that the access continues.
      expect((await connect(client, LOOPBACK)).refresh_token).toBeTypeOf('string');
    }
  });

  // @shows AS-22.6
  test('limits replacements per network like registrations, with a time to retry', async () => {
    const client = await register();
    const metadata = { client_id: client.client_id, redirect_uris: [LOOPBACK] };
    for (let times = 1; times <= 60; times += 1)
      expect((await manage('PUT', client, metadata)).status).toBe(200);
    const refused = await manage('PUT', client, metadata);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    clock.advance(3600);
    expect((await manage('PUT', client, metadata)).status).toBe(200);
  });

  // @shows AS-22.6
  test('forgets the address of a registration when it no longer counts toward the limit', async () => {
    await register();
    const kept = async () =>
      (
        await portal.application.database.execute('SELECT registered_from FROM oauth_clients')
      ).rows.filter((row) => row['registered_from'] !== null).length;
    expect(await kept()).toBe(1);
    clock.advance(3601);
    await portal.server.prune();
    expect(await kept()).toBe(1);
    clock.advance(3600);
    await portal.server.prune();
    expect(await kept()).toBe(0);
    expect(await registered()).toHaveLength(1);
  });

  // @shows RFC7592-2.2
  test.each([
    ['a different client_id', { client_id: '0'.repeat(32) }, 'invalid_request'],
    ['no client_id', { client_id: undefined }, 'invalid_request'],
    [
      'a different registration access token',
      { registration_access_token: 'mine' },
      'invalid_request',
    ],
    [
      'a different registration_client_uri',
      { registration_client_uri: 'https://evil.example/' },
      'invalid_request',
    ],
    ['a secret for a public client', { client_secret: 'mine' }, 'invalid_request'],
    ['a different client_id_issued_at', { client_id_issued_at: 0 }, 'invalid_request'],
    [
      'an invalid redirect URI',
      { redirect_uris: ['http://evil.example/'] },
      'invalid_redirect_uri',
    ],
  ])('does not replace a registration with %s', async (_, changes, error) => {
    const client = await register();
    const metadata = { client_id: client.client_id, redirect_uris: [LOOPBACK], ...changes };
    await expectRefused(await manage('PUT', client, metadata), 400, error);
    expect(await (await manage('GET', client)).json()).toEqual(client);
  });

  // @shows AS-22.8, RFC7592-2.3
  test('allows a client to delete its registration, with all its tokens', async () => {
    const client = await register();
    const tokens = await connect(client);
    const ended = await manage('DELETE', client);
    expect([ended.status, await ended.text()]).toEqual([204, '']);
    expect((await notes(tokens.access_token)).status).toBe(401);
    expect((await refreshOf(client, tokens.refresh_token)).status).toBe(401);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await manage(method, client, {})).status).toBe(401);
  });

  // @shows AS-22.8, RFC7592-2.3
  test('leaves no valid token that was issued while a client was deleted', async () => {
    for (let round = 0; round < 10; round += 1) {
      const client = await register();
      const { refresh_token: token } = await connect(client);
      const [refreshed, ended] = await Promise.all([
        refreshOf(client, token),
        manage('DELETE', client),
      ]);
      expect(ended.status).toBe(204);
      expect([200, 401]).toContain(refreshed.status);
      const issued = (await refreshed.json()) as { access_token?: string; refresh_token?: string };
      expect((await notes(issued.access_token ?? 'none')).status).toBe(401);
      expect((await refreshOf(client, issued.refresh_token ?? token)).status).toBe(401);
    }
  });

  // @shows AS-22.9
  // @shows RFC10017-6.3.3.4b
  test('allows pages of any origin to register and manage clients', async () => {
    const preflight = await fetch(`${portal.url}/oauth/register`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://inspector.example', 'Access-Control-Request-Method': 'PUT' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST, GET, PUT, DELETE');
    const others = await fetch(`${portal.url}/oauth/token`, { method: 'OPTIONS' });
    expect(others.headers.get('access-control-allow-methods')).toBe('GET, POST');
  });

  // @shows AS-19.2, AS-22.8
  test('stores no management credential in plain text', async () => {
    const client = await register();
    const { rows } = await portal.application.database.execute('SELECT * FROM oauth_clients');
    expect(JSON.stringify(rows)).not.toContain(client.registration_access_token);
  });
});

describe('registration with an initial access token', () => {
  beforeAll(() => start({ registration: 'initial_access_token', scopes: SCOPES }));
  beforeEach(forgetAll);
  afterAll(() => portal.close());

  // @shows AS-22.10, RFC7591-3
  test('requires one', async () => {
    const response = await post({ redirect_uris: [LOOPBACK] });
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="oauth"');
    await expectRefused(response, 401, 'invalid_token');
    await expectRefused(
      await post({ redirect_uris: [LOOPBACK] }, 'x'.repeat(43)),
      401,
      'invalid_token',
    );
  });

  // @shows AS-22.10
  test('can create a confidential client, and one that acts without a person', async () => {
    const { token } = await portal.server.initialAccessTokens.create({ uses: 2 });
    const client = await register(
      { redirect_uris: undefined, grant_types: ['client_credentials'], scope: 'mcp:service' },
      token,
    );
    expect(client).toMatchObject({
      token_endpoint_auth_method: 'client_secret_basic',
      client_secret_expires_at: 0,
      grant_types: ['client_credentials'],
      scope: 'mcp:service',
      response_types: [],
    });
    const secret = client.client_secret ?? '';
    const issued = await requestToken(
      portal,
      { id: client.client_id, secret },
      { grant_type: 'client_credentials' },
    );
    expect(issued.status).toBe(200);
    const read = (await (await manage('GET', client)).json()) as Registration;
    expect(read).not.toHaveProperty('client_secret');
    const { rows } = await portal.application.database.execute('SELECT * FROM oauth_clients');
    expect(JSON.stringify(rows)).not.toContain(secret);
    const becomesPublic = {
      client_id: client.client_id,
      token_endpoint_auth_method: 'none',
      redirect_uris: [LOOPBACK],
    };
    await expectRefused(await manage('PUT', client, becomesPublic), 400, 'invalid_client_metadata');
    expect(await register({ token_endpoint_auth_method: 'none' }, token)).toMatchObject({
      token_endpoint_auth_method: 'none',
    });
  });

  // @shows RFC7592-2.2
  test('a client_secret in a replacement must be the current one', async () => {
    const { token } = await portal.server.initialAccessTokens.create({});
    const client = await register({ token_endpoint_auth_method: 'client_secret_basic' }, token);
    const metadata = { client_id: client.client_id, redirect_uris: [LOOPBACK] };
    for (const secret of ['mine', ' ', 1, false]) {
      const sent = { ...metadata, client_secret: secret };
      await expectRefused(await manage('PUT', client, sent), 400, 'invalid_request');
    }
    const own = { ...metadata, client_secret: client.client_secret };
    expect((await manage('PUT', client, own)).status).toBe(200);
  });

  // @shows AS-22.10
  test('counts the uses of the token, also for simultaneous requests, but not refused ones', async () => {
    const { token } = await portal.server.initialAccessTokens.create({ uses: 3 });
    await expectRefused(await post({ redirect_uris: [] }, token), 400, 'invalid_redirect_uri');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post({ redirect_uris: [LOOPBACK] }, token)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(await registered()).toHaveLength(3);
    const [kept] = await portal.server.initialAccessTokens.list();
    expect(kept).toMatchObject({ uses: 3, usesLeft: 0 });
  });

  // @shows AS-22.10
  test('fails after the token has expired or was revoked, and only its hash is stored', async () => {
    const expiring = await portal.server.initialAccessTokens.create({ uses: 5, lifetime: 60 });
    const revoked = await portal.server.initialAccessTokens.create({ uses: 5 });
    const { rows } = await portal.application.database.execute(
      'SELECT * FROM oauth_initial_access_tokens',
    );
    expect(JSON.stringify(rows)).not.toContain(expiring.token);
    expect((await post({ redirect_uris: [LOOPBACK] }, expiring.token)).status).toBe(201);
    clock.advance(60);
    expect((await post({ redirect_uris: [LOOPBACK] }, expiring.token)).status).toBe(401);
    await portal.server.initialAccessTokens.revoke(revoked.id);
    expect((await post({ redirect_uris: [LOOPBACK] }, revoked.token)).status).toBe(401);
    await expect(portal.server.initialAccessTokens.revoke(revoked.id)).rejects.toThrow(
      'has this id',
    );
    clock.advance(3601);
    await portal.server.prune();
    expect(await portal.server.initialAccessTokens.list()).toEqual([]);
  });
});
