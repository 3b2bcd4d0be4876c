import { CLIENT_AUTHENTICATION_METHODS } from './clients/credentials.ts';
import { claimNames } from './tokens/claims.ts';
import { GRANT_TYPES_SUPPORTED } from './grants/grant-types.ts';
import { DEFAULT_ALGORITHM, SIGNING_ALGORITHMS, type SigningKey } from './keys.ts';
import type { ScopeCatalog } from './tokens/scopes.ts';

export interface MetadataOptions {
  readonly issuer: string;
  readonly scopes: ScopeCatalog;
}

/** Authorization server metadata (RFC 8414 section 2, RFC 9207 section 3). */
export function authorizationServerMetadata({
  issuer,
  scopes,
}: MetadataOptions): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: [...scopes.keys()],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES_SUPPORTED,
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS,
    introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS.filter(
      (method) => method !== 'none',
    ),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

/** The same, with what OpenID Connect Discovery 1.0 section 3 adds. RS256 must be among the algorithms, with a key or without. */
export function openidProviderMetadata(
  options: MetadataOptions,
  keys: readonly SigningKey[],
): Readonly<Record<string, unknown>> {
  const { issuer, scopes } = options;
  return {
    ...authorizationServerMetadata(options),
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS.filter(
      (each) => each === DEFAULT_ALGORITHM || keys.some(({ algorithm }) => algorithm === each),
    ),
    prompt_values_supported: ['consent', 'none'],
    claim_types_supported: ['normal'],
    claims_supported: ['sub', ...claimNames([...scopes.keys()])],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}
