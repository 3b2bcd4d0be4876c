import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, openDatabase, type OpenedDatabase, oauthServerMigrations } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Store } from './support/store.ts';
import type { Client } from '../packages/portico/src/store/client.ts';
import type { NewRegistration } from '../packages/portico/src/features/registration/records.ts';
import type {
  Family,
  NewAccessToken,
  NewTokens,
  StoredGrant,
  RefreshToken,
} from '../packages/portico/src/store/grant.ts';
import type { ConsentRequest } from '../packages/portico/src/store/requests.ts';
import { createDatabase } from './support/database.ts';
import { createLossyStore } from './support/lossy-store.ts';
import { storedClient } from './support/stored-client.ts';
import { startStoreProcess, type StoreProcess } from './support/store-process.ts';

/**
 * The contract of the store, on every engine. The tests use two stores on the same database: one in
 * this process and a second one.
 */
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OpenedDatabase;
let elsewhere: StoreProcess;
let store: Store;
let other: Store;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-store-'));
  created = await createDatabase(folder);
  database = openDatabase(created.url, { directory: folder });
  await migrate(database, oauthServerMigrations);
  store = new Store(database, () => true);
  elsewhere = await startStoreProcess(created.url, folder);
  other = elsewhere.store;
});
afterAll(async () => {
  await elsewhere.close();
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

const NOW = 1_795_240_016_123;
/** The answer of a person. */
const YES = { allow: true, at: NOW };
const HOUR = 3_600_000;
let numbers = 0;
const name = (what: string) => `${what}-${(numbers += 1)}`;
const inTurn = (index: number) => (index % 2 === 0 ? store : other);
const many = <T>(count: number, use: (each: Store, index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => use(inTurn(index), index)));

function clientNamed(id: string, changes: Partial<Client> = {}): Client {
  const grants = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
  return storedClient(id, NOW, { grants, ...changes });
}

async function newClient(changes: Partial<Client> = {}): Promise<Client> {
  const client = clientNamed(name('client'), changes);
  await store.clients.insertClient(client);
  return client;
}

function requestOf(client: Client, changes: Partial<ConsentRequest> = {}): ConsentRequest {
  return {
    idHash: name('request'),
    browserHash: 'browser',
    clientId: client.id,
    redirectUri: 'https://client.example/cb',
    scopes: ['openid', 'notes:read'],
    state: 'with \0 and 😀',
    nonce: null,
    codeChallenge: 'challenge',
    audience: null,
    thumbprint: null,
    asked: { person: person(), scopes: ['openid'] },
    outcome: null,
    expiresAt: NOW + HOUR,
    ...changes,
  };
}

function familyOf(client: Client, of: Family['person']): Family {
  return {
    id: name('family'),
    clientId: client.id,
    person: of,
    subject: 'subject',
    scopes: ['openid'],
    audience: null,
    thumbprint: null,
  };
}

const person = () => ({ provider: 'accounts', id: name('person') });

/** An authorization with its code, as after consent. */
async function authorization(
  changes: Partial<Family> = {},
): Promise<{ family: Family; code: StoredGrant }> {
  const client = changes.clientId === undefined ? await newClient() : clientNamed(changes.clientId);
  const family: Family = {
    id: name('family'),
    clientId: client.id,
    person: person(),
    subject: 'subject',
    scopes: ['openid', 'notes:read'],
    audience: null,
    thumbprint: null,
    ...changes,
  };
  const asked = { person: family.person, scopes: family.scopes };
  const request = requestOf(client, { asked });
  await store.consentRequests.insertConsentRequest(request);
  const hash = name('code');
  const parameters = { redirectUri: 'https://client.example/cb', codeChallenge: 'c', nonce: null };
  const code = { hash, expiresAt: NOW + HOUR, parameters };
  expect(await store.consentRequests.answerConsent(request, { family, code }, YES)).toBe(true);
  const found = await store.codes.findCode({ id: family.id, hash });
  if (found === null) throw new Error('The code is not there');
  return { family, code: found };
}

function newAccessToken(expiresAt = NOW + HOUR): NewAccessToken {
  return {
    id: name('access'),
    hash: name('hash'),
    scopes: ['openid'],
    expiresAt,
    thumbprint: null,
  };
}

function tokens(changes: Partial<NewTokens> = {}): NewTokens {
  return {
    accessToken: newAccessToken(),
    refreshToken: {
      hash: name('refresh'),
      markHash: 'mark',
      expiresAt: NOW + 10 * HOUR,
      thumbprint: null,
    },
    ...changes,
  };
}

const lives = async (issued: NewTokens, now = NOW) =>
  !('dead' in (await other.accessTokens.findAccessToken(issued.accessToken, now)));

/** A refresh token as a client sends it. */
async function refreshTokenOf(issued: NewTokens, { id }: Family): Promise<RefreshToken> {
  const { hash = '', markHash = '' } = issued.refreshToken ?? {};
  const found = await store.refreshTokens.findRefreshToken({ id, hash, markHash });
  if (found === null) throw new Error('The refresh token is not there');
  return found;
}

const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  postgres: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  mysql: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database()',
} as const;

describe('the database schema', () => {
  // @shows AS-4.4, AS-4.8, AS-4.11, AS-20.1
  test('has only tables with the prefix oauth_, one table for families and none for signing keys', async () => {
    const { rows } = await database.execute<{ name: string }>(TABLES[database.dialect]);
    const names = rows
      .map(({ name: table }) => table)
      .filter((table) => table !== 'portico_migrations');
    expect(names.toSorted()).toEqual([
      'oauth_access_tokens',
      'oauth_audit',
      'oauth_client_logos',
      'oauth_clients',
      'oauth_consent_requests',
      'oauth_cookie_keys',
      'oauth_families',
      'oauth_initial_access_tokens',
      'oauth_single_uses',
      'oauth_subjects',
      'oauth_waiting_requests',
    ]);
  });
});

describe('a single-use value', () => {
  // @shows AS-23.4
  test('is marked as used once, by the first process, and removed after it has expired', async () => {
    for (let round = 0; round < 20; round += 1) {
      const use = { hash: name('use'), expiresAt: NOW };
      const claimed = await many(8, (each) => each.singleUses.claimSingleUse(use));
      expect(claimed.filter((each) => each)).toEqual([true]);
      expect(await other.singleUses.claimSingleUse({ ...use, expiresAt: NOW + HOUR })).toBe(false);
    }
    const later = { hash: name('use'), expiresAt: NOW + HOUR };
    expect(await store.singleUses.claimSingleUse(later)).toBe(true);
    expect(await store.expired.pruneSingleUses(NOW, 100)).toBe(0);
    expect(await store.expired.pruneSingleUses(NOW + 1, 15)).toBe(15);
    expect(await store.expired.pruneSingleUses(NOW + 1, 15)).toBe(5);
    expect(await store.singleUses.claimSingleUse(later)).toBe(false);
  });
});

test('a store that is opened later finds the rows of the first: a use, a token, a response', async () => {
  await database.execute('DELETE FROM oauth_single_uses');
  const use = { hash: name('use'), expiresAt: NOW - HOUR };
  expect(await store.singleUses.claimSingleUse(use)).toBe(true);
  const { family, code } = await authorization();
  const [first, second] = [tokens(), tokens()];
  await store.codes.spendCode(code, first, NOW);
  await store.refreshTokens.rotateRefreshToken(
    await refreshTokenOf(first, family),
    second,
    NOW,
    'an answer',
  );
  const later = new Store(database, () => true);
  expect(await later.singleUses.claimSingleUse(use)).toBe(false);
  expect(await later.expired.pruneSingleUses(NOW - HOUR, 10)).toBe(0);
  expect(await later.expired.pruneSingleUses(NOW - HOUR + 1, 10)).toBe(1);
  expect(await later.singleUses.claimSingleUse(use)).toBe(true);
  expect(await later.expired.pruneSingleUses(NOW - HOUR + 1, 10)).toBe(1);
  expect(await later.refreshTokens.findKeptAnswer(family.id)).toMatchObject({
    sealed: 'an answer',
  });
  expect(await later.accessTokens.findAccessToken(second.accessToken, NOW)).toMatchObject({
    subject: 'subject',
  });
});

describe('clients in the store', () => {
  // @shows AS-4.1, AS-4.12, AS-18.7
  test('are found by the exact bytes of their ID, including case and trailing spaces', async () => {
    const one = await newClient({ id: 'Some-Client' });
    const two = await newClient({ id: 'some-client' });
    expect(await other.clients.findClient(one.id)).toEqual(one);
    expect(await other.clients.findClient(two.id)).toEqual(two);
    for (const id of [
      'SOME-CLIENT',
      'Some-Client ',
      ' Some-Client',
      'Some-Client\0'.slice(0, 10),
    ]) {
      expect(await store.clients.findClient(id)).toBeNull();
    }
  });

  // @shows AS-4.1, AS-11.6
  test('keep their keys and ID token algorithm, and rows of old releases get the default values', async () => {
    const { id } = await newClient({ idTokenSignedResponseAlg: 'EdDSA' });
    expect((await other.clients.findClient(id))?.idTokenSignedResponseAlg).toBe('EdDSA');
    const keys = { jwks: '{"keys":[]}', jwksUri: null, algorithm: 'PS256' };
    const withKeys = await newClient({ keys, secretHash: null });
    expect(await other.clients.findClient(withKeys.id)).toEqual(withKeys);
    const unknown = await newClient({ keys: null });
    await database.execute(
      "UPDATE oauth_clients SET token_endpoint_auth_method = 'of later' WHERE client_id = ?",
      [unknown.id],
    );
    expect((await store.clients.findClient(unknown.id))?.keys).toEqual({
      jwks: null,
      jwksUri: null,
      algorithm: null,
    });
    const earlier = name('client');
    await database.execute(
      `INSERT INTO oauth_clients (client_id, name, redirect_uris, scope, grants, is_public, created_at)
      VALUES (?, 'An application', '[]', 'openid', 'authorization_code', 1, ?)`,
      [earlier, NOW],
    );
    expect(await store.clients.findClient(earlier)).toMatchObject({
      idTokenSignedResponseAlg: 'RS256',
      applicationType: 'web',
      registeredBy: 'operator',
    });
    const listed = (await store.clients.listClients()).filter((each) =>
      [id, earlier].includes(each.id),
    );
    expect(new Set(listed.map((each) => each.idTokenSignedResponseAlg))).toEqual(
      new Set(['EdDSA', 'RS256']),
    );
  });

  // @shows AS-30.2, AS-30.6
  test('change only from the state that was read, so one of several simultaneous changes succeeds', async () => {
    const read = await newClient({ name: 'An application' });
    const changes = ['an application', 'An application ', 'Another', 'AN APPLICATION'].map(
      (each) => ({
        ...read,
        name: each,
      }),
    );
    const made = await many(changes.length, (each, index) =>
      each.clients.updateClient(read, changes[index] ?? read),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    const now = changes[made.indexOf(true)] ?? read;
    expect(await other.clients.findClient(read.id)).toEqual(now);
    for (const alike of changes.map((each) => each.name).filter((each) => each !== now.name)) {
      const each = { ...now, name: alike };
      expect(await store.clients.updateClient(each, { ...each, scopes: [] })).toBe(false);
    }
    const after = {
      ...now,
      redirectUris: ['https://client.example/other'],
      scopes: ['openid'],
      grants: ['authorization_code'] as const,
      keys: { jwks: '{"keys":[]}', jwksUri: null, algorithm: null },
      idTokenSignedResponseAlg: 'ES256' as const,
    };
    expect(await other.clients.updateClient(now, after)).toBe(true);
    expect(await store.clients.findClient(read.id)).toEqual(after);
  });

  // @shows AS-30.2
  test('do not change if they are revoked, not registered by an operator, or unknown', async () => {
    const clients = [
      await newClient({ registeredBy: 'document', id: 'https://client.example/changed.json' }),
      await newClient({ registeredBy: 'registration' }),
      await newClient({ revokedAt: NOW }),
    ];
    for (const client of clients) {
      expect(await store.clients.updateClient(client, { ...client, name: 'Another' })).toBe(false);
      expect(await store.clients.findClient(client.id)).toEqual(client);
    }
    expect(await store.clients.updateClient(clientNamed('unknown'), clientNamed('unknown'))).toBe(
      false,
    );
  });

  // @shows AS-30.8
  test('are listed in the byte order of their IDs, starting after any ID', async () => {
    const ids = ['!', 'A', 'A ', 'B', 'a', 'b', 'https://client.example/', '~'].map(
      (each) => `order ${each}`,
    );
    for (const id of ids.toReversed()) await newClient({ id });
    const listed = async (after: string, limit: number) =>
      (await other.clients.listClientsAfter(after, limit)).map(({ id }) => id);
    expect(await listed('order ', ids.length)).toEqual(ids);
    for (const [index, id] of ids.entries()) {
      expect(await listed(id, 2)).toEqual(
        [...ids.slice(index + 1), ...(await listed('order ~', 2))].slice(0, 2),
      );
    }
    expect(await listed('~~', 5)).toEqual([]);
  });

  // @shows AS-4.1
  test('rotate their secret only while valid, and the previous secret never gets a longer lifetime', async () => {
    const { id } = await newClient({ secretHash: 'first' });
    expect(await store.clients.rotateSecret(id, 'second', NOW + HOUR)).toBe(true);
    expect(await store.clients.rotateSecret(id, 'third', NOW + 2 * HOUR)).toBe(true);
    expect(await other.clients.findClient(id)).toMatchObject({
      secretHash: 'third',
      previousSecretHash: 'second',
      previousSecretExpiresAt: NOW + 2 * HOUR,
    });
    expect(await store.clients.rotateSecret(id, 'fourth', null)).toBe(true);
    expect(await store.clients.findClient(id)).toMatchObject({
      secretHash: 'fourth',
      previousSecretHash: null,
    });
    const expiring = await newClient({ secretHash: 'first', secretExpiresAt: NOW + HOUR });
    const rotate = (hash: string, previousEnd: number | null, end: number | null) =>
      store.clients.rotateSecret(expiring.id, hash, previousEnd, null, end);
    expect(await rotate('second', NOW + 2 * HOUR, NOW + 9 * HOUR)).toBe(true);
    expect(await other.clients.findClient(expiring.id)).toMatchObject({
      secretExpiresAt: NOW + 9 * HOUR,
      previousSecretExpiresAt: NOW + HOUR,
    });
    expect(await rotate('third', NOW + 2 * HOUR, null)).toBe(true);
    expect(await other.clients.findClient(expiring.id)).toMatchObject({
      secretExpiresAt: null,
      previousSecretExpiresAt: NOW + 2 * HOUR,
    });
    expect(await rotate('fourth', null, NOW + HOUR)).toBe(true);
    expect(await rotate('fifth', null, null)).toBe(true);
    expect(await other.clients.findClient(expiring.id)).toMatchObject({
      previousSecretExpiresAt: null,
    });
    const open = await newClient({ public: true, secretHash: null });
    expect(await store.clients.rotateSecret(open.id, 'x', null)).toBe(false);
    expect(await store.clients.rotateSecret('unknown', 'x', null)).toBe(false);
    await store.clients.revokeClient(id, NOW);
    expect(await store.clients.rotateSecret(id, 'x', null)).toBe(false);
  });

  // @shows AS-13.20
  test('stay blocked if they are blocked before they are stored, also while a person opens them', async () => {
    for (let round = 0; round < 10; round += 1) {
      const about = { registeredBy: 'document', public: true, secretHash: null } as const;
      const client = clientNamed(`https://client.example/${name('document')}`, about);
      const blocked = { ...client, name: 'Blocked', revokedAt: NOW };
      const block = async () => {
        await store.clients.insertRevokedClient(blocked);
        return store.clients.revokeClient(client.id, NOW);
      };
      const [wasKnown, kept] = await Promise.all([
        block(),
        other.documentClients.keepDocumentClient(client, NOW + HOUR, null),
      ]);
      expect([wasKnown, kept]).toEqual(wasKnown ? [true, 'new'] : [false, 'revoked']);
      expect(await other.clients.findClient(client.id)).toMatchObject({ revokedAt: NOW });
      expect(await other.documentClients.keepDocumentClient(client, NOW + HOUR, null)).toBe(
        'revoked',
      );
    }
  });

  const documentClient = (changes: Partial<Client> = {}) =>
    clientNamed(`https://client.example/${name('under_score')}`, {
      registeredBy: 'document',
      public: true,
      secretHash: null,
      ...changes,
    });

  // @shows AS-21.7
  test('keep the first of two versions that were fetched at once, and are fetched again', async () => {
    const client = documentClient();
    const read = (uri: string) => ({ ...client, redirectUris: [`https://client.example/${uri}`] });
    await store.documentClients.keepDocumentClient(read('first'), NOW + HOUR, null);
    // The second version was read after the first, and stored before it.
    const second = [read('second'), NOW + 2 * HOUR, NOW + HOUR] as const;
    await many(4, (each) => each.documentClients.keepDocumentClient(...second));
    const kept = () => other.documentClients.findDocumentClient(client.id);
    expect(await kept()).toMatchObject({ client: second[0], freshUntil: NOW + 2 * HOUR });
    expect(
      await other.documentClients.keepDocumentClient(second[0], NOW + 3 * HOUR, NOW + HOUR),
    ).toBe('known');
    expect(await kept()).toMatchObject({ client: second[0], freshUntil: NOW + 2 * HOUR });
    expect(
      await other.documentClients.keepDocumentClient(read('first'), NOW + 3 * HOUR, NOW + HOUR),
    ).toBe('overtaken');
    const { client: still, freshUntil = 0 } = (await kept()) ?? {};
    expect([still, freshUntil < NOW]).toEqual([expect.objectContaining(second[0]), true]);
  });

  // @shows AS-13.26
  test('can be blocked and unblocked once, and count as never fetched until the next fetch', async () => {
    const client = documentClient();
    await store.documentClients.keepDocumentClient(client, NOW + HOUR, null);
    expect(await store.documentClients.unblockDocumentClient(client.id, NOW)).toBe(false);
    await store.clients.revokeClient(client.id, NOW);
    const waiting = (of: string) => ({
      secretHash: name('pushed'),
      network: 'network',
      parameters: JSON.stringify([['client_id', of]]),
      bytes: 100,
      expiresAt: NOW + HOUR,
    });
    const pushed = waiting(client.id);
    const anothers = waiting(client.id.replace('_', '-'));
    for (const each of [pushed, anothers])
      await store.waitingRequests.keepWaitingRequest(each, null, NOW);
    const unblocked = await many(6, (each) =>
      each.documentClients.unblockDocumentClient(client.id, NOW + 10),
    );
    expect(unblocked).toSatisfy(onlyOne);
    expect(await store.waitingRequests.findWaitingRequest(pushed.secretHash, NOW)).toBeNull();
    expect(await store.waitingRequests.findWaitingRequest(anothers.secretHash, NOW)).toBe(
      anothers.parameters,
    );
    await store.waitingRequests.endWaitingRequest(anothers.secretHash);
    const emptied = { revokedAt: null, redirectUris: [], grants: [], createdAt: NOW + 10 };
    expect(await other.clients.findClient(client.id)).toMatchObject(emptied);
    expect(await other.documentClients.keepDocumentClient(client, NOW + HOUR, null)).toBe(
      'revoked',
    );
    expect(await other.clients.findClient(client.id)).toMatchObject(emptied);
    const read = { ...client, createdAt: NOW + 10 };
    expect(await other.documentClients.keepDocumentClient(read, NOW + HOUR, NOW + 10)).toBe(
      'known',
    );
    expect(await store.clients.findClient(client.id)).toMatchObject({
      revokedAt: null,
      grants: client.grants,
    });
  });

  // @shows AS-13.26
  test('are unblocked after a lost commit if it took effect, and stay blocked otherwise', async () => {
    const lossy = createLossyStore(database);
    lossy.whenLost = () => (lossy.isAway = false);
    const losing = new Store(lossy.database, () => true);
    /**
     * Returns whether the commit of a use with an unknown result took effect, according to the
     * store.
     */
    const settled = (id: string) => {
      const asks: OpenedDatabase['transaction'] = async (work, committed) =>
        committed === undefined
          ? database.transaction(work)
          : (committed(database, true as never) as never);
      return new Store(
        { ...database, transaction: asks },
        () => true,
      ).documentClients.unblockDocumentClient(id, NOW);
    };
    const client = documentClient();
    await store.documentClients.keepDocumentClient(client, NOW + HOUR, null);
    await store.clients.revokeClient(client.id, NOW);
    lossy.loses = 'before it took effect';
    await expect(losing.documentClients.unblockDocumentClient(client.id, NOW)).rejects.toThrow(
      'The store is away',
    );
    expect(await store.clients.findClient(client.id)).toMatchObject({ revokedAt: NOW });
    expect(await settled(client.id)).toBe(false);
    lossy.loses = 'after it took effect';
    expect(await losing.documentClients.unblockDocumentClient(client.id, NOW)).toBe(true);
    expect(await store.clients.findClient(client.id)).toMatchObject({ revokedAt: null });
    expect(await settled(client.id)).toBe(true);
  });

  // @shows AS-13.26
  test('have no valid token left after they are unblocked, even if tokens are used at that moment', async () => {
    for (let round = 0; round < 15; round += 1) {
      const client = documentClient();
      await store.documentClients.keepDocumentClient(client, NOW + HOUR, null);
      const [refreshed, exchanged, idle] = [
        await authorization({ clientId: client.id }),
        await authorization({ clientId: client.id }),
        await authorization({ clientId: client.id }),
      ];
      const [before, ofIdle] = [tokens(), tokens()];
      await store.codes.spendCode(refreshed.code, before, NOW);
      await store.codes.spendCode(idle.code, ofIdle, NOW);
      const token = await refreshTokenOf(before, refreshed.family);
      const own = newAccessToken();
      await store.accessTokens.issueClientToken(client.id, null, own, NOW);
      const allowed = { ...idle.family, id: name('family') };
      const asked = requestOf(client, {
        asked: { person: allowed.person, scopes: allowed.scopes },
      });
      await store.consentRequests.insertConsentRequest(asked);
      expect(await lives(ofIdle)).toBe(true);
      await store.clients.revokeClient(client.id, NOW);

      const [byCode, byRefresh] = [tokens(), tokens()];
      const code = {
        hash: name('code'),
        expiresAt: NOW + HOUR,
        parameters: { redirectUri: 'https://client.example/cb', codeChallenge: 'c', nonce: null },
      };
      const use = () => [
        other.codes.spendCode(exchanged.code, byCode, NOW),
        other.refreshTokens.rotateRefreshToken(token, byRefresh, NOW),
        other.consentRequests.answerConsent(asked, { family: allowed, code }, YES),
      ];
      // In half of the rounds, the unblocking is sent first. In the other half, it is sent last.
      const under =
        round % 2 === 0
          ? [store.documentClients.unblockDocumentClient(client.id, NOW), ...use()]
          : [...use()];
      if (round % 2 === 1) under.push(store.documentClients.unblockDocumentClient(client.id, NOW));
      await Promise.all(under);

      expect(await other.clients.findClient(client.id)).toMatchObject({ revokedAt: null });
      for (const issued of [before, ofIdle, byCode, byRefresh])
        expect(await lives(issued)).toBe(false);
      expect(await other.accessTokens.findAccessToken(own, NOW)).toMatchObject({ dead: 'unknown' });
      const late = tokens();
      const found = await store.codes.findCode({ id: allowed.id, hash: code.hash });
      const current = await Promise.all(
        [byCode, byRefresh, before].map((issued) =>
          refreshTokenOf(issued, issued === byCode ? exchanged.family : refreshed.family).catch(
            () => null,
          ),
        ),
      );
      const uses = [
        found === null ? null : await store.codes.spendCode(found, late, NOW),
        ...(await Promise.all(
          current.map(
            async (each) => each && other.refreshTokens.rotateRefreshToken(each, late, NOW),
          ),
        )),
      ];
      expect(uses.filter((each) => each?.issued !== false && each !== null)).toEqual([]);
      expect(await lives(late)).toBe(false);
      expect(await store.authorizations.listAuthorizations(allowed.person, NOW)).toEqual([]);
    }
  });

  // @shows AS-5.6, AS-18.3
  test('are revoked once, together with all their tokens', async () => {
    const { family, code } = await authorization();
    const issued = tokens();
    await store.codes.spendCode(code, issued, NOW);
    const own = newAccessToken();
    await store.accessTokens.issueClientToken(family.clientId, 'https://api.example/', own, NOW);
    expect(await store.accessTokens.findAccessToken(own, NOW)).toMatchObject({
      audience: 'https://api.example/',
      person: null,
      subject: null,
    });
    expect(await many(6, (each) => each.clients.revokeClient(family.clientId, NOW))).toSatisfy(
      onlyOne,
    );
    expect(await lives(issued)).toBe(false);
    expect(await other.accessTokens.findAccessToken(own, NOW)).toMatchObject({
      dead: 'client revoked',
    });
  });
});

describe('clients that register themselves', () => {
  const limits = { ofOneNetwork: 5, unused: 1_000_000, period: HOUR };
  const registrationOf = (changes: Partial<NewRegistration> = {}): NewRegistration => ({
    client: clientNamed(name('registered'), { registeredBy: 'registration', createdAt: NOW }),
    tokenHash: name('registration-token'),
    network: name('network'),
    initialTokenHash: null,
    ...changes,
  });
  const initialToken = async (uses: number, expiresAt = NOW + HOUR) => {
    const [id, hash] = [name('initial'), name('initial-hash')];
    await store.initialAccessTokens.insertInitialAccessToken(
      { id, note: '', uses, usesLeft: uses, createdAt: NOW, expiresAt },
      hash,
    );
    return { id, hash };
  };
  const unusedNow = async () => {
    const all = await store.clients.listClients();
    return all.filter(
      ({ registeredBy, usedAt }) => registeredBy === 'registration' && usedAt === null,
    ).length;
  };

  // @shows AS-18.6, AS-22.6
  test('of one network register up to its limit, even simultaneously in two processes', async () => {
    const network = name('network');
    const answers = await many(24, (each) =>
      each.registrations.registerClient(registrationOf({ network }), limits, NOW),
    );
    expect(answers.filter((answer) => answer === null)).toHaveLength(5);
    const waits = answers.filter((answer) => answer !== null);
    expect(new Set(waits.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ reason: 'network', until: NOW + HOUR })]),
    );
    expect(await store.registrations.registerClient(registrationOf(), limits, NOW)).toBeNull();
    expect(
      await store.registrations.registerClient(registrationOf({ network }), limits, NOW + HOUR),
    ).toBeNull();
  });

  // @shows AS-18.6, AS-22.6
  test('stay unused up to the total limit; the oldest is removed if it is older than the period', async () => {
    const unused = (await unusedNow()) + 4;
    const first = clientNamed(name('registered'), {
      registeredBy: 'registration',
      createdAt: NOW - 2 * HOUR,
    });
    const full = { ...limits, unused };
    expect(
      await store.registrations.registerClient(
        registrationOf({ client: first }),
        full,
        NOW - 2 * HOUR,
      ),
    ).toBeNull();
    const answers = await many(12, (each) =>
      each.registrations.registerClient(registrationOf(), full, NOW),
    );
    // Three besides the first, and one that replaces the first.
    expect(answers.filter((answer) => answer === null)).toHaveLength(4);
    expect(await store.clients.findClient(first.id)).toBeNull();
    expect(await unusedNow()).toBe(unused);
    expect(answers).toContainEqual({ reason: 'all', until: NOW + HOUR });
  });

  // @shows AS-22.6
  test('with an initial access token are not replaced by clients without one', async () => {
    const { hash } = await initialToken(1);
    const createdAt = NOW - 2 * HOUR;
    const invited = clientNamed(name('registered'), { registeredBy: 'registration', createdAt });
    const withToken = registrationOf({ client: invited, initialTokenHash: hash });
    expect(await store.registrations.registerClient(withToken, limits, createdAt)).toBeNull();
    expect(await store.registrations.registerClient(registrationOf(), limits, NOW)).toBeNull();
    const full = { ...limits, unused: 0 };
    await store.registrations.registerClient(registrationOf(), full, NOW);
    await other.registrations.registerClient(registrationOf(), full, NOW);
    expect(await store.clients.findClient(invited.id)).not.toBeNull();
  });

  // @shows AS-18.6, AS-22.10
  test('register as often as an initial access token allows, even simultaneously in two processes', async () => {
    const { id, hash } = await initialToken(3);
    const network = name('network');
    const answers = await many(12, (each) =>
      each.registrations.registerClient(
        registrationOf({ network, initialTokenHash: hash }),
        { ...limits, ofOneNetwork: 1 },
        NOW,
      ),
    );
    expect(answers.filter((answer) => answer === null)).toHaveLength(3);
    expect(answers.filter((answer) => answer?.reason === 'token')).toHaveLength(9);
    expect(await other.initialAccessTokens.findInitialAccessToken(hash)).toMatchObject({
      id,
      usesLeft: 0,
    });
    const expired = await initialToken(3, NOW);
    const late = registrationOf({ initialTokenHash: expired.hash });
    expect(await store.registrations.registerClient(late, limits, NOW)).toEqual({
      reason: 'token',
    });
    expect(await store.clients.findClient(late.client.id)).toBeNull();
  });

  // @shows AS-22.10
  test('with an initial access token register regardless of unverified clients, and replace none', async () => {
    const { hash } = await initialToken(1);
    const none = { ...limits, unused: 0 };
    const stranger = registrationOf();
    await store.registrations.registerClient(stranger, limits, NOW - 2 * HOUR);
    expect(
      await store.registrations.registerClient(registrationOf(), none, NOW - HOUR),
    ).toMatchObject({
      reason: 'all',
    });
    expect(
      await store.registrations.registerClient(
        registrationOf({ initialTokenHash: hash }),
        none,
        NOW,
      ),
    ).toBeNull();
    expect(await store.clients.findClient(stranger.client.id)).not.toBeNull();
    expect(await store.initialAccessTokens.findInitialAccessToken(hash)).toMatchObject({
      usesLeft: 0,
    });
  });

  // @shows AS-22.8
  test('are replaced only with their token, and not after they have ended', async () => {
    const registration = registrationOf();
    await store.registrations.registerClient(registration, limits, NOW);
    const { client, tokenHash } = registration;
    expect(await other.registrations.findRegistrationHash(client.id)).toBe(tokenHash);
    expect(
      await store.registrations.updateRegistration({ ...client, name: 'Other' }, 'another'),
    ).toBe(false);
    expect(
      await other.registrations.updateRegistration({ ...client, name: 'Renamed' }, tokenHash),
    ).toBe(true);
    expect(await store.clients.findClient(client.id)).toEqual({ ...client, name: 'Renamed' });
    const [, replaced] = await Promise.all([
      store.clients.revokeClient(client.id, NOW),
      other.registrations.updateRegistration({ ...client, name: 'At the same moment' }, tokenHash),
    ]);
    expect((await store.clients.findClient(client.id))?.revokedAt).toBe(NOW);
    expect((await store.clients.findClient(client.id))?.name).toBe(
      replaced ? 'At the same moment' : 'Renamed',
    );
    expect(
      await store.registrations.updateRegistration({ ...client, name: 'After' }, tokenHash),
    ).toBe(false);
    expect(await store.registrations.findRegistrationHash((await newClient()).id)).toBeNull();
  });

  // @shows AS-22.8
  test('keep their redirect URIs from their first use on', async () => {
    const registration = registrationOf();
    await store.registrations.registerClient(registration, limits, NOW);
    const { client, tokenHash } = registration;
    const elsewhere = { ...client, redirectUris: ['https://elsewhere.example/callback'] };
    const [, replaced] = await Promise.all([
      store.clients.noteClientUse(client.id, NOW),
      other.registrations.updateRegistration(elsewhere, tokenHash),
    ]);
    const kept = await store.clients.findClient(client.id);
    expect(kept?.redirectUris).toEqual((replaced ? elsewhere : client).redirectUris);
    const third = {
      ...client,
      name: 'Third',
      redirectUris: ['https://Elsewhere.example/callback'],
    };
    expect(await other.registrations.updateRegistration(third, tokenHash)).toBe(false);
    const renamed = { ...client, name: 'Renamed', redirectUris: kept?.redirectUris ?? [] };
    expect(await other.registrations.updateRegistration(renamed, tokenHash)).toBe(true);
    expect(await store.clients.findClient(client.id)).toEqual({ ...renamed, usedAt: NOW });
  });

  // @shows AS-22.7
  test('are removed if they are not used in time, but not if they are used at that moment', async () => {
    const before = {
      neverUsedBefore: NOW + HOUR,
      unusedBefore: NOW + 2 * HOUR,
      expiredBefore: 0,
      uncountedBefore: 0,
    };
    while ((await store.expired.pruneRegistrations(before, 100)).more);
    const registrations = Array.from({ length: 20 }, () => registrationOf());
    for (const each of registrations) await store.registrations.registerClient(each, limits, NOW);
    const operators = await newClient({ createdAt: NOW });
    const [used, removed] = await Promise.all([
      Promise.all(
        registrations
          .slice(0, 10)
          .map(({ client }) => other.clients.noteClientUse(client.id, NOW + 3 * HOUR)),
      ),
      store.expired.pruneRegistrations(before, 7),
    ]);
    expect(used).toHaveLength(10);
    expect(removed.clients).toBeLessThanOrEqual(7);
    while ((await store.expired.pruneRegistrations(before, 7)).more);
    for (const { client } of registrations.slice(10))
      expect(await store.clients.findClient(client.id)).toBeNull();
    for (const { client } of registrations.slice(0, 10)) {
      const found = await store.clients.findClient(client.id);
      expect([null, NOW + 3 * HOUR]).toContain(found === null ? null : found.usedAt);
    }
    expect(await store.clients.findClient(operators.id)).not.toBeNull();
    while (
      (await store.expired.pruneRegistrations({ ...before, unusedBefore: NOW + 4 * HOUR }, 7)).more
    );
    for (const { client } of registrations)
      expect(await store.clients.findClient(client.id)).toBeNull();
  });
});

describe('an access token that is not accepted', () => {
  test('is unknown, expired, of a revoked authorization or of a revoked client', async () => {
    const { code } = await authorization();
    const issued = tokens();
    const { accessToken: token } = issued;
    expect(await store.accessTokens.findAccessToken(token, NOW)).toMatchObject({ dead: 'unknown' });
    await store.codes.spendCode(code, issued, NOW);
    const garbled = { ...token, hash: name('hash') };
    expect(await store.accessTokens.findAccessToken(garbled, NOW)).toMatchObject({
      dead: 'unknown',
    });
    expect(await store.accessTokens.findAccessToken({ ...token, id: '' }, NOW)).toMatchObject({
      dead: 'unknown',
    });
    expect(await store.accessTokens.findAccessToken(token, token.expiresAt)).toMatchObject({
      dead: 'expired',
    });
    await store.authorizations.revokeFamily(code.family.id, NOW);
    const { id: familyId, clientId } = code.family;
    const dead = 'authorization revoked';
    expect(await store.accessTokens.findAccessToken(token, NOW)).toEqual({
      dead,
      clientId,
      familyId,
    });
    await store.clients.revokeClient(code.family.clientId, NOW);
    expect(await store.accessTokens.findAccessToken(token, NOW)).toMatchObject({
      dead: 'client revoked',
    });
  });
});

test('an access token becomes invalid when its client loses the grant type that issued it', async () => {
  const service = await newClient({ grants: ['client_credentials'] });
  const token = newAccessToken();
  await store.accessTokens.issueClientToken(service.id, null, token, NOW);
  const { family, code } = await authorization();
  const issued = tokens();
  await store.codes.spendCode(code, issued, NOW);
  expect('dead' in (await store.accessTokens.findAccessToken(token, NOW))).toBe(false);
  expect(await lives(issued)).toBe(true);
  const change = (id: string, grants: string) =>
    database.execute('UPDATE oauth_clients SET grants = ? WHERE client_id = ?', [grants, id]);
  await change(service.id, 'authorization_code');
  await change(family.clientId, 'refresh_token client_credentials');
  expect(await store.accessTokens.findAccessToken(token, NOW)).toMatchObject({
    dead: 'grant removed',
  });
  expect(await store.accessTokens.findAccessToken(issued.accessToken, NOW)).toMatchObject({
    dead: 'grant removed',
  });
  await change(family.clientId, '');
  expect(await store.accessTokens.findAccessToken(issued.accessToken, NOW)).toMatchObject({
    dead: 'grant removed',
  });
});

test('no stored response is found for a family without one, or for an unknown family', async () => {
  const { family, code } = await authorization();
  await store.codes.spendCode(code, tokens(), NOW);
  expect(await store.refreshTokens.findKeptAnswer(family.id)).toBeNull();
  expect(await store.refreshTokens.findKeptAnswer(name('family'))).toBeNull();
});

describe('subjects in the store', () => {
  /** Returns the key of a consent request. */
  const ask = async () => {
    const request = requestOf(await newClient());
    await store.consentRequests.insertConsentRequest(request);
    return request.idHash;
  };

  // @shows AS-4.7
  test('are assigned once, even with many simultaneous requests', async () => {
    const [who, asked] = [person(), await ask()];
    const assigned = await many(20, (each, index) =>
      each.subjects.assignSubjectWhile(asked, who, name(`subject${index}`)),
    );
    expect(new Set(assigned).size).toBe(1);
    expect(assigned).not.toContain(null);
  });

  // @shows AS-4.6, AS-4.12
  test('differ for people whose IDs differ only in case or a trailing space', async () => {
    const ids = ['Ada', 'ada', 'ada ', 'ADA', 'ädä', 'ada̋'];
    const asked = await ask();
    const subjects = await Promise.all(
      ids.map((id) =>
        store.subjects.assignSubjectWhile(asked, { provider: 'accounts', id }, name('subject')),
      ),
    );
    expect(new Set(subjects).size).toBe(ids.length);
  });
});

describe('a consent request in the store', () => {
  test('is stored once under its ID, and replaced only if it is unchanged since it was read', async () => {
    const asked = { person: person(), scopes: ['openid', 'notes:read'] };
    const request = requestOf(await newClient(), { asked });
    expect(await many(6, (each) => each.consentRequests.insertConsentRequest(request))).toSatisfy(
      onlyOne,
    );
    expect(await other.consentRequests.findConsentRequest(request.idHash)).toEqual(request);
    expect(
      await many(6, (each) => each.consentRequests.presentConsentRequest(request, ['openid'], NOW)),
    ).toSatisfy(onlyOne);
    expect(await other.consentRequests.findConsentRequest(request.idHash)).toMatchObject({
      asked: { scopes: ['openid'] },
    });
    expect(await store.consentRequests.presentConsentRequest(request, ['notes:read'], NOW)).toBe(
      false,
    );
  });

  test('that has ended is not replaced, and its outcome stays', async () => {
    const request = requestOf(await newClient());
    await store.consentRequests.insertConsentRequest(request);
    await other.consentRequests.voidConsentRequest(request.idHash);
    expect(await store.consentRequests.presentConsentRequest(request, ['openid'], NOW)).toBe(false);
    expect(await store.consentRequests.answerConsent(request, null, YES)).toBe(false);
    expect(await store.consentRequests.findConsentRequest(request.idHash)).toMatchObject({
      outcome: 'void',
    });

    const denied = requestOf(await newClient());
    await store.consentRequests.insertConsentRequest(denied);
    await store.consentRequests.answerConsent(denied, null, YES);
    await other.consentRequests.voidConsentRequest(denied.idHash);
    expect(await store.consentRequests.findConsentRequest(denied.idHash)).toMatchObject({
      outcome: 'denied',
    });
  });

  // @shows AS-8.9
  test('is answered once, in time, by the person to whom it was shown', async () => {
    const client = await newClient();
    const asked = { person: person(), scopes: ['openid'] };
    const request = requestOf(client, { asked });
    await store.consentRequests.insertConsentRequest(request);
    const answer = (each: Store, who = asked.person, now = NOW) =>
      each.consentRequests.answerConsent({ ...request, asked: { ...asked, person: who } }, null, {
        allow: true,
        at: now,
      });
    expect(await answer(store, person())).toBe(false);
    expect(await answer(store, { ...asked.person, id: asked.person.id.toUpperCase() })).toBe(false);
    for (const late of [NOW + HOUR, NOW + 2 * HOUR])
      expect(await answer(store, asked.person, late)).toBe(false);
    expect(await many(12, (each) => answer(each))).toSatisfy(onlyOne);
  });

  // @shows AS-18.1
  test('stays unanswered if its code cannot be stored', async () => {
    const { family } = await authorization();
    const client = await newClient();
    const asked = { person: person(), scopes: ['openid'] };
    const request = requestOf(client, { asked });
    await store.consentRequests.insertConsentRequest(request);
    const { idHash } = request;
    const parameters = { redirectUri: '', codeChallenge: '', nonce: null };
    const code = { hash: name('code'), expiresAt: NOW + HOUR, parameters };
    const taken = { ...family, person: asked.person };
    await expect(
      store.consentRequests.answerConsent(request, { family: taken, code }, YES),
    ).rejects.toThrow(/unique|duplicate/i);
    expect(await other.consentRequests.findConsentRequest(idHash)).toMatchObject({ outcome: null });
    expect(await other.authorizations.listAuthorizations(asked.person, NOW)).toEqual([]);
  });
});

describe('a write whose result the store could not report', () => {
  const lossy = () => {
    const losing = createLossyStore(database);
    losing.whenLost = () => (losing.isAway = false);
    return { losing, lossyStore: new Store(losing.database, () => true) };
  };

  // @shows AS-18.9
  test('for a code or refresh token takes effect or is refused, is never late, and can be retried', async () => {
    const { losing, lossyStore } = lossy();
    const { family, code } = await authorization();
    const [first, second] = [tokens(), tokens()];
    losing.loses = 'before it took effect';
    await expect(lossyStore.codes.spendCode(code, first, NOW)).rejects.toThrow('The store is away');
    expect(await store.codes.findCode({ id: family.id, hash: code.hash })).toMatchObject({
      used: false,
    });
    // The same statement, which arrives only now.
    await expect(store.codes.spendCode(code, first, NOW)).rejects.toThrow(/unique|duplicate/i);
    losing.loses = 'after it took effect';
    expect(await lossyStore.codes.spendCode(code, second, NOW)).toEqual({ issued: true });
    const token = await refreshTokenOf(second, family);
    losing.loses = 'before it took effect';
    await expect(lossyStore.refreshTokens.rotateRefreshToken(token, tokens(), NOW)).rejects.toThrow(
      'The store is away',
    );
    expect(await refreshTokenOf(second, family)).toMatchObject({ used: false });
    expect(await lives(second)).toBe(true);
  });

  // @shows AS-18.9, AS-19.1
  test('for a new document client is new, unless another process has stored the client', async () => {
    const { losing, lossyStore } = lossy();
    const about = { registeredBy: 'document', public: true, secretHash: null } as const;
    const document = () => clientNamed(`https://client.example/${name('document')}`, about);
    const keep = (client: Client) =>
      lossyStore.documentClients.keepDocumentClient(client, NOW + HOUR, null);
    const client = document();
    losing.loses = 'after it took effect';
    expect(await keep(client)).toBe('new');
    expect(losing.loses).toBeNull();
    expect(await store.documentClients.findDocumentClient(client.id)).toEqual({
      client,
      freshUntil: NOW + HOUR,
    });
    for (const changes of [{ name: 'Another' }, { revokedAt: NOW }]) {
      const late = document();
      const theirs = { ...late, ...changes };
      await store.clients.insertClient(theirs);
      losing.loses = 'before it took effect';
      await expect(keep(late)).rejects.toThrow('The store is away');
      expect(await store.documentClients.findDocumentClient(late.id)).toMatchObject({
        client: theirs,
      });
    }
  });

  // @shows AS-18.9
  test('for a consent takes effect or does not, and can then be retried', async () => {
    const { losing, lossyStore } = lossy();
    for (const when of ['before it took effect', 'after it took effect'] as const) {
      const client = await newClient();
      const asked = { person: person(), scopes: ['openid'] };
      const request = requestOf(client, { asked });
      await store.consentRequests.insertConsentRequest(request);
      const code = {
        hash: name('code'),
        expiresAt: NOW + HOUR,
        parameters: { redirectUri: 'https://client.example/cb', codeChallenge: 'c', nonce: null },
      };
      const allowed = () => ({ family: familyOf(client, asked.person), code });
      losing.loses = when;
      const answer = lossyStore.consentRequests.answerConsent(request, allowed(), YES);
      const said = await answer.catch((error: Error) => error.message);
      expect(said).toBe(when === 'after it took effect' ? true : 'The store is away');
      expect(await store.consentRequests.answerConsent(request, allowed(), YES)).toBe(
        when === 'before it took effect',
      );
    }
  });
});

describe('authorization codes in the store', () => {
  // @shows AS-18.7
  test('are exchanged once in many simultaneous attempts, and the others revoke the family', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { code } = await authorization();
      const offered = Array.from({ length: 6 }, () => tokens());
      const outcomes = await many(6, (each, index) =>
        each.codes.spendCode(code, offered[index] ?? tokens(), NOW),
      );
      expect(outcomes.map(({ issued }) => issued)).toSatisfy(onlyOne);
      for (const issued of offered) expect(await lives(issued)).toBe(false);
    }
  });

  // @shows AS-18.1
  test('that are invalidated give no tokens, and revoke those of an earlier exchange', async () => {
    const burnt = await authorization();
    await store.codes.burnCode(burnt.code, burnt.family.clientId, NOW);
    expect(await other.codes.spendCode(burnt.code, tokens(), NOW)).toEqual({
      issued: false,
      refusal: 'used',
    });

    for (let round = 0; round < 10; round += 1) {
      const { family, code } = await authorization();
      const issued = tokens();
      const burn = other.codes.burnCode(code, family.clientId, NOW);
      await Promise.all([store.codes.spendCode(code, issued, NOW), burn]);
      expect(await lives(issued)).toBe(false);
    }
  });

  // @shows AS-5.16
  test('that a different client invalidates after an exchange revoke nothing, in either order', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { code } = await authorization();
      const issued = tokens();
      const [outcome, ended] = await Promise.all([
        store.codes.spendCode(code, issued, NOW),
        other.codes.burnCode(code, 'another client', NOW),
      ]);
      expect(ended).toBe(false);
      expect(await lives(issued)).toBe(outcome.issued);
    }
  });

  // @shows AS-18.1
  test('stay unused if their tokens cannot be stored', async () => {
    const taken = tokens();
    const first = await authorization();
    await store.codes.spendCode(first.code, taken, NOW);
    const { code } = await authorization();
    const clash = tokens({ accessToken: { ...newAccessToken(), id: taken.accessToken.id } });
    await expect(store.codes.spendCode(code, clash, NOW)).rejects.toThrow(/unique|duplicate/i);
    const { hash, family } = code;
    expect(await other.codes.findCode({ id: family.id, hash })).toMatchObject({ used: false });
    expect(await lives(clash)).toBe(false);
    expect(await store.codes.spendCode(code, tokens(), NOW)).toEqual({ issued: true });
  });
});

describe('refresh tokens and families in the store', () => {
  async function started(): Promise<{ family: Family; first: NewTokens }> {
    const { family, code } = await authorization();
    const first = tokens();
    expect(await store.codes.spendCode(code, first, NOW)).toEqual({ issued: true });
    return { family, first };
  }

  // @shows AS-4.3
  test('are revoked by a second use of a token, including its successors', async () => {
    const { family, first } = await started();
    const [second, third] = [tokens(), tokens()];
    expect(
      await store.refreshTokens.rotateRefreshToken(
        await refreshTokenOf(first, family),
        second,
        NOW,
      ),
    ).toEqual({
      issued: true,
    });
    expect(await lives(second)).toBe(true);
    const replay = await other.refreshTokens.rotateRefreshToken(
      await refreshTokenOf(first, family),
      third,
      NOW,
    );
    expect(replay).toEqual({ issued: false, refusal: 'used' });
    expect([await lives(first), await lives(second), await lives(third)]).toEqual([
      false,
      false,
      false,
    ]);
    const after = await store.refreshTokens.rotateRefreshToken(
      await refreshTokenOf(second, family),
      tokens(),
      NOW,
    );
    expect(after).toEqual({ issued: false, refusal: 'revoked' });
  });

  const rowsIn = async (table: string) =>
    (await database.execute(`SELECT 1 FROM ${table}`)).rows.length;

  // @shows AS-18.11
  test('need no more rows with each refresh, and each used token revokes the family', async () => {
    for (const replayed of [0, 1, 7]) {
      const { family, first } = await started();
      const issued = [first];
      const rows = {
        families: await rowsIn('oauth_families'),
        access: await rowsIn('oauth_access_tokens'),
      };
      for (let count = 0; count < 8; count += 1) {
        const token = await refreshTokenOf(issued.at(-1) ?? first, family);
        expect(token).toMatchObject({ used: false });
        const next = tokens();
        expect(await inTurn(count).refreshTokens.rotateRefreshToken(token, next, NOW)).toEqual({
          issued: true,
        });
        issued.push(next);
      }
      expect(await rowsIn('oauth_families')).toBe(rows.families);
      expect(await rowsIn('oauth_access_tokens')).toBe(rows.access + 8);
      const used = await refreshTokenOf(issued[replayed] ?? first, family);
      expect(used).toMatchObject({ used: true, family: { id: family.id } });
      expect(await other.authorizations.revokeReplayed(used, NOW)).toBe(true);
      expect(await lives(issued.at(-1) ?? first)).toBe(false);
    }
  });

  test('accept one of many simultaneous uses of a token, and the whole family is revoked', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { family, first } = await started();
      const token = await refreshTokenOf(first, family);
      const offered = Array.from({ length: 6 }, () => tokens());
      const outcomes = await many(6, (each, index) =>
        each.refreshTokens.rotateRefreshToken(token, offered[index] ?? tokens(), NOW),
      );
      expect(outcomes.map(({ issued }) => issued)).toSatisfy(onlyOne);
      for (const each of offered) expect(await lives(each)).toBe(false);
    }
  });

  // @shows AS-5.18
  test('accept one of many simultaneous uses that store a response, and the family stays valid', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { family, first } = await started();
      const token = await refreshTokenOf(first, family);
      const offered = Array.from({ length: 6 }, () => tokens());
      const outcomes = await many(6, (each, index) =>
        each.refreshTokens.rotateRefreshToken(
          token,
          offered[index] ?? tokens(),
          NOW + index,
          `answer ${index}`,
        ),
      );
      expect(outcomes.map(({ issued }) => issued)).toSatisfy(onlyOne);
      const used = outcomes.findIndex(({ issued }) => issued === true);
      const taken = { issued: false, refusal: 'taken' };
      expect(outcomes.toSpliced(used, 1)).toEqual(Array.from({ length: 5 }, () => taken));
      for (const [index, each] of offered.entries()) expect(await lives(each)).toBe(index === used);
      const { hash: currentHash = '', expiresAt = 0 } = offered[used]?.refreshToken ?? {};
      const kept = {
        sealed: `answer ${used}`,
        usedAt: NOW + used,
        generation: token.generation + 1,
      };
      expect(await other.refreshTokens.findKeptAnswer(family.id)).toEqual({
        ...kept,
        currentHash,
        expiresAt,
      });
      expect(await other.authorizations.revokeReplayed(token, NOW)).toBe(true);
      expect(await store.refreshTokens.findKeptAnswer(family.id)).toBeNull();
    }
  });

  test('are unknown with the mark of a different family, or a wrong mark', async () => {
    const { family, first } = await started();
    const hash = name('refresh');
    const find = (familyId: string, markHash: string) =>
      other.refreshTokens.findRefreshToken({ id: familyId, hash, markHash });
    expect(await find(family.id, 'another mark')).toBeNull();
    expect(await find(name('family'), 'mark')).toBeNull();
    expect(await find(family.id.toUpperCase(), 'mark')).toBeNull();
    expect(await find(family.id, 'mark')).toMatchObject({ used: true });
    // The code was not exchanged, so the authorization has no mark, and no token belongs to it.
    expect(await find((await authorization()).family.id, 'mark')).toBeNull();
    expect(await refreshTokenOf(first, family)).toMatchObject({
      used: false,
      family: { id: family.id },
    });
  });

  test('are not revoked if a caller reports the current token as a replay', async () => {
    const { family, first } = await started();
    const token = await refreshTokenOf(first, family);
    expect(await other.authorizations.revokeReplayed({ ...token, used: true }, NOW)).toBe(false);
    expect(await lives(first)).toBe(true);
  });

  // @shows AS-5.5, AS-18.2, RFC7009-2.1g
  test('have no valid token after a simultaneous rotation and revocation', async () => {
    for (let round = 0; round < 25; round += 1) {
      const { family, first } = await started();
      const token = await refreshTokenOf(first, family);
      const next = tokens();
      await Promise.all([
        other.refreshTokens.rotateRefreshToken(token, next, NOW),
        store.authorizations.revokeFamily(family.id, NOW),
      ]);
      expect(await lives(next)).toBe(false);
    }
  });

  // @shows AS-18.3
  test('are revoked once', async () => {
    const { family } = await started();
    expect(await many(6, (each) => each.authorizations.revokeFamily(family.id, NOW))).toSatisfy(
      onlyOne,
    );
  });

  test('have access tokens that only their client can revoke', async () => {
    const { family, first } = await started();
    const { accessToken: token } = first;
    for (const [offered, by] of [
      [token, (await newClient()).id],
      [{ ...token, hash: name('hash') }, family.clientId],
      [{ ...token, id: '' }, family.clientId],
    ] as const) {
      expect(await store.accessTokens.revokeAccessToken(offered, by, NOW)).toBeNull();
    }
    expect(await lives(first)).toBe(true);
    const known = await other.accessTokens.findAccessToken(token, NOW);
    expect(known).toMatchObject({ familyId: family.id, person: family.person });
    expect(await store.accessTokens.revokeAccessToken(token, family.clientId, NOW)).toEqual(known);
    expect(await lives(first)).toBe(false);
    expect((await refreshTokenOf(first, family)).used).toBe(false);
  });

  // @shows AS-18.3, AS-19.12
  test('have access tokens that are revoked once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { family, first } = await started();
      const revoked = await many(6, (each) =>
        each.accessTokens.revokeAccessToken(first.accessToken, family.clientId, NOW),
      );
      expect(revoked.map((each) => each !== null)).toSatisfy(onlyOne);
    }
  });

  // @shows AS-19.12
  test('have ended access tokens, which are not reported as revoked, and are removed', async () => {
    const ended: readonly ((of: Family) => unknown)[] = [
      ({ id }) => store.authorizations.revokeFamily(id, NOW),
      ({ clientId }) =>
        database.execute('UPDATE oauth_clients SET grants = ? WHERE client_id = ?', [
          'refresh_token',
          clientId,
        ]),
    ];
    for (const end of ended) {
      const { family, first } = await started();
      await end(family);
      expect(
        await store.accessTokens.revokeAccessToken(first.accessToken, family.clientId, NOW),
      ).toBeNull();
      expect(await other.accessTokens.findAccessToken(first.accessToken, NOW)).toMatchObject({
        dead: 'unknown',
      });
    }
    const { family, first } = await started();
    const { accessToken: token } = first;
    expect(
      await store.accessTokens.revokeAccessToken(token, family.clientId, token.expiresAt),
    ).toBeNull();
    // According to the clock of another process, it would still be valid.
    expect(await other.accessTokens.findAccessToken(token, NOW)).toMatchObject({ dead: 'unknown' });
  });

  // @shows AS-18.4
  test('have access tokens that are valid until their last millisecond', async () => {
    const { first } = await started();
    expect([await lives(first, NOW + HOUR - 1), await lives(first, NOW + HOUR)]).toEqual([
      true,
      false,
    ]);
  });

  test('are listed for a person while they are valid, oldest first', async () => {
    const who = person();
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { family } = await authorization({ person: who });
      ids.push(family.id);
    }
    await database.execute('UPDATE oauth_families SET created_at = ? WHERE id = ?', [
      NOW - 1,
      ids[3] ?? '',
    ]);
    await store.authorizations.revokeFamily(ids[0] ?? '', NOW);
    const list = async (now: number) =>
      (await other.authorizations.listAuthorizations(who, now)).map(({ family }) => family.id);
    expect(await list(NOW)).toEqual([ids[3], ids[1], ids[2]]);
    expect(await list(NOW + HOUR)).toEqual([]);
    expect(
      await other.authorizations.listAuthorizations({ ...who, id: who.id.toUpperCase() }, NOW),
    ).toEqual([]);
  });
});

describe('requests in the store that wait for sign-in', () => {
  const waiting = (network: string, bytes: number, expiresAt = NOW + HOUR) => ({
    secretHash: name('waiting'),
    network,
    parameters: '[["state","😀"]]',
    bytes,
    expiresAt,
  });
  const keep = (request: ReturnType<typeof waiting>, each = store, now = NOW) =>
    each.waitingRequests.keepWaitingRequest(request, { total: 1000, ofOneNetwork: 400 }, now);
  const waits = async ({ secretHash }: { secretHash: string }) =>
    (await other.waitingRequests.findWaitingRequest(secretHash, NOW)) !== null;

  async function held(): Promise<{ readonly all: number; readonly ofOne: number }> {
    const { rows } = await database.execute<{ network: string; bytes: number | string }>(
      'SELECT network, SUM(byte_count) AS bytes FROM oauth_waiting_requests GROUP BY network',
    );
    const bytes = rows.map((row) => Number(row.bytes));
    return { all: bytes.reduce((sum, each) => sum + each, 0), ofOne: Math.max(...bytes) };
  }

  beforeEach(async () => {
    await database.execute('DELETE FROM oauth_waiting_requests WHERE byte_count > 0');
  });

  test('wait until they are ended or have expired', async () => {
    const request = waiting('a', 100);
    expect(await keep(request)).toBe(true);
    expect(await other.waitingRequests.findWaitingRequest(request.secretHash, NOW)).toBe(
      request.parameters,
    );
    expect(
      await other.waitingRequests.findWaitingRequest(request.secretHash, NOW + HOUR),
    ).toBeNull();
    await other.waitingRequests.endWaitingRequest(request.secretHash);
    expect(await waits(request)).toBe(false);
    expect(await store.waitingRequests.findWaitingRequest('budget', NOW)).toBeNull();
  });

  // @shows AS-7.14
  test('of one network stay within its limit, even if all arrive at the same moment', async () => {
    const kept = await many(12, (each) => keep(waiting('a', 100), each));
    expect(kept.filter(Boolean)).toHaveLength(4);
    expect(await held()).toEqual({ all: 400, ofOne: 400 });
  });

  // @shows AS-7.14
  test('stay within the total: a smaller network replaces the oldest request of the largest one', async () => {
    const first = waiting('a', 100, NOW + 1);
    expect(await keep(first)).toBe(true);
    for (let count = 0; count < 3; count += 1) await keep(waiting('a', 100));
    for (let count = 0; count < 6; count += 1) await keep(waiting('b', 50));
    for (let count = 0; count < 6; count += 1) await keep(waiting('c', 50));
    expect((await held()).all).toBe(1000);
    const newcomer = waiting('d', 100);
    expect(await keep(newcomer, other)).toBe(true);
    expect([await waits(first), await waits(newcomer)]).toEqual([false, true]);
    expect((await held()).all).toBe(1000);
    // Each of the other networks has 300. None of them makes room for a network that would then
    // have as many.
    const more = [
      await keep(waiting('d', 100)),
      await keep(waiting('d', 100)),
      await keep(waiting('d', 100)),
    ];
    expect(more.at(-1)).toBe(false);
    // If networks have the same size, the engine chooses which one makes room first, and whether it
    // loses one request or two.
    const { all, ofOne } = await held();
    expect(ofOne).toBe(300);
    expect([950, 1000]).toContain(all);
  });

  test('that have expired free their space automatically', async () => {
    for (let count = 0; count < 4; count += 1) await keep(waiting('a', 100, NOW + 1));
    expect(await keep(waiting('a', 100))).toBe(false);
    expect(await keep(waiting('a', 100), store, NOW + 1)).toBe(true);
    expect((await held()).all).toBe(100);
  });
});

describe('the cookie keys in the store', () => {
  test('are created once per period, by the first process, and the oldest are removed', async () => {
    const keys = await many(8, (each, index) =>
      each.cookieKeys.cookieKey(600, `key-${index}`, 599),
    );
    expect(new Set(keys).size).toBe(1);
    expect(await other.cookieKeys.findCookieKey(600)).toBe(keys[0]);
    expect(await store.cookieKeys.findCookieKey(601)).toBeNull();
    expect(await store.cookieKeys.cookieKey(601, 'next', 600)).toBe('next');
    expect(await other.cookieKeys.findCookieKey(600)).toBe(keys[0]);
    await store.cookieKeys.cookieKey(602, 'last', 601);
    expect(await other.cookieKeys.findCookieKey(600)).toBeNull();
  });
});

describe('pruning in the store', () => {
  beforeEach(async () => {
    for (const table of ['oauth_families', 'oauth_access_tokens', 'oauth_consent_requests']) {
      await database.execute(`DELETE FROM ${table}`);
    }
    await database.execute('DELETE FROM oauth_waiting_requests WHERE byte_count > 0');
  });

  const everyAccessToken = async (each: Store, expiredBefore: number, limit: number) => {
    let total = 0;
    for (let after: string | null = ''; after !== null;) {
      const { removed, last } = await each.expired.pruneAccessTokens(after, expiredBefore, limit);
      total += removed;
      after = last;
    }
    return total;
  };

  // @shows AS-18.8
  test('removes one batch at a time, keeps what detects a replay, and finally removes everything', async () => {
    const { family, code } = await authorization();
    const offered = { id: family.id, hash: code.hash };
    let issued = tokens();
    await store.codes.spendCode(code, issued, NOW);
    for (let count = 0; count < 6; count += 1) {
      const next = tokens();
      await store.refreshTokens.rotateRefreshToken(await refreshTokenOf(issued, family), next, NOW);
      issued = next;
    }
    // The family is stored until its last refresh token expires.
    expect(await store.expired.prune(NOW + 5 * HOUR, 4)).toEqual({
      families: 0,
      consentRequests: 1,
      more: true,
    });
    expect(await store.expired.prune(NOW + 5 * HOUR, 4)).toEqual({
      families: 0,
      consentRequests: 0,
      more: false,
    });
    expect(await store.expired.pruneAccessTokens('', NOW + 5 * HOUR, 4)).toMatchObject({
      removed: 4,
    });
    expect(await store.codes.findCode(offered)).toMatchObject({ used: true });
    expect(await store.expired.pruneAccessTokens('', NOW + 5 * HOUR, 4)).toEqual({
      removed: 3,
      last: null,
    });
    expect(await store.expired.prune(NOW + 11 * HOUR, 4)).toMatchObject({ families: 1 });
    expect(await store.codes.findCode(offered)).toBeNull();
  });

  // @shows AS-18.8
  test('finds expired rows even behind access tokens that are still valid', async () => {
    const client = await newClient();
    const issue = async (expiresAt: number) => {
      const token = newAccessToken(expiresAt);
      await store.accessTokens.issueClientToken(client.id, null, token, NOW);
      return token;
    };
    const living = [await issue(NOW + HOUR), await issue(NOW + HOUR), await issue(NOW + HOUR)];
    await issue(NOW);
    expect(await store.expired.pruneAccessTokens('', NOW + 1, 2)).toMatchObject({ removed: 0 });
    expect(await everyAccessToken(store, NOW + 1, 2)).toBe(1);
    for (const token of living)
      expect(typeof (await store.accessTokens.findAccessToken(token, NOW))).toBe('object');
  });

  // @shows AS-18.8
  test('removes an access token just after it expires, and returns its position if more may follow', async () => {
    const { id: clientId } = await newClient();
    const issued = [newAccessToken(NOW), newAccessToken(NOW + 1), newAccessToken(NOW)];
    for (const token of issued)
      await store.accessTokens.issueClientToken(clientId, null, token, NOW);
    const ids = issued.map(({ id }) => id).toSorted();
    expect(await store.expired.pruneAccessTokens('', NOW, 10)).toEqual({ removed: 0, last: null });
    expect(await store.expired.pruneAccessTokens('', NOW, 3)).toEqual({ removed: 0, last: ids[2] });
    expect(await store.expired.pruneAccessTokens(ids[2] ?? '', NOW, 3)).toEqual({
      removed: 0,
      last: null,
    });
    expect(await store.expired.pruneAccessTokens('', NOW + 1, 10)).toEqual({
      removed: 2,
      last: null,
    });
  });

  // @shows AS-18.7
  test('in two processes at the same time removes every row once', async () => {
    const client = await newClient();
    for (let count = 0; count < 40; count += 1) {
      await store.accessTokens.issueClientToken(client.id, null, newAccessToken(NOW), NOW);
    }
    const pruned = await many(8, (each) => each.expired.pruneAccessTokens('', NOW + 1, 10));
    const rest = await everyAccessToken(store, NOW + 1, 10);
    expect(pruned.reduce((sum, { removed }) => sum + removed, rest)).toBe(40);
  });

  // @shows AS-18.8
  test('never fails for many rows in two processes at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const begun = await Promise.all(Array.from({ length: 40 }, () => authorization()));
      await Promise.all(
        begun.map(({ code }, index) =>
          inTurn(index).codes.spendCode(code, tokens(), NOW + Math.floor(Math.random() * HOUR)),
        ),
      );
      // Batches of several sizes find the same rows in several orders.
      const pruned = await many(12, async (each, index) => {
        await each.expired.pruneAccessTokens('', NOW + 20 * HOUR, 10 + index * 7);
        return each.expired.prune(NOW + 20 * HOUR, 10 + index * 7);
      });
      expect(pruned.some(({ families }) => families > 0)).toBe(true);
    }
  });
});

function onlyOne(answers: readonly unknown[]): boolean {
  return answers.filter((answer) => answer === true).length === 1;
}
