// Portico with metrics, and with a span for each request, each grant and each operation of the
// store. No span is left out by sampling.
import { runTarget } from '../target.ts';
import { seed, serve } from './portico-application.ts';
import { realTelemetry } from './telemetry.ts';

await runTarget({ seed, serve: (place) => serve(place, {}, realTelemetry({ traces: true })) });
