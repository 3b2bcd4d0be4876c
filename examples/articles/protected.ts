import { databaseAccounts, defineApplication, HttpError, type Application } from '@portico/kit';
import { oauthServer, token } from 'portico';
import { articlesMigration } from './articles.ts';
import type { Guard } from './controller.ts';
import { addArticles } from './parts.ts';
import { addSeed } from './seed.ts';

const WRITE = 'articles:write';

/**
 * The same store as in app.ts, for people and their applications. Everyone may read. To write, a
 * request needs a token or a session.
 */
export default defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({
    public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8084}`,
    oauth_server: { name: 'Articles', scopes: { [WRITE]: 'Write and delete articles' } },
  }),
  plugins: [oauthServer()],
  accounts: ({ database, passwordHasher }) => [databaseAccounts({ database, passwordHasher })],
  migrations: [articlesMigration],
  commands: addSeed,
  register(application) {
    addArticles(application, mayWrite(application));
  },
});

/**
 * Checks that a request may write. There are two ways, and they never mix:
 * - If a request has an `Authorization` header, it comes from an application. Its token needs the
 *   scope. A cookie in the same request is ignored.
 * - All other requests come from a browser. The kit has already checked the CSRF token of the
 *   session. The person needs the permission.
 */
function mayWrite(application: Application): Guard {
  return (handler) => async (parameters, request) => {
    if (request.headers.has('authorization')) {
      token().requireScope(WRITE);
    } else {
      const user = await application.auth().user();
      if (user === null) throw new HttpError(401, 'You are not signed in');
      if (!(await application.accounts.holdsPermission(user.reference, WRITE))) {
        throw new HttpError(403, 'The person may not write');
      }
    }
    return handler(parameters, request);
  };
}
