import { context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace';
import type { Telemetry } from 'portico';
import { opentelemetry } from 'portico/telemetry';

/** A reader that collects metrics only when asked. */
export class AskedReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** A series of a metric. */
export interface Series {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The value. For a histogram, it is the number of measurements. */
  readonly value: number;
}

/** The OpenTelemetry SDK in this process, and the data that it received. */
export interface Recording {
  readonly telemetry: Telemetry;
  readonly tracerProvider: TracerProvider;
  series(): Promise<readonly Series[]>;
  /** Returns the value of the series with these attributes, or 0 if it does not exist. */
  value(metric: string, attributes?: Readonly<Record<string, unknown>>): Promise<number>;
  spans(): readonly ReadableSpan[];
  /** Returns the whole export as text. */
  everything(): Promise<string>;
  forgetSpans(): void;
}

/** Makes the SDK pass contexts on, in the whole process. */
export function carryContexts(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
}

export function record(): Recording {
  const reader = new AskedReader();
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const meterProvider = new MeterProvider({ readers: [reader] });

  async function series(): Promise<readonly Series[]> {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw new AggregateError(errors);
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor: { name: metric, unit }, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          metric,
          unit,
          attributes,
          value: typeof value === 'number' ? value : value.count,
        })),
      ),
    );
  }

  return {
    telemetry: opentelemetry({ meterProvider, tracerProvider }),
    tracerProvider,
    series,
    async value(metric, attributes = {}) {
      const wanted = Object.entries(attributes);
      const found = (await series()).filter(
        (each) =>
          each.metric === metric &&
          wanted.every(([name, value]) => each.attributes[name] === value),
      );
      return found.reduce((sum, { value }) => sum + value, 0);
    },
    spans: () => exporter.getFinishedSpans(),
    async everything() {
      const spans = exporter
        .getFinishedSpans()
        .map(({ name, attributes, events, status, links }) => ({
          name,
          attributes,
          events,
          status,
          links,
        }));
      return JSON.stringify([await series(), spans]);
    },
    forgetSpans: () => exporter.reset(),
  };
}
