// Portico with metrics and a span for each request, grant and operation of the store, none of them
// sampled out.
import { runTarget } from '../target.ts';
import { seed, serve } from './portico-application.ts';
import { realTelemetry } from './telemetry.ts';

await runTarget({ seed, serve: (place) => serve(place, {}, realTelemetry({ traces: true })) });
