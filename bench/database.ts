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
