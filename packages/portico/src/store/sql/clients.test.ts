// @engines sqlite: it tests each method; test/store-contract.test.ts runs on every engine
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Store } from '../../../../../test/support/store.ts';
import type { Client, ClientLogo } from '../client.ts';
import type { NewRegistration } from '../../features/registration/records.ts';
import type { ConsentRequest } from '../requests.ts';
import { AWAY, losingStore, type Losing } from '../../../../../test/support/losing-store.ts';
import { storedClient } from '../../../../../test/support/stored-client.ts';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';

let watched: WatchedStore;
let database: WatchedStore['database'];
let store: Store;
let { emptied, insert, set, rowsOf } = {} as WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
  ({ database, store, emptied, insert, set, rowsOf } = watched);
});
afterAll(() => watched.close());

/** Returns the beginning of each statement that `work` runs, except queries. */
async function writesOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  watched.writes.length = 0;
  await work();
  return watched.writes.map(({ begins }) => begins);
}

const NOW = 1_795_240_016_123;
const HOUR = 3_600_000;
let numbers = 0;
const name = (what: string) => `${what}-${(numbers += 1)}`;

/** Returns the store of these tests. The result of one of its statements is lost. */
const losing = (loses: Losing, meantime?: () => Promise<void>) =>
  losingStore(database, loses, meantime);

const clientNamed = (id: string, changes: Partial<Client> = {}) => storedClient(id, NOW, changes);

async function newClient(changes: Partial<Client> = {}): Promise<Client> {
  const client = clientNamed(name('client'), changes);
  await store.clients.insertClient(client);
  return client;
}

/** A client that differs from `clientNamed` in every value. */
const UNLIKE = {
  name: 'Another application',
  redirectUris: ['https://one.example/cb', 'https://two.example/cb'],
  scopes: ['notes:write', 'notes:delete'],
  grants: ['client_credentials', 'introspection'],
  idTokenSignedResponseAlg: 'ES256',
  keys: { jwks: '{"keys":[]}', jwksUri: 'https://client.example/keys', algorithm: 'PS256' },
  pushesRequests: true,
  dpopBoundAccessTokens: true,
} as const satisfies Partial<Client>;
const MORE_UNLIKE = {
  ...UNLIKE,
  applicationType: 'native',
  registeredBy: 'registration',
  public: true,
  profile: 'fapi2',
  secretHash: null,
  secretExpiresAt: NOW + 5,
  previousSecretHash: 'previous',
  previousSecretExpiresAt: NOW + 1,
  createdAt: NOW + 2,
  usedAt: NOW + 3,
  revokedAt: NOW + 4,
  siteUri: 'https://client.example/',
  logoHash: 'logo',
} as const satisfies Partial<Client>;

const logoOf = (text: string): ClientLogo => ({
  hash: `hash of ${text}`,
  mediaType: `image/${text}`,
  bytes: Buffer.from([0, 255, ...Buffer.from(text)]),
});

describe('a stored client', () => {
  test('is returned with all its members', async () => {
    for (const changes of [{}, MORE_UNLIKE, { keys: { ...UNLIKE.keys, jwks: null } }]) {
      const client = await newClient(changes);
      expect(await store.clients.findClient(client.id)).toEqual(client);
    }
    expect(await store.clients.findClient('unknown')).toBeNull();
    watched.reads.length = 0;
    for (const id of ['', 'é', 'a'.repeat(256)])
      expect(await store.clients.findClient(id)).toBeNull();
    expect(watched.reads).toEqual([]);
  });

  test('with a workload has its issuer and subject, and no keys if one of them is missing', async () => {
    const none = { jwks: null, jwksUri: null, algorithm: null };
    const workload = { issuer: 'https://issuer.example', subject: 'a workload' };
    const client = await newClient({ keys: { ...none, workload } });
    expect(await store.clients.findClient(client.id)).toEqual(client);
    for (const part of ['jwks', 'jwks_uri']) {
      const { id } = await newClient({ keys: { ...none, workload } });
      await set('oauth_clients', ['client_id', id], { [part]: null });
      expect(await store.clients.findClient(id)).toEqual({ ...client, id, keys: none });
    }
  });

  test('from an earlier release uses RS256, and is a web application of an operator', async () => {
    const client = await newClient({ keys: UNLIKE.keys });
    await set('oauth_clients', ['client_id', client.id], {
      id_token_alg: null,
      application_type: null,
      registered_by: null,
    });
    expect(await store.clients.findClient(client.id)).toEqual(client);
  });

  test('with an authentication method that this release does not know has no usable keys', async () => {
    const client = await newClient({ keys: UNLIKE.keys });
    await set('oauth_clients', ['client_id', client.id], {
      token_endpoint_auth_method: 'of later',
    });
    const keys = { jwks: null, jwksUri: null, algorithm: null };
    expect(await store.clients.findClient(client.id)).toEqual({ ...client, keys });
  });

  test('that the server no longer accepts counts as revoked, but is listed as stored', async () => {
    const taken = await newClient();
    const refused = await newClient();
    const ended = await newClient({ revokedAt: NOW + 5 });
    const strict = new Store(database, (id) => id === taken.id);
    expect(await strict.clients.findClient(taken.id)).toEqual(taken);
    expect(await strict.clients.findClient(refused.id)).toEqual({
      ...refused,
      revokedAt: refused.createdAt,
    });
    expect(await strict.clients.findClient(ended.id)).toEqual(ended);
    expect(await strict.clients.listClients()).toContainEqual(refused);
  });

  test('has a logo that is found by its hash, for this client only', async () => {
    const logo = logoOf('png');
    const [one, other] = [clientNamed(name('client')), clientNamed(name('client'))];
    await store.clients.insertClient(one, { logo });
    const before = watched.transactions;
    await store.clients.insertClient(other);
    expect(watched.transactions).toBe(before);
    expect(await store.logos.findLogo(one.id, logo.hash)).toEqual(logo);
    expect(await store.logos.findLogo(one.id, 'another')).toBeNull();
    expect(await store.logos.findLogo(other.id, logo.hash)).toBeNull();
  });

  test('is listed in order of creation, and by id at the same moment', async () => {
    await emptied('oauth_clients');
    for (const [id, createdAt] of [
      ['b', NOW],
      ['c', NOW - 1],
      ['a', NOW],
    ] as const)
      await store.clients.insertClient(clientNamed(id, { createdAt }));
    expect((await store.clients.listClients()).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect((await store.clients.listClientsAfter('', 2)).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await store.clients.listClientsAfter('b', 2)).map(({ id }) => id)).toEqual(['c']);
    await emptied('oauth_clients');
  });

  test('may request ID tokens if it has openid and the code grant, until it is revoked', async () => {
    const has = async (changes: Partial<Client>) => {
      await emptied('oauth_clients');
      await newClient(changes);
      return store.clients.hasOpenidClient();
    };
    for (const scopes of [['openid'], ['openid', 'a'], ['a', 'openid'], ['a', 'openid', 'b']])
      expect(await has({ scopes }), scopes.join(' ')).toBe(true);
    for (const scopes of [[], ['a'], ['openid2'], ['an:openid', 'openid:2']])
      expect(await has({ scopes }), scopes.join(' ')).toBe(false);
    expect(await has({ grants: ['client_credentials'] })).toBe(false);
    expect(await has({ revokedAt: NOW })).toBe(false);
    const further = { person: ['device', 'phone'], organization: ['assertion'], client: [] };
    const { clients } = new Store(
      database,
      () => true,
      (beginning) => further[beginning],
    );
    for (const grant of ['device', 'phone', 'assertion']) {
      expect(await has({ grants: [grant] })).toBe(false);
      expect(await clients.hasOpenidClient(), grant).toBe(grant !== 'assertion');
    }
    await emptied('oauth_clients');
  });

  test('is revoked once, and keeps the time', async () => {
    const { id } = await newClient();
    expect(await store.clients.revokeClient('unknown', NOW)).toBe(false);
    expect(await store.clients.revokeClient(id, NOW)).toBe(true);
    expect(await store.clients.revokeClient(id, NOW + 1)).toBe(false);
    expect(await store.clients.findClient(id)).toMatchObject({ revokedAt: NOW });
    // The standbys of PostgreSQL may not have the revocation.
    const { clients } = new Store({ ...database, dialect: 'postgres' }, () => true);
    watched.writes.length = 0;
    expect(await clients.revokeClient(id, NOW + 1)).toBe(false);
    expect(watched.writes.map(({ values }) => values)).toEqual([2, 1]);
  });

  test('is claimed by its id if it is of an operator and is not revoked', async () => {
    const client = await newClient();
    const claim = (id: string) => store.clients.claimClient(id, database);
    expect(await writesOf(() => claim(client.id))).toEqual([expect.stringMatching(/^UPDATE/)]);
    expect(await claim(client.id)).toEqual(client);
    expect(await claim('unknown')).toBeNull();
    expect(await claim((await newClient({ revokedAt: NOW })).id)).toBeNull();
    expect(await claim((await newClient({ registeredBy: 'registration' })).id)).toBeNull();
  });

  test('is inserted together with an addition, or neither is inserted', async () => {
    const done: string[] = [];
    const noted = async () => void done.push('added');
    const failing = () => Promise.reject(new Error('not added'));
    const [one, two, three] = [1, 2, 3].map(() => clientNamed(name('client'))) as [
      Client,
      Client,
      Client,
    ];
    await store.clients.insertClient(one, { addition: noted });
    await expect(store.clients.insertClient(two, { addition: failing })).rejects.toThrow(
      'not added',
    );
    expect(await store.clients.findClient(two.id)).toBeNull();
    expect(await store.clients.insertClients([two, one], noted)).toBe(one.id);
    expect(done).toEqual(['added']);
    expect(await store.clients.insertClients([two, three], noted)).toBeNull();
    expect(done).toEqual(['added', 'added']);
    expect(await store.clients.findClient(three.id)).toEqual(three);
  });

  test('is not replaced by a client that is inserted as revoked', async () => {
    const client = await newClient();
    await store.clients.insertRevokedClient({ ...client, name: 'Blocked', revokedAt: NOW });
    expect(await store.clients.findClient(client.id)).toEqual(client);
    const blocked = clientNamed(name('client'), { revokedAt: NOW });
    await store.clients.insertRevokedClient(blocked);
    expect(await store.clients.findClient(blocked.id)).toEqual(blocked);
  });
});

describe('a client that is inserted only if it is new', () => {
  const titled = (title: string) => (client: Client) => client.name === title;

  test('is not inserted if a matching client exists, and the oldest match is returned', async () => {
    await emptied('oauth_clients');
    const title = name('A name');
    const logo = logoOf('gif');
    const first = clientNamed(name('client'), { name: title });
    expect(await store.clients.insertClientUnless(first, titled(title), { logo })).toBeNull();
    expect(await store.clients.findClient(first.id)).toEqual(first);
    expect(await store.logos.findLogo(first.id, logo.hash)).toEqual(logo);
    const older = await newClient({ name: title, createdAt: NOW - 1 });
    const another = clientNamed(name('client'), { name: title });
    expect(await store.clients.insertClientUnless(another, titled(title))).toEqual(older);
    expect(await store.clients.findClient(another.id)).toBeNull();
    const asked: string[] = [];
    await store.clients.insertClientUnless(another, ({ id }) => {
      asked.push(id);
      return true;
    });
    const listed = (await store.clients.listClients()).map(({ id }) => id);
    expect(asked.every((id) => listed.includes(id))).toBe(true);
  });

  test('is inserted after a lost commit only if the commit took effect', async () => {
    await emptied('oauth_clients');
    const title = name('A name');
    const one = clientNamed(name('client'), { name: title });
    await expect(
      losing('before it took effect').clients.insertClientUnless(one, titled(title)),
    ).rejects.toThrow(AWAY);
    expect(await store.clients.findClient(one.id)).toBeNull();
    expect(
      await losing('after it took effect').clients.insertClientUnless(one, titled(title)),
    ).toBeNull();
    expect(await store.clients.findClient(one.id)).toEqual(one);
    const other = clientNamed(name('client'), { name: title });
    expect(
      await losing('after it took effect').clients.insertClientUnless(other, titled(title)),
    ).toEqual(one);
  });
});

describe('many clients that are inserted at once', () => {
  test('are all inserted, or none if one of their ids exists, which is then returned', async () => {
    await emptied('oauth_clients');
    expect(await store.clients.insertClients([])).toBeNull();
    const ids = [name('client'), name('client'), name('client')];
    const [, there = ''] = ids;
    const clients = ids.map((id) => clientNamed(id));
    const existing = clientNamed(there, { name: 'There before' });
    await store.clients.insertClient(existing);
    expect(await store.clients.insertClients(clients)).toBe(there);
    const found = async () =>
      Promise.all(ids.map(async (id) => (await store.clients.findClient(id))?.name));
    expect(await found()).toEqual([undefined, 'There before', undefined]);
    await database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [there]);
    expect(await store.clients.insertClients(clients)).toBeNull();
    expect(await found()).toEqual(['An application', 'An application', 'An application']);
    const listed = (await store.clients.listClients()).map(({ id }) => id);
    expect(listed.filter((id) => id.includes(' '))).toEqual([]);
  });

  test('are inserted after a lost commit only if it took effect, even if an id was taken since', async () => {
    await emptied('oauth_clients');
    const clients = [clientNamed(name('client')), clientNamed(name('client'))];
    const [first = clientNamed('')] = clients;
    await expect(losing('before it took effect').clients.insertClients(clients)).rejects.toThrow(
      AWAY,
    );
    expect(await store.clients.findClient(first.id)).toBeNull();
    const taken = losing('before it took effect', () =>
      store.clients.insertClient(clientNamed(first.id, { name: 'Another' })),
    );
    await expect(taken.clients.insertClients(clients)).rejects.toThrow(AWAY);
    expect(await losing('after it took effect').clients.insertClients(clients)).toBe(first.id);
    await database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [first.id]);
    expect(await losing('after it took effect').clients.insertClients(clients)).toBeNull();
    for (const client of clients) expect(await store.clients.findClient(client.id)).toEqual(client);
  });
});

describe('the secret of a client', () => {
  test('is replaced only by a different one, and only if the expected one is current', async () => {
    const { id } = await newClient({ secretHash: 'first' });
    expect(await store.clients.rotateSecret(id, 'first', null)).toBe(false);
    expect(await store.clients.rotateSecret(id, 'second', NOW + HOUR, 'not the first')).toBe(false);
    expect(await store.clients.findClient(id)).toMatchObject({
      secretHash: 'first',
      previousSecretHash: null,
    });
    expect(await store.clients.rotateSecret(id, 'second', NOW + HOUR, 'first')).toBe(true);
    expect(await store.clients.findClient(id)).toMatchObject({
      secretHash: 'second',
      previousSecretHash: 'first',
      previousSecretExpiresAt: NOW + HOUR,
    });
    expect(await store.clients.rotateSecret(id, 'third', null)).toBe(true);
    expect(await store.clients.findClient(id)).toMatchObject({
      secretHash: 'third',
      secretExpiresAt: null,
      previousSecretHash: null,
      previousSecretExpiresAt: null,
    });
  });

  test('is rotated even if the commit was lost, unless the client was revoked meanwhile', async () => {
    for (const when of ['before it took effect', 'after it took effect'] as const) {
      const { id } = await newClient({ secretHash: name('first') });
      const second = name('second');
      expect(await losing(when).clients.rotateSecret(id, second, null)).toBe(true);
      expect(await store.clients.findClient(id)).toMatchObject({ secretHash: second });
    }
    const { id } = await newClient({ secretHash: 'first' });
    const ended = losing(
      'before it took effect',
      async () => void (await store.clients.revokeClient(id, NOW)),
    );
    await expect(ended.clients.rotateSecret(id, name('second'), null)).rejects.toThrow(AWAY);
    expect(await store.clients.findClient(id)).toMatchObject({ secretHash: 'first' });
  });
});

describe('an update of a client', () => {
  test('changes all fields that may change, and no others', async () => {
    const read = await newClient();
    const changed = { ...read, ...UNLIKE, siteUri: 'https://client.example/', logoHash: 'a logo' };
    expect(
      await store.clients.updateClient(read, { ...changed, public: true, profile: 'fapi2' }),
    ).toBe(true);
    expect(await store.clients.findClient(read.id)).toEqual(changed);
    expect(await store.clients.updateClient(changed, read)).toBe(true);
    expect(await store.clients.findClient(read.id)).toEqual(read);
  });

  test.each(Object.keys(UNLIKE) as (keyof typeof UNLIKE)[])(
    'is refused if %s has changed since the client was read',
    async (key) => {
      const read = await newClient();
      expect(await store.clients.updateClient(read, { ...read, [key]: UNLIKE[key] })).toBe(true);
      expect(await store.clients.updateClient(read, { ...read, name: 'A third' })).toBe(false);
      expect(await store.clients.findClient(read.id)).toEqual({ ...read, [key]: UNLIKE[key] });
    },
  );

  test('keeps the logo unless it replaces or removes it', async () => {
    const [one, other] = [logoOf('one'), logoOf('other')];
    const read = clientNamed(name('client'));
    await store.clients.insertClient(read, { logo: one });
    expect(await store.clients.updateClient(read, read)).toBe(true);
    expect(await store.logos.findLogo(read.id, one.hash)).toEqual(one);
    expect(await store.clients.updateClient(read, read, { logo: other })).toBe(true);
    expect(await store.logos.findLogo(read.id, one.hash)).toBeNull();
    expect(await store.logos.findLogo(read.id, other.hash)).toEqual(other);
    expect(
      await store.clients.updateClient({ ...read, name: 'Not this' }, read, { logo: one }),
    ).toBe(false);
    expect(await store.logos.findLogo(read.id, other.hash)).toEqual(other);
    expect(await store.clients.updateClient(read, read, { logo: null })).toBe(true);
    expect(await store.logos.findLogo(read.id, other.hash)).toBeNull();
  });

  test('needs an active client of an operator', async () => {
    for (const registeredBy of ['document', 'registration'] as const) {
      const read = await newClient({ registeredBy });
      expect(await store.clients.updateClient(read, { ...read, name: 'Another' })).toBe(false);
      expect(await store.clients.findClient(read.id)).toEqual(read);
    }
    const ended = await newClient({ revokedAt: NOW });
    expect(await store.clients.updateClient(ended, { ...ended, name: 'Another' })).toBe(false);
    expect(await store.clients.updateClient(clientNamed('unknown'), clientNamed('unknown'))).toBe(
      false,
    );
    const earlier = await newClient();
    await set('oauth_clients', ['client_id', earlier.id], { registered_by: null });
    expect(await store.clients.updateClient(earlier, { ...earlier, name: 'Another' })).toBe(true);
  });

  test('takes effect after a lost commit only if the commit took effect', async () => {
    const read = await newClient();
    const changed = { ...read, name: 'Another' };
    await expect(
      losing('before it took effect').clients.updateClient(read, changed),
    ).rejects.toThrow(AWAY);
    expect(await store.clients.findClient(read.id)).toEqual(read);
    expect(await losing('after it took effect').clients.updateClient(read, changed)).toBe(true);
    expect(await losing('after it took effect').clients.updateClient(read, changed)).toBe(false);
    const gone = losing('after it took effect', async () => {
      await database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [read.id]);
    });
    await expect(gone.clients.updateClient(changed, read)).rejects.toThrow(AWAY);
  });
});

describe('a client with a document', () => {
  const documentClient = (changes: Partial<Client> = {}) =>
    clientNamed(`https://client.example/${name('document')}`, {
      registeredBy: 'document',
      public: true,
      secretHash: null,
      ...changes,
    });

  test('is stored with the content of its document and the time of each fetch', async () => {
    watched.meanwhile = null;
    const client = documentClient({ usedAt: NOW - 1, profile: 'fapi2' });
    expect(await store.documentClients.findDocumentClient(client.id)).toBeNull();
    expect(await store.documentClients.keepDocumentClient(client, NOW + HOUR, null)).toBe('new');
    expect(await store.documentClients.findDocumentClient(client.id)).toEqual({
      client,
      freshUntil: NOW + HOUR,
    });
    const next = { ...client, ...UNLIKE, applicationType: 'native', public: false } as const;
    const other = { ...next, createdAt: NOW + 1, usedAt: NOW + 2, profile: null };
    expect(await store.documentClients.keepDocumentClient(other, NOW + 2 * HOUR, NOW + HOUR)).toBe(
      'known',
    );
    expect(await store.documentClients.findDocumentClient(client.id)).toEqual({
      client: next,
      freshUntil: NOW + 2 * HOUR,
    });
    const again = () => store.documentClients.keepDocumentClient(client, NOW, NOW + 2 * HOUR);
    expect(await writesOf(again)).toEqual([expect.stringMatching(/^UPDATE/)]);
    expect(await store.documentClients.findDocumentClient(client.id)).toEqual({
      client,
      freshUntil: NOW,
    });
    const operators = await newClient();
    expect(await store.documentClients.findDocumentClient(operators.id)).toEqual({
      client: operators,
      freshUntil: 0,
    });
    expect(await again()).toBe('known');
    expect(await store.documentClients.keepDocumentClient(operators, NOW, null)).toBe('revoked');
    expect(await store.documentClients.findDocumentClient(operators.id)).toEqual({
      client: operators,
      freshUntil: 0,
    });
  });

  test('is read again if a different process has just stored or blocked it', async () => {
    watched.meanwhile = null;
    const client = documentClient();
    const elsewhere = { ...client, name: 'Another' };
    watched.meanwhile = {
      before: /^INSERT/,
      act: () => store.documentClients.keepDocumentClient(elsewhere, NOW + 1, null),
    };
    expect(await store.documentClients.keepDocumentClient(client, NOW + HOUR, null)).toBe(
      'overtaken',
    );
    expect(await store.documentClients.findDocumentClient(client.id)).toEqual({
      client: elsewhere,
      freshUntil: -(NOW + 1),
    });
    const blocked = documentClient();
    watched.meanwhile = {
      before: /^INSERT/,
      act: () => store.clients.insertRevokedClient({ ...blocked, revokedAt: NOW }),
    };
    expect(await store.documentClients.keepDocumentClient(blocked, NOW + HOUR, null)).toBe(
      'revoked',
    );
    expect(await store.clients.findClient(blocked.id)).toEqual({ ...blocked, revokedAt: NOW });
  });

  test('keeps what a different process has just stored, or replaces it, or is refused', async () => {
    const keep = async (
      theirs: (client: Client) => Promise<unknown>,
      then: {
        readonly before: RegExp;
        readonly act: (id: string) => Promise<unknown>;
      } | null = null,
    ) => {
      const client = documentClient();
      watched.meanwhile = {
        before: /^INSERT/,
        act: async () => {
          await theirs(client);
          watched.meanwhile = then && { before: then.before, act: () => then.act(client.id) };
        },
      };
      const result = await store.documentClients.keepDocumentClient(client, NOW + HOUR, null);
      const found = await store.documentClients.findDocumentClient(client.id);
      return [result, found?.client.name, found?.freshUntil];
    };
    const other = (freshUntil: number, title?: string) => (client: Client) =>
      store.documentClients.keepDocumentClient(
        { ...client, name: title ?? client.name },
        freshUntil,
        null,
      );
    const { name: ours } = documentClient();
    expect(await keep(other(NOW + HOUR, 'Another'))).toEqual(['known', ours, NOW + HOUR]);
    expect(await keep(other(NOW + 1))).toEqual(['known', ours, NOW + 1]);
    const removed = (id: string) =>
      database.execute('DELETE FROM oauth_clients WHERE client_id = ?', [id]);
    expect(await keep(other(NOW + 1, 'Another'), { before: /^SELECT/, act: removed })).toEqual([
      'revoked',
      undefined,
      undefined,
    ]);
    const blocked = (id: string) => store.clients.revokeClient(id, NOW);
    expect(await keep(other(NOW + 1, 'Another'), { before: /-ABS/, act: blocked })).toEqual([
      'revoked',
      'Another',
      NOW + 1,
    ]);
  });

  test('is stored after a lost insert, unless a different process stored other contents', async () => {
    watched.meanwhile = null;
    const keep = (when: Losing, client: Client, meantime?: () => Promise<void>) =>
      losing(when, meantime).documentClients.keepDocumentClient(client, NOW + HOUR, null);
    for (const when of ['after it took effect', 'before it took effect'] as const) {
      const client = documentClient();
      expect(await keep(when, client)).toBe('new');
      const stored = { client, freshUntil: NOW + HOUR };
      expect(await store.documentClients.findDocumentClient(client.id)).toEqual(stored);
    }
    const late = documentClient();
    const theirs = { ...late, name: 'Another' };
    const meantime = async () => {
      await store.documentClients.keepDocumentClient(theirs, NOW + HOUR, null);
    };
    await expect(keep('before it took effect', late, meantime)).rejects.toThrow(AWAY);
    expect(await store.clients.findClient(late.id)).toEqual(theirs);
  });

  const family = (id: string, clientId: string, changes: Record<string, unknown> = {}) =>
    insert('oauth_families', {
      id,
      client_id: clientId,
      user_provider: 'accounts',
      user_id: 'ada',
      subject: 'subject',
      scope: 'openid',
      created_at: NOW,
      expires_at: NOW + HOUR,
      prune_after: NOW + HOUR,
      ...changes,
    });
  const accessToken = (id: string, clientId: string, familyId: string | null) =>
    insert('oauth_access_tokens', {
      id,
      family_id: familyId,
      client_id: clientId,
      secret_hash: 'hash',
      scope: '',
      issued_at: NOW,
      expires_at: NOW + HOUR,
    });
  const waiting = (secretHash: string, parameters: readonly (readonly string[])[]) =>
    store.waitingRequests.keepWaitingRequest(
      {
        secretHash,
        network: '',
        parameters: JSON.stringify(parameters),
        bytes: 1,
        expiresAt: NOW + HOUR,
      },
      null,
      NOW,
    );

  test('has nothing left after it is unblocked, and other clients keep everything', async () => {
    watched.meanwhile = null;
    const tables = ['oauth_families', 'oauth_access_tokens', 'oauth_consent_requests'];
    await emptied(...tables);
    const client = documentClient({ id: `https://client.example/under_score${name('_')}` });
    const other = documentClient({ id: client.id.replace('under_score', 'under-score') });
    for (const { id, ...rest } of [client, other]) {
      await store.documentClients.keepDocumentClient({ id, ...rest }, NOW + HOUR, null);
      const asked = { person: { provider: 'accounts', id: 'ada' }, scopes: [] };
      await store.consentRequests.insertConsentRequest(
        requestOf({ idHash: `waits ${id}`, clientId: id, asked }),
      );
      await store.consentRequests.insertConsentRequest(
        requestOf({ idHash: `denied ${id}`, clientId: id, asked, outcome: 'denied' }),
      );
      await waiting(`waits ${id}`, [
        ['state', 'x'],
        ['client_id', id],
      ]);
      await family(`family of ${id}`, id);
      await family(`ended family of ${id}`, id, { revoked_at: NOW - 1 });
      await accessToken(`own token of ${id}`, id, null);
      await accessToken(`token of ${id}`, id, `family of ${id}`);
    }
    // These requests belong to another client, although they contain this client's id.
    await waiting(`mentions ${client.id}`, [
      ['state', JSON.stringify(['client_id', client.id])],
      ['client_id', other.id],
    ]);
    await waiting(`names ${client.id}`, [
      ['client_id', other.id],
      ['state', client.id],
    ]);
    await insert('oauth_waiting_requests', {
      secret_hash: `looks like ${client.id}`,
      network: '',
      parameters: JSON.stringify([
        ['not_client_id', client.id],
        ['x', 'client_id', client.id],
      ]),
      byte_count: 0,
      expires_at: NOW + HOUR,
    });
    expect(await store.documentClients.unblockDocumentClient(client.id, NOW)).toBe(false);
    expect(
      await store.waitingRequests.findWaitingRequest(`waits ${client.id}`, NOW),
    ).not.toBeNull();
    await store.clients.revokeClient(client.id, NOW);
    expect(await store.documentClients.unblockDocumentClient(client.id, NOW + 10)).toBe(true);
    const state = async (id: string) => ({
      requests: (
        await Promise.all([
          store.consentRequests.findConsentRequest(`waits ${id}`),
          store.consentRequests.findConsentRequest(`denied ${id}`),
        ])
      ).map((each) => each?.outcome),
      waits: (await store.waitingRequests.findWaitingRequest(`waits ${id}`, NOW)) !== null,
      families: (
        await rowsOf<{ revoked_at: number | null }>(
          'SELECT revoked_at FROM oauth_families WHERE client_id = ? ORDER BY id',
          id,
        )
      ).map((row) => row.revoked_at),
      tokens: (
        await rowsOf<{ id: string }>(
          'SELECT id FROM oauth_access_tokens WHERE client_id = ? ORDER BY id',
          id,
        )
      ).map((row) => row.id),
    });
    expect(await state(client.id)).toEqual({
      requests: ['void', 'denied'],
      waits: false,
      families: [NOW - 1, NOW + 10],
      tokens: [`token of ${client.id}`],
    });
    expect(await state(other.id)).toEqual({
      requests: [null, 'denied'],
      waits: true,
      families: [NOW - 1, null],
      tokens: [`own token of ${other.id}`, `token of ${other.id}`],
    });
    for (const which of ['mentions', 'names', 'looks like'])
      expect(
        await store.waitingRequests.findWaitingRequest(`${which} ${client.id}`, NOW),
        which,
      ).not.toBeNull();
    await emptied(...tables);
    await database.execute('DELETE FROM oauth_waiting_requests WHERE expires_at = ?', [NOW + HOUR]);
  });

  test('has nothing left after it is unblocked, even if that needs several statements', async () => {
    watched.meanwhile = null;
    for (const count of [500, 501]) {
      const client = documentClient();
      await store.documentClients.keepDocumentClient(client, NOW + HOUR, null);
      await database.transaction(async (connection) => {
        for (let index = 0; index < count; index += 1)
          await connection.execute(
            `INSERT INTO oauth_access_tokens (id, client_id, secret_hash, scope, issued_at, expires_at) VALUES (?, ?, '', '', 0, 0)`,
            [`${client.id} ${index}`, client.id],
          );
      });
      await store.clients.revokeClient(client.id, NOW);
      await writesOf(() => store.documentClients.unblockDocumentClient(client.id, NOW));
      const removals = watched.writes.filter(({ begins }) => begins.startsWith('DELETE'));
      expect(removals.map(({ values }) => values)).toEqual(count === 500 ? [500] : [500, 1]);
      expect(
        await rowsOf('SELECT 1 FROM oauth_access_tokens WHERE client_id = ?', client.id),
      ).toEqual([]);
    }
  });

  test('is unblocked after a lost commit if the commit took effect, and otherwise stays blocked', async () => {
    watched.meanwhile = null;
    const client = documentClient();
    await store.documentClients.keepDocumentClient(client, NOW + HOUR, null);
    expect(
      await losing('after it took effect').documentClients.unblockDocumentClient(client.id, NOW),
    ).toBe(false);
    await store.clients.revokeClient(client.id, NOW);
    const lost = losing('before it took effect');
    await expect(lost.documentClients.unblockDocumentClient(client.id, NOW)).rejects.toThrow(AWAY);
    expect(
      await losing('after it took effect').documentClients.unblockDocumentClient(client.id, NOW),
    ).toBe(true);
    await store.clients.revokeClient(client.id, NOW);
    const another = documentClient();
    await store.documentClients.keepDocumentClient(another, NOW, null);
    await expect(
      losing('before it took effect').documentClients.unblockDocumentClient(client.id, NOW),
    ).rejects.toThrow(AWAY);
  });
});

describe('a client that registers itself', () => {
  const limits = { ofOneNetwork: 2, unused: 1_000_000, period: HOUR };
  const registrationOf = (
    changes: Partial<NewRegistration> = {},
    client: Partial<Client> = {},
  ): NewRegistration => ({
    client: clientNamed(name('registered'), { registeredBy: 'registration', ...client }),
    tokenHash: name('registration-token'),
    network: name('network'),
    initialTokenHash: null,
    ...changes,
  });
  const initialToken = async (
    changes: { uses?: number; usesLeft?: number; createdAt?: number; expiresAt?: number } = {},
  ) => {
    const hash = name('initial-hash');
    const token = {
      id: name('initial'),
      note: 'A note',
      uses: 3,
      usesLeft: 2,
      createdAt: NOW,
      expiresAt: NOW + HOUR,
      ...changes,
    };
    await store.initialAccessTokens.insertInitialAccessToken(token, hash);
    return { hash, token };
  };

  test('is stored unchanged with its token, and counts for its network', async () => {
    const registration = registrationOf({}, { ...MORE_UNLIKE, usedAt: null, revokedAt: null });
    const { client, tokenHash, network } = registration;
    expect(await store.registrations.registerClient(registration, limits, NOW)).toBeNull();
    expect(await store.clients.findClient(client.id)).toEqual(client);
    expect(await store.registrations.findRegistrationHash(client.id)).toBe(tokenHash);
    expect(await store.registrations.findRegistrationHash('unknown')).toBeNull();
    const operators = await newClient();
    await set('oauth_clients', ['client_id', operators.id], { registration_hash: 'not asked' });
    expect(await store.registrations.findRegistrationHash(operators.id)).toBeNull();
    expect(
      await rowsOf('SELECT registered_from FROM oauth_clients WHERE client_id = ?', client.id),
    ).toEqual([{ registered_from: network }]);
  });

  test('is stored or updated together with an addition, or the addition does not run', async () => {
    const done: string[] = [];
    const noted = async () => void done.push('added');
    const { registrations } = store;
    const registration = registrationOf();
    const { client, tokenHash } = registration;
    expect(await registrations.registerClient(registration, limits, NOW, noted)).toBeNull();
    expect(done.splice(0)).toEqual(['added']);
    const next = registrationOf();
    const late = new Store(
      {
        ...database,
        transaction: async (work, committed) => {
          await database.execute('UPDATE oauth_clients SET registered_from = ?', [next.network]);
          return database.transaction(work, committed);
        },
      },
      () => true,
    );
    const none = { ...limits, ofOneNetwork: 1 };
    expect(await late.registrations.registerClient(next, none, NOW, noted)).not.toBeNull();
    const changed = { ...client, name: 'Another' };
    expect(await registrations.updateRegistration(changed, 'another token', noted)).toBe(false);
    expect(done).toEqual([]);
    expect(await registrations.updateRegistration(changed, tokenHash, noted)).toBe(true);
    expect(done).toEqual(['added']);
    expect(await store.clients.findClient(client.id)).toEqual(changed);
    const transactions = watched.transactions;
    expect(await registrations.updateRegistration(client, tokenHash)).toBe(true);
    expect(watched.transactions).toBe(transactions);
  });

  test('with an initial access token is known by that', async () => {
    const { hash } = await initialToken();
    const [by, without] = [registrationOf({ initialTokenHash: hash }), registrationOf()];
    for (const each of [by, without]) await store.registrations.registerClient(each, limits, NOW);
    const has = (id: string) => store.registrations.hasInitialToken(id);
    expect(await has(by.client.id)).toBe(true);
    for (const id of [without.client.id, 'unknown']) expect(await has(id)).toBe(false);
  });

  test('is refused without a write while its network has registered too many clients', async () => {
    const network = name('network');
    for (const createdAt of [NOW, NOW + 5])
      expect(
        await store.registrations.registerClient(
          registrationOf({ network }, { createdAt }),
          limits,
          NOW + 5,
        ),
      ).toBeNull();
    const next = registrationOf({ network }, { createdAt: NOW + HOUR });
    const before = watched.transactions;
    const refused = { reason: 'network', until: NOW + HOUR };
    for (const now of [NOW + 5, NOW + HOUR - 1])
      expect(await store.registrations.registerClient(next, limits, now)).toEqual(refused);
    expect(watched.transactions).toBe(before);
    expect(await store.registrations.registerClient(next, limits, NOW + HOUR)).toBeNull();
  });

  test('is refused in the transaction if a different registration was faster', async () => {
    const network = name('network');
    const one = { ...limits, ofOneNetwork: 1 };
    const late = registrationOf({ network });
    const lateStore = new Store(
      {
        ...database,
        transaction: async (work, committed) => {
          await store.registrations.registerClient(registrationOf({ network }), one, NOW);
          return database.transaction(work, committed);
        },
      },
      () => true,
    );
    expect(await lateStore.registrations.registerClient(late, one, NOW)).toEqual({
      reason: 'network',
      until: NOW + HOUR,
    });
    expect(await store.clients.findClient(late.client.id)).toBeNull();
  });

  test('replaces the oldest unused client that is older than the period', async () => {
    await emptied('oauth_clients');
    const two = { ...limits, unused: 2 };
    await newClient({ createdAt: NOW - 2 * HOUR });
    const used = registrationOf({}, { createdAt: NOW - 2 * HOUR });
    const [oldest, next] = [
      registrationOf({}, { createdAt: NOW }),
      registrationOf({}, { createdAt: NOW + 1 }),
    ];
    for (const each of [used, next, oldest])
      await store.registrations.registerClient(each, limits, NOW);
    await store.clients.noteClientUse(used.client.id, NOW);
    const newcomer = registrationOf({}, { createdAt: NOW + HOUR });
    const before = watched.transactions;
    expect(await store.registrations.registerClient(newcomer, two, NOW + HOUR - 1)).toEqual({
      reason: 'all',
      until: NOW + HOUR,
    });
    expect(watched.transactions).toBe(before);
    expect(await store.registrations.registerClient(newcomer, two, NOW + HOUR)).toBeNull();
    const left = (await store.clients.listClients()).map(({ id }) => id);
    expect(left).not.toContain(oldest.client.id);
    expect(left).toHaveLength(4);
    await emptied('oauth_clients');
    expect(
      await store.registrations.registerClient(registrationOf(), { ...limits, unused: 0 }, NOW),
    ).toBeNull();
  });

  test('does not replace a client that is used at that moment', async () => {
    await emptied('oauth_clients');
    const oldest = registrationOf({}, { createdAt: NOW - HOUR });
    await store.registrations.registerClient(oldest, limits, NOW);
    const newcomer = registrationOf();
    await database.execute('UPDATE oauth_clients SET used_at = NULL');
    const racing = new Store(
      {
        ...database,
        transaction: (work, committed) =>
          database.transaction(
            (connection) =>
              work({
                execute: async (sql, parameters) => {
                  if (sql.startsWith('DELETE FROM oauth_clients'))
                    await connection.execute('UPDATE oauth_clients SET used_at = ?', [NOW]);
                  return connection.execute(sql, parameters);
                },
              }),
            committed,
          ),
      },
      () => true,
    );
    expect(
      await racing.registrations.registerClient(newcomer, { ...limits, unused: 1 }, NOW),
    ).toBeNull();
    expect(await store.clients.findClient(oldest.client.id)).toMatchObject({ usedAt: NOW });
  });

  test('with an initial access token is limited only by the uses and expiry of that token', async () => {
    const network = name('network');
    const none = { ofOneNetwork: 0, unused: 0, period: HOUR };
    const { hash, token } = await initialToken();
    const use = (now: number, initialTokenHash = hash) => {
      const registration = registrationOf({ network, initialTokenHash });
      return store.registrations.registerClient(registration, none, now);
    };
    expect(await use(NOW + HOUR)).toEqual({ reason: 'token' });
    expect(await use(NOW, 'unknown')).toEqual({ reason: 'token' });
    expect(await use(NOW + HOUR - 1)).toBeNull();
    expect(await store.initialAccessTokens.findInitialAccessToken(hash)).toEqual({
      ...token,
      usesLeft: 1,
    });
    expect(await use(NOW)).toBeNull();
    const refused = registrationOf({ initialTokenHash: hash });
    expect(await store.registrations.registerClient(refused, none, NOW)).toEqual({
      reason: 'token',
    });
    expect(await store.clients.findClient(refused.client.id)).toBeNull();
    expect(await store.initialAccessTokens.findInitialAccessToken(hash)).toEqual({
      ...token,
      usesLeft: 0,
    });
  });

  test('is registered after a lost commit only if the commit took effect', async () => {
    const registration = registrationOf();
    const lost = losing('before it took effect');
    await expect(lost.registrations.registerClient(registration, limits, NOW)).rejects.toThrow(
      AWAY,
    );
    expect(
      await losing('after it took effect').registrations.registerClient(registration, limits, NOW),
    ).toBeNull();
    expect(await store.clients.findClient(registration.client.id)).toEqual(registration.client);
    const unknown = registrationOf({ initialTokenHash: 'unknown' });
    expect(
      await losing('after it took effect').registrations.registerClient(unknown, limits, NOW),
    ).toEqual({
      reason: 'token',
    });
  });

  test('can change all its own metadata with its token, and nothing else', async () => {
    const registration = registrationOf();
    const { client, tokenHash } = registration;
    await store.registrations.registerClient(registration, limits, NOW);
    const changed = { ...client, ...UNLIKE, applicationType: 'native' } as const;
    expect(
      await store.registrations.updateRegistration(
        { ...changed, public: true, createdAt: 0 },
        tokenHash,
      ),
    ).toBe(true);
    expect(await store.clients.findClient(client.id)).toEqual(changed);
    expect(await store.registrations.updateRegistration(client, 'another')).toBe(false);
    await store.clients.noteClientUse(client.id, NOW);
    expect(await store.registrations.updateRegistration(client, tokenHash)).toBe(false);
    expect(
      await store.registrations.updateRegistration({ ...changed, name: 'A third' }, tokenHash),
    ).toBe(true);
    expect(await store.clients.findClient(client.id)).toEqual({
      ...changed,
      name: 'A third',
      usedAt: NOW,
    });
    await store.clients.revokeClient(client.id, NOW);
    expect(await store.registrations.updateRegistration(changed, tokenHash)).toBe(false);
  });

  test('confirms to PostgreSQL standbys that an initial access token is removed', async () => {
    const writesFor = async (affected: number, dialect = database.dialect) => {
      const told: string[] = [];
      const execute = async (sql: string) => {
        told.push(sql.slice(0, 40));
        return { rows: [], affected };
      };
      const on = new Store({ ...database, dialect, execute } as typeof database, () => true);
      const isRemoved = await on.initialAccessTokens.deleteInitialAccessToken('t');
      expect(isRemoved).toBe(affected === 1);
      return told;
    };
    const deletes = 'DELETE FROM oauth_initial_access_tokens ';
    expect(await writesFor(0, 'postgres')).toEqual([
      deletes,
      'INSERT INTO oauth_initial_access_tokens ',
    ]);
    expect(await writesFor(1, 'postgres')).toEqual([deletes]);
    expect(await writesFor(0, 'sqlite')).toEqual([deletes]);
  });

  test('can use an initial access token until an operator revokes it', async () => {
    await database.execute("DELETE FROM oauth_initial_access_tokens WHERE token_hash <> ''");
    const [second, first, third] = [
      await initialToken(),
      await initialToken({ createdAt: NOW - 1 }),
      await initialToken({ uses: 9, expiresAt: NOW + 7 }),
    ];
    const all = [first.token, second.token, third.token];
    expect(await store.initialAccessTokens.listInitialAccessTokens()).toEqual(all);
    for (const { hash, token } of [first, second, third])
      expect(await store.initialAccessTokens.findInitialAccessToken(hash)).toEqual(token);
    expect(await store.initialAccessTokens.findInitialAccessToken('unknown')).toBeNull();
    expect(await store.initialAccessTokens.deleteInitialAccessToken('one at a time')).toBe(false);
    expect(await store.initialAccessTokens.deleteInitialAccessToken('unknown')).toBe(false);
    expect(await store.initialAccessTokens.deleteInitialAccessToken(second.token.id)).toBe(true);
    expect(await store.initialAccessTokens.listInitialAccessTokens()).toEqual([
      first.token,
      third.token,
    ]);
    expect(await store.registrations.registerClient(registrationOf(), limits, NOW)).toBeNull();
  });

  const NEVER = { neverUsedBefore: 0, unusedBefore: 0, expiredBefore: 0, uncountedBefore: 0 };

  test('is removed if it was never used or not for a long time, and others stay', async () => {
    await emptied('oauth_clients');
    const registered = async (
      usedAt: number | null,
      createdAt: number,
      changes: Partial<Client> = {},
    ) => {
      const client = await newClient({
        registeredBy: 'registration',
        usedAt,
        createdAt,
        ...changes,
      });
      return client.id;
    };
    const documented = async (freshUntil: number, changes: Partial<Client> = {}) => {
      const client = clientNamed(name('document'), {
        registeredBy: 'document',
        createdAt: 0,
        ...changes,
      });
      await store.documentClients.keepDocumentClient(
        { ...client, revokedAt: null },
        freshUntil,
        null,
      );
      if (client.revokedAt !== null) await store.clients.revokeClient(client.id, client.revokedAt);
      return client.id;
    };
    const going = {
      never: await registered(null, NOW - 1),
      unused: await registered(NOW + HOUR - 1, 0),
      document: await documented(NOW - 1),
    };
    const staying = [
      await registered(null, NOW),
      await registered(NOW + HOUR, 0),
      await documented(NOW),
      await documented(NOW - 1, { revokedAt: NOW }),
      await documented(NOW - 1, { usedAt: 1 }),
      (await newClient({ createdAt: 0 })).id,
      (await newClient({ createdAt: 0, usedAt: 1 })).id,
    ];
    const before = { ...NEVER, neverUsedBefore: NOW, unusedBefore: NOW + HOUR };
    const ids = async () => (await store.clients.listClients()).map(({ id }) => id).toSorted();
    expect(
      await store.expired.pruneRegistrations({ ...NEVER, unusedBefore: NOW + HOUR }, 10),
    ).toEqual({
      clients: 1,
      more: true,
    });
    expect(await store.clients.findClient(going.unused)).toBeNull();
    expect(await store.expired.pruneRegistrations(before, 10)).toEqual({ clients: 2, more: true });
    expect(await store.expired.pruneRegistrations(before, 10)).toEqual({ clients: 0, more: false });
    expect(await ids()).toEqual(staying.toSorted());
    await emptied('oauth_clients');
  });

  test('is removed in batches until no more are found', async () => {
    await emptied('oauth_clients');
    await database.execute("DELETE FROM oauth_initial_access_tokens WHERE token_hash <> ''");
    for (let count = 0; count < 3; count += 1) {
      await newClient({ registeredBy: 'registration', createdAt: NOW });
      await newClient({ registeredBy: 'registration', createdAt: 0, usedAt: NOW });
      await store.documentClients.keepDocumentClient(
        clientNamed(name('document'), { registeredBy: 'document' }),
        NOW,
        null,
      );
    }
    const before = { ...NEVER, neverUsedBefore: NOW + 1, unusedBefore: NOW + 1 };
    expect(await store.expired.pruneRegistrations(before, 2)).toEqual({ clients: 6, more: true });
    expect(await store.expired.pruneRegistrations(before, 2)).toEqual({ clients: 3, more: true });
    expect(await store.expired.pruneRegistrations(before, 2)).toEqual({ clients: 0, more: false });
  });

  test('has its token kept until it has expired, and its network while that counts', async () => {
    await emptied('oauth_clients');
    await database.execute("DELETE FROM oauth_initial_access_tokens WHERE token_hash <> ''");
    const ended = await initialToken({ expiresAt: NOW - 1 });
    const lasting = await initialToken({ expiresAt: NOW });
    expect(await store.expired.pruneRegistrations({ ...NEVER, expiredBefore: NOW }, 10)).toEqual({
      clients: 0,
      more: true,
    });
    expect(await store.initialAccessTokens.findInitialAccessToken(ended.hash)).toBeNull();
    expect(await store.initialAccessTokens.findInitialAccessToken(lasting.hash)).toEqual(
      lasting.token,
    );
    expect(await store.expired.pruneRegistrations({ ...NEVER, expiredBefore: NOW }, 10)).toEqual({
      clients: 0,
      more: false,
    });
    const network = name('network');
    const [old, recent] = [
      registrationOf({ network }, { createdAt: NOW - 1 }),
      registrationOf({ network }, { createdAt: NOW }),
    ];
    for (const each of [old, recent]) await store.registrations.registerClient(each, limits, NOW);
    const networks = async () =>
      (
        await rowsOf<{ registered_from: string | null }>(
          'SELECT registered_from FROM oauth_clients ORDER BY created_at',
        )
      ).map((row) => row.registered_from);
    expect(await store.expired.pruneRegistrations({ ...NEVER, uncountedBefore: NOW }, 10)).toEqual({
      clients: 0,
      more: true,
    });
    expect(await networks()).toEqual([null, network]);
    expect(await store.expired.pruneRegistrations({ ...NEVER, uncountedBefore: NOW }, 10)).toEqual({
      clients: 0,
      more: false,
    });
    expect(await networks()).toEqual([null, network]);
  });
});

function requestOf(changes: Partial<ConsentRequest> = {}): ConsentRequest {
  return {
    idHash: name('request'),
    browserHash: 'browser',
    clientId: 'client',
    redirectUri: 'https://client.example/cb',
    scopes: ['openid', 'notes:read'],
    state: 'with \0',
    nonce: 'nonce',
    codeChallenge: 'challenge',
    audience: 'https://api.example/',
    thumbprint: 'thumbprint',
    asked: { person: { provider: 'accounts', id: 'ada' }, scopes: ['openid', 'notes:read'] },
    shownName: 'A name',
    uiLocales: 'de en',
    direct: true,
    outcome: null,
    expiresAt: NOW + HOUR,
    ...changes,
  };
}

describe('a consent request', () => {
  test('is returned as it was stored, and its id can be stored only once', async () => {
    const request = requestOf();
    expect(await store.consentRequests.insertConsentRequest(request)).toBe(true);
    expect(await store.consentRequests.findConsentRequest(request.idHash)).toEqual(request);
    expect(await store.consentRequests.insertConsentRequest({ ...request, state: 'another' })).toBe(
      false,
    );
    expect(await store.consentRequests.findConsentRequest(request.idHash)).toEqual(request);
    expect(await store.consentRequests.findConsentRequest('unknown')).toBeNull();
    const none = requestOf({
      state: null,
      nonce: null,
      audience: null,
      thumbprint: null,
      outcome: 'denied',
    });
    const { direct: _, ...indirect } = requestOf();
    await store.consentRequests.insertConsentRequest(indirect);
    const read = await store.consentRequests.findConsentRequest(indirect.idHash);
    expect(Object.keys(read ?? {})).not.toContain('direct');
    const asked = { ...none.asked, scopes: [] };
    await store.consentRequests.insertConsentRequest({ ...none, asked, scopes: [] });
    expect(await store.consentRequests.findConsentRequest(none.idHash)).toEqual({
      ...none,
      asked,
      scopes: [],
    });
  });

  test('that cannot be stored is an error, not an existing id', async () => {
    const request = requestOf({ browserHash: null as never });
    await expect(store.consentRequests.insertConsentRequest(request)).rejects.toThrow(
      /browser_hash/,
    );
  });

  test('can be shown again with other scopes, unless it has changed, been answered or expired', async () => {
    const request = requestOf();
    await store.consentRequests.insertConsentRequest(request);
    expect(await store.consentRequests.presentConsentRequest(request, ['openid'], NOW + HOUR)).toBe(
      false,
    );
    expect(
      await store.consentRequests.presentConsentRequest(
        { ...request, asked: { ...request.asked, scopes: ['openid'] } },
        [],
        NOW,
      ),
    ).toBe(false);
    expect(
      await store.consentRequests.presentConsentRequest(
        request,
        ['openid', 'more'],
        NOW + HOUR - 1,
      ),
    ).toBe(true);
    const asked = { ...request.asked, scopes: ['openid', 'more'] };
    expect(await store.consentRequests.findConsentRequest(request.idHash)).toEqual({
      ...request,
      asked,
    });
    await store.consentRequests.voidConsentRequest(request.idHash);
    expect(await store.consentRequests.findConsentRequest(request.idHash)).toEqual({
      ...request,
      asked,
      outcome: 'void',
    });
    expect(await store.consentRequests.presentConsentRequest({ ...request, asked }, [], NOW)).toBe(
      false,
    );
    const denied = requestOf({ outcome: 'denied' });
    await store.consentRequests.insertConsentRequest(denied);
    await store.consentRequests.voidConsentRequest(denied.idHash);
    expect(await store.consentRequests.findConsentRequest(denied.idHash)).toEqual(denied);
  });
});

describe('a request that waits for sign-in', () => {
  const budget = { total: 1000, ofOneNetwork: 400 };
  const waiting = (network: string, bytes: number, expiresAt = NOW + HOUR) => ({
    secretHash: name('waiting'),
    network,
    parameters: `[["state","${name('state')}"]]`,
    bytes,
    expiresAt,
  });
  const fresh = () =>
    database.execute("DELETE FROM oauth_waiting_requests WHERE secret_hash <> 'budget'");
  const waits = async ({ secretHash }: { readonly secretHash: string }, now = NOW) =>
    (await store.waitingRequests.findWaitingRequest(secretHash, now)) !== null;

  test('is found until it expires or ends, and only by its id', async () => {
    await fresh();
    const request = waiting('a', 100);
    expect(await store.waitingRequests.keepWaitingRequest(request, budget, NOW)).toBe(true);
    expect(await store.waitingRequests.findWaitingRequest(request.secretHash, NOW + HOUR - 1)).toBe(
      request.parameters,
    );
    expect(
      await store.waitingRequests.findWaitingRequest(request.secretHash, NOW + HOUR),
    ).toBeNull();
    expect(await store.waitingRequests.findWaitingRequest('budget', NOW)).toBeNull();
    await store.waitingRequests.endWaitingRequest(request.secretHash);
    await store.waitingRequests.endWaitingRequest('budget');
    expect(await waits(request)).toBe(false);
    expect(await rowsOf('SELECT secret_hash FROM oauth_waiting_requests')).toEqual([
      { secret_hash: 'budget' },
    ]);
  });

  test('is ended with all others, in batches, and the row of the budget stays', async () => {
    await fresh();
    for (const id of ['a', 'b', 'c', 'd'])
      await insert('oauth_waiting_requests', {
        secret_hash: id,
        network: '',
        parameters: '',
        byte_count: 1,
        expires_at: NOW,
      });
    const ends = (after: string, limit: number) =>
      store.waitingRequests.endWaitingRequests(after, limit);
    expect(await ends('a', 3)).toEqual({ ended: 2, last: 'c' });
    expect(await ends('c', 3)).toEqual({ ended: 1, last: null });
    expect(await ends('', 2)).toEqual({ ended: 1, last: 'budget' });
    expect(await rowsOf('SELECT secret_hash FROM oauth_waiting_requests')).toEqual([
      { secret_hash: 'budget' },
    ]);
  });

  test('without a budget is always stored, and does not count for its network', async () => {
    await fresh();
    const pushed = Array.from({ length: 3 }, () => waiting('a', 10_000));
    for (const each of pushed)
      expect(await store.waitingRequests.keepWaitingRequest(each, null, NOW)).toBe(true);
    expect(await store.waitingRequests.keepWaitingRequest(waiting('a', 400), budget, NOW)).toBe(
      true,
    );
    for (let count = 0; count < 2; count += 1)
      for (const network of ['b', 'c', 'd'])
        await store.waitingRequests.keepWaitingRequest(waiting(network, 150), budget, NOW);
    for (const each of pushed) expect(await waits(each)).toBe(true);
  });

  test('may use the share of its network to the byte, and is otherwise refused without a write', async () => {
    await fresh();
    expect(await store.waitingRequests.keepWaitingRequest(waiting('a', 300), budget, NOW)).toBe(
      true,
    );
    const before = watched.transactions;
    expect(await store.waitingRequests.keepWaitingRequest(waiting('a', 101), budget, NOW)).toBe(
      false,
    );
    expect(watched.transactions).toBe(before);
    expect(await store.waitingRequests.keepWaitingRequest(waiting('b', 401), budget, NOW)).toBe(
      false,
    );
    expect(await store.waitingRequests.keepWaitingRequest(waiting('a', 100), budget, NOW)).toBe(
      true,
    );
  });

  test('counts until it expires, and is then removed', async () => {
    await fresh();
    const [soon, later] = [waiting('a', 200, NOW + 1), waiting('a', 200, NOW + 2)];
    for (const each of [soon, later])
      expect(await store.waitingRequests.keepWaitingRequest(each, budget, NOW)).toBe(true);
    expect(await store.waitingRequests.keepWaitingRequest(waiting('a', 200), budget, NOW)).toBe(
      false,
    );
    expect(await store.waitingRequests.keepWaitingRequest(waiting('a', 200), budget, NOW + 1)).toBe(
      true,
    );
    const left = await rowsOf<{ secret_hash: string }>(
      'SELECT secret_hash FROM oauth_waiting_requests',
    );
    const hashes = left.map((row) => row.secret_hash);
    expect(hashes).toContain(later.secretHash);
    expect(hashes).not.toContain(soon.secretHash);
    expect(hashes).toHaveLength(3);
  });

  test('replaces the oldest request of the network with the most', async () => {
    await fresh();
    const [oldest, next, third] = [
      waiting('a', 100, NOW + 10),
      waiting('a', 100, NOW + 20),
      waiting('a', 200, NOW + 30),
    ];
    for (const each of [next, third, oldest, waiting('b', 300), waiting('c', 300)])
      expect(await store.waitingRequests.keepWaitingRequest(each, budget, NOW)).toBe(true);
    // This request counts zero bytes. It is the oldest request, but removing it would make no room.
    const pushed = waiting('a', 400, NOW + 5);
    await store.waitingRequests.keepWaitingRequest(pushed, null, NOW);
    expect(await store.waitingRequests.keepWaitingRequest(waiting('d', 150), budget, NOW)).toBe(
      true,
    );
    expect(await Promise.all([oldest, next, third, pushed].map((each) => waits(each)))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(await store.waitingRequests.keepWaitingRequest(waiting('e', 301), budget, NOW)).toBe(
      false,
    );
    await fresh();
  });

  test('is stored after a lost commit only if the commit took effect', async () => {
    await fresh();
    const request = waiting('a', 100);
    const lost = losing('before it took effect');
    await expect(lost.waitingRequests.keepWaitingRequest(request, budget, NOW)).rejects.toThrow(
      AWAY,
    );
    expect(await waits(request)).toBe(false);
    expect(
      await losing('after it took effect').waitingRequests.keepWaitingRequest(request, budget, NOW),
    ).toBe(true);
    expect(await waits(request)).toBe(true);
    await fresh();
  });
});

describe('the cookie key', () => {
  test('is the one that a process stored first, and earlier ones are removed', async () => {
    watched.meanwhile = null;
    await emptied('oauth_cookie_keys');
    expect(await store.cookieKeys.findCookieKey(600)).toBeNull();
    expect(await store.cookieKeys.cookieKey(600, 'first', 599)).toBe('first');
    expect(await writesOf(() => store.cookieKeys.cookieKey(600, 'second', 600))).toEqual([]);
    expect(await store.cookieKeys.cookieKey(600, 'second', 600)).toBe('first');
    watched.meanwhile = {
      before: /^INSERT/,
      act: () => store.cookieKeys.cookieKey(601, 'theirs', 600),
    };
    expect(await store.cookieKeys.cookieKey(601, 'ours', 600)).toBe('theirs');
    expect(await store.cookieKeys.findCookieKey(600)).toBe('first');
    expect(await store.cookieKeys.cookieKey(602, 'third', 601)).toBe('third');
    expect(
      await Promise.all([600, 601, 602].map((period) => store.cookieKeys.findCookieKey(period))),
    ).toEqual([null, 'theirs', 'third']);
  });

  test('is an error if it was removed before use', async () => {
    watched.meanwhile = null;
    await emptied('oauth_cookie_keys');
    await expect(store.cookieKeys.cookieKey(600, 'first', 601)).rejects.toThrow(
      'could not be stored',
    );
  });
});

describe('the subject of a person', () => {
  const person = () => ({ provider: 'accounts', id: name('person') });
  let asked: string;
  beforeEach(async () => {
    const request = requestOf();
    await store.consentRequests.insertConsentRequest(request);
    asked = request.idHash;
  });
  const assign = (to: ReturnType<typeof person>, subject: string, { subjects } = store) =>
    subjects.assignSubjectWhile(asked, to, subject);

  test('is the first one assigned, even by a different process at that moment', async () => {
    watched.meanwhile = null;
    const [ada, grace] = [person(), person()];
    const [first, second] = [name('subject'), name('subject')];
    expect(await store.subjects.findSubject(ada)).toBeNull();
    expect(await store.subjects.hasSubject(ada)).toBe(false);
    expect(await assign(ada, first)).toBe(first);
    expect(await assign(ada, second)).toBe(first);
    expect(await writesOf(() => assign(ada, second))).toEqual([]);
    expect(await store.subjects.findSubject(ada)).toBe(first);
    expect(await store.subjects.hasSubject(ada)).toBe(true);
    expect(await store.subjects.findPersonOfSubject(first)).toEqual(ada);
    expect(await store.subjects.findPersonOfSubject(second)).toBeNull();
    for (const other of [
      grace,
      { ...ada, provider: 'others' },
      { ...ada, id: ada.id.toUpperCase() },
    ]) {
      expect(await store.subjects.findSubject(other)).toBeNull();
      expect(await store.subjects.hasSubject(other)).toBe(false);
      expect(await store.subjects.forgetSubject(other)).toBe(false);
    }
    watched.meanwhile = {
      before: /^INSERT/,
      act: () => assign(grace, second),
    };
    expect(await assign(grace, name('subject'))).toBe(second);
    expect(await store.subjects.forgetSubject(ada)).toBe(true);
    expect(await store.subjects.findSubject(ada)).toBeNull();
    expect(await store.subjects.findSubject(grace)).toBe(second);
  });

  test('is assigned for a consent request only while the request exists', async () => {
    watched.meanwhile = null;
    const [ada, grace] = [person(), person()];
    const [first, second] = [name('subject'), name('subject')];
    const request = requestOf();
    await store.consentRequests.insertConsentRequest(request);
    const assign = (whom: typeof ada, subject: string, asked = request.idHash) =>
      store.subjects.assignSubjectWhile(asked, whom, subject);
    expect(await assign(ada, first, 'unknown')).toBeNull();
    expect(await store.subjects.findSubject(ada)).toBeNull();
    expect(await assign(ada, first)).toBe(first);
    expect(await writesOf(() => assign(ada, second))).toEqual([]);
    expect(await assign(ada, second, 'unknown')).toBe(first);
    watched.meanwhile = {
      before: /^INSERT/,
      act: () => store.subjects.insertSubject(grace, second),
    };
    expect(await assign(grace, name('subject'))).toBe(second);
    expect(await store.subjects.findSubject(ada)).toBe(first);
  });

  test('is the assigned one, even if the person is erased at that moment', async () => {
    watched.meanwhile = null;
    const [ada, grace] = [person(), person()];
    const subject = name('subject');
    const erasing = new Store(
      {
        ...database,
        execute: async (sql, parameters) => {
          const result = await database.execute(sql, parameters);
          if (sql.startsWith('INSERT')) await store.subjects.forgetSubject(ada);
          return result as never;
        },
      },
      () => true,
    );
    expect(await assign(ada, subject, erasing)).toBe(subject);
    watched.meanwhile = {
      before: /^INSERT/,
      act: () => assign(ada, subject),
    };
    expect(await assign(ada, name('subject'), erasing)).toBeNull();
    expect(await store.subjects.findSubject(grace)).toBeNull();
  });

  test('is assigned only while the row exists that the authorization needs', async () => {
    watched.meanwhile = null;
    const ada = person();
    const { id } = await newClient();
    const row = 'oauth_clients WHERE client_id = ?';
    const { subjects } = store;
    for (const [key, from] of [['unknown'], [id], ['unknown', row], [asked, row]] as const)
      expect(await subjects.assignSubjectWhile(key, ada, name('subject'), from)).toBeNull();
    expect(await subjects.findSubject(ada)).toBeNull();
    const subject = name('subject');
    expect(await subjects.assignSubjectWhile(id, ada, subject, row)).toBe(subject);
    expect(await subjects.assignSubjectWhile('unknown', ada, name('subject'))).toBe(subject);
  });

  test('from a different server is stored if neither the person nor the subject is assigned yet', async () => {
    watched.meanwhile = null;
    const [ada, grace] = [person(), person()];
    const [first, second] = [name('subject'), name('subject')];
    expect(await store.subjects.insertSubject(ada, first)).toBe(true);
    expect(await store.subjects.insertSubject(ada, second)).toBe(false);
    expect(await store.subjects.insertSubject(grace, first)).toBe(false);
    expect(await store.subjects.insertSubject(grace, second)).toBe(true);
    expect([
      await store.subjects.findSubject(ada),
      await store.subjects.findSubject(grace),
    ]).toEqual([first, second]);
  });
});

describe('a store', () => {
  // Create the store here, not before all tests, because this test checks the constructor.
  test('has all its tables', async () => {
    watched.meanwhile = null;
    const one = new Store(database, () => true);
    const client = clientNamed(name('client'));
    const logo = logoOf('svg');
    await one.clients.insertClient(client, { logo });
    expect(await one.clients.findClient(client.id)).toEqual(client);
    expect(await one.logos.findLogo(client.id, logo.hash)).toEqual(logo);
    expect(await one.documentClients.findDocumentClient('unknown')).toBeNull();
    expect(await one.registrations.findRegistrationHash('unknown')).toBeNull();
    const request = requestOf();
    expect(await one.consentRequests.insertConsentRequest(request)).toBe(true);
    expect(await one.consentRequests.findConsentRequest(request.idHash)).toEqual(request);
    expect(await one.waitingRequests.findWaitingRequest('unknown', NOW)).toBeNull();
    expect(await one.cookieKeys.cookieKey(1, 'a key', 1)).toBe('a key');
    const person = { provider: 'accounts', id: name('person') };
    const subject = name('subject');
    expect(await one.subjects.insertSubject(person, subject)).toBe(true);
    expect(await one.subjects.findSubject(person)).toBe(subject);
    expect(await one.authorizations.findHolder('unknown')).toBeNull();
    await emptied('oauth_families', 'oauth_access_tokens', 'oauth_cookie_keys');
    expect(await one.everythingIssued.newestIds()).toEqual({ family: null, accessToken: null });
  });
});

describe('with a database collation that ignores case or accents', () => {
  /** Opens a store like that of an engine whose columns have a different collation. */
  async function withLooseText(...tables: readonly string[]): Promise<WatchedStore> {
    const loose = await openWatchedStore();
    for (const table of tables) {
      const [{ sql } = { sql: '' }] = await loose.rowsOf<{ sql: string }>(
        'SELECT sql FROM sqlite_master WHERE name = ?',
        table,
      );
      await loose.database.execute(`DROP TABLE ${table}`);
      await loose.database.execute(sql.replaceAll(/ TEXT\b/g, ' TEXT COLLATE NOCASE'));
    }
    return loose;
  }

  test('clients, documents and people are still compared byte by byte', async () => {
    const loose = await withLooseText('oauth_clients', 'oauth_subjects');
    try {
      const { store: one } = loose;
      const client = clientNamed('Some-Client');
      await one.clients.insertClient(client);
      expect(await one.clients.findClient(client.id)).toEqual(client);
      expect(await one.clients.findClient('some-client')).toBeNull();
      expect(await one.documentClients.findDocumentClient('some-client')).toBeNull();
      const misspelt = { ...client, id: 'some-client' };
      expect(await one.clients.updateClient(misspelt, { ...misspelt, name: 'Another' })).toBe(
        false,
      );
      const person = { provider: 'accounts', id: 'Ada' };
      await one.subjects.insertSubject(person, 'Subject');
      expect(await one.subjects.findPersonOfSubject('Subject')).toEqual(person);
      expect(await one.subjects.findPersonOfSubject('subject')).toBeNull();
      expect(await one.subjects.findSubject(person)).toBe('Subject');
      expect(await one.subjects.findSubject({ ...person, id: 'ada' })).toBeNull();
      expect(await one.subjects.findSubject({ ...person, provider: 'Accounts' })).toBeNull();
    } finally {
      await loose.close();
    }
  });
});
