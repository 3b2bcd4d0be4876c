import type { OAuthError } from '../errors.ts';
import type { Details } from '../store/grant.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';

/**
 * Something that a signed-in person may have to do on a page of the host before the consent screen,
 * such as authenticating again.
 */
export interface Interaction {
  /** Decides what follows, for a request that passed every check. */
  next(asked: AuthorizationRequest, visit: InteractionVisit): Promise<InteractionStep>;
  /**
   * Decides again when the person allows the request: time has passed since the consent screen, and
   * the browser may have another session. `shown` has the details that `next` returned.
   */
  confirm(shown: ConsentRequest, request: Request): Promise<ConfirmedStep>;
  /** Returns the details for what this person allows now without an authorization request. */
  details(request: Request): Promise<Details | undefined>;
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
 * to the client, or the consent screen, which keeps the details until the person answers.
 */
export type InteractionStep = ConfirmedStep | { readonly refusal: OAuthError };

/**
 * What follows the person's answer: a page of the host first, and then the consent screen again, or
 * the code. The authorization keeps the details.
 */
export type ConfirmedStep = { readonly page: HostPage } | { readonly details: Details | undefined };

/** Returns the URL of a page of the host, which leads the browser back to this path. */
export type HostPage = (returnTo: string) => string;

/** When a request came, and whether its browser was sent to a page of the host. */
export type Received = Pick<InteractionVisit, 'receivedAt' | 'isBack'>;
