import type { Request } from 'express';
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
import { UsersService, type User } from './users.service.js';

function hostOf(users: UsersService): Host<Request> {
  return {
    async signedIn(_, request) {
      const user = request.user as User | undefined;
      return user === undefined ? null : { provider: 'users', id: String(user.id) };
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
    loginUrl: '/login',
    signOut: (_, request) =>
      new Promise((resolve, reject) => {
        request.logout((error: unknown) => (error ? reject(error) : resolve()));
      }),
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
      mcp: {
        allowed_origins: env['MCP_ORIGINS']?.split(' ') ?? [],
        transport: { streaming: env['MCP_STREAMING'] === 'true' },
      },
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

/** The definition for the console commands, which do not start Nest. */
export default definePortico(new UsersService());

export async function startPortico(users: UsersService): Promise<PorticoOptions> {
  const application = await startApplication(definePortico(users));
  return {
    server: authorizationServerOf(application),
    more: [mcpServerOf(application)],
    close: () => application.close(),
  };
}
