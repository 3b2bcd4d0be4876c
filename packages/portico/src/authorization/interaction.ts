import type { OAuthError } from '../errors.ts';
import type { Details } from '../store/grant.ts';
import type { AuthorizationRequest } from '../store/requests.ts';

/**
 * Something that a signed-in person may have to do on a page of the host before the consent screen,
 * such as authenticating again.
 */
export interface Interaction {
  /** Decides what follows, for a request that passed every check. */
  next(asked: AuthorizationRequest, visit: InteractionVisit): Promise<InteractionStep>;
}

/** A signed-in person's browser, on the way to the consent screen. */
export interface InteractionVisit {
  readonly request: Request;
  /** When the server received the authorization request, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** Whether the server has sent this browser to a page of the host for this request before. */
  readonly isBack: boolean;
}

/**
 * What follows: a page of the host, from which the browser returns to this path, the error response
 * to the client, or the consent screen. The authorization keeps the details.
 */
export type InteractionStep =
  | { readonly page: (returnTo: string) => string }
  | { readonly refusal: OAuthError }
  | { readonly details: Details | undefined };

/** When a request came, and whether its browser was sent to a page of the host. */
export type Received = Pick<InteractionVisit, 'receivedAt' | 'isBack'>;
