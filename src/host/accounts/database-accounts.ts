import { randomUUID } from 'node:crypto';
import type { PasswordHasher } from '../../contracts/password-hasher.ts';
import type { UserInterface } from '../../contracts/person.ts';
import type { AccountProvider } from '../contracts.ts';
import type { Database } from '../../sql/contract.ts';
import { insertIfNone } from '../../sql/insert-if-none.ts';
import type { Migration } from '../../sql/schema.ts';
import { createPrefetchedPermissions } from './prefetched-permissions.ts';

/** An account of the application's own tables. */
export interface DatabaseAccount extends UserInterface {
  /** The identifier within the provider; a UUID. */
  readonly id: string;
  /** In lower case, as it is compared. */
  readonly email: string;
  /** The full name, as people are to see it. */
  readonly name: string;
  /** Whether the account may sign in now. */
  readonly active: boolean;
}

/** An account that is to be made. */
export interface NewAccount {
  /** Unique in the provider, upper and lower case alike. */
  readonly email: string;
  /** The full name, as people are to see it. */
  readonly name: string;
  /** Kept only as a hash. */
  readonly password: string;
  /** Whether somebody has shown that the address is theirs; applications that people sign in to may rely on it. */
  readonly emailVerified?: boolean;
}

/** An account provider over the tables `host_accounts` and `host_account_permissions`, with what commands need. */
export interface DatabaseAccounts extends AccountProvider {
  /** The account as it is now, or null when there is none of this id. */
  find(id: string): Promise<DatabaseAccount | null>;
  /** The account with this address, in upper or lower case, or null. */
  findByEmail(email: string): Promise<DatabaseAccount | null>;
  /** As `AccountProvider.search`, among the first hundred thousand accounts by email. */
  search(text: string, limit: number): Promise<readonly DatabaseAccount[]>;
  /** By email. */
  list(): Promise<readonly DatabaseAccount[]>;
  /** Fails when the email is taken. */
  create(account: NewAccount): Promise<DatabaseAccount>;
  /** Suspends or restores an account, from this moment and everywhere. */
  setActive(id: string, active: boolean): Promise<void>;
  /** The permissions that the account holds now, in alphabetical order; empty for an unknown account. */
  permissions(id: string): Promise<readonly string[]>;
  /** Gives the account a permission, from this moment; one that it holds already stays. */
  grant(id: string, permission: string): Promise<void>;
  /** Takes a permission away, from this moment; one that it does not hold stays away. */
  deny(id: string, permission: string): Promise<void>;
}

/** What the accounts are kept in, and how their passwords are. */
export interface DatabaseAccountsOptions {
  /** The application's store; its schema has the tables once `db:migrate up` has run. */
  readonly database: Database;
  /** What passwords are hashed with. */
  readonly passwordHasher: PasswordHasher;
  /** The provider's name; `accounts` unless given. */
  readonly name?: string;
}

interface AccountRow {
  readonly id: string;
  readonly email: string;
  readonly email_verified: number;
  readonly name: string;
  readonly password_hash: string;
  readonly active: number;
}

/**
 * Accounts in the application's own store, for an application that has none: people sign in with email and password.
 */
export function databaseAccounts(options: DatabaseAccountsOptions): DatabaseAccounts {
  const { database, passwordHasher, name: provider = 'accounts' } = options;
  let decoy: string | null = null;

  async function rowBy(column: 'id' | 'email', value: string): Promise<AccountRow | null> {
    // PostgreSQL's text cannot hold NUL, so no account has it.
    if (value.includes('\0')) return null;
    const { rows } = await database.execute<AccountRow>(
      `SELECT id, email, email_verified, name, password_hash, active FROM host_accounts WHERE provider = ? AND ${column} = ?`,
      [provider, value],
    );
    return rows.find((row) => row[column] === value) ?? null;
  }

  const prefetched = createPrefetchedPermissions();

  /** What is read together with the account is asked for its permissions next, so that those come along. */
  async function find(id: string): Promise<DatabaseAccount | null> {
    const names = prefetched.names();
    if (names === null || id.includes('\0')) return findBy('id', id);
    const { rows } = await database.execute<AccountRow & { readonly permission: string | null }>(
      findWithPermissions(names.length),
      [...names, provider, id],
    );
    const own = rows.filter((row) => row.id === id);
    prefetched.keep(
      id,
      names,
      own.map(({ permission }) => permission),
    );
    return own[0] === undefined ? null : toAccount(own[0]);
  }

  function toAccount({
    id,
    email,
    email_verified,
    name,
    active,
  }: Omit<AccountRow, 'password_hash'>): DatabaseAccount {
    return {
      reference: { provider, id },
      id,
      email,
      name,
      active: active === 1,
      isActive: () => active === 1,
      getProfile: () => ({ name, email, email_verified: email_verified === 1 }),
    };
  }

  async function findBy(column: 'id' | 'email', value: string): Promise<DatabaseAccount | null> {
    const row = await rowBy(column, value);
    return row === null ? null : toAccount(row);
  }

  return {
    name: provider,
    find,
    findByEmail: (email) => findBy('email', canonical(email)),
    async authenticate(identifier, password, names) {
      const row = await rowBy('email', canonical(identifier));
      if (row !== null) names?.({ provider, id: row.id });
      // An unknown account costs the same slow check as a known one.
      decoy ??= await passwordHasher.hash(randomUUID());
      const matches: unknown = await passwordHasher.verify(password, row?.password_hash ?? decoy);
      // Whatever else a hasher in JavaScript answers, such as a result with a flag in it, is no yes.
      const isRight = matches === true && password !== '';
      return row !== null && isRight && row.active === 1 ? toAccount(row) : null;
    },
    async holdsPermission(id, permission) {
      const known = prefetched.answer(id, permission);
      if (known !== null) return known;
      const { rows } = await database.execute<{ permission: string }>(
        `SELECT permission FROM host_account_permissions WHERE provider = ? AND account_id = ? AND permission = ?`,
        [provider, id, permission],
      );
      return rows.some((row) => row.permission === permission);
    },
    async search(text, limit) {
      // PostgreSQL's text cannot hold NUL, so no account has it.
      if (text.includes('\0')) return [];
      const [typed, lower] = [partOf(text), partOf(text.toLowerCase())];
      const { rows } = await database.execute<AccountRow>(
        `SELECT id, email, email_verified, name, active FROM (
          SELECT id, email, email_verified, name, active FROM host_accounts WHERE provider = ? ORDER BY email LIMIT ${SEARCHED}
        ) a WHERE a.email LIKE ? ESCAPE '!' OR LOWER(a.name) LIKE ? ESCAPE '!' OR a.name LIKE ? ESCAPE '!' OR a.id = ?
        ORDER BY a.email LIMIT ${Math.trunc(limit)}`,
        [provider, lower, lower, typed, text],
      );
      return rows.map(toAccount);
    },
    async list() {
      const { rows } = await database.execute<AccountRow>(
        'SELECT id, email, email_verified, name, password_hash, active FROM host_accounts WHERE provider = ? ORDER BY email',
        [provider],
      );
      return rows.map(toAccount);
    },
    async create({ email, name, password, emailVerified = false }) {
      // Engines would keep another text, by which somebody else might sign in.
      for (const [what, text] of Object.entries({ email, name }))
        if (!text.isWellFormed() || text.includes('\0'))
          throw new Error(`The ${what} of an account is well-formed Unicode without NUL`);
      const row = {
        id: randomUUID(),
        email: canonical(email),
        email_verified: emailVerified ? 1 : 0,
        name,
        password_hash: await passwordHasher.hash(password),
        active: 1,
      };
      await database.execute(
        `INSERT INTO host_accounts (provider, id, email, email_verified, name, password_hash, active, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [provider, row.id, row.email, row.email_verified, name, row.password_hash, row.active, Date.now()],
      );
      return toAccount(row);
    },
    async setActive(id, active) {
      prefetched.forget();
      await database.execute('UPDATE host_accounts SET active = ? WHERE provider = ? AND id = ?', [
        active ? 1 : 0,
        provider,
        id,
      ]);
    },
    async permissions(id) {
      const { rows } = await database.execute<{ permission: string }>(
        'SELECT permission FROM host_account_permissions WHERE provider = ? AND account_id = ? ORDER BY permission',
        [provider, id],
      );
      return rows.map(({ permission }) => permission);
    },
    async grant(id, permission) {
      prefetched.forget();
      await insertIfNone(
        database,
        'host_account_permissions (provider, account_id, permission) VALUES (?, ?, ?)',
        '(provider, account_id, permission)',
        [provider, id, permission],
      );
    },
    async deny(id, permission) {
      prefetched.forget();
      await database.execute(
        'DELETE FROM host_account_permissions WHERE provider = ? AND account_id = ? AND permission = ?',
        [provider, id, permission],
      );
    },
  };
}

/**
 * Reads an account with those of so many permissions that it holds. Each text is kept: one that is put together anew has to be
 * read whole before a prepared statement is found by it.
 */
const findWithPermissions = keptByNumber(
  (names) => `SELECT a.id, a.email, a.email_verified, a.name, a.active, p.permission FROM host_accounts a
  LEFT JOIN host_account_permissions p ON p.provider = a.provider AND p.account_id = a.id
    AND p.permission IN (${Array.from({ length: names }, () => '?').join(', ')})
  WHERE a.provider = ? AND a.id = ?`,
);

function keptByNumber(make: (number: number) => string): (number: number) => string {
  const kept: string[] = [];
  return (number) => (kept[number] ??= make(number));
}

/** Accounts that are looked through at most, in the order of their addresses. */
const SEARCHED = 100_000;

/** A pattern of LIKE for what has this text in it; no character of the text is one of the pattern's own. */
function partOf(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, '!$&')}%`;
}

function canonical(email: string): string {
  return email.trim().toLowerCase();
}

export const accountsMigration: Migration = {
  name: 'host_0002_accounts',
  async up({ types: { identifier, time, flag, tableOptions }, change }) {
    await change(`CREATE TABLE host_accounts (
      provider ${identifier} NOT NULL,
      id ${identifier} NOT NULL,
      email ${identifier} NOT NULL,
      email_verified ${flag} NOT NULL,
      name ${identifier} NOT NULL,
      password_hash ${identifier} NOT NULL,
      active ${flag} NOT NULL,
      created_at ${time} NOT NULL,
      PRIMARY KEY (provider, id),
      UNIQUE (provider, email)
    ) ${tableOptions}`);
    await change(`CREATE TABLE host_account_permissions (
      provider ${identifier} NOT NULL,
      account_id ${identifier} NOT NULL,
      permission ${identifier} NOT NULL,
      PRIMARY KEY (provider, account_id, permission)
    ) ${tableOptions}`);
  },
};
