import type { PersonReference } from '../person.ts';
import type { Administrator, AuditEvent } from './audit.ts';

/** A stored event: its contents, its time and its request. */
export interface AuditRecord {
  /** The event's id. Begins with the time, so ids are ordered by time. */
  readonly id: string;
  /** When it happened, in milliseconds since 1970, by the process's clock. */
  readonly at: number;
  /** The event's type. */
  readonly type: AuditEvent['type'];
  /** The client that the event is about. Null if there is no client, or an unknown one. */
  readonly clientId: string | null;
  /** The person that the event is about. A pseudonym after `oauth:person:erase`. */
  readonly person: PersonReference | null;
  /** The administrator who acted. Null if no administrator acted, or if unknown. */
  readonly by: Administrator | null;
  /**
   * The client address, if the host knows it. Null without a request, and after the person was
   * erased.
   */
  readonly address: string | null;
  /**
   * The response's `X-Request-Id`, which is also in the log. Null without a request, and after the
   * person was erased.
   */
  readonly requestId: string | null;
  /** The id of the authorization that the event is about. */
  readonly authorization: string | null;
  /** The reason, for events that have one. */
  readonly reason: string | null;
  /** All other properties of the event, with names in snake_case. Times are ISO 8601. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Selects stored events. Those that match all given properties are listed. */
export interface AuditFilter {
  /** Only events from this time on, in milliseconds since 1970. */
  readonly since?: number;
  /** Only events before this time, in milliseconds since 1970. */
  readonly until?: number;
  /** Only events about this client. All texts in the filter are compared byte by byte. */
  readonly clientId?: string;
  /**
   * Only events about this person. Leaves out events that the person caused as an administrator.
   */
  readonly person?: PersonReference;
  /** Only events about the authorization with this id, as in `Access.list`. */
  readonly authorization?: string;
  /** Only events of this type, such as `refresh_token_replayed`. */
  readonly type?: AuditEvent['type'];
}

/** Which part of a list to return. */
export interface AuditPageRequest {
  /** The maximum number of events, 1 to 1000. Defaults to 50. */
  readonly limit?: number;
  /** `next` from the previous page. */
  readonly after?: string;
}

/** One page of a list, newest first. */
export interface AuditPage {
  /**
   * The events. A page may have fewer events than requested, or none, although more follow: it
   * reads only some thousands of events. This happens if two conditions are each frequent but rare
   * together.
   */
  readonly items: readonly AuditRecord[];
  /** The cursor of the next page. Null if this is the last page. */
  readonly next: string | null;
}

/**
 * The stored audit (`oauth_server:audit:keep`). You can read it even if no more events are added.
 */
export interface KeptAudit {
  /**
   * Returns the stored events, newest first. Throws a RangeError for an invalid limit, time or
   * `after`.
   */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;
  /**
   * Replaces a person's id with a pseudonym. Changes at most `batch` events about the person, and
   * at most `batch` that the person caused as an administrator. Also removes the network address
   * and the request id. Returns how many events it changed. Call it until it returns 0. Events that
   * are written in the meantime, for example by a running request, need another call.
   */
  pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number>;
}
