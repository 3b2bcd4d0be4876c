import { CLIENT_AUTHENTICATION_METHODS, PRIVATE_KEY_JWT } from './clients/credentials.ts';
import { claimNames } from './tokens/claims.ts';
import { GRANT_TYPES_SUPPORTED } from './grants/grant-types.ts';
import { DEFAULT_ALGORITHM, SIGNING_ALGORITHMS } from './keys/algorithms.ts';
import type { SigningKey } from './keys/signing-key.ts';
import { ID_TOKEN_ALGORITHMS, PROFILED_ALGORITHMS } from './profiles/fapi2.ts';
import { VERIFIED_ALGORITHMS } from './jws/public-keys.ts';
import { listedScopes, type ScopeCatalog } from './tokens/scopes.ts';

export interface MetadataOptions {
  readonly issuer: string;
  readonly scopes: ScopeCatalog;
  /** The languages of the pages, where they are switched on; null unless given. */
  readonly locales?: readonly string[] | null;
  /** Whether clients may be documents; false unless given. */
  readonly clientDocuments?: boolean;
  /** Whether clients may register themselves; false unless given. */
  readonly registers?: boolean;
  /** Whether clients may authenticate by assertions; false unless given. */
  readonly takesKeys?: boolean;
  /** Members of the server's features. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Whether the server is of the profile fapi2; false unless given. */
  readonly isProfiled?: boolean;
}

/** Whether a client that no operator registered can be granted `openid`. */
function signsIdTokens(keys: readonly SigningKey[], isProfiled: boolean): boolean {
  const algorithms = isProfiled ? ID_TOKEN_ALGORITHMS : SIGNING_ALGORITHMS;
  return keys.some(({ algorithm }) => algorithms.includes(algorithm));
}

/** Where clients may come that no operator registered, only what such a client can be granted: many ask for all that is named. */
function supportedScopes(
  { scopes, clientDocuments = false, registers = false, isProfiled = false }: MetadataOptions,
  keys: readonly SigningKey[],
): readonly string[] {
  const names = [...scopes.keys()];
  if (!clientDocuments && !registers) return names;
  return listedScopes(names, true).filter((name) => name !== 'openid' || signsIdTokens(keys, isProfiled));
}

function verifiedAlgorithms(isProfiled: boolean): readonly string[] {
  return isProfiled
    ? VERIFIED_ALGORITHMS.filter((each) => PROFILED_ALGORITHMS.includes(each))
    : VERIFIED_ALGORITHMS;
}

/** The methods at each endpoint, and with what assertions may be signed, where they are taken (RFC 8414 section 2). */
function authenticationMethods(takesKeys: boolean, isProfiled: boolean): Readonly<Record<string, unknown>> {
  const algorithms = verifiedAlgorithms(isProfiled);
  const methods = takesKeys
    ? [...CLIENT_AUTHENTICATION_METHODS.slice(0, -1), PRIVATE_KEY_JWT, 'none']
    : CLIENT_AUTHENTICATION_METHODS;
  const withAlgorithms = (endpoint: string, names: readonly string[]) => ({
    [`${endpoint}_endpoint_auth_methods_supported`]: names,
    ...(takesKeys ? { [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: algorithms } : {}),
  });
  return {
    ...withAlgorithms('token', isProfiled ? [PRIVATE_KEY_JWT] : methods),
    ...withAlgorithms('revocation', isProfiled ? [PRIVATE_KEY_JWT] : methods),
    // An API elsewhere may ask with a secret, whatever the profile demands of clients (decision 45).
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
  const { issuer, clientDocuments = false, registers = false, takesKeys = false } = options;
  const { members = {}, isProfiled = false, locales = null } = options;
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    ...(registers ? { registration_endpoint: `${issuer}/oauth/register` } : {}),
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: supportedScopes(options, keys),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES_SUPPORTED,
    ...authenticationMethods(takesKeys, isProfiled),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...members,
    ...(clientDocuments ? { client_id_metadata_document_supported: true } : {}),
    ...(locales === null ? {} : { ui_locales_supported: locales }),
  };
}

/**
 * The same, with what OpenID Connect Discovery 1.0 section 3 adds. RS256 must be among the algorithms, with a key or without, unless the profile
 * does not allow it.
 */
export function openidProviderMetadata(
  options: MetadataOptions,
  keys: readonly SigningKey[],
): Readonly<Record<string, unknown>> {
  const { issuer, scopes, isProfiled = false } = options;
  return {
    ...authorizationServerMetadata(options, keys),
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS.filter((each) =>
      isProfiled
        ? each !== DEFAULT_ALGORITHM && keys.some(({ algorithm }) => algorithm === each)
        : each === DEFAULT_ALGORITHM || keys.some(({ algorithm }) => algorithm === each),
    ),
    prompt_values_supported: ['consent', 'none'],
    claim_types_supported: ['normal'],
    claims_supported: ['sub', ...claimNames([...scopes.keys()], scopes)],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}
