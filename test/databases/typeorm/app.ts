import { defineApplication, fromPostgres, oauthServer } from 'portico';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { host } from './host.js';
import { source } from './source.js';

await source.initialize();

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
