import { defineFeature } from '../../feature.ts';
import { grantedBefore } from './granted-before.ts';

/**
 * Lets clients request more scopes step by step if the protected API asks for them, for example
 * with challenges.
 */
export const stepUp = defineFeature({
  name: 'step_up',
  start: (server) => ({
    earlierScopes: (client, person, audience) => grantedBefore(server, client, person, audience),
  }),
});
