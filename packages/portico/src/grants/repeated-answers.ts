import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { RefreshToken } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';
import type { PersonalTokenRequest, PreparedTokens } from './issuing.ts';
import type { TokenRequest } from './lost-answers.ts';

/**
 * Repeats the response to an earlier request that received tokens with these scopes. Throws if the
 * server would now reject that request.
 */
export type Again = (
  client: Client,
  form: Parameters,
  request: Pick<PersonalTokenRequest, 'family' | 'nonce' | 'thumbprint'>,
  issued: { readonly scopes: readonly string[]; readonly response: TokenResponse },
) => Promise<TokenResponse>;

/**
 * Decides how the server responds to the second use of a refresh token. If the server has no such
 * object, every second use is a replay (`replay-response.ts`).
 */
export interface SecondUses {
  /** Encrypts the first response. The store saves the result. */
  seal(presented: string, token: RefreshToken, prepared: PreparedTokens, now: number): string;
  /**
   * Returns the first response again if the client is allowed to repeat this request, or null if
   * this use of the token is a replay. Throws if the server would now reject the request, or if the
   * request differs from the first one. When it throws, the authorization stays active.
   */
  answer(
    request: TokenRequest,
    presented: string,
    token: RefreshToken,
  ): Promise<TokenResponse | null>;
}

/** Functions that the refresh token grant provides to `SecondUses`. */
export interface RefreshRules {
  /** Repeats an earlier response if the server would still accept the request. */
  readonly again: Again;
  /**
   * Throws unless the request is for the same resource and scopes as the first use. `scopes` are
   * the scopes that the first use received.
   */
  readonly requireSame: (
    client: Client,
    form: Parameters,
    token: RefreshToken,
    scopes: readonly string[],
  ) => void;
}
