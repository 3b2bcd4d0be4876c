import type { Host } from 'portico';

/** No one signs in here: these tests are about the schema. */
export const host: Host = {
  signedIn: async () => null,
  loadAccount: async () => null,
  holdsPermission: async () => false,
  loginUrl: '/login',
};
