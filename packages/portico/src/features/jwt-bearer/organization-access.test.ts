// @engines sqlite: test/jwt-bearer.test.ts runs on every engine
import { migrate, type Database } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHostLog } from '../../../../../test/support/host-log.ts';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import { storedClient } from '../../../../../test/support/stored-client.ts';
import { AccessError } from '../../errors.ts';
import type { PersonReference } from '../../person.ts';
import type { Server } from '../../server.ts';
import { givenDetails } from '../../store/given-access.ts';
import { Links } from './links.ts';
import { jwtBearerMigrations } from './migrations.ts';
import { OrganizationAccess } from './organization-access.ts';
import { Pairs } from './pairs.ts';

const IDP = 'https://idp.example';
const ADA = { provider: 'users', id: '1' };
const GRACE = { provider: 'users', id: '2' };
const SUBJECT = { issuer: IDP, subject: 'ada' };
const ACCOUNT = { ...SUBJECT, tenant: null };
const TABLES = [
  'oauth_linked_subjects',
  'oauth_given_access',
  'oauth_given_access_ended',
  'oauth_subjects',
  'oauth_families',
  'oauth_clients',
];

let watched: WatchedStore;
let links: Links;
let pairs: Pairs;
const { log, lines } = createHostLog();
const events: unknown[] = [];

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, jwtBearerMigrations);
  links = new Links(watched.database);
  pairs = new Pairs(watched.database);
});
beforeEach(async () => {
  watched.meanwhile = null;
  events.length = 0;
  lines.length = 0;
  // In one transaction, because it is faster.
  await watched.database.transaction(async (connection) => {
    for (const table of TABLES) await connection.execute(`DELETE FROM ${table}`);
  });
});
afterAll(() => watched.close());

interface Given {
  readonly tenant?: string | null;
  readonly trusted?: readonly string[];
  readonly now?: number;
  readonly people?: readonly PersonReference[];
  readonly host?: object;
  /** The database of the links. */
  readonly database?: Database;
}

/** The access of organizations, on a server whose host knows these people. */
function accessWith({
  tenant = null,
  trusted = [IDP],
  now = 100,
  people = [ADA, GRACE],
  host = {},
  database = watched.database,
}: Given = {}): OrganizationAccess {
  const load = async ({ provider, id }: PersonReference) => {
    // The host compares without case, as the collation of a database can.
    const reference = people.find(
      (each) => each.provider === provider && each.id === id.toLowerCase(),
    );
    return reference === undefined ? null : { reference };
  };
  const server = {
    database: watched.database,
    store: watched.store,
    clock: () => now,
    audit: async (event: unknown) => void events.push(event),
    accounts: { active: load },
    host: { accountFor: null, loadAccount: load, log, ...host },
    trustedIssuers: {
      trusts: (issuer: string, what: string) => what === 'people' && trusted.includes(issuer),
      tenantOf: () => tenant,
    },
  } as unknown as Server;
  return new OrganizationAccess(server, new Links(database), pairs);
}

describe('the account of a subject', () => {
  test('is the linked one, unless the link is newer than the token', async () => {
    const access = accessWith();
    await access.link(SUBJECT, ADA);
    expect(await access.accountFor(ACCOUNT, 99)).toBeNull();
    for (const issuedAt of [100, 101])
      expect(await access.accountFor(ACCOUNT, issuedAt)).toEqual(ADA);
    for (const other of [{ issuer: 'x' }, { tenant: 'acme' }, { subject: 'x' }])
      expect(await access.accountFor({ ...ACCOUNT, ...other }, 100)).toBeNull();
  });

  test('is the one that the host finds, if it decides', async () => {
    const asked: unknown[] = [];
    const accountFor = async (account: unknown) => {
      asked.push(account);
      return GRACE;
    };
    const access = accessWith({ host: { accountFor } });
    expect(await access.accountFor({ ...ACCOUNT, more: 1 } as typeof ACCOUNT, 0)).toEqual(GRACE);
    expect(asked).toEqual([ACCOUNT]);
    await expect(access.link(SUBJECT, ADA)).rejects.toThrow(
      'The application decides which account a subject means (Host.accountFor), so this server ' +
        'has no links',
    );
  });
});

describe('access in use', () => {
  const use = { person: ADA, clientId: 'one', issuedAt: 100, details: givenDetails(ACCOUNT) };
  const given = async () => {
    const access = accessWith();
    await access.link(SUBJECT, ADA);
    await pairs.prepare(use, 'subject', 100);
    return access;
  };

  test('is valid while its issuer, its tenant, its link and the access remain', async () => {
    const access = await given();
    expect(await access.refusal(use)).toBeNull();
    expect(await accessWith({ trusted: [] }).refusal(use)).toBe(
      'the issuer that gave the access is no longer trusted',
    );
    expect(await accessWith({ tenant: 'acme' }).refusal(use)).toBe(
      'the tenant that gave the access is no longer the tenant of its issuer',
    );
    const unlinked = 'the account is no longer linked to the subject that the issuer named';
    expect(await access.refusal({ ...use, person: GRACE })).toBe(unlinked);
    expect(await access.refusal({ ...use, issuedAt: 99 })).toBe(unlinked);
    await access.end(ADA, 'one');
    expect(await access.refusal(use)).toBe(
      'the person or an operator has ended the access that the organization gave',
    );
    await access.unlink(SUBJECT);
    expect(await access.refusal(use)).toBe(unlinked);
  });

  test('ends for one client, or for all clients of a known person', async () => {
    const access = await given();
    expect(await access.end(ADA, 'two')).toBe(true);
    expect(await access.refusal(use)).toBeNull();
    expect(await access.end(ADA, null)).toBe(true);
    expect(await access.refusal(use)).not.toBeNull();
    expect(await accessWith({ people: [] }).end(GRACE, 'two')).toBe(true);
    const hasEnded = (clientId: string) => pairs.hasEnded({ person: GRACE, clientId });
    expect([await hasEnded('two'), await hasEnded('one')]).toEqual([true, false]);
  });

  test('ends for all clients if the host, the subject or a link knows the person', async () => {
    const unknown = accessWith({ people: [] });
    const ended = () => pairs.hasEnded({ person: ADA, clientId: 'one' });
    expect([await unknown.end(ADA, null), await ended()]).toEqual([false, false]);
    const upper = { ...ADA, id: 'A' };
    const lenient = accessWith({ people: [{ ...ADA, id: 'a' }] });
    expect([await lenient.end(upper, null), await lenient.end({ ...ADA, id: 'a' }, null)]).toEqual([
      false,
      true,
    ]);
    const silent = accessWith({
      host: {
        async loadAccount() {
          throw new Error('The host does not respond');
        },
      },
    });
    await expect(silent.end(ADA, null)).rejects.toThrow('does not respond');
    await watched.store.subjects.insertSubject(ADA, 'subject');
    expect([await silent.end(ADA, null), await ended()]).toEqual([true, true]);
    await accessWith().link(SUBJECT, GRACE);
    expect(await silent.end(GRACE, null)).toBe(true);
  });

  test('is forgotten with the links of the person', async () => {
    const access = await given();
    expect([await access.forget(GRACE), await access.forget(ADA)]).toEqual([false, true]);
    expect([await access.forget(ADA), await links.hasPerson(ADA)]).toEqual([false, false]);
    await access.link(SUBJECT, ADA);
    expect([await access.forget(ADA), await access.forget(ADA)]).toEqual([true, false]);
    await access.end(ADA, 'one');
    expect([await access.forget(ADA), await access.forget(ADA)]).toEqual([true, false]);
  });
});

describe('a link', () => {
  const act = { by: 'console' } as const;

  test('is stored once, with an event', async () => {
    const access = accessWith({ tenant: 'acme' });
    await access.link(SUBJECT, ADA, act);
    await access.link(SUBJECT, ADA, act);
    const linked = { ...SUBJECT, tenant: 'acme', person: ADA };
    const { subject: _, ...told } = linked;
    expect(events).toEqual([{ type: 'subject_linked', ...told, ...act }]);
    expect(await access.list(10)).toEqual({
      items: [{ ...linked, createdAt: 100 }],
      next: null,
    });
    await expect(access.link(SUBJECT, GRACE)).rejects.toThrow(
      'The subject is linked to another account; remove that link first',
    );
    expect(events).toHaveLength(1);
  });

  test('that is removed at the same moment is not reported as stored', async () => {
    await accessWith().link(SUBJECT, ADA);
    const database: Database = {
      ...watched.database,
      async execute(sql, ...rest) {
        const result = await watched.database.execute(sql, ...rest);
        if (sql.startsWith('INSERT')) await watched.emptied('oauth_linked_subjects');
        return result as never;
      },
    };
    await expect(accessWith({ database }).link(SUBJECT, ADA)).rejects.toThrow(
      'is linked to another account',
    );
  });

  test('needs a trusted issuer, and the exact id of an active account', async () => {
    for (const [values, person, message] of [
      [{ trusted: [] }, ADA, `The issuer "${IDP}" is not in oauth_server:trusted_issuers`],
      [{}, { ...ADA, id: '3' }, 'No active account has this provider and id'],
      [
        { people: [{ ...ADA, id: 'a' }] },
        { ...ADA, id: 'A' },
        'The application returned another account for this provider and id: "users" "a"',
      ],
      [{}, { ...ADA, id: '' }, 'The id of a person must not be empty'],
    ] as const)
      await expect(accessWith(values).link(SUBJECT, person)).rejects.toThrow(message);
    expect([await accessWith().list(10), events]).toEqual([{ items: [], next: null }, []]);
  });

  test.each(['', 'x'.repeat(256), '\ud83d', 'a\0b'])(
    'has no issuer and no subject %j',
    async (text) => {
      const access = accessWith({ trusted: [text, IDP] });
      for (const name of ['issuer', 'subject'] as const) {
        const message = `The ${name} must be a string of 1 to 255 characters`;
        const wrong = { ...SUBJECT, [name]: text };
        await expect(access.link(wrong, ADA)).rejects.toThrow(message);
        await expect(access.unlink(wrong)).rejects.toThrow(message);
      }
    },
  );

  test('can have a subject of 255 characters', async () => {
    const subject = 'x'.repeat(255);
    await accessWith().link({ issuer: IDP, subject }, ADA);
    expect(await accessWith().accountFor({ ...ACCOUNT, subject }, 100)).toEqual(ADA);
  });

  test('is listed only with a valid page', async () => {
    for (const limit of [0, 1001, 1.5])
      await expect(accessWith().list(limit)).rejects.toThrow(AccessError);
  });
});

describe('removing a link', () => {
  let families = 0;
  /** Stores an authorization that began through this account. */
  async function authorize(account: object, person = ADA): Promise<string> {
    const id = `family-${(families += 1)}`;
    if ((await watched.store.clients.findClient('one')) === null)
      await watched.store.clients.insertClient(storedClient('one', 1));
    const pair = { person, clientId: 'one' };
    const subject = (await pairs.prepare(pair, `subject ${id}`, 10)) ?? '';
    const family = {
      ...pair,
      id,
      subject,
      scopes: ['notes:read'],
      audience: null,
      thumbprint: null,
      details: givenDetails({ ...ACCOUNT, ...account }),
    };
    const parameters = { redirectUri: '', codeChallenge: '', nonce: null };
    const code = { hash: `code of ${id}`, expiresAt: 1000, parameters };
    expect(await pairs.begin(pair, { family, code }, 10)).toBe(true);
    return id;
  }
  const living = async () => {
    const found = await watched.store.authorizations.listAuthorizations(ADA, 100);
    return found.map(({ family }) => family.id).toSorted();
  };

  test('revokes what began through it, and nothing else', async () => {
    const access = accessWith();
    await access.link(SUBJECT, ADA);
    events.length = 0;
    const ended = await authorize({});
    const others = [
      await authorize({ issuer: 'https://other.example' }),
      await authorize({ tenant: 'acme' }),
      await authorize({ subject: 'other' }),
    ];
    await access.unlink(SUBJECT, { by: 'console' });
    expect(await living()).toEqual(others.toSorted());
    expect(events).toEqual([
      { type: 'subject_unlinked', issuer: IDP, tenant: null, person: ADA, by: 'console' },
      {
        type: 'family_revoked',
        authorization: ended,
        clientId: 'one',
        person: ADA,
        by: 'console',
        reason: 'operator',
      },
    ]);
    await expect(access.unlink(SUBJECT)).rejects.toThrow(
      'No account is linked to this subject of this issuer; see oauth:link:list',
    );
    expect(events).toHaveLength(2);
  });

  test('reports no revocation of what ended at the same moment', async () => {
    const access = accessWith();
    await access.link(SUBJECT, ADA);
    const id = await authorize({});
    events.length = 0;
    watched.meanwhile = {
      before: /^UPDATE oauth_families/,
      act: () => watched.emptied('oauth_families'),
    };
    await access.unlink(SUBJECT);
    expect([watched.meanwhile, events]).toMatchObject([null, [{ type: 'subject_unlinked' }]]);
    expect(await living()).not.toContain(id);
  });

  test('removes the subject in each tenant', async () => {
    await accessWith().link(SUBJECT, ADA);
    await accessWith({ tenant: 'acme' }).link(SUBJECT, GRACE);
    await accessWith().unlink(SUBJECT);
    expect((await accessWith().list(10)).items).toEqual([]);
  });

  describe('in two tenants', () => {
    beforeEach(async () => {
      await accessWith().link(SUBJECT, ADA);
      await accessWith({ tenant: 'acme' }).link(SUBJECT, GRACE);
      events.length = 0;
    });
    const lost = new Error('The store does not respond');
    const FAILED = `A subject was not unlinked completely: {exception} ${lost.message}`;
    /** Fails at these removals, or removes the link before them. */
    function removing(fails: readonly number[], before: readonly number[] = []): Database {
      let count = 0;
      return {
        ...watched.database,
        async execute(sql, ...rest) {
          if (sql.startsWith('DELETE')) {
            count += 1;
            if (fails.includes(count)) throw lost;
            if (before.includes(count)) await watched.database.execute(sql, ...rest);
          }
          return watched.database.execute(sql, ...rest);
        },
      };
    }

    test('fails with the error of the store if nothing was removed yet', async () => {
      await expect(accessWith({ database: removing([1]) }).unlink(SUBJECT)).rejects.toBe(lost);
      expect([(await links.list(10)).items.length, lines, events]).toEqual([2, [], []]);
    });

    test('says that a link may remain if the store fails at a later one', async () => {
      const unlinking = accessWith({ database: removing([2]) }).unlink(SUBJECT);
      await expect(unlinking).rejects.toThrow(
        'The store failed before the subject was unlinked in each tenant; remove the link again.',
      );
      expect([(await links.list(10)).items.length, lines]).toEqual([1, [FAILED]]);
    });

    test('does not count a link that a different process has removed', async () => {
      const gone = accessWith({ database: removing([], [1, 2]) });
      await expect(gone.unlink(SUBJECT)).rejects.toThrow('No account is linked to this subject');
      expect(events).toEqual([]);
      await accessWith().link(SUBJECT, ADA);
      await accessWith({ tenant: 'acme' }).link(SUBJECT, GRACE);
      events.length = 0;
      await accessWith({ database: removing([], [1]) }).unlink(SUBJECT);
      expect(events).toHaveLength(1);
    });

    test('says that lists may still show access if it was not revoked', async () => {
      const { authorizations } = watched.store;
      const listing = authorizations.listAuthorizations.bind(authorizations);
      let calls = 0;
      authorizations.listAuthorizations = (...values) => {
        calls += 1;
        return calls === 1 ? Promise.reject(lost) : listing(...values);
      };
      try {
        await expect(accessWith().unlink(SUBJECT)).rejects.toThrow(
          'The subject is no longer linked. But the store failed before all of its authorizations ' +
            'were revoked',
        );
      } finally {
        authorizations.listAuthorizations = listing;
      }
      expect([(await links.list(10)).items, lines, calls]).toEqual([[], [FAILED], 2]);
    });
  });
});

describe('allowing access again', () => {
  test('needs a client that exists, and access that was ended', async () => {
    const access = accessWith();
    const nothing = "There is nothing to undo: no organization's access was ended";
    await expect(access.allow({ person: ADA, clientId: 'one' })).rejects.toThrow(nothing);
    await access.end(ADA, 'one');
    await expect(access.allow({ person: ADA, clientId: 'one' })).rejects.toThrow(nothing);
    await watched.store.clients.insertClient(storedClient('one', 1));
    await access.allow({ person: ADA, clientId: 'one' }, { by: 'console' });
    await expect(access.allow({ person: ADA, clientId: 'one' })).rejects.toThrow(nothing);
    const allowed = { type: 'access_allowed', person: ADA, clientId: 'one', by: 'console' };
    expect(events).toEqual([allowed]);
  });

  test('for all clients needs that it was ended for all', async () => {
    const access = accessWith();
    const nothing = 'There is nothing to undo: access was not ended for all clients';
    await access.end(ADA, 'one');
    await expect(access.allow({ person: ADA, clientId: null })).rejects.toThrow(nothing);
    await access.end(ADA, null);
    await access.allow({ person: ADA, clientId: null });
    await expect(access.allow({ person: ADA, clientId: null })).rejects.toThrow(nothing);
    expect(events).toEqual([{ type: 'access_allowed', person: ADA, clientId: null }]);
    await expect(access.allow({ person: { ...ADA, id: '' }, clientId: null })).rejects.toThrow(
      'must not be empty',
    );
  });
});
