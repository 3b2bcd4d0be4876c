import type { PersonReference } from '../person.ts';
import type { Administrator, AuditEvent } from './audit.ts';

/** A stored audit event, with its time and information about the request that caused it. */
export interface AuditRecord {
  /** The id of the event. It begins with the time, so sorting by id also sorts by time. */
  readonly id: string;
  /** The time of the event according to the clock of the process, in milliseconds since 1970. */
  readonly at: number;
  /** The event's type. */
  readonly type: AuditEvent['type'];
  /**
   * The client that the event is about. Null if the event is about no client, or the client is
   * unknown.
   */
  readonly clientId: string | null;
  /**
   * The person that the event is about, or null. After `oauth:person:erase`, this is a pseudonym.
   */
  readonly person: PersonReference | null;
  /**
   * The administrator who performed the action. Null if no administrator did, or if it is not known
   * who did.
   */
  readonly by: Administrator | null;
  /**
   * The IP address from which the request came. Null if the host does not know it, if there was no
   * request, or if the person has been erased.
   */
  readonly address: string | null;
  /**
   * The `X-Request-Id` of the response, which is also in the log. Null if there was no request, or
   * if the person has been erased.
   */
  readonly requestId: string | null;
  /** The id of the authorization that the event is about, or null. */
  readonly authorization: string | null;
  /** The reason in the event, or null if the event has none. */
  readonly reason: string | null;
  /**
   * All other members of the event. Their names are in snake_case, and times are in ISO 8601
   * format.
   */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Selects stored events. An event must match all properties that are set. */
export interface AuditFilter {
  /** Only events at or after this time, which is in milliseconds since 1970. */
  readonly since?: number;
  /** Only events before this time, which is in milliseconds since 1970. */
  readonly until?: number;
  /**
   * Only events about the client with this id. Like all other strings here, it must match exactly.
   */
  readonly clientId?: string;
  /**
   * Only events about this person. Does not include actions that this person performed as an
   * administrator.
   */
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
   * The events on this page. To respond quickly, a page reads only a few thousand stored events. It
   * can therefore contain fewer events than `limit`, or none, although more pages follow. This
   * happens if two conditions each match many events, but only few events match both.
   */
  readonly items: readonly AuditRecord[];
  /** The value of `after` for the next page, or null on the last page. */
  readonly next: string | null;
}

/**
 * The stored audit log (`oauth_server:audit:keep`). You can still read it after you turn off this
 * setting.
 */
export interface KeptAudit {
  /**
   * Returns stored events, newest first. Throws a RangeError if the limit, a time or `after` is
   * invalid.
   */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;
  /**
   * Replaces a person's id with a pseudonym, and removes the IP address and the request id. Each
   * call changes at most `batch` events (default: 500) about the person, and at most `batch` events
   * that the person caused as an administrator. Returns the number of changed events. Repeat the
   * call until it returns 0. If a running request then writes another event about the person, call
   * this method again.
   */
  pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number>;
}
