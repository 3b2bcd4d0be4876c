import { pendingSteps } from '@portico/sql';
import { defineFeature } from '../../feature.ts';
import { workloadIdentityShape } from './config.ts';
import { examineWorkloads } from './examination.ts';
import { workloadTokens } from './workload-tokens.ts';

/** Authenticates clients with the tokens of their platform, instead of secrets (RFC 7523). */
export const workloadIdentity = defineFeature({
  name: 'workload_identity',
  config: workloadIdentityShape,
  start: (server, { workload_identity: isOn = false }) => ({
    ...(isOn ? { workloads: workloadTokens(server) } : {}),
    examination: ({ clients }) => ({
      part: 'workloads',
      of: 'registered clients',
      // Without the schema there are no clients, and another part reports that.
      findings: async (application) =>
        pendingSteps(await application.migrations()).length > 0
          ? []
          : examineWorkloads(clients, server.trustedIssuers, isOn),
    }),
  }),
});
