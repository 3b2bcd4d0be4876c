import type { Log } from '@portico/sql';
import { orderedIdentifier } from '../crypto.ts';
import type { AuditEvent } from './audit.ts';
import type { Keep } from './keeping.ts';
import { currentOrigin } from './origin.ts';
import { recordAsLine, toRecord, type AuditRecord } from './record.ts';
import type { LineStream } from './stream.ts';

/** Records an event, beside the host that is told of it. Never rejects: the event has happened already. */
export type RecordEvent = (event: AuditEvent) => Promise<void>;

export interface RecordingOptions {
  /** Null where nothing is kept. */
  readonly keep: Keep | null;
  /** Null where nothing is streamed. */
  readonly stream: LineStream | null;
  /** Where a request comes from, as the host knows it. */
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

/** The digits of an id that are its time. */
const TIME = 12;

/** Ids of one process, in the order in which they are asked for also within a millisecond. */
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
