import type { PersonReference } from '../person.ts';
import type { ArrivalTokens, ClientArrival } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';

/**
 * Finds clients that use the server without registration. The id of such a client is the URL of a
 * document that describes the client. A feature implements this interface.
 */
export interface ClientSource {
  /**
   * Whether this id can be the URL of a client's document. The server reads the client's metadata
   * from the document only for a signed-in person or for a client that pushes a request. To
   * authenticate a client, it may fetch the document again, but reads only the keys.
   */
  names(clientId: string): boolean;
  /** Throws a page error if the server refuses a client with this id. Fetches nothing. */
  require(clientId: string): void;
  /**
   * Returns the reason why the server refuses a client with this id. Returns null if the server
   * accepts the id. Never fetches the URL.
   */
  refusal(url: string): string | null;
  /**
   * Returns the client with the metadata from its document, even if the client is revoked. Fetches
   * the document if the client is not revoked and the stored copy is missing, stale or not usable.
   * Throws a page error if the document is not valid or cannot be fetched.
   */
  find(clientId: string, forWhom: FetchedFor, scopes: readonly string[]): Promise<Client>;
  /**
   * Stores the client before a person sees it. Throws a page error if the client has been revoked.
   */
  keep(client: Client): Promise<void>;
  /**
   * Unblocks a revoked client and treats it as a new client, so its earlier authorizations and
   * tokens end. Returns false if the client is not revoked.
   */
  unblock(url: string): Promise<boolean>;
  /**
   * Returns the keys in the document from this URL. Throws an OutboundError if the document
   * contains no usable keys.
   */
  keysIn(description: unknown, url: string): ClientKeys;
}

/**
 * The caller that makes the server fetch a client's document: a signed-in person, or a client that
 * pushes a request (RFC 9126). For a pushed request, the server knows only the network that the
 * request came from.
 */
export type FetchedFor = PersonReference | { readonly network: string };

/**
 * Returns the initial access tokens that clients can register with. Returns null if no feature
 * provides them.
 */
export function getTokens(arrivals: readonly ClientArrival[]): ArrivalTokens | null {
  return arrivals.find(({ tokens }) => tokens !== undefined)?.tokens ?? null;
}

/**
 * Whether the id is a URL (draft-ietf-oauth-client-id-metadata-document-02 section 7.1). Portico
 * never registers or imports a client whose id is a URL. Such a client comes from a `ClientSource`,
 * or an operator blocked its URL before the first use.
 */
export function isClientUrl(clientId: string): boolean {
  return clientId.startsWith('https://');
}

/**
 * Whether a client with this id may currently use the server. If the id is a URL, `source` must
 * accept it. If `source` is null, no URL is accepted.
 */
export function admitsClient(clientId: string, source: ClientSource | null): boolean {
  return !isClientUrl(clientId) || source?.refusal(clientId) === null;
}
