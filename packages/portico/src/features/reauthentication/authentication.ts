import type { KnownAuthentication } from '../../authorization/authentication.ts';
import type { Details } from '../../store/grant.ts';

/** How and when the user authenticated, in the details of an authorization. */
export interface KeptAuthentication {
  /** When the user authenticated, in seconds since 1970, as in ID tokens. */
  readonly auth_time: number;
  readonly acr?: string | undefined;
  readonly amr?: readonly string[] | undefined;
}

/** The details of an authorization contain the authentication under this key. */
const KEPT_AS = 'authentication';

/**
 * Returns the details for a new authorization. Returns undefined if the host does not know when the
 * user authenticated.
 */
export function toDetails(known: KnownAuthentication | null): Details | undefined {
  if (known === null) return undefined;
  const { at, ...how } = known;
  return { [KEPT_AS]: { auth_time: Math.floor(at / 1000), ...how } satisfies KeptAuthentication };
}

export function readDetails(details: Details | undefined): KeptAuthentication | null {
  return (details?.[KEPT_AS] as KeptAuthentication | undefined) ?? null;
}
