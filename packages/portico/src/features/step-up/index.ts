import { defineFeature } from '../../feature.ts';
import { grantedBefore } from './granted-before.ts';

/**
 * Clients can request more scopes when an API says that it needs them. The new authorization
 * includes the scopes that the user has already allowed.
 */
export const stepUp = defineFeature({
  name: 'step_up',
  start: (server) => ({
    earlierScopes: (client, person, audience) => grantedBefore(server, client, person, audience),
  }),
});
