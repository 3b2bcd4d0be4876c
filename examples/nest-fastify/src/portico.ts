// Everything that Portico adds to this application. It tells Portico who the users are. `npx
// portico` also reads this file.
import bcrypt from 'bcryptjs';
import type { FastifyRequest } from 'fastify';
import {
  defineApplication,
  startApplication,
  authorizationServerOf,
  oauthServer,
  token,
  type Host,
} from 'portico';
import { mcp, mcpServerOf, tool } from '@portico/mcp';
import type { PorticoOptions } from 'portico/nest';
import type {} from './session.js';
import { UsersService } from './users.service.js';

function hostOf(users: UsersService): Host<FastifyRequest> {
  return {
    async signedIn(_, request) {
      const id = request.session.get('userId');
      const user = id === undefined ? null : users.byId(id);
      return user === null || user.suspended !== 0
        ? null
        : { provider: 'users', id: String(user.id) };
    },
    async loadAccount(reference) {
      const user = users.byId(Number(reference.id));
      if (user === null) return null;
      return {
        reference,
        isActive: () => user.suspended === 0,
        getProfile: () => ({ name: user.name, email: user.email }),
      };
    },
    async holdsPermission({ id }, permission) {
      return users.byId(Number(id))?.permissions.split(' ').includes(permission) ?? false;
    },
    loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    signOut: async (_, request) => request.session.delete(),
    passwordHasher: {
      hash: (password) => bcrypt.hash(password, 4),
      verify: (password, hash) => bcrypt.compare(password, hash),
    },
  };
}

const definePortico = (users: UsersService) =>
  defineApplication({
    config: (env) => ({
      public_url: env['PUBLIC_URL'],
      oauth_server: {
        name: 'Orders',
        audience: `${env['PUBLIC_URL']}/mcp`,
        scopes: { 'orders:read': 'See your orders', 'mcp:tools': 'Use your tools for you' },
      },
      mcp: JSON.parse(env['MCP_CONFIG'] ?? '{}'),
    }),
    plugins: [oauthServer({ host: hostOf(users) }), mcp()],
    register() {
      tool().register({
        name: () => 'my_name',
        description: () => 'Says the name of the person',
        inputSchema: () => ({ type: 'object' }),
        handle: () => ({ name: token().user()?.getProfile().name ?? null }),
      });
    },
  });
export default definePortico(new UsersService());

export async function startPortico(users: UsersService): Promise<PorticoOptions> {
  const application = await startApplication(definePortico(users));
  return {
    server: authorizationServerOf(application),
    more: [mcpServerOf(application)],
    close: () => application.close(),
  };
}
