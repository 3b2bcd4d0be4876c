import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'mysql',
  schema: './schema-mysql.ts',
  dbCredentials: { url: process.env['DATABASE_URL'] ?? '' },
});
