import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { defineApplication, fromPostgres, oauthServer, type Host } from 'portico';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] });
pool.on('error', (error) => console.error(error));
export const db = drizzle({ client: pool });

/** No one signs in here: these tests are about the schema. */
const host: Host = {
  signedIn: () => null,
  loadAccount: () => null,
  holdsPermission: () => false,
  loginUrl: '/login',
};

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
