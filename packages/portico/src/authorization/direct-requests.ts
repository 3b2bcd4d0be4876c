import { page } from '../pages/words.ts';
import type { ClientDemands } from '../store/client-demands.ts';
import { AuthorizationPageError, type OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { SentParameters } from './waiting-requests.ts';

/**
 * Stores authorization requests that clients send directly to the server. The browser then sends
 * only a reference. A feature implements this interface.
 */
export interface DirectRequests {
  /**
   * Returns the id of the stored request that these parameters refer to. Returns null if they
   * contain no reference to a request on this server. Throws a page error for an invalid reference,
   * or for several.
   */
  idOf(parameters: Parameters): string | null;
  /**
   * Returns the stored request. Returns null if the request was used, has expired or never existed.
   */
  find(requestId: string): Promise<SentParameters | null>;
  /** Removes the stored request, so that it cannot be used again. */
  end(requestId: string): Promise<void>;
}

/** Returns an error if this client may not send its authorization requests through the browser. */
export type IndirectRefusal = (client: ClientDemands) => OAuthError | null;

/** Returns the first error that one of the `refusals` returns, or null. */
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

/** Returns the error page for a reference that is invalid, unknown, used or expired. */
export function notUsable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.link_used'), `the request_uri: ${detail}`);
}
