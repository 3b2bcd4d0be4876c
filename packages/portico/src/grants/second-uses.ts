import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { RefreshToken } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';
import type { PersonalTokenRequest, PreparedTokens } from './issuing.ts';
import type { TokenRequest } from './lost-answers.ts';

/**
 * The response to a request for which tokens with these scopes were issued, as the grant would give
 * it now. Refuses, as the grant does, what it would no longer give.
 */
export type Again = (
  client: Client,
  form: Parameters,
  request: Pick<PersonalTokenRequest, 'family' | 'nonce' | 'thumbprint'>,
  issued: { readonly scopes: readonly string[]; readonly response: TokenResponse },
) => Promise<TokenResponse>;

/**
 * Decides what a second use of a refresh token gets. Without it, a second use is a replay
 * (`replay.ts`).
 */
export interface SecondUses {
  /** What the store keeps of the answer to the first use. */
  seal(presented: string, token: RefreshToken, prepared: PreparedTokens, now: number): string;
  /**
   * The answer of the first use, if it may be repeated; null if this use is a replay. Throws for a
   * request that would be refused now, or that differs from the first one; that ends nothing.
   */
  answer(request: TokenRequest, presented: string, token: RefreshToken): Promise<TokenResponse | null>;
}

/** What the refresh token grant provides for decisions about second uses. */
export interface RefreshRules {
  /** Repeats an earlier answer under the current rules. */
  readonly again: Again;
  /** Throws unless the request asks for the same as the use that was answered with these scopes. */
  readonly requireSame: (
    client: Client,
    form: Parameters,
    token: RefreshToken,
    scopes: readonly string[],
  ) => void;
}
