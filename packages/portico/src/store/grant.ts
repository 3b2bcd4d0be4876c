import type { PersonReference } from '../person.ts';
import type { ClientLook, RegisteredBy } from './client.ts';
import type { Renewal } from './renewal.ts';

/** Who has access: a person, through a client, or the client itself. */
export type Holder = 'person' | 'client';

/**
 * Who starts access: the person or client that gets the access, or an organization that grants
 * access to a person's account.
 */
export type Beginning = Holder | 'organization';

/**
 * Returns the features' grants that start this kind of access, in addition to the grants of RFC
 * 6749.
 */
export type FurtherGrants = (beginning: Beginning) => readonly string[];

/** JSON data that features store with an authorization, by name. Do not store secrets in it. */
export type Details = Readonly<Record<string, unknown>>;

/**
 * A person's authorization, with all codes and tokens issued for it. The authorization is one row
 * in `oauth_families`, which also contains the authorization code and the current refresh token.
 * One write to this row revokes the code and all tokens.
 */
export interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /**
   * The resource that the tokens are for. Null if they are not for a resource. It is set when the
   * person gives consent, and a refresh does not change it.
   */
  readonly audience: string | null;
  /**
   * The thumbprint of the client's key (RFC 9449 sections 5 and 10). The client must prove this key
   * when it uses the authorization code or a refresh token. Null if no key is required.
   */
  readonly thumbprint: string | null;
  /**
   * Whether an earlier refresh token of this authorization worked without the key. An attacker who
   * had stolen that token may have bound the authorization to the attacker's own key.
   */
  readonly isBoundLate?: boolean;
  /** Data of features. A refresh does not change it. Missing if no feature stores data. */
  readonly details?: Details | undefined;
}

/** An authorization that an application has for a person's account. */
export interface Authorization {
  readonly family: Family;
  readonly clientName: string;
  /** The client's currently registered scopes. */
  readonly clientScopes: readonly string[];
  readonly clientRegisteredBy: RegisteredBy;
  readonly clientRedirectUris: readonly string[];
  /** The client's site and logo, as in `Client`. */
  readonly clientLook: ClientLook;
  /** Whether tokens were issued for the authorization's code. */
  readonly redeemed: boolean;
  /** When tokens were last issued, in milliseconds since 1970. Null if none were issued. */
  readonly usedAt: number | null;
  /** When the person or an organization granted access, in milliseconds since 1970. */
  readonly createdAt: number;
}

/**
 * A stored authorization code or refresh token, and the access that it would grant. The server
 * reads it before it decides whether to issue tokens.
 */
export interface StoredGrant {
  readonly hash: string;
  readonly family: Family;
  /** Whether the code or token was used before. */
  readonly used: boolean;
  readonly expiresAt: number;
}

/** An authorization code or token that a client sent. */
export interface OfferedToken {
  /**
   * The id of the token's row, or of its authorization's row. Empty for a malformed token, because
   * no row has an empty id.
   */
  readonly id: string;
  readonly hash: string;
}

export interface OfferedRefreshToken extends OfferedToken {
  /**
   * The hash of the token's mark, a random value in all refresh tokens of one authorization. Null
   * for a malformed token.
   */
  readonly markHash: string | null;
}

export interface RefreshToken extends StoredGrant {
  /** How many times tokens had been issued for the authorization when this row was read. */
  readonly generation: number;
}

/**
 * The response to the last use of a refresh token. The server stores the response in case the
 * client did not receive it and repeats the request (decision 37).
 */
export interface KeptAnswer {
  /** The response, encrypted with the refresh token that was used. */
  readonly sealed: string;
  /**
   * How many times tokens had been issued for the authorization when this row was read. The
   * response can be decrypted only if it is from the last of these times.
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

/** An authorization code, with the parameters that the token request must match. */
export interface AuthorizationCode extends StoredGrant {
  /** The parameters of the code. Null if the code has been used. */
  readonly parameters: CodeParameters | null;
}

/**
 * What the server does if a client uses a code a second time:
 *
 * - `revokes`: it revokes the tokens from the first use.
 * - `refused`: it only rejects the second use. This is for codes that never pass through a browser.
 *   A client may send such a code twice at the same time.
 */
export type SecondCodeUse = 'revokes' | 'refused';

/** The values that the token request must match, and the nonce that the ID token will contain. */
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
 * The result of replacing an authorization's code:
 *
 * - `replaced`: the new code is valid.
 * - `used`: the old code was used before.
 * - `ended`: the authorization has ended, never existed, or does not match.
 */
export type CodeReplacement = 'replaced' | 'used' | 'ended';

export interface NewTokens {
  readonly accessToken: NewAccessToken;
  /** The new refresh token. Null if the client may not have refresh tokens. */
  readonly refreshToken: NewRefreshToken | null;
}

export interface NewRefreshToken {
  readonly hash: string;
  /** The hash of the random value that all refresh tokens of the authorization contain. */
  readonly markHash: string;
  readonly expiresAt: number;
  /** The thumbprint of the key that the token requires. Null if the token requires no key. */
  readonly thumbprint: string | null;
  /** Whether an earlier refresh token of the authorization worked without a key. */
  readonly isBoundLate?: boolean;
}

export interface NewAccessToken {
  /** The token's id. Ids increase with time, so new rows are next to each other in the table. */
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** The thumbprint of the key that the token is bound to. Null if it is not bound. */
  readonly thumbprint: string | null;
}

/** A valid access token and the stored data that limits its use, all read by one statement. */
export interface AccessToken {
  readonly clientId: string;
  /** The id of the token's authorization. Null for a client-credentials token. */
  readonly familyId: string | null;
  readonly scopes: readonly string[];
  /** The client's currently registered scopes. */
  readonly clientScopes: readonly string[];
  /** The name of the client's own profile. Null if the client has none. */
  readonly clientProfile: string | null;
  readonly audience: string | null;
  /** The user that the token was issued for. Null for a client-credentials token. */
  readonly person: PersonReference | null;
  readonly subject: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /**
   * The thumbprint of the key that the caller must prove (RFC 9449). Null if the token is not
   * bound. An unbound token is valid only without a proof.
   */
  readonly thumbprint: string | null;
  /** The details of the token's authorization. Missing if there are none. */
  readonly details?: Details | undefined;
}

/** What is known about an access token that is not valid, for the log. */
export interface DeadToken {
  readonly dead: Death;
  readonly clientId: string | null;
  /** The id of the token's authorization. Null for a client-credentials token. */
  readonly familyId: string | null;
}

/**
 * Why an access token is not valid. A token that was revoked individually is also `unknown`,
 * because its row was deleted.
 */
export type Death =
  | 'unknown'
  | 'expired'
  | 'client revoked'
  | 'authorization revoked'
  /**
   * The client no longer has a grant that starts this kind of access, for example
   * `authorization_code` for access that a person allowed. `refresh_token` is no such grant,
   * because it only continues access.
   */
  | 'grant removed';

/** Why no tokens were issued. */
export type GrantRefusal =
  /**
   * The code or token was used before. All tokens of the authorization are now revoked, including
   * the tokens from the first use (RFC 6749 section 4.1.2, RFC 9700 section 4.14).
   */
  | 'used'
  /** The authorization was already revoked. */
  | 'revoked'
  /** The code was replaced before it was used. This request does not affect the new code. */
  | 'replaced'
  /**
   * The code or token was used before, or the authorization was revoked. This request revokes
   * nothing, because the server may repeat the response to the first use, or because the second use
   * of the code is only `refused` (`SecondCodeUse`).
   */
  | 'taken';

export type GrantOutcome =
  | { readonly issued: true }
  | { readonly issued: false; readonly refusal: GrantRefusal }
  | UnsettledGrant;

/**
 * It is unknown whether tokens were issued: the connection was lost before the store responded, and
 * the store is still unavailable.
 */
export interface UnsettledGrant {
  readonly issued: null;
  /** The store's error. */
  readonly error: unknown;
  /**
   * Returns true if the tokens were issued and are the latest tokens of an active authorization.
   * Returns false if they were not issued and no longer can be, if they are not the latest, or if
   * the authorization has ended. Rejects while the store is unavailable. Call this within an hour
   * after the request, because the rows may be removed after that.
   */
  readonly settle: () => Promise<boolean>;
}
