// Portico with a window in which a refresh may be repeated. Compare it with `portico`:
// `run.js --targets portico,portico-retry --works refresh`
import { runTarget } from '../target.ts';
import { seed, serve } from './portico-application.ts';

await runTarget({ seed, serve: (place) => serve(place, { refresh_retry_seconds: 60 }) });
