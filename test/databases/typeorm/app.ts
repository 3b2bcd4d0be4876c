import { defineApplication, fromPostgres, oauthServer, type Host } from 'portico';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { source } from './source.js';

await source.initialize();

/** No one signs in here: these tests are about the schema. */
const host: Host = {
  signedIn: () => null,
  loadAccount: () => null,
  holdsPermission: () => false,
  loginUrl: '/login',
};

export default defineApplication({
  directory: import.meta.dirname,
  database: fromPostgres((source.driver as PostgresDriver).master),
  config: {
    public_url: 'https://app.example.com',
    database_schema: 'portico',
    oauth_server: { name: 'Example', scopes: {} },
  },
  plugins: [oauthServer({ host })],
});
