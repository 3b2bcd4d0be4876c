import { promisify } from 'node:util';
import type { Request } from 'express';
import { defineApplication, oauthServer, type Host } from 'portico';
import { userById } from './users.ts';

declare module 'express-session' {
  interface SessionData {
    userId: string;
  }
}

const host: Host<Request> = {
  async signedIn(_, { session }) {
    return session.userId === undefined ? null : { provider: 'users', id: session.userId };
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
  signOut: (_, req) => promisify<void>((done) => req.session.regenerate(done))(),
};

export default defineApplication({
  config: (env) => ({
    public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 3000}`,
    oauth_server: { name: 'Orders', scopes: { 'orders:read': 'See your orders' } },
  }),
  plugins: [oauthServer({ host })],
});
