import {
  defineApplication,
  startApplication,
  authorizationServerOf,
  oauthServer,
  token,
  type Host,
} from 'portico';
import { mcp, mcpServerOf, tool } from '@portico/mcp';
import { portico } from 'portico/next';
import { currentSession } from './session';
import { userById } from './users';

const host: Host = {
  async signedIn() {
    const { userId } = await currentSession();
    const user = userId === undefined ? null : userById(userId);
    return user === null || user.suspended !== 0
      ? null
      : { provider: 'users', id: String(user.id) };
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
  async signOut() {
    const session = await currentSession();
    session.destroy();
  },
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

export const { handlers, withToken } = portico(async () => {
  const application = await startApplication(definition);
  return [authorizationServerOf(application), mcpServerOf(application)];
});
