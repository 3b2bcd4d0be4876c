// Everything that Portico adds to this application. It tells Portico who the users are.
import type { Request } from 'express';
import { defineApplication, oauthServer, type Host } from 'portico';
import type { Tokens } from './jwt.ts';
import type { Users } from './users.ts';

/**
 * The cookie that contains who is signed in, for the pages below `/oauth`. A browser that follows a
 * link sends cookies, but nothing from its storage.
 */
export const COOKIE = 'signed_in';

const host = (users: Users, tokens: Tokens): Host<Request> => ({
  async signedIn(_, req) {
    const [, cookie] = new RegExp(`(?:^|; )${COOKIE}=([^;]+)`).exec(req.headers.cookie ?? '') ?? [];
    const id = await tokens.verify('browser', cookie);
    return id === null ? null : { provider: 'users', id: String(id) };
  },
  async loadAccount(reference) {
    const user = users.byId(Number(reference.id));
    if (user === null) return null;
    const { name, email, suspended } = user;
    return { reference, isActive: () => suspended === 0, getProfile: () => ({ name, email }) };
  },
  holdsPermission: async ({ id }, permission) => users.mayDo(Number(id), permission),
  loginUrl: '/login',
  // Signing out is a page, because its script must also remove the token from the browser's
  // storage.
  signOut: '/logout',
});

/**
 * Contains the configuration, the schema and the console commands. `npx portico` in this folder
 * finds this definition.
 */
export function definePortico(users: () => Users, tokens: () => Tokens) {
  return defineApplication({
    directory: import.meta.dirname,
    config: (env) => ({
      public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8087}`,
      oauth_server: { name: 'Orders', scopes: { 'orders:read': 'See your orders' } },
    }),
    plugins: [oauthServer({ host: () => host(users(), tokens()) })],
  });
}
