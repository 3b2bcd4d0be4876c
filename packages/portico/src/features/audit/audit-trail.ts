import type { Audit, AuditEvent } from '../../auditing/audit.ts';
import type { AuditFilter, AuditPage, AuditPageRequest } from '../../auditing/kept-audit.ts';
import type { AuditSink } from '../../auditing/server-audit.ts';
import type { AuditConfigInput } from '../../config.ts';
import type { PersonReference } from '../../person.ts';
import type { Server } from '../../server.ts';
import type { AuditStore } from './keeping.ts';
import type { AuditTable, StoredAudit } from './kept-audit.ts';
import type { Recording } from './recording.ts';

type OpenTable = () => Promise<AuditStore & AuditTable>;

const A_DAY = 86_400_000;

/**
 * Stores audit events and writes them to a stream. The code for this is loaded only if it is
 * needed.
 */
export class AuditTrail implements AuditSink {
  readonly keeps: boolean;
  readonly record: Audit | null;
  readonly #server: Server;
  readonly #stream: string | null;
  readonly #table: OpenTable;
  readonly #recording = once(() => this.#startRecording());
  readonly #kept = once(() => this.#open());

  constructor(
    server: Server,
    { keep = false, stream, retention_days: days }: AuditConfigInput,
    table: OpenTable = async () => new (await import('./table.ts')).AuditRecords(server.database),
  ) {
    this.#server = server;
    this.keeps = keep;
    this.#stream = stream ?? null;
    this.#table = table;
    this.record = keep || stream !== undefined ? (event) => this.#record(event) : null;
    // Load the code now. A deployment may replace its files while this process runs (decision 22).
    if (this.record !== null) void this.#recording();
    if (keep || days !== undefined) void this.#kept();
  }

  async list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage> {
    return (await this.#kept()).list(filter, page);
  }

  async pseudonymise(person: PersonReference, pseudonym: string, batch?: number): Promise<number> {
    return (await this.#kept()).pseudonymise(person, pseudonym, batch);
  }

  /** Deletes at most `limit` events that are older than `days`. Returns their number. */
  async removeOlder(days: number, limit: number): Promise<number> {
    return (await this.#kept()).removeBefore(this.#server.clock() - days * A_DAY, limit);
  }

  async #record(event: AuditEvent): Promise<void> {
    await (await this.#recording()).record(event);
  }

  async #open(): Promise<StoredAudit> {
    const { StoredAudit: Stored } = await import('./kept-audit.ts');
    return new Stored(await this.#table());
  }

  async #startRecording(): Promise<Recording> {
    const { Recording: Started } = await import('./recording.ts');
    const { log } = this.#server.host;
    return new Started(
      this.#server,
      this.keeps ? new (await import('./keeping.ts')).Keeping(await this.#table(), log) : null,
      this.#stream === null ? null : new (await import('./stream.ts')).LineStream(this.#stream),
    );
  }
}

/**
 * Returns a function that runs `start` once and returns its result. If `start` fails, the next call
 * runs it again.
 */
function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  return () => {
    if (started === null) {
      started = start();
      started.catch(() => (started = null));
    }
    return started;
  };
}
