import { type Database, insertIfNone } from '@portico/sql';
import type { PasswordHasher, PersonReference, UserInterface } from 'portico';
import type { AccountProvider } from '../contracts.ts';
import { randomUUID } from 'node:crypto';
import { PrefetchedPermissions } from './prefetched-permissions.ts';

/** An account in the tables of `databaseAccounts()`. */
export interface DatabaseAccount extends UserInterface {
  /** The account's id, a UUID. It is unique within the provider. */
  readonly id: string;
  /** The email address in lowercase. The provider compares email addresses in this form. */
  readonly email: string;
  /** The full name, for display. */
  readonly name: string;
  /** Whether the account is active. A suspended account cannot sign in. */
  readonly active: boolean;
}

/** The data for a new account. */
export interface NewAccount {
  /** The email address, in any letter case. It must be unique within the provider. */
  readonly email: string;
  /** The full name, for display. */
  readonly name: string;
  /** The password. Only its hash is stored. */
  readonly password: string;
  /**
   * Whether the user has proved that they own the email address. Applications may rely on this
   * value. Default: false.
   */
  readonly emailVerified?: boolean;
}

/** The options of `databaseAccounts()`. */
export interface DatabaseAccountsOptions {
  /** The application's database. `db:migrate up` creates the provider's tables there. */
  readonly database: Database;
  /** The hasher for the accounts' passwords. */
  readonly passwordHasher: PasswordHasher;
  /** The provider's name. Default: `accounts`. */
  readonly name?: string;
  /** Returns the time in milliseconds since 1970. Default: the system clock. */
  readonly clock?: () => number;
}

interface AccountRow {
  readonly id: string;
  readonly email: string;
  readonly email_verified: number;
  readonly name: string;
  readonly active: number;
}

/**
 * An account provider that stores accounts in the tables `host_accounts` and
 * `host_account_permissions`. It also has the methods that the `account:…` commands use.
 */
export type DatabaseAccounts = Readonly<AccountTable>;

/**
 * The methods are properties, so that an application can copy the object with spread syntax and
 * replace some of its methods.
 */
class AccountTable implements AccountProvider {
  /** The provider's name. */
  readonly name: string;
  readonly #database: Database;
  readonly #passwordHasher: PasswordHasher;
  readonly #clock: () => number;
  readonly #prefetched = new PrefetchedPermissions();
  /**
   * The queries of `findWithPermissions`, by the number of permissions. They are stored, because
   * the prepared statement for the same string object is found faster.
   */
  readonly #queries: string[] = [];
  #decoy: string | null = null;

  /** Do not call this constructor. Use `databaseAccounts()` instead. */
  constructor(options: DatabaseAccountsOptions) {
    const { database, passwordHasher, name = 'accounts', clock = Date.now } = options;
    this.name = name;
    this.#database = database;
    this.#passwordHasher = passwordHasher;
    this.#clock = clock;
  }

  /** Returns the current state of an account, or null if there is no account with this id. */
  readonly find = async (id: string): Promise<DatabaseAccount | null> => {
    // During a token check, the server needs the account's permissions next, so read them in the
    // same query.
    const names = this.#prefetched.names();
    if (names === null || id.includes('\0')) return this.#account(await this.#row('id', id));
    const query = (this.#queries[names.length] ??= findWithPermissions(names.length));
    const { rows } = await this.#database.execute<
      AccountRow & { readonly permission: string | null }
    >(query, [...names, this.name, id]);
    const own = rows.filter((row) => row.id === id);
    const held = own.map(({ permission }) => permission);
    this.#prefetched.keep(id, names, held);
    return this.#account(own[0] ?? null);
  };

  /** Returns the account with this email address, or null. Ignores letter case. */
  readonly findByEmail = async (email: string): Promise<DatabaseAccount | null> => {
    return this.#account(await this.#row('email', canonical(email)));
  };

  /** See `AccountProvider.authenticate`. */
  readonly authenticate = async (
    identifier: string,
    password: string,
    names?: (person: PersonReference) => void,
  ): Promise<DatabaseAccount | null> => {
    const row = await this.#row('email', canonical(identifier));
    if (row !== null) names?.({ provider: this.name, id: row.id });
    // For an unknown account, verify the password against a dummy hash, so that the check takes as
    // long as for a known account.
    this.#decoy ??= await this.#passwordHasher.hash(randomUUID());
    const hash = row?.password_hash ?? this.#decoy;
    const matches: unknown = await this.#passwordHasher.verify(password, hash);
    // Accept only `true`, because a hasher in JavaScript may return any value, such as an object.
    const isRight = matches === true && password !== '';
    return isRight && row?.active === 1 ? this.#account(row) : null;
  };

  /** Whether the account has the permission now. */
  readonly holdsPermission = async (id: string, permission: string): Promise<boolean> => {
    const known = this.#prefetched.answer(id, permission);
    if (known !== null) return known;
    const { rows } = await this.#database.execute<{ permission: string }>(
      'SELECT permission FROM host_account_permissions WHERE provider = ? AND account_id = ? ' +
        'AND permission = ?',
      [this.name, id, permission],
    );
    return rows.some((row) => row.permission === permission);
  };

  /**
   * Searches the first 100,000 accounts in the order of their email addresses. See
   * `AccountProvider.search`.
   */
  readonly search = async (text: string, limit: number): Promise<readonly DatabaseAccount[]> => {
    const part = withoutCase(text);
    const found: AccountRow[] = [];
    // Compare here, because the databases ignore only the case of ASCII letters.
    let after: string | null = null;
    for (let read = 0; read < SEARCHED && found.length < limit; read += PAGE) {
      const page = await this.#page(after);
      found.push(
        ...page.filter(
          ({ id, email, name }) =>
            id === text || withoutCase(email).includes(part) || withoutCase(name).includes(part),
        ),
      );
      if (page.length < PAGE) break;
      after = page.at(-1)?.email ?? null;
    }
    return found.slice(0, limit).map((row) => toAccount(this.name, row));
  };

  /** Returns all accounts, sorted by email address. */
  readonly list = async (): Promise<readonly DatabaseAccount[]> => {
    const { rows } = await this.#database.execute<AccountRow>(
      'SELECT id, email, email_verified, name, active FROM host_accounts WHERE provider = ? ' +
        'ORDER BY email',
      [this.name],
    );
    return rows.map((row) => toAccount(this.name, row));
  };

  /**
   * Creates an account. Rejects if another account has the same email address, or if the email
   * address or the name has more than 255 characters or is not well-formed Unicode.
   */
  readonly create = async ({
    email,
    name,
    password,
    emailVerified = false,
  }: NewAccount): Promise<DatabaseAccount> => {
    for (const [what, text] of Object.entries({ email: canonical(email), name }))
      checkText(`account's ${what}`, text);
    const row = {
      id: randomUUID(),
      email: canonical(email),
      email_verified: emailVerified ? 1 : 0,
      name,
      active: 1,
    };
    const hash = await this.#passwordHasher.hash(password);
    await this.#database.execute(
      `INSERT INTO host_accounts (provider, id, email, email_verified, name, password_hash, active, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [this.name, row.id, row.email, row.email_verified, name, hash, row.active, this.#clock()],
    );
    return toAccount(this.name, row);
  };

  /**
   * Suspends or reactivates an account. The change takes effect immediately in all processes. Does
   * not end sessions: use `Application.endSessions`. Does nothing for an unknown account.
   */
  readonly setActive = async (id: string, active: boolean): Promise<void> => {
    await this.#database.execute(
      'UPDATE host_accounts SET active = ? WHERE provider = ? AND id = ?',
      [active ? 1 : 0, this.name, id],
    );
  };

  /**
   * Returns the account's current permissions in alphabetical order. Returns an empty list for an
   * unknown account.
   */
  readonly permissions = async (id: string): Promise<readonly string[]> => {
    const { rows } = await this.#database.execute<{ permission: string }>(
      'SELECT permission FROM host_account_permissions WHERE provider = ? AND account_id = ? ' +
        'ORDER BY permission',
      [this.name, id],
    );
    return rows.map(({ permission }) => permission);
  };

  /**
   * Returns the current permissions of all accounts by account id, in alphabetical order. Omits
   * accounts without permissions.
   */
  readonly permissionsOfAll = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const { rows } = await this.#database.execute<{ account_id: string; permission: string }>(
      'SELECT account_id, permission FROM host_account_permissions WHERE provider = ? ' +
        'ORDER BY account_id, permission',
      [this.name],
    );
    const byAccount = new Map<string, string[]>();
    for (const { account_id: id, permission } of rows) {
      const held = byAccount.get(id);
      if (held === undefined) byAccount.set(id, [permission]);
      else held.push(permission);
    }
    return byAccount;
  };

  /**
   * Gives the account a permission, which takes effect immediately. Does nothing if the account
   * already has it. Rejects if the permission has more than 255 characters.
   */
  readonly grant = async (id: string, permission: string): Promise<void> => {
    checkText('permission', permission);
    this.#prefetched.forget();
    await insertIfNone(
      this.#database,
      'host_account_permissions (provider, account_id, permission) VALUES (?, ?, ?)',
      '(provider, account_id, permission)',
      [this.name, id, permission],
    );
  };

  /**
   * Removes a permission from the account. The change takes effect immediately. Does nothing if the
   * account does not have the permission.
   */
  readonly deny = async (id: string, permission: string): Promise<void> => {
    this.#prefetched.forget();
    await this.#database.execute(
      'DELETE FROM host_account_permissions WHERE provider = ? AND account_id = ? AND ' +
        'permission = ?',
      [this.name, id, permission],
    );
  };

  async #row(
    column: 'id' | 'email',
    value: string,
  ): Promise<(AccountRow & { readonly password_hash: string }) | null> {
    // Do not search for text with NUL. No account contains it (see `checkText`), and PostgreSQL
    // would reject the statement.
    if (value.includes('\0')) return null;
    const { rows } = await this.#database.execute<AccountRow & { readonly password_hash: string }>(
      'SELECT id, email, email_verified, name, password_hash, active FROM host_accounts ' +
        `WHERE provider = ? AND ${column} = ?`,
      [this.name, value],
    );
    return rows.find((row) => row[column] === value) ?? null;
  }

  /** Returns the next accounts after this email address, sorted by email address. */
  async #page(after: string | null): Promise<readonly AccountRow[]> {
    const { rows } = await this.#database.execute<AccountRow>(
      'SELECT id, email, email_verified, name, active FROM host_accounts WHERE provider = ? ' +
        `${after === null ? '' : 'AND email > ? '}ORDER BY email LIMIT ${PAGE}`,
      after === null ? [this.name] : [this.name, after],
    );
    return rows;
  }

  #account(row: AccountRow | null): DatabaseAccount | null {
    return row === null ? null : toAccount(this.name, row);
  }
}

/**
 * Creates an account provider that stores accounts in the application's own database. Use it if
 * your application has no users table. Users sign in with their email address and password.
 *
 * @example
 * const accounts = databaseAccounts({ database, passwordHasher });
 * await accounts.create({ email: 'ada@example.com', name: 'Ada', password });
 */
export function databaseAccounts(options: DatabaseAccountsOptions): DatabaseAccounts {
  return new AccountTable(options);
}

function toAccount(provider: string, row: AccountRow): DatabaseAccount {
  const { id, email, email_verified, name, active } = row;
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

/**
 * Returns the query that reads an account, and which permissions it has. The query has a parameter
 * for each of `names` permissions.
 */
function findWithPermissions(names: number): string {
  return `SELECT a.id, a.email, a.email_verified, a.name, a.active, p.permission FROM host_accounts a
  LEFT JOIN host_account_permissions p ON p.provider = a.provider AND p.account_id = a.id
    AND p.permission IN (${Array.from({ length: names }, () => '?').join(', ')})
  WHERE a.provider = ? AND a.id = ?`;
}

/** The maximum number of accounts that a search reads, in the order of their email addresses. */
const SEARCHED = 100_000;

/** How many accounts a search reads at once. A divisor of `SEARCHED`. */
const PAGE = 5000;

/**
 * Returns the text so that two texts are equal if they differ only in letter case. In uppercase, ß
 * is SS, and the two forms of the Greek sigma are equal. Turkish also pairs i with İ, and ı with I.
 */
function withoutCase(text: string): string {
  return text.toUpperCase().replaceAll('İ', 'I');
}

/** Thrown if a text of an account cannot be stored. The message says what the text must be. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
}

/** The maximum length of a text, in characters. On MySQL, the columns cannot store more. */
const LONGEST = 255;

/**
 * Throws an AccountError if a text cannot be stored. A database might store a malformed string as
 * another one, and another user could then sign in with this other string.
 */
function checkText(what: string, text: string): void {
  if (!text.isWellFormed() || text.includes('\0'))
    throw new AccountError(`The ${what} must be well-formed Unicode without NUL`);
  if (text.length > LONGEST && Array.from(text).length > LONGEST)
    throw new AccountError(`The ${what} must have at most ${LONGEST} characters`);
}

function canonical(email: string): string {
  return email.trim().toLowerCase();
}
