import { jsonText } from '../contracts/json.ts';
import { samePerson, type PersonReference } from '../contracts/person.ts';
import type { Administrator, AuditEvent } from './audit.ts';

/** An event as it is kept: what it says, when it happened, and which request it belongs to. */
export interface AuditRecord {
  /** Begins with the time: records in the order of their ids are in that of time. */
  readonly id: string;
  /** Milliseconds since 1970, by the clock of the process that it happened in. */
  readonly at: number;
  /** What happened. */
  readonly type: AuditEvent['type'];
  /** Null where the event is about no client, or about none that is known. */
  readonly clientId: string | null;
  /** Whom it is about; after `oauth:person:erase` a pseudonym. */
  readonly person: PersonReference | null;
  /** Which administrator did it; null where none did, or nobody said who. */
  readonly by: Administrator | null;
  /** Where the request came from, as far as the host knows; null without a request, and once the person was erased. */
  readonly address: string | null;
  /** The `X-Request-Id` of the answer, by which the log names the request too; null without a request, and once the person was erased. */
  readonly requestId: string | null;
  /** The id of the authorization that it is about. */
  readonly authorization: string | null;
  /** Why, where an event says it. */
  readonly reason: string | null;
  /** What else the event says, by names in snake_case; times are ISO 8601. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What is known of a record beside its event. */
export type RecordOrigin = Pick<AuditRecord, 'id' | 'at' | 'address' | 'requestId'>;

/** Any event, with what only some of them say. */
interface AnyEvent {
  readonly type: AuditEvent['type'];
  readonly clientId?: string | null;
  readonly person?: PersonReference | null;
  readonly by?: Administrator;
  readonly address?: string | null;
  readonly requestId?: string | null;
  readonly authorization?: string | null;
  readonly reason?: string;
}

export function toRecord(event: AuditEvent, origin: RecordOrigin): AuditRecord {
  const { type, clientId, person, by, address, requestId, authorization, reason, ...rest } =
    event as AnyEvent;
  const isOwn = isOwnErasure(event);
  return {
    ...origin,
    type,
    clientId: clientId ?? null,
    // Nothing but the reference: a host may have given an account in its place.
    person: person === undefined || person === null ? null : { provider: person.provider, id: person.id },
    by: by === undefined || by === 'console' ? (by ?? null) : { provider: by.provider, id: by.id },
    address: isOwn ? null : (address ?? origin.address),
    requestId: isOwn ? null : (requestId ?? origin.requestId),
    authorization: authorization ?? null,
    reason: reason ?? null,
    details: Object.fromEntries(Object.entries(rest).map(([name, value]) => detail(name, value))),
  };
}

/** Whether somebody had themself forgotten: where they came from, and their request, which the log names, would say who the pseudonym is. */
function isOwnErasure(event: AuditEvent): boolean {
  return event.type === 'person_erased' && typeof event.by === 'object' && samePerson(event.by, event.person);
}

/** `previousExpiresAt: 0` is `previous_expires_at: '1970-01-01T00:00:00.000Z'`. */
function detail(name: string, value: unknown): readonly [string, unknown] {
  const isTime = name.endsWith('At') && typeof value === 'number';
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [snake, isTime ? new Date(value).toISOString() : value];
}

/** A record as everybody outside reads it: `oauth:audit --json`, and each line of the stream. These names stay. */
export function recordAsJson(record: AuditRecord) {
  const { id, at, type, clientId, person, by, address, requestId, authorization, reason, details } = record;
  return {
    id,
    time: new Date(at).toISOString(),
    type,
    client_id: clientId,
    person,
    by,
    address,
    request_id: requestId,
    authorization_id: authorization,
    reason,
    details,
  };
}

/** The same as one line. */
export function recordAsLine(record: AuditRecord): string {
  return visibleJson(jsonText(recordAsJson(record)));
}

/**
 * JSON that means the same, and in which everything can be seen: what moves a terminal's cursor, turns text around or ends a line
 * elsewhere is escaped. The ends of lines between its members stay.
 */
export function visibleJson(json: string): string {
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => (found === '\n' ? found : escaped(found)));
}

function escaped(found: string): string {
  return Array.from(
    { length: found.length },
    (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
