import type { PersonReference } from '../person.ts';
import type { ArrivalTokens, ClientArrival } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';

/** A source of clients that no one registered. A client's id is the URL of its description. */
export interface ClientSource {
  /**
   * Whether this id can belong to such a client on this server. The server fetches the description
   * only for a signed-in person.
   */
  names(clientId: string): boolean;
  /** Throws a page error if the server refuses the id. Fetches nothing. */
  require(clientId: string): void;
  /**
   * Returns why the server does not fetch this URL and refuses a client with this id. Null if it
   * accepts the id.
   */
  refusal(url: string): string | null;
  /**
   * Returns the client as its description defines it, even a revoked client. Fetches the
   * description if the stored one is missing or stale. Throws a page error if the description is
   * not valid.
   */
  find(clientId: string, forWhom: FetchedFor, scopes: readonly string[]): Promise<Client>;
  /**
   * Stores the client before a person sees it. Throws a page error if the client was revoked in the
   * meantime.
   */
  keep(client: Client): Promise<void>;
  /**
   * Returns the keys in the description from this URL. Throws an OutboundError if it contains no
   * usable keys.
   */
  keysIn(description: unknown, url: string): ClientKeys;
}

/**
 * A signed-in person, or a client that pushes a request (RFC 9126). Of such a client, only the
 * network is known.
 */
export type FetchedFor = PersonReference | { readonly network: string };

/** Returns the initial access tokens that clients can register with; null if there are none. */
export function getTokens(arrivals: readonly ClientArrival[]): ArrivalTokens | null {
  return arrivals.find(({ tokens }) => tokens !== undefined)?.tokens ?? null;
}

/**
 * Whether the id is a URL (draft-ietf-oauth-client-id-metadata-document-02 section 7.1). Created
 * and imported ids are never URLs, so such a client always comes from a source.
 */
export function isClientUrl(clientId: string): boolean {
  return clientId.startsWith('https://');
}

/**
 * Whether a client with this id may do anything now. If the id is a URL, the source must accept it;
 * without a source, the answer is no.
 */
export function admitsClient(clientId: string, source: ClientSource | null): boolean {
  return !isClientUrl(clientId) || source?.refusal(clientId) === null;
}
