import type { PersonReference } from '../person.ts';
import type { ArrivalTokens, ClientArrival } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';

/**
 * Finds clients that use the server without registration. The client's id is the URL of a document
 * about the client. A feature implements this interface.
 */
export interface ClientSource {
  /**
   * Returns true if this id can be the URL of a client's document.
   *
   * The server reads the metadata only for a signed-in person, or for a client that pushes a
   * request. To authenticate a client, it may fetch the document again, but it reads only the keys.
   */
  names(clientId: string): boolean;
  /** Throws a page error if the server refuses this id. Fetches nothing. */
  require(clientId: string): void;
  /** Returns why the server refuses this id, or null. Fetches nothing. */
  refusal(url: string): string | null;
  /**
   * Returns the client with the metadata from its document, even if it is revoked. Fetches the
   * document if the stored copy is missing, stale or not usable, but never for a revoked client.
   * Throws a page error if the document is invalid or cannot be fetched.
   */
  find(clientId: string, forWhom: FetchedFor, scopes: readonly string[]): Promise<Client>;
  /** Stores the client before a person sees it. Throws a page error if the client is revoked. */
  keep(client: Client): Promise<void>;
  /**
   * Treats a revoked client as a new client. Its earlier authorizations and tokens end. Returns
   * false if the client is not revoked.
   */
  unblock(url: string): Promise<boolean>;
  /** Returns the keys in the document. Throws an OutboundError if it contains no usable keys. */
  keysIn(description: unknown, url: string): ClientKeys;
}

/**
 * Who makes the server fetch a document: a signed-in person, or a client that pushes a request (RFC
 * 9126). The server knows only the network of a pushed request.
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
 * Returns true if the id is a URL (draft-ietf-oauth-client-id-metadata-document-02 section 7.1).
 * Portico never registers or imports such a client. It comes from a `ClientSource`, or an operator
 * blocked its URL before the first use.
 */
export function isClientUrl(clientId: string): boolean {
  return clientId.startsWith('https://');
}

/**
 * Returns true if a client with this id may use the server. `source` must accept a URL. Without a
 * `source`, no URL is accepted.
 */
export function admitsClient(clientId: string, source: ClientSource | null): boolean {
  return !isClientUrl(clientId) || source?.refusal(clientId) === null;
}
