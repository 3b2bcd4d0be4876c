import { accountCommands, databaseAccounts, defineApplication } from '@portico/kit';
import { oauthServer, token } from 'portico';

export default defineApplication({
  config: (env) => ({
    public_url: env['PUBLIC_URL'],
    oauth_server: { name: 'My application', scopes: { 'notes:read': 'Read your notes' } },
  }),
  plugins: [oauthServer()],
  accounts: ({ database, passwordHasher }) => [databaseAccounts({ database, passwordHasher })],
  commands: accountCommands,
  register(application) {
    application.route({
      name: 'api.notes.index',
      methods: ['GET'],
      path: '/api/notes',
      handler() {
        token().requireScope('notes:read');
        return Response.json({ of: token().user()?.getProfile().name ?? null });
      },
    });
  },
});
