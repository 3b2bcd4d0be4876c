import type { AuditEvent } from '../../auditing/audit.ts';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import { currentOrigin } from '../../auditing/origin.ts';
import { orderedIdentifier } from '../../crypto.ts';
import { callerAddress } from '../../host/host.ts';
import type { Server } from '../../server.ts';
import type { Keeping } from './keeping.ts';
import { recordAsLine, toRecord } from './record.ts';
import type { LineStream } from './stream.ts';

/** Writes each event to the stream and then to the store. */
export class Recording {
  readonly #server: Server;
  readonly #keeping: Keeping | null;
  readonly #stream: LineStream | null;
  #lastId = '';

  /** `keeping` is null if events are not stored, and `stream` if they are not streamed. */
  constructor(server: Server, keeping: Keeping | null, stream: LineStream | null) {
    this.#server = server;
    this.#keeping = keeping;
    this.#stream = stream;
  }

  /** Never rejects, because the event has already happened. */
  async record(event: AuditEvent): Promise<void> {
    const { host, clock } = this.#server;
    const at = clock();
    const origin = currentOrigin((request) => callerAddress(host, request));
    const record = toRecord(event, { id: this.#nextId(at), at, ...origin });
    if (this.#stream !== null) this.#send(this.#stream, record);
    await this.#keeping?.keep(record);
  }

  /**
   * The ids of one process are in order, even within a millisecond, unless the clock is set back.
   */
  #nextId(now: number): string {
    const id = orderedIdentifier(now);
    const time = id.slice(0, TIME);
    const last = this.#lastId;
    this.#lastId = time === last.slice(0, TIME) ? time + following(last.slice(TIME)) : id;
    return this.#lastId;
  }

  #send(stream: LineStream, record: AuditRecord): void {
    try {
      stream.write(recordAsLine(record), record.by === 'console');
    } catch (exception) {
      this.#server.host.log.error(
        'The audit event {type} was not written to oauth_server:audit:stream: {exception}',
        { type: record.type, exception },
      );
    }
  }
}

/** The digits of an id that represent the time. */
const TIME = 12;

/** Returns the next hexadecimal number with the same number of digits. */
function following(digits: string): string {
  return (BigInt(`0x${digits}`) + 1n).toString(16).padStart(digits.length, '0');
}
