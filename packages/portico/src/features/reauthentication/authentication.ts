import type { KnownAuthentication } from '../../authorization/authentication.ts';
import type { Details } from '../../store/grant.ts';

/** What an authorization keeps about the person's authentication. */
export interface KeptAuthentication {
  /** In seconds since 1970, as in ID tokens. */
  readonly auth_time: number;
  readonly acr?: string | undefined;
  readonly amr?: readonly string[] | undefined;
}

/** The name under which an authorization keeps it. */
const KEPT_AS = 'authentication';

/** Returns the details of the authorization that begins now. */
export function toDetails(known: KnownAuthentication | null): Details | undefined {
  if (known === null) return undefined;
  const { at, ...how } = known;
  return { [KEPT_AS]: { auth_time: Math.floor(at / 1000), ...how } satisfies KeptAuthentication };
}

/** Returns what an authorization keeps. Null for nothing. */
export function readDetails(details: Details | undefined): KeptAuthentication | null {
  return (details?.[KEPT_AS] as KeptAuthentication | undefined) ?? null;
}
