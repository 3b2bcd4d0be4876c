// @engines sqlite: test/store-contract.test.ts runs on every engine
import { NO_FIELDS } from '../store/no-fields.fixture.ts';
import type { PasswordHasher } from '../host/password-hasher.ts';
import { fetchableUrlProblem } from '../http/outbound/fetchable-urls.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuditEvent } from '../auditing/audit.ts';
import { demands } from '../store/client-demands.fixture.ts';
import type { ClientSource } from './client-source.ts';
import { Clients } from './clients.ts';
import type { ClientRegistration } from './registration.ts';
import type { ClientChanges } from './changed-client.ts';
import { profilesWith } from '../../../../test/support/profiles.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { ClientRecords } from '../store/sql/clients.ts';
import { Store } from '../../../../test/support/store.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import { GRANT_TYPES } from '../../../../test/support/grant-types.ts';
import { newKey } from '../../../../test/support/assertions.ts';
import { openWatchedStore, type WatchedStore } from '../../../../test/support/watched-store.ts';
import type { ClientLogos } from './logos.ts';
import type { FetchImage } from '../http/outbound/fetch-json.ts';
import { getPicture } from '../features/logos/picture.ts';

const NOW = 1_795_240_016_123;
const DAY = 86_400_000;
const BY = { by: { provider: 'accounts', id: 'the administrator' } };
const CALLBACK = 'https://client.example/callback';
const OTHER = 'https://client.example/other';
const WEB: ClientRegistration = {
  name: 'Notebook',
  redirectUris: [CALLBACK],
  scopes: ['openid', 'notes:read'],
};
const SERVICE: ClientRegistration = {
  name: 'Robot',
  scopes: ['notes:read'],
  grants: ['client_credentials'],
};
const [OLD, FRESH, BIG] = [
  newKey('ES256', 'old'),
  newKey('EdDSA', 'fresh'),
  newKey('PS256', 'big'),
];
const KEYED = { ...SERVICE, jwks: { keys: [OLD.jwk] } };
/** The smallest possible pictures. */
const gif = (side: string) => Buffer.from(`GIF89a${side}\0${side}\0`, 'latin1');
const [LOGO, ANOTHER] = [gif('\x08'), gif('\x09')];

const hasher: PasswordHasher = {
  hash: async (secret) => `hash of ${secret}`,
  verify: async (secret, hash) => hash === `hash of ${secret}`,
};

let watched: WatchedStore;
let clients: Clients;
let now = NOW;
const events: AuditEvent[] = [];

beforeAll(async () => {
  watched = await openWatchedStore();
});
afterAll(() => watched.close());
beforeEach(() => {
  now = NOW;
  events.length = 0;
  clients = clientsWith();
});

const fetchedBy = (fetchImage: FetchImage): ClientLogos => ({
  path: '/oauth/logo',
  pictureOf: (named) => getPicture(named, fetchImage),
});

const LOGOS = fetchedBy(async (url) => (url.pathname === '/logo' ? LOGO : ANOTHER));

const DOCUMENTS = {
  unblock: (url) => watched.store.documentClients.unblockDocumentClient(url, now),
} satisfies Partial<ClientSource> as Partial<ClientSource> as ClientSource;

function clientsWith(
  changes: Partial<Server> = {},
  logos: ClientLogos | null = LOGOS,
  source: ClientSource | null = DOCUMENTS,
): Clients {
  const server = {
    store: watched.store,
    scopes: createScopeCatalog({ 'notes:read': 'Read notes', 'notes:write': 'Write notes' }),
    keys: {
      algorithms: ALGORITHMS,
      all: async () => ['RS256', 'ES256'].map((algorithm) => ({ algorithm })),
    },
    takesKeys: () => true,
    grantTypes: () => GRANT_TYPES,
    demands: demands(),
    furtherMetadata: NO_FIELDS,
    profiles: profilesWith({
      private_key_jwt: true,
      dpop: 'accept',
      pushed_authorization_requests: 'accept',
    }),
    fetching: {},
    host: { passwordHasher: hasher },
    clock: () => now,
    audit: async (event: AuditEvent) => void events.push(event),
    ...changes,
  };
  return new Clients(server as unknown as Server, logos, source);
}

/** Returns the id of a new client. Clears the recorded event. */
async function registered(registration: ClientRegistration = WEB): Promise<string> {
  const { client } = await clients.create(registration);
  events.length = 0;
  return client.id;
}

/** Returns the id of a client that no operator registered. */
async function unregistered(changes: Partial<Client>): Promise<string> {
  const id = await registered();
  const { client } = await clients.show(id);
  const other = {
    ...client,
    secretHash: null,
    previousSecretHash: null,
    id: `other-${id}`,
    public: true,
  };
  await watched.store.clients.insertClient({ ...other, ...changes });
  return changes.id ?? other.id;
}

const found = (id: string) => clients.find(id);
const refusal = (problem: string) =>
  expect.objectContaining({ name: 'RegistrationError', message: problem }) as Error;

describe('registering a client', () => {
  test('stores it as described, with the hash of a secret that is returned once', async () => {
    const { client, secret } = await clients.create(WEB, BY);
    expect(client).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      name: 'Notebook',
      redirectUris: [CALLBACK],
      scopes: ['openid', 'notes:read'],
      grants: ['authorization_code', 'refresh_token'],
      idTokenSignedResponseAlg: 'RS256',
      applicationType: 'web',
      registeredBy: 'operator',
      public: false,
      keys: null,
      pushesRequests: false,
      dpopBoundAccessTokens: false,
      profile: null,
      secretHash: `hash of ${secret}`,
      secretExpiresAt: null,
      previousSecretHash: null,
      previousSecretExpiresAt: null,
      createdAt: NOW,
      usedAt: null,
      revokedAt: null,
    });
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await found(client.id)).toEqual(client);
    expect(events).toEqual([
      { type: 'client_registered', clientId: client.id, registeredBy: 'operator', ...BY },
    ]);
  });

  test.each<[string, Partial<ClientRegistration>]>([
    ['is public', { public: true }],
    ['has keys', { jwks: { keys: [OLD.jwk] } }],
  ])('creates no secret for a client that %s', async (_, more) => {
    const { client, secret } = await clients.create({ ...WEB, ...more });
    expect([secret, client.secretHash]).toEqual([null, null]);
    expect(events).toEqual([
      { type: 'client_registered', clientId: client.id, registeredBy: 'operator' },
    ]);
  });

  test('stores its site and its logo', async () => {
    const { client } = await clients.create({
      ...WEB,
      siteUri: 'https://client.example',
      logo: LOGO,
    });
    expect(await found(client.id)).toMatchObject({
      siteUri: 'https://client.example/',
      logoHash: client.logoHash,
    });
    expect(await watched.store.logos.findLogo(client.id, client.logoHash ?? '')).toMatchObject({
      mediaType: 'image/gif',
    });
    const fetched = await clients.create({ ...WEB, logoUri: 'https://client.example/logo' });
    expect(fetched.client.logoHash).toBe(client.logoHash);
    await expect(clients.create({ ...WEB, siteUri: 'http://client.example' })).rejects.toThrow(
      'https URL',
    );
  });

  test('refuses a logo while the server has none', async () => {
    const off = clientsWith({}, null);
    for (const logo of [{ logo: LOGO }, { logoUri: 'https://client.example/logo' }])
      await expect(off.create({ ...WEB, ...logo })).rejects.toThrow(
        refusal('oauth_server:client_logos is off; set it to true first'),
      );
    expect(events).toEqual([]);
  });

  test('refuses invalid input without an event', async () => {
    await expect(clients.create({ ...WEB, name: '' })).rejects.toThrow('needs a name');
    await expect(clients.createUnless({ ...WEB, name: '' }, () => false)).rejects.toThrow(
      'needs a name',
    );
    expect(events).toEqual([]);
  });

  test('returns an existing active client without a secret instead', async () => {
    const name = `Only one, ${crypto.randomUUID()}`;
    const isThere = (client: Client) => client.name === name;
    const first = await clients.createUnless({ ...WEB, name, logo: LOGO }, isThere, BY);
    expect(first).toMatchObject({ created: true, secret: expect.stringMatching(/./) as string });
    expect(first.client.secretHash).toBe(`hash of ${first.secret}`);
    expect(
      await watched.store.logos.findLogo(first.client.id, first.client.logoHash ?? ''),
    ).not.toBeNull();
    const again = await clients.createUnless({ ...WEB, name }, isThere, BY);
    expect(again).toEqual({ client: first.client, secret: null, created: false });
    const told = { type: 'client_registered', registeredBy: 'operator', ...BY };
    expect(events).toEqual([{ ...told, clientId: first.client.id }]);
    await clients.revoke(first.client.id);
    events.length = 0;
    const next = await clients.createUnless({ ...WEB, name }, isThere, BY);
    expect(next.created).toBe(true);
    expect(next.client.id).not.toBe(first.client.id);
    expect(events).toEqual([{ ...told, clientId: next.client.id }]);
  });
});

describe('finding a client', () => {
  test('does not query the store for an invalid id', async () => {
    const id = await registered();
    watched.reads.length = 0;
    for (const none of ['', 'a\nb', 'ä', '\u007F', 'x'.repeat(256)])
      expect(await found(none)).toBeNull();
    expect(watched.reads).toEqual([]);
    expect(await found('x'.repeat(255))).toBeNull();
    expect(await found(id)).toMatchObject({ id });
    expect(watched.reads).toHaveLength(2);
  });

  test('returns a revoked client, but not an expired one that registered itself', async () => {
    const revoked = await registered();
    await clients.revoke(revoked);
    expect(await found(revoked)).toMatchObject({ revokedAt: NOW });
    const itself = await unregistered({ registeredBy: 'registration' });
    now += DAY - 1;
    expect(await found(itself)).toMatchObject({ id: itself });
    now += 1;
    expect(await found(itself)).toBeNull();
    await expect(clients.show(itself)).rejects.toThrow('No client has this id');
    expect(await found(revoked)).not.toBeNull();
  });

  test('shows it without its hashes, and with the reason if it is refused', async () => {
    const id = await registered();
    const shown = await clients.show(id);
    expect(shown).toMatchObject({
      client: { id },
      status: 'active',
      secret: { previousAcceptedUntil: null },
    });
    expect(shown).toMatchObject({ scopesNotOffered: [], refusal: null });
    expect(shown.client).not.toHaveProperty('secretHash');
    await clients.rotateSecret(id, 60);
    expect((await clients.show(id)).secret).toEqual({ previousAcceptedUntil: NOW + 60_000 });
    const refusing = Object.assign(profilesWith(), { refusal: () => 'not of the profile' });
    expect((await clientsWith({ profiles: refusing }).show(id)).refusal).toBe('not of the profile');
    await expect(clients.show('unknown')).rejects.toThrow(
      refusal('No client has this id; see oauth:client:list'),
    );
  });

  test('shows why the configuration refuses a document, unless an operator has blocked it', async () => {
    const url = `https://docs.example/${crypto.randomUUID()}`;
    const id = await unregistered({ id: url, registeredBy: 'document' });
    const stored = await watched.store.clients.findStoredClient(id);
    if (stored === null) throw new Error('It is not stored');
    const blocked = { ...stored, revokedAt: NOW };
    const shown = async (
      records: { readonly now: Client; readonly stored: Client | null },
      source: Partial<ClientSource> | null = { refusal: (asked: string) => `no ${asked}` },
    ) => {
      const store = {
        clients: {
          findClient: async () => records.now,
          findStoredClient: async () => records.stored,
        } satisfies Partial<ClientRecords>,
      } as unknown as Store;
      const { status, refusal: why } = await clientsWith(
        { store },
        LOGOS,
        source as ClientSource | null,
      ).show(id);
      return [status, why];
    };
    const refused = { now: blocked, stored };
    expect(await shown(refused)).toEqual(['active', `no ${id}`]);
    expect(await shown(refused, { refusal: () => null })).toEqual(['blocked', null]);
    expect(await shown(refused, null)).toEqual(['blocked', null]);
    expect(await shown({ now: blocked, stored: blocked })).toEqual(['blocked', null]);
    expect(await shown({ now: blocked, stored: null })).toEqual(['blocked', null]);
    expect(await shown({ now: stored, stored })).toEqual(['active', null]);
    const itself = { ...blocked, registeredBy: 'operator' } as const;
    expect(await shown({ now: itself, stored })).toEqual(['revoked', null]);
  });

  test('shows the metadata of features by the ids of the clients', async () => {
    const furtherMetadata = {
      findAll: async (ids: readonly string[]) => new Map(ids.map((id) => [id, { field: [id] }])),
    } as unknown as Server['furtherMetadata'];
    const found = await clientsWith({ furtherMetadata }).metadataOf([
      { id: 'a' },
      { id: 'b' },
    ] as Client[]);
    expect([...found]).toEqual([
      ['a', { field: ['a'] }],
      ['b', { field: ['b'] }],
    ]);
  });

  test('lists all clients, or one page of them', async () => {
    const id = await registered();
    const all = await clients.list();
    expect(all.map((client) => client.id)).toContain(id);
    expect((await clients.page()).items).toHaveLength(Math.min(all.length, 50));
    expect(await clients.page({ limit: 1 })).toMatchObject({
      items: [{}],
      next: expect.any(String) as string,
    });
  });
});

describe('rotating a secret', () => {
  const YEAR = 31_536_000;

  test.each([
    [undefined, NOW + DAY],
    [1, NOW + 1000],
    [YEAR, NOW + YEAR * 1000],
    [0, null],
  ])('keeps the previous one for an overlap of %s seconds', async (overlap, previousExpiresAt) => {
    const { client, secret: before } = await clients.create(WEB);
    events.length = 0;
    const { secret, ...rotated } = await clients.rotateSecret(client.id, overlap, BY);
    expect(rotated).toEqual({ previousExpiresAt });
    expect(secret).not.toBe(before);
    expect(await found(client.id)).toMatchObject({
      secretHash: `hash of ${secret}`,
      previousSecretHash: overlap === 0 ? null : client.secretHash,
      previousSecretExpiresAt: previousExpiresAt,
    });
    expect(events).toEqual([
      { type: 'secret_rotated', clientId: client.id, previousExpiresAt, ...BY },
    ]);
  });

  test.each([-1, 0.5, Number.NaN, YEAR + 1])(
    'refuses an overlap of %d seconds',
    async (overlap) => {
      await expect(clients.rotateSecret(await registered(), overlap)).rejects.toThrow(
        refusal('The overlap must be from 0 to 31536000 seconds'),
      );
    },
  );

  test('refuses a client without a secret, and changes nothing', async () => {
    const revoked = await registered();
    await clients.revoke(revoked);
    const keyed = await registered({ ...WEB, jwks: { keys: [OLD.jwk] } });
    events.length = 0;
    for (const [id, problem] of [
      ['unknown', 'No client has this id; see oauth:client:list'],
      [revoked, 'The client is already revoked'],
      [keyed, 'A client that authenticates with its keys has no secret to rotate'],
      [await registered({ ...WEB, public: true }), 'A public client has no secret to rotate'],
    ] as const)
      await expect(clients.rotateSecret(id)).rejects.toThrow(refusal(problem));
    expect(events).toEqual([]);
  });

  test('succeeds for only one of two simultaneous calls', async () => {
    const { client } = await clients.create(WEB);
    events.length = 0;
    const seen = { secretHash: client.secretHash };
    const { secret } = await clients.rotateSecret(client.id, 0, { ...BY, seen });
    await expect(clients.rotateSecret(client.id, 0, { ...BY, seen })).rejects.toThrow(
      refusal('The client was revoked or its secret was changed at the same time; try again'),
    );
    expect(await found(client.id)).toMatchObject({ secretHash: `hash of ${secret}` });
    expect(events).toHaveLength(1);
    // If the caller does not pass `seen`, the rotation does not check for other changes.
    await clients.rotateSecret(client.id, 0, { ...BY });
    expect(events).toHaveLength(2);
  });

  // @shows AS-5.8
  test('keeps the secret in use if another rotation happens meanwhile, or ends all', async () => {
    const { client } = await clients.create(WEB);
    const meanwhile = () => {
      const act = () => clients.rotateSecret(client.id);
      watched.meanwhile = { before: /^UPDATE oauth_clients/, act };
    };
    meanwhile();
    await expect(clients.rotateSecret(client.id)).rejects.toThrow('at the same time');
    expect(await found(client.id)).toMatchObject({ previousSecretHash: client.secretHash });
    meanwhile();
    const { secret } = await clients.rotateSecret(client.id, 0);
    expect(await found(client.id)).toMatchObject({
      secretHash: `hash of ${secret}`,
      previousSecretHash: null,
    });
  });

  test('is refused if the client is revoked meanwhile', async () => {
    const id = await registered();
    watched.meanwhile = {
      before: /^UPDATE oauth_clients/,
      act: () => watched.store.clients.revokeClient(id, NOW),
    };
    await expect(clients.rotateSecret(id)).rejects.toThrow('at the same time');
    expect(events).toEqual([]);
  });
});

describe('revoking a client', () => {
  test('takes effect once, and returns the client', async () => {
    const id = await registered();
    const before = await found(id);
    expect(await clients.revoke(id, BY)).toEqual({ client: before, wasKnown: true });
    expect(events).toEqual([
      { type: 'client_revoked', clientId: id, registeredBy: 'operator', ...BY },
    ]);
    await expect(clients.revoke(id)).rejects.toThrow(refusal('The client is already revoked'));
    await expect(clients.revoke('unknown')).rejects.toThrow('No client has this id');
    expect(events).toHaveLength(1);
  });

  test('blocks the URL of an unused document, with only the host as its name', async () => {
    const url = `https://unseen.example/${crypto.randomUUID()}.json`;
    const { client, wasKnown } = await clients.revoke(url, BY);
    expect(wasKnown).toBe(false);
    expect(await found(url)).toEqual(client);
    expect(client).toEqual({
      id: url,
      name: 'unseen.example',
      redirectUris: [],
      scopes: [],
      grants: [],
      idTokenSignedResponseAlg: 'RS256',
      applicationType: 'web',
      registeredBy: 'document',
      public: true,
      keys: null,
      pushesRequests: false,
      dpopBoundAccessTokens: false,
      profile: null,
      secretHash: null,
      secretExpiresAt: null,
      previousSecretHash: null,
      previousSecretExpiresAt: null,
      createdAt: NOW,
      usedAt: null,
      revokedAt: NOW,
    });
    const told = { type: 'client_revoked', clientId: url, registeredBy: 'document' };
    expect(events).toEqual([{ ...told, ...BY }]);
    await expect(clients.revoke(url)).rejects.toThrow(refusal('The client is already revoked'));
  });

  test('also blocks a document that a person is being shown, and a known one', async () => {
    const url = `https://shown.example/${crypto.randomUUID()}.json`;
    const shown = () => unregistered({ id: url, registeredBy: 'document' });
    watched.meanwhile = { before: /^INSERT/, act: shown };
    expect(await clients.revoke(url)).toMatchObject({ wasKnown: true });
    expect(await found(url)).toMatchObject({ name: 'Notebook', revokedAt: NOW });
    const known = `https://known.example/${crypto.randomUUID()}.json`;
    await unregistered({ id: known, registeredBy: 'document' });
    expect(await clients.revoke(known)).toMatchObject({
      client: { id: known, revokedAt: null },
      wasKnown: true,
    });
    expect(await found(known)).toMatchObject({ revokedAt: NOW });
  });

  test('refuses a URL that cannot be a client, and explains why', async () => {
    const url = 'https://127.0.0.1/client.json';
    const problem = fetchableUrlProblem(url);
    expect(problem).not.toBeNull();
    await expect(clients.revoke(url)).rejects.toThrow(
      refusal(`This URL cannot be a client id: it ${problem}`),
    );
    expect(await found(url)).toBeNull();
  });
});

describe('unblocking the URL of a document', () => {
  test('needs the feature for documents', async () => {
    const id = await unregistered({ registeredBy: 'document', revokedAt: NOW });
    await expect(clientsWith({}, LOGOS, null).unblock(id)).rejects.toThrow(
      'Only the URL of a client document can be unblocked',
    );
  });

  test('makes it usable again, once', async () => {
    const url = `https://again.example/${crypto.randomUUID()}.json`;
    await clients.revoke(url);
    events.length = 0;
    await clients.unblock(url, BY);
    expect(await found(url)).toMatchObject({ revokedAt: null });
    expect(events).toEqual([
      { type: 'client_unblocked', clientId: url, registeredBy: 'document', ...BY },
    ]);
    await expect(clients.unblock(url)).rejects.toThrow(refusal('This URL is not blocked'));
    expect(events).toHaveLength(1);
  });

  test('does nothing to any other client', async () => {
    const id = await registered();
    await clients.revoke(id);
    await expect(clients.unblock(id)).rejects.toThrow(
      refusal(
        'Only the URL of a client document can be unblocked; other clients stay revoked. ' +
          'Register a new client instead',
      ),
    );
    await expect(clients.unblock('https://nobody.example/c.json')).rejects.toThrow(
      'No client has this id',
    );
  });
});

describe('changing a client', () => {
  const update = async (id: string, changes: ClientChanges) =>
    (await clients.update(id, changes, BY)).changes;

  test('reports each changed field, and keeps all others', async () => {
    const id = await registered({ ...WEB, siteUri: 'https://client.example/', logo: LOGO });
    const before = await found(id);
    const { client, changes } = await clients.update(
      id,
      {
        name: 'Renamed',
        addRedirectUris: [OTHER],
        removeRedirectUris: [CALLBACK],
        addScopes: ['notes:write', 'offline_access'],
        removeScopes: ['notes:read'],
        addGrants: ['introspection'],
        removeGrants: ['refresh_token'],
        siteUri: 'https://other.example',
        logo: ANOTHER,
      },
      BY,
    );
    const logoHash = client.logoHash ?? null;
    expect(changes).toEqual({
      client_name: { before: 'Notebook', after: 'Renamed' },
      redirect_uris: { before: [CALLBACK], after: [OTHER] },
      scope: { before: ['openid', 'notes:read'], after: ['openid', 'notes:write'] },
      grant_types: {
        before: ['authorization_code', 'refresh_token'],
        after: ['authorization_code', 'introspection'],
      },
      client_uri: { before: 'https://client.example/', after: 'https://other.example/' },
      logo_sha256: { before: before?.logoHash, after: logoHash },
    });
    expect(logoHash).not.toBe(before?.logoHash);
    expect(client).toEqual({
      ...before,
      name: 'Renamed',
      redirectUris: [OTHER],
      scopes: ['openid', 'notes:write'],
      grants: ['authorization_code', 'introspection'],
      siteUri: 'https://other.example/',
      logoHash,
    });
    expect(await found(id)).toEqual(client);
    expect(await watched.store.logos.findLogo(id, logoHash ?? '')).not.toBeNull();
    expect(events).toEqual([
      { type: 'client_updated', clientId: id, registeredBy: 'operator', changes, ...BY },
    ]);
  });

  test('to its current values writes nothing, and records no event', async () => {
    const id = await registered({ ...WEB, siteUri: 'https://client.example/', logo: LOGO });
    const before = await found(id);
    watched.writes.length = 0;
    const same = {
      addRedirectUris: [CALLBACK],
      addScopes: ['openid'],
      siteUri: 'https://client.example',
    };
    for (const changes of [{}, same, { ...same, logo: LOGO }])
      expect(await clients.update(id, changes)).toEqual({ client: before, changes: {} });
    expect(watched.writes).toEqual([]);
    expect(events).toEqual([]);
    watched.reads.length = 0;
    await clients.update(id, {});
    expect(watched.reads).toHaveLength(1);
  });

  test('keeps its site and its logo, and can remove each of them', async () => {
    const id = await registered({ ...WEB, siteUri: 'https://client.example/', logo: LOGO });
    const { logoHash } = (await found(id)) ?? {};
    await update(id, { name: 'Renamed' });
    expect(await found(id)).toMatchObject({ siteUri: 'https://client.example/', logoHash });
    expect(await watched.store.logos.findLogo(id, logoHash ?? '')).not.toBeNull();
    expect(await update(id, { siteUri: null })).toEqual({
      client_uri: { before: 'https://client.example/', after: null },
    });
    expect(await found(id)).not.toHaveProperty('siteUri');
    expect((await clients.update(id, { name: 'Renamed again' })).client).not.toHaveProperty(
      'siteUri',
    );
    expect(await update(id, { logo: null })).toEqual({
      logo_sha256: { before: logoHash, after: null },
    });
    expect(await found(id)).not.toHaveProperty('logoHash');
    expect((await clients.update(id, { name: 'Renamed' })).client).not.toHaveProperty('logoHash');
    expect(await watched.store.logos.findLogo(id, logoHash ?? '')).toBeNull();
    expect(await update(id, { logoUri: 'https://client.example/logo' })).toEqual({
      logo_sha256: { before: null, after: logoHash },
    });
    expect(await watched.store.logos.findLogo(id, logoHash ?? '')).not.toBeNull();
  });

  test('replaces its keys and their algorithm, and nothing else', async () => {
    const id = await registered(KEYED);
    expect(await update(id, { tokenEndpointAuthSigningAlg: 'ES256' })).toEqual({
      token_endpoint_auth_signing_alg: { before: null, after: 'ES256' },
    });
    expect((await found(id))?.keys).toMatchObject({
      jwks: expect.stringContaining('"old"') as string,
    });
    const [old, fresh] = [/^old [\w-]{43}$/, /^fresh [\w-]{43}$/].map((name) => [
      expect.stringMatching(name),
    ]);
    expect(
      await update(id, { jwks: { keys: [FRESH.jwk] }, tokenEndpointAuthSigningAlg: 'EdDSA' }),
    ).toEqual({
      jwks: { before: old, after: fresh },
      token_endpoint_auth_signing_alg: { before: 'ES256', after: 'EdDSA' },
    });
    expect(await update(id, { jwksUri: 'https://client.example/keys' })).toEqual({
      jwks: { before: fresh, after: [] },
      jwks_uri: { before: null, after: 'https://client.example/keys' },
    });
    expect(await update(id, { tokenEndpointAuthSigningAlg: 'ES256' })).toEqual({
      token_endpoint_auth_signing_alg: { before: 'EdDSA', after: 'ES256' },
    });
    expect((await found(id))?.keys).toEqual({
      jwks: null,
      jwksUri: 'https://client.example/keys',
      algorithm: 'ES256',
    });
    const { kid: _, ...nameless } = OLD.jwk;
    expect(await update(id, { jwks: { keys: [nameless] } })).toEqual({
      jwks: { before: [], after: [expect.stringMatching(/^[\w-]{43}$/)] },
      jwks_uri: { before: 'https://client.example/keys', after: null },
    });
    await expect(
      update(id, { jwks: { keys: [OLD.jwk] }, jwksUri: 'https://client.example/keys' }),
    ).rejects.toThrow('both jwks and jwks_uri');
  });

  test('refuses keys for a client that has none, and while keys are disabled', async () => {
    const [id, keyed] = [await registered(), await registered(KEYED)];
    const off = clientsWith({ takesKeys: () => false });
    for (const changes of [
      { jwks: { keys: [FRESH.jwk] } },
      { jwksUri: 'https://client.example/keys' },
      { tokenEndpointAuthSigningAlg: 'ES256' },
    ]) {
      await expect(update(id, changes)).rejects.toThrow('does not authenticate with keys');
      await expect(off.update(keyed, changes)).rejects.toThrow(
        refusal('oauth_server:private_key_jwt is off; set it to true first'),
      );
    }
    // Renaming does not touch the keys.
    expect((await off.update(keyed, { name: 'Renamed' })).changes).toHaveProperty('client_name');
    expect((await found(keyed))?.keys).not.toBeNull();
  });

  test('validates the change against its type and its requirements', async () => {
    const demands = { requirePushedAuthorizationRequests: true, dpopBoundAccessTokens: true };
    const id = await registered({
      ...WEB,
      ...demands,
      public: true,
      applicationType: 'native',
      redirectUris: ['com.example.app:/cb'],
    });
    const before = await found(id);
    expect(before).toMatchObject({ pushesRequests: true, dpopBoundAccessTokens: true });
    await update(id, { addRedirectUris: ['http://127.0.0.1/cb'] });
    expect(await found(id)).toEqual({
      ...before,
      redirectUris: ['com.example.app:/cb', 'http://127.0.0.1/cb'],
    });
    await expect(update(id, { addGrants: ['introspection'] })).rejects.toThrow(
      'public client cannot have',
    );
  });

  test('with a profile keeps it within that profile', async () => {
    const profiled = { ...WEB, jwks: { keys: [BIG.jwk] }, profile: 'fapi2' };
    const id = await registered({ ...profiled, tokenEndpointAuthSigningAlg: 'PS256' });
    expect(await found(id)).toMatchObject({ profile: 'fapi2', idTokenSignedResponseAlg: 'ES256' });
    await update(id, { name: 'Renamed' });
    expect(await found(id)).toMatchObject({ profile: 'fapi2', idTokenSignedResponseAlg: 'ES256' });
    await expect(update(id, { tokenEndpointAuthSigningAlg: 'RS256' })).rejects.toThrow('fapi2');
    // Properties that the client did not need before get the defaults of a registration.
    const service = await registered({ ...profiled, scopes: ['notes:read'] });
    expect(await update(service, { addScopes: ['openid'] })).toEqual({
      scope: { before: ['notes:read'], after: ['notes:read', 'openid'] },
      id_token_signed_response_alg: { before: 'RS256', after: 'ES256' },
    });
  });

  test('without new keys keeps the stored keys unchanged', async () => {
    const id = await registered(KEYED);
    const jwks = JSON.stringify({ keys: [{ ...OLD.jwk, use: 'sig' }] }, null, 2);
    await watched.set('oauth_clients', ['client_id', id], { jwks });
    await update(id, { name: 'Renamed' });
    expect((await found(id))?.keys).toEqual({ jwks, jwksUri: null, algorithm: null });
  });

  test('keeps the algorithm of its ID tokens, even while it gets no ID tokens', async () => {
    const id = await registered({ ...WEB, idTokenSignedResponseAlg: 'ES256' });
    for (const changes of [
      { name: 'Renamed' },
      { removeScopes: ['openid'] },
      { name: 'Renamed again' },
      { addScopes: ['openid'] },
    ]) {
      expect(await update(id, changes)).not.toHaveProperty('id_token_signed_response_alg');
      expect(await found(id)).toMatchObject({ idTokenSignedResponseAlg: 'ES256' });
    }
    const none = await registered({ ...WEB, scopes: ['notes:read'] });
    await update(none, { addScopes: ['openid'] });
    expect(await found(none)).toMatchObject({ idTokenSignedResponseAlg: 'RS256' });
  });

  test('keeps scopes that are no longer offered, and adds none of them', async () => {
    const id = await registered();
    await watched.set('oauth_clients', ['client_id', id], { scope: 'openid notes:old notes:read' });
    await update(id, { name: 'Renamed' });
    expect(await found(id)).toMatchObject({ scopes: ['openid', 'notes:old', 'notes:read'] });
    await expect(update(id, { addScopes: ['notes:older'] })).rejects.toThrow(
      '"notes:older" is unknown',
    );
    await update(id, { removeScopes: ['notes:old'] });
    expect(await found(id)).toMatchObject({ scopes: ['openid', 'notes:read'] });
  });

  test.each<[ClientChanges, string]>([
    [
      { addRedirectUris: [OTHER], removeRedirectUris: [OTHER] },
      `The redirect URI "${OTHER}" cannot be both added and removed`,
    ],
    [
      { removeRedirectUris: [OTHER] },
      `The client does not have the redirect URI "${OTHER}"; it has "${CALLBACK}"`,
    ],
    [
      { addScopes: ['openid'], removeScopes: ['openid'] },
      'The scope "openid" cannot be both added and removed',
    ],
    [
      { removeScopes: ['openid', 'email'] },
      'The client does not have the scope "email"; it has "openid", "notes:read"',
    ],
    [{ addGrants: ['x'], removeGrants: ['x'] }, 'The grant "x" cannot be both added and removed'],
    [
      { removeGrants: ['x'] },
      'The client does not have the grant "x"; it has "authorization_code", "refresh_token"',
    ],
    [
      { removeGrants: ['authorization_code', 'refresh_token'] },
      'The client would have no grant left; to revoke the client, use oauth:client:revoke',
    ],
    [
      { removeRedirectUris: [CALLBACK] },
      'The grant authorization_code needs a redirect URI; add one, or remove the grant too',
    ],
    [
      {
        removeGrants: ['authorization_code', 'refresh_token'],
        addGrants: ['introspection'],
        addRedirectUris: [OTHER],
      },
      `Redirect URIs need the grant authorization_code; add that grant, or remove ${CALLBACK}, ${OTHER}`,
    ],
    [
      { removeGrants: ['authorization_code'], removeRedirectUris: [CALLBACK] },
      'The grant refresh_token needs authorization_code; add or keep that grant, or remove ' +
        'refresh_token too',
    ],
    [
      { siteUri: 'http://client.example' },
      'The website of the client must be an https URL without a user name or password',
    ],
  ])('is refused completely for %j', async (changes, problem) => {
    const id = await registered();
    const before = await found(id);
    await expect(update(id, { name: 'Renamed', ...changes })).rejects.toThrow(refusal(problem));
    expect(await found(id)).toEqual(before);
    expect(events).toEqual([]);
  });

  test('refuses to remove a redirect URI from a client that has none', async () => {
    const id = await registered(SERVICE);
    await expect(update(id, { removeRedirectUris: [OTHER] })).rejects.toThrow(
      refusal(`The client does not have the redirect URI "${OTHER}"; it has none`),
    );
  });

  test('is only possible for an active client of an operator, and otherwise fetches no logo', async () => {
    let fetched = 0;
    const fetching = clientsWith(
      {},
      fetchedBy(async () => ((fetched += 1), new Uint8Array())),
    );
    const document = await unregistered({ registeredBy: 'document' });
    const itself = await unregistered({ registeredBy: 'registration' });
    const revoked = await registered();
    await clients.revoke(revoked);
    events.length = 0;
    for (const [id, problem] of [
      [
        document,
        'This client is defined by its document; change the document instead. To block the client, use oauth:client:revoke',
      ],
      [
        itself,
        'This client registered itself and manages its own data (RFC 7592), so you cannot ' +
          'change it. To revoke it, use oauth:client:revoke',
      ],
      [revoked, 'The client is already revoked'],
      ['unknown', 'No client has this id; see oauth:client:list'],
    ] as const)
      for (const changes of [
        { name: 'Renamed' },
        { logoUri: 'https://client.example/logo' },
        { logo: null },
      ])
        await expect(fetching.update(id, changes)).rejects.toThrow(refusal(problem));
    expect(fetched).toBe(0);
    expect(events).toEqual([]);
  });

  test('keeps a simultaneous change by a different caller', async () => {
    const id = await registered();
    let isFirst = true;
    class Overtaken extends ClientRecords {
      override async updateClient(...asked: Parameters<ClientRecords['updateClient']>) {
        if (isFirst) {
          isFirst = false;
          await update(id, { addRedirectUris: [OTHER] });
        }
        return super.updateClient(...asked);
      }
    }
    class Racing extends Store {
      override readonly clients = new Overtaken(
        watched.database,
        () => true,
        () => [],
      );
    }
    const store = new Racing(watched.database, () => true);
    await clientsWith({ store }).update(id, { name: 'Renamed' });
    expect(await found(id)).toMatchObject({ name: 'Renamed', redirectUris: [CALLBACK, OTHER] });
    expect(events).toHaveLength(2);
  });

  test('fails and changes nothing if other callers are repeatedly faster', async () => {
    const id = await registered();
    let attempts = 0;
    class AlwaysOvertaken extends ClientRecords {
      override async updateClient() {
        attempts += 1;
        return false;
      }
    }
    class Racing extends Store {
      override readonly clients = new AlwaysOvertaken(
        watched.database,
        () => true,
        () => [],
      );
    }
    const store = new Racing(watched.database, () => true);
    await expect(clientsWith({ store }).update(id, { name: 'Renamed' })).rejects.toThrow(
      refusal(
        'Another process changed the client at the same time, so your changes were not ' +
          'applied; try again',
      ),
    );
    expect(attempts).toBe(20);
    expect(events).toEqual([]);
  });
});
