import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { RefreshToken } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';
import type { PreparedTokens } from './issuing.ts';
import type { TokenRequest } from './lost-answers.ts';
import type { Again } from './outcome.ts';

/** Decides what a second use of a refresh token gets. Without it, a second use is a replay. */
export interface SecondUses {
  /** What the store keeps of the answer to the first use. */
  seal(presented: string, token: RefreshToken, prepared: PreparedTokens, now: number): string;
  /**
   * The answer of the first use, if it may be given again; null if this use is a replay. Throws for a request that would be refused now, or
   * that asks for something else than the first one. Nothing ends by that.
   */
  answer(request: TokenRequest, presented: string, token: RefreshToken): Promise<TokenResponse | null>;
}

/** What the refresh token grant gives to what decides about second uses. */
export interface RefreshRules {
  /** Answers a request with what an earlier one was given, under the rules of this moment. */
  readonly again: Again;
  /** Throws unless the request asks for what a use was given that was answered with these scopes. */
  readonly requireSame: (
    client: Client,
    form: Parameters,
    token: RefreshToken,
    scopes: readonly string[],
  ) => void;
}
