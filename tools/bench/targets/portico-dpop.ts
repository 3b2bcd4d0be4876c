// Portico that accepts bound tokens. It allows you to compare calls with both kinds of tokens:
// `run.js --targets portico-dpop --works protected`
import { runTarget } from '../target.ts';
import { seed, serve } from './portico-application.ts';

await runTarget({
  seed: async (place) => ({ ...(await seed(place)), provesTo: place.url }),
  serve: (place) => serve(place, { dpop: 'accept' }),
});
