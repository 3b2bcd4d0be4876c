import { databaseAccounts, defineApplication, HttpError, type Application } from '@portico/kit';
import { oauthServer, token } from 'portico';
import { articlesMigration } from './articles.ts';
import type { Guard } from './controller.ts';
import { addArticles } from './parts.ts';
import { addSeed } from './seed.ts';

const WRITE = 'articles:write';

/**
 * The same store for people and their applications: reading is free, writing needs a token or a
 * session.
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
 * Two ways in, and no way from one to the other. A request with an `Authorization` header is an
 * application's: its token has to reach, or it is refused, whatever cookie comes beside. Any other
 * is a browser's: the kit has held its CSRF token against the session before this runs, and the
 * person has to hold the permission.
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
