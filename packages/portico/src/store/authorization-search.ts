import type { PersonReference } from '../contracts/person.ts';
import type { RegisteredBy } from './client.ts';

/**
 * An authorization that lives: neither it nor its client is revoked, something of it has not expired, and its client has the grant
 * `authorization_code`.
 */
export interface HeldAuthorization {
  /** An identifier, good for nothing by itself. */
  readonly id: string;
  /** The application that holds it. */
  readonly client: HoldingClient;
  /** Who gave it. */
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  /** Those that were granted. The client may be registered for fewer by now, and the person hold fewer permissions. */
  readonly scopes: readonly string[];
  /** The API that its tokens are for; null when none was configured. */
  readonly audience: string | null;
  /** When the person allowed it, milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * When tokens were last issued to it, milliseconds since 1970; null when none were. `unknown`: they were by a release that did not
   * write it down.
   */
  readonly usedAt: number | 'unknown' | null;
  /** When the last of its tokens expires, milliseconds since 1970. A refresh moves it. */
  readonly expiresAt: number;
}

/** The application that holds an authorization. */
export interface HoldingClient {
  /** Of a document its URL. */
  readonly id: string;
  /** As registered; unless an operator registered it, what it calls itself. */
  readonly name: string;
  /** Who said what the application is. */
  readonly registeredBy: RegisteredBy;
}

/** Which authorizations are asked for: those that fit all that is given. Compared byte by byte. */
export interface AuthorizationFilter {
  /** Of this client. */
  readonly clientId?: string;
  /** Of this person. */
  readonly person?: PersonReference;
  /** To which this scope was granted, perhaps among others. */
  readonly scope?: string;
  /**
   * To which no tokens were issued since, milliseconds since 1970. Where that is not known, it counts since when there is the
   * authorization.
   */
  readonly unusedSince?: number;
}

/** Which part of the authorizations that fit, in the order of their ids downwards. */
export interface HeldRange {
  /** Ids below this one; null for all. */
  readonly below: string | null;
  /** Ids from this one on; null for all. */
  readonly above: string | null;
  /** At most so many authorizations are found. */
  readonly limit: number;
  /** At most so many rows are looked at. */
  readonly examine: number;
}

/** How many authorizations live, among the newest that were looked at. */
export interface CountedHeld {
  readonly authorizations: number;
  /** Who gave them, each counted once. */
  readonly people: number;
  /** Whether all were looked at; otherwise there may be more. */
  readonly isAll: boolean;
}

/** What there is in a range. */
export interface FoundHeld {
  readonly items: readonly HeldAuthorization[];
  /** Below which id to go on; null when the range has no more. */
  readonly next: string | null;
}
