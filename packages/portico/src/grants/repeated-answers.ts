import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { RefreshToken } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';
import type { PersonalTokenRequest, PreparedTokens } from './issuing.ts';
import type { TokenRequest } from './lost-answers.ts';

/**
 * Repeats the response to an earlier request with these scopes. Throws if the server would now
 * refuse that request.
 */
export type Again = (
  client: Client,
  form: Parameters,
  request: Pick<PersonalTokenRequest, 'family' | 'nonce' | 'thumbprint'>,
  issued: { readonly scopes: readonly string[]; readonly response: TokenResponse },
) => Promise<TokenResponse>;

/**
 * Decides how to respond to the second use of a refresh token. Without this object, every second
 * use is a replay (`replay-response.ts`).
 */
export interface SecondUses {
  /** Encrypts the first response for the store. */
  seal(presented: string, token: RefreshToken, prepared: PreparedTokens, now: number): string;
  /**
   * Returns the first response again, or null if this use is a replay. Throws if the request
   * differs from the first one, or if the server would now refuse it. The authorization then stays
   * active.
   */
  answer(
    request: TokenRequest,
    presented: string,
    token: RefreshToken,
  ): Promise<TokenResponse | null>;
}

/** What the refresh token grant provides to `SecondUses`. */
export interface RefreshRules {
  readonly again: Again;
  /**
   * Throws unless the request is for the same resource and scopes. `scopes` are those of the first
   * use.
   */
  readonly requireSame: (
    client: Client,
    form: Parameters,
    token: RefreshToken,
    scopes: readonly string[],
  ) => void;
}
