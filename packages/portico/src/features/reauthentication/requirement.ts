import type { MakesTokenMembers } from '../../resource/token-accessor.ts';
import { readDetails, type KeptAuthentication } from './authentication.ts';

/** What an API asks of the person's authentication. Give at least one member. */
export interface AuthenticationRequirement {
  /** How old the authentication may be, in seconds; at least 1. */
  readonly maxAge?: number;
  /** The levels of assurance that would do, the preferred one first. */
  readonly acr?: string | readonly string[];
}

declare module '../../resource/token-accessor.ts' {
  interface TokenMembers {
    /**
     * Requires a usable token of a person who authenticated recently enough, or well enough.
     * Otherwise throws an error that becomes a 401 response, which tells the client what to ask for
     * (RFC 9470 section 3). Needs `oauth_server:reauthentication`.
     *
     * @example
     * token().requireScope('payments:write');
     * token().requireAuthentication({ maxAge: 300 });
     */
    requireAuthentication(requirement: AuthenticationRequirement): void;
  }
}

declare module '../../errors.ts' {
  interface BearerErrorCodes {
    /** The person must authenticate again, or in another way (RFC 9470 section 3). */
    readonly insufficient_user_authentication: true;
  }
}

/** RFC 9470 has no word for levels that a quoted string cannot contain. */
const ACR = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** Returns what makes `requireAuthentication`. */
export function makesRequirement(isOn: boolean, clock: () => number): MakesTokenMembers {
  return (token, refuse) => ({
    requireAuthentication(requirement) {
      if (!isOn)
        throw new Error(
          'token().requireAuthentication() needs oauth_server:reauthentication; set it to true',
        );
      const { maxAge, acrValues } = readRequirement(requirement);
      const problem = findProblem(readDetails(token?.details), maxAge, acrValues, clock());
      if (token !== null && problem === null) return;
      refuse({
        code: 'insufficient_user_authentication',
        message: 'The person must authenticate again, or in another way.',
        detail: problem ?? '',
        parameters: {
          ...(acrValues.length === 0 ? {} : { acr_values: acrValues.join(' ') }),
          ...(maxAge === null ? {} : { max_age: String(maxAge) }),
        },
      });
    },
  });
}

/** Throws for a mistake in the handler's code. */
function readRequirement({ maxAge, acr }: AuthenticationRequirement): {
  readonly maxAge: number | null;
  readonly acrValues: readonly string[];
} {
  const acrValues = acr === undefined ? [] : typeof acr === 'string' ? [acr] : acr;
  if (maxAge === undefined && acrValues.length === 0)
    throw new Error('token().requireAuthentication() needs maxAge or acr');
  if (maxAge !== undefined && !(Number.isSafeInteger(maxAge) && maxAge >= 1))
    throw new Error('token().requireAuthentication() needs a maxAge in whole seconds, at least 1');
  if (!acrValues.every((each) => typeof each === 'string' && ACR.test(each)))
    throw new Error(
      'token().requireAuthentication() needs an acr without spaces, quotes, backslashes and non-ASCII characters',
    );
  return { maxAge: maxAge ?? null, acrValues };
}

/** Returns why the authentication is not sufficient, for the log. Null if it is. */
function findProblem(
  known: KeptAuthentication | null,
  maxAge: number | null,
  acrValues: readonly string[],
  now: number,
): string | null {
  if (known === null) return 'the token says nothing about an authentication';
  const { auth_time: time, acr } = known;
  if (maxAge !== null && now - time * 1000 > maxAge * 1000)
    return `the person authenticated ${Math.floor(now / 1000) - time} s ago, at most ${maxAge} s are allowed`;
  if (acrValues.length === 0 || acrValues.includes(acr ?? '')) return null;
  return acr === undefined
    ? 'the authentication has no acr'
    : `the acr of the authentication is ${acr}, which is not one of those needed`;
}
