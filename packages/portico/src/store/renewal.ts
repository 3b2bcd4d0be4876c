import type { Client } from './client.ts';

/** What a page told the person about how long access lasts. */
export interface Renewal {
  /** False if the page said that access ends with the access token. Missing if access continues. */
  readonly renews?: false | undefined;
}

export function renewalOf({ grants }: Client): Renewal {
  return grants.includes('refresh_token') ? {} : { renews: false };
}

/** Returns the part that the authorization code stores. */
export function renewalFor({ renews }: Renewal): Renewal {
  return renews === false ? { renews } : {};
}

/**
 * Removes the grant `refresh_token` if the page said that access ends. The client may have received
 * this grant after the person saw the page.
 */
export function asDescribed(client: Client, { renews }: Renewal): Client {
  if (renews !== false) return client;
  return { ...client, grants: client.grants.filter((grant) => grant !== 'refresh_token') };
}
