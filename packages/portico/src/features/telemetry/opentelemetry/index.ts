/**
 * OpenTelemetry metrics and traces of the server. Portico imports only `@opentelemetry/api`, so the
 * application can choose the SDK.
 */
export { opentelemetry, type OpenTelemetryOptions } from './opentelemetry.ts';
