/**
 * Metrics and traces of the server for OpenTelemetry. Uses only `@opentelemetry/api`, so the
 * application chooses the SDK.
 */
export { opentelemetry, type OpenTelemetryOptions } from './opentelemetry.ts';
