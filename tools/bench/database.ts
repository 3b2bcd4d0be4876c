import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A new database on the PostgreSQL server that an administrator's URL names; answers its URL. */
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

/** Removes one that `createDatabase` made, also while others are connected. */
export async function dropDatabase(made: string): Promise<void> {
  const url = new URL(made);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await client.end();
}
