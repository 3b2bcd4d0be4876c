import type { PersonReference } from '../contracts/person.ts';
import type { Administrator, AuditEvent } from './audit.ts';

/** An event as it is stored: its contents, its time, and its request. */
export interface AuditRecord {
  /** Begins with the time, so the order of ids is the order of time. */
  readonly id: string;
  /** Milliseconds since 1970, by the clock of the process in which it happened. */
  readonly at: number;
  /** What happened. */
  readonly type: AuditEvent['type'];
  /** Null when the event is about no client, or an unknown one. */
  readonly clientId: string | null;
  /** The person it is about. A pseudonym after `oauth:person:erase`. */
  readonly person: PersonReference | null;
  /** The administrator who did it. Null if it was none, or if unknown. */
  readonly by: Administrator | null;
  /**
   * The client address, if the host knows it. Null without a request, and once the person was
   * erased.
   */
  readonly address: string | null;
  /**
   * The `X-Request-Id` of the response, which is also in the log. Null without a request, and once
   * the person was erased.
   */
  readonly requestId: string | null;
  /** The id of the authorization that it is about. */
  readonly authorization: string | null;
  /** The reason, for events that have one. */
  readonly reason: string | null;
  /** All other members of the event, with names in snake_case. Times are ISO 8601. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Which stored events to list: those that match all given members. */
export interface AuditFilter {
  /** From this time on, in milliseconds since 1970. */
  readonly since?: number;
  /** Before this time, in milliseconds since 1970. */
  readonly until?: number;
  /** Compared byte by byte, like everything here. */
  readonly clientId?: string;
  /** Events about this person, but not those that they caused as an administrator. */
  readonly person?: PersonReference;
  /** Events about the authorization with this id, as in `Access.list`. */
  readonly authorization?: string;
  /** Such as `refresh_token_replayed`. */
  readonly type?: AuditEvent['type'];
}

/** Which part of a list to return. */
export interface AuditPageRequest {
  /** The maximum number of events, 1 to 1000; 50 unless given. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: string;
}

/** A part of a list, newest first. */
export interface AuditPage {
  /**
   * There may be fewer than requested, or none, although more follow. If two conditions are each
   * frequent but rare together, a page reads only some thousands of events.
   */
  readonly items: readonly AuditRecord[];
  /** Where the next page begins. Null after the last. */
  readonly next: string | null;
}

/**
 * The stored audit (`oauth_server:audit:keep`). It can be read even when no more events are added.
 */
export interface KeptAudit {
  /** The stored events, newest first. Throws a RangeError for an invalid limit, time or `after`. */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;
  /**
   * Replaces a person's id by a pseudonym in at most `batch` events about them, and in as many that
   * they caused as an administrator. Also removes the network address and the request id. Returns
   * how many events it changed. Call it until that is 0. Events that are written meanwhile, such as
   * by a running request, need another call.
   */
  pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number>;
}
