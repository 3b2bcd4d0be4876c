import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { RefreshToken } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';
import type { PersonalTokenRequest, PreparedTokens } from './issuing.ts';
import type { TokenRequest } from './lost-answers.ts';

/**
 * Returns the response again to a request for which tokens with these scopes were issued. Applies
 * the grant's current rules, and throws if the grant would refuse the request now.
 */
export type Again = (
  client: Client,
  form: Parameters,
  request: Pick<PersonalTokenRequest, 'family' | 'nonce' | 'thumbprint'>,
  issued: { readonly scopes: readonly string[]; readonly response: TokenResponse },
) => Promise<TokenResponse>;

/**
 * Decides how the server responds to a second use of a refresh token. Without it, every second use
 * is a replay (`replay.ts`).
 */
export interface SecondUses {
  /** Returns what the store keeps about the first response. */
  seal(presented: string, token: RefreshToken, prepared: PreparedTokens, now: number): string;
  /**
   * Returns the first response again if it may be repeated, or null if this use is a replay. Throws
   * if the request would be refused now or differs from the first one. In that case, nothing is
   * ended.
   */
  answer(
    request: TokenRequest,
    presented: string,
    token: RefreshToken,
  ): Promise<TokenResponse | null>;
}

/** The functions that the refresh token grant provides for handling second uses. */
export interface RefreshRules {
  /** Repeats an earlier response under the current rules. */
  readonly again: Again;
  /**
   * Throws unless the request asks for the same resource and scopes as the first use, which got
   * these scopes.
   */
  readonly requireSame: (
    client: Client,
    form: Parameters,
    token: RefreshToken,
    scopes: readonly string[],
  ) => void;
}
