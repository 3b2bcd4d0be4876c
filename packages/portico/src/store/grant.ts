import type { PersonReference } from '../person.ts';
import type { ClientLook, RegisteredBy } from './client.ts';
import type { Renewal } from './renewal.ts';

/** A person, through a client, or the client itself. */
export type Holder = 'person' | 'client';

/** Who starts access. An organization can grant access to a person's account. */
export type Beginning = Holder | 'organization';

/** Returns the grants of features that start this kind of access. */
export type FurtherGrants = (beginning: Beginning) => readonly string[];

/** JSON data of features, stored with an authorization. Do not store secrets in it. */
export type Details = Readonly<Record<string, unknown>>;

/**
 * A person's authorization, with all codes and tokens issued for it. It is one row in
 * `oauth_families`, with the code and the current refresh token. One write to this row revokes all
 * of them.
 */
export interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /**
   * The resource of the tokens, or null. It is set at consent, and a refresh does not change it.
   */
  readonly audience: string | null;
  /**
   * The thumbprint of the key that the client must prove when it uses the code or a refresh token
   * (RFC 9449 sections 5 and 10). Null if no key is required.
   */
  readonly thumbprint: string | null;
  /**
   * True if an earlier refresh token of this authorization worked without the key. An attacker with
   * that token may have bound the authorization to their own key.
   */
  readonly isBoundLate?: boolean;
  /** Data of features. A refresh does not change it. */
  readonly details?: Details | undefined;
}

/** An authorization that a client has for a person's account. */
export interface Authorization {
  readonly family: Family;
  readonly clientName: string;
  /** The client's currently registered scopes. */
  readonly clientScopes: readonly string[];
  readonly clientRegisteredBy: RegisteredBy;
  readonly clientRedirectUris: readonly string[];
  /** The client's site and logo, as in `Client`. */
  readonly clientLook: ClientLook;
  /** True if tokens were issued for the code. */
  readonly redeemed: boolean;
  /** When tokens were last issued, in milliseconds since 1970, or null. */
  readonly usedAt: number | null;
  /** When access was granted, in milliseconds since 1970. */
  readonly createdAt: number;
}

/**
 * A stored authorization code or refresh token. The server reads it before it decides whether to
 * issue tokens.
 */
export interface StoredGrant {
  readonly hash: string;
  readonly family: Family;
  readonly used: boolean;
  readonly expiresAt: number;
}

export interface OfferedToken {
  /**
   * The id of the row of the token or its authorization. Empty for a malformed token: no row has an
   * empty id.
   */
  readonly id: string;
  readonly hash: string;
}

export interface OfferedRefreshToken extends OfferedToken {
  /**
   * The hash of the mark, a random value in all refresh tokens of one authorization. Null for a
   * malformed token.
   */
  readonly markHash: string | null;
}

export interface RefreshToken extends StoredGrant {
  /** How many times tokens had been issued when this row was read. */
  readonly generation: number;
}

/**
 * The response to the last use of a refresh token. The client may not have received it, and may
 * repeat the request (decision 37).
 */
export interface KeptAnswer {
  /** Encrypted with the refresh token that was used. */
  readonly sealed: string;
  /**
   * How many times tokens had been issued when this row was read. The response can be decrypted
   * only if it is from the last of these times.
   */
  readonly generation: number;
  readonly usedAt: number;
  /**
   * The hash of the current refresh token. This is the token in the response, unless the client has
   * already used that token.
   */
  readonly currentHash: string;
  /** When the current refresh token expires. */
  readonly expiresAt: number;
}

/** With the parameters that the token request must match. */
export interface AuthorizationCode extends StoredGrant {
  /** Null if the code was used. */
  readonly parameters: CodeParameters | null;
}

/**
 * What the server does if a client uses a code a second time:
 *
 * - `revokes`: it revokes the tokens from the first use.
 * - `refused`: it only refuses the second use. This is for codes that never pass through a browser.
 *   A client may send such a code twice at the same time.
 */
export type SecondCodeUse = 'revokes' | 'refused';

/** What the token request must match, and the nonce for the ID token. */
export interface CodeParameters extends Renewal {
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly nonce: string | null;
}

export interface NewCode {
  readonly hash: string;
  readonly expiresAt: number;
  readonly parameters: CodeParameters;
}

/**
 * - `replaced`: the new code is valid.
 * - `used`: the old code was used before.
 * - `ended`: the authorization has ended, never existed, or does not match.
 */
export type CodeReplacement = 'replaced' | 'used' | 'ended';

export interface NewTokens {
  readonly accessToken: NewAccessToken;
  /** Null if the client may not have refresh tokens. */
  readonly refreshToken: NewRefreshToken | null;
}

export interface NewRefreshToken {
  readonly hash: string;
  /** The hash of the random value in all refresh tokens of the authorization. */
  readonly markHash: string;
  readonly expiresAt: number;
  /** Null if the token requires no key. */
  readonly thumbprint: string | null;
  /** True if an earlier refresh token of the authorization worked without a key. */
  readonly isBoundLate?: boolean;
}

export interface NewAccessToken {
  /** Ids increase with time, so new rows are next to each other in the table. */
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** Null if the token is not bound to a key. */
  readonly thumbprint: string | null;
}

/** A valid access token and the data that limits its use. One statement reads all of it. */
export interface AccessToken {
  readonly clientId: string;
  /** Null for a client-credentials token. */
  readonly familyId: string | null;
  readonly scopes: readonly string[];
  /** The client's currently registered scopes. */
  readonly clientScopes: readonly string[];
  /** The client's own profile, or null. */
  readonly clientProfile: string | null;
  readonly audience: string | null;
  /** Null for a client-credentials token. */
  readonly person: PersonReference | null;
  readonly subject: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /**
   * The thumbprint of the key that the caller must prove (RFC 9449). Null if the token is not
   * bound. It is then valid only without a proof.
   */
  readonly thumbprint: string | null;
  readonly details?: Details | undefined;
}

/** An access token that is not valid, for the log. */
export interface DeadToken {
  readonly dead: Death;
  readonly clientId: string | null;
  /** Null for a client-credentials token. */
  readonly familyId: string | null;
}

/**
 * Why an access token is not valid. A token that was revoked alone is `unknown` too: its row was
 * deleted.
 */
export type Death =
  | 'unknown'
  | 'expired'
  | 'client revoked'
  | 'authorization revoked'
  /**
   * The client no longer has a grant that starts this kind of access, for example
   * `authorization_code`. `refresh_token` only continues access.
   */
  | 'grant removed';

/** Why no tokens were issued. */
export type GrantRefusal =
  /**
   * The code or token was used before. All tokens of the authorization are now revoked, even those
   * from the first use (RFC 6749 section 4.1.2, RFC 9700 section 4.14).
   */
  | 'used'
  /** The authorization was already revoked. */
  | 'revoked'
  /** The code was replaced before it was used. The new code is not affected. */
  | 'replaced'
  /**
   * The code or token was used before, or the authorization was revoked. This request revokes
   * nothing. The server may repeat the response to the first use, or the second use is only
   * `refused` (`SecondCodeUse`).
   */
  | 'taken';

export type GrantOutcome =
  | { readonly issued: true }
  | { readonly issued: false; readonly refusal: GrantRefusal }
  | UnsettledGrant;

/**
 * The connection was lost before the store responded, and the store is still unavailable. The
 * tokens may have been issued.
 */
export interface UnsettledGrant {
  readonly issued: null;
  readonly error: unknown;
  /**
   * Returns true if the tokens were issued and are the latest of an active authorization. Otherwise
   * returns false. They can then no longer be issued. Rejects while the store is unavailable.
   *
   * Call this within an hour after the request. Later, the rows may be removed.
   */
  readonly settle: () => Promise<boolean>;
}
