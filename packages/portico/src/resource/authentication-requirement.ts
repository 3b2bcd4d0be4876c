/**
 * How a person must have authenticated before an API accepts the person's token (RFC 9470). Set at
 * least one member.
 */
export interface AuthenticationRequirement {
  /** The maximum age of the authentication, in seconds. At least 1. */
  readonly maxAge?: number;
  /** The accepted levels of assurance, preferred level first. */
  readonly acr?: string | readonly string[];
}

/** The data in a token about when and how the person authenticated. */
export interface ToldAuthentication {
  /** When the person authenticated, in seconds since 1970, as in ID tokens. */
  readonly auth_time: number;
  readonly acr?: string | undefined;
}

/**
 * A requirement for the person's authentication, as a challenge describes it (RFC 9470 section 3).
 */
export interface AuthenticationDemand {
  /** The maximum age of the authentication, in seconds. Null if any age is accepted. */
  readonly maxAge: number | null;
  /** The accepted levels. Empty if any level is accepted. */
  readonly acrValues: readonly string[];
}

/**
 * Matches visible ASCII, without quotes and backslashes. A challenge contains the levels in a
 * quoted string, separated by spaces (RFC 9470 section 3).
 */
const ACR = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** Throws for an invalid requirement. This is a mistake in the API's own code. */
export function readRequirement({ maxAge, acr }: AuthenticationRequirement): AuthenticationDemand {
  const acrValues = acr === undefined ? [] : typeof acr === 'string' ? [acr] : acr;
  if (maxAge === undefined && acrValues.length === 0)
    throw new Error('requireAuthentication() needs maxAge or acr');
  if (maxAge !== undefined && !(Number.isSafeInteger(maxAge) && maxAge >= 1))
    throw new Error('requireAuthentication() needs a maxAge in whole seconds, at least 1');
  if (!acrValues.every((each) => typeof each === 'string' && ACR.test(each)))
    throw new Error(
      'requireAuthentication() needs an acr without spaces, quotes, backslashes or non-ASCII ' +
        'characters',
    );
  return { maxAge: maxAge ?? null, acrValues };
}

/**
 * Returns why the authentication is not sufficient, for the log, or null. `now` is in milliseconds
 * since 1970.
 */
export function authenticationProblem(
  told: ToldAuthentication | null,
  { maxAge, acrValues }: AuthenticationDemand,
  now: number,
): string | null {
  if (told === null) return 'the token does not say when the person authenticated';
  const { auth_time: time, acr } = told;
  if (maxAge !== null && now - time * 1000 > maxAge * 1000)
    return (
      `the person authenticated ${Math.floor(now / 1000) - time} s ago, but at most ${maxAge} s ` +
      'are allowed'
    );
  if (acrValues.length === 0 || acrValues.includes(acr ?? '')) return null;
  return acr === undefined
    ? 'the authentication has no acr'
    : `the acr of the authentication is ${acr}, which is not one of the required values`;
}

/** Returns the challenge parameters that tell the client how the person must authenticate. */
export function demandParameters({
  maxAge,
  acrValues,
}: AuthenticationDemand): Readonly<Record<string, string>> {
  return {
    ...(acrValues.length === 0 ? {} : { acr_values: acrValues.join(' ') }),
    ...(maxAge === null ? {} : { max_age: String(maxAge) }),
  };
}
