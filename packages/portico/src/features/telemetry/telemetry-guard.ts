import type { Database, Log } from '@portico/sql';
import type { Outbox } from '../../outbox/outbox.ts';
import type { KeyRing } from '../../keys/key-ring.ts';
import type {
  MeasuredEndpoint,
  MeasuredGrant,
  MeasuredStoreOperation,
  MeasuredTask,
  Measurement,
  Measuring,
  Telemetry,
  TokenKind,
} from '../../measuring.ts';
import type { Store } from '../../store/store.ts';
import { measuredStore } from './measured-store.ts';
import { observedServer } from './observed-server.ts';
import { throttleLog } from '../../http/throttle-log.ts';
import { getReason } from './reasons.ts';

/**
 * Calls the application's Telemetry. Requests succeed even if it throws, rejects or never finishes.
 * A server without Telemetry has null instead of this object.
 */
export class TelemetryGuard implements Measuring {
  readonly #telemetry: Telemetry;
  readonly #database: Database;
  readonly #errorCodes: ReadonlySet<string>;
  readonly #logFailures: () => void;
  #latest: unknown;

  /** `log` is called only to report an error. `errorCodes` are those of the features. */
  constructor(
    telemetry: Telemetry,
    database: Database,
    log: () => Log,
    errorCodes: readonly string[],
  ) {
    this.#telemetry = telemetry;
    this.#database = database;
    this.#errorCodes = new Set(errorCodes);
    this.#logFailures = throttleLog((times) =>
      log().warning('Telemetry failed; requests are not affected: {exception} ({times})', {
        exception: this.#latest,
        times,
      }),
    );
  }

  async endpoint<T extends { readonly status: number }>(
    task: MeasuredEndpoint,
    request: Request,
    work: () => Promise<T>,
  ): Promise<T> {
    const answer = await this.#run(task, request, work, ({ status }) => status);
    this.answered(task.name, answer.status);
    return answer;
  }

  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T> {
    return this.#run(task, null, work, noStatus);
  }

  wrapStore<Whole extends Store>(store: Whole): Whole {
    return measuredStore(store, this, this.#database.dialect);
  }

  store<T>(task: MeasuredStoreOperation, work: () => Promise<T>): Promise<T> {
    return this.#run(task, null, work, noStatus);
  }

  answered(endpoint: string, status: number): void {
    this.#tell(() => this.#telemetry.answered(endpoint, status));
  }

  tokenIssued(grantType: string, kind: TokenKind): void {
    this.#tell(() => this.#telemetry.tokenIssued(grantType, kind));
  }

  replayed(what: 'code' | 'refresh_token'): void {
    this.#tell(() => this.#telemetry.replayed(what));
  }

  /** Ignores a count of 0. */
  removed(rows: string, count: number): void {
    if (count > 0) this.#tell(() => this.#telemetry.removed(rows, count));
  }

  observe(keys: KeyRing, clock: () => number, outbox: Outbox): void {
    const observed = observedServer(this.#database, keys, clock, outbox);
    this.#tell(() => this.#telemetry.observe(observed));
  }

  refused(endpoint: string, error: Error): void {
    this.#tell(() => this.#telemetry.refused(endpoint, this.#reasonOf(error)));
  }

  refusedWith(endpoint: string, status: number): void {
    this.#tell(() => this.#telemetry.refused(endpoint, String(status)));
  }

  #reasonOf(error: unknown): string {
    return getReason(error, (failed) => this.#database.isUnavailable(failed), this.#errorCodes);
  }

  #failed(exception: unknown): void {
    this.#latest = exception;
    this.#logFailures();
  }

  /**
   * Does not wait for the result. Handles rejections, because an unhandled one would end the
   * process.
   */
  #tell(call: () => unknown): void {
    try {
      const returned = call();
      if (returned instanceof Promise)
        returned.catch((exception: unknown) => this.#failed(exception));
    } catch (exception) {
      this.#failed(exception);
    }
  }

  #begin(task: MeasuredTask, request: Request | null): Measurement | null {
    let measurement: Measurement | null = null;
    this.#tell(() => {
      const begun: unknown = this.#telemetry.begin(task, request);
      if (isMeasurement(begun)) measurement = begun;
      return begun;
    });
    return measurement;
  }

  async #run<T>(
    task: MeasuredTask,
    request: Request | null,
    work: () => Promise<T>,
    statusOf: (result: T) => number,
  ): Promise<T> {
    const measurement = this.#begin(task, request);
    if (measurement === null) return work();
    // The Telemetry may call `run` several times, but `work` must run once.
    let begun: Promise<T> | null = null;
    const once = () => (begun ??= started(work));
    this.#tell(() => {
      const returned: unknown = measurement.run(once);
      return returned === begun ? null : ignoringRejection(returned);
    });
    try {
      const result = await once();
      this.#tell(() => {
        const status = statusOf(result);
        return measurement.end(status < 500 ? null : String(status), status);
      });
      return result;
    } catch (error) {
      this.#tell(() => measurement.end(this.#reasonOf(error), 0));
      throw error;
    }
  }
}

/** The application's Telemetry may return another type. */
function isMeasurement(given: unknown): given is Measurement {
  return typeof given === 'object' && given !== null && 'run' in given && 'end' in given;
}

const noStatus = () => 0;

/** If `work` throws, returns a rejected promise, as an async function does. */
function started<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * If the Telemetry rejects with the error from `work`, the caller of `work` already receives it.
 */
function ignoringRejection(returned: unknown): null {
  if (returned instanceof Promise) returned.catch(() => {});
  return null;
}
