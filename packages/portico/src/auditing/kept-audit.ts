import type { PersonReference } from '../person.ts';
import type { Administrator, AuditEvent } from './audit.ts';

/** A stored event, with its time and the request that caused it. */
export interface AuditRecord {
  /** The event's id. It starts with the time, so ids sort by time. */
  readonly id: string;
  /** When the event happened, in milliseconds since 1970, by the process's clock. */
  readonly at: number;
  /** The event's type. */
  readonly type: AuditEvent['type'];
  /**
   * The client that the event is about. Null if the event has no client or the client is unknown.
   */
  readonly clientId: string | null;
  /**
   * The person that the event is about, or null. After `oauth:person:erase`, this is a pseudonym.
   */
  readonly person: PersonReference | null;
  /** The administrator who acted. Null if no administrator acted, or if it is unknown which one. */
  readonly by: Administrator | null;
  /**
   * The IP address that the request came from. Null if the host does not know the address, if there
   * was no request, and after the person was erased.
   */
  readonly address: string | null;
  /**
   * The `X-Request-Id` of the response. The log contains the same id. Null if there was no request,
   * and after the person was erased.
   */
  readonly requestId: string | null;
  /** The id of the authorization that the event is about. */
  readonly authorization: string | null;
  /** The event's reason. Null if the event has no reason. */
  readonly reason: string | null;
  /** All other properties of the event, with names in snake_case. Times are in ISO 8601 format. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Selects stored events. An event must match every property that is set. */
export interface AuditFilter {
  /** Only events at or after this time, in milliseconds since 1970. */
  readonly since?: number;
  /** Only events before this time, in milliseconds since 1970. */
  readonly until?: number;
  /** Only events about this client. This and all other strings must match exactly. */
  readonly clientId?: string;
  /**
   * Only events about this person. Leaves out events that the person caused as an administrator.
   */
  readonly person?: PersonReference;
  /** Only events about the authorization with this id, as in `Access.list`. */
  readonly authorization?: string;
  /** Only events of this type, for example `refresh_token_replayed`. */
  readonly type?: AuditEvent['type'];
}

/** Which page of a list to return. */
export interface AuditPageRequest {
  /** The maximum number of events, 1 to 1000. Defaults to 50. */
  readonly limit?: number;
  /** The `next` of the previous page. Defaults to the first page. */
  readonly after?: string;
}

/** One page of a list, newest first. */
export interface AuditPage {
  /**
   * The events. Each page reads only a few thousand stored events, so that it responds quickly. A
   * page can therefore contain fewer events than `limit`, or none, even if more pages follow. This
   * happens if two conditions each match many events, but few events match both.
   */
  readonly items: readonly AuditRecord[];
  /** Pass this as `after` to get the next page. Null on the last page. */
  readonly next: string | null;
}

/**
 * The stored audit log (`oauth_server:audit:keep`). You can still read it after you have turned the
 * setting off.
 */
export interface KeptAudit {
  /**
   * Returns stored events, newest first. Throws a RangeError for an invalid limit, time or `after`.
   */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;
  /**
   * Replaces a person's id with a pseudonym. Each call changes at most `batch` events about the
   * person, and at most `batch` events that the person caused as an administrator. Also removes the
   * network address and the request id from these events. Returns how many events it changed. Call
   * it until it returns 0. If a request that is still running then writes another event, call it
   * again.
   */
  pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number>;
}
