import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './schema.ts',
  tablesFilter: ['!oauth_*', '!host_*', '!portico_*'],
  dbCredentials: { url: process.env['DATABASE_URL'] ?? '' },
});
