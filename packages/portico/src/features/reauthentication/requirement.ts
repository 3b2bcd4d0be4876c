import {
  authenticationProblem,
  demandParameters,
  readRequirement,
  type AuthenticationRequirement,
} from '../../resource/authentication-requirement.ts';
import type { MakesTokenMembers } from '../../resource/token-accessor.ts';
import { readDetails } from './authentication.ts';

declare module '../../resource/token-accessor.ts' {
  interface TokenMembers {
    /**
     * Throws unless the token is usable and its user's authentication meets the requirement: recent
     * enough, and at an accepted level of assurance. The error becomes a 401 response that tells
     * the client what to request (RFC 9470 section 3). Requires `oauth_server:reauthentication`.
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
    /** The user must authenticate again or by another method (RFC 9470 section 3). */
    readonly insufficient_user_authentication: true;
  }
}

/** Adds the method `requireAuthentication` to a token. */
export function makesRequirement(isOn: boolean, clock: () => number): MakesTokenMembers {
  return (token, refuse) => ({
    requireAuthentication(requirement) {
      if (!isOn)
        throw new Error(
          'token().requireAuthentication() needs oauth_server:reauthentication; set it to true',
        );
      const demand = readRequirement(requirement);
      const problem = authenticationProblem(readDetails(token?.details), demand, clock());
      if (token !== null && problem === null) return;
      refuse({
        code: 'insufficient_user_authentication',
        message: 'The person must authenticate again, or in another way.',
        detail: problem ?? '',
        parameters: demandParameters(demand),
      });
    },
  });
}
