// @engines sqlite: test/access.test.ts and test/access-races.test.ts run on every engine
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CONSENT_REQUEST_ROW } from '../../../../test/support/consent-request-row.ts';
import { Store } from '../../../../test/support/store.ts';
import { openWatchedStore, type WatchedStore } from '../../../../test/support/watched-store.ts';
import type { Administrator, AuditEvent } from '../auditing/audit.ts';
import type { PersonReference } from '../person.ts';
import type { Server } from '../server.ts';
import { Access, type RevokesAlso } from './access.ts';
import type { ForgetsPerson } from './erasing.ts';
import { revokeEachLiving } from './living-access.ts';

const NOW = 1_795_240_016_123;
const HOUR = 3_600_000;
const ADA = { provider: 'accounts', id: 'ada' };
const GRACE = { provider: 'accounts', id: 'grace' };
const TABLES = [
  'oauth_families',
  'oauth_access_tokens',
  'oauth_consent_requests',
  'oauth_waiting_requests',
  'oauth_subjects',
  'oauth_initial_access_tokens',
];

type Row = Readonly<Record<string, string | number | null>>;

let watched: WatchedStore;
let store: Store;
/** The audit events, and what the parts of features did, in order. */
const did: unknown[] = [];

beforeAll(async () => {
  watched = await openWatchedStore();
  for (const id of ['notes', 'diary'])
    await watched.insert('oauth_clients', {
      client_id: id,
      name: id,
      redirect_uris: '[]',
      scope: '',
      grants: 'authorization_code',
      is_public: 1,
      created_at: NOW,
    });
});
afterAll(() => watched.close());
beforeEach(async () => {
  watched.meanwhile = null;
  vi.restoreAllMocks();
  did.length = 0;
  store = new Store(watched.database, () => true);
  // One transaction is faster than one for each table.
  await watched.database.transaction(async (connection) => {
    for (const table of TABLES) await connection.execute(`DELETE FROM ${table}`);
  });
});

interface Parts {
  readonly given?: { readonly end?: boolean; readonly forget?: boolean };
  readonly forgets?: readonly ForgetsPerson[];
  readonly also?: readonly RevokesAlso[];
  /** How many stored events each call replaces the person in. */
  readonly events?: number[];
}

const noted =
  (name: string, result = false) =>
  async (person: PersonReference, of?: unknown) => {
    did.push([name, person.id, of]);
    return result;
  };

function createServer({ given, events = [] }: Parts = {}): Server {
  const audit = Object.assign(async (event: AuditEvent) => void did.push(event), {
    pseudonymise: async (...asked: unknown[]) => {
      did.push(['pseudonymise', ...asked]);
      return events.shift() ?? 0;
    },
  });
  const access = given && {
    end: noted('end given', given.end),
    forget: noted('forget given', given.forget),
  };
  return {
    store,
    clock: () => NOW,
    audit,
    givenAccess: () => access ?? null,
  } satisfies Partial<Record<keyof Server, unknown>> as unknown as Server;
}

const createAccess = (parts: Parts = {}) =>
  new Access(createServer(parts), parts.forgets ?? [], parts.also ?? [], [
    async () => void did.push('end requests of a feature'),
  ]);

const FAMILY: Row = {
  client_id: 'notes',
  user_provider: 'accounts',
  user_id: 'ada',
  subject: 'a subject',
  scope: 'openid',
  created_at: NOW,
  expires_at: NOW + HOUR,
  prune_after: NOW + HOUR,
};
const family = (id: string, changes: Row = {}) =>
  watched.insert('oauth_families', { ...FAMILY, id, ...changes });
const begunFrom = (prior: string) => ({ details: JSON.stringify({ prior }) });
const request = (id: string, changes: Row = {}) =>
  watched.insert('oauth_consent_requests', {
    id_hash: id,
    ...CONSENT_REQUEST_ROW,
    expires_at: NOW + HOUR,
    ...changes,
  });
const subject = (person: PersonReference) => store.subjects.insertSubject(person, 'sub');

/** Inserts 500 of Ada's authorizations that have ended, or others. It is a whole batch. */
const batchOf = (prefix: string, changes: Row = { revoked_at: NOW - 1 }) => {
  const values = { ...FAMILY, ...changes };
  return watched.database.execute(
    `INSERT INTO oauth_families (id, ${Object.keys(values).join(', ')})
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
    SELECT ? || printf('%04d', i), ${Object.keys(values)
      .map(() => '?')
      .join(', ')} FROM n`,
    [prefix, ...Object.values(values)],
  );
};

const living = async () =>
  (
    await watched.rowsOf<{ id: string }>(
      'SELECT id FROM oauth_families WHERE revoked_at IS NULL ORDER BY id',
    )
  ).map(({ id }) => id);
const remaining = async (table: string, key: string) =>
  (await watched.rowsOf<Row>(`SELECT ${key} FROM ${table} ORDER BY ${key}`)).map((row) => row[key]);
const typesOf = () =>
  did.map((each) => (Array.isArray(each) ? each[0] : (each as AuditEvent).type));

/** Acts once before each of the next statements that match, one after the other. */
function meanwhile(before: RegExp, ...acts: readonly (() => Promise<unknown>)[]): void {
  const [act, ...rest] = acts;
  if (act === undefined) return;
  watched.meanwhile = {
    before,
    act: async () => {
      await act();
      meanwhile(before, ...rest);
    },
  };
}

describe('an authorization that an administrator revokes', () => {
  const revoked = { authorization: 'a', clientId: 'notes', person: ADA, reason: 'operator' };
  const result = { id: 'a', clientId: 'notes', person: ADA };

  test('is revoked and audited once, and access of organizations ends first', async () => {
    await family('a');
    await family('b');
    const access = createAccess({ given: {} });
    expect(await access.revokeAuthorization('a', { by: GRACE })).toEqual({
      ...result,
      revoked: true,
    });
    expect(did.splice(0)).toEqual([
      ['end given', 'ada', 'notes'],
      { type: 'family_revoked', ...revoked, by: GRACE },
    ]);
    expect(await living()).toEqual(['b']);
    expect((await access.list()).items.map(({ id }) => id)).toEqual(['b']);
    expect(await createAccess().revokeAuthorization('a')).toEqual({ ...result, revoked: false });
    expect(did).toEqual([]);
  });

  test('must be known, or no authorization of the list ends', async () => {
    await family('a');
    const access = createAccess({ given: {} });
    const message = (id: string) =>
      `No authorization has the id "${id}". To list the active authorizations, run ` +
      'oauth:authorization:list. Portico removes authorizations that ended long ago';
    await expect(access.revokeAuthorizations(['a', 'b'])).rejects.toThrow(message('b'));
    watched.reads.length = 0;
    await expect(access.revokeAuthorization('no id')).rejects.toThrow(message('no id'));
    expect(watched.reads).toEqual([]);
    expect([did, await living()]).toEqual([[], ['a']]);
  });

  test('ends once, even if the list names it twice', async () => {
    await family('a');
    await family('b', { client_id: 'diary' });
    const ended = await createAccess().revokeAuthorizations(['b', 'a', 'b'], { by: 'console' });
    expect(ended).toEqual([
      { id: 'b', clientId: 'diary', person: ADA, revoked: true },
      { ...result, revoked: true },
    ]);
    expect(typesOf()).toEqual(['family_revoked', 'family_revoked']);
  });

  test('ends others of the same person and client that a feature names', async () => {
    const same = { details: '{"of":"one"}' };
    await family('a', same);
    await family('b', same);
    await family('c', { details: '{"of":"another"}' });
    await family('d', { ...same, client_id: 'diary' });
    await family('e', { ...same, user_id: 'grace' });
    const also: RevokesAlso = (one, other) => one?.['of'] === other?.['of'];
    await createAccess({ also: [() => false, also] }).revokeAuthorization('a', { by: GRACE });
    expect(await living()).toEqual(['c', 'd', 'e']);
    expect(did).toEqual([
      { type: 'family_revoked', ...revoked, by: GRACE },
      { type: 'family_revoked', ...revoked, authorization: 'b', by: GRACE },
    ]);
  });
});

describe('the active authorizations of a person', () => {
  const ofNotes = () =>
    revokeEachLiving(createServer(), ADA, (each) => each.family.clientId === 'notes', {
      reason: 'person',
    });

  test('end with those that start from them meanwhile, but not with those of the consent page', async () => {
    // The lower id is newer by its time.
    await family('b', { created_at: NOW - 1 });
    for (const id of ['a', 'aa']) await family(id);
    await family('0', { client_id: 'diary' });
    meanwhile(
      /FROM oauth_families f\s+JOIN/,
      async () => {},
      async () => {
        await family('c');
        await family('d', begunFrom('b'));
        await family('e', { ...begunFrom('b'), client_id: 'diary' });
      },
      () => family('f', begunFrom('c')),
    );
    expect(await ofNotes()).toBe(4);
    expect(await living()).toEqual(['0', 'c', 'e', 'f']);
    const about = { type: 'family_revoked', clientId: 'notes', person: ADA, reason: 'person' };
    expect(did).toEqual(['b', 'a', 'aa', 'd'].map((id) => ({ ...about, authorization: id })));
  });

  test('are not audited if another process revoked them meanwhile', async () => {
    await family('a');
    meanwhile(/^UPDATE oauth_families/, () =>
      watched.database.execute('UPDATE oauth_families SET revoked_at = 1'),
    );
    expect(await ofNotes()).toBe(1);
    expect([did, await ofNotes()]).toEqual([[], 0]);
  });
});

describe('a person whose access an administrator revokes', () => {
  const nothing = { authorizations: 0, requests: 0 };
  const SEARCH = /^SELECT f.id, f.revoked_at/;
  const revoke = (parts: Parts = {}) => createAccess(parts).revokePerson(ADA, { by: 'console' });

  test('has no access and no open request, and access of organizations ends first', async () => {
    await family('a');
    await family('b', { user_id: 'grace' });
    await request('1');
    await request('2', { user_id: 'grace' });
    const confirmed = vi.spyOn(store.authorizations, 'confirmRevokedOfPerson');
    expect(await revoke({ given: {} })).toEqual({ authorizations: 1, requests: 1 });
    expect(await living()).toEqual(['b']);
    expect(did).toEqual([
      ['end given', 'ada', null],
      { type: 'person_revoked', person: ADA, authorizations: 1, by: 'console' },
    ]);
    await request('3');
    expect(await revoke()).toEqual({ ...nothing, requests: 1 });
    expect(confirmed).not.toHaveBeenCalled();
    expect(await remaining('oauth_consent_requests', 'outcome')).toEqual([null, 'void', 'void']);
  });

  test('must be known: by an authorization, the subject, or access of an organization', async () => {
    const confirmed = vi.spyOn(store.authorizations, 'confirmRevokedOfPerson');
    watched.reads.length = 0;
    for (const parts of [{}, { given: { end: false } }])
      await expect(revoke(parts)).rejects.toThrow(
        'Nothing is stored about the person "ada" of the provider "accounts". The id must match ' +
          'exactly, including case, accents and spaces. ' +
          "For the ids of the kit's accounts, run account:list --json",
      );
    expect(watched.reads.filter((sql) => SEARCH.test(sql))).toHaveLength(2);
    await expect(createAccess().revokePerson({ ...ADA, id: '' })).rejects.toThrow('id');
    expect(typesOf()).toEqual(['end given']);
    expect(confirmed).not.toHaveBeenCalled();
    expect(await revoke({ given: { end: true } })).toEqual(nothing);
    await subject(ADA);
    expect(await revoke()).toEqual(nothing);
    await watched.emptied('oauth_subjects');
    await family('a', { revoked_at: NOW - 1 });
    expect(await revoke()).toEqual(nothing);
    // The database may not have told its standbys about an earlier revocation.
    expect(confirmed.mock.calls).toEqual([[ADA], [ADA], [ADA]]);
  });

  test('has none left that started meanwhile, except from the consent page', async () => {
    const confirmed = vi.spyOn(store.authorizations, 'confirmRevokedOfPerson');
    await family('b');
    meanwhile(
      SEARCH,
      async () => {},
      async () => {
        await family('c');
        await family('d', begunFrom('b'));
      },
      () => family('e', begunFrom('b')),
      () => family('f', begunFrom('c')),
    );
    expect(await revoke()).toEqual({ ...nothing, authorizations: 3 });
    expect(await living()).toEqual(['c', 'f']);
    expect(confirmed).not.toHaveBeenCalled();
  });

  test('is searched in batches, and again if one may have started between two batches', async () => {
    await batchOf('b');
    await family('a');
    const reported: number[] = [];
    let searches = 0;
    // Before the second batch, one starts from `a`, and another process revokes `a`.
    meanwhile(
      SEARCH,
      async () => {},
      async () => {
        await family('c', begunFrom('a'));
        await watched.set('oauth_families', ['id', 'a'], { revoked_at: NOW });
      },
      ...Array.from({ length: 5 }, () => async () => {
        searches += 1;
      }),
    );
    const report = (count: number) => void reported.push(count);
    expect(await createAccess().revokePerson(ADA, { report })).toEqual({
      ...nothing,
      authorizations: 1,
    });
    expect([await living(), reported, searches]).toEqual([[], [0, 0, 1, 1, 1], 4]);
  });
});

describe('a person who is erased', () => {
  const NOTHING = { authorizations: 0, requests: 0, subject: false, events: 0 };
  const erase = (parts: Parts = {}, by?: Administrator) =>
    createAccess(parts).erasePerson(ADA, by === undefined ? {} : { by });
  const audited = () => did.filter((each): each is AuditEvent => !Array.isArray(each));

  test('leaves no authorization, request or subject, and others keep theirs', async () => {
    await family('a');
    await family('b', { revoked_at: NOW - 1 });
    await family('c', { user_id: 'grace' });
    for (const [id, outcome] of Object.entries({ 1: null, 2: 'denied' }))
      await request(id, { outcome });
    await request('3', { user_id: 'grace' });
    await subject(ADA);
    const erased = { authorizations: 2, requests: 2, subject: true, events: 7 };
    const parts = { given: {}, events: [4, 3], forgets: [noted('forget one'), noted('and two')] };
    expect(await erase(parts, GRACE)).toEqual(erased);
    expect(await remaining('oauth_families', 'id')).toEqual(['c']);
    expect(await remaining('oauth_consent_requests', 'id_hash')).toEqual(['3']);
    expect(await remaining('oauth_subjects', 'subject')).toEqual([]);
    const [event] = audited() as [AuditEvent & { readonly person: PersonReference }];
    expect(event).toEqual({
      type: 'person_erased',
      person: { provider: 'accounts', id: expect.stringMatching(/^erased-[\w-]{20,}$/) as string },
      authorizations: 2,
      by: GRACE,
    });
    const pseudonymised = ['pseudonymise', ADA, event.person.id, 500];
    // The second search is empty.
    expect(did).toEqual([
      ...[1, 2].map(() => ['forget given', 'ada', undefined]),
      ...['forget one', 'and two'].map((name) => [name, 'ada', undefined]),
      ...[1, 2, 3].map(() => pseudonymised),
      event,
    ]);
  });

  test('is the pseudonym if they erase themselves, and no one is named by default', async () => {
    for (const by of [ADA, 'console', undefined] as const) {
      await family('a');
      await erase({}, by);
    }
    const [themself, byConsole, byDefault] = audited() as {
      readonly person: PersonReference;
      readonly by?: unknown;
    }[];
    expect(themself?.by).toEqual(themself?.person);
    expect([byConsole?.by, byDefault && 'by' in byDefault]).toEqual(['console', false]);
    expect(JSON.stringify(audited())).not.toContain('ada');
  });

  test('must be known, by anything that is stored about them', async () => {
    await expect(erase({ given: {}, forgets: [noted('one')] }, 'console')).rejects.toThrow(
      'Nothing is stored about the person "ada"',
    );
    await expect(createAccess().erasePerson({ ...ADA, id: '' })).rejects.toThrow('id');
    expect(audited()).toEqual([]);
    expect(await erase({ given: { forget: true } })).toEqual(NOTHING);
    expect(await erase({ forgets: [noted('one', true), noted('two')] })).toEqual(NOTHING);
    expect(await erase({ events: [1] })).toEqual({ ...NOTHING, events: 1 });
    await subject(ADA);
    expect(await erase()).toEqual({ ...NOTHING, subject: true });
    await request('1');
    expect(await erase()).toEqual({ ...NOTHING, requests: 1 });
    expect(audited()).toHaveLength(5);
  });

  test('has an event even if a step fails after another removed something', async () => {
    const fails = async () => {
      throw new Error('away');
    };
    await expect(erase({ forgets: [fails] })).rejects.toThrow('away');
    expect(audited()).toEqual([]);
    await family('a');
    await expect(erase({ forgets: [fails] })).rejects.toThrow('away');
    expect(audited()).toMatchObject([{ authorizations: 1, complete: false }]);
  });

  test('is searched again while something new appears, five times at most', async () => {
    await family('a');
    const reported: number[] = [];
    let searches = 0;
    const search = () => {
      searches += 1;
      return searches === 2 ? request('1') : family(`b${searches}`);
    };
    meanwhile(
      /^DELETE FROM oauth_subjects/,
      async () => {},
      ...Array.from({ length: 9 }, () => search),
    );
    const report = (count: number) => void reported.push(count);
    expect(await createAccess().erasePerson(ADA, { report })).toMatchObject({
      authorizations: 4,
      requests: 1,
    });
    expect([searches, reported]).toEqual([4, [1, 2, 3, 4]]);
  });

  test('is searched again if only a request was removed, or only an authorization', async () => {
    for (const first of [family, request]) {
      await first('a');
      let searches = 0;
      meanwhile(
        /^DELETE FROM oauth_subjects/,
        async () => {},
        async () => {
          searches += 1;
        },
      );
      await erase();
      expect(searches).toBe(1);
    }
  });
});

describe('after a restore', () => {
  const NONE = { authorizations: 0, clientTokens: 0, requests: 0, initialAccessTokens: 0 };

  const token = (id: string, changes: Row = {}) =>
    watched.insert('oauth_access_tokens', {
      id,
      family_id: null,
      client_id: 'notes',
      secret_hash: 'hash',
      scope: '',
      issued_at: NOW,
      expires_at: NOW + HOUR,
      ...changes,
    });
  const initial = (id: string) =>
    store.initialAccessTokens.insertInitialAccessToken(
      { id, note: '', uses: 1, usesLeft: 1, createdAt: NOW, expiresAt: NOW + HOUR },
      id,
    );
  const waiting = (id: string) =>
    watched.insert('oauth_waiting_requests', {
      secret_hash: id,
      network: '',
      parameters: '',
      byte_count: 1,
      expires_at: NOW + HOUR,
    });

  test('all that exists ends, and one event has the numbers', async () => {
    await family('a');
    await family('b', { user_id: 'grace' });
    await family('c', { revoked_at: NOW - 1 });
    await token('1');
    await token('2', { family_id: 'a' });
    for (const id of ['1', '2', '3']) await request(id);
    for (const id of ['1', '2']) await initial(id);
    await waiting('1');
    const all = { authorizations: 2, clientTokens: 1, requests: 3, initialAccessTokens: 2 };
    const access = createAccess();
    expect(await access.endAll({ by: 'console' })).toEqual(all);
    expect(did.splice(0)).toEqual([
      'end requests of a feature',
      { type: 'access_ended', ...all, by: 'console' },
    ]);
    expect(await living()).toEqual([]);
    expect(await remaining('oauth_access_tokens', 'id')).toEqual(['2']);
    expect(await store.initialAccessTokens.listInitialAccessTokens()).toEqual([]);
    expect(await remaining('oauth_waiting_requests', 'secret_hash')).toEqual([]);
    expect(await access.endAll()).toEqual(NONE);
    expect(did).toEqual(['end requests of a feature', { type: 'access_ended', ...NONE }]);
  });

  test('nothing ends in an empty database', async () => {
    const { everythingIssued } = store;
    const revoked = vi.spyOn(everythingIssued, 'revokeFamilies');
    const searched = vi.spyOn(everythingIssued, 'revokeGoingBack');
    const removed = vi.spyOn(everythingIssued, 'removeClientTokens');
    expect(await createAccess().endAll()).toEqual(NONE);
    for (const spy of [revoked, searched, removed]) expect(spy).not.toHaveBeenCalled();
  });

  test('initial access tokens count only if this call removed them', async () => {
    for (const id of ['1', '2']) await initial(id);
    meanwhile(/^DELETE FROM oauth_initial_access_tokens/, () =>
      watched.emptied('oauth_initial_access_tokens'),
    );
    expect(await createAccess().endAll()).toEqual(NONE);
  });

  test('authorizations end in batches, with those that start from them meanwhile', async () => {
    await batchOf('b', {});
    await family('a');
    const reported: number[] = [];
    meanwhile(
      /^SELECT id, revoked_at, details/,
      async () => {
        await family('c', { user_id: 'grace' });
        await family('d', begunFrom('b0001'));
      },
      async () => {},
      () => family('e', begunFrom('b0001')),
      async () => {},
      () => family('f', begunFrom('c')),
    );
    const ended = await createAccess().endAll({ report: (count) => void reported.push(count) });
    expect(ended).toEqual({ ...NONE, authorizations: 503 });
    expect([reported, await living()]).toEqual([[500], ['c', 'f']]);
  });
});
