import type { PersonReference } from '../contracts/person.ts';
import type { Client, RegisteredBy } from './client.ts';

/**
 * One authorization of a person, and everything that descends from it: a row of `oauth_families`, which also keeps its code
 * and its current refresh token. All of it lives only as long as that row is not revoked, so revoking it is one write.
 */
export interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /** Decided when the person consented, kept through every refresh. */
  readonly audience: string | null;
  /** The key that its code, and then its refresh token, is good for alone (RFC 9449 sections 5 and 10); null for none. */
  readonly thumbprint: string | null;
  /** Whether refresh tokens were good without that key before: a thief may have been the one who bound it. */
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
  /** Its site and logo, as `Client`. */
  readonly clientLook: Pick<Client, 'siteUri' | 'logoHash'>;
  /** Whether tokens were issued for its code. */
  readonly redeemed: boolean;
  /** When tokens were last issued; null for one that was issued none. */
  readonly usedAt: number | null;
  /** When the person allowed it. */
  readonly createdAt: number;
}

/** A code or refresh token with what it would give, read before anything is decided. */
export interface StoredGrant {
  readonly hash: string;
  readonly family: Family;
  /** Whether it was used before. */
  readonly used: boolean;
  readonly expiresAt: number;
}

/** What was offered as a code or token. */
export interface OfferedToken {
  /** The key of the row that it names: its own, or its family's. Empty for a text of another form, and no row has that key. */
  readonly id: string;
  readonly hash: string;
}

export interface OfferedRefreshToken extends OfferedToken {
  /** The hash of the mark in it; null for a text of another form. */
  readonly markHash: string | null;
}

export interface RefreshToken extends StoredGrant {
  /** How often its family was issued tokens when it was read. */
  readonly generation: number;
}

/** What a family keeps of the last use of its refresh token, for the same request that comes again (decision 37). */
export interface KeptAnswer {
  /** Sealed with the token that was used. */
  readonly sealed: string;
  /** Of the tokens in it, as `RefreshToken`. */
  readonly generation: number;
  readonly usedAt: number;
  /** The hash of the refresh token that is in use now: the one in the answer, unless that was used too. */
  readonly currentHash: string;
  /** When that one expires. */
  readonly expiresAt: number;
}

/** An authorization code, and what its exchange must match. */
export interface AuthorizationCode extends StoredGrant {
  /** Null once the code is spent. */
  readonly parameters: CodeParameters | null;
}

/** What the exchange of a code must match, and what it hands on. */
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
 * What became of giving an authorization another code: its code was `used`, or it has `ended`, was never there, or is not as
 * it was said to be.
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
  /** The key that it is good for alone; null for none. */
  readonly thumbprint: string | null;
  /** Whether one before it was good without a key. */
  readonly isBoundLate?: boolean;
}

export interface NewAccessToken {
  /** Ids grow with time, so that new rows follow each other in the table. */
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /** The key that it is bound to; null for none. */
  readonly thumbprint: string | null;
}

/** A live access token with all that decides on it, read in one statement. */
export interface AccessToken {
  readonly clientId: string;
  /** The authorization that it is of; null for a client-credentials token. */
  readonly familyId: string | null;
  readonly scopes: readonly string[];
  /** The client's scopes as registered now. */
  readonly clientScopes: readonly string[];
  /** The profile that the client is held to by itself; null for none. */
  readonly clientProfile: string | null;
  readonly audience: string | null;
  /** Null for a client-credentials token. */
  readonly person: PersonReference | null;
  readonly subject: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The key that whoever presents it has to prove (RFC 9449): it is no token without that proof, and none with one when this is null. */
  readonly thumbprint: string | null;
}

/** What was found of an access token that is none any more: for the log. */
export interface DeadToken {
  readonly dead: Death;
  readonly clientId: string | null;
  /** The authorization that it was of. */
  readonly familyId: string | null;
}

/** Why there is no live access token of a hash. A token that was revoked by itself is deleted, so unknown. */
export type Death =
  | 'unknown'
  | 'expired'
  | 'client revoked'
  | 'authorization revoked'
  /** The client is not registered any more for `client_credentials`, or for `authorization_code`, whose tokens a refresh only renews. */
  | 'grant removed';

/** Why no tokens were issued. */
export type GrantRefusal =
  /** It was used before, so the family is revoked now, with what the first use gave (RFC 6749 4.1.2, RFC 9700 4.14). */
  | 'used'
  /** The family was revoked before. */
  | 'revoked'
  /** The code was replaced by another before it was used; that one stays good. */
  | 'replaced'
  /** It was used before, or the family was revoked, and nothing was done about it: another use may have the answer to this one. */
  | 'taken';

export type GrantOutcome =
  { readonly issued: true } | { readonly issued: false; readonly refusal: GrantRefusal } | UnsettledGrant;

/** The store was lost before it could answer and stays away: nobody knows whether the tokens were issued. */
export interface UnsettledGrant {
  readonly issued: null;
  /** What the store failed with. */
  readonly error: unknown;
  /**
   * Whether they were issued, and are the last that their family was issued, which still lives; if not, they never will be. Rejects as
   * long as the store is away. For as long as their rows stay: an hour after the request, at least.
   */
  readonly settle: () => Promise<boolean>;
}
