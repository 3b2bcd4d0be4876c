import type { PersonReference } from '../../contracts/person.ts';

/** What a client may be granted: grant types of RFC 6749, and the right to ask the introspection endpoint. */
export type Grant = 'authorization_code' | 'refresh_token' | 'client_credentials' | 'introspection';

/** What an ID token may be signed with (RFC 7518 section 3.1, RFC 8037 section 3.1; EdDSA with Ed25519). */
export type SigningAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** A registered application. Times are milliseconds since 1970 in all of this file. */
export interface Client {
  /** Never changes. */
  readonly id: string;
  /** What people are shown. */
  readonly name: string;
  /** Compared character by character; empty for a client without the authorization code grant. */
  readonly redirectUris: readonly string[];
  /** What it may ask for. */
  readonly scopes: readonly string[];
  /** How it may ask. */
  readonly grants: readonly Grant[];
  /** What its ID tokens are signed with. */
  readonly idTokenSignedResponseAlg: SigningAlgorithm;
  /** An application that cannot keep a secret: identified, not authenticated. */
  readonly public: boolean;
  /** By the host's password hasher; null for a public client. */
  readonly secretHash: string | null;
  /** The secret before the last rotation, accepted until the end of its overlap window. */
  readonly previousSecretHash: string | null;
  /** Milliseconds since 1970. */
  readonly previousSecretExpiresAt: number | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Null while the client lives. Its tokens live no longer than it does. */
  readonly revokedAt: number | null;
}

/** An authorization request that a person was shown. The browser knows nothing of it but its id. */
export interface ConsentRequest {
  /** SHA-256 of the request id. */
  readonly idHash: string;
  /** SHA-256 of the secret of the browser session it was asked in. */
  readonly browserHash: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The scopes asked for. */
  readonly scopes: readonly string[];
  readonly state: string | null;
  readonly nonce: string | null;
  readonly codeChallenge: string;
  /** The target API; null when no audience is configured. */
  readonly audience: string | null;
  /** Who was shown it, and with which of the scopes. */
  readonly asked: AskedPerson;
  /** Null while it waits for the answer. */
  readonly outcome: ConsentOutcome | null;
  readonly expiresAt: number;
}

/** `void`: it ended without an answer, such as when another person signed in. */
export type ConsentOutcome = 'allowed' | 'denied' | 'void';

/** An authorization request that waits for somebody to sign in, and is too long to wait in the browser. */
export interface WaitingRequest {
  /** SHA-256 of the secret that the browser has. */
  readonly secretHash: string;
  /** Where it came from; empty when that is not known. */
  readonly network: string;
  readonly parameters: string;
  /** What it counts for in the budget. */
  readonly bytes: number;
  readonly expiresAt: number;
}

/** How many bytes of waiting requests are kept at most. */
export interface WaitingBudget {
  readonly total: number;
  readonly ofOneNetwork: number;
}

export interface AskedPerson {
  readonly person: PersonReference;
  /** Those of the scopes that the person was shown. Nothing else can be granted. */
  readonly scopes: readonly string[];
}

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
}

/** What a person has allowed an application. */
export interface Authorization {
  readonly family: Family;
  readonly clientName: string;
  /** The client's scopes as registered now. */
  readonly clientScopes: readonly string[];
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
  /** The key of the row that it names: its own, or its family's. Null for one of an earlier release, which names none. */
  readonly id: string | null;
  readonly hash: string;
}

export interface OfferedRefreshToken extends OfferedToken {
  /** The hash of the mark in it; null for one of an earlier release, which has none. */
  readonly markHash: string | null;
}

export interface RefreshToken extends StoredGrant {
  /** Whether it has the mark of its family; a token of an earlier release has none. */
  readonly marked: boolean;
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
}

export interface NewAccessToken {
  /** Ids grow with time, so that new rows follow each other in the table. */
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

/** A live access token with all that decides on it, read in one statement. */
export interface AccessToken {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The client's scopes as registered now. */
  readonly clientScopes: readonly string[];
  readonly audience: string | null;
  /** Null for a client-credentials token. */
  readonly person: PersonReference | null;
  readonly subject: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Why there is no live access token of a hash: for the log. A token that was revoked by itself is deleted, so unknown. */
export type DeadToken = 'unknown' | 'expired' | 'client revoked' | 'authorization revoked';

/** Why no tokens were issued. */
export type GrantRefusal =
  /** It was used before, so the family is revoked now, with what the first use gave (RFC 6749 4.1.2, RFC 9700 4.14). */
  | 'used'
  /** The family was revoked before. */
  | 'revoked';

export type GrantOutcome =
  { readonly issued: true } | { readonly issued: false; readonly refusal: GrantRefusal } | UnsettledGrant;

/** The store was lost before it could answer and stays away: nobody knows whether the tokens were issued. */
export interface UnsettledGrant {
  readonly issued: null;
  /** What the store failed with. */
  readonly error: unknown;
  /**
   * Whether they were issued, and their family still lives; if not, they never will be. Rejects as long as the store is away. For as
   * long as their rows stay: an hour after the request, at least.
   */
  readonly settle: () => Promise<boolean>;
}

/**
 * What the authorization server keeps, as whole steps: each method is atomic and returns only after its effect is durable.
 * A refusal that must last (a spent code, a revoked family) is returned; what is thrown has changed nothing.
 */
export interface Store {
  insertClient(client: Client): Promise<void>;
  /**
   * Inserts the client unless one is there already: returns that one, the oldest, or null when it was inserted. Calls at the
   * same time, also of other processes, run one after the other: each sees what the one before has inserted.
   */
  insertClientUnless(client: Client, isThere: (client: Client) => boolean): Promise<Client | null>;
  /** Also a revoked client; null when the id, compared byte by byte, is unknown. */
  findClient(id: string): Promise<Client | null>;
  /**
   * Makes this the current secret, and the current one the previous one, which is accepted until `previousExpiresAt` (null:
   * not at all). An earlier previous secret is dropped. False for an unknown, public or revoked client.
   */
  rotateSecret(clientId: string, secretHash: string, previousExpiresAt: number | null): Promise<boolean>;
  /** Ends the client, and with it every token that it holds. False when it is unknown or was revoked before, for good. */
  revokeClient(clientId: string, now: number): Promise<boolean>;
  /** All clients, oldest first. */
  listClients(): Promise<readonly Client[]>;

  /** The person's subject: `candidate` if the person had none, else the one assigned before. */
  assignSubject(person: PersonReference, candidate: string): Promise<string>;

  /** False when there is a request of this id already. */
  insertConsentRequest(request: ConsentRequest): Promise<boolean>;
  /** The request, also when it was answered, voided or has expired; null when it is unknown. */
  findConsentRequest(idHash: string): Promise<ConsentRequest | null>;
  /**
   * Notes that the same person is shown the request again, with these scopes. False when it was answered, voided, or shown
   * with other scopes since it was read.
   */
  presentConsentRequest(read: ConsentRequest, scopes: readonly string[], now: number): Promise<boolean>;
  /** Ends the request without an answer, unless it has one. */
  voidConsentRequest(idHash: string): Promise<void>;
  /**
   * Records the answer of the person who was asked, once. Allowing starts the family and issues the code; null denies.
   * False when the request was answered, voided or expired meanwhile.
   */
  answerConsent(
    request: { readonly idHash: string; readonly person: PersonReference },
    allowed: { readonly family: Family; readonly code: NewCode } | null,
    now: number,
  ): Promise<boolean>;

  /**
   * Keeps the request, within the budget. Where there is no room, the oldest requests of the network that holds most go, if
   * it holds more than this one's would. False when there is still no room.
   */
  keepWaitingRequest(request: WaitingRequest, budget: WaitingBudget, now: number): Promise<boolean>;
  /** The parameters of a request that waits; null when it is unknown or has expired. */
  findWaitingRequest(secretHash: string, now: number): Promise<string | null>;
  endWaitingRequest(secretHash: string): Promise<void>;

  /** The key of this period: `candidate` if there was none, else the one kept before. Keys of periods before `oldest` go. */
  cookieKey(period: number, candidate: string, oldest: number): Promise<string>;
  findCookieKey(period: number): Promise<string | null>;

  /** The code, spent or not; null when it is unknown. */
  findCode(code: OfferedToken): Promise<AuthorizationCode | null>;
  /** Spends the code and issues the tokens, both or neither. A code that was spent before revokes the family. */
  spendCode(code: StoredGrant, tokens: NewTokens, now: number): Promise<GrantOutcome>;
  /**
   * Spends the code and issues nothing: it was offered with something that does not match. When it was spent already, also
   * at this moment, and the client that offers it is its own, the family is revoked. True when this revoked it.
   */
  burnCode(code: StoredGrant, offeredBy: string, now: number): Promise<boolean>;

  /**
   * The refresh token, used or not; null when it is unknown. One that has the mark of its family and is not the current one was
   * used before: the mark leaves the server in refresh tokens alone.
   */
  findRefreshToken(token: OfferedRefreshToken): Promise<RefreshToken | null>;
  /** Uses the token and issues its successors, both or neither. One that was used before revokes the family. */
  rotateRefreshToken(token: StoredGrant, tokens: NewTokens, now: number): Promise<GrantOutcome>;

  /** Revokes the family of a grant that was found used, unless it has become the current one. False also when it was revoked before. */
  revokeReplayed(used: StoredGrant, now: number): Promise<boolean>;

  /**
   * Ends everything that descends from the authorization, also what is being issued at this moment. False when it was
   * revoked before.
   */
  revokeFamily(familyId: string, now: number): Promise<boolean>;

  /** What this person has allowed and what still lives, oldest first, of clients that still live. */
  listAuthorizations(person: PersonReference, now: number): Promise<readonly Authorization[]>;

  /** Resolves once it is for good that what this person had allowed this client was revoked, as far as it was. */
  confirmRevoked(person: PersonReference, clientId: string): Promise<void>;

  /** Ends this client's access token, and nothing else. */
  revokeAccessToken(token: OfferedToken, clientId: string): Promise<void>;

  /** Issues a token for the application itself, which descends from no authorization. */
  issueClientToken(
    clientId: string,
    audience: string | null,
    token: NewAccessToken,
    now: number,
  ): Promise<void>;

  /**
   * Removes expired families, with all that is known of them, and consent requests: at most `limit` of each. There may be more,
   * also when none was removed: a family with many tokens of an earlier release takes several batches.
   */
  prune(
    expiredBefore: number,
    limit: number,
  ): Promise<Omit<PrunedRows, 'accessTokens'> & { readonly more: boolean }>;
  /**
   * Removes those that have expired among the first `limit` access tokens after this id, in the order in which they were
   * issued, and returns the last id that it looked at; null when none follow.
   */
  pruneAccessTokens(
    after: string,
    expiredBefore: number,
    limit: number,
  ): Promise<{ readonly removed: number; readonly last: string | null }>;

  /** The token, when it has not expired and neither its family nor its client is revoked; otherwise why it is none. */
  findAccessToken(token: OfferedToken, now: number): Promise<AccessToken | DeadToken>;
}

/** How many rows of each kind were removed. */
export interface PrunedRows {
  /** Authorizations, each with its code and its refresh token. */
  readonly families: number;
  /** Those that have expired. */
  readonly accessTokens: number;
  /** Those that nobody answered in time, or signed in for. */
  readonly consentRequests: number;
}
