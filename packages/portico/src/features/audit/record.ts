import type { Administrator, AuditEvent } from '../../auditing/audit.ts';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import { jsonText } from '../../http/json.ts';
import { samePerson, type PersonReference } from '../../person.ts';

/** The fields of a record that do not come from the event. */
export type RecordOrigin = Pick<AuditRecord, 'id' | 'at' | 'address' | 'requestId'>;

/** An event of any type, with the fields that only some types have. */
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
    // The host may have passed the whole account object. Store only the reference.
    person:
      person === undefined || person === null ? null : { provider: person.provider, id: person.id },
    by: by === undefined || by === 'console' ? (by ?? null) : { provider: by.provider, id: by.id },
    address: isOwn ? null : (address ?? origin.address),
    requestId: isOwn ? null : (requestId ?? origin.requestId),
    authorization: authorization ?? null,
    reason: reason ?? null,
    details: Object.fromEntries(Object.entries(rest).map(([name, value]) => detail(name, value))),
  };
}

/**
 * Returns true if a user erased their own data. The address or the request id in such a record
 * would reveal which user the pseudonym replaces.
 */
function isOwnErasure(event: AuditEvent): boolean {
  return (
    event.type === 'person_erased' &&
    typeof event.by === 'object' &&
    samePerson(event.by, event.person)
  );
}

/**
 * Returns a field with its public name and value. Example: `previousExpiresAt: 0` becomes
 * `previous_expires_at: '1970-01-01T00:00:00.000Z'`.
 */
function detail(name: string, value: unknown): readonly [string, unknown] {
  const isTime = name.endsWith('At') && typeof value === 'number';
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [snake, isTime ? new Date(value).toISOString() : value];
}

/** The format of `oauth:audit --json` and the stream. Its field names never change. */
export function recordAsJson(record: AuditRecord) {
  const { id, at, type, clientId, person, by, address, requestId, authorization, reason, details } =
    record;
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

/** The content of `recordAsJson` on one line. */
export function recordAsLine(record: AuditRecord): string {
  return visibleJson(jsonText(recordAsJson(record)));
}

/**
 * Returns the same JSON value with only visible characters. Escapes characters that move the
 * terminal's cursor, change the text direction, or end a line in other programs. Keeps the line
 * breaks between fields.
 */
export function visibleJson(json: string): string {
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) =>
    found === '\n' ? found : escaped(found),
  );
}

function escaped(found: string): string {
  return Array.from(
    { length: found.length },
    (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
