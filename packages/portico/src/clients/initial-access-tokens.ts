import type { Acting } from '../auditing/audit.ts';
import type { InitialAccessToken } from '../store/client.ts';

/**
 * The initial access tokens of this server (RFC 7591 section 1.2), for console commands. A method
 * that makes or ends one takes the person who does it, for the audit event; without it, the event
 * names no one.
 */
export interface InitialAccessTokens {
  /** Makes one; throws a RegistrationError that says what is wrong. */
  create(options: NewInitialAccessToken, acting?: Acting): Promise<CreatedInitialAccessToken>;
  /** All that are stored, also those that are used up, oldest first. */
  list(): Promise<readonly InitialAccessToken[]>;
  /** Ends one; clients that it has registered stay. Throws a RegistrationError if it is unknown. */
  revoke(id: string, acting?: Acting): Promise<void>;
}

/** What an operator says of a new initial access token. */
export interface NewInitialAccessToken {
  /** How many clients may register with it; 1 unless given. */
  readonly uses?: number;
  /** How long it lives, in seconds; a day unless given. */
  readonly lifetime?: number;
  /** Who it is for; nothing unless given. */
  readonly note?: string;
}

/** A new initial access token: shown once, kept only as a hash. */
export interface CreatedInitialAccessToken extends InitialAccessToken {
  /** 256 random bits, base64url. */
  readonly token: string;
}

/** Whether a client can register with one of them now. */
export async function hasUsable(tokens: InitialAccessTokens, now: number): Promise<boolean> {
  return (await tokens.list()).some(({ usesLeft, expiresAt }) => usesLeft > 0 && expiresAt > now);
}

const refuse = () => Promise.reject(new Error('No feature of this server has initial access tokens'));

/** For a server without a feature for them. */
export const NO_INITIAL_ACCESS_TOKENS: InitialAccessTokens = {
  create: refuse,
  list: async () => [],
  revoke: refuse,
};
