import type { OAuthError } from '../errors.ts';
import type { PersonReference } from '../person.ts';
import type { Details } from '../store/grant.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';

/**
 * A step on a page of the host, for example a new sign-in. It comes before the consent page, or
 * after the person allows the request.
 */
export interface Interaction {
  /** Returns the next step for a request that has passed every check. */
  next(asked: AuthorizationRequest, visit: InteractionVisit): Promise<InteractionStep>;
  /**
   * Returns the next step when the person allows the request, or when an earlier authorization
   * covers it. The browser may have a new session since the consent page was shown. `shown`
   * contains the details that `next` returned.
   */
  confirm(shown: ConsentRequest, request: Request): Promise<ConfirmedStep>;
  /**
   * Returns the details for an authorization that starts without an authorization request, for
   * example for a device.
   */
  details(request: Request): Promise<Details | undefined>;
}

export interface Received {
  /** When the authorization request first arrived, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** True if this browser was already sent to a page of the host for this request. */
  readonly isBack: boolean;
}

/** A visit by a signed-in person before they see the consent page. */
export interface InteractionVisit extends Received {
  readonly request: Request;
  readonly person: PersonReference;
}

/**
 * The next step for a request:
 *
 * - `page`: the browser goes to a page of the host, which sends it back afterwards.
 * - `refusal`: the client gets an error response.
 * - `details`: the person sees the consent page, unless an earlier authorization covers the
 *   request. The server stores the details with the request until the person answers.
 */
export type InteractionStep = ConfirmedStep | { readonly refusal: OAuthError };

/**
 * The next step after the person's answer:
 *
 * - `page`: the browser goes to a page of the host and then to the consent page again.
 * - `details`: the client gets a response with the code. The server stores these details with the
 *   authorization.
 */
export type ConfirmedStep = { readonly page: HostPage } | { readonly details: Details | undefined };

/**
 * Returns the URL of a page of the host. This page must send the browser to `returnTo` when it is
 * done.
 */
export type HostPage = (returnTo: string) => string;
