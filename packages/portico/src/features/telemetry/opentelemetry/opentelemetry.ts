import { metrics, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api';
import type { MeasuredTask, Measurement, Telemetry } from '../../../measuring.ts';
import { SCOPE } from './attributes.ts';
import { Meters } from './meters.ts';
import { Spans, type OpenSpan } from './spans.ts';

/** Options that control what Portico records and where it sends the data. */
export interface OpenTelemetryOptions {
  /** Whether to record metrics. Defaults to true. */
  readonly metrics?: boolean;
  /** Whether to record spans. Defaults to true. */
  readonly traces?: boolean;
  /**
   * The provider that receives the metrics. Defaults to the global provider, which you must
   * register before you create the server or start the application.
   */
  readonly meterProvider?: MeterProvider;
  /** The provider that receives the spans. Defaults to the global provider. */
  readonly tracerProvider?: TracerProvider;
}

/**
 * Returns a Telemetry that records metrics and traces with `@opentelemetry/api`. Pass it to
 * `defineApplication()` or `createAuthorizationServer()` as the option `telemetry`. Create a
 * separate Telemetry for each server. If no SDK is registered, it records nothing. For names, units
 * and attributes, see docs/telemetry.md.
 *
 * @example
 * export default defineApplication({ config, plugins, telemetry: opentelemetry() });
 */
export function opentelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  const { metrics: isMetered = true, traces: isTraced = true, meterProvider } = options;
  let made: Meters | null = null;
  // The application may register the global provider after this call, so look it up only when the
  // server is created.
  const meters = () =>
    isMetered
      ? (made ??= new Meters((meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE)))
      : null;
  // The global tracer provider works before registration. It forwards spans to the provider that is
  // registered later.
  const { tracerProvider = trace.getTracerProvider() } = options;
  const spans = isTraced ? new Spans(tracerProvider.getTracer(SCOPE)) : null;
  return {
    begin: (task, request) =>
      new OngoingTask(meters, task, request, spans?.start(task, request) ?? null),
    answered: (endpoint, status) => meters()?.answered(endpoint, status),
    tokenIssued: (grantType, kind) => meters()?.tokenIssued(grantType, kind),
    refused: (endpoint, reason) => meters()?.refused(endpoint, reason),
    replayed: (what) => meters()?.replayed(what),
    removed: (rows, count) => meters()?.removed(rows, count),
    observe: (server) => meters()?.observe(server),
  };
}

class OngoingTask implements Measurement {
  readonly #meters: () => Meters | null;
  readonly #task: MeasuredTask;
  readonly #request: Request | null;
  readonly #span: OpenSpan | null;
  readonly #begun = performance.now();

  constructor(
    meters: () => Meters | null,
    task: MeasuredTask,
    request: Request | null,
    span: OpenSpan | null,
  ) {
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
    this.#meters()?.took(this.#task, this.#request, seconds, failure, status);
  }
}
