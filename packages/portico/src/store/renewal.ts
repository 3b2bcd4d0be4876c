import type { Client } from './client.ts';

/** What a page said about the end of a client's access. */
export interface Renewal {
  /**
   * False if the page said that access ends with one access token. Missing if it said that access
   * continues.
   */
  readonly renews?: false | undefined;
}

/** Returns what a page says about this client. */
export function renewalOf({ grants }: Client): Renewal {
  return grants.includes('refresh_token') ? {} : { renews: false };
}

/** Returns only what the page said, for the code of a request that the person allowed. */
export function renewalFor({ renews }: Renewal): Renewal {
  return renews === false ? { renews } : {};
}

/**
 * Returns the client without refresh tokens if the page said that access ends. The client may have
 * got the grant `refresh_token` since.
 */
export function asDescribed(client: Client, { renews }: Renewal): Client {
  if (renews !== false) return client;
  return { ...client, grants: client.grants.filter((grant) => grant !== 'refresh_token') };
}
