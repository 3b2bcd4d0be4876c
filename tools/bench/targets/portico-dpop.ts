// Portico that takes bound tokens, for one call with each kind:
// `run.js --targets portico-dpop --works protected`.
import { runTarget } from '../target.ts';
import { seed, serve } from './portico-application.ts';

await runTarget({
  seed: async (place) => ({ ...(await seed(place)), provesTo: place.url }),
  serve: (place) => serve(place, { dpop: 'accept' }),
});
