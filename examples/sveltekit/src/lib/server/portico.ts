import type { RequestEvent } from '@sveltejs/kit';
import { createHandler } from 'portico/fetch';
import {
  defineApplication,
  startApplication,
  authorizationServerOf,
  oauthServer,
  token,
  type Host,
} from 'portico';
import { mcp, mcpServerOf, tool } from '@portico/mcp';
import { endSession, userById } from './users.ts';

const host: Host<RequestEvent> = {
  async signedIn(_, event) {
    const user = event.locals.user;
    return user === null ? null : { provider: 'users', id: String(user.id) };
  },
  async loadAccount(reference) {
    const user = userById(Number(reference.id));
    if (user === null) return null;
    return {
      reference,
      isActive: () => user.suspended === 0,
      getProfile: () => ({ name: user.name, email: user.email }),
    };
  },
  async holdsPermission({ id }, permission) {
    return userById(Number(id))?.permissions.split(' ').includes(permission) ?? false;
  },
  loginUrl: '/login',
  async signOut(_, event) {
    endSession(event.cookies.get('session'));
  },
  clientAddress: (_, event) => event.getClientAddress(),
};

const definition = defineApplication({
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
  plugins: [oauthServer({ host }), mcp()],
  register() {
    tool().register({
      name: () => 'my_name',
      description: () => 'Says the name of the person',
      inputSchema: () => ({ type: 'object' }),
      handle: () => ({ name: token().user()?.getProfile().name ?? null }),
    });
  },
});
export default definition;

async function start() {
  const application = await startApplication(definition);
  const server = authorizationServerOf(application);
  return { server, endpoints: createHandler(server, mcpServerOf(application)) };
}

let started: ReturnType<typeof start> | undefined;

/** Returns Portico. The first request starts it, because `vite build` also loads this file. */
export const portico = () => (started ??= start());
