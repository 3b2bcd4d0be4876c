import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { defineApplication, fromPostgres, oauthServer } from 'portico';
import { host } from './host.ts';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] });
pool.on('error', (error) => console.error(error));
export const db = drizzle({ client: pool });

export default defineApplication({
  directory: import.meta.dirname,
  database: fromPostgres(pool),
  config: {
    public_url: 'https://app.example.com',
    database_schema: 'portico',
    oauth_server: { name: 'Example', scopes: {} },
  },
  plugins: [oauthServer({ host })],
});
