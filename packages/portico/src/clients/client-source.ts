import type { PersonReference } from '../contracts/person.ts';
import type { ArrivalTokens, ClientArrival } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';

/** Clients that no one registered: each is described at the URL that is its id. */
export interface ClientSource {
  /**
   * Whether this id can be such a client here. A person must be signed in before the server fetches
   * its description.
   */
  names(clientId: string): boolean;
  /** Throws a page error for an id that is refused. Fetches nothing. */
  require(clientId: string): void;
  /**
   * Why nothing is fetched from this URL, and a client with this id is refused; null when it is
   * not.
   */
  refusal(url: string): string | null;
  /**
   * The client as it is described, also a revoked one. Fetches the description unless it is known
   * and fresh. Throws a page error if no client can be made of it.
   */
  find(clientId: string, forWhom: FetchedFor, scopes: readonly string[]): Promise<Client>;
  /** Stores the client before a person sees it. Throws a page error if it was revoked meanwhile. */
  keep(client: Client): Promise<void>;
  /**
   * The keys in the description that was fetched from this URL. Throws an OutboundError for one
   * that says nothing usable of them.
   */
  keysIn(description: unknown, url: string): ClientKeys;
}

/**
 * A person who is signed in, or a client that pushes a request (RFC 9126), of which only the
 * network is known.
 */
export type FetchedFor = PersonReference | { readonly network: string };

/** The initial access tokens that clients can come with; null where they come with none. */
export function getTokens(arrivals: readonly ClientArrival[]): ArrivalTokens | null {
  return arrivals.find(({ tokens }) => tokens !== undefined)?.tokens ?? null;
}

/**
 * Ids that this server creates never begin like this, nor those that it imports
 * (draft-ietf-oauth-client-id-metadata-document-02 section 7.1). So such a client comes from a
 * source only.
 */
export function isClientUrl(clientId: string): boolean {
  return clientId.startsWith('https://');
}

/**
 * Whether a client with this id may do anything now: never one that no one registered, and that no
 * source (null) describes.
 */
export function admitsClient(clientId: string, source: ClientSource | null): boolean {
  return !isClientUrl(clientId) || source?.refusal(clientId) === null;
}
