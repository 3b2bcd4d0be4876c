import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';

/**
 * Records the work of a request. There is an entry for each call of a slow function, each
 * comparison of secrets, and each statement of SQLite. If two requests have the same entries, their
 * times differ only by nanoseconds. If a request returns early, some entries are missing. The
 * ledger counts the calls of everything in this process.
 */
export interface Ledger {
  /** Returns the entries of this work, sorted. */
  of(work: () => Promise<unknown>): Promise<readonly string[]>;
  /** Restores the original functions of Node. */
  remove(): void;
}

type Arguments = readonly unknown[];

const PBKDF2 = 'pbkdf2 of ';

/** The text of the entry for each call, by the name of the function in `node:crypto`. */
const CALLS: Readonly<Record<string, (given: Arguments) => string>> = {
  timingSafeEqual: ([one]) => `timingSafeEqual ${(one as Uint8Array).length}`,
  createHmac: ([algorithm]) => `createHmac ${String(algorithm)}`,
  createHash: ([algorithm]) => `createHash ${String(algorithm)}`,
  hash: ([algorithm]) => `hash ${String(algorithm)}`,
  hkdfSync: () => 'hkdf',
  createDecipheriv: ([algorithm]) => `decipher ${String(algorithm)}`,
  createCipheriv: ([algorithm]) => `cipher ${String(algorithm)}`,
  verify: ([algorithm]) => `verify ${String(algorithm)}`,
  sign: ([algorithm]) => `sign ${String(algorithm)}`,
  pbkdf2: ([, , iterations]) => `${PBKDF2}${String(iterations)}`,
  argon2: () => 'argon2',
};

export function keepLedger(): Ledger {
  let entries: string[] | null = null;
  const original = new Map<string, unknown>();
  const functions = crypto as unknown as Record<string, unknown>;
  for (const [name, describe] of Object.entries(CALLS)) {
    const own = functions[name] as (...given: Arguments) => unknown;
    original.set(name, own);
    functions[name] = (...given: Arguments) => {
      entries?.push(describe(given));
      return own(...given);
    };
  }
  syncBuiltinESMExports();

  const statements = StatementSync.prototype as unknown as Record<
    'all' | 'get' | 'run',
    (...given: Arguments) => unknown
  >;
  const ran = { all: statements.all, get: statements.get, run: statements.run };
  for (const name of ['all', 'get', 'run'] as const) {
    statements[name] = function (this: StatementSync, ...given: Arguments) {
      entries?.push(this.sourceSQL.replaceAll(/\s+/g, ' '));
      return ran[name].apply(this, [...given]);
    };
  }

  return {
    async of(work) {
      entries = [];
      try {
        await work();
        return summed(entries).toSorted();
      } finally {
        entries = null;
      }
    },
    remove() {
      for (const [name, own] of original) functions[name] = own;
      syncBuiltinESMExports();
      Object.assign(statements, ran);
    },
  };
}

/** Adds up iterations, because the number of calls in which they run does not matter. */
function summed(entries: readonly string[]): readonly string[] {
  const derived = entries.filter((entry) => entry.startsWith(PBKDF2));
  const iterations = derived.reduce((sum, entry) => sum + Number(entry.slice(PBKDF2.length)), 0);
  const others = entries.filter((entry) => !derived.includes(entry));
  return iterations === 0
    ? others
    : [...others, ...derived.map(() => 'pbkdf2'), `${iterations} iterations of PBKDF2`];
}
