import type { PersonReference } from '../person.ts';
import type { ArrivalTokens, ClientArrival } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';

/**
 * Finds clients that are not registered. Such a client's id is the URL of its description. A
 * feature implements this interface.
 */
export interface ClientSource {
  /**
   * Whether this id can be the id of such a client. The server fetches the description only for a
   * signed-in person.
   */
  names(clientId: string): boolean;
  /** Throws a page error if the server refuses the id. Fetches nothing. */
  require(clientId: string): void;
  /**
   * Returns why the server refuses a client with this id. Returns null if the server accepts the
   * id. Never fetches the URL.
   */
  refusal(url: string): string | null;
  /**
   * Returns the client with the metadata from its description, even if the client is revoked.
   * Fetches the description if the stored description is missing or stale. Throws a page error if
   * the description is not valid.
   */
  find(clientId: string, forWhom: FetchedFor, scopes: readonly string[]): Promise<Client>;
  /**
   * Stores the client before a person sees it. Throws a page error if the client has been revoked.
   */
  keep(client: Client): Promise<void>;
  /**
   * Unblocks a revoked client and treats it as a new client. Ends its earlier authorizations and
   * tokens. Returns false if the client is not revoked.
   */
  unblock(url: string): Promise<boolean>;
  /**
   * Returns the keys in the description from this URL. Throws an OutboundError if it contains no
   * usable keys.
   */
  keysIn(description: unknown, url: string): ClientKeys;
}

/**
 * The caller that makes the server fetch a description: a signed-in person, or a client that pushes
 * a request (RFC 9126). For a pushed request, the server knows only the network that the request
 * came from.
 */
export type FetchedFor = PersonReference | { readonly network: string };

/**
 * Returns the initial access tokens that clients can register with, or null if no feature provides
 * them.
 */
export function getTokens(arrivals: readonly ClientArrival[]): ArrivalTokens | null {
  return arrivals.find(({ tokens }) => tokens !== undefined)?.tokens ?? null;
}

/**
 * Whether the id is a URL (draft-ietf-oauth-client-id-metadata-document-02 section 7.1). Portico
 * never creates or imports a client with such an id, so the client always comes from a
 * `ClientSource`.
 */
export function isClientUrl(clientId: string): boolean {
  return clientId.startsWith('https://');
}

/**
 * Whether a client with this id may currently use the server. If the id is a URL, the source must
 * accept it. Without a source, the server accepts no URLs.
 */
export function admitsClient(clientId: string, source: ClientSource | null): boolean {
  return !isClientUrl(clientId) || source?.refusal(clientId) === null;
}
