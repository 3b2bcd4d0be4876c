// @engines sqlite: it opens SQLite; test/permissions-now.test.ts runs on every engine
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, openDatabase, type Database, type OpenedDatabase } from '@portico/sql';
import type { PasswordHasher, PersonReference } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountsMigration } from './accounts-migration.ts';
import { databaseAccounts } from './database-accounts.ts';

/** A hasher that is fast. It also accepts the hash of an empty password. */
const PLAIN: PasswordHasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (password, hash) => hash === `hash of ${password}`,
};

let folder: string;
let database: OpenedDatabase;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-accounts-'));
  database = openDatabase('sqlite:data.sqlite', { directory: folder });
  await migrate(database, [accountsMigration]);
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

let providers = 0;
/** Creates a provider without accounts. */
function open(passwordHasher = PLAIN, from: Database = database) {
  providers += 1;
  return databaseAccounts({ database: from, passwordHasher, name: `provider-${providers}` });
}
type Accounts = ReturnType<typeof open>;

const create = (accounts: Accounts, name: string, more: object = {}) =>
  accounts.create({ email: `${name}@example.com`, name, password: 'right', ...more });

describe('an account in the database', () => {
  test('has the given data, its email address in lowercase, and is active', async () => {
    const accounts = open();
    const email = ' Ada@Example.com ';
    const made = await accounts.create({ email, name: 'Ada L', password: 'right' });
    const verified = await create(accounts, 'eve', { emailVerified: true });
    const reference = { provider: accounts.name, id: made.id };
    expect(made.id).toMatch(/^[\da-f-]{36}$/);
    expect([made, await accounts.find(made.id), await accounts.findByEmail(email)]).toEqual(
      Array.from({ length: 3 }, () => ({
        reference,
        id: made.id,
        email: 'ada@example.com',
        name: 'Ada L',
        active: true,
        isActive: expect.any(Function) as unknown,
        getProfile: expect.any(Function) as unknown,
      })),
    );
    const kept = await accounts.find(made.id);
    expect([made.isActive(), kept?.isActive()]).toEqual([true, true]);
    const profile = { name: 'Ada L', email: 'ada@example.com', email_verified: false };
    expect([made.getProfile(), kept?.getProfile()]).toEqual([profile, profile]);
    for (const account of [verified, await accounts.find(verified.id)])
      expect(account?.getProfile()).toMatchObject({ email_verified: true });
  });

  test('belongs to the provider `accounts` by default', async () => {
    const accounts = databaseAccounts({ database, passwordHasher: PLAIN });
    const { reference } = await create(accounts, `person-${(providers += 1)}`);
    expect(reference.provider).toBe('accounts');
  });

  test('is the only one with its email address', async () => {
    const accounts = open();
    await create(accounts, 'ada');
    await expect(create(accounts, 'ADA')).rejects.toThrow('UNIQUE constraint failed');
    expect((await accounts.list()).map(({ name }) => name)).toEqual(['ada']);
  });

  test.each([
    ['email', { email: 'a\uD800@example.com' }],
    ['email', { email: 'a\0@example.com' }],
    ['name', { name: 'a\uD800' }],
    ['name', { name: 'a\0' }],
  ])('is refused if its %s is not well-formed text: %j', async (what, more) => {
    const accounts = open();
    await expect(create(accounts, 'ada', more)).rejects.toMatchObject({
      name: 'AccountError',
      message: `The account's ${what} must be well-formed Unicode without NUL`,
    });
    expect(await accounts.list()).toEqual([]);
  });

  test.each(['email', 'name'])('has at most 255 characters in its %s', async (what) => {
    const accounts = open();
    await create(accounts, 'ada', { [what]: '\u{1F600}'.repeat(255) });
    await expect(create(accounts, 'eve', { [what]: 'x'.repeat(256) })).rejects.toThrow(
      `The account's ${what} must have at most 255 characters`,
    );
    // This letter has two characters in lowercase.
    await expect(create(accounts, 'one', { email: 'İ'.repeat(128) })).rejects.toThrow(
      "The account's email must have at most 255 characters",
    );
    expect(await accounts.list()).toHaveLength(1);
  });

  test('is not found by an unknown value, or by a value with NUL', async () => {
    const accounts = open();
    const { id } = await create(accounts, 'ada');
    for (const wrong of ['', 'x', `${id}\0`, id.toUpperCase()])
      expect(await accounts.find(wrong)).toBeNull();
    for (const wrong of ['', 'x', 'ada@example.com\0', 'eve@example.com', id])
      expect(await accounts.findByEmail(wrong)).toBeNull();
  });

  test('and its permissions are those of its own provider', async () => {
    const [one, other] = [open(), open()];
    const ada = await create(one, 'ada');
    await create(other, 'ada', { password: 'different' });
    await one.grant(ada.id, 'edit');
    expect(await other.find(ada.id)).toBeNull();
    expect([await other.permissions(ada.id), await other.holdsPermission(ada.id, 'edit')]).toEqual([
      [],
      false,
    ]);
    await other.deny(ada.id, 'edit');
    await other.setActive(ada.id, false);
    expect([await one.permissions(ada.id), (await one.find(ada.id))?.active]).toEqual([
      ['edit'],
      true,
    ]);
    expect(await one.authenticate('ada@example.com', 'different')).toBeNull();
    for (const accounts of [one, other]) {
      expect((await accounts.findByEmail('ada@example.com'))?.reference.provider).toBe(
        accounts.name,
      );
      for (const found of [await accounts.list(), await accounts.search('ada', 10)])
        expect(found.map(({ reference }) => reference.provider)).toEqual([accounts.name]);
    }
  });
});

describe('signing in to an account in the database', () => {
  test('needs the right password, the email address in any form, and an active account', async () => {
    const accounts = open();
    const { id } = await create(accounts, 'ada');
    const attempt = async (identifier: string, password: string) => {
      const named: PersonReference[] = [];
      const user = await accounts.authenticate(identifier, password, (each) => named.push(each));
      return [user?.id ?? null, named];
    };
    const ada = [{ provider: accounts.name, id }];
    expect(await attempt('ada@example.com', 'right')).toEqual([id, ada]);
    expect(await attempt(' ADA@example.com ', 'right')).toEqual([id, ada]);
    for (const password of ['wrong', '', 'right ', 'hash of right'])
      expect(await attempt('ada@example.com', password)).toEqual([null, ada]);
    expect(await attempt('eve@example.com', 'right')).toEqual([null, []]);
    expect(await attempt('ada@example.com\0', 'right')).toEqual([null, []]);
    await accounts.setActive(id, false);
    const suspended = await accounts.find(id);
    expect([suspended?.active, suspended?.isActive()]).toEqual([false, false]);
    expect(await attempt('ada@example.com', 'right')).toEqual([null, ada]);
    await accounts.setActive(id, true);
    expect(await attempt('ada@example.com', 'right')).toEqual([id, ada]);
    expect((await accounts.authenticate('ada@example.com', 'right'))?.id).toBe(id);
  });

  // @shows HOST-2.6
  test('is impossible with an empty password, even if its hash is stored', async () => {
    const accounts = open();
    await create(accounts, 'ada', { password: '' });
    expect(await accounts.authenticate('ada@example.com', '')).toBeNull();
  });

  test('verifies one hash for an unknown account too, which no password matches', async () => {
    const checked: (readonly string[])[] = [];
    let hashed = 0;
    const accounts = open({
      hash: async (password) => {
        hashed += 1;
        return PLAIN.hash(password);
      },
      verify: async (password, hash) => {
        checked.push([password, hash]);
        return PLAIN.verify(password, hash);
      },
    });
    await create(accounts, 'ada');
    for (const identifier of ['ada@example.com', 'eve@example.com', 'one@example.com'])
      await accounts.authenticate(identifier, 'x');
    const decoy = expect.stringMatching(/^hash of [\da-f-]{36}$/) as string;
    expect(checked).toEqual([
      ['x', 'hash of right'],
      ['x', decoy],
      ['x', decoy],
    ]);
    expect(checked[1]?.[1]).toBe(checked[2]?.[1]);
    expect(hashed).toBe(2);
  });

  test.each([1, 'true', {}, [], null])('is refused if the hasher returns %j', async (given) => {
    const verify = async () => given as unknown as boolean;
    const accounts = open({ ...PLAIN, verify });
    await create(accounts, 'ada');
    expect(await accounts.authenticate('ada@example.com', 'right')).toBeNull();
  });
});

describe('the permissions of an account in the database', () => {
  test.each([
    ['x'.repeat(256), 'must have at most 255 characters'],
    ['a\uD800', 'must be well-formed Unicode without NUL'],
    ['a\0', 'must be well-formed Unicode without NUL'],
  ])('cannot have a name that no database stores: %j', async (permission, problem) => {
    const accounts = open();
    const { id } = await create(accounts, 'ada');
    await expect(accounts.grant(id, permission)).rejects.toThrow(`The permission ${problem}`);
    expect(await accounts.permissions(id)).toEqual([]);
    await accounts.grant(id, 'x'.repeat(255));
    expect(await accounts.permissions(id)).toEqual(['x'.repeat(255)]);
  });

  test('are granted and removed one by one, and sorted', async () => {
    const accounts = open();
    const [ada, eve] = [await create(accounts, 'ada'), await create(accounts, 'eve')];
    for (const permission of ['write', 'edit', 'read', 'edit'])
      await accounts.grant(ada.id, permission);
    await accounts.grant(eve.id, 'read');
    expect(await accounts.permissions(ada.id)).toEqual(['edit', 'read', 'write']);
    const held = (id: string) =>
      Promise.all(['edit', 'read', 'rea'].map((each) => accounts.holdsPermission(id, each)));
    expect([await held(ada.id), await held(eve.id)]).toEqual([
      [true, true, false],
      [false, true, false],
    ]);
    await accounts.deny(ada.id, 'read');
    await accounts.deny(ada.id, 'none');
    expect(await accounts.permissions(ada.id)).toEqual(['edit', 'write']);
    expect([await held(ada.id), await held(eve.id)]).toEqual([
      [true, false, false],
      [false, true, false],
    ]);
    expect(await accounts.permissions('unknown')).toEqual([]);
  });

  test('are listed for all accounts of the provider, sorted', async () => {
    const [accounts, other] = [open(), open()];
    const [ada, eve] = [await create(accounts, 'ada'), await create(accounts, 'eve')];
    await create(accounts, 'none');
    for (const permission of ['write', 'edit']) await accounts.grant(ada.id, permission);
    await accounts.grant(eve.id, 'read');
    await other.grant(ada.id, 'rule');
    const all = await accounts.permissionsOfAll();
    expect(Object.fromEntries(all)).toEqual({ [ada.id]: ['edit', 'write'], [eve.id]: ['read'] });
  });
});

describe('the permissions that are read together with an account', () => {
  /** Lets the provider look up a permission, so that it reads it with each account from now on. */
  const lookUp = (accounts: Accounts, ...permissions: readonly string[]) =>
    database.readTogether(async () => {
      for (const permission of permissions) await accounts.holdsPermission('any', permission);
    });

  test('are never those of a different provider with the same id', async () => {
    const [one, other] = [open(), open()];
    const { id } = await create(one, 'ada');
    await one.grant(id, 'edit');
    for (const accounts of [one, other]) await lookUp(accounts, 'edit');
    await database.readTogether(async () => {
      expect((await one.find(id))?.id).toBe(id);
      expect([
        await one.holdsPermission(id, 'edit'),
        await other.holdsPermission(id, 'edit'),
      ]).toEqual([true, false]);
      expect(await other.find(id)).toBeNull();
      expect([
        await one.holdsPermission(id, 'edit'),
        await other.holdsPermission(id, 'edit'),
      ]).toEqual([true, false]);
    });
  });

  test('need no query of their own, for the first sixteen permissions that were looked up', async () => {
    let queries = 0;
    const counting: Database = {
      ...database,
      execute: (sql, parameters) => {
        queries += 1;
        return database.execute(sql, parameters);
      },
    };
    const accounts = open(PLAIN, counting);
    const { id } = await create(accounts, 'ada');
    const names = Array.from({ length: 17 }, (_, at) => `permission-${at}`);
    const queriesFor = async (...permissions: readonly string[]) => {
      queries = 0;
      await accounts.find(id);
      for (const permission of permissions) await accounts.holdsPermission(id, permission);
      return queries;
    };
    const together = (...permissions: readonly string[]) =>
      database.readTogether(() => queriesFor(...permissions));
    const [first = '', last = '', oneMore = ''] = [names[0], names[15], names[16]];
    expect(await together(first)).toBe(2);
    expect(await together(first, first)).toBe(1);
    await lookUp(accounts, ...names.map(() => first));
    await lookUp(accounts, ...names);
    expect(await together(...names.slice(0, 16))).toBe(1);
    expect(await together(first, last, oneMore)).toBe(2);
    expect(await queriesFor(first, last)).toBe(3);
  });

  test('change at once within the check in which they are granted or removed', async () => {
    const accounts = open();
    const { id } = await create(accounts, 'ada');
    await lookUp(accounts, 'edit');
    await database.readTogether(async () => {
      const held = [];
      for (const change of [accounts.grant, accounts.deny]) {
        await accounts.find(id);
        await change(id, 'edit');
        held.push(await accounts.holdsPermission(id, 'edit'));
      }
      expect(held).toEqual([true, false]);
    });
  });

  // @shows AS-18.16
  test('are complete, also if the provider has looked up many permissions or a new one', async () => {
    const accounts = open();
    const [ada, eve] = [await create(accounts, 'ada'), await create(accounts, 'eve')];
    const names = Array.from({ length: 20 }, (_, at) => `permission-${at}`);
    for (const name of names) await accounts.grant(ada.id, name);
    await accounts.grant(eve.id, names[1] ?? '');
    const held = async (id: string) => {
      const account = await accounts.find(id);
      const every = await Promise.all(names.map((name) => accounts.holdsPermission(id, name)));
      return [account?.id, every.filter(Boolean).length];
    };
    await lookUp(accounts, ...names.slice(0, 2));
    for (let time = 0; time < 3; time += 1) {
      expect(await database.readTogether(() => held(ada.id))).toEqual([ada.id, 20]);
      expect(await database.readTogether(() => held(eve.id))).toEqual([eve.id, 1]);
    }
    await accounts.deny(ada.id, names[0] ?? '');
    expect(await database.readTogether(() => held(ada.id))).toEqual([ada.id, 19]);
    expect(await held(ada.id)).toEqual([ada.id, 19]);
  });

  // @shows AS-18.16
  test('are read with the current state of the account', async () => {
    const accounts = open();
    const { id } = await create(accounts, 'ada', { emailVerified: true });
    await lookUp(accounts, 'edit', 'read');
    await accounts.grant(id, 'edit');
    await accounts.grant(id, 'read');
    const find = () => database.readTogether(() => accounts.find(id));
    const before = await find();
    expect([before?.reference, before?.isActive(), before?.getProfile()]).toEqual([
      { provider: accounts.name, id },
      true,
      { name: 'ada', email: 'ada@example.com', email_verified: true },
    ]);
    await accounts.setActive(id, false);
    expect((await find())?.isActive()).toBe(false);
    expect(await database.readTogether(() => accounts.find(`${id}\0`))).toBeNull();
    expect(await database.readTogether(() => accounts.find('unknown'))).toBeNull();
  });
});

describe('a search for accounts in the database', () => {
  test('finds parts of the email address or name in any case, or the whole id', async () => {
    const accounts = open();
    const names = ['Grace Hopper', '100%_Sure!', 'Ada Lovelace', 'ÉMILIE'];
    const made = [];
    for (const [at, name] of names.entries())
      made.push(await create(accounts, `person-${9 - at}`, { name }));
    const found = async (text: string, limit = 10) =>
      (await accounts.search(text, limit)).map(({ name }) => name);
    const byEmail = names.toReversed();
    expect(await found('PERSON-')).toEqual(byEmail);
    expect(await found('person-', 2)).toEqual(byEmail.slice(0, 2));
    expect(await found('person-', 2.9)).toEqual(byEmail.slice(0, 2));
    expect(await found('-8@')).toEqual(['100%_Sure!']);
    for (const text of ['lovelace', 'LOVE', 'a l']) expect(await found(text)).toEqual([names[2]]);
    expect(await found('ÉM')).toEqual(['ÉMILIE']);
    await create(accounts, 'Élise', { name: 'E' });
    expect(await found('ÉLISE@')).toEqual(['E']);
    for (const text of ['%_', '_s', 'e!']) expect(await found(text)).toEqual(['100%_Sure!']);
    expect(await found('x%')).toEqual([]);
    const { id = '' } = made[0] ?? {};
    expect(await found(id)).toEqual(['Grace Hopper']);
    for (const none of [id.slice(1), 'person-9\0', 'person_9', '!'.repeat(2)])
      expect(await found(none)).toEqual([]);
    expect((await accounts.list()).map(({ name }) => name)).toEqual([...byEmail, 'E']);
  });

  test('ignores the case of letters outside ASCII', async () => {
    const accounts = open();
    const names = {
      'ÖZGE Ünal': ['öz', 'özge', 'ünal', 'ÜNAL', 'ÖZGE ünal'],
      'İbrahim IŞIK': ['ibrahim', 'İBRAHİM', 'ışık', 'işik'],
      'Jürgen Weiß': ['JÜR', 'WEISS', 'weiß'],
      ΟΔΥΣΣΕΥΣ: ['οδυσ', 'σσευς'],
      Élodie: ['éLO'],
    };
    for (const [at, name] of Object.keys(names).entries())
      await create(accounts, `person-${at}`, { name });
    const found = async (text: string) => (await accounts.search(text, 10)).map(({ name }) => name);
    for (const [name, texts] of Object.entries(names))
      for (const text of texts) expect([text, await found(text)]).toEqual([text, [name]]);
    expect(await found('oz')).toEqual([]);
  });

  test('reads no further accounts after it has found enough', async () => {
    let queries = 0;
    const execute: Database['execute'] = (sql, parameters) => {
      queries += 1;
      return database.execute(sql, parameters);
    };
    expect(await open(PLAIN, { ...database, execute }).search('ada', 0)).toEqual([]);
    expect(queries).toBe(0);
  });

  test('reads the first 100,000 accounts', async () => {
    const accounts = open();
    const batch = 10_000;
    for (let at = 0; at < 100_001; at += batch)
      await database.execute(
        `INSERT INTO host_accounts (provider, id, email, email_verified, name, password_hash, active, created_at)
         WITH RECURSIVE numbers (n) AS
           (SELECT ${at + 1} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${Math.min(at + batch, 100_001)})
         SELECT '${accounts.name}', n, printf('%06d', n), 0, CASE WHEN n % 50000 < 2 THEN 'Ü' ELSE 'x' END, '', 1, 0 FROM numbers`,
      );
    const found = async (limit: number) => (await accounts.search('ü', limit)).map(({ id }) => id);
    expect(await found(10)).toEqual(['1', '50000', '50001', '100000']);
    expect(await found(2)).toEqual(['1', '50000']);
  });
});
