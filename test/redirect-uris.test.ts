// @engines sqlite: the server checks redirect URIs before it uses the store
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doAt, PAGES, startAdministered } from './support/administration.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import {
  ADA,
  authorizationUrl,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import type { Visitor } from './support/visitor.ts';

/**
 * Which redirect URIs and other URLs a client may have. The rules are the same at every endpoint.
 */

const CONFIG = { oauth_server: { registration: 'open', client_id_metadata_documents: true } };
const CURSOR = 'cursor://anysphere.cursor-mcp/oauth/callback';
const GOOD = 'https://app.example/callback';

/**
 * Characters that no URI contains (RFC 3986), or another spelling of a host. Each has the error
 * message.
 */
const REFUSED: readonly (readonly [what: string, uri: string, told: string])[] = [
  [
    'a backslash',
    'https://app.example/call\\back',
    'has the character U+005C, which is not allowed in a URI',
  ],
  ['an opening angle bracket', 'https://app.example/<cb', 'has the character U+003C'],
  ['a closing angle bracket', 'https://app.example/cb>', 'has the character U+003E'],
  ['a caret', 'https://app.example/cb^', 'has the character U+005E'],
  ['a backtick', 'https://app.example/`cb`', 'has the character U+0060'],
  ['an opening brace', 'https://app.example/{id}', 'has the character U+007B'],
  ['a closing brace', 'https://app.example/id}', 'has the character U+007D'],
  ['a bar', 'https://app.example/a|b', 'has the character U+007C'],
  ['a quotation mark', 'https://app.example/?a="b"', 'has the character U+0022'],
  ['a space', 'https://app.example/call back', 'has the character U+0020'],
  ['a line break', 'https://app.example/call\nback', 'has the character U+000A'],
  ['a letter that is not ASCII', 'https://app.example/r\u00fcck', 'has the character U+00FC'],
  ['half a character', 'https://app.example/\ud800', 'has the character U+D800'],
  ['a bracket in the path', 'https://app.example/cb[1]', 'has a bracket'],
  ['a bracket in the query', 'https://app.example/cb?a[]=1', 'has a bracket'],
  ['a percent sign alone', 'https://app.example/100%', 'has a percent sign'],
  ['a percent sign before no escape', 'https://app.example/%zz', 'has a percent sign'],
  ['an IDN host', 'https://m\u00fcnchen.example/cb', 'xn--mnchen-3ya.example'],
  ['a host of wide letters', 'https://\uff41pp.example/cb', 'app.example'],
  ['a hexadecimal address', 'https://0x7f000001/cb', '127.0.0.1'],
  ['an address that is one number', 'https://2130706433/cb', '127.0.0.1'],
  ['an address in short', 'https://127.1/cb', '127.0.0.1'],
  ['an octal address', 'https://0177.0.0.1/cb', '127.0.0.1'],
  ['an address of this network in hexadecimal', 'http://0x7f.1/cb', '127.0.0.1'],
  ['an encoded host', 'https://%61pp.example/cb', 'app.example'],
  ['a long form of an IPv6 address', 'https://[2001:DB8:0:0:0:0:0:1]/cb', '[2001:db8::1]'],
];

/** URIs that stay unchanged. */
const TAKEN = [
  'https://app.example/cb',
  'https://App.Example/cb',
  "https://app.example/a-b._~!$&'()+,;=:@/%7Bid%7D?q=/?",
  'https://xn--mnchen-3ya.example/cb',
  'http://127.0.0.1:8080/cb',
  'https://[2001:db8::1]:8443/cb',
  'com.example.app:/cb',
];

let portal: RunningPortal;
let ada: Visitor;
let host: DocumentHost;

beforeAll(async () => {
  host = await startDocumentHost();
  ({ portal } = await startAdministered({ config: CONFIG, outbound: host.outbound }));
  ada = await portal.signedIn(ADA);
});
afterAll(async () => {
  await portal.close();
  await host.close();
});

const run = (...args: readonly string[]) =>
  porticoHere(args, {
    cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
    env: { ...portal.env, PORTAL_CONFIG: JSON.stringify(CONFIG) },
  });

const create = (uri: string, ...options: readonly string[]) =>
  run(
    'oauth:client:create',
    'An application',
    '--scope=notes:read',
    `--redirect=${uri}`,
    ...options,
  );

/** Registers itself, or returns the reason of the refusal. */
async function register(
  metadata: object,
): Promise<readonly [number, Readonly<Record<string, unknown>>]> {
  const response = await fetch(`${portal.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  return [response.status, (await response.json()) as Readonly<Record<string, unknown>>];
}

const found = async (id: string) => portal.server.clients.find(id);

describe('a redirect URI that a browser would change', () => {
  // @shows AS-13.27
  test.each(REFUSED)('is refused when a client registers itself: %s', async (_, uri, told) => {
    const [status, { error, error_description: description }] = await register({
      redirect_uris: [uri],
    });
    expect([status, error]).toEqual([400, 'invalid_redirect_uri']);
    expect(description).toContain(told);
    expect(description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
  });

  test.each(REFUSED)('is refused when an operator registers a client: %s', async (_, uri, told) => {
    const { code, stderr } = await create(uri);
    expect(code).toBe(1);
    expect(stderr).toContain(told);
  });

  // @shows AS-13.27
  test.each([
    ['a private-use scheme', 'com.example.app:/{id}', 'U+007B'],
    ['a private-use scheme', 'com.example.app://m\u00fcnchen/cb', 'U+00FC'],
    ['loopback', 'http://127.0.0.1:1/{id}', 'U+007B'],
    ['loopback', 'http://0x7f.1:1/cb', '127.0.0.1'],
  ])('is refused for a native application with %s: %s', async (_, uri, told) => {
    expect((await create(uri, '--native')).stderr).toContain(told);
    expect((await register({ redirect_uris: [uri] }))[1]['error_description']).toContain(told);
  });

  // @shows AS-13.27
  test('is refused in an update, in an import and on an administration page, and nothing changes', async () => {
    const { id } = await registerClient(portal);
    const { code, stderr } = await run(
      'oauth:client:update',
      id,
      '--add-redirect-uri=https://0x7f000001/cb',
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('127.0.0.1') as string]);

    const records = [
      { client_id: 'imported', client_name: 'A', redirect_uris: ['https://app.example/{id}'] },
    ];
    const [outcome] = (await portal.server.importing.clients(records, { by: 'console' })).clients;
    expect(outcome).toMatchObject({ outcome: 'refused' });
    expect(outcome?.problem).toContain('U+007B');
    expect(await found('imported')).toBeNull();

    const answer = await doAt(ada, `${PAGES}/client?id=${id}&ask=update`, 'update', {
      redirect_uris: 'https://app.example/`cb`',
    });
    expect(await answer.text()).toContain('U+0060');
    expect((await found(id))?.redirectUris).toEqual(['https://client.example/callback']);
  });

  // @shows AS-13.27
  test('is skipped in a metadata document: the client receives responses only at the other URIs', async () => {
    const bad = 'https://app.example/{id}';
    const url = host.publish('/two.json', {
      client_name: 'A',
      redirect_uris: [bad, GOOD],
      token_endpoint_auth_method: 'none',
    });
    const ask = (redirectUri: string) =>
      ada.visit(
        authorizationUrl(
          portal,
          { id: url, secret: '' },
          { redirect_uri: redirectUri, scope: 'notes:read' },
        ),
      );
    expect((await ask(GOOD)).status).toBe(200);
    expect((await ask(bad)).status).toBe(400);
    const none = host.publish('/none.json', {
      client_name: 'A',
      redirect_uris: [bad],
      token_endpoint_auth_method: 'none',
    });
    const refused = await ada.visit(
      authorizationUrl(
        portal,
        { id: none, secret: '' },
        { redirect_uri: bad, scope: 'notes:read' },
      ),
    );
    expect(refused.status).toBe(400);
    const log = await readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');
    expect(log).toContain(
      'none of its redirect_uris can be used: the first has the character U+007B',
    );
  });

  test.each(TAKEN)('does not include %s, which is accepted and stored as written', async (uri) => {
    const [status, client] = await register({ redirect_uris: [uri] });
    expect(status).toBe(201);
    expect(client['redirect_uris']).toEqual([uri]);
  });

  // @shows AS-13.27
  test('from an earlier release is kept, and does not prevent other changes', async () => {
    const { id } = await registerClient(portal);
    await portal.application.database.execute(
      `UPDATE oauth_clients SET redirect_uris = '["https://app.example/{id}"]' WHERE client_id = '${id}'`,
    );
    expect((await run('oauth:client:update', id, '--name=Renamed')).code).toBe(0);
    expect(await found(id)).toMatchObject({
      name: 'Renamed',
      redirectUris: ['https://app.example/{id}'],
    });
  });
});

describe('other URLs of a client', () => {
  // @shows AS-13.27
  test.each([
    ['--logo', 'https://app.example/{id}.png', 'U+007B'],
    ['--jwks', 'https://app.example/{id}', 'U+007B'],
    ['--jwks', 'https://m\u00fcnchen.example/keys', 'xn--mnchen-3ya.example'],
  ])('follow the same rule: %s %s', async (option, url, told) => {
    const { code, stderr } = await porticoHere(
      ['oauth:client:create', 'A', '--scope=notes:read', `--redirect=${GOOD}`, `${option}=${url}`],
      {
        cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
        env: {
          ...portal.env,
          PORTAL_CONFIG: JSON.stringify({
            oauth_server: { private_key_jwt: true, client_logos: true },
          }),
        },
      },
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining(told) as string]);
  });

  test.each(['https://client.example/{id}.json', 'https://client.example/a|b.json'])(
    'follow the same rule: the document %s',
    async (url) => {
      expect((await ada.visit(authorizationUrl(portal, { id: url, secret: '' }))).status).toBe(400);
      expect(host.asked).not.toContain(new URL(url).pathname);
    },
  );
});

describe('a jwks_uri on a port to which the server sends no requests', () => {
  const ORIGIN = 'https://portal.example';
  const ELSEWHERE = 'https://client.example:8443/keys';
  const SERVICE = { name: 'A service', scopes: ['notes:read'], grants: ['client_credentials'] };
  let strict: RunningPortal;

  beforeAll(async () => {
    const keys = { private_key_jwt: true, registration: 'open' };
    strict = await startPortal({
      mode: 'prod',
      config: { public_url: ORIGIN, oauth_server: keys },
    });
  });
  afterAll(() => strict.close());

  // @shows AS-23.10
  test('is refused when a client registers itself, without a fetch', async () => {
    const { token } = await strict.server.initialAccessTokens.create({
      uses: 2,
      lifetime: 60,
      note: '',
    });
    const ask = (jwksUri: string) =>
      strict.application.fetch(
        new Request(`${ORIGIN}/oauth/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
          body: JSON.stringify({
            redirect_uris: [GOOD],
            token_endpoint_auth_method: 'private_key_jwt',
            jwks_uri: jwksUri,
          }),
        }),
      );
    const refused = await ask(ELSEWHERE);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({
      error: 'invalid_client_metadata',
      error_description: 'The jwks_uri has a port other than 443',
    });
    expect((await ask('https://client.example/keys')).status).toBe(201);
  });

  // @shows AS-23.10
  test('is refused when an operator creates, updates or imports a client', async () => {
    const { clients, importing } = strict.server;
    await expect(clients.create({ ...SERVICE, jwksUri: ELSEWHERE })).rejects.toThrow(
      'a port other than 443',
    );
    const { client } = await clients.create({ ...SERVICE, jwksUri: 'https://client.example/keys' });
    await expect(clients.update(client.id, { jwksUri: ELSEWHERE })).rejects.toThrow(
      'a port other than 443',
    );
    const record = {
      client_id: 'imported',
      client_name: 'A service',
      grant_types: ['client_credentials'],
      scope: 'notes:read',
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: ELSEWHERE,
    };
    const [outcome] = (await importing.clients([record], { by: 'console' })).clients;
    expect(outcome).toMatchObject({ outcome: 'refused' });
    expect(outcome?.problem).toContain('a port other than 443');
  });

  // @shows AS-23.10
  test('from an earlier release is kept, and does not prevent other changes', async () => {
    const { clients } = strict.server;
    const { client } = await clients.create({ ...SERVICE, jwksUri: 'https://client.example/keys' });
    await strict.application.database.execute(
      `UPDATE oauth_clients SET jwks_uri = '${ELSEWHERE}' WHERE client_id = '${client.id}'`,
    );
    await clients.update(client.id, { name: 'Renamed' });
    expect(await clients.find(client.id)).toMatchObject({
      name: 'Renamed',
      keys: { jwksUri: ELSEWHERE },
    });
  });
});

describe('a private-use scheme without a dot', () => {
  // @shows AS-13.28
  test('is accepted with a warning if an operator allows it for a native application', async () => {
    const { code, stdout, stderr } = await create(
      CURSOR,
      '--native',
      '--public',
      '--allow-scheme=cursor',
    );
    expect(code).toBe(0);
    expect(stderr).toContain('any program on the device can register cursor:');
    const id = /client id:\s+(\S+)/.exec(stdout)?.[1] ?? '';
    expect(await found(id)).toMatchObject({ redirectUris: [CURSOR], applicationType: 'native' });
    const consent = await ada.visit(
      authorizationUrl(portal, { id, secret: '' }, { redirect_uri: CURSOR, scope: 'notes:read' }),
    );
    expect(consent.status).toBe(200);
    expect(await consent.text()).toContain('cursor:');
    const other = { redirect_uri: `${CURSOR}/x`, scope: 'notes:read' };
    expect((await ada.visit(authorizationUrl(portal, { id, secret: '' }, other))).status).toBe(400);

    // An existing URI stays through another change. A new one needs the option again.
    expect((await run('oauth:client:update', id, '--name=Cursor')).code).toBe(0);
    const more = '--add-redirect-uri=myapp:/cb';
    expect((await run('oauth:client:update', id, more)).code).toBe(1);
    const updated = await run('oauth:client:update', id, more, '--allow-scheme=myapp');
    expect([updated.code, updated.stderr]).toEqual([
      0,
      expect.stringContaining('register myapp:') as string,
    ]);
    expect((await found(id))?.redirectUris).toEqual([CURSOR, 'myapp:/cb']);
  });

  // @shows AS-13.28
  test.each([
    ['if --allow-scheme is missing', CURSOR, ['--native']],
    ['if --allow-scheme has a different scheme', CURSOR, ['--native', '--allow-scheme=myapp']],
    ['of a web application', CURSOR, ['--allow-scheme=cursor']],
    ['if --allow-scheme is not needed', GOOD, ['--native', '--allow-scheme=cursor']],
    ['in capital letters', 'CURSOR://callback', ['--native', '--allow-scheme=cursor']],
    ['without a path', 'cursor:', ['--native', '--allow-scheme=cursor']],
    ['if --allow-scheme is a URL', CURSOR, ['--native', '--allow-scheme=cursor://']],
    ['if --allow-scheme is empty', CURSOR, ['--native', '--allow-scheme=']],
  ])('is refused %s: %s %j', async (_, uri, options) => {
    expect((await create(uri, ...options)).code).toBe(1);
  });

  // @shows AS-13.28
  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'blob:https://app.example/x',
    'filesystem:https://app.example/x',
    'about:blank',
    'view-source:https://app.example/',
    'http://app.example/cb',
    'ftp://app.example/cb',
    'ws://app.example/cb',
    'wss://app.example/cb',
    'mailto:ada@example.com',
    'intent://app.example/cb',
    'content://app.example/cb',
    'chrome://settings',
    'ms-msdt:/id',
    'search-ms:query',
  ])('is always refused if it is not the scheme of an application: %s', async (uri) => {
    const scheme = /^[^:]+/.exec(uri)?.[0] ?? '';
    const { code, stderr } = await create(uri, '--native', `--allow-scheme=${scheme}`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`"${scheme}"`)) as string]);
    expect((await create(uri, '--native')).code).toBe(1);
  });

  // @shows AS-13.28
  test('cannot be registered by a client that registers itself', async () => {
    const metadata = {
      redirect_uris: [CURSOR],
      allowed_schemes: ['cursor'],
      allow_scheme: 'cursor',
    };
    expect((await register(metadata))[0]).toBe(400);
  });
});
