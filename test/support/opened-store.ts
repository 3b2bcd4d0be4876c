import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase, type BorrowedDatabase, type OpenedDatabase } from 'portico';
import { createDatabase } from './database.ts';

/**
 * An open database on the test project's engine, for tests that change what the portal's database
 * does.
 */
export interface OpenedStore {
  readonly inner: OpenedDatabase;
  /** Removes the database. Call it after you have closed the portal. */
  close(): Promise<void>;
}

export async function openStore(): Promise<OpenedStore> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-store-'));
  const created = await createDatabase(folder);
  const inner = openDatabase(created.url, { directory: folder });
  return {
    inner,
    async close() {
      await inner.close();
      await created.drop();
      await rm(folder, { recursive: true });
    },
  };
}

type Execute = BorrowedDatabase['execute'];

/** Returns the same database with another `execute`. Closing it does not close the database. */
export function withExecute(
  inner: Omit<BorrowedDatabase, 'open'>,
  execute: (...asked: Parameters<Execute>) => ReturnType<Execute>,
): BorrowedDatabase {
  const changed: BorrowedDatabase = {
    ...inner,
    execute: execute as Execute,
    close: async () => {},
    open: () => changed,
  };
  return changed;
}

/** A store that can lose single statements. */
export interface LosingStore {
  readonly database: BorrowedDatabase;
  /** The next statement to lose, and whether it takes effect first. Only one statement is lost. */
  loses: { readonly statement: RegExp; readonly afterwards: boolean } | null;
}

export function createLosingStore(inner: Omit<BorrowedDatabase, 'open'>): LosingStore {
  const store: LosingStore = {
    loses: null,
    database: withExecute(inner, async (sql, parameters, committed) => {
      const { loses } = store;
      if (loses === null || !loses.statement.test(sql))
        return inner.execute(sql, parameters, committed);
      store.loses = null;
      if (loses.afterwards) await inner.execute(sql, parameters);
      throw Object.assign(new Error('The store is away'), { code: 'ECONNREFUSED' });
    }),
  };
  return store;
}

/** Matches the statement that records the use of an assertion or a proof. */
export const SINGLE_USE = /INTO oauth_single_uses/;
