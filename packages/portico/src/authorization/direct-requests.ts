import { page } from '../words/words.ts';
import type { ClientDemands } from '../clients/demands.ts';
import { AuthorizationPageError, type OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { SentParameters } from './waiting-requests.ts';

/**
 * Authorization requests that a client sent to the server directly, so that the browser comes with a reference to what is stored. A feature of
 * the server keeps them.
 */
export interface DirectRequests {
  /**
   * The id of the request that these parameters name; null when they name none of this server's. Throws a page error when they say more than
   * one thing.
   */
  idOf(parameters: Parameters): string | null;
  /** What was sent; null when it was used, has expired, or never was. */
  find(requestId: string): Promise<SentParameters | null>;
  /** Removes what was sent. */
  end(requestId: string): Promise<void>;
}

/** What refuses a request of this client that comes by a browser alone; null where it may be taken. */
export type IndirectRefusal = (client: ClientDemands) => OAuthError | null;

/** The first of these refusals of this client; null where none refuses it. */
export function indirectRefusalOf(
  client: ClientDemands,
  refusals: readonly IndirectRefusal[],
): OAuthError | null {
  for (const refusal of refusals) {
    const error = refusal(client);
    if (error !== null) return error;
  }
  return null;
}

/** For a browser that came with a reference that the server does not know. */
export function notUsable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.link_used'), `the request_uri: ${detail}`);
}
