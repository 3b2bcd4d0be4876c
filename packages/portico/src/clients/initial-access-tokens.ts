import type { Acting } from '../auditing/audit.ts';
import type { InitialAccessToken } from '../store/client.ts';

/**
 * This server's initial access tokens (RFC 7591 section 1.2), for console commands. `create` and
 * `revoke` take `acting`, the administrator who makes the change, for the audit event. Without
 * `acting`, the event names no administrator.
 */
export interface InitialAccessTokens {
  /** Creates a token. Throws a RegistrationError that explains the problem. */
  create(options: NewInitialAccessToken, acting?: Acting): Promise<CreatedInitialAccessToken>;
  /** Returns all stored tokens, including used tokens, oldest first. */
  list(): Promise<readonly InitialAccessToken[]>;
  /**
   * Revokes a token. Clients that registered with it keep working. Throws a RegistrationError if
   * the token is unknown.
   */
  revoke(id: string, acting?: Acting): Promise<void>;
}

/** The options for a new initial access token. */
export interface NewInitialAccessToken {
  /** How many clients can register with the token. Defaults to 1. */
  readonly uses?: number;
  /** The token's lifetime, in seconds. Defaults to 86400 (a day). */
  readonly lifetime?: number;
  /** A note about who the token is for. Defaults to no note. */
  readonly note?: string;
}

/** A new initial access token. Show the token now, because the server stores only its hash. */
export interface CreatedInitialAccessToken extends InitialAccessToken {
  /** 256 random bits, base64url. */
  readonly token: string;
}

/** Whether a client can register with one of these tokens now. */
export async function hasUsable(tokens: InitialAccessTokens, now: number): Promise<boolean> {
  return (await tokens.list()).some(({ usesLeft, expiresAt }) => usesLeft > 0 && expiresAt > now);
}

const refuse = () =>
  Promise.reject(new Error('This server has no feature that uses initial access tokens'));

/**
 * The tokens of a server without a feature for initial access tokens. The list is empty, and the
 * other methods reject.
 */
export const NO_INITIAL_ACCESS_TOKENS: InitialAccessTokens = {
  create: refuse,
  list: async () => [],
  revoke: refuse,
};
