import type { ConfigurationProblem } from '@portico/sql';
import type { ClientMetadata } from '../../store/client.ts';

/**
 * The requirements of the FAPI 2.0 Security Profile (final, February 2025) for an authorization
 * server, and when Portico meets them. Tests compare this table with the documentation.
 */

/** The settings that the profile restricts. */
export interface ProfiledSwitches {
  readonly private_key_jwt?: boolean | undefined;
  readonly dpop?: Switch | undefined;
  readonly pushed_authorization_requests?: Switch | undefined;
  readonly registration?: 'off' | 'open' | 'initial_access_token' | undefined;
  /** The lifetime of an authorization code, in seconds. */
  readonly code_ttl: number;
  /** The other issuers whose assertions the server accepts. */
  readonly trusted_issuers?: Readonly<Record<string, ProfiledIssuer>> | undefined;
}

interface ProfiledIssuer {
  readonly algorithms: readonly string[];
  /** How far the clocks of the server and the issuer may differ, in seconds. */
  readonly clock_tolerance: number;
}

type Switch = 'off' | 'accept' | 'require';

export interface ProfileRule {
  /** The section of the profile and the number of the requirement. */
  readonly id: string;
  /** Continues the sentence "An authorization server of the profile …". */
  readonly says: string;
  /**
   * When Portico meets the requirement.
   *
   * - `always`: for every client and with any configuration.
   * - `switch`: with a setting that the profile turns on.
   * - `profile`: only if the profile applies.
   * - `elsewhere`: something outside Portico must meet it, for example a proxy.
   */
  readonly met: 'always' | 'switch' | 'profile' | 'elsewhere';
  /**
   * Returns the problem with the configuration if the profile applies to the whole server, or null.
   */
  readonly server?: (switches: ProfiledSwitches) => ConfigurationProblem | null;
  /**
   * Returns the setting that must be on before a client can use the profile. Returns null if it is
   * on.
   */
  readonly needs?: (switches: ProfiledSwitches) => string | null;
  /**
   * Returns why a client cannot use the profile, or null. Checked at every request of the client.
   */
  readonly client?: (client: ClientMetadata) => string | null;
  /** Like `client`, but checked only when the client is registered or changed. */
  readonly registration?: (client: ClientMetadata) => string | null;
}

/** The maximum lifetime of an authorization code, in seconds. */
export const LONGEST_CODE = 60;
/** How far `iat` and `nbf` may be in the future, in seconds. */
export const LONGEST_AHEAD = 60;
/** The server must accept an `iat` or `nbf` that is this far in the future, in seconds. */
export const LEAST_AHEAD = 10;
/**
 * For ID tokens, assertions and DPoP proofs. RS256 is not allowed. RFC 9864 calls EdDSA with that
 * curve `Ed25519`.
 */
export const PROFILED_ALGORITHMS: readonly string[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];
const LOOPBACK_ADDRESS = /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?:[:/?]|$)/;

const problem = (key: string, message: string): ConfigurationProblem => ({
  key: `oauth_server:${key}`,
  message: `${message} (oauth_server:profile is fapi2)`,
});

export const FAPI2_RULES: readonly ProfileRule[] = [
  {
    id: '5.2.1.1',
    says: 'is served only over https. Plain http is possible only on loopback, for development.',
    met: 'always',
  },
  { id: '5.2.1.2', says: 'speaks TLS 1.2 or later, as BCP 195 recommends.', met: 'elsewhere' },
  {
    id: '5.2.3.1',
    says: 'uses HSTS, so that browsers do not open it over http.',
    met: 'elsewhere',
  },
  {
    id: '5.2.3.3',
    says: 'does not let pages of other origins call the authorization endpoint.',
    met: 'always',
  },
  { id: '5.3.2.1.1', says: 'publishes its metadata.', met: 'always' },
  { id: '5.3.2.1.2', says: 'refuses the password grant.', met: 'always' },
  {
    id: '5.3.2.1.3',
    says: 'has only confidential clients.',
    met: 'profile',
    server: ({ registration }) =>
      registration === 'open'
        ? problem(
            'registration',
            'is open, which lets public clients register; set it to initial_access_token or off',
          )
        : null,
    client: (client) => (client.public ? 'it is a public client' : null),
  },
  {
    id: '5.3.2.1.4',
    says: 'issues only sender-constrained access tokens (DPoP).',
    met: 'switch',
    server: ({ dpop = 'require' }) =>
      dpop === 'require'
        ? null
        : problem(
            'dpop',
            `must be "require", not "${dpop}"; if you remove the setting, the profile sets it ` +
              'to "require"',
          ),
    needs: ({ dpop = 'off' }) => (dpop === 'off' ? 'oauth_server:dpop' : null),
  },
  {
    id: '5.3.2.1.6',
    says: 'authenticates clients only by `private_key_jwt`.',
    met: 'profile',
    server: ({ private_key_jwt: takesKeys = true }) =>
      takesKeys
        ? null
        : problem(
            'private_key_jwt',
            'must be true, not false; if you remove the setting, the profile sets it to true',
          ),
    needs: ({ private_key_jwt: takesKeys = false }) =>
      takesKeys ? null : 'oauth_server:private_key_jwt',
    client: ({ keys }) =>
      keys === null || keys.workload !== undefined
        ? 'it has no keys for authentication (private_key_jwt)'
        : null,
  },
  {
    id: '5.3.2.1.7',
    says: 'redirects only to addresses that are registered for the client.',
    met: 'always',
  },
  {
    id: '5.3.2.1.8',
    says: 'accepts only assertions whose `aud` is its issuer, as one string.',
    met: 'profile',
  },
  {
    id: '5.3.2.1.9',
    says: 'does not rotate refresh tokens: a token stays valid until it expires or is revoked.',
    met: 'profile',
  },
  {
    id: '5.3.2.1.11',
    says: 'issues codes that are valid for at most 60 seconds.',
    met: 'profile',
    server: ({ code_ttl: seconds }) =>
      seconds > LONGEST_CODE
        ? problem('code_ttl', `is ${seconds} seconds; set it to at most ${LONGEST_CODE}`)
        : null,
  },
  {
    id: '5.3.2.1.12',
    says: 'binds a code to the key of the client if the client asks for it.',
    met: 'switch',
  },
  {
    id: '5.3.2.1.13',
    says:
      'accepts an `iat` or `nbf` up to 10 seconds in the future, and refuses one that is ' +
      'more than 60 seconds ahead.',
    met: 'profile',
    server({ trusted_issuers: issuers = {} }) {
      const strict = Object.entries(issuers).find(
        ([, { clock_tolerance: tolerance }]) => tolerance < LEAST_AHEAD,
      );
      if (strict === undefined) return null;
      const [issuer, { clock_tolerance: tolerance }] = strict;
      return problem(
        `trusted_issuers:${issuer}:clock_tolerance`,
        `is ${tolerance} seconds; set it to at least ${LEAST_AHEAD}`,
      );
    },
  },
  { id: '5.3.2.2.1', says: 'supports only the response_type `code`.', met: 'always' },
  {
    id: '5.3.2.2.2',
    says: 'accepts pushed authorization requests.',
    met: 'switch',
    server: ({ pushed_authorization_requests: pushed = 'require' }) =>
      pushed === 'require'
        ? null
        : problem(
            'pushed_authorization_requests',
            `must be "require", not "${pushed}"; if you remove the setting, the profile sets ` +
              'it to "require"',
          ),
    needs: ({ pushed_authorization_requests: pushed = 'off' }) =>
      pushed === 'off' ? 'oauth_server:pushed_authorization_requests' : null,
  },
  { id: '5.3.2.2.3', says: 'refuses every other authorization request.', met: 'profile' },
  {
    id: '5.3.2.2.4',
    says: 'refuses pushed requests without client authentication.',
    met: 'profile',
  },
  { id: '5.3.2.2.5', says: 'requires PKCE with S256.', met: 'always' },
  { id: '5.3.2.2.6', says: 'requires the redirect_uri in pushed requests.', met: 'always' },
  { id: '5.3.2.2.7', says: 'returns `iss` in authorization responses.', met: 'always' },
  {
    id: '5.3.2.2.8',
    says:
      'never sends responses to an http address, except to a native application on loopback ' +
      '(RFC 8252 section 7.3).',
    met: 'profile',
    client({ redirectUris, applicationType }) {
      const open = redirectUris.find(
        (uri) =>
          /^http:/i.test(uri) && !(applicationType === 'native' && LOOPBACK_ADDRESS.test(uri)),
      );
      return open === undefined
        ? null
        : 'one of its redirect URIs is http, which is allowed only for http://127.0.0.1 and ' +
            'http://[::1] of a native application';
    },
  },
  { id: '5.3.2.2.9', says: 'refuses a code that was used before.', met: 'always' },
  { id: '5.3.2.2.10', says: 'never redirects with 307.', met: 'always' },
  { id: '5.3.2.2.11', says: 'redirects with 303.', met: 'profile' },
  {
    id: '5.3.2.2.12',
    says: 'issues request_uri values that are valid for less than 600 seconds.',
    met: 'always',
  },
  {
    id: '5.3.2.2.13',
    says: 'shows people which client requests access, and what it requests.',
    met: 'always',
  },
  { id: '5.3.2.2.14', says: 'accepts a nonce of 64 characters.', met: 'always' },
  { id: '5.3.2.3', says: 'uses OpenID Connect to tell clients who signed in.', met: 'always' },
  {
    id: '5.3.4.2',
    says: 'as a resource server, accepts no access token in the query.',
    met: 'always',
  },
  {
    id: '5.3.4.3',
    says:
      'as a resource server, checks at every use that an access token is valid and not ' +
      'revoked.',
    met: 'always',
  },
  {
    id: '5.3.4.5',
    says:
      'as a resource server, accepts an access token that is bound to a key only if the request ' +
      'proves that the sender has this key.',
    met: 'switch',
  },
  {
    id: '5.4.1.1',
    says:
      'signs with and accepts only PS256, ES256 and EdDSA with Ed25519, not RS256 and not ' +
      '`none`.',
    met: 'profile',
    server: ({ trusted_issuers: issuers = {} }) =>
      Object.entries(issuers).flatMap(([issuer, { algorithms }]) =>
        algorithms
          .filter((each) => !PROFILED_ALGORITHMS.includes(each))
          .map((each) =>
            problem(`trusted_issuers:${issuer}:algorithms`, `contains ${each}; remove it`),
          ),
      )[0] ?? null,
    client({ keys, scopes, idTokenSignedResponseAlg: ofIdToken }) {
      const { algorithm = null } = keys ?? {};
      if (algorithm !== null && !PROFILED_ALGORITHMS.includes(algorithm))
        return `its token_endpoint_auth_signing_alg is ${algorithm}`;
      return scopes.includes('openid') && !PROFILED_ALGORITHMS.includes(ofIdToken)
        ? `its ID tokens are signed with ${ofIdToken} (id_token_signed_response_alg)`
        : null;
    },
    registration: ({ keys }) =>
      keys === null || keys.jwks === null || hasProfiledKey(keys.jwks)
        ? null
        : 'its jwks has no key for PS256, ES256 or EdDSA',
  },
  { id: '5.4.1.2', says: 'accepts RSA keys of at least 2048 bits.', met: 'always' },
  { id: '5.4.1.3', says: 'accepts elliptic curve keys of at least 224 bits.', met: 'always' },
  { id: '5.4.1.4', says: 'creates tokens and codes with at least 128 random bits.', met: 'always' },
  { id: '5.4.2.3', says: 'never publishes two keys with the same kid.', met: 'always' },
  {
    id: '5.4.3',
    says: 'also compares the type of a key if several keys of a client have the same kid.',
    met: 'always',
  },
];

/**
 * Returns why a client cannot use the profile, or null. `when`: at every request, or at
 * registration and changes.
 */
export function clientProblem(
  client: ClientMetadata,
  when: 'client' | 'registration',
): string | null {
  for (const rule of FAPI2_RULES) {
    const problem = rule[when]?.(client) ?? null;
    if (problem !== null) return problem;
  }
  return null;
}

/** Returns true if a stored key set contains a key that the profile allows. */
function hasProfiledKey(jwks: string): boolean {
  const { keys } = JSON.parse(jwks) as { readonly keys: readonly { readonly alg?: string }[] };
  return keys.some(({ alg }) => alg === undefined || PROFILED_ALGORITHMS.includes(alg));
}
