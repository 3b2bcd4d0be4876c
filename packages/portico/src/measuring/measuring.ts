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
import { reasonOf } from './reasons.ts';

/**
 * What the server calls instead of a Telemetry. Only this handles a telemetry that throws, rejects
 * or never ends. Null if nothing is measured.
 */
export interface Measuring {
  /** Runs the work of an endpoint, and measures it; resolves or rejects as the work does. */
  endpoint(task: MeasuredEndpoint, request: Request, work: () => Promise<Response>): Promise<Response>;
  /** The same for a grant. */
  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T>;
  /** The same for an operation of the store. */
  store<T>(task: MeasuredStoreOperation, work: () => Promise<T>): Promise<T>;
  /** As `Telemetry.answered`; for endpoints this is already reported. */
  answered(endpoint: string, status: number): void;
  /** As `Telemetry.tokenIssued`. */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /** As `Telemetry.replayed`. */
  replayed(what: 'code' | 'refresh_token'): void;
  /** As `Telemetry.removed`; nothing for 0 rows. */
  removed(rows: string, count: number): void;
  /** As `Telemetry.observe`. */
  observe(server: ObservedServer): void;
  /** As `Telemetry.refused`, with the error's own code as the reason. */
  refused(endpoint: string, error: Error): void;
  /** The same with a status as the reason, if there is no error. */
  refusedWith(endpoint: string, status: number): void;
}

export interface MeasuringOptions {
  readonly telemetry: Telemetry;
  readonly isUnavailable: (error: unknown) => boolean;
  /** Read once there is something to report. */
  readonly log: () => Log;
  /** The error codes of the server's features. */
  readonly errorCodes: readonly string[];
}

export function createMeasuring(options: MeasuringOptions): Measuring {
  const { telemetry, isUnavailable, log } = options;
  const errorCodes = new Set(options.errorCodes);
  let latest: unknown;
  const logFailures = throttleLog((times) =>
    log().warning('The telemetry failed, and nothing else did: {exception} ({times})', {
      exception: latest,
      times,
    }),
  );

  function failed(exception: unknown): void {
    latest = exception;
    logFailures();
  }

  /** Does not wait for its result. A rejected promise without a handler would end the process. */
  function tell(call: () => unknown): void {
    try {
      const returned = call();
      if (returned instanceof Promise) returned.catch(failed);
    } catch (exception) {
      failed(exception);
    }
  }

  function begin(task: MeasuredTask, request: Request | null): Measurement | null {
    let measurement: Measurement | null = null;
    tell(() => {
      const begun: unknown = telemetry.begin(task, request);
      if (isMeasurement(begun)) measurement = begun;
      return begun;
    });
    return measurement;
  }

  async function run<T>(
    task: MeasuredTask,
    request: Request | null,
    work: () => Promise<T>,
    statusOf: (result: T) => number,
  ): Promise<T> {
    const measurement = begin(task, request);
    if (measurement === null) return work();
    // Once, whatever the telemetry does with it.
    let begun: Promise<T> | null = null;
    const once = () => (begun ??= started(work));
    tell(() => {
      const returned: unknown = measurement.run(once);
      return returned === begun ? null : ignoringRejection(returned);
    });
    try {
      const result = await once();
      tell(() => {
        const status = statusOf(result);
        return measurement.end(status < 500 ? null : String(status), status);
      });
      return result;
    } catch (error) {
      tell(() => measurement.end(reasonOf(error, isUnavailable, errorCodes), 0));
      throw error;
    }
  }

  return {
    async endpoint(task, request, work) {
      const response = await run(task, request, work, ({ status }) => status);
      tell(() => telemetry.answered(task.name, response.status));
      return response;
    },
    grant: (task, work) => run(task, null, work, noStatus),
    store: (task, work) => run(task, null, work, noStatus),
    answered: (endpoint, status) => tell(() => telemetry.answered(endpoint, status)),
    tokenIssued: (grantType, kind) => tell(() => telemetry.tokenIssued(grantType, kind)),
    replayed: (what) => tell(() => telemetry.replayed(what)),
    removed(rows, count) {
      if (count > 0) tell(() => telemetry.removed(rows, count));
    },
    observe: (server) => tell(() => telemetry.observe(server)),
    refused: (endpoint, error) =>
      tell(() => telemetry.refused(endpoint, reasonOf(error, isUnavailable, errorCodes))),
    refusedWith: (endpoint, status) => tell(() => telemetry.refused(endpoint, String(status))),
  };
}

/** An application's value may not match its type. */
function isMeasurement(given: unknown): given is Measurement {
  return typeof given === 'object' && given !== null && 'run' in given && 'end' in given;
}

const noStatus = () => 0;

/** If it throws, this rejects, as an async function would. */
function started<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** It may reject as the work does. The caller of the work gets that error. */
function ignoringRejection(returned: unknown): null {
  if (returned instanceof Promise) returned.catch(() => {});
  return null;
}
