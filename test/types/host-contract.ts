import type { Request as ExpressRequest } from 'express';
import type { FastifyRequest } from 'fastify';
import { type UserInterface, oauthServer, type Host } from 'portico';

/** Hosts that must not compile. `npm run types` checks this. */

const profile = { getProfile: () => ({}), reference: { provider: 'users', id: '1' } };

// @ts-expect-error -- without isActive(), a user could never be suspended
export const withoutIsActive: UserInterface = profile;

// @ts-expect-error -- isActive() must not return a promise, which would always be truthy
export const promisedIsActive: UserInterface = { ...profile, isActive: async () => true };

export type Forgetful = Omit<Host, 'holdsPermission'>;

// @ts-expect-error -- holdsPermission is required: without it, every permission would be granted
export const forgetful: (host: Forgetful) => Host = (host) => host;

export function careless(host: Host): Host {
  // @ts-expect-error -- the secret cannot be null, because consent is bound to it
  return { ...host, browserSecret: async () => null };
}

/** A host needs only four members. Those that are functions get the request of the framework. */
const four: Host<ExpressRequest> = {
  signedIn: async (_, { user }) => (user === undefined ? null : { provider: 'users', id: 'ada' }),
  loadAccount: async (reference) => ({ reference, isActive: () => true, getProfile: () => ({}) }),
  holdsPermission: async (_person, _permission, { ip }) => ip !== undefined,
  loginUrl: '/login',
};

/** A plugin accepts the host itself, or a function of the application that returns the host. */
export const plugins = [
  oauthServer({ host: four }),
  oauthServer({ host: ({ log }) => ({ ...four, log }) }),
];

// @ts-expect-error -- a host for Express does not accept requests of Fastify
export const otherFramework: Host<FastifyRequest> = four;

// @ts-expect-error -- a host that needs the framework's request cannot work without it
export const anywhere: Host = four;

export type Misspelt = Host & { readonly signOutUrl: string };

// @ts-expect-error -- a host has no member signOutUrl
export const misspelt: Host<ExpressRequest> = { ...four, signOutUrl: '/logout' };
