import type { PersonReference } from '../person.ts';
import type { RegisteredBy } from './client.ts';

/**
 * An active authorization:
 *
 * - Neither the authorization nor its client is revoked.
 * - At least one of its tokens has not expired.
 * - Its client still has a grant with which this kind of access begins.
 */
export interface HeldAuthorization {
  /** The authorization's id. The id grants no access. */
  readonly id: string;
  /** The application that has the authorization. */
  readonly client: HoldingClient;
  /** The person who gave the authorization. */
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  /**
   * The granted scopes. The client may now be registered for fewer scopes, and the person may have
   * fewer permissions.
   */
  readonly scopes: readonly string[];
  /** The API that the authorization's tokens are for. Null if no API was configured. */
  readonly audience: string | null;
  /**
   * The issuer (`iss`) of the organization that gave the authorization. Null if the person gave it.
   */
  readonly givenBy: string | null;
  /** When the person allowed it, in milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * When tokens were last issued for the authorization, in milliseconds since 1970. Null if no
   * tokens were issued. `unknown` if an older release issued them, because it did not record the
   * time.
   */
  readonly usedAt: number | 'unknown' | null;
  /**
   * When the last of the authorization's tokens expires, in milliseconds since 1970. Each refresh
   * moves this time.
   */
  readonly expiresAt: number;
}

/** The application that has an authorization. */
export interface HoldingClient {
  /** The client id. For a document client, its URL. */
  readonly id: string;
  /** The registered name. If no operator registered the client, the client chose this name. */
  readonly name: string;
  /** Who registered the application. */
  readonly registeredBy: RegisteredBy;
}

/**
 * Selects authorizations. An authorization must match all properties that are set. Texts are
 * compared byte by byte.
 */
export interface AuthorizationFilter {
  /** Only authorizations for this client. */
  readonly clientId?: string;
  /** Only authorizations of this person. */
  readonly person?: PersonReference;
  /** Only authorizations that include this scope. */
  readonly scope?: string;
  /**
   * Only authorizations for which no tokens were issued since this time, in milliseconds since
   * 1970. If the time of the last use is unknown, the creation time of the authorization counts
   * instead.
   */
  readonly unusedSince?: number;
}

/** The range of matching authorizations to read. They are read in descending order of their ids. */
export interface HeldRange {
  /** Only ids below this one. Null for all ids. */
  readonly below: string | null;
  /** Only this id and ids above it. Null for all ids. */
  readonly above: string | null;
  /** The maximum number of authorizations to find. */
  readonly limit: number;
  /** The maximum number of rows to read in order to find them. */
  readonly examine: number;
}

/** The number of active authorizations among the newest rows. */
export interface CountedHeld {
  readonly authorizations: number;
  /** The number of people who gave these authorizations. */
  readonly people: number;
  /** Whether all rows were read. If not, there may be more authorizations. */
  readonly isAll: boolean;
}

/** The authorizations found in a range. */
export interface FoundHeld {
  readonly items: readonly HeldAuthorization[];
  /** The id to continue below. Null if the range contains no more rows. */
  readonly next: string | null;
}
