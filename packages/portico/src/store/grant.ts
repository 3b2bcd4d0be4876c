import type { PersonReference } from '../person.ts';
import type { ClientLook, RegisteredBy } from './client.ts';

/** Who has the access: a person, through a client, or the client itself. */
export type Holder = 'person' | 'client';

/** How access begins: by the holder, or because an organization gave it to a person's account. */
export type Beginning = Holder | 'organization';

/** Returns the features' grants with which such access begins, in addition to those of RFC 6749. */
export type FurtherGrants = (beginning: Beginning) => readonly string[];

/** JSON data that features keep with an authorization, by name. Contains no secret. */
export type Details = Readonly<Record<string, unknown>>;

/**
 * A person's authorization, and everything issued from it. It is a row in `oauth_families`,
 * together with its code and its current refresh token. All of this is valid only while the row is
 * not revoked, so one write revokes everything.
 */
export interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /** Set when the person consented. A refresh does not change it. */
  readonly audience: string | null;
  /**
   * The thumbprint of the key that the code and then the refresh token require (RFC 9449 sections 5
   * and 10), or null.
   */
  readonly thumbprint: string | null;
  /**
   * Whether earlier refresh tokens worked without that key. If so, a thief may have bound the
   * family to the key.
   */
  readonly isBoundLate?: boolean;
  /** Set when the person was asked. A refresh does not change it. Missing for none. */
  readonly details?: Details | undefined;
}

/** An authorization that a person gave an application. */
export interface Authorization {
  readonly family: Family;
  readonly clientName: string;
  /** The client's currently registered scopes. */
  readonly clientScopes: readonly string[];
  readonly clientRegisteredBy: RegisteredBy;
  readonly clientRedirectUris: readonly string[];
  /** The client's site and logo, as in `Client`. */
  readonly clientLook: ClientLook;
  /** Whether its code was exchanged for tokens. */
  readonly redeemed: boolean;
  /** When tokens were last issued. Null if never. */
  readonly usedAt: number | null;
  /** When the person allowed it. */
  readonly createdAt: number;
}

/** A code or refresh token and what it would grant, read before the server decides about it. */
export interface StoredGrant {
  readonly hash: string;
  readonly family: Family;
  /** Whether it was used before. */
  readonly used: boolean;
  readonly expiresAt: number;
}

/** A code or token that a client presented. */
export interface OfferedToken {
  /**
   * The row's id: the token's own, or its family's. Empty for a malformed text; no row has an empty
   * id.
   */
  readonly id: string;
  readonly hash: string;
}

export interface OfferedRefreshToken extends OfferedToken {
  /** The hash of the mark in the token. Null for a malformed text. */
  readonly markHash: string | null;
}

export interface RefreshToken extends StoredGrant {
  /** How often tokens had been issued to the family when this was read. */
  readonly generation: number;
}

/**
 * The response to the last use of a family's refresh token, stored in case the same request comes
 * again (decision 37).
 */
export interface KeptAnswer {
  /** The response, encrypted with the token that was used. */
  readonly sealed: string;
  /** The generation of the tokens in the response, as in `RefreshToken`. */
  readonly generation: number;
  readonly usedAt: number;
  /**
   * The hash of the current refresh token. This is the token in the response, unless the client has
   * used that one too.
   */
  readonly currentHash: string;
  /** When the current refresh token expires. */
  readonly expiresAt: number;
}

/** An authorization code, and the parameters that its exchange must match. */
export interface AuthorizationCode extends StoredGrant {
  /** Null if the code is spent. */
  readonly parameters: CodeParameters | null;
}

/**
 * What a second use of a code does: it revokes what the first one got, or it is only refused. The
 * latter is for codes that never pass a browser, and that a client may send twice at once.
 */
export type SecondCodeUse = 'revokes' | 'refused';

/** The parameters that a code's exchange must match, and those that it passes on. */
export interface CodeParameters {
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
 * The result of replacing an authorization's code. `used`: the code was used. `ended`: the
 * authorization has ended, never existed, or does not match the description.
 */
export type CodeReplacement = 'replaced' | 'used' | 'ended';

export interface NewTokens {
  readonly accessToken: NewAccessToken;
  /** Null if the client may not refresh. */
  readonly refreshToken: NewRefreshToken | null;
}

export interface NewRefreshToken {
  readonly hash: string;
  /** The hash of the mark that all refresh tokens of the family share. */
  readonly markHash: string;
  readonly expiresAt: number;
  /** The thumbprint of the key that the token requires, or null. */
  readonly thumbprint: string | null;
  /** Whether an earlier refresh token worked without a key. */
  readonly isBoundLate?: boolean;
}

export interface NewAccessToken {
  /** The id. Ids grow with time, so that new rows are next to each other in the table. */
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** The thumbprint of the key that the token is bound to, or null. */
  readonly thumbprint: string | null;
}

/** A valid access token with all data that decides what it allows, read in one statement. */
export interface AccessToken {
  readonly clientId: string;
  /** The token's authorization. Null for a client-credentials token. */
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
   * The thumbprint of the key that the caller must prove (RFC 9449). With a key, the token is only
   * valid with a proof. Without a key, it is only valid without a proof.
   */
  readonly thumbprint: string | null;
  /** The details of its authorization. Missing for none. */
  readonly details?: Details | undefined;
}

/** Data about an access token that is no longer valid, for the log. */
export interface DeadToken {
  readonly dead: Death;
  readonly clientId: string | null;
  /** The authorization that it belonged to. */
  readonly familyId: string | null;
}

/**
 * Why an access token is not valid. An individually revoked token is deleted, and so it is unknown.
 */
export type Death =
  | 'unknown'
  | 'expired'
  | 'client revoked'
  | 'authorization revoked'
  /**
   * The client is no longer registered for the grant with which the access began:
   * `client_credentials` or `authorization_code`. A refresh only renews the tokens of the latter.
   */
  | 'grant removed';

/** Why no tokens were issued. */
export type GrantRefusal =
  /**
   * The code or token was used before. The family is now revoked, including the tokens from the
   * first use (RFC 6749 4.1.2, RFC 9700 4.14).
   */
  | 'used'
  /** The family was already revoked. */
  | 'revoked'
  /** The code was replaced before it was used. The new code stays valid. */
  | 'replaced'
  /**
   * The code or token was used before, or the family was revoked. This use revoked nothing, because
   * another use may have the response to this one.
   */
  | 'taken';

export type GrantOutcome =
  | { readonly issued: true }
  | { readonly issued: false; readonly refusal: GrantRefusal }
  | UnsettledGrant;

/**
 * The connection was lost before the store answered, and the store is still unavailable. It is
 * unknown whether the tokens were issued.
 */
export interface UnsettledGrant {
  readonly issued: null;
  /** The store's error. */
  readonly error: unknown;
  /**
   * Returns whether the tokens were issued, are the family's latest, and the family still lives.
   * False means that they never will be issued. Rejects while the store is unavailable. Works while
   * the rows exist: at least an hour after the request.
   */
  readonly settle: () => Promise<boolean>;
}
