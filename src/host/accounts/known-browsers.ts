import { createHmac, timingSafeEqual } from 'node:crypto';
import { isBearerRequest } from '../../http/bearer.ts';
import type { Database } from '../../sql/contract.ts';
import { insertIfNone } from '../../sql/insert-if-none.ts';
import type { Migration } from '../../sql/schema.ts';
import { cookieKind, type CookieScope, readCookie, randomValue } from '../http/cookies.ts';

/**
 * Browsers in which somebody has signed in to an account before. Their attempts are counted apart from those of others on the same
 * network who guess at the account, and that is all: a known browser still needs the password.
 */
export interface KnownBrowsers {
  of(request: Request): KnownBrowser;
}

/** What is known of the browser that sent one request. An account is named by a hash of what was typed. */
export interface KnownBrowser {
  /** Whether somebody has signed in to this account in it. */
  knows(account: string): Promise<boolean>;
  /** Notes that somebody has. */
  remember(account: string): Promise<void>;
  /** The `Set-Cookie` header that the response must carry; null when nothing was remembered. */
  setCookie(): string | null;
}

export interface KnownBrowsersOptions {
  readonly database: Database;
  readonly cookies: CookieScope;
  /** Whether `Authorization: DPoP` says that a request is an application's, as Bearer does. */
  readonly takesDpop: boolean;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** How long a browser is known after the last sign-in, in seconds: half a year. */
const LIFETIME = 180 * 86_400;
/** Accounts that one browser is known for; the one it signed in to longest ago is forgotten first. */
const MOST_ACCOUNTS = 4;
/** The time of the sign-in, in seconds since 1970, and the proof of it. */
const ENTRY = /^(\d{1,12})-([A-Za-z0-9_-]{43})$/;

export function createKnownBrowsers({
  database,
  cookies,
  takesDpop,
  clock,
}: KnownBrowsersOptions): KnownBrowsers {
  const { name, attributes } = cookieKind('portico_known', cookies);
  let key: Promise<string> | null = null;

  /** The process that needs the key first makes it; all of them share it. */
  async function loadKey(): Promise<string> {
    key ??= findOrMakeKey(database, clock());
    try {
      return await key;
    } catch (error) {
      key = null;
      throw error;
    }
  }

  async function prove(account: string, at: string): Promise<string> {
    return createHmac('sha256', await loadKey())
      .update(`${at} ${account}`)
      .digest('base64url');
  }

  async function isProven(account: string, entry: string): Promise<boolean> {
    const [, at = '', proof = ''] = ENTRY.exec(entry) ?? [];
    const now = clock() / 1000;
    if (proof === '' || Number(at) > now || Number(at) + LIFETIME <= now) return false;
    return timingSafeEqual(Buffer.from(proof), Buffer.from(await prove(account, at)));
  }

  return {
    of(request) {
      const sent = isBearerRequest(request, takesDpop) ? null : readCookie(request, name);
      const entries = (sent ?? '')
        .split('.')
        .filter((entry) => ENTRY.test(entry))
        .slice(0, MOST_ACCOUNTS);
      let cookie: string | null = null;

      async function others(account: string): Promise<readonly string[]> {
        const proofs = await Promise.all(entries.map((entry) => isProven(account, entry)));
        return entries.filter((_, index) => proofs[index] !== true);
      }

      return {
        knows: async (account) => (await others(account)).length < entries.length,
        async remember(account) {
          const at = String(Math.floor(clock() / 1000));
          const own = `${at}-${await prove(account, at)}`;
          const kept = [own, ...(await others(account))].slice(0, MOST_ACCOUNTS);
          cookie = `${name}=${kept.join('.')}; ${attributes}; Max-Age=${LIFETIME}`;
        },
        setCookie: () => cookie,
      };
    },
  };
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
  await insertIfNone(database, 'host_secrets (name, value, created_at) VALUES (?, ?, ?)', '(name)', row);
  const kept = await find();
  if (kept === null) throw new Error('The key of known browsers was not kept');
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
