import { accountCommands, databaseAccounts, defineApplication } from '@portico/kit';
import { oauthServer } from 'portico';
import { homeRoute } from './home.ts';
import { noteRoutes, notesMigration } from './notes.ts';
import { whoamiRoute } from './whoami.ts';

/**
 * A small application with two people, a home page, and a notes API. Other applications call the
 * API with an access token.
 */
export default defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({
    public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8080}`,
    oauth_server: {
      name: 'Portal',
      scopes: {
        // If the value is a text, the permission and the scope have the same name.
        'notes:read': 'Read your notes',
        // An application asks for a scope, and a person has a permission. Here their names differ.
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
