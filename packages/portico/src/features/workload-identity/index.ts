import { pendingSteps } from '@portico/sql';
import type { ClientAssertions } from '../../clients/client-assertions.ts';
import { defineFeature, type Contribution } from '../../feature.ts';
import type { Server } from '../../server.ts';
import { JWT_BEARER_GRANT, workloadGrant } from './assertion-grant.ts';
import { workloadIdentityShape } from './config.ts';
import { examineWorkloads } from './examination.ts';
import { workloadTokens } from './workload-tokens.ts';

/** Clients can authenticate with a token from their platform instead of a secret (RFC 7523). */
export const workloadIdentity = defineFeature({
  name: 'workload_identity',
  config: workloadIdentityShape,
  start: (server, { workload_identity: isOn = false }) => ({
    ...(isOn ? authenticating(server) : {}),
    examination: ({ clients }) => ({
      part: 'workloads',
      of: 'registered clients',
      // Clients cannot be read without the schema. Another examination reports a missing schema.
      findings: async (application) =>
        pendingSteps(await application.migrations()).length > 0
          ? []
          : examineWorkloads(clients, server.trustedIssuers, isOn),
    }),
  }),
});

/** Returns nothing if no trusted issuer can assert clients. */
function authenticating(server: Server): Contribution {
  const workloads = workloadTokens(server);
  if (workloads.length === 0) return {};
  const profile = server.profiles.servers;
  const getTokens = ({ type }: ClientAssertions) =>
    profile === null || profile.authenticationMethods.includes(type);
  // If the security profile allows workloads no tokens, they can only use introspection.
  if (!workloads.some(getTokens)) return { workloads };
  return {
    workloads,
    assertionGrant: workloadGrant(server),
    metadataValues: { grant_types_supported: [JWT_BEARER_GRANT] },
  };
}
