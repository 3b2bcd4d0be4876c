import type { CookieMap } from 'bun';
import { defineApplication, oauthServer, token, type Host } from 'portico';
import { mcp, tool } from '@portico/mcp';
import { endSession, userById, userOfSession } from './users.ts';

/** The parts of a request that the host contract below needs. */
export interface Visit {
  readonly cookies: CookieMap;
  readonly ip: string | undefined;
}

const host: Host<Visit> = {
  async signedIn(_, { cookies }) {
    const user = userOfSession(cookies.get('session'));
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
  async signOut(_, { cookies }) {
    endSession(cookies.get('session'));
    cookies.delete('session');
  },
  clientAddress: (_, { ip }) => ip ?? null,
};

export default defineApplication({
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
