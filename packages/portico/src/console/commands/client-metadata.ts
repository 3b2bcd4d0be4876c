import { authenticationMetadata } from '../../clients/client-metadata.ts';
import type { ClientDemand } from '../../store/client-demands.ts';
import type { ShownClient } from '../../clients/describing.ts';

/**
 * Returns the client's data for `--json`: the fields of RFC 7591 section 2 and some of Portico's
 * own.
 */
export function clientMetadata(
  client: ShownClient['client'],
  demands: readonly ClientDemand[],
): Readonly<Record<string, unknown>> {
  return {
    client_id: client.id,
    client_name: client.name,
    application_type: client.applicationType,
    redirect_uris: client.redirectUris,
    scope: client.scopes.join(' '),
    grant_types: client.grants,
    // A missing field means RS256 (OpenID Connect Dynamic Client Registration section 2).
    ...(client.idTokenSignedResponseAlg === 'RS256'
      ? {}
      : { id_token_signed_response_alg: client.idTokenSignedResponseAlg }),
    ...(client.siteUri === undefined ? {} : { client_uri: client.siteUri }),
    ...(client.logoHash === undefined ? {} : { logo_sha256: client.logoHash }),
    ...authenticationMetadata(client, demands),
    ...(client.profile === null ? {} : { profile: client.profile }),
    registered_by: client.registeredBy,
    client_id_issued_at: Math.floor(client.createdAt / 1000),
    ...(client.secretExpiresAt === null
      ? {}
      : { client_secret_expires_at: toSeconds(client.secretExpiresAt) }),
    previous_secret_expires_at: toSeconds(client.previousSecretExpiresAt),
    revoked_at: toSeconds(client.revokedAt),
  };
}

export function toSeconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.floor(milliseconds / 1000);
}
