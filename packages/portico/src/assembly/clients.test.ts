// @engines sqlite: test/store-contract.test.ts runs on every engine
import { NO_FIELDS } from '../store/no-fields.fixture.ts';
import type { Server } from '../server.ts';
import { ClientParts } from './clients.ts';
import type { PasswordHasher } from '../host/password-hasher.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuditEvent } from '../auditing/audit.ts';
import { demandsOfFeatures } from '../assembly/start-features.ts';
import { FEATURES } from '../features.ts';
import { privateKeyJwt } from '../features/private-key-jwt/index.ts';
import { clientDocuments } from '../features/client-documents/index.ts';
import type { ClientRegistration } from '../clients/registration.ts';
import type { OAuthServerConfig } from '../config.ts';
import { unrepeated } from '../parameters.ts';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import { GRANT_TYPES } from '../../../../test/support/grant-types.ts';
import { profilesWith } from '../../../../test/support/profiles.ts';
import { SingleUses } from '../store/single-uses.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import {
  claimsOf,
  headerOf,
  newKey,
  signed,
  withAssertion,
} from '../../../../test/support/assertions.ts';
import { openWatchedStore, type WatchedStore } from '../../../../test/support/watched-store.ts';
import type { ClientLogos } from '../clients/logos.ts';
import { registration } from '../features/registration/index.ts';
import type { Parts } from '../feature.ts';
import type { Contributions } from './start-features.ts';
import { getPicture } from '../features/logos/picture.ts';

const NOW = 1_800_000_000_000;
const ISSUER = 'https://portal.example/below';
const WEB: ClientRegistration = {
  name: 'Notebook',
  redirectUris: ['https://client.example/callback'],
  scopes: ['notes:read'],
};
const REFUSED = 'The client is unknown or could not be authenticated';
const OWN = newKey('ES256', 'own');
const KEYED = { ...WEB, jwks: { keys: [OWN.jwk] } };
const ALL_ON = {
  private_key_jwt: true,
  dpop: 'accept',
  pushed_authorization_requests: 'accept',
  client_logos: true,
  registration: 'open',
} as const;

const LOGOS: ClientLogos = {
  path: '/oauth/logo',
  pictureOf: (named) => getPicture(named, () => Promise.reject(new Error('Nothing is fetched'))),
};

const hasher: PasswordHasher = {
  hash: async (secret) => `hash of ${secret}`,
  verify: async (secret, hash) => hash === `hash of ${secret}`,
};

let watched: WatchedStore;
let now = NOW;
let address = 1;
const events: AuditEvent[] = [];
const pruning = { tick: async () => undefined } as Server['pruning'];

beforeAll(async () => {
  watched = await openWatchedStore();
});
afterAll(() => watched.close());
beforeEach(() => {
  now = NOW;
  address += 1;
  events.length = 0;
});

function serverWith(config: Partial<OAuthServerConfig>): Server {
  const scopes = createScopeCatalog({ 'notes:read': 'Read notes' });
  const host = {
    passwordHasher: hasher,
    clientAddress: () => `192.0.2.${address}`,
    loadAccount: async ({ id }: { readonly id: string }) => (id === 'ada' ? {} : null),
  };
  return {
    issuer: ISSUER,
    config: config as OAuthServerConfig,
    store: watched.store,
    singleUses: new SingleUses(watched.store.singleUses, pruning),
    host,
    scopes,
    keys: { algorithms: ALGORITHMS, all: async () => [{ algorithm: 'RS256' }] },
    profiles: profilesWith({ private_key_jwt: true, dpop: 'accept', ...config }),
    // In these tests, every hostname resolves to an address that the server must not contact.
    fetching: {
      allowsLoopback: false,
      anyPort: false,
      clock: () => now,
      resolve: async () => ['127.0.0.1'],
    },
    takesKeys: () => config.private_key_jwt === true,
    grantTypes: () => GRANT_TYPES,
    demands: demandsOfFeatures(FEATURES, config as OAuthServerConfig),
    furtherMetadata: NO_FIELDS,
    audit: async (event: AuditEvent) => void events.push(event),
    pruning,
    clock: () => now,
    random: () => 1,
  } as Partial<Record<keyof Server, unknown>> as Server;
}

function clientPartsWith(config: Partial<OAuthServerConfig> = {}): ClientParts {
  const server = serverWith(config);
  const documents = {
    ...server.config,
    client_id_metadata_documents: { denied_hosts: ['denied.example'] },
  };
  return new ClientParts(server, {
    logos: config.client_logos === true ? LOGOS : null,
    clientSource: clientDocuments.start?.(server, documents)?.clientSource ?? null,
    clientAssertions: privateKeyJwt.start?.(server, server.config)?.clientAssertions ?? null,
    workloads: [],
    secretHasher: null,
  } as Partial<Contributions> as Contributions);
}

/** Creates the feature with which clients register themselves, and its endpoint. */
function registrationWith(config: Partial<OAuthServerConfig> = {}) {
  const started = registration.start?.(serverWith(config), config as OAuthServerConfig) ?? {};
  const parts = clientPartsWith(config) as unknown as Parts;
  const { oauth_server_register: register } = started.handlers?.(parts) ?? {};
  return { register, initialAccessTokens: started.members?.(parts).initialAccessTokens };
}

const refusalOf = async (asked: Promise<unknown>): Promise<string> => {
  const refused: unknown = await asked.then(
    () => 'It was not refused',
    (error: unknown) => error,
  );
  return refused instanceof Error ? refused.message : String(refused);
};

/** Returns the client that these credentials authenticate, at the endpoints with these paths. */
async function proved(
  parts: ClientParts,
  form: Readonly<Record<string, string>>,
  ...paths: readonly string[]
): Promise<string> {
  const authentication = parts.authenticating((id) => parts.clients.find(id), ...paths);
  const sent = new URLSearchParams(form);
  const client = await authentication.authenticate(
    new Request(`${ISSUER}/oauth/token`, { method: 'POST', body: sent }),
    unrepeated(sent),
  );
  return client.id;
}

describe('an operator or a client cannot register a client that needs a disabled feature', () => {
  const PICTURE = Buffer.from('GIF89a\x08\0\x08\0', 'latin1');
  const switches: readonly (readonly [
    Partial<OAuthServerConfig>,
    Partial<ClientRegistration>,
    Readonly<Record<string, unknown>> | null,
    string,
  ])[] = [
    [
      { private_key_jwt: true },
      { jwks: { keys: [OWN.jwk] } },
      { jwks: { keys: [OWN.jwk] }, token_endpoint_auth_method: 'private_key_jwt' },
      'oauth_server:private_key_jwt is off; set it to true first',
    ],
    [
      { pushed_authorization_requests: 'accept' },
      { requirePushedAuthorizationRequests: true },
      { require_pushed_authorization_requests: true },
      'oauth_server:pushed_authorization_requests is off; set it to "accept" or "require" first',
    ],
    [
      { dpop: 'accept' },
      { dpopBoundAccessTokens: true },
      { dpop_bound_access_tokens: true },
      'oauth_server:dpop is off; set it to "accept" first',
    ],
    [
      { client_logos: true },
      { logo: PICTURE },
      null,
      'oauth_server:client_logos is off; set it to true first',
    ],
  ];
  const OFF = {
    private_key_jwt: false,
    pushed_authorization_requests: 'off',
    dpop: 'off',
    client_logos: false,
  } as const;

  test.each(switches)('%j', async (on, asked, metadata, says) => {
    const create = (config: Partial<OAuthServerConfig>) =>
      refusalOf(clientPartsWith(config).clients.create({ ...WEB, ...asked }));
    for (const config of [{}, OFF, { ...ALL_ON, ...pick(OFF, Object.keys(on)) }])
      expect(await create(config)).toBe(says);
    for (const config of [on, ALL_ON]) expect(await create(config)).toBe('It was not refused');
    if (metadata === null) return;
    const status = async (config: Partial<OAuthServerConfig>) => {
      const endpoint = registrationWith({ registration: 'open', ...config }).register;
      const body = JSON.stringify({
        redirect_uris: ['https://client.example/callback'],
        ...metadata,
      });
      const headers = { 'Content-Type': 'application/json' };
      const request = new Request(`${ISSUER}/oauth/register`, { method: 'POST', headers, body });
      return endpoint?.(request).then(
        ({ body: answer }) => Object.keys(JSON.parse(String(answer)) as object),
        () => [],
      );
    };
    const [told = ''] = Object.keys(metadata);
    expect(await status(on)).toContain(told);
    expect(await status({})).not.toContain(told);
  });

  const pick = (from: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

  test('and a client with keys gets no new ones while keys are disabled', async () => {
    const { client } = await clientPartsWith({ private_key_jwt: true }).clients.create(KEYED);
    const jwks = { keys: [newKey('ES256').jwk] };
    const update = (config: Partial<OAuthServerConfig>) =>
      refusalOf(clientPartsWith(config).clients.update(client.id, { jwks }));
    expect(await update({})).toBe('oauth_server:private_key_jwt is off; set it to true first');
    expect(await update({ private_key_jwt: true })).toBe('It was not refused');
  });
});

describe('dynamic client registration', () => {
  test('has no endpoint unless it is enabled', () => {
    expect(registrationWith().register).toBeUndefined();
    expect(registrationWith({ registration: 'off' }).register).toBeUndefined();
    expect(registrationWith({ registration: 'open' }).register).toBeDefined();
  });

  test.each<['open' | 'initial_access_token', number | string]>([
    ['open', 201],
    ['initial_access_token', 'missing_token'],
  ])('follows its configured mode: %s', async (mode, outcome) => {
    const { register, initialAccessTokens } = registrationWith({ registration: mode });
    const ask = (headers: Readonly<Record<string, string>>) =>
      register?.(
        new Request(`${ISSUER}/oauth/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify({ redirect_uris: ['https://client.example/callback'] }),
        }),
      ).then(
        ({ status, body }) => [status, String(body)] as const,
        (error: unknown) => [(error as { readonly code: string }).code, ''] as const,
      );
    expect((await ask({}))?.[0]).toBe(outcome);
    const { token = '' } = (await initialAccessTokens?.create({})) ?? {};
    const answer = await ask({ Authorization: `Bearer ${token}` });
    expect(answer?.[0]).toBe(201);
    const { registration_client_uri: at } = JSON.parse(answer?.[1] ?? '{}') as Record<
      string,
      string
    >;
    expect(at).toMatch(`${ISSUER}/oauth/register?client_id=`);
  });
});

describe('revoking an unknown client id', () => {
  test('blocks it if it can be a document URL, and is refused for any other id', async () => {
    const { clients } = clientPartsWith();
    const url = `https://client.example/${crypto.randomUUID()}.json`;
    expect(await clients.revoke(url)).toMatchObject({ wasKnown: false });
    expect(await refusalOf(clients.revoke('https://127.0.0.1/client.json'))).toContain(
      'This URL cannot be a client id: it has an IP address',
    );
    expect(await refusalOf(clients.revoke('unknown'))).toContain('No client has this id');
  });
});

test('secrets are checked by the hasher of the host, unless a feature has another one', async () => {
  const verify = (secretHasher: typeof hasher | null) =>
    new ClientParts(serverWith({}), {
      logos: null,
      clientSource: null,
      clientAssertions: null,
      workloads: [],
      secretHasher,
    } as Partial<Contributions> as Contributions).secrets;
  const { client, secret } = await clientPartsWith().clients.create(WEB);
  const stored = await watched.store.clients.findClient(client.id);
  expect(await verify(null).verify(stored, secret ?? '', client.id)).toBe(true);
  const strict = { ...hasher, verify: async () => false };
  expect(await verify(strict).verify(stored, secret ?? '', client.id)).toBe(false);
});

describe('client authentication', () => {
  test('accepts the secret, and slows down repeated failures from one network at every endpoint', async () => {
    const parts = clientPartsWith();
    const { client, secret } = await parts.clients.create(WEB);
    const form = { client_id: client.id, client_secret: 'wrong' };
    for (let count = 0; count < 5; count += 1)
      expect(await refusalOf(proved(parts, form, '/oauth/token'))).toContain(REFUSED);
    await expect(proved(parts, form, '/oauth/par')).rejects.toMatchObject({
      name: 'TooManyFailuresError',
    });
    address += 1;
    expect(await proved(parts, { ...form, client_secret: secret ?? '' }, '/oauth/par')).toBe(
      client.id,
    );
    expect(events.map(({ type }) => type)).toContain('client_authentication_slowed');
  });

  test('accepts an assertion whose audience is the issuer or one of its endpoints', async () => {
    const parts = clientPartsWith({ private_key_jwt: true });
    const { client } = await parts.clients.create(KEYED);
    const asserting = (audience: string) =>
      withAssertion(signed(OWN, headerOf(OWN), claimsOf(client.id, audience, now)));
    const paths = ['/oauth/par', '/oauth/token'];
    for (const audience of [ISSUER, ...paths.map((path) => `${ISSUER}${path}`)])
      expect(await proved(parts, asserting(audience), ...paths)).toBe(client.id);
    for (const audience of [
      `${ISSUER}/oauth/par`,
      'https://portal.example/oauth/token',
      '/oauth/token',
    ])
      expect(await refusalOf(proved(parts, asserting(audience), '/oauth/token'))).toContain(
        REFUSED,
      );
    const again = asserting(ISSUER);
    await proved(parts, again);
    expect(await refusalOf(proved(parts, again))).toContain(REFUSED);
  });

  test('refuses an assertion while keys are disabled', async () => {
    const { client } = await clientPartsWith({ private_key_jwt: true }).clients.create(KEYED);
    const assertion = withAssertion(signed(OWN, headerOf(OWN), claimsOf(client.id, ISSUER, now)));
    for (const config of [{}, { private_key_jwt: false }])
      await expect(proved(clientPartsWith(config), assertion)).rejects.toMatchObject({
        name: 'OAuthError',
      });
  });

  test('reports that the published keys of this client cannot be fetched, not those of others', async () => {
    const on = clientPartsWith({ private_key_jwt: true });
    const jwksUri = 'https://client.example/keys';
    const { client } = await on.clients.create({ ...WEB, jwksUri });
    expect(await on.keyProblems(client)).toEqual([
      expect.stringContaining('they cannot be fetched') as string,
    ]);
    const assertion = withAssertion(signed(OWN, headerOf(OWN), claimsOf(client.id, ISSUER, now)));
    await expect(proved(on, assertion)).rejects.toMatchObject({ name: 'ClientKeysError' });
    expect(await clientPartsWith().keyProblems(client)).toEqual([]);
    expect(await on.keyProblems((await on.clients.create(WEB)).client)).toEqual([]);
    expect(await on.keyProblems((await on.clients.create(KEYED)).client)).toEqual([]);
    const workload = { issuer: 'https://ci.example', subject: 'repo:a/b' };
    const keys = { jwks: null, jwksUri: null, algorithm: null, workload };
    expect(await on.keyProblems({ ...client, keys })).toEqual([]);
  });

  test('fetches no keys for a document from a host that documents may not use', async () => {
    const on = clientPartsWith({ private_key_jwt: true });
    const { client } = await on.clients.create({ ...WEB, jwksUri: 'https://denied.example/keys' });
    const id = `https://denied.example/${crypto.randomUUID()}.json`;
    await watched.store.clients.insertClient({ ...client, id, registeredBy: 'document' });
    const assertion = withAssertion(signed(OWN, headerOf(OWN), claimsOf(id, ISSUER, now)));
    await expect(proved(on, assertion)).rejects.toMatchObject({
      detail: expect.stringContaining('denied.example is one of denied_hosts') as string,
    });
  });
});
