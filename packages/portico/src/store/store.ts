import type { Database } from '@portico/sql';
import type { FurtherGrants } from './grant.ts';
import { AccessTokenRecords } from './sql/access-tokens.ts';
import { AuthorizationSearch } from './sql/authorization-search.ts';
import { AuthorizationRecords } from './sql/authorizations.ts';
import { ClientRecords, type Admits } from './sql/clients.ts';
import { CodeRecords } from './sql/codes.ts';
import { ConsentRequestRecords } from './sql/consent-requests.ts';
import { CookieKeyRecords } from './sql/cookie-keys.ts';
import { EverythingIssued } from './sql/everything-issued.ts';
import { ExpiredRecords } from './sql/expired.ts';
import { InitialAccessTokenRecords } from './sql/initial-access-tokens.ts';
import { RefreshTokenRecords } from './sql/refresh-tokens.ts';
import { SingleUseRecords } from './sql/single-uses.ts';
import { SubjectRecords } from './sql/subjects.ts';
import { WaitingRequestRecords } from './sql/waiting-requests.ts';

/**
 * The records that features add to the store. Each feature declares its own records in this
 * interface, and its `records` function returns them.
 */
export interface FeatureRecords {}

/**
 * The authorization server's store, with one class for each kind of row.
 *
 * Each method is atomic, except the removal of old rows. It resolves only after its changes are
 * durable. A method that throws has changed nothing, unless the connection was lost: the result is
 * then unknown. A refusal that changes rows is returned and not thrown. For example, it may revoke
 * an authorization.
 */
export class Store {
  readonly clients: ClientRecords;
  readonly initialAccessTokens: InitialAccessTokenRecords;
  readonly singleUses: SingleUseRecords;
  readonly subjects: SubjectRecords;
  readonly consentRequests: ConsentRequestRecords;
  readonly waitingRequests: WaitingRequestRecords;
  readonly cookieKeys: CookieKeyRecords;
  readonly authorizations: AuthorizationRecords;
  readonly codes: CodeRecords;
  readonly refreshTokens: RefreshTokenRecords;
  readonly accessTokens: AccessTokenRecords;
  readonly authorizationSearch: AuthorizationSearch;
  readonly everythingIssued: EverythingIssued;
  readonly expired: ExpiredRecords;

  /** `admits` returns true if the server currently accepts this client. */
  constructor(database: Database, admits: Admits, further: FurtherGrants = () => []) {
    this.clients = new ClientRecords(database, admits, further);
    this.initialAccessTokens = new InitialAccessTokenRecords(database);
    this.singleUses = new SingleUseRecords(database);
    this.subjects = new SubjectRecords(database);
    this.consentRequests = new ConsentRequestRecords(database);
    this.waitingRequests = new WaitingRequestRecords(database);
    this.cookieKeys = new CookieKeyRecords(database);
    this.authorizations = new AuthorizationRecords(database);
    this.codes = new CodeRecords(database);
    this.refreshTokens = new RefreshTokenRecords(database, this.authorizations);
    this.accessTokens = new AccessTokenRecords(database, admits, further);
    this.authorizationSearch = new AuthorizationSearch(database, further);
    this.everythingIssued = new EverythingIssued(database);
    this.expired = new ExpiredRecords(database);
  }
}
