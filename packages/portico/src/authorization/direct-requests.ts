import { page } from '../words/words.ts';
import type { ClientDemands } from '../store/client-demands.ts';
import { AuthorizationPageError, type OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { SentParameters } from './waiting-requests.ts';

/**
 * Authorization requests that a client sent to the server directly, so that the browser brings only
 * a reference. A feature of the server keeps them.
 */
export interface DirectRequests {
  /**
   * The id of the request that these parameters reference; null if they reference none of this
   * server. Throws a page error if they are ambiguous.
   */
  idOf(parameters: Parameters): string | null;
  /** The stored request; null if it was used, has expired, or never existed. */
  find(requestId: string): Promise<SentParameters | null>;
  /** Removes the stored request. */
  end(requestId: string): Promise<void>;
}

/** Refuses a request of this client that comes only through a browser; null if it is accepted. */
export type IndirectRefusal = (client: ClientDemands) => OAuthError | null;

/** The first refusal for this client, or null. */
export function getIndirectRefusal(
  client: ClientDemands,
  refusals: readonly IndirectRefusal[],
): OAuthError | null {
  for (const refusal of refusals) {
    const error = refusal(client);
    if (error !== null) return error;
  }
  return null;
}

/** For a browser with an unknown reference. */
export function notUsable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.link_used'), `the request_uri: ${detail}`);
}
