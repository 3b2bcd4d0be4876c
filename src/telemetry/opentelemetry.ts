import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { MeasuredTask, Measurement, Telemetry } from '../contracts/telemetry.ts';
import { createMeters, type Meters } from './meters.ts';
import { createSpans, type StartedSpan } from './spans.ts';

/** What is measured, and who takes it. */
export interface OpenTelemetryOptions {
  /** Whether there are metrics; true. */
  readonly metrics?: boolean;
  /** Whether there are spans; true. */
  readonly traces?: boolean;
  /** Takes the metrics; the global one unless given, which has to be registered before the first request. */
  readonly meterProvider?: MeterProvider;
  /** Takes the spans; the global one unless given. */
  readonly tracerProvider?: TracerProvider;
}

/**
 * Metrics and traces through `@opentelemetry/api`, for the option `telemetry` of `defineApplication()` or `createAuthorizationServer()`; one for each
 * server. Names, units and attributes are listed in docs/telemetry.md. Without a registered SDK all of it leads nowhere.
 */
export function opentelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  const meters = options.metrics === false ? null : createMeters(options.meterProvider);
  const spans = options.traces === false ? null : createSpans(options.tracerProvider);
  return {
    begin: (task, request) =>
      new OngoingTask(meters, task, request, spans === null ? null : spans.start(task, request)),
    answered: (endpoint, status) => meters?.answered(endpoint, status),
    tokenIssued: (grantType, kind) => meters?.tokenIssued(grantType, kind),
    refused: (endpoint, reason) => meters?.refused(endpoint, reason),
    replayed: (what) => meters?.replayed(what),
    removed: (rows, count) => meters?.removed(rows, count),
    observe: (server) => meters?.observe(server),
  };
}

class OngoingTask implements Measurement {
  readonly #meters: Meters | null;
  readonly #task: MeasuredTask;
  readonly #request: Request | null;
  readonly #span: StartedSpan | null;
  readonly #begun = performance.now();

  constructor(meters: Meters | null, task: MeasuredTask, request: Request | null, span: StartedSpan | null) {
    this.#meters = meters;
    this.#task = task;
    this.#request = request;
    this.#span = span;
  }

  run<T>(work: () => T): T {
    return this.#span === null ? work() : this.#span.run(work);
  }

  end(failure: string | null, status: number): void {
    this.#span?.end(failure, status);
    const seconds = (performance.now() - this.#begun) / 1000;
    this.#meters?.took(this.#task, this.#request, seconds, failure, status);
  }
}
