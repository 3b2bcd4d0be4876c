import type { Log } from '@portico/sql';
import type {
  MeasuredEndpoint,
  MeasuredGrant,
  MeasuredStoreOperation,
  MeasuredTask,
  Measurement,
  ObservedServer,
  Telemetry,
  TokenKind,
} from '../contracts/telemetry.ts';
import { throttleLog } from '../http/throttle-log.ts';
import { getReason } from './reasons.ts';

/**
 * Calls the application's Telemetry for the server. Only this class handles a telemetry that
 * throws, rejects or never ends. The server has null instead if nothing is measured.
 */
export class Measuring {
  readonly #telemetry: Telemetry;
  readonly #isUnavailable: (error: unknown) => boolean;
  readonly #errorCodes: ReadonlySet<string>;
  readonly #logFailures: () => void;
  #latest: unknown;

  /**
   * Portico reads `log` when there is something to report. `errorCodes` are the features' error
   * codes.
   */
  constructor(
    telemetry: Telemetry,
    isUnavailable: (error: unknown) => boolean,
    log: () => Log,
    errorCodes: readonly string[],
  ) {
    this.#telemetry = telemetry;
    this.#isUnavailable = isUnavailable;
    this.#errorCodes = new Set(errorCodes);
    this.#logFailures = throttleLog((times) =>
      log().warning('The telemetry failed, and nothing else did: {exception} ({times})', {
        exception: this.#latest,
        times,
      }),
    );
  }

  /** Runs an endpoint's work and measures it. Returns its result, or rejects with its error. */
  async endpoint(task: MeasuredEndpoint, request: Request, work: () => Promise<Response>): Promise<Response> {
    const response = await this.#run(task, request, work, ({ status }) => status);
    this.answered(task.name, response.status);
    return response;
  }

  /** Runs a grant's work and measures it. */
  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T> {
    return this.#run(task, null, work, noStatus);
  }

  /** Runs a store operation and measures it. */
  store<T>(task: MeasuredStoreOperation, work: () => Promise<T>): Promise<T> {
    return this.#run(task, null, work, noStatus);
  }

  /** Like `Telemetry.answered`. For endpoints, `endpoint()` already reports this. */
  answered(endpoint: string, status: number): void {
    this.#tell(() => this.#telemetry.answered(endpoint, status));
  }

  /** Like `Telemetry.tokenIssued`. */
  tokenIssued(grantType: string, kind: TokenKind): void {
    this.#tell(() => this.#telemetry.tokenIssued(grantType, kind));
  }

  /** Like `Telemetry.replayed`. */
  replayed(what: 'code' | 'refresh_token'): void {
    this.#tell(() => this.#telemetry.replayed(what));
  }

  /** Like `Telemetry.removed`. Reports nothing for 0 rows. */
  removed(rows: string, count: number): void {
    if (count > 0) this.#tell(() => this.#telemetry.removed(rows, count));
  }

  /** Like `Telemetry.observe`. */
  observe(server: ObservedServer): void {
    this.#tell(() => this.#telemetry.observe(server));
  }

  /** Like `Telemetry.refused`, with the error's own code as the reason. */
  refused(endpoint: string, error: Error): void {
    this.#tell(() => this.#telemetry.refused(endpoint, this.#reasonOf(error)));
  }

  /** Like `refused`, but with a status as the reason, if there is no error. */
  refusedWith(endpoint: string, status: number): void {
    this.#tell(() => this.#telemetry.refused(endpoint, String(status)));
  }

  #reasonOf(error: unknown): string {
    return getReason(error, this.#isUnavailable, this.#errorCodes);
  }

  #failed(exception: unknown): void {
    this.#latest = exception;
    this.#logFailures();
  }

  /**
   * Calls the telemetry without waiting for its result. Handles rejections, because an unhandled
   * one would end the process.
   */
  #tell(call: () => unknown): void {
    try {
      const returned = call();
      if (returned instanceof Promise) returned.catch((exception: unknown) => this.#failed(exception));
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
    // Run the work once, even if the telemetry calls it several times.
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

/** Whether this is a Measurement: an application's value may not match its type. */
function isMeasurement(given: unknown): given is Measurement {
  return typeof given === 'object' && given !== null && 'run' in given && 'end' in given;
}

const noStatus = () => 0;

/** Starts the work. If it throws, returns a rejected promise, as an async function would. */
function started<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * Ignores a rejection: the telemetry may pass on the work's error, which the work's caller also
 * gets.
 */
function ignoringRejection(returned: unknown): null {
  if (returned instanceof Promise) returned.catch(() => {});
  return null;
}
