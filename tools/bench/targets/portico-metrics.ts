// Portico with metrics, which OpenTelemetry's SDK collects:
// `cost.js token portico portico-metrics portico-traces`
import { runTarget } from '../target.ts';
import { seed, serve } from './portico-application.ts';
import { realTelemetry } from './telemetry.ts';

await runTarget({ seed, serve: (place) => serve(place, {}, realTelemetry({ traces: false })) });
