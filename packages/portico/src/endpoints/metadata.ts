import { CLIENT_AUTHENTICATION_METHODS, PRIVATE_KEY_JWT } from '../clients/credentials.ts';
import { claimNames } from '../tokens/claims.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import type { SecurityProfile } from '../profiles.ts';
import type { Server } from '../server.ts';
import { VERIFIED_ALGORITHMS } from '../keys/jws/public-keys.ts';
import { listedScopes } from '../tokens/scopes.ts';

/** Lists in the metadata that features can extend. */
export interface MetadataValues {
  readonly prompt_values_supported?: readonly string[];
  readonly claims_supported?: readonly string[];
  readonly grant_types_supported?: readonly string[];
}

export interface MetadataAdditions {
  readonly members: Readonly<Record<string, unknown>>;
  readonly values: MetadataValues;
  readonly responseModes: readonly string[];
}

/**
 * Returns true if the server can sign ID tokens for unverified clients. Only then can they get
 * `openid`.
 */
function signsIdTokens(keys: readonly SigningKey[], profile: SecurityProfile | null): boolean {
  return keys.some(({ algorithm }) => profile?.idTokenAlgorithms.includes(algorithm) ?? true);
}

/**
 * Returns the scopes to list in the metadata. Many unverified clients request every listed scope.
 * If the server accepts them, lists only the scopes that they can get.
 */
function supportedScopes(
  { scopes, admitsUnverified, profiles }: Server,
  keys: readonly SigningKey[],
): readonly string[] {
  const names = [...scopes.keys()];
  if (!admitsUnverified) return names;
  return listedScopes(names, true).filter(
    (name) => name !== 'openid' || signsIdTokens(keys, profiles.servers),
  );
}

function verifiedAlgorithms(profile: SecurityProfile | null): readonly string[] {
  return VERIFIED_ALGORITHMS.filter((each) => profile?.algorithms.includes(each) ?? true);
}

/**
 * Returns the authentication methods of each endpoint. For signed assertions, adds their algorithms
 * (RFC 8414 section 2).
 */
function authenticationMethods(
  server: Server,
  profile: SecurityProfile | null,
): Readonly<Record<string, unknown>> {
  const takesKeys = server.takesKeys();
  const algorithms = verifiedAlgorithms(profile);
  const methods = [
    ...CLIENT_AUTHENTICATION_METHODS.slice(0, -1),
    ...(takesKeys ? [PRIVATE_KEY_JWT] : []),
    // Workload tokens have no registered method name. Use their type as the name (RFC 7591 section
    // 2).
    ...server.workloadTypes(),
    'none',
  ];
  const withAlgorithms = (endpoint: string, names: readonly string[]) => ({
    [`${endpoint}_endpoint_auth_methods_supported`]: names,
    ...(takesKeys
      ? { [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: algorithms }
      : {}),
  });
  return {
    ...withAlgorithms('token', profile?.authenticationMethods ?? methods),
    ...withAlgorithms('revocation', profile?.authenticationMethods ?? methods),
    // A security profile may refuse secrets of clients. An API on another server may still use one
    // (decision 45).
    ...withAlgorithms(
      'introspection',
      methods.filter((method) => method !== 'none'),
    ),
  };
}

/** RFC 8414 section 2, RFC 9207 section 3. */
export function authorizationServerMetadata(
  server: Server,
  keys: readonly SigningKey[],
  { members, values, responseModes }: MetadataAdditions,
): Readonly<Record<string, unknown>> {
  const { issuer, profiles } = server;
  const { locales } = server.speaking;
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: supportedScopes(server, keys),
    response_types_supported: ['code'],
    response_modes_supported: responseModes,
    grant_types_supported: [
      ...new Set([...server.grantTypes().names, ...(values.grant_types_supported ?? [])]),
    ],
    ...authenticationMethods(server, profiles.servers),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...members,
    ...(locales === null ? {} : { ui_locales_supported: locales }),
  };
}

/**
 * Adds the members of OpenID Connect Discovery 1.0 section 3. Without a security profile for the
 * whole server, the algorithms include RS256, even if the server has no key for it.
 */
export function openidProviderMetadata(
  server: Server,
  keys: readonly SigningKey[],
  additions: MetadataAdditions,
): Readonly<Record<string, unknown>> {
  const { issuer, scopes } = server;
  const { values } = additions;
  const profile = server.profiles.servers;
  return {
    ...authorizationServerMetadata(server, keys, additions),
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: server.keys.algorithms.names.filter((each) => {
      if (profile === null && each === DEFAULT_ALGORITHM) return true;
      const isAllowed = profile?.idTokenAlgorithms.includes(each) ?? true;
      return isAllowed && keys.some(({ algorithm }) => algorithm === each);
    }),
    prompt_values_supported: ['consent', 'none', ...(values.prompt_values_supported ?? [])],
    claim_types_supported: ['normal'],
    claims_supported: [
      'sub',
      ...claimNames([...scopes.keys()], scopes),
      ...(values.claims_supported ?? []),
    ],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}
