import { defineApplication } from '@portico/kit';
import { articlesMigration } from './articles.ts';
import { addArticles } from './parts.ts';

/**
 * A persistent article store that anyone may write to: a demonstration, see protected.ts for the
 * real thing.
 */
export default defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({ public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8084}` }),
  migrations: [articlesMigration],
  register: (application) => addArticles(application),
});
