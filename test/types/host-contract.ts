import type { UserInterface } from 'portico/host';
import type { Host } from 'portico/oauth-server';

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
