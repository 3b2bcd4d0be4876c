import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { openDatabase } from 'portico/host';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** An administrator's URL of the database server under test; absent on SQLite. */
    databaseServer?: string;
  }
}

/** A database that nobody else uses. */
export interface TestDatabase {
  /** As `DATABASE_URL` takes it. */
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A new database on the engine of the test project, unless another server (null for SQLite) is named: a file in the folder,
 * or one of the server's own.
 */
export async function createDatabase(
  folder: string,
  server: string | null = inject('databaseServer') ?? null,
): Promise<TestDatabase> {
  const name = `portico_${randomBytes(6).toString('hex')}`;
  if (server === null) return { url: `sqlite:${path.join(folder, `${name}.sqlite`)}`, drop: async () => {} };
  await administer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const force = url.protocol === 'postgres:' ? ' WITH (FORCE)' : '';
  return { url: url.href, drop: () => administer(server, `DROP DATABASE ${name}${force}`) };
}

async function administer(server: string, statement: string): Promise<void> {
  const database = openDatabase(server, { directory: '/' });
  try {
    await database.execute(statement);
  } finally {
    await database.close();
  }
}
