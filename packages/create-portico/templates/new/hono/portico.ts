import type { SessionEnv } from '@hono/session';
import type { Context } from 'hono';
import { defineApplication, oauthServer, type Host } from 'portico';
import { userById } from './users.ts';

export type Env = SessionEnv<{ userId?: string }>;

const host: Host<Context<Env>> = {
  async signedIn(_, c) {
    const userId = (await c.var.session.get())?.userId;
    return userId === undefined ? null : { provider: 'users', id: userId };
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
  signOut: async (_, c) => c.var.session.delete(),
};

export default defineApplication({
  config: (env) => ({
    public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 3000}`,
    oauth_server: { name: 'Orders', scopes: { 'orders:read': 'See your orders' } },
  }),
  plugins: [oauthServer({ host })],
});
