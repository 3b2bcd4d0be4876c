import type { OAuthError } from '../errors.ts';
import type { Details } from '../store/grant.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';

/** A step on a page of the host before the consent page, such as authenticating again. */
export interface Interaction {
  /** Decides the next step for a request that has passed every check. */
  next(asked: AuthorizationRequest, visit: InteractionVisit): Promise<InteractionStep>;
  /**
   * Decides again when the person allows the request. Time has passed since the consent page was
   * shown, and the browser may have another session. `shown` contains the details that `next`
   * returned.
   */
  confirm(shown: ConsentRequest, request: Request): Promise<ConfirmedStep>;
  /**
   * Returns the details for access that this person allows now without an authorization request,
   * for example for a device.
   */
  details(request: Request): Promise<Details | undefined>;
}

/** The visit of a signed-in person, before the consent page. */
export interface InteractionVisit {
  readonly request: Request;
  /** When the server received the authorization request, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** Whether the server has sent this browser to a page of the host for this request before. */
  readonly isBack: boolean;
}

/**
 * The next step for a request:
 *
 * - `page`: a page of the host. It sends the browser back afterwards.
 * - `refusal`: the error response to the client.
 * - `details`: the consent page. The server stores the details with the request until the person
 *   answers.
 */
export type InteractionStep = ConfirmedStep | { readonly refusal: OAuthError };

/**
 * The next step after the person's answer:
 *
 * - `page`: a page of the host, and then the consent page again.
 * - `details`: the response with the code. The server stores the details with the authorization.
 */
export type ConfirmedStep = { readonly page: HostPage } | { readonly details: Details | undefined };

/** Returns the URL of a page of the host. That page sends the browser back to `returnTo`. */
export type HostPage = (returnTo: string) => string;

/** When a request arrived, and whether the server has sent its browser to a page of the host. */
export type Received = Pick<InteractionVisit, 'receivedAt' | 'isBack'>;
