import { getDialect } from '@portico/sql';
import type { OpenedDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditRecord } from '../packages/portico/src/auditing/kept-audit.ts';
import type {
  AuthorizationFilter,
  HeldRange,
} from '../packages/portico/src/store/authorization-search.ts';
import type { Axis } from '../packages/portico/src/features/audit/kept-audit.ts';
import { AuditRecords } from '../packages/portico/src/features/audit/table.ts';
import type { FurtherGrants } from '../packages/portico/src/store/grant.ts';
import { AuthorizationSearch } from '../packages/portico/src/store/sql/authorization-search.ts';
import { countRows } from '../packages/portico/src/store/sql/counting.ts';
import { EverythingIssued } from '../packages/portico/src/store/sql/everything-issued.ts';
import {
  conditionOfPerson,
  conjunction,
  familyIndex,
} from '../packages/portico/src/store/sql/family-index.ts';
import { keysWhere } from '../packages/portico/src/store/sql/statements.ts';
import { CONSENT_REQUEST_ROW } from './support/consent-request-row.ts';
import { Store } from './support/store.ts';
import { openWatchedStore, type WatchedStore } from './support/watched-store.ts';

let watched: WatchedStore;
let database: OpenedDatabase;
let store: Store;
let { emptied, insert, rowsOf } = {} as WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
  ({ database, store, emptied, insert, rowsOf } = watched);
});
afterAll(() => watched.close());

const NOW = 1_795_240_016_123;
const HOUR = 3_600_000;
const ADA = { provider: 'accounts', id: 'ada' };
const GRACE = { provider: 'accounts', id: 'grace' };

type Row = Readonly<Record<string, string | number | null>>;

const client = (id: string, changes: Row = {}) =>
  insert('oauth_clients', {
    client_id: id,
    name: `The name of ${id}`,
    redirect_uris: '[]',
    scope: '',
    grants: 'authorization_code',
    is_public: 1,
    created_at: NOW,
    ...changes,
  });

const family = (id: string, changes: Row = {}) =>
  insert('oauth_families', {
    id,
    client_id: 'notes',
    user_provider: 'accounts',
    user_id: 'ada',
    subject: 'a subject',
    scope: 'openid notes:read',
    created_at: NOW,
    expires_at: NOW + HOUR,
    prune_after: NOW + HOUR,
    ...changes,
  });

async function fresh(): Promise<void> {
  // Clean up after a test that failed.
  watched.meanwhile = null;
  await emptied('oauth_clients', 'oauth_families', 'oauth_access_tokens', 'oauth_consent_requests');
  await client('notes');
  await client('diary', { registered_by: 'document' });
}

const ALL: HeldRange = { below: null, above: null, limit: 100, examine: 100 };
async function found(filter: AuthorizationFilter = {}, range: Partial<HeldRange> = {}) {
  const { items, next } = await store.authorizationSearch.findHeld(
    filter,
    { ...ALL, ...range },
    NOW,
  );
  return [...items.map(({ id }) => id), next];
}

describe('active access in the store', () => {
  test('is found with all its data', async () => {
    await fresh();
    await client('earlier', { registered_by: null });
    await family('1', {
      audience: 'https://api.example/',
      used_at: NOW + 1,
      refresh_generation: 1,
    });
    await family('2', { client_id: 'diary', refresh_generation: 1, scope: '' });
    await family('3', { client_id: 'earlier', created_at: NOW - 1 });
    const about = { subject: 'a subject', person: ADA, givenBy: null };
    const same = { ...about, createdAt: NOW, expiresAt: NOW + HOUR };
    const name = (id: string) => `The name of ${id}`;
    expect(await store.authorizationSearch.findHeld({}, ALL, NOW)).toEqual({
      items: [
        {
          ...same,
          id: '3',
          client: { id: 'earlier', name: name('earlier'), registeredBy: 'operator' },
          scopes: ['openid', 'notes:read'],
          audience: null,
          createdAt: NOW - 1,
          usedAt: null,
        },
        {
          ...same,
          id: '2',
          client: { id: 'diary', name: name('diary'), registeredBy: 'document' },
          scopes: [],
          audience: null,
          usedAt: 'unknown',
        },
        {
          ...same,
          id: '1',
          client: { id: 'notes', name: name('notes'), registeredBy: 'operator' },
          scopes: ['openid', 'notes:read'],
          audience: 'https://api.example/',
          usedAt: NOW + 1,
        },
      ],
      next: null,
    });
    watched.meanwhile = {
      before: /FROM oauth_clients WHERE client_id IN/,
      act: () => database.execute("DELETE FROM oauth_clients WHERE client_id = 'diary'"),
    };
    const { items } = await store.authorizationSearch.findHeld({ clientId: 'diary' }, ALL, NOW);
    expect(items.map((each) => each.client)).toEqual([
      { id: 'diary', name: '', registeredBy: 'registration' },
    ]);
  });

  test('is not skipped if other access is added while a page is read', async () => {
    await fresh();
    for (const filter of [{}, { clientId: 'notes' }, { person: ADA }]) {
      await emptied('oauth_families');
      for (const id of ['1', '2', '3', '4']) await family(id);
      watched.meanwhile = { before: /^SELECT f\.id, f\.client_id/, act: () => family('9') };
      const first = await found(filter, { examine: 2 });
      expect(watched.meanwhile).toBeNull();
      expect(first).toEqual(['9', '4', '3', '3']);
      expect(await found(filter, { examine: 2, below: '3' })).toEqual(['2', '1', '1']);
    }
  });

  test('is neither expired nor revoked, and its client exists, is valid and has the grant type', async () => {
    await fresh();
    await client('revoked', { revoked_at: NOW });
    await client('narrowed', { grants: 'client_credentials' });
    await client('misnamed', { grants: 'refresh_token no_authorization_code' });
    await client('last', { grants: 'refresh_token authorization_code' });
    await family('1', { expires_at: NOW });
    await family('2', { expires_at: NOW + 1 });
    await family('3', { revoked_at: NOW });
    for (const [index, id] of ['revoked', 'narrowed', 'misnamed', 'unknown', 'last'].entries())
      await family(String(4 + index), { client_id: id });
    expect(await found()).toEqual(['8', '2', null]);
  });

  test('is found by each filter: client, person, scope, and time without use', async () => {
    await fresh();
    await family('1');
    await family('2', { client_id: 'diary', scope: 'notes:read openid' });
    await family('3', { user_id: 'grace', scope: 'openid' });
    await family('4', { user_provider: 'others', scope: 'openid2' });
    await family('5', { used_at: NOW + 5, scope: '' });
    await family('6', { used_at: NOW - 5, created_at: NOW + 5, scope: 'a b c' });
    expect(await found({ clientId: 'notes' })).toEqual(['6', '5', '4', '3', '1', null]);
    expect(await found({ clientId: 'diary' })).toEqual(['2', null]);
    expect(await found({ person: ADA })).toEqual(['6', '5', '2', '1', null]);
    expect(await found({ person: GRACE })).toEqual(['3', null]);
    expect(await found({ person: ADA, clientId: 'diary' })).toEqual(['2', null]);
    expect(await found({ person: GRACE, clientId: 'diary' })).toEqual([null]);
    expect(await found({ scope: 'openid' })).toEqual(['3', '2', '1', null]);
    expect(await found({ scope: 'b' })).toEqual(['6', null]);
    expect(await found({ scope: 'openid', person: ADA, clientId: 'notes' })).toEqual(['1', null]);
    expect(await found({ unusedSince: NOW })).toEqual(['6', null]);
    expect(await found({ unusedSince: NOW + 1 })).toEqual(['6', '4', '3', '2', '1', null]);
    expect(await found({ unusedSince: NOW + 1, clientId: 'diary' })).toEqual(['2', null]);
  });

  test('is found in a range, up to a limit, with a position to continue', async () => {
    await fresh();
    for (const id of ['1', '2', '3', '4', '5']) await family(id);
    for (const filter of [{}, { person: ADA }, { clientId: 'notes' }]) {
      const page = (range: Partial<HeldRange>) => found(filter, range);
      expect(await page({ limit: 5 })).toEqual(['5', '4', '3', '2', '1', null]);
      expect(await page({ limit: 2 })).toEqual(['5', '4', '4']);
      expect(await page({ limit: 3 })).toEqual(['5', '4', '3', '3']);
      expect(await page({ limit: 2, below: '4' })).toEqual(['3', '2', '2']);
      expect(await page({ limit: 2, below: '2' })).toEqual(['1', null]);
      expect(await page({ below: '1' })).toEqual([null]);
      expect(await page({ above: '3' })).toEqual(['5', '4', '3', null]);
      expect(await page({ above: '3', limit: 2 })).toEqual(['5', '4', '4']);
      expect(await page({ examine: 2 })).toEqual(['5', '4', '4']);
      expect(await page({ examine: 2, above: '4' })).toEqual(['5', '4', null]);
      expect(await page({ examine: 2, above: '3' })).toEqual(['5', '4', '4']);
      expect(await page({ examine: 5, below: '9' })).toEqual(['5', '4', '3', '2', '1', '1']);
      expect(await page({ examine: 6 })).toEqual(['5', '4', '3', '2', '1', null]);
    }
    expect(await found({ scope: 'rare' }, { examine: 2 })).toEqual(['4']);
    expect(await found({ scope: 'rare' })).toEqual([null]);
    expect(await found({ clientId: 'diary' })).toEqual([null]);
  });

  test('is found by the same rows if the engine plans statements without values', async () => {
    await fresh();
    for (const id of ['1', '2', '3', '4']) await family(id);
    await family('5', { client_id: 'diary', user_id: 'grace' });
    await family('6', { client_id: 'diary', user_provider: 'others' });
    for (const plansWithoutValues of [true, false]) {
      const dialect = { ...getDialect(database), plansWithoutValues };
      for (const filter of [{}, { person: ADA }, { clientId: 'notes' }]) {
        const index = familyIndex(filter, '4', dialect);
        const { sql, parameters } = conjunction([index, index.endsAt('2')]);
        const { rows } = await database.execute<{ id: string }>(
          `SELECT f.id FROM oauth_families f WHERE ${sql} ORDER BY ${index.order}`,
          parameters,
        );
        expect(rows.map(({ id }) => id)).toEqual(['3', '2']);
      }
      const keys = await keysWhere(
        database,
        ['oauth_families', 'id'],
        conditionOfPerson(ADA, dialect),
        9,
      );
      expect(keys.toSorted()).toEqual(['1', '2', '3', '4']);
    }
    // The condition is a range only if the engine needs it.
    const tests = (['sqlite', 'postgres'] as const).map(
      (dialect) => conditionOfPerson(ADA, getDialect({ dialect }))[1],
    );
    expect(tests).toEqual([
      '= ? AND user_provider = ?',
      '>= ? AND (user_id, id) < (?, ?) AND user_provider = ?',
    ]);
  });

  test('from an organization needs a grant for that, and other access a grant of a person', async () => {
    await fresh();
    const grants = ['authorization_code', 'code_of_device', 'assertion', 'exchange', 'none'];
    for (const [index, grant] of grants.entries()) {
      await client(grant, { grants: `refresh_token ${grant}` });
      await family(`a${index}`, { client_id: grant });
      await family(`b${index}`, {
        client_id: grant,
        details: JSON.stringify({ given_by: 'https://issuer.example' }),
      });
    }
    const ids = async (further: FurtherGrants) => {
      const search = new AuthorizationSearch(database, further);
      const { items } = await search.findHeld({}, ALL, NOW);
      return items.map(({ id }) => id);
    };
    const all = { person: ['code_of_device'], organization: ['assertion', 'exchange'], client: [] };
    expect(await ids((beginning) => all[beginning])).toEqual(['b3', 'b2', 'a1', 'a0']);
    expect(await ids(() => [])).toEqual(['a0']);
  });

  test('is counted with its people among the newest rows', async () => {
    await fresh();
    const count = (limit: number) => store.authorizationSearch.countHeld(limit, NOW);
    expect(await count(1)).toEqual({ authorizations: 0, people: 0, isAll: true });
    await family('1', { user_provider: 'others' });
    for (const id of ['2', '3']) await family(id);
    await family('4', { user_id: 'grace' });
    await family('5', { revoked_at: NOW, user_id: 'lin' });
    expect(await count(6)).toEqual({ authorizations: 4, people: 3, isAll: true });
    expect(await count(5)).toEqual({ authorizations: 4, people: 3, isAll: false });
    expect(await count(3)).toEqual({ authorizations: 2, people: 2, isAll: false });
    expect(await count(1)).toEqual({ authorizations: 0, people: 0, isAll: false });
  });

  test('is found by the ID of the authorization, valid or not', async () => {
    await fresh();
    await family('1', { revoked_at: NOW, client_id: 'unknown', user_id: 'grace' });
    expect(await store.authorizations.findHolder('1')).toEqual({
      clientId: 'unknown',
      person: GRACE,
    });
    expect(await store.authorizations.findHolder('2')).toBeNull();
  });
});

const revokedAt = async () =>
  (
    await rowsOf<{ revoked_at: number | null }>('SELECT revoked_at FROM oauth_families ORDER BY id')
  ).map((row) => row.revoked_at);

/**
 * After a failover, the new server may not have a revocation yet. So the store writes the
 * revocation again unchanged, because this write waits for it.
 */
const confirmations = (values: number, begins = 'UPDATE oauth_families SET revoke') =>
  database.dialect === 'postgres' ? [{ begins, values }] : [];

describe('a client that was revoked', () => {
  test('is not revoked a second time, and its end is confirmed', async () => {
    await fresh();
    const ends = async () => {
      watched.writes.length = 0;
      return store.clients.revokeClient('notes', NOW);
    };
    const begins = 'UPDATE oauth_clients SET revoked';
    expect(await ends()).toBe(true);
    expect(watched.writes).toEqual([{ begins, values: 2 }]);
    expect(await ends()).toBe(false);
    expect(watched.writes).toEqual([{ begins, values: 2 }, ...confirmations(1, begins)]);
    expect(await found({ clientId: 'notes' })).toEqual([null]);
  });
});

describe('an access token that no longer exists', () => {
  test('is revoked again without a write to any row, and its end is confirmed', async () => {
    await fresh();
    watched.writes.length = 0;
    const token = { id: 'gone', hash: 'a hash' };
    expect(await store.accessTokens.revokeAccessToken(token, 'notes', NOW)).toBeNull();
    expect(watched.writes).toEqual([
      { begins: 'DELETE FROM oauth_access_tokens ', values: 3 },
      ...confirmations(0, 'INSERT INTO oauth_access_tokens '),
    ]);
    expect(await rowsOf('SELECT id FROM oauth_access_tokens')).toEqual([]);
  });
});

describe('everything that a person has allowed', () => {
  test('is revoked in batches, newest first, without effect on other people', async () => {
    await fresh();
    for (const id of ['1', '2', '3']) await family(id);
    await family('4', { revoked_at: NOW - 1 });
    await family('5', { user_id: 'grace' });
    await family('6', { user_provider: 'others' });
    expect(await store.authorizations.revokeOfPerson(ADA, null, NOW, 2)).toEqual({
      first: '4',
      living: 1,
      revoked: 1,
      last: '3',
    });
    expect(await revokedAt()).toEqual([null, null, NOW, NOW - 1, null, null]);
    expect(await store.authorizations.revokeOfPerson(ADA, '3', NOW + 1, 2)).toEqual({
      first: '2',
      living: 2,
      revoked: 2,
      last: '1',
    });
    expect(await store.authorizations.revokeOfPerson(ADA, '1', NOW + 1, 2)).toEqual({
      first: null,
      living: 0,
      revoked: 0,
      last: null,
    });
    expect(await store.authorizations.revokeOfPerson(ADA, null, NOW + 2, 5)).toEqual({
      first: '4',
      living: 0,
      revoked: 0,
      last: null,
    });
    expect(await store.authorizations.revokeOfPerson(ADA, null, NOW + 2, 4)).toEqual({
      first: '4',
      living: 0,
      revoked: 0,
      last: '1',
    });
    watched.writes.length = 0;
    await store.authorizations.revokeOfPerson(ADA, null, NOW + 2, 5);
    await store.authorizations.confirmRevokedOfPerson(ADA);
    expect(watched.writes).toEqual(confirmations(2));
    expect(await revokedAt()).toEqual([NOW + 1, NOW + 1, NOW, NOW - 1, null, null]);
  });

  test('is revoked even if it has expired, but then does not count as ended', async () => {
    await fresh();
    await family('1');
    await family('2', { expires_at: NOW });
    expect(await store.authorizations.revokeOfPerson(ADA, null, NOW, 5)).toMatchObject({
      living: 2,
      revoked: 1,
    });
    // By the clock of a different process, the other one may not have expired yet.
    expect(await revokedAt()).toEqual([NOW, NOW]);
    await fresh();
    await family('2', { expires_at: NOW });
    expect(await store.authorizations.revokeOfPerson(ADA, null, NOW, 5)).toMatchObject({
      revoked: 0,
    });
    expect(await revokedAt()).toEqual([NOW]);
  });

  test('is not revoked again if a different process revokes it at that moment', async () => {
    await fresh();
    await family('1');
    await family('2');
    watched.meanwhile = {
      before: /^UPDATE oauth_families/,
      act: () => database.execute("UPDATE oauth_families SET revoked_at = 1 WHERE id = '2'"),
    };
    const other = new Store({ ...database, transaction: (work) => work(database) }, () => true);
    expect(await other.authorizations.revokeOfPerson(ADA, null, NOW, 5)).toEqual({
      first: '2',
      living: 2,
      revoked: 1,
      last: null,
    });
    expect(await revokedAt()).toEqual([NOW, 1]);
  });

  test('is removed with dependent rows, in batches', async () => {
    await fresh();
    for (const id of ['1', '2', '3']) await family(id);
    await family('4', { user_id: 'grace' });
    await family('5', { user_provider: 'others' });
    expect(await store.authorizations.removeFamiliesOfPerson(ADA, 2)).toEqual({
      removed: 2,
      more: true,
    });
    expect(await store.authorizations.removeFamiliesOfPerson(ADA, 2)).toEqual({
      removed: 1,
      more: true,
    });
    expect(await store.authorizations.removeFamiliesOfPerson(ADA, 2)).toEqual({
      removed: 0,
      more: false,
    });
    expect(await rowsOf('SELECT id FROM oauth_families ORDER BY id')).toEqual([
      { id: '4' },
      { id: '5' },
    ]);
  });

  const request = (idHash: string, changes: Row = {}) =>
    insert('oauth_consent_requests', {
      id_hash: idHash,
      ...CONSENT_REQUEST_ROW,
      expires_at: NOW + HOUR,
      ...changes,
    });
  const requests = async () =>
    (
      await rowsOf<{ id_hash: string; outcome: string | null }>(
        'SELECT id_hash, outcome FROM oauth_consent_requests ORDER BY id_hash',
      )
    ).map((row) => [row.id_hash, row.outcome]);
  async function asked(): Promise<void> {
    await fresh();
    await request('1');
    await request('2', { user_id: 'grace' });
    await request('3', { user_provider: 'others' });
    await request('4', { outcome: 'denied' });
    await request('5', { user_provider: 'Accounts' });
    await request('6', { user_id: 'Ada' });
    await request('7');
  }

  test('includes their open consent requests, which are ended in batches', async () => {
    await asked();
    expect(await store.consentRequests.endRequestsOfPerson(ADA, '', 3, false)).toEqual({
      ended: 1,
      last: '3',
    });
    expect(await store.consentRequests.endRequestsOfPerson(ADA, '1', 2, false)).toEqual({
      ended: 0,
      last: '3',
    });
    expect(await store.consentRequests.endRequestsOfPerson(ADA, '3', 5, false)).toEqual({
      ended: 1,
      last: null,
    });
    expect(await store.consentRequests.endRequestsOfPerson(ADA, '4', 3, false)).toEqual({
      ended: 0,
      last: '7',
    });
    expect(await requests()).toEqual([
      ['1', 'void'],
      ['2', null],
      ['3', null],
      ['4', 'denied'],
      ['5', null],
      ['6', null],
      ['7', 'void'],
    ]);
  });

  test('is erased together with their consent requests, answered or not', async () => {
    await asked();
    expect(await store.consentRequests.endRequestsOfPerson(ADA, '', 3, true)).toEqual({
      ended: 1,
      last: '3',
    });
    expect(await store.consentRequests.endRequestsOfPerson(ADA, '3', 9, true)).toEqual({
      ended: 2,
      last: null,
    });
    expect(await requests()).toEqual([
      ['2', null],
      ['3', null],
      ['5', null],
      ['6', null],
    ]);
  });

  test('includes the open consent requests of all people after a restore, ended in batches', async () => {
    await asked();
    expect(await store.consentRequests.endRequests('', 3)).toEqual({ ended: 3, last: '3' });
    expect(await store.consentRequests.endRequests('3', 4)).toEqual({ ended: 3, last: '7' });
    expect(await store.consentRequests.endRequests('7', 4)).toEqual({ ended: 0, last: null });
    expect(await store.consentRequests.endRequests('', 9)).toEqual({ ended: 0, last: null });
    expect((await requests()).map(([, outcome]) => outcome)).toEqual([
      'void',
      'void',
      'void',
      'denied',
      'void',
      'void',
      'void',
    ]);
  });
});

describe('a restored backup', () => {
  const token = (id: string, changes: Row = {}) =>
    insert('oauth_access_tokens', {
      id,
      family_id: null,
      client_id: 'notes',
      secret_hash: 'hash',
      scope: '',
      issued_at: NOW,
      expires_at: NOW + HOUR,
      ...changes,
    });

  test('is recognized by its newest row', async () => {
    await fresh();
    expect(await store.everythingIssued.newestIds()).toEqual({ family: null, accessToken: null });
    for (const id of ['2', '3', '1']) await family(id);
    for (const id of ['5', '4']) await token(id);
    expect(await store.everythingIssued.newestIds()).toEqual({ family: '3', accessToken: '5' });
  });

  test('revokes every authorization in it, in batches, and no later one', async () => {
    await fresh();
    for (const id of ['1', '2', '4', '5']) await family(id, { user_id: `person ${id}` });
    await family('3', { revoked_at: NOW - 1 });
    expect(await store.everythingIssued.revokeFamilies('', '4', NOW, 2)).toEqual({
      ended: 2,
      last: '2',
    });
    expect(await store.everythingIssued.revokeFamilies('2', '4', NOW + 1, 2)).toEqual({
      ended: 1,
      last: '4',
    });
    expect(await store.everythingIssued.revokeFamilies('4', '4', NOW + 1, 2)).toEqual({
      ended: 0,
      last: null,
    });
    watched.writes.length = 0;
    expect(await store.everythingIssued.revokeFamilies('', '4', NOW + 2, 9)).toEqual({
      ended: 0,
      last: null,
    });
    expect(watched.writes).toEqual(confirmations(1));
    watched.writes.length = 0;
    expect(await store.everythingIssued.revokeFamilies('', '4', NOW + 2, 3)).toEqual({
      ended: 0,
      last: '3',
    });
    expect(watched.writes).toEqual([]);
    expect(await revokedAt()).toEqual([NOW, NOW, NOW - 1, NOW + 1, null]);
    watched.meanwhile = {
      before: /^UPDATE oauth_families/,
      act: () => database.execute("UPDATE oauth_families SET revoked_at = 1 WHERE id = '5'"),
    };
    expect(await store.everythingIssued.revokeFamilies('', '5', NOW, 9)).toEqual({
      ended: 0,
      last: null,
    });
    expect((await revokedAt()).at(-1)).toBe(1);
  });

  test('revokes what has started from an authorization in it, in batches', async () => {
    await fresh();
    const begunFrom = (prior: string) => ({ details: JSON.stringify({ prior }) });
    for (const id of ['1', '3']) await family(id);
    for (const id of ['2', '5']) await family(id, begunFrom('1'));
    await family('4', { ...begunFrom('1'), revoked_at: NOW - 1 });
    await family('6', begunFrom('3'));
    const ends = (after: string, limit: number) =>
      store.everythingIssued.revokeGoingBack(after, '2', NOW, limit);
    expect(await ends('', 3)).toEqual({ ended: 1, living: 1, last: '3' });
    expect(await ends('3', 4)).toEqual({ ended: 1, living: 1, last: null });
    expect(await ends('', 9)).toEqual({ ended: 0, living: 0, last: null });
    expect(await revokedAt()).toEqual([null, NOW, null, NOW - 1, NOW, null]);
  });

  test('is confirmed to PostgreSQL standbys after the last batch', async () => {
    await fresh();
    for (const id of ['1', '2']) await family(id, { revoked_at: NOW });
    const issued = new EverythingIssued({ ...database, dialect: 'postgres' });
    watched.writes.length = 0;
    await issued.revokeFamilies('', '2', NOW, 2);
    expect(watched.writes).toEqual([]);
    await issued.revokeFamilies('', '2', NOW, 3);
    expect(watched.writes).toEqual([{ begins: 'UPDATE oauth_families SET revoke', values: 1 }]);
    expect(await revokedAt()).toEqual([NOW, NOW]);
  });

  test('removes in batches all access tokens that clients have without a person, and no others', async () => {
    await fresh();
    for (const id of ['1', '4', '5', '6']) await token(id);
    await token('2', { family_id: 'a family' });
    await token('3', { secret_hash: '' });
    await token('4b');
    watched.writes.length = 0;
    expect(await store.everythingIssued.removeClientTokens('', '5', 3)).toEqual({
      ended: 1,
      last: '3',
    });
    expect(watched.writes.map(({ values }) => values)).toEqual([1]);
    expect(await store.everythingIssued.removeClientTokens('3', '5', 9)).toEqual({
      ended: 3,
      last: null,
    });
    expect(await store.everythingIssued.removeClientTokens('', '5', 2)).toEqual({
      ended: 0,
      last: '3',
    });
    expect(await rowsOf('SELECT id FROM oauth_access_tokens ORDER BY id')).toEqual([
      { id: '2' },
      { id: '3' },
      { id: '6' },
    ]);
  });
});

describe('the row count', () => {
  test('runs in batches, with a condition and a position to continue', async () => {
    await fresh();
    for (const id of ['1', '2', '3']) await family(id, { revoked_at: id === '2' ? NOW : null });
    const count = (after: string, limit: number) =>
      countRows(
        database,
        ['oauth_families', 'id'],
        ['revoked_at IS NULL AND expires_at > ?', [NOW]],
        after,
        limit,
      );
    expect(await count('', 2)).toEqual({ living: 1, last: '2' });
    expect(await count('2', 2)).toEqual({ living: 1, last: null });
    expect(await count('', 3)).toEqual({ living: 2, last: '3' });
    expect(await count('3', 3)).toEqual({ living: 0, last: null });
  });
});

describe('the stored audit log', () => {
  const record = (id: string, changes: Partial<AuditRecord> = {}): AuditRecord => ({
    id,
    at: NOW,
    type: 'tool_called',
    clientId: 'notes',
    person: ADA,
    by: null,
    address: '192.0.2.1',
    requestId: 'request',
    authorization: 'authorization',
    reason: 'a reason',
    details: { tool: 'a tool', uses: 2, at: null },
    ...changes,
  });
  const BARE = {
    clientId: null,
    person: null,
    address: null,
    requestId: null,
    authorization: null,
  };
  const EVERY = { from: '', before: 'g' };
  const kept = async (...records: readonly AuditRecord[]) => {
    await emptied('oauth_audit');
    const table = new AuditRecords(database);
    await table.insert(records);
    return table;
  };

  test('is read as it was stored, newest first', async () => {
    const records = [
      record('1'),
      record('2', { ...BARE, reason: null, details: {}, at: NOW + 1, type: 'person_erased' }),
      record('3', { by: 'console' }),
      record('4', { by: GRACE }),
    ];
    const table = await kept(...records);
    expect(await table.newest(null, EVERY, 9)).toEqual(records.toReversed());
    expect(await table.newest(null, EVERY, 2)).toEqual(records.toReversed().slice(0, 2));
    expect(await table.read(['1', '3'])).toEqual([records[2], records[0]]);
    expect(await table.read([])).toEqual([]);
    expect(await table.newest(null, { from: '2', before: '4' }, 9)).toEqual([
      records[2],
      records[1],
    ]);
    expect(await table.keys({ type: 'person_erased' }, EVERY, 9)).toEqual([
      { id: '2', type: 'person_erased', clientId: null, authorization: null, person: null },
    ]);
    expect(await table.keys({ type: 'tool_called' }, EVERY, 1)).toEqual([
      {
        id: '4',
        type: 'tool_called',
        clientId: 'notes',
        authorization: 'authorization',
        person: ADA,
      },
    ]);
  });

  test('is found by one filter: type, client, authorization or person', async () => {
    const table = await kept(
      record('1', { type: 'person_erased' }),
      record('2', { clientId: 'diary' }),
      record('3', { authorization: 'another' }),
      record('4', { person: GRACE }),
      record('5', { person: { provider: 'others', id: 'ada' } }),
    );
    const axes = [
      [{ type: 'person_erased' }, ['1']],
      [{ clientId: 'diary' }, ['2']],
      [{ authorization: 'another' }, ['3']],
      [{ person: GRACE }, ['4']],
      [{ person: ADA }, ['3', '2', '1']],
    ] as const;
    for (const [axis, ids] of axes) {
      expect((await table.newest(axis, EVERY, 9)).map(({ id }) => id)).toEqual(ids);
      expect((await table.keys(axis, EVERY, 9)).map(({ id }) => id)).toEqual(ids);
    }
    const reach = (depth: number, range = EVERY) => table.reach({ person: ADA }, range, depth);
    expect([await reach(1), await reach(2), await reach(3), await reach(4)]).toEqual([
      '3',
      '2',
      '1',
      null,
    ]);
    expect(await reach(1, { from: '', before: '3' })).toBe('2');
    expect(await reach(2, { from: '2', before: 'g' })).toBe('2');
    expect(await reach(3, { from: '2', before: 'g' })).toBeNull();
  });

  test('erases a person as subject and as actor, with their addresses, in batches', async () => {
    const others = record('5', { person: { provider: 'others', id: 'ada' }, by: GRACE });
    const table = await kept(
      record('1'),
      record('2'),
      record('3'),
      record('4', { person: GRACE, by: ADA }),
      others,
    );
    const unknown = { address: null, requestId: null };
    const pseudonym = { provider: 'accounts', id: 'unknown' };
    expect(await table.replacePerson(ADA, 'unknown', 2)).toBe(3);
    expect(await table.newest(null, EVERY, 9)).toEqual([
      others,
      record('4', { person: GRACE, by: pseudonym, ...unknown }),
      record('3'),
      record('2', { person: pseudonym, ...unknown }),
      record('1', { person: pseudonym, ...unknown }),
    ]);
    expect(await table.replacePerson(ADA, 'unknown', 2)).toBe(1);
    expect(await table.replacePerson(ADA, 'unknown', 2)).toBe(0);
  });

  test('is asked in the order of the index of its filter, if the engine plans without values', async () => {
    const asked = async (dialect: OpenedDatabase['dialect'], axis: Axis | null) => {
      const statements: string[] = [];
      const execute = async (sql: string) => {
        statements.push(sql);
        return { rows: [], affected: 0 };
      };
      const records = new AuditRecords({ ...database, dialect, execute } as OpenedDatabase);
      await records.newest(axis, { from: '', before: 'g' }, 1);
      return statements.join().replace(/^.* WHERE /s, '');
    };
    const range = 'id >= ? AND id < ?';
    expect(await asked('postgres', null)).toBe(`${range} ORDER BY id DESC LIMIT 1`);
    expect(await asked('sqlite', { type: 'a' })).toBe(
      `type = ? AND ${range} ORDER BY id DESC LIMIT 1`,
    );
    expect(await asked('postgres', { person: ADA })).toBe(
      `user_provider = ANY(ARRAY[?]) AND user_id = ? AND ${range} ` +
        'ORDER BY user_provider DESC, id DESC LIMIT 1',
    );
  });

  test('deletes events older than an ID, oldest first, in batches', async () => {
    const table = await kept(record('1'), record('2'), record('3'), record('4'));
    const ids = async () => (await table.newest(null, EVERY, 9)).map(({ id }) => id);
    expect(await table.removeBefore('4', 2)).toBe(2);
    expect(await ids()).toEqual(['4', '3']);
    expect(await table.removeBefore('4', 2)).toBe(1);
    expect(await table.removeBefore('4', 2)).toBe(0);
    expect(await ids()).toEqual(['4']);
  });

  test('reports whether an error is about the store', async () => {
    const table = new AuditRecords(database);
    expect(table.isUnavailable(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))).toBe(
      true,
    );
    expect(table.isUnavailable(new Error('a fault'))).toBe(false);
  });
});

describe('with any number of rows', () => {
  const COUNT = 20_000;

  /** Returns PostgreSQL's generic plans of the queries, as a prepared statement may get them. */
  async function planOf(ask: () => Promise<unknown>): Promise<string> {
    watched.reads.length = 0;
    await ask();
    const plans = await database.transaction(async (connection) => {
      await connection.execute('SET LOCAL plan_cache_mode = force_generic_plan');
      const found: string[] = [];
      for (const sql of watched.reads) {
        let number = 0;
        const values = sql.split('?').length - 1;
        const numbered = sql.replaceAll('?', () => `$${(number += 1)}`);
        await connection.execute(`PREPARE asked AS ${numbered}`);
        const given = Array.from({ length: values }, () => 'NULL').join(', ');
        const { rows } = await connection.execute<Record<string, string>>(
          `EXPLAIN EXECUTE asked (${given})`,
        );
        await connection.execute('DEALLOCATE asked');
        found.push(rows.map((row) => Object.values(row).join()).join('\n'));
      }
      return found;
    });
    return plans.join('\n');
  }

  test('the audit log is read through the index of its filter', async () => {
    if (database.dialect !== 'postgres') return;
    await emptied('oauth_audit');
    await database.execute(`INSERT INTO oauth_audit (id, happened_at, type, client_id, user_provider, user_id, family_id, details)
      SELECT LPAD(TO_HEX(n), 32, '0'), n, 'type ' || n % 3, 'client ' || n % 3, 'accounts', 'person ' || n % 3, 'family ' || n % 3, '{}'
      FROM GENERATE_SERIES(1, ${COUNT}) n`);
    await database.execute('ANALYZE oauth_audit');
    const table = new AuditRecords(database);
    const axes = {
      oauth_audit_type: { type: 'none' },
      oauth_audit_client: { clientId: 'none' },
      oauth_audit_authorization: { authorization: 'none' },
      oauth_audit_user: { person: ADA },
    };
    for (const [index, axis] of Object.entries(axes)) {
      const plan = await planOf(() => table.newest(axis, { from: '', before: 'g' }, 1));
      expect(plan).toContain(index);
    }
    await emptied('oauth_audit');
  });

  test('access is read through the index of the person or the client', async () => {
    if (database.dialect !== 'postgres') return;
    await fresh();
    await database.execute(`INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, created_at, expires_at, prune_after)
      SELECT LPAD(TO_HEX(n), 32, '0'), 'client ' || n % 3, 'accounts', 'person ' || n % 3, '', '', n, ${NOW + HOUR}, n
      FROM GENERATE_SERIES(1, ${COUNT}) n`);
    await database.execute('ANALYZE oauth_families');
    const filters = {
      oauth_families_client: { clientId: 'client 1' },
      oauth_families_person: { person: { provider: 'accounts', id: 'person 1' } },
    };
    for (const [index, filter] of Object.entries(filters)) {
      const plan = await planOf(() => store.authorizationSearch.findHeld(filter, ALL, NOW));
      expect(plan).toContain(index);
      expect(plan).not.toContain('oauth_families_pkey');
      // The first query ends after the maximum number of rows to read, the second at the last of
      // them.
      expect(plan.match(/\bLimit\b/g)).toHaveLength(2);
      expect(plan).toMatch(/Index Cond: .* >= ROW\(/);
    }
    const erased = await planOf(() =>
      store.authorizations.removeFamiliesOfPerson({ provider: 'accounts', id: 'person 1' }, 5),
    );
    expect(erased).toContain('oauth_families_person');
    expect(erased).not.toContain('Seq Scan on oauth_families');
    await fresh();
  });
});
