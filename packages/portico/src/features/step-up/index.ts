import { defineFeature } from '../../feature.ts';
import { grantedBefore } from './granted-before.ts';

/**
 * Lets clients ask for more scopes step by step, if the protected API asks for that, for example
 * with challenges.
 */
export const stepUp = defineFeature({
  name: 'step_up',
  start: (server) => ({
    earlierScopes: (client, person, audience) => grantedBefore(server, client, person, audience),
  }),
});
