import { context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  InMemoryMetricExporter,
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { Telemetry } from 'portico';
import { opentelemetry } from 'portico/telemetry';

/** Accepts spans and drops them. The cost of a collector is not part of the server's cost. */
const NOWHERE: SpanExporter = {
  export: (_, done) => done({ code: 0 }),
  shutdown: async () => {},
};

/** Returns the SDK as an application registers it. It collects metrics every ten seconds. */
export function realTelemetry({ traces }: { readonly traces: boolean }): Telemetry {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 10_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  if (!traces) return opentelemetry({ meterProvider, traces });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracerProvider = new TracerProvider({
    spanProcessors: [new BatchSpanProcessor({ exporter: NOWHERE })],
  });
  return opentelemetry({ meterProvider, tracerProvider });
}
