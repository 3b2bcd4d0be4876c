import type { GrantTypes } from './store/grant-types.ts';
import { CLIENT_AUTHENTICATION_METHODS, PRIVATE_KEY_JWT } from './clients/credentials.ts';
import { claimNames } from './tokens/claims.ts';
import { DEFAULT_ALGORITHM } from './keys/algorithms.ts';
import type { SigningKey } from './keys/signing-key.ts';
import type { SecurityProfile } from './profiles.ts';
import type { SigningAlgorithm } from './store/client.ts';
import { VERIFIED_ALGORITHMS } from './jws/public-keys.ts';
import { listedScopes, type ScopeCatalog } from './tokens/scopes.ts';

export interface MetadataOptions {
  readonly issuer: string;
  readonly scopes: ScopeCatalog;
  /** What ID tokens can be signed with, if there is a key. */
  readonly algorithms: readonly SigningAlgorithm[];
  readonly grantTypes: GrantTypes;
  /** The languages of the pages, if they are switched on; null unless given. */
  readonly locales?: readonly string[] | null;
  /** Whether a client can come without an operator; false unless given. */
  readonly admitsUnverified?: boolean;
  /** Whether clients may authenticate with assertions; false unless given. */
  readonly takesKeys?: boolean;
  /** How responses can reach a client; `query` unless given. */
  readonly responseModes?: readonly string[];
  /** Members of the server's features. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The profile of the server; none unless given. */
  readonly profile?: SecurityProfile | null;
}

/** Whether a client that no operator registered can be granted `openid`. */
function signsIdTokens(keys: readonly SigningKey[], profile: SecurityProfile | null): boolean {
  return keys.some(({ algorithm }) => profile?.idTokenAlgorithms.includes(algorithm) ?? true);
}

/**
 * On a server that accepts unverified clients, only what such a client can be granted, because many
 * ask for everything that is named.
 */
function supportedScopes(
  { scopes, admitsUnverified = false, profile = null }: MetadataOptions,
  keys: readonly SigningKey[],
): readonly string[] {
  const names = [...scopes.keys()];
  if (!admitsUnverified) return names;
  return listedScopes(names, true).filter((name) => name !== 'openid' || signsIdTokens(keys, profile));
}

function verifiedAlgorithms(profile: SecurityProfile | null): readonly string[] {
  return VERIFIED_ALGORITHMS.filter((each) => profile?.algorithms.includes(each) ?? true);
}

/**
 * The methods at each endpoint, and with what assertions may be signed, where they are taken (RFC
 * 8414 section 2).
 */
function authenticationMethods(
  takesKeys: boolean,
  profile: SecurityProfile | null,
): Readonly<Record<string, unknown>> {
  const algorithms = verifiedAlgorithms(profile);
  const methods = takesKeys
    ? [...CLIENT_AUTHENTICATION_METHODS.slice(0, -1), PRIVATE_KEY_JWT, 'none']
    : CLIENT_AUTHENTICATION_METHODS;
  const withAlgorithms = (endpoint: string, names: readonly string[]) => ({
    [`${endpoint}_endpoint_auth_methods_supported`]: names,
    ...(takesKeys ? { [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: algorithms } : {}),
  });
  return {
    ...withAlgorithms('token', profile?.authenticationMethods ?? methods),
    ...withAlgorithms('revocation', profile?.authenticationMethods ?? methods),
    // An API elsewhere may ask with a secret, whatever the profile demands of clients (decision
    // 45).
    ...withAlgorithms(
      'introspection',
      methods.filter((method) => method !== 'none'),
    ),
  };
}

/** Authorization server metadata (RFC 8414 section 2, RFC 9207 section 3). */
export function authorizationServerMetadata(
  options: MetadataOptions,
  keys: readonly SigningKey[],
): Readonly<Record<string, unknown>> {
  const { issuer, takesKeys = false } = options;
  const { members = {}, profile = null, locales = null, responseModes = ['query'] } = options;
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: supportedScopes(options, keys),
    response_types_supported: ['code'],
    response_modes_supported: responseModes,
    grant_types_supported: options.grantTypes.names,
    ...authenticationMethods(takesKeys, profile),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...members,
    ...(locales === null ? {} : { ui_locales_supported: locales }),
  };
}

/**
 * The same, plus what OpenID Connect Discovery 1.0 section 3 adds. RS256 must be among the
 * algorithms, with or without a key, unless the profile does not allow it.
 */
export function openidProviderMetadata(
  options: MetadataOptions,
  keys: readonly SigningKey[],
): Readonly<Record<string, unknown>> {
  const { issuer, scopes, profile = null } = options;
  return {
    ...authorizationServerMetadata(options, keys),
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: options.algorithms.filter((each) => {
      if (profile === null && each === DEFAULT_ALGORITHM) return true;
      const isAllowed = profile?.idTokenAlgorithms.includes(each) ?? true;
      return isAllowed && keys.some(({ algorithm }) => algorithm === each);
    }),
    prompt_values_supported: ['consent', 'none'],
    claim_types_supported: ['normal'],
    claims_supported: ['sub', ...claimNames([...scopes.keys()], scopes)],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}
