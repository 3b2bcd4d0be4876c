/** What the server does as metrics and traces of OpenTelemetry, by `@opentelemetry/api` alone: which SDK takes them is the application's choice. */
export { opentelemetry, type OpenTelemetryOptions } from './opentelemetry.ts';
