import { defineApplication, fromPostgres } from 'portico/host';
import { oauthServer } from 'portico/oauth-server';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { source } from './source.js';

await source.initialize();

export default defineApplication({
  directory: import.meta.dirname,
  database: fromPostgres((source.driver as PostgresDriver).master),
  config: {
    public_url: 'https://app.example.com',
    database_schema: 'portico',
    oauth_server: { name: 'Example', scopes: {}, login_route: '/login' },
  },
  plugins: [oauthServer()],
});
