import { defineFeature } from '../../feature.ts';
import { grantedBefore } from './granted-before.ts';

/**
 * Lets clients ask for more scopes step by step. It works where the protected API asks for it, such
 * as with challenges.
 */
export const stepUp = defineFeature({
  name: 'step_up',
  start: (server) => ({
    earlierScopes: (client, person, audience) => grantedBefore(server, client, person, audience),
  }),
});
