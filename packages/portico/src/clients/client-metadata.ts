import type { ClientKeys } from '../store/client.ts';
import { isTrustDomain } from '../keys/assertions/workloads.ts';
import { PRIVATE_KEY_JWT } from './credentials.ts';
import { JWT_ASSERTION, JWT_SVID_ASSERTION } from './reading-assertions.ts';
import { demandMetadata, type ClientDemand, type ClientDemands } from '../store/client-demands.ts';

/** How a client authenticates, and what its requests must meet. */
export interface ProvingClient extends ClientDemands {
  readonly public: boolean;
  readonly keys: ClientKeys | null;
}

/**
 * Returns how a client authenticates and what its requests must meet, with the field names from RFC
 * 7591 section 2.
 */
export function authenticationMetadata(
  client: ProvingClient,
  demands: readonly ClientDemand[],
): Readonly<Record<string, unknown>> {
  const { public: isPublic, keys } = client;
  const demanded = demandMetadata(demands, client);
  if (keys === null) {
    return { token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_basic', ...demanded };
  }
  const { jwks, jwksUri, algorithm, workload } = keys;
  if (workload !== undefined) {
    const type = isTrustDomain(workload.issuer) ? JWT_SVID_ASSERTION : JWT_ASSERTION;
    return { token_endpoint_auth_method: type, workload, ...demanded };
  }
  return {
    token_endpoint_auth_method: PRIVATE_KEY_JWT,
    ...(algorithm === null ? {} : { token_endpoint_auth_signing_alg: algorithm }),
    ...(jwks === null ? {} : { jwks: JSON.parse(jwks) as unknown }),
    ...(jwksUri === null ? {} : { jwks_uri: jwksUri }),
    ...demanded,
  };
}
