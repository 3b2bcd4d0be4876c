// All that Portico adds to this application: who people are, here.
import { randomBytes } from 'node:crypto';
import bcrypt from 'bcryptjs';
import { expressRequest } from 'portico/express';
import { defineApplication, type Application, type PersonReference } from 'portico/host';
import { mcp, tool } from 'portico/mcp';
import { oauthServer, token, type Host } from 'portico/oauth-server';
import type { User, Users } from './users.ts';

declare module 'express-session' {
  interface SessionData {
    /** Whose question is open in this browser, and the secret that binds it here. */
    portico: { readonly userId: number; readonly secret: string };
  }
}

const referenceOf = (user: User): PersonReference => ({ provider: 'users', id: String(user.id) });

/** The host contract over this application's own users, sessions and login. */
function host(users: Users, { views, log, events }: Application): Host {
  return {
    async signedIn(request) {
      const user = expressRequest(request).user as User | undefined;
      return user === undefined ? null : referenceOf(user);
    },
    async loadAccount({ id }) {
      const user = users.byId(Number(id));
      if (user === null) return null;
      return {
        reference: referenceOf(user),
        isActive: () => user.suspended === 0,
        getProfile: () => ({ name: user.name, email: user.email }),
      };
    },
    holdsPermission: async ({ id }, permission) => users.mayDo(Number(id), permission),
    async browserSecret(request) {
      const { session, user } = expressRequest(request);
      const { id: userId } = user as User;
      if (session.portico?.userId !== userId) {
        session.portico = { userId, secret: randomBytes(32).toString('base64url') };
      }
      return session.portico.secret;
    },
    signOut: (request) =>
      new Promise((resolve, reject) => {
        // passport begins a new session, without the secret of the old one.
        expressRequest(request).logout((error) =>
          error === undefined || error === null ? resolve() : reject(error),
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
  };
}

/** Configuration, schema and console commands; `npx portico` in this folder finds it. */
export function definePortico(users: () => Users) {
  return defineApplication({
    directory: import.meta.dirname,
    config: (env) => {
      const publicUrl = env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8085}`;
      return {
        public_url: publicUrl,
        oauth_server: {
          name: 'Orders',
          login_route: '/login',
          audience: `${publicUrl}/mcp`,
          scopes: { 'orders:read': 'See your orders', 'mcp:tools': 'Use your tools for you' },
        },
      };
    },
    plugins: [oauthServer({ host: (application) => host(users(), application) }), mcp()],
    register() {
      tool().register({
        name: () => 'my_name',
        description: () => 'Says the name of the person',
        inputSchema: () => ({ type: 'object' }),
        handle: () => ({ name: token().user()?.getProfile().name ?? null }),
      });
    },
  });
}
