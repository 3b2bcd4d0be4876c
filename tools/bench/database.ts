import { randomBytes } from 'node:crypto';
import pg from 'pg';

/**
 * Creates a database on the PostgreSQL server in the administrator's URL. Returns the URL of the
 * new database.
 */
export async function createDatabase(server: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Removes a database that `createDatabase` created, even if connections to it are open. */
export async function dropDatabase(made: string): Promise<void> {
  const url = new URL(made);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await client.end();
}
