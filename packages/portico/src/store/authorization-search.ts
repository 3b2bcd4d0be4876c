import type { PersonReference } from '../person.ts';
import type { RegisteredBy } from './client.ts';

/**
 * An active authorization. It meets all of these conditions:
 *
 * - Neither the authorization nor its client is revoked.
 * - Its code or at least one of its tokens has not expired.
 * - Its client may still use a grant type that starts this kind of access.
 */
export interface HeldAuthorization {
  /** The authorization's id. It cannot be used to get access. */
  readonly id: string;
  /** The client that has access. */
  readonly client: HoldingClient;
  /** The person whose account the client can access. */
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  /**
   * The granted scopes. The client may now be registered for fewer scopes, and the person may now
   * have fewer permissions.
   */
  readonly scopes: readonly string[];
  /** The API that the tokens are for. Null if no API was configured. */
  readonly audience: string | null;
  /** The issuer (`iss`) of the organization that granted access. Null if the person granted it. */
  readonly givenBy: string | null;
  /** When the person or the organization granted the access, in milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * When tokens were last issued, in milliseconds since 1970. Null if none were issued. `unknown`
   * if an older release, which did not record the time, issued them.
   */
  readonly usedAt: number | 'unknown' | null;
  /**
   * When the authorization's code and all of its tokens have expired, in milliseconds since 1970. A
   * refresh can move this time.
   */
  readonly expiresAt: number;
}

/** The client of an authorization. */
export interface HoldingClient {
  /** The client id. For a document client, this is the URL of the document. */
  readonly id: string;
  /**
   * The registered name. A client that registered itself, or that has a client document, chose this
   * name.
   */
  readonly name: string;
  /** Who registered the application. */
  readonly registeredBy: RegisteredBy;
}

/**
 * Selects authorizations. An authorization must match every property that is set. Strings must
 * match exactly.
 */
export interface AuthorizationFilter {
  /** Only authorizations for this client. */
  readonly clientId?: string;
  /** Only authorizations of this person. */
  readonly person?: PersonReference;
  /** Only authorizations that include this scope. */
  readonly scope?: string;
  /**
   * Only authorizations that have received no tokens since this time, in milliseconds since 1970.
   * If no tokens were issued, or if it is unknown when they were issued, the time when the
   * authorization was created is compared instead.
   */
  readonly unusedSince?: number;
}

/** The range to read, from the highest id to the lowest. */
export interface HeldRange {
  /** Only ids below this one, or null. */
  readonly below: string | null;
  /** Only this id and higher ones, or null. */
  readonly above: string | null;
  /** How many authorizations to find at most. */
  readonly limit: number;
  /** How many rows to read at most. */
  readonly examine: number;
}

export interface CountedHeld {
  readonly authorizations: number;
  /** The number of people who gave the active authorizations. */
  readonly people: number;
  /** False if not all rows were read. More authorizations may then be active. */
  readonly isAll: boolean;
}

export interface FoundHeld {
  readonly items: readonly HeldAuthorization[];
  /** Where the next search continues. Null if the range has no more rows. */
  readonly next: string | null;
}
