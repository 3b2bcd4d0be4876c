import type { Context } from 'koa';
import { defineApplication, oauthServer, type Host } from 'portico';
import { userById } from './users.ts';

const host: Host<Context> = {
  async signedIn(_, ctx) {
    const id: string | undefined = ctx['session']?.userId;
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
  async signOut(_, ctx) {
    ctx['session'] = null;
  },
};

export default defineApplication({
  config: (env) => ({
    public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 3000}`,
    oauth_server: { name: 'Orders', scopes: { 'orders:read': 'See your orders' } },
  }),
  plugins: [oauthServer({ host })],
});
