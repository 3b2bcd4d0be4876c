import path from 'node:path';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { decodeProtectedHeader } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AUDIT, type AuditEvent, type ClientChanges } from 'portico';
import {
  claimsOf,
  headerOf,
  newKey,
  signed,
  withAssertion,
  type ClientKey,
} from './support/assertions.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  introspect,
  obtainCode,
  refresh,
  registerClient,
  requestToken,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { pushedNow } from './support/pushing.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/**
 * When an operator changes a client, the change applies to the next request, also for codes and
 * tokens that the client already has.
 */

const CONFIG = {
  oauth_server: {
    pushed_authorization_requests: 'accept',
    private_key_jwt: true,
    registration: 'open',
    refresh_retry_seconds: 60,
  },
};
const OTHER_URI = 'https://client.example/other';

let portal: RunningPortal;
let ada: Visitor;
const clock = createClock();
const events: AuditEvent[] = [];

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now, config: CONFIG });
  portal.application.events.on(AUDIT, (event) => void events.push(event));
  ada = await portal.signedIn(ADA);
});
afterEach(() => void events.splice(0));
afterAll(() => portal.close());

const update = (client: TestClient, changes: ClientChanges) =>
  portal.server.clients.update(client.id, changes, { by: 'console' });
const authorized = async (client: TestClient, changes: Readonly<Record<string, string>> = {}) =>
  (await (
    await exchangeCode(portal, client, await obtainCode(portal, client, ada, changes))
  ).json()) as Tokens;
const robot = (more: readonly string[] = []) =>
  registerClient(portal, {
    redirectUris: [],
    scopes: ['notes:read', 'notes:write'],
    grants: ['client_credentials', ...more],
  });
const ownToken = async (client: TestClient) =>
  (await (
    await requestToken(portal, client, { grant_type: 'client_credentials' })
  ).json()) as Tokens;
const statusOf = async (at: string, { access_token: token }: Tokens, init: RequestInit = {}) =>
  (await callApi(portal, at, token, init)).status;
/** The same question again, as after a reload. */
const reload = async (question: Response) => {
  const [, id = ''] = /name="request_id" value="([^"]+)"/.exec(await question.clone().text()) ?? [];
  return ada.get(`/oauth/authorize?${new URLSearchParams({ request_id: id })}`);
};
const pageOf = async (response: Response) => ({
  status: response.status,
  text: await response.text(),
});

describe('a scope that is removed from a client', () => {
  // @shows AS-30.3
  test('is removed from issued tokens: in token(), introspection and UserInfo', async () => {
    const client = await registerClient(portal);
    const tokens = await authorized(client);
    await update(client, { removeScopes: ['notes:write', 'email'] });
    expect(await statusOf('/api/notes', tokens)).toBe(200);
    expect(await statusOf('/api/notes', tokens, { method: 'POST', body: '{"text":"x"}' })).toBe(
      403,
    );
    expect(await introspect(portal, tokens.access_token)).toMatchObject({
      active: true,
      scope: 'openid profile notes:read',
    });
    const claims = await (await callApi(portal, '/oauth/userinfo', tokens.access_token)).json();
    expect(claims).toHaveProperty('name');
    expect(claims).not.toHaveProperty('email');
    await update(client, { removeScopes: ['openid'] });
    expect(await statusOf('/oauth/userinfo', tokens)).toBe(403);
  });

  // @shows AS-30.3
  test('is removed from refreshed tokens, repeated responses and codes', async () => {
    const client = await registerClient(portal);
    const tokens = await authorized(client);
    const code = await obtainCode(portal, client, ada);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
    await update(client, { removeScopes: ['notes:write', 'openid'] });
    const left = 'profile email notes:read';
    const again = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
    expect([again.scope, again.id_token]).toEqual([left, undefined]);
    const next = (await (await refresh(portal, client, again.refresh_token)).json()) as Tokens;
    expect([next.scope, next.id_token]).toEqual([left, undefined]);
    const asked = await refresh(portal, client, next.refresh_token, { scope: 'notes:write' });
    expect([asked.status, await errorOf(asked)]).toEqual([400, 'invalid_scope']);
    const exchanged = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    expect([exchanged.scope, exchanged.id_token]).toEqual([left, undefined]);
  });

  // @shows AS-11.6, AS-30.3
  test('can be added again: openid then uses the registered algorithm', async () => {
    await portal.server.keys.generate('ES256');
    const client = await registerClient(portal, { idTokenSignedResponseAlg: 'ES256' });
    await update(client, { removeScopes: ['openid'] });
    await update(client, { addScopes: ['openid'] });
    expect(decodeProtectedHeader((await authorized(client)).id_token).alg).toBe('ES256');
  });

  // @shows AS-30.3
  test('is neither shown nor granted on an open consent page', async () => {
    const client = await registerClient(portal, {
      scopes: ['notes:read', 'notes:write', 'profile'],
    });
    const scope = 'notes:read notes:write';
    const [first, second] = [
      await ada.visit(authorizationUrl(portal, client, { scope })),
      await ada.visit(authorizationUrl(portal, client, { scope })),
    ];
    expect(await first.clone().text()).toContain('Write notes');
    await update(client, { removeScopes: ['notes:write'] });
    const shown = await pageOf(await reload(first));
    expect(shown).toMatchObject({
      status: 200,
      text: expect.stringContaining('Read your notes') as string,
    });
    expect(shown.text).not.toContain('Write notes');
    await ada.submit(first, { decision: 'allow' });
    expect(events.find(({ type }) => type === 'consent_granted')).toMatchObject({
      scopes: ['notes:read'],
    });
    await update(client, { removeScopes: ['notes:read'] });
    for (const answer of [await reload(second), await ada.submit(second, { decision: 'allow' })]) {
      const { status, text } = await pageOf(answer);
      expect(status).toBe(400);
      expect(text).toContain('no longer registered for any of the requested scopes');
    }
  });

  // @shows AS-30.3
  test('ends an open consent request if none of the scopes shown is left', async () => {
    const client = await registerClient(portal, {
      scopes: ['openid', 'notes:read', 'notes:write'],
    });
    for (const permission of ['notes:read', 'notes.edit']) {
      await portal.deny(ADA, permission);
      onTestFinished(() => portal.grant(ADA, permission));
    }
    const scope = 'openid notes:read notes:write';
    const question = await ada.visit(authorizationUrl(portal, client, { scope }));
    await update(client, { removeScopes: ['openid'] });
    await portal.grant(ADA, 'notes:read');
    for (const answer of [
      await reload(question),
      await ada.submit(question, { decision: 'allow' }),
      await ada.submit(question, { decision: 'deny' }),
    ]) {
      const { status, text } = await pageOf(answer);
      expect(status).toBe(400);
      expect(text).toContain('no longer registered for any of the requested scopes');
    }
  });

  // @shows AS-30.3
  test('is refused in new requests, pushed requests, and requests that waited for sign-in', async () => {
    const client = await registerClient(portal);
    const [scope, visitor] = ['notes:write', portal.visitor()];
    const pushed = await pushedNow(portal, client, { scope });
    const login = await visitor.visit(authorizationUrl(portal, client, { scope }));
    await update(client, { removeScopes: [scope] });
    const returned = locationOf(await signIn(visitor, login, ADA));
    for (const answer of [
      await ada.get(authorizationUrl(portal, client, { scope })),
      await ada.get(pushed),
      await visitor.get(returned.href),
    ]) {
      expect(locationOf(answer).searchParams.get('error')).toBe('invalid_scope');
    }
  });

  // @shows AS-30.3
  test('is removed from existing and new tokens of a service', async () => {
    const client = await robot();
    const tokens = await ownToken(client);
    await update(client, { removeScopes: ['notes:write'] });
    expect(await introspect(portal, tokens.access_token)).toMatchObject({ scope: 'notes:read' });
    expect((await ownToken(client)).scope).toBe('notes:read');
  });

  // @shows AS-30.3
  test('is valid again in existing authorizations after it is added again', async () => {
    const client = await registerClient(portal);
    const tokens = await authorized(client);
    await update(client, { removeScopes: ['notes:read'] });
    expect(await statusOf('/api/notes', tokens)).toBe(403);
    await update(client, { addScopes: ['notes:read'] });
    expect(await statusOf('/api/notes', tokens)).toBe(200);
  });
});

describe('a redirect URI that is removed from a client', () => {
  // @shows AS-30.4
  test('ends open consent pages, pushed requests, requests waiting for sign-in, and codes', async () => {
    const client = await registerClient(portal, {
      redirectUris: [OTHER_URI, 'https://client.example/callback'],
    });
    const changes = { redirect_uri: OTHER_URI };
    const visitor = portal.visitor();
    const login = await visitor.visit(authorizationUrl(portal, client, changes));
    const pushed = await pushedNow(portal, client, changes);
    const question = await ada.visit(authorizationUrl(portal, client, changes));
    const code = await obtainCode(portal, client, ada, changes);
    const tokens = await authorized(client);
    await update(client, { removeRedirectUris: [OTHER_URI] });
    const returned = locationOf(await signIn(visitor, login, ADA));
    for (const answer of [
      await reload(question),
      await ada.submit(question, { decision: 'allow' }),
      await ada.submit(question, { decision: 'deny' }),
      await ada.get(pushed),
      await ada.get(authorizationUrl(portal, client, changes)),
      await visitor.get(returned.href),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.headers.get('location')).toBeNull();
    }
    const exchange = { redirect_uri: OTHER_URI };
    const refused = await exchangeCode(portal, client, code, exchange);
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_grant']);
    // Authorizations through the other URI continue. The code is already used, so it does not work
    // when the URI is registered again.
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
    await update(client, { addRedirectUris: [OTHER_URI] });
    expect((await exchangeCode(portal, client, code, exchange)).status).toBe(400);
    expect(await obtainCode(portal, client, ada, changes)).toMatch(/./);
  });

  test('of a native application is removed for all ports', async () => {
    const client = await registerClient(portal, {
      applicationType: 'native',
      public: true,
      redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
    });
    const changes = { redirect_uri: 'http://127.0.0.1:4711/cb' };
    expect((await ada.visit(authorizationUrl(portal, client, changes))).status).toBe(200);
    await update(client, { removeRedirectUris: ['http://127.0.0.1/cb'] });
    expect((await ada.visit(authorizationUrl(portal, client, changes))).status).toBe(400);
  });
});

describe('a grant that is removed from a client', () => {
  // @shows AS-30.5
  test('refresh_token: refresh tokens end, no new ones are issued, access tokens stay', async () => {
    const client = await registerClient(portal);
    const tokens = await authorized(client);
    const code = await obtainCode(portal, client, ada);
    await update(client, { removeGrants: ['refresh_token'] });
    const refused = await refresh(portal, client, tokens.refresh_token);
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'unauthorized_client']);
    expect(await (await exchangeCode(portal, client, code)).json()).not.toHaveProperty(
      'refresh_token',
    );
    expect(await statusOf('/api/notes', tokens)).toBe(200);
  });

  // @shows AS-30.5
  test('client_credentials: the tokens of the service end', async () => {
    const client = await robot(['introspection']);
    const tokens = await ownToken(client);
    await update(client, { removeGrants: ['client_credentials'] });
    expect(await statusOf('/api/notes', tokens)).toBe(401);
    expect(await introspect(portal, tokens.access_token)).toEqual({ active: false });
    const refused = await requestToken(portal, client, { grant_type: 'client_credentials' });
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'unauthorized_client']);
  });

  // @shows AS-30.5
  test('authorization_code: everything that people have allowed ends, with its codes and tokens', async () => {
    const client = await registerClient(portal, {
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    const [tokens, own] = [await authorized(client), await ownToken(client)];
    const code = await obtainCode(portal, client, ada);
    const question = await ada.visit(authorizationUrl(portal, client));
    await update(client, {
      removeGrants: ['authorization_code', 'refresh_token'],
      removeScopes: ['openid', 'profile', 'email'],
      removeRedirectUris: ['https://client.example/callback'],
    });
    for (const at of ['/api/notes', '/oauth/userinfo'])
      expect(await statusOf(at, tokens)).toBe(401);
    expect(await introspect(portal, tokens.access_token)).toEqual({ active: false });
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(400);
    expect((await exchangeCode(portal, client, code)).status).toBe(400);
    expect((await ada.submit(question, { decision: 'allow' })).status).toBe(400);
    expect(await statusOf('/api/notes', own)).toBe(200);
  });

  // @shows AS-30.5
  test('authorization_code: refresh tokens are refused, even if an unavailable grant remains', async () => {
    const client = await registerClient(portal);
    const tokens = await authorized(client);
    // As if the client's other grant were one that the server no longer offers.
    await portal.application.database.execute(
      'UPDATE oauth_clients SET grants = ? WHERE client_id = ?',
      ['refresh_token switched-off', client.id],
    );
    const refused = await refresh(portal, client, tokens.refresh_token);
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_grant']);
  });

  // @shows AS-30.5
  test('introspection: further requests are refused', async () => {
    const client = await robot(['introspection']);
    const tokens = await ownToken(client);
    const ask = () =>
      fetch(`${portal.url}/oauth/introspect`, {
        method: 'POST',
        headers: {
          Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        },
        body: new URLSearchParams({ token: tokens.access_token }),
      });
    expect((await ask()).status).toBe(200);
    await update(client, { removeGrants: ['introspection'] });
    expect((await ask()).status).toBe(400);
  });
});

describe('the keys of a client, replaced by an update', () => {
  const [old, fresh] = [newKey('ES256', 'old'), newKey('ES256', 'fresh')];
  const authenticates = async (client: TestClient, key: ClientKey) => {
    const assertion = signed(key, headerOf(key), claimsOf(client.id, portal.url, clock.now()));
    const form = { grant_type: 'client_credentials', ...withAssertion(assertion) };
    return (await requestToken(portal, null, form)).status === 200;
  };

  // @shows AS-30.2
  test('are refused from the next request on', async () => {
    const client = await registerClient(portal, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
      jwks: { keys: [old.jwk] },
    });
    expect(await authenticates(client, old)).toBe(true);
    const { changes } = await update(client, { jwks: { keys: [fresh.jwk] } });
    expect(changes).toEqual({
      jwks: { before: [expect.stringMatching(/^old /)], after: [expect.stringMatching(/^fresh /)] },
    });
    expect([await authenticates(client, old), await authenticates(client, fresh)]).toEqual([
      false,
      true,
    ]);
  });

  test.each<[string, () => Promise<TestClient>]>([
    ['a client with a secret', () => registerClient(portal)],
    ['a public client', () => registerClient(portal, { public: true })],
  ])('cannot be set for a client that does not use keys: %s', async (_, register) => {
    const client = await register();
    await expect(update(client, { jwks: { keys: [fresh.jwk] } })).rejects.toThrow(
      'does not authenticate with keys',
    );
    await expect(update(client, { tokenEndpointAuthSigningAlg: 'ES256' })).rejects.toThrow(
      'does not authenticate with keys',
    );
  });
});

describe('an update of a client', () => {
  const CODE = ['authorization_code', 'refresh_token'];

  // @shows AS-30.2
  test.each<[string, ClientChanges, string]>([
    ['an empty name', { name: ' ' }, 'needs a name'],
    ['a wildcard', { addRedirectUris: ['https://*.client.example/'] }, 'wildcard'],
    ['http', { addRedirectUris: ['http://client.example/'] }, 'must be https'],
    [
      'a private-use scheme for a web application',
      { addRedirectUris: ['com.example.app:/cb'] },
      'https URL',
    ],
    [
      'a redirect URI that it does not have',
      { removeRedirectUris: ['https://client.example/callback/'] },
      'does not have',
    ],
    [
      'no redirect URI left',
      { removeRedirectUris: ['https://client.example/callback'] },
      'needs a redirect URI',
    ],
    ['a scope that is not offered', { addScopes: ['notes:burn'] }, 'is unknown'],
    ['a scope that it does not have', { removeScopes: ['notes:share'] }, 'does not have'],
    [
      'no scope left',
      { removeScopes: ['openid', 'profile', 'email', 'notes:read', 'notes:write'] },
      'no scope',
    ],
    [
      'a scope that is both added and removed',
      { addScopes: ['email'], removeScopes: ['email'] },
      'both added and removed',
    ],
    ['an unknown grant', { addGrants: ['password'] }, 'is unknown'],
    ['no grant left', { removeGrants: CODE }, 'no grant left'],
    [
      'redirect URIs that no grant uses',
      { removeGrants: CODE, addGrants: ['introspection'] },
      'need the grant authorization_code',
    ],
    [
      'only the grant refresh_token',
      {
        removeGrants: ['authorization_code'],
        removeRedirectUris: ['https://client.example/callback'],
      },
      'needs authorization_code',
    ],
  ])('with %s is refused and changes nothing', async (_, changes, says) => {
    const client = await registerClient(portal);
    const before = await portal.server.clients.find(client.id);
    const attempt = update(client, { name: 'Another name', ...changes });
    await expect(attempt).rejects.toThrow(says);
    await expect(attempt).rejects.toMatchObject({ name: 'RegistrationError' });
    expect(await portal.server.clients.find(client.id)).toEqual(before);
    expect(events.filter(({ type }) => type === 'client_updated')).toEqual([]);
  });

  // @shows AS-30.2
  test('cannot give a public client anything that requires a secret', async () => {
    const client = await registerClient(portal, { public: true });
    for (const grant of ['client_credentials', 'introspection']) {
      await expect(update(client, { addGrants: [grant] })).rejects.toThrow(
        'public client cannot have',
      );
    }
  });

  // @shows AS-30.2
  test('applies only to active clients that an operator registered', async () => {
    const registered = (await (
      await fetch(`${portal.url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['https://client.example/callback'] }),
      })
    ).json()) as { client_id: string };
    const revoked = await registerClient(portal);
    await portal.server.clients.revoke(revoked.id);
    const URL_ID = 'https://client.example/document.json';
    await portal.server.clients.revoke(URL_ID);
    const name = 'Another name';
    const { clients } = portal.server;
    await expect(clients.update(registered.client_id, { name })).rejects.toThrow(
      'registered itself',
    );
    await expect(clients.update(revoked.id, { name })).rejects.toThrow('already revoked');
    await expect(clients.update(URL_ID, { name })).rejects.toThrow('already revoked');
    await expect(clients.update('unknown', { name })).rejects.toThrow('No client has this id');
  });

  // @shows AS-30.2, AS-30.7
  test('can change all fields and is audited with its operator; without changes there is no event', async () => {
    const client = await registerClient(portal, { scopes: ['notes:read'] });
    const changes = {
      name: 'Renamed',
      addRedirectUris: [OTHER_URI],
      removeRedirectUris: ['https://client.example/callback'],
      addScopes: ['notes:write', 'offline_access'],
      addGrants: ['introspection'],
    };
    const by = { provider: 'users', id: '7' };
    await portal.server.clients.update(client.id, changes, { by });
    const told = {
      type: 'client_updated',
      clientId: client.id,
      registeredBy: 'operator',
      by,
      changes: {
        client_name: { before: 'Test application', after: 'Renamed' },
        redirect_uris: { before: ['https://client.example/callback'], after: [OTHER_URI] },
        scope: { before: ['notes:read'], after: ['notes:read', 'notes:write'] },
        grant_types: {
          before: ['authorization_code', 'refresh_token'],
          after: ['authorization_code', 'refresh_token', 'introspection'],
        },
      },
    };
    expect(events.filter(({ type }) => type === 'client_updated')).toEqual([told]);
    const again = { name: 'Renamed', addRedirectUris: [OTHER_URI], addScopes: ['notes:write'] };
    expect((await update(client, again)).changes).toEqual({});
    expect(events.filter(({ type }) => type === 'client_updated')).toEqual([told]);
    expect(
      await obtainCode(portal, client, ada, { redirect_uri: OTHER_URI, scope: 'notes:write' }),
    ).toMatch(/./);
    // Its secret is unchanged.
    expect(await (await requestToken(portal, client, { grant_type: 'x' })).json()).toMatchObject({
      error: 'unsupported_grant_type',
    });
  });

  test('accepts only current scopes of the server, and keeps scopes that the server no longer has', async () => {
    const client = await registerClient(portal);
    await portal.application.database.execute(
      'UPDATE oauth_clients SET scope = ? WHERE client_id = ?',
      ['openid notes:old notes:read', client.id],
    );
    await update(client, { name: 'Renamed' });
    expect(await portal.server.clients.find(client.id)).toMatchObject({
      name: 'Renamed',
      scopes: ['openid', 'notes:old', 'notes:read'],
    });
    expect((await portal.server.clients.show(client.id)).scopesNotOffered).toEqual(['notes:old']);
    await update(client, { removeScopes: ['notes:old'] });
    expect((await portal.server.clients.show(client.id)).scopesNotOffered).toEqual([]);
  });

  // @shows AS-30.2
  test.each<[string, string, string, ClientChanges]>([
    ['scope', 'notes:old', 'authorization_code refresh_token', { removeGrants: ['refresh_token'] }],
    ['only grant', 'notes:read', 'switched-off', { addGrants: ['refresh_token'] }],
    [
      'grant that refreshes',
      'notes:read',
      'switched-off refresh_token',
      { removeGrants: ['switched-off'] },
    ],
    [
      'grant for people',
      'openid',
      'switched-off client_credentials',
      { addScopes: ['notes:read'] },
    ],
  ])(
    'can rename a client whose %s is no longer offered, but checks new scopes and grants',
    async (_, scope, grants, refused) => {
      const client = await registerClient(portal);
      const redirectUris = grants.includes('authorization_code')
        ? ['https://client.example/callback']
        : [];
      await portal.application.database.execute(
        'UPDATE oauth_clients SET scope = ?, grants = ?, redirect_uris = ? WHERE client_id = ?',
        [scope, grants, JSON.stringify(redirectUris), client.id],
      );
      const before = await portal.server.clients.find(client.id);
      const renamed = { ...before, name: 'Renamed' };
      await update(client, { name: 'Renamed' });
      expect(await portal.server.clients.find(client.id)).toEqual(renamed);
      await expect(update(client, refused)).rejects.toThrow(/scope|grant/);
      expect(await portal.server.clients.find(client.id)).toEqual(renamed);
    },
  );

  // @shows AS-30.6
  test('is not lost among simultaneous updates', async () => {
    const client = await registerClient(portal, { scopes: ['notes:read'] });
    const uris = Array.from({ length: 6 }, (_, index) => `https://client.example/${index}`);
    await Promise.all([
      ...uris.map((uri) => update(client, { addRedirectUris: [uri] })),
      update(client, { addScopes: ['openid'] }),
      update(client, { name: 'Renamed' }),
    ]);
    const { redirectUris, scopes, name } = (await portal.server.clients.show(client.id)).client;
    expect([...redirectUris].sort()).toEqual([...uris, 'https://client.example/callback'].sort());
    expect([scopes, name]).toEqual([['notes:read', 'openid'], 'Renamed']);
    await Promise.all(uris.map((uri) => update(client, { removeRedirectUris: [uri] })));
    expect((await portal.server.clients.find(client.id))?.redirectUris).toEqual([
      'https://client.example/callback',
    ]);
  });
});

describe('the console', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-client-update-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const run = (...args: readonly string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PUBLIC_URL: portal.url, PORTAL_CONFIG: JSON.stringify(CONFIG) },
    });
  const json = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  // @shows AS-30.1
  test('oauth:client:show prints everything known, except the secrets of the client', async () => {
    const client = await registerClient(portal);
    const { secret } = await portal.server.clients.rotateSecret(client.id, 600_000);
    const { stdout, code } = await run('oauth:client:show', client.id);
    expect(code).toBe(0);
    for (const told of [
      'Test application  (confidential)',
      'by an operator',
      'not recorded',
      'authorization_code, refresh_token',
      'https://client.example/callback',
      'the previous secret is accepted until 20',
      'RS256',
    ]) {
      expect(stdout).toContain(told);
    }
    const printed = await json('oauth:client:show', client.id);
    expect(printed).toMatchObject({
      client_id: client.id,
      status: 'active',
      keys: [],
      registered_by: 'operator',
      previous_secret_expires_at: expect.any(Number),
      scopes_not_offered: [],
      refused_because: null,
      last_used_at: null,
    });
    const { rows } = await portal.application.database.execute<Record<string, string>>(
      'SELECT secret_hash, previous_secret_hash FROM oauth_clients WHERE client_id = ?',
      [client.id],
    );
    for (const hidden of [secret, client.secret, ...Object.values(rows[0] ?? {})]) {
      expect(stdout + JSON.stringify(printed)).not.toContain(hidden);
    }
  });

  // @shows AS-30.1
  test('oauth:client:show prints fields of untrusted clients unambiguously, also as JSON', async () => {
    const { jwk } = newKey('ES256', 'a\u009b2J\u202e"kid');
    const response = await fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Portal (verified)',
        redirect_uris: ['https://client.example/callback'],
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [jwk] },
      }),
    });
    const { client_id: id } = (await response.json()) as { client_id: string };
    const texts = [
      await run('oauth:client:show', id),
      await run('oauth:client:show', id, '--json'),
    ];
    for (const { stdout } of texts) expect(stdout).not.toMatch(/[^\P{C}\n]/u);
    expect(texts[0]?.stdout).toContain('"Portal (verified)"  (confidential, registered itself)');
    expect(texts[0]?.stdout).toContain('"a\\u{9b}2J\\u{202e}\\u{22}kid", EC, thumbprint');
    expect(JSON.parse(texts[1]?.stdout ?? '')).toMatchObject({
      keys: [{ kid: jwk['kid'], kty: 'EC', alg: null }],
    });
  });

  // @shows AS-30.1
  test('oauth:client:show reports a blocked document and an unknown client', async () => {
    const url = 'https://client.example/blocked.json';
    await portal.server.clients.revoke(url);
    expect((await run('oauth:client:show', url)).stdout).toMatch(/status +blocked/);
    const unknown = await run('oauth:client:show', 'a-secret-in-the-wrong-place');
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toContain('No client has this id; see oauth:client:list');
    expect(unknown.stderr).not.toContain('a-secret-in-the-wrong-place');
  });

  // @shows AS-30.8
  test('oauth:client:list prints each client once over its pages, and all clients without paging', async () => {
    const all = JSON.parse((await run('oauth:client:list', '--json')).stdout) as {
      client_id: string;
    }[];
    const found: string[] = [];
    for (let after: string | null = null, pages = 0; pages === 0 || after !== null; pages += 1) {
      const { items, next } = (await json(
        'oauth:client:list',
        '--limit=7',
        ...(after === null ? [] : [`--after=${after}`]),
      )) as { items: { client_id: string }[]; next: string | null };
      expect(items.length).toBeLessThanOrEqual(7);
      found.push(...items.map(({ client_id: id }) => id));
      expect(next).toBe(found.length < all.length ? (found.at(-1) ?? null) : null);
      after = next;
    }
    expect(found).toEqual(all.map(({ client_id: id }) => id).sort());
    const page = await run('oauth:client:list', '--limit=1');
    expect(page.stdout).toContain(found[0]);
    expect(page.stderr).toBe(`There are more. Continue with --after ${found[0]}\n`);
    for (const refused of ['--limit=0', '--limit=1001', '--limit=x', '--after=\n']) {
      expect(await run('oauth:client:list', refused)).toMatchObject({ code: 1, stdout: '' });
    }
  });

  // @shows AS-30.2
  test('oauth:client:update prints what has changed, and reads keys from a file', async () => {
    const client = await registerClient(portal);
    const args = [
      '--name=Renamed',
      `--add-redirect-uri=${OTHER_URI}`,
      '--remove-scope=email,profile',
      '--remove-grant=refresh_token',
    ];
    const { code, stdout, stderr } = await run('oauth:client:update', client.id, ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('client_name: "Test application" → "Renamed"');
    expect(stdout).toContain(
      'grant_types: "authorization_code", "refresh_token" → "authorization_code"',
    );
    expect(await json('oauth:client:show', client.id)).toMatchObject({
      client_name: 'Renamed',
      scope: 'openid notes:read notes:write',
      grant_types: ['authorization_code'],
    });
    const again = await run('oauth:client:update', client.id, '--name=Renamed');
    expect([again.code, again.stdout, again.stderr]).toEqual([
      0,
      '',
      expect.stringContaining('already has these values'),
    ]);

    const keyed = await registerClient(portal, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
      jwks: { keys: [newKey('ES256', 'old').jwk] },
    });
    const file = path.join(folder, 'keys.json');
    await writeFile(file, JSON.stringify({ keys: [newKey('EdDSA', 'fresh').jwk] }));
    const printed = await json('oauth:client:update', keyed.id, `--jwks=${file}`);
    expect(printed).toMatchObject({
      changes: { jwks: { after: [expect.stringMatching(/^fresh /)] } },
    });
    await json('oauth:client:update', keyed.id, '--jwks=https://client.example/keys.json');
    expect((await run('oauth:client:show', keyed.id)).stdout).toContain(
      'publishes at https://client.example/keys.json',
    );
  });

  // @shows AS-30.2
  test('oauth:client:update sets and removes a website', async () => {
    const { id } = await registerClient(portal);
    const given = await json('oauth:client:update', id, '--site=https://client.example/');
    expect(given).toMatchObject({ client_uri: 'https://client.example/' });
    expect(await json('oauth:client:update', id, '--remove-site')).not.toHaveProperty('client_uri');
  });

  test.each<[string, readonly string[], string]>([
    ['nothing', [], 'No changes given'],
    ['a file that does not exist', ['--jwks=/nowhere'], 'cannot be read'],
    ['a scope that is not offered', ['--add-scope=notes:burn'], 'is unknown'],
    [
      'a redirect URI that it does not have',
      ['--remove-redirect-uri=https://client.example/'],
      'does not have the redirect URI',
    ],
  ])('oauth:client:update with %s prints one clear line', async (_, args, says) => {
    const client = await registerClient(portal);
    const { code, stdout, stderr } = await run('oauth:client:update', client.id, ...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(says);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
