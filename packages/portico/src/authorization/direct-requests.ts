import { page } from '../pages/words.ts';
import type { ClientDemands } from '../store/client-demands.ts';
import { AuthorizationPageError, type OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { SentParameters } from './waiting-requests.ts';

/**
 * Stores authorization requests that clients send directly to the server. The browser later sends
 * only a reference to the stored request. A feature implements this interface.
 */
export interface DirectRequests {
  /**
   * Returns the id of the request that these parameters reference. Returns null if they reference
   * no request on this server. Throws a page error if there is more than one reference.
   */
  idOf(parameters: Parameters): string | null;
  /** Returns the stored request, or null if it was used, has expired or never existed. */
  find(requestId: string): Promise<SentParameters | null>;
  /** Removes the stored request, so that it cannot be used again. */
  end(requestId: string): Promise<void>;
}

/**
 * Returns an error if this client must send its requests directly to the server. Returns null if
 * the client may send them through a browser.
 */
export type IndirectRefusal = (client: ClientDemands) => OAuthError | null;

/**
 * Returns the first error of `refusals`, or null if this client may send requests through a
 * browser.
 */
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

/** Returns the error page for a browser that sends a reference to an unknown request. */
export function notUsable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.link_used'), `the request_uri: ${detail}`);
}
