import { defineFeature } from '../../feature.ts';
import { TelemetryGuard } from './telemetry-guard.ts';

/**
 * Reports the server's activity to the application's `Telemetry`, for example `opentelemetry()`.
 */
export const telemetry = defineFeature({
  name: 'telemetry',
  measuring: (receiver, database, log, errorCodes) =>
    new TelemetryGuard(receiver, database, log, errorCodes),
});
