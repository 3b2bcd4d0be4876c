import type { PersonReference } from '../person.ts';
import type { Administrator, AuditEvent } from './audit.ts';

/** A stored audit event, with its time and information about the request that caused it. */
export interface AuditRecord {
  /** The id of the event. It begins with the time, so sorting by id also sorts by time. */
  readonly id: string;
  /** The time of the event by the clock of the process, in milliseconds since 1970. */
  readonly at: number;
  /** The event's type. */
  readonly type: AuditEvent['type'];
  /** The client of the event. Null if there is no client or it is unknown. */
  readonly clientId: string | null;
  /** The person of the event, or null. A pseudonym after `oauth:person:erase`. */
  readonly person: PersonReference | null;
  /** The administrator who acted. Null if no administrator did, or if that is unknown. */
  readonly by: Administrator | null;
  /**
   * The IP address of the request. Null if it is unknown, there was no request, or the person was
   * erased.
   */
  readonly address: string | null;
  /**
   * The `X-Request-Id` of the response, which is also in the log. Null if there was no request, or
   * the person was erased.
   */
  readonly requestId: string | null;
  /** The id of the authorization that the event is about, or null. */
  readonly authorization: string | null;
  /** The reason in the event, or null if the event has none. */
  readonly reason: string | null;
  /** The other members of the event. Names are in snake_case, and times in ISO 8601 format. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Selects stored events. An event must match all properties that are set. */
export interface AuditFilter {
  /** Only events at or after this time, in milliseconds since 1970. */
  readonly since?: number;
  /** Only events before this time, in milliseconds since 1970. */
  readonly until?: number;
  /** Only events about this client. Like all strings here, the id must match exactly. */
  readonly clientId?: string;
  /** Only events about this person, without actions of the person as an administrator. */
  readonly person?: PersonReference;
  /** Only events about the authorization with this id. `Access.list` returns these ids. */
  readonly authorization?: string;
  /** Only events of this type, for example `refresh_token_replayed`. */
  readonly type?: AuditEvent['type'];
}

/** The part of a list to return. */
export interface AuditPageRequest {
  /** The maximum number of events on the page, from 1 to 1000. Default: 50. */
  readonly limit?: number;
  /** The value of `next` from the previous page. Default: the first page. */
  readonly after?: string;
}

/** One page of a list of events. The newest event comes first. */
export interface AuditPage {
  /**
   * The events. A page reads only a few thousand stored events, so it responds quickly. It can
   * contain fewer events than `limit`, or none, although more pages follow. This happens if two
   * conditions match many events each, but only few match both.
   */
  readonly items: readonly AuditRecord[];
  /** The value of `after` for the next page, or null on the last page. */
  readonly next: string | null;
}

/**
 * The stored audit log (`oauth_server:audit:keep`). It stays readable after you turn the setting
 * off.
 */
export interface KeptAudit {
  /**
   * Returns stored events, newest first. Throws a RangeError for an invalid limit, time or `after`.
   */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;
  /**
   * Replaces a person's id with a pseudonym, and removes the IP address and the request id. A call
   * changes at most `batch` events (default: 500) about the person, and as many that the person
   * caused as an administrator. Returns the number of changed events.
   *
   * Repeat the call until it returns 0. A running request may then write another event about the
   * person: call it again.
   */
  pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number>;
}
