import type { Acting } from '../auditing/audit.ts';
import type { InitialAccessToken } from '../store/client.ts';

/**
 * The initial access tokens of this server (RFC 7591 section 1.2), for console commands. `create`
 * and `revoke` take `acting`, the administrator who makes the change. The audit event names this
 * administrator. Without `acting`, it names no administrator.
 */
export interface InitialAccessTokens {
  /**
   * Creates a token. Throws a RegistrationError with an explanation if the options are not valid.
   */
  create(options: NewInitialAccessToken, acting?: Acting): Promise<CreatedInitialAccessToken>;
  /** Returns all stored tokens, including those that have been used, oldest first. */
  list(): Promise<readonly InitialAccessToken[]>;
  /**
   * Revokes a token. Clients that have registered with the token keep working. Throws a
   * RegistrationError if the token is unknown.
   */
  revoke(id: string, acting?: Acting): Promise<void>;
}

/** The options for a new initial access token. */
export interface NewInitialAccessToken {
  /** How many clients can register with the token, from 1 to 1000000. Defaults to 1. */
  readonly uses?: number;
  /** How long the token is valid, in seconds, up to one year. Defaults to 86400 (one day). */
  readonly lifetime?: number;
  /** A note of one line that says who the token is for, up to 200 characters. Defaults to none. */
  readonly note?: string;
}

/**
 * A new initial access token. Show the token immediately, because the server stores only its hash.
 */
export interface CreatedInitialAccessToken extends InitialAccessToken {
  /** The token: 256 random bits, base64url. */
  readonly token: string;
}

/** Returns true if a client can register with at least one of these tokens now. */
export async function hasUsable(tokens: InitialAccessTokens, now: number): Promise<boolean> {
  return (await tokens.list()).some(({ usesLeft, expiresAt }) => usesLeft > 0 && expiresAt > now);
}

const refuse = () =>
  Promise.reject(new Error('This server has no feature that uses initial access tokens'));

/** For a server without a feature for initial access tokens. */
export const NO_INITIAL_ACCESS_TOKENS: InitialAccessTokens = {
  create: refuse,
  list: async () => [],
  revoke: refuse,
};
