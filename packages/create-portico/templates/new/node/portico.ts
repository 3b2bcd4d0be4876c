import type { IncomingMessage } from 'node:http';
import { defineApplication, oauthServer, type Host } from 'portico';
import { sessionOf } from './sessions.ts';
import { userById } from './users.ts';

const host: Host<IncomingMessage> = {
  async signedIn(_, incoming) {
    const id = sessionOf(incoming)?.userId;
    return id === undefined ? null : { provider: 'users', id };
  },
  // Read it fresh: a suspended account's tokens stop working with the next call.
  async loadAccount(reference) {
    const user = userById(reference.id);
    if (user === undefined) return null;
    return {
      reference,
      isActive: () => !user.suspended,
      getProfile: () => ({ name: user.name, email: user.email }),
    };
  },
  async holdsPermission({ id }, permission) {
    return userById(id)?.permissions.includes(permission) ?? false;
  },
  loginUrl: '/login',
  signOut: async (_, incoming) => {
    delete sessionOf(incoming)?.userId;
  },
};

export default defineApplication({
  config: (env) => ({
    public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 3000}`,
    oauth_server: { name: 'Orders', scopes: { 'orders:read': 'See your orders' } },
  }),
  plugins: [oauthServer({ host })],
});
