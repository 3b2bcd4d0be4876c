import type { KnownAuthentication } from '../../authorization/authentication.ts';
import type { Details } from '../../store/grant.ts';

/** How and when the user authenticated, as stored in the details of an authorization. */
export interface KeptAuthentication {
  /** When the user authenticated, in seconds since 1970. ID tokens use the same unit. */
  readonly auth_time: number;
  readonly acr?: string | undefined;
  readonly amr?: readonly string[] | undefined;
}

/** The key of the authentication in an authorization's details. */
const KEPT_AS = 'authentication';

/**
 * Returns the details for a new authorization, or undefined if the host does not know when the user
 * authenticated.
 */
export function toDetails(known: KnownAuthentication | null): Details | undefined {
  if (known === null) return undefined;
  const { at, ...how } = known;
  return { [KEPT_AS]: { auth_time: Math.floor(at / 1000), ...how } satisfies KeptAuthentication };
}

/** Returns the authentication from the details of an authorization, or null. */
export function readDetails(details: Details | undefined): KeptAuthentication | null {
  return (details?.[KEPT_AS] as KeptAuthentication | undefined) ?? null;
}
