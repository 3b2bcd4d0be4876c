import { defineFeature } from '../../feature.ts';
import { grantedBefore } from './granted-before.ts';

/**
 * Lets clients request more scopes when an API responds that it needs them. The new authorization
 * also includes the scopes that the user has already allowed.
 */
export const stepUp = defineFeature({
  name: 'step_up',
  start: (server) => ({
    earlierScopes: (client, person, audience) => grantedBefore(server, client, person, audience),
  }),
});
