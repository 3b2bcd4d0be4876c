import { accountCommands, databaseAccounts, defineApplication } from '@portico/kit';
import { oauthServer } from 'portico';
import { homeRoute } from './home.ts';
import { noteRoutes, notesMigration } from './notes.ts';
import { whoamiRoute } from './whoami.ts';

/**
 * A small host: two people, a home page, and a notes API that other applications reach with an
 * access token.
 */
export default defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({
    public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8080}`,
    oauth_server: {
      name: 'Portal',
      scopes: {
        // A plain string: the scope is the permission.
        'notes:read': 'Read your notes',
        // A scope is what an application asks for, a permission what a person holds; here they have
        // names of their own.
        'notes:write': { label: 'Write notes for you', permission: 'notes.edit' },
      },
    },
  }),
  plugins: [oauthServer()],
  accounts: ({ database, passwordHasher }) => [databaseAccounts({ database, passwordHasher })],
  migrations: [notesMigration],
  commands: accountCommands,
  register(application) {
    for (const route of [homeRoute(application), whoamiRoute, ...noteRoutes(application)])
      application.route(route);
  },
});
