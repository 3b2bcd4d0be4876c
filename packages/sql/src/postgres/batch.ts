import type { Connection } from 'pg';
import type { SharedAnswer } from '../shared-reads.ts';
import type { StatementResult } from '../engine.ts';
import { isServerError, sendSearchPath, type PostgresStatement } from './statement.ts';

/**
 * Reads of several callers that `pg` sends as one `Submittable`. They are sent in one packet and
 * with one Sync message, so that the server also responds in one packet. The server treats them as
 * one transaction. If one read fails, the server skips the later reads and undoes the earlier ones.
 * The batch then contains no results, only the failed read's error.
 *
 * The server responds in the order of the reads, and completes each read before the next one. The
 * results are used only if the server has completed exactly these reads.
 */
export class PostgresBatch {
  /** `pg` reads these properties of a `Submittable`. */
  readonly name = '';
  readonly text = '';
  readonly query_timeout: number;
  readonly #statements: readonly PostgresStatement[];
  readonly #searchPath: string | null;
  /**
   * Whether the next response belongs to the statement that was sent before the reads to set the
   * `search_path`.
   */
  #isSetting = false;
  /** The position of the read whose response arrives now. */
  #current = 0;
  /** Receives the response. `pg` wraps this callback to apply its time limit. */
  callback: (error: unknown, answer?: SharedAnswer) => void;

  /** The callbacks of `statements` are not used. */
  constructor(
    statements: readonly PostgresStatement[],
    options: { readonly searchPath: string | null; readonly query_timeout: number },
    callback: (error: unknown, answer?: SharedAnswer) => void,
  ) {
    this.#statements = statements;
    this.#searchPath = options.searchPath;
    this.query_timeout = options.query_timeout;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    this.#isSetting = this.#searchPath !== null;
    if (this.#searchPath !== null) sendSearchPath(connection, this.#searchPath);
    const sent: Parameters<PostgresStatement['send']>[1] = new Map();
    for (const statement of this.#statements) statement.send(connection, sent);
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription(message: Parameters<PostgresStatement['handleRowDescription']>[0]): void {
    this.#statements[this.#current]?.handleRowDescription(message);
  }

  handleDataRow(message: Parameters<PostgresStatement['handleDataRow']>[0]): void {
    if (!this.#isSetting) this.#statements[this.#current]?.handleDataRow(message);
  }

  handleCommandComplete(message: { readonly text: string }): void {
    if (this.#isSetting) {
      this.#isSetting = false;
      return;
    }
    this.#statements[this.#current]?.handleCommandComplete(message);
    this.#current += 1;
  }

  handleReadyForQuery(): void {
    if (this.#current !== this.#statements.length) {
      this.callback(
        new Error('The server answered a different number of statements than it received'),
      );
      return;
    }
    const results: StatementResult[] = [];
    for (const [failed, statement] of this.#statements.entries()) {
      const outcome = statement.finish();
      if ('error' in outcome) {
        this.callback(null, { failed, error: outcome.error });
        return;
      }
      results.push(outcome);
    }
    this.callback(null, { results });
  }

  handleError(error: unknown): void {
    if (isServerError(error)) this.callback(null, { failed: this.#current, error });
    else this.callback(error);
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: { sendCopyFail(reason: string): void }): void {
    connection.sendCopyFail('COPY is not supported here');
  }

  handleCopyData(): void {}
}
