import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Database, insertIfNone, type Migration } from '@portico/sql';
import { isBearerRequest } from 'portico/extension';
import {
  cookieKind,
  type CookieKind,
  type CookieScope,
  readCookie,
  randomValue,
} from '../http/cookies.ts';

/** How long a browser stays known after a sign-in, in seconds (180 days). */
const LIFETIME = 180 * 86_400;
/**
 * The maximum number of accounts in a browser's cookie. When it is reached, a new account replaces
 * the one with the oldest sign-in.
 */
const MOST_ACCOUNTS = 4;
/** Matches a cookie entry: the time of a sign-in in seconds since 1970, and its proof. */
const ENTRY = /^(\d{1,12})-([A-Za-z0-9_-]{43})$/;

/**
 * Recognizes a browser in which a user has signed in to an account before. The kit counts sign-in
 * attempts to an account from such browsers separately from all other attempts. A known browser has
 * no other advantage: the user still needs the password.
 */
export class KnownBrowsers {
  readonly #database: Database;
  readonly #cookie: CookieKind;
  readonly #tokenSchemes: readonly string[];
  readonly #clock: () => number;
  #key: Promise<string> | null = null;

  /**
   * `tokenSchemes` lists the `Authorization` schemes of access tokens besides Bearer, for example
   * DPoP. `clock` returns milliseconds since 1970.
   */
  constructor(
    database: Database,
    cookies: CookieScope,
    tokenSchemes: readonly string[],
    clock: () => number,
  ) {
    this.#database = database;
    this.#cookie = cookieKind('portico_known', cookies);
    this.#tokenSchemes = tokenSchemes;
    this.#clock = clock;
  }

  of(request: Request): KnownBrowser {
    const sent = isBearerRequest(request, this.#tokenSchemes)
      ? null
      : readCookie(request, this.#cookie.name);
    return new KnownBrowser(this, sent ?? '');
  }

  /**
   * Returns a cookie entry for an account: the time of the sign-in in seconds since 1970, and its
   * proof. The default time is the current time.
   */
  async prove(account: string, at = String(Math.floor(this.#clock() / 1000))): Promise<string> {
    return `${at}-${await this.#proof(account, at)}`;
  }

  async isProven(account: string, entry: string): Promise<boolean> {
    const [, at = '', proof = ''] = ENTRY.exec(entry) ?? [];
    const now = this.#clock() / 1000;
    if (proof === '' || Number(at) > now || Number(at) + LIFETIME <= now) return false;
    return timingSafeEqual(Buffer.from(proof), Buffer.from(await this.#proof(account, at)));
  }

  async #proof(account: string, at: string): Promise<string> {
    const key = await this.#loadKey();
    return createHmac('sha256', key).update(`${at} ${account}`).digest('base64url');
  }

  setCookie(entries: readonly string[]): string {
    const { name, attributes } = this.#cookie;
    return `${name}=${entries.join('.')}; ${attributes}; Max-Age=${LIFETIME}`;
  }

  /** Returns the key that all processes share. The first process to need the key creates it. */
  async #loadKey(): Promise<string> {
    this.#key ??= findOrMakeKey(this.#database, this.#clock());
    try {
      return await this.#key;
    } catch (error) {
      this.#key = null;
      throw error;
    }
  }
}

/**
 * The accounts to which users have signed in before, in the browser that sent a request. An account
 * is identified by a hash of the identifier that the user typed.
 */
export class KnownBrowser {
  readonly #browsers: KnownBrowsers;
  readonly #entries: readonly string[];
  #cookie: string | null = null;

  constructor(browsers: KnownBrowsers, sent: string) {
    this.#browsers = browsers;
    this.#entries = sent
      .split('.')
      .filter((entry) => ENTRY.test(entry))
      .slice(0, MOST_ACCOUNTS);
  }

  /** Whether a user has signed in to this account in this browser before. */
  async knows(account: string): Promise<boolean> {
    return (await this.#others(account)).length < this.#entries.length;
  }

  /** Records a sign-in to this account in this browser. */
  async remember(account: string): Promise<void> {
    const own = await this.#browsers.prove(account);
    const kept = [own, ...(await this.#others(account))].slice(0, MOST_ACCOUNTS);
    this.#cookie = this.#browsers.setCookie(kept);
  }

  /**
   * Returns the `Set-Cookie` header for the response, or null if this request recorded no sign-in.
   */
  setCookie(): string | null {
    return this.#cookie;
  }

  /** Returns the entries in the cookie that do not prove a sign-in to this account. */
  async #others(account: string): Promise<readonly string[]> {
    const proofs = await Promise.all(
      this.#entries.map((entry) => this.#browsers.isProven(account, entry)),
    );
    return this.#entries.filter((_, index) => proofs[index] !== true);
  }
}

const KEY_NAME = 'known_browsers';

async function findOrMakeKey(database: Database, now: number): Promise<string> {
  const find = async () => {
    const { rows } = await database.execute<{ value: string }>(
      'SELECT value FROM host_secrets WHERE name = ?',
      [KEY_NAME],
    );
    return rows[0]?.value ?? null;
  };
  const found = await find();
  if (found !== null) return found;
  const row = [KEY_NAME, randomValue(), now];
  await insertIfNone(
    database,
    'host_secrets (name, value, created_at) VALUES (?, ?, ?)',
    '(name)',
    row,
  );
  const kept = await find();
  if (kept === null) throw new Error('The key for known browsers could not be stored');
  return kept;
}

export const secretsMigration: Migration = {
  name: 'host_0003_secrets',
  async up({ types: { identifier, time, tableOptions }, change }) {
    await change(`CREATE TABLE host_secrets (
      name ${identifier} NOT NULL PRIMARY KEY,
      value ${identifier} NOT NULL,
      created_at ${time} NOT NULL
    ) ${tableOptions}`);
  },
};
