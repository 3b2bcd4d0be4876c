import { randomBytes } from 'node:crypto';
import bcrypt from 'bcryptjs';
import { expressRequest } from 'portico/express';
import { defineApplication, oauthServer, token } from 'portico';
import { mcp, tool } from '@portico/mcp';
import { userById } from './users';

declare module 'express-session' {
  interface SessionData {
    userId: number;
    portico: { userId: number; secret: string };
  }
}

export default defineApplication({
  config: (env) => ({
    public_url: env['PUBLIC_URL'],
    oauth_server: {
      name: 'Orders',
      login_route: '/login',
      audience: `${env['PUBLIC_URL'] ?? ''}/mcp`,
      scopes: { 'orders:read': 'See your orders', 'mcp:tools': 'Use your tools for you' },
    },
    mcp: JSON.parse(env['MCP_CONFIG'] ?? '{}'),
  }),
  plugins: [
    oauthServer({
      host: ({ views, events, log }) => ({
        async signedIn(request) {
          const { userId } = expressRequest(request).session;
          return userId === undefined ? null : { provider: 'users', id: String(userId) };
        },
        async loadAccount(reference) {
          const user = userById(Number(reference.id));
          if (user === undefined) return null;
          return {
            reference,
            isActive: () => user.suspended === 0,
            getProfile: () => ({ name: user.name, email: user.email }),
          };
        },
        async holdsPermission({ id }, permission) {
          return userById(Number(id))?.permissions.split(' ').includes(permission) ?? false;
        },
        async browserSecret(request) {
          const { session } = expressRequest(request);
          const userId = session.userId ?? 0;
          if (session.portico?.userId !== userId)
            session.portico = { userId, secret: randomBytes(32).toString('base64url') };
          return session.portico.secret;
        },
        signOut: (request) =>
          new Promise((resolve, reject) => {
            expressRequest(request).session.regenerate((error) =>
              error ? reject(error) : resolve(),
            );
          }),
        loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
        passwordHasher: {
          hash: (password) => bcrypt.hash(password, 10),
          verify: (password, hash) => bcrypt.compare(password, hash),
        },
        render: (view, data) => views.render(view, data),
        clientAddress: (request) => expressRequest(request).ip ?? null,
        audit: (event) => events.emit('audit', event),
        log,
      }),
    }),
    mcp(),
  ],
  register() {
    tool().register({
      name: () => 'my_name',
      description: () => 'Says the name of the person',
      inputSchema: () => ({ type: 'object' }),
      handle: () => ({ name: token().user()?.getProfile().name ?? null }),
    });
  },
});
