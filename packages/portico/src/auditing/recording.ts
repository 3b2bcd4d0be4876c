import type { Log } from '@portico/sql';
import { orderedIdentifier } from '../crypto.ts';
import type { AuditEvent } from './audit.ts';
import type { Keep } from './keeping.ts';
import { currentOrigin } from './origin.ts';
import { recordAsLine, toRecord, type AuditRecord } from './record.ts';
import type { LineStream } from './stream.ts';

/**
 * Records an event, in addition to telling the host. Never rejects: the event has already happened.
 */
export type RecordEvent = (event: AuditEvent) => Promise<void>;

export interface RecordingOptions {
  /** Null if events are not stored. */
  readonly keep: Keep | null;
  /** Null if events are not streamed. */
  readonly stream: LineStream | null;
  /** The client address of a request, from the host. */
  readonly addressOf: (request: Request) => string | null;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
}

export function createRecording({ keep, stream, addressOf, clock, log }: RecordingOptions): RecordEvent {
  const nextId = createIds();
  return async (event) => {
    const at = clock();
    const record = toRecord(event, { id: nextId(at), at, ...currentOrigin(addressOf) });
    if (stream !== null) send(stream, record, log);
    await keep?.(record);
  };
}

/** How many digits of an id are its time. */
const TIME = 12;

/** Makes ids for one process. They stay in order even within a millisecond. */
function createIds(): (now: number) => string {
  let last = '';
  return (now) => {
    const id = orderedIdentifier(now);
    const time = id.slice(0, TIME);
    const follows = (digits: string) =>
      (BigInt(`0x${digits}`) + 1n).toString(16).padStart(digits.length, '0');
    last = time === last.slice(0, TIME) ? time + follows(last.slice(TIME)) : id;
    return last;
  };
}

function send(stream: LineStream, record: AuditRecord, log: Log): void {
  try {
    stream.write(recordAsLine(record), record.by === 'console');
  } catch (exception) {
    log.error('The audit event {type} was not written to oauth_server:audit:stream: {exception}', {
      type: record.type,
      exception,
    });
  }
}
