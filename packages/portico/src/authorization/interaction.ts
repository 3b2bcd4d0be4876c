import type { OAuthError } from '../errors.ts';
import type { PersonReference } from '../person.ts';
import type { Details } from '../store/grant.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';

/** A step on a page of the host before the consent page, for example a new sign-in. */
export interface Interaction {
  /** Decides the next step for a request that has passed every check. */
  next(asked: AuthorizationRequest, visit: InteractionVisit): Promise<InteractionStep>;
  /**
   * Decides again when the person allows the request. Time has passed since the consent page was
   * shown, and the browser may have a different session. `shown` contains the details that `next`
   * returned.
   */
  confirm(shown: ConsentRequest, request: Request): Promise<ConfirmedStep>;
  /**
   * Returns the details to store if this person allows access without an authorization request, for
   * example for a device.
   */
  details(request: Request): Promise<Details | undefined>;
}

/** When a request arrived, and whether its browser was sent to a page of the host. */
export interface Received {
  /** When the server received the authorization request, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** Whether the server already sent this browser to a page of the host for this request. */
  readonly isBack: boolean;
}

/** A signed-in person's visit, before the consent page. */
export interface InteractionVisit extends Received {
  readonly request: Request;
  /** The signed-in person. */
  readonly person: PersonReference;
}

/**
 * The next step for a request:
 *
 * - `page`: a page of the host, which sends the browser back afterwards.
 * - `refusal`: an error response to the client.
 * - `details`: the consent page. The server stores the details with the request until the person
 *   answers.
 */
export type InteractionStep = ConfirmedStep | { readonly refusal: OAuthError };

/**
 * The next step after the person's answer:
 *
 * - `page`: a page of the host, then the consent page again.
 * - `details`: the response with the code. The server stores these details with the authorization.
 */
export type ConfirmedStep = { readonly page: HostPage } | { readonly details: Details | undefined };

/**
 * Returns the URL of a page of the host. That page must send the browser to `returnTo` when it is
 * done.
 */
export type HostPage = (returnTo: string) => string;
