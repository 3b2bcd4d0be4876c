import type { Database } from '@portico/sql';
import type { FurtherGrants } from './grant.ts';
import { AccessTokenRecords } from './sql/access-tokens.ts';
import { AuthorizationSearch } from './sql/authorization-search.ts';
import { AuthorizationRecords } from './sql/authorizations.ts';
import { ClientRecords, type Admits } from './sql/clients.ts';
import { CodeRecords } from './sql/codes.ts';
import { ConsentRequestRecords } from './sql/consent-requests.ts';
import { CookieKeyRecords } from './sql/cookie-keys.ts';
import { DocumentClientRecords } from './sql/document-clients.ts';
import { EverythingIssued } from './sql/everything-issued.ts';
import { ExpiredRecords } from './sql/expired.ts';
import { InitialAccessTokenRecords } from './sql/initial-access-tokens.ts';
import { LogoRecords } from './sql/logos.ts';
import { RefreshTokenRecords } from './sql/refresh-tokens.ts';
import { RegistrationRecords } from './sql/registrations.ts';
import { SingleUseRecords } from './sql/single-uses.ts';
import { SubjectRecords } from './sql/subjects.ts';
import { WaitingRequestRecords } from './sql/waiting-requests.ts';

/**
 * The authorization server's store, with one class per kind of record. Each method is atomic and
 * returns only after its effect is durable. A method that throws has changed nothing. A refusal
 * that changes something, for example revokes an authorization, is returned, not thrown.
 */
export class Store {
  readonly clients: ClientRecords;
  readonly logos: LogoRecords;
  readonly documentClients: DocumentClientRecords;
  readonly registrations: RegistrationRecords;
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

  /** `admits` returns whether the server currently accepts the client with this id. */
  constructor(database: Database, admits: Admits, further: FurtherGrants = () => []) {
    this.clients = new ClientRecords(database, admits, further);
    this.logos = new LogoRecords(database);
    this.documentClients = new DocumentClientRecords(database);
    this.registrations = new RegistrationRecords(database);
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
