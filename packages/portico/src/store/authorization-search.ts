import type { PersonReference } from '../contracts/person.ts';
import type { RegisteredBy } from './client.ts';

/**
 * A living authorization: neither it nor its client is revoked, not all of it has expired, and its
 * client has the grant `authorization_code`.
 */
export interface HeldAuthorization {
  /** An identifier. It grants no access. */
  readonly id: string;
  /** The application that holds it. */
  readonly client: HoldingClient;
  /** The person who gave it. */
  readonly person: PersonReference;
  /** The person's `sub`. */
  readonly subject: string;
  /**
   * The granted scopes. By now the client may be registered for fewer, and the person may have
   * fewer permissions.
   */
  readonly scopes: readonly string[];
  /** The API that its tokens are for. Null when none was configured. */
  readonly audience: string | null;
  /** When the person allowed it, milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * When tokens were last issued for it, in milliseconds since 1970. Null if never. `unknown` if an
   * older release issued them without recording the time.
   */
  readonly usedAt: number | 'unknown' | null;
  /** When the last of its tokens expires, in milliseconds since 1970. A refresh moves it. */
  readonly expiresAt: number;
}

/** The application that holds an authorization. */
export interface HoldingClient {
  /** The client id. For a client that is a document, its URL. */
  readonly id: string;
  /** As registered. If no operator registered the client, the name is the client's own choice. */
  readonly name: string;
  /** Who registered the application. */
  readonly registeredBy: RegisteredBy;
}

/** Which authorizations to find: those that match all given members. Compares byte by byte. */
export interface AuthorizationFilter {
  /** Of this client. */
  readonly clientId?: string;
  /** Of this person. */
  readonly person?: PersonReference;
  /** With this scope, perhaps among others. */
  readonly scope?: string;
  /**
   * No tokens were issued since this time, in milliseconds since 1970. Where the last use is
   * unknown, the time of the authorization counts.
   */
  readonly unusedSince?: number;
}

/** The part of the matching authorizations to read, by descending id. */
export interface HeldRange {
  /** Only ids below this one; null for all. */
  readonly below: string | null;
  /** Only ids from this one on; null for all. */
  readonly above: string | null;
  /** The most authorizations to find. */
  readonly limit: number;
  /** The most rows to read. */
  readonly examine: number;
}

/** How many authorizations live, among the newest that were read. */
export interface CountedHeld {
  readonly authorizations: number;
  /** The people who gave them, each counted once. */
  readonly people: number;
  /** Whether all were read. If not, there may be more. */
  readonly isAll: boolean;
}

/** What was found in a range. */
export interface FoundHeld {
  readonly items: readonly HeldAuthorization[];
  /** Continue below this id. Null when the range has no more. */
  readonly next: string | null;
}
