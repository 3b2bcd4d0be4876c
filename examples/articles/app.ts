import { defineApplication } from '@portico/kit';
import { articlesMigration } from './articles.ts';
import { addArticles } from './parts.ts';

/**
 * A store for articles in which everyone may write. It is only a demonstration. See protected.ts
 * for a store with access control.
 */
export default defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({ public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8084}` }),
  migrations: [articlesMigration],
  register: (application) => addArticles(application),
});
