import type { Request as ExpressRequest } from 'express';
import type { FastifyRequest } from 'fastify';
import { type UserInterface, oauthServer, type Host } from 'portico';

/** What must not compile; `npm run types` looks. */

const profile = { getProfile: () => ({}), reference: { provider: 'users', id: '1' } };

// @ts-expect-error -- a user without isActive() could never be suspended
export const withoutIsActive: UserInterface = profile;

// @ts-expect-error -- a promise is not an answer: it would always be true
export const promisedIsActive: UserInterface = { ...profile, isActive: async () => true };

export type Forgetful = Omit<Host, 'holdsPermission'>;

// @ts-expect-error -- a host that forgets permissions would grant them all
export const forgetful: (host: Forgetful) => Host = (host) => host;

export function careless(host: Host): Host {
  // @ts-expect-error -- the secret must be there before anything is bound to it
  return { ...host, browserSecret: async () => null };
}

/** Four members are a host; each is given the framework's own request. */
const four: Host<ExpressRequest> = {
  signedIn: async (_, { user }) => (user === undefined ? null : { provider: 'users', id: 'ada' }),
  loadAccount: async (reference) => ({ reference, isActive: () => true, getProfile: () => ({}) }),
  holdsPermission: async (_person, _permission, { ip }) => ip !== undefined,
  loginUrl: '/login',
};

/** As they are, or by a function of the application. */
export const plugins = [
  oauthServer({ host: four }),
  oauthServer({ host: ({ log }) => ({ ...four, log }) }),
];

// @ts-expect-error -- the request of one framework is not that of another
export const otherFramework: Host<FastifyRequest> = four;

// @ts-expect-error -- nor can a host that needs its framework's request do without
export const anywhere: Host = four;

export type Misspelt = Host & { readonly signOutUrl: string };

// @ts-expect-error -- a member that there is not is a mistake
export const misspelt: Host<ExpressRequest> = { ...four, signOutUrl: '/logout' };
