import type { PersonReference } from '../person.ts';
import type { Administrator, AuditEvent } from './audit.ts';

/** A stored event: its contents, its time and its request. */
export interface AuditRecord {
  /** The event's id. It begins with the time, so ids are in the order of time. */
  readonly id: string;
  /** When the event happened, in milliseconds since 1970, by the clock of the process. */
  readonly at: number;
  /** The event's type. */
  readonly type: AuditEvent['type'];
  /**
   * The client that the event is about. Null if there is no client, or if the client is unknown.
   */
  readonly clientId: string | null;
  /**
   * The person that the event is about. Null if it is about no person. After `oauth:person:erase`,
   * this is a pseudonym.
   */
  readonly person: PersonReference | null;
  /**
   * The administrator who acted. Null if no administrator acted, or if the administrator is
   * unknown.
   */
  readonly by: Administrator | null;
  /**
   * The client address, if the host knows it. Null if there is no request, and after the person was
   * erased.
   */
  readonly address: string | null;
  /**
   * The `X-Request-Id` of the response, which is also in the log. Null if there is no request, and
   * after the person was erased.
   */
  readonly requestId: string | null;
  /** The id of the authorization that the event is about. */
  readonly authorization: string | null;
  /** The reason, for events that have one. */
  readonly reason: string | null;
  /** All other properties of the event, with names in snake_case. Times are ISO 8601. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Selects stored events. An event must match all properties that are set. */
export interface AuditFilter {
  /** Only events at or after this time, in milliseconds since 1970. */
  readonly since?: number;
  /** Only events before this time, in milliseconds since 1970. */
  readonly until?: number;
  /** Only events about this client. Every text in the filter must match exactly, byte by byte. */
  readonly clientId?: string;
  /**
   * Only events about this person. Events that the person caused as an administrator are left out.
   */
  readonly person?: PersonReference;
  /** Only events about the authorization with this id, as in `Access.list`. */
  readonly authorization?: string;
  /** Only events of this type, such as `refresh_token_replayed`. */
  readonly type?: AuditEvent['type'];
}

/** Specifies which page of a list to return. */
export interface AuditPageRequest {
  /** The maximum number of events, 1 to 1000. Defaults to 50. */
  readonly limit?: number;
  /** Continues after the previous page: pass its `next`. */
  readonly after?: string;
}

/** One page of a list, newest first. */
export interface AuditPage {
  /**
   * The events. There may be fewer events than you asked for, or none, although there are more
   * pages. The reason is that a page reads only some thousands of events. This happens if each of
   * two conditions matches often, but both together rarely.
   */
  readonly items: readonly AuditRecord[];
  /** The cursor of the next page. Null if this is the last page. */
  readonly next: string | null;
}

/**
 * The stored audit (`oauth_server:audit:keep`). You can still read it after you turn the setting
 * off.
 */
export interface KeptAudit {
  /**
   * Returns the stored events, newest first. Throws a RangeError for an invalid limit, time or
   * `after`.
   */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;
  /**
   * Replaces a person's id with a pseudonym. Changes at most `batch` events about the person, and
   * at most `batch` events that the person caused as an administrator. Also removes the network
   * address and the request id from them.
   *
   * Returns how many events it changed. Call it until it returns 0. If a running request writes
   * another event in the meantime, you must call it again for that event.
   */
  pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number>;
}
