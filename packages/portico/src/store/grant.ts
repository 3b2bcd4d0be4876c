import type { PersonReference } from '../contracts/person.ts';
import type { ClientLook, RegisteredBy } from './client.ts';

/** Whose access it is: of a person, through a client, or of the client itself. */
export type Holder = 'person' | 'client';

/** The grants of features with which such access begins, besides those of RFC 6749. */
export type FurtherGrants = (holder: Holder) => readonly string[];

/**
 * One authorization of a person, and everything issued from it: a row of `oauth_families`, which
 * also has its code and its current refresh token. All of it is valid only while that row is not
 * revoked, so one write revokes everything.
 */
export interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /** Decided when the person consented. Stays the same through every refresh. */
  readonly audience: string | null;
  /**
   * The key that its code and then its refresh token require (RFC 9449 sections 5 and 10), or null.
   */
  readonly thumbprint: string | null;
  /** Whether earlier refresh tokens worked without that key. If so, a thief may have bound it. */
  readonly isBoundLate?: boolean;
}

/** What a person has allowed an application. */
export interface Authorization {
  readonly family: Family;
  readonly clientName: string;
  /** The client's scopes as registered now. */
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

/** A code or refresh token with what it would grant, read before any decision. */
export interface StoredGrant {
  readonly hash: string;
  readonly family: Family;
  /** Whether it was used before. */
  readonly used: boolean;
  readonly expiresAt: number;
}

/** What was presented as a code or token. */
export interface OfferedToken {
  /**
   * The key of its row: its own, or its family's. Empty for a malformed text; no row has that key.
   */
  readonly id: string;
  readonly hash: string;
}

export interface OfferedRefreshToken extends OfferedToken {
  /** The hash of the mark in it. Null for a malformed text. */
  readonly markHash: string | null;
}

export interface RefreshToken extends StoredGrant {
  /** How often its family had been issued tokens when it was read. */
  readonly generation: number;
}

/**
 * What a family keeps of the last use of its refresh token, in case the same request comes again
 * (decision 37).
 */
export interface KeptAnswer {
  /** Encrypted with the token that was used. */
  readonly sealed: string;
  /** Of the tokens in it, as in `RefreshToken`. */
  readonly generation: number;
  readonly usedAt: number;
  /** The hash of the current refresh token: the one in the answer, unless that was used too. */
  readonly currentHash: string;
  /** When the current refresh token expires. */
  readonly expiresAt: number;
}

/** An authorization code, and what its exchange must match. */
export interface AuthorizationCode extends StoredGrant {
  /** Null once the code is spent. */
  readonly parameters: CodeParameters | null;
}

/** What the exchange of a code must match, and what it passes on. */
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
 * The result of replacing an authorization's code. `used`: its code was used. `ended`: the
 * authorization has ended, never existed, or does not match the description.
 */
export type CodeReplacement = 'replaced' | 'used' | 'ended';

export interface NewTokens {
  readonly accessToken: NewAccessToken;
  /** Null when the client may not refresh. */
  readonly refreshToken: NewRefreshToken | null;
}

export interface NewRefreshToken {
  readonly hash: string;
  /** The hash of the mark that all refresh tokens of the family share. */
  readonly markHash: string;
  readonly expiresAt: number;
  /** The key that it requires, or null. */
  readonly thumbprint: string | null;
  /** Whether an earlier one worked without a key. */
  readonly isBoundLate?: boolean;
}

export interface NewAccessToken {
  /** Ids grow with time, so that new rows are next to each other in the table. */
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** The key that it is bound to, or null. */
  readonly thumbprint: string | null;
}

/** A live access token with everything that decides on it, read in one statement. */
export interface AccessToken {
  readonly clientId: string;
  /** Its authorization. Null for a client-credentials token. */
  readonly familyId: string | null;
  readonly scopes: readonly string[];
  /** The client's scopes as registered now. */
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
   * The key that the caller must prove (RFC 9449). With a key, the token is invalid without the
   * proof; without a key, it is invalid with a proof.
   */
  readonly thumbprint: string | null;
}

/** What is known about an access token that is no longer valid, for the log. */
export interface DeadToken {
  readonly dead: Death;
  readonly clientId: string | null;
  /** The authorization that it belonged to. */
  readonly familyId: string | null;
}

/**
 * Why there is no live access token with a hash. A token that was revoked individually is deleted,
 * and so unknown.
 */
export type Death =
  | 'unknown'
  | 'expired'
  | 'client revoked'
  | 'authorization revoked'
  /**
   * The client is no longer registered for `client_credentials`, or for `authorization_code`, whose
   * tokens a refresh only renews.
   */
  | 'grant removed';

/** Why no tokens were issued. */
export type GrantRefusal =
  /**
   * It was used before. The family is now revoked, including the tokens of the first use (RFC 6749
   * 4.1.2, RFC 9700 4.14).
   */
  | 'used'
  /** The family was already revoked. */
  | 'revoked'
  /** The code was replaced before it was used. The new code stays valid. */
  | 'replaced'
  /**
   * It was used before, or the family was revoked. Nothing was revoked now: another use may have
   * the answer to this one.
   */
  | 'taken';

export type GrantOutcome =
  { readonly issued: true } | { readonly issued: false; readonly refusal: GrantRefusal } | UnsettledGrant;

/**
 * The connection was lost before the store answered, and the store stays away. It is unknown
 * whether the tokens were issued.
 */
export interface UnsettledGrant {
  readonly issued: null;
  /** The store's error. */
  readonly error: unknown;
  /**
   * Whether the tokens were issued, are the family's latest, and the family still lives. False
   * means that they never will be issued. Rejects while the store is away. Works while the rows
   * exist: at least an hour after the request.
   */
  readonly settle: () => Promise<boolean>;
}
