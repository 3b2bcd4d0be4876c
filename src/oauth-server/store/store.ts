import type { PersonReference } from '../../contracts/person.ts';
import type {
  Client,
  ClientLogo,
  DocumentClient,
  InitialAccessToken,
  NewRegistration,
  RegistrationLimits,
  RegistrationRefusal,
} from './client.ts';
import type { AuthorizationFilter, CountedHeld, FoundHeld, HeldRange } from './held.ts';
import type { ConsentAnswer, ConsentRequest, WaitingBudget, WaitingRequest } from './requests.ts';
import type {
  AccessToken,
  Authorization,
  AuthorizationCode,
  CodeReplacement,
  DeadToken,
  Family,
  GrantOutcome,
  KeptAnswer,
  NewAccessToken,
  NewCode,
  NewTokens,
  OfferedRefreshToken,
  OfferedToken,
  RefreshToken,
  StoredGrant,
} from './grant.ts';

/** What was good once, such as an assertion, and has been used, so that nobody can again. */
export interface SingleUse {
  /** SHA-256 of its kind, of whom it is, and of its `jti`. */
  readonly hash: string;
  readonly expiresAt: number;
}

/**
 * What the authorization server keeps, as whole steps: each method is atomic and returns only after its effect is durable.
 * A refusal that must last (a spent code, a revoked family) is returned; what is thrown has changed nothing.
 */
export interface Store {
  /** With its logo, in one step, where it has one. */
  insertClient(client: Client, logo?: ClientLogo): Promise<void>;
  /**
   * Inserts the client unless one is there already: returns that one, the oldest, or null when it was inserted. Calls at the
   * same time, also of other processes, run one after the other: each sees what the one before has inserted.
   */
  insertClientUnless(
    client: Client,
    isThere: (client: Client) => boolean,
    logo?: ClientLogo,
  ): Promise<Client | null>;
  /**
   * Inserts all of these clients, or, when one of their ids is there already, none, and returns that id. Calls at the same time, also of
   * other processes, run one after the other.
   */
  insertClients(clients: readonly Client[]): Promise<string | null>;
  /** Also a revoked client; null when the id, compared byte by byte, is unknown. */
  findClient(id: string): Promise<Client | null>;
  /**
   * Makes this the current secret, and the current one the previous one, which is accepted until `previousExpiresAt` (null:
   * not at all). An earlier previous secret is dropped. False for an unknown, public or revoked client, and
   * when `replaced` is given and the current secret's hash is another one.
   */
  rotateSecret(
    clientId: string,
    secretHash: string,
    previousExpiresAt: number | null,
    replaced?: string | null,
  ): Promise<boolean>;
  /**
   * Makes the client, which an operator registered and which is as it was read, what it is changed to: its name, redirect URIs, scopes,
   * grants, keys, site, logo, and what its ID tokens are signed with. False when one of these is another one by now, and when it is revoked.
   * With a logo, or null for none, that is kept in the place of the one before.
   */
  updateClient(read: Client, changed: Client, logo?: ClientLogo | null): Promise<boolean>;
  /** The logo of this hash, when it is the client's; null for any other. */
  findLogo(clientId: string, hash: string): Promise<ClientLogo | null>;
  /** Ends the client, and with it every token that it holds. False when it is unknown or was revoked before, for good. */
  revokeClient(clientId: string, now: number): Promise<boolean>;
  /** Keeps a client that is revoked from the beginning, for good, unless one of its id is there. */
  insertRevokedClient(client: Client): Promise<void>;
  /** All clients, oldest first. */
  listClients(): Promise<readonly Client[]>;
  /** The first `limit` clients after this id, in the order of their ids, byte by byte. */
  listClientsAfter(id: string, limit: number): Promise<readonly Client[]>;
  /** Whether a client that is not revoked may ask for ID tokens. */
  hasOpenidClient(): Promise<boolean>;
  /** Whether there is an authorization with the scope `openid`, also one that has ended: when it was given there was a signing key. */
  hasOpenidFamily(): Promise<boolean>;

  /** The client whose id is the URL of a document, also a revoked one, and until when the document need not be fetched again. */
  findDocumentClient(url: string): Promise<DocumentClient | null>;
  /**
   * Keeps what the document says of the client now, and whether it was there before. When it was revoked nothing is changed, nor when it
   * was unblocked after this was read.
   */
  keepDocumentClient(client: Client, freshUntil: number): Promise<'new' | 'known' | 'revoked'>;
  /**
   * Lets a document's client that was revoked be one again, as one begun now, without redirect URIs and grants until its document is
   * kept. Everything that it was given before has ended by then, also what is being issued at this moment. False when it is not revoked.
   */
  unblockDocumentClient(url: string, now: number): Promise<boolean>;
  /**
   * Registers a client, within the limits; uses the initial access token, both or neither. Calls at the same time, also of other
   * processes, are counted one after the other.
   */
  registerClient(
    registration: NewRegistration,
    limits: RegistrationLimits,
    now: number,
  ): Promise<RegistrationRefusal | null>;
  /** The hash of the registration access token; null for an unknown client, and for one that did not register itself. */
  findRegistrationHash(clientId: string): Promise<string | null>;
  /**
   * Makes the client what it says now. False when it was revoked, or its registration access token is another one, and when it was used
   * and the redirect URIs are not those that it has.
   */
  updateRegistration(client: Client, tokenHash: string): Promise<boolean>;
  /**
   * Takes this for good, once in all processes: false when it was taken before. It stays taken at least until it expires. When it is
   * not known whether it took place, that is thrown, and nobody has it.
   */
  claimSingleUse(use: SingleUse): Promise<boolean>;
  /** Removes at most `limit` that have expired; how many. */
  pruneSingleUses(expiredBefore: number, limit: number): Promise<number>;
  /** Keeps when a client was last used. */
  noteClientUse(clientId: string, now: number): Promise<void>;
  insertInitialAccessToken(token: InitialAccessToken, tokenHash: string): Promise<void>;
  /** Null for one that is unknown. */
  findInitialAccessToken(tokenHash: string): Promise<InitialAccessToken | null>;
  /** All that have not gone, oldest first. */
  listInitialAccessTokens(): Promise<readonly InitialAccessToken[]>;
  /** False when it is unknown. */
  deleteInitialAccessToken(id: string): Promise<boolean>;
  /**
   * Removes clients that registered themselves, at most `limit` of each kind: those that nobody used until `neverUsedBefore`, and those
   * that nobody used since `unusedBefore`. Clients that are documents, and were not fresh since `neverUsedBefore` without ever being used,
   * unless they are revoked. And initial access tokens that ended before `expiredBefore`. Forgets the network of clients that registered
   * before `uncountedBefore`.
   */
  pruneRegistrations(
    before: {
      readonly neverUsedBefore: number;
      readonly unusedBefore: number;
      readonly expiredBefore: number;
      readonly uncountedBefore: number;
    },
    limit: number,
  ): Promise<{ readonly clients: number; readonly more: boolean }>;

  /** The person's subject: `candidate` if the person had none, else the one assigned before. */
  assignSubject(person: PersonReference, candidate: string): Promise<string>;
  /** Null for a person who has none yet. */
  findSubject(person: PersonReference): Promise<string | null>;
  /** Whose subject this is; null when it is nobody's. */
  findPersonOfSubject(subject: string): Promise<PersonReference | null>;
  /** Gives the person this subject, unless the person has one, or somebody has it; whether it did. */
  insertSubject(person: PersonReference, subject: string): Promise<boolean>;

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
    read: ConsentRequest,
    allowed: { readonly family: Family; readonly code: NewCode } | null,
    answer: Omit<ConsentAnswer, 'familyId'>,
  ): Promise<boolean>;
  /**
   * Gives the authorization another code in place of the one that nobody has used: of the two this one alone is good. What it
   * says about the authorization has to be what the store has.
   */
  replaceCode(
    family: Pick<Family, 'id' | 'clientId' | 'person' | 'scopes'>,
    code: Pick<NewCode, 'hash' | 'expiresAt'>,
  ): Promise<CodeReplacement>;

  /**
   * Keeps the request, within the budget. Where there is no room, the oldest requests of the network that holds most go, if
   * it holds more than this one's would. False when there is still no room. Without a budget it is not counted.
   */
  keepWaitingRequest(request: WaitingRequest, budget: WaitingBudget | null, now: number): Promise<boolean>;
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
  /**
   * Uses the token and issues its successors, both or neither. One that was used before revokes the family. With an answer to keep,
   * sealed, it keeps that in place of the one before, and revokes nothing: the refusal is `taken`.
   */
  rotateRefreshToken(
    token: StoredGrant,
    tokens: NewTokens,
    now: number,
    sealed?: string | null,
  ): Promise<GrantOutcome>;
  /** What the family keeps of the last use of its refresh token, once that use is for good; null when it keeps nothing, or is revoked. */
  findKeptAnswer(familyId: string): Promise<KeptAnswer | null>;

  /** Revokes the family of a grant that was found used, unless it has become the current one. False also when it was revoked before. */
  revokeReplayed(used: StoredGrant, now: number): Promise<boolean>;

  /**
   * Ends everything that descends from the authorization, also what is being issued at this moment. False when it was
   * revoked before.
   */
  revokeFamily(familyId: string, now: number): Promise<boolean>;

  /** What this person has allowed and what still lives, oldest first, of clients that nobody has revoked: also of one that is not taken now. */
  listAuthorizations(person: PersonReference, now: number): Promise<readonly Authorization[]>;

  /** Resolves once it is for good that what this person had allowed this client was revoked, as far as it was. */
  confirmRevoked(person: PersonReference, clientId: string): Promise<void>;

  /** The authorizations that live, fit and are in the range, newest first. Looks at as many rows as the range says, and no more. */
  findHeld(filter: AuthorizationFilter, range: HeldRange, now: number): Promise<FoundHeld>;
  /** How many of the newest `limit` authorizations live, and of how many people they are. */
  countHeld(limit: number, now: number): Promise<CountedHeld>;
  /** Of which client and person an authorization is, whether it lives or not; null when it is unknown. */
  findHolder(
    familyId: string,
  ): Promise<{ readonly clientId: string; readonly person: PersonReference } | null>;
  /**
   * Ends those that live of the first `limit` authorizations of the person whose id is below this one (null: all). How many it found and
   * ended, and the last id that it looked at; null when none follow.
   */
  revokeOfPerson(
    person: PersonReference,
    below: string | null,
    now: number,
    limit: number,
  ): Promise<{ readonly found: number; readonly revoked: number; readonly last: string | null }>;
  /** Resolves once it is for good that every authorization of this person was revoked. */
  confirmRevokedOfPerson(person: PersonReference): Promise<void>;
  /**
   * Ends the requests of the person that wait for an answer, among the first `limit` of all after this id; with `forget` it removes
   * theirs, answered or not. How many, and the last id that it looked at; null when none follow.
   */
  endRequestsOfPerson(
    person: PersonReference,
    after: string,
    limit: number,
    forget: boolean,
  ): Promise<{ readonly ended: number; readonly last: string | null }>;
  /** Whether this person has a subject. */
  hasSubject(person: PersonReference): Promise<boolean>;
  /** Removes the person's subject: the next one is another. False when there was none. */
  forgetSubject(person: PersonReference): Promise<boolean>;
  /**
   * Removes at most `limit` authorizations of the person, with all that descends from them. There may be more, also when none was
   * removed, as with `prune`.
   */
  removeFamiliesOfPerson(
    person: PersonReference,
    limit: number,
  ): Promise<{ readonly removed: number; readonly more: boolean }>;

  /** The highest id of an authorization and of an access token that there is; null where there is none. */
  newestIds(): Promise<{ readonly family: string | null; readonly accessToken: string | null }>;
  /**
   * Ends those that live of the first `limit` authorizations whose id is above the first and not above the second. How many, and the last id
   * that it looked at; null when none follow, and it is for good that all of them have ended.
   */
  revokeFamilies(
    after: string,
    newestId: string,
    now: number,
    limit: number,
  ): Promise<{ readonly ended: number; readonly last: string | null }>;
  /** The same for access tokens that clients have for themselves, which it removes. */
  removeClientTokens(
    after: string,
    newestId: string,
    limit: number,
  ): Promise<{ readonly ended: number; readonly last: string | null }>;
  /** Ends, among the first `limit` requests after this id, those that wait for a person's answer. */
  endRequests(
    after: string,
    limit: number,
  ): Promise<{ readonly ended: number; readonly last: string | null }>;

  /** Ends this client's access token, and nothing else. The token, when this call ended it and nothing had before; otherwise null. */
  revokeAccessToken(token: OfferedToken, clientId: string, now: number): Promise<AccessToken | null>;

  /** Issues a token for the application itself, which descends from no authorization. */
  issueClientToken(
    clientId: string,
    audience: string | null,
    token: NewAccessToken,
    now: number,
  ): Promise<void>;

  /**
   * Removes expired families, with all that is known of them, and consent requests: at most `limit` of each. `more` says whether there may be others.
   */
  prune(
    expiredBefore: number,
    limit: number,
  ): Promise<Omit<PrunedRows, 'accessTokens' | 'clients'> & { readonly more: boolean }>;
  /**
   * Removes those that have expired among the first `limit` access tokens after this id, in the order in which they were
   * issued, and returns the last id that it looked at; null when none follow.
   */
  pruneAccessTokens(
    after: string,
    expiredBefore: number,
    limit: number,
  ): Promise<{ readonly removed: number; readonly last: string | null }>;

  /** The token, when it has not expired, neither its family nor its client is revoked, and the client still has its grant; otherwise why it is none. */
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
  /** Those that registered themselves and were never used for a day, or not for ninety; and documents that nobody allowed. */
  readonly clients: number;
  /** Audit events that were kept for longer than `oauth_server:audit:retention_days`; absent where that is not set. */
  readonly auditEvents?: number;
}
