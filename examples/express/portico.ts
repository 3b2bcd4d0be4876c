// Everything that Portico adds to this application. It tells Portico who the users are.
import { promisify } from 'node:util';
import type { Request } from 'express';
import {
  defineApplication,
  type PersonReference,
  oauthServer,
  token,
  type Host,
  type Feature,
} from 'portico';
import { mcp, tool } from '@portico/mcp';
import type { User, Users } from './users.ts';

const referenceOf = (user: User): PersonReference => ({ provider: 'users', id: String(user.id) });

/**
 * Connects Portico to the application's own users, sessions and login. Each function also receives
 * Express's request.
 */
const host = (users: Users): Host<Request> => ({
  signedIn: async (_, req) => (req.user === undefined ? null : referenceOf(req.user as User)),
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
  loginUrl: '/login',
  tellsWhoWaits: true,
  signOut: (_, req) => promisify<void>((done) => req.logout(done))(),
});

/**
 * Contains the configuration, the schema and the console commands. `npx portico` in this folder
 * finds this definition.
 */
export function definePortico(users: () => Users, features: readonly Feature[] = []) {
  return defineApplication({
    directory: import.meta.dirname,
    config: (env) => {
      const publicUrl = env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8085}`;
      return {
        public_url: publicUrl,
        oauth_server: {
          name: 'Orders',
          audience: `${publicUrl}/mcp`,
          scopes: { 'orders:read': 'See your orders', 'mcp:tools': 'Use your tools for you' },
        },
      };
    },
    plugins: [oauthServer({ host: () => host(users()), features }), mcp()],
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
