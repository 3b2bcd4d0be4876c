import type { ConfigurationProblem } from '@portico/sql';
import type { ClientMetadata } from '../../store/client.ts';

/**
 * What the FAPI 2.0 Security Profile (final, February 2025) requires of an authorization server, in
 * Portico's words. Each entry says where Portico checks the requirement. Tests compare this table
 * with the pages about conformance and the profile.
 */

/** The `oauth_server` settings that the profile restricts. */
export interface ProfiledSwitches {
  readonly private_key_jwt?: boolean | undefined;
  readonly dpop?: Switch | undefined;
  readonly pushed_authorization_requests?: Switch | undefined;
  readonly registration?: 'off' | 'open' | 'initial_access_token' | undefined;
  /** In seconds. */
  readonly code_ttl: number;
  /** The accepted issuers of assertions, each with its algorithms. */
  readonly trusted_issuers?:
    Readonly<Record<string, { readonly algorithms: readonly string[] }>> | undefined;
}

type Switch = 'off' | 'accept' | 'require';

export interface ProfileRule {
  /** The section of the profile, and the item's number in it. */
  readonly id: string;
  /** The requirement. Continues the sentence "An authorization server of the profile …". */
  readonly says: string;
  /**
   * When Portico meets the requirement.
   *
   * - `always`: for every client, with any configuration.
   * - `switch`: with a setting that the profile turns on.
   * - `profile`: only under the profile.
   */
  readonly met: 'always' | 'switch' | 'profile' | 'elsewhere';
  /** Returns the problem of the configuration when the whole server uses the profile, or null. */
  readonly server?: (switches: ProfiledSwitches) => ConfigurationProblem | null;
  /** Returns the setting to turn on when a client uses the profile, or null if it is on. */
  readonly needs?: (switches: ProfiledSwitches) => string | null;
  /**
   * Returns why a client cannot use the profile, or null if it can. Portico checks this whenever
   * the client is used.
   */
  readonly client?: (client: ClientMetadata) => string | null;
  /** Like `client`, but Portico checks this only when the client is registered. */
  readonly registration?: (client: ClientMetadata) => string | null;
}

/** The maximum lifetime of a code, in seconds. */
export const LONGEST_CODE = 60;
/**
 * The algorithms that may sign ID tokens and assertions. RS256 is not allowed. `Ed25519` is the
 * name in RFC 9864 for EdDSA with that curve.
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
    says: 'is at https alone; over plain http for development on loopback, and nowhere else.',
    met: 'always',
  },
  { id: '5.2.1.2', says: 'speaks TLS 1.2 or later, as BCP 195 recommends.', met: 'elsewhere' },
  {
    id: '5.2.3.1',
    says: 'cannot be reached over http by a browser that was led astray (HSTS).',
    met: 'elsewhere',
  },
  {
    id: '5.2.3.3',
    says: 'lets no page of another origin call the authorization endpoint.',
    met: 'always',
  },
  { id: '5.3.2.1.1', says: 'publishes its metadata.', met: 'always' },
  { id: '5.3.2.1.2', says: 'refuses the password grant.', met: 'always' },
  {
    id: '5.3.2.1.3',
    says: 'has confidential clients alone.',
    met: 'profile',
    server: ({ registration }) =>
      registration === 'open'
        ? problem(
            'registration',
            'is open, to public clients too; set it to initial_access_token or off',
          )
        : null,
    client: (client) => (client.public ? 'it is a public client' : null),
  },
  {
    id: '5.3.2.1.4',
    says: 'issues sender-constrained access tokens alone, by DPoP.',
    met: 'switch',
    server: ({ dpop = 'require' }) =>
      dpop === 'require'
        ? null
        : problem('dpop', `is ${dpop}; set it to require, or leave it out, which is the same here`),
    needs: ({ dpop = 'off' }) => (dpop === 'off' ? 'oauth_server:dpop' : null),
  },
  {
    id: '5.3.2.1.6',
    says: 'authenticates clients by `private_key_jwt` alone.',
    met: 'profile',
    server: ({ private_key_jwt: takesKeys = true }) =>
      takesKeys ? null : problem('private_key_jwt', 'is false; set it to true, or leave it out'),
    needs: ({ private_key_jwt: takesKeys = false }) =>
      takesKeys ? null : 'oauth_server:private_key_jwt',
    client: ({ keys }) =>
      keys === null || keys.workload !== undefined
        ? 'it has no keys to authenticate by (private_key_jwt)'
        : null,
  },
  {
    id: '5.3.2.1.7',
    says: 'redirects to no address that a client is not registered with.',
    met: 'always',
  },
  {
    id: '5.3.2.1.8',
    says: 'takes assertions whose `aud` is its issuer, as one string, and no others.',
    met: 'profile',
  },
  {
    id: '5.3.2.1.9',
    says: 'does not rotate refresh tokens: the same one stays good until it expires or is revoked.',
    met: 'profile',
  },
  {
    id: '5.3.2.1.11',
    says: 'issues codes that live for 60 seconds at most.',
    met: 'profile',
    server: ({ code_ttl: seconds }) =>
      seconds > LONGEST_CODE
        ? problem('code_ttl', `is ${seconds} seconds; set it to ${LONGEST_CODE} at most`)
        : null,
  },
  {
    id: '5.3.2.1.12',
    says: 'binds a code to the key of the client, where the client asks for it.',
    met: 'switch',
  },
  {
    id: '5.3.2.1.13',
    says: 'takes an `iat` or `nbf` that is 10 seconds ahead, and none that is more than 60.',
    met: 'always',
  },
  { id: '5.3.2.2.1', says: 'knows no response_type but code.', met: 'always' },
  {
    id: '5.3.2.2.2',
    says: 'takes pushed authorization requests.',
    met: 'switch',
    server: ({ pushed_authorization_requests: pushed = 'require' }) =>
      pushed === 'require'
        ? null
        : problem(
            'pushed_authorization_requests',
            `is ${pushed}; set it to require, or leave it out, which is the same here`,
          ),
    needs: ({ pushed_authorization_requests: pushed = 'off' }) =>
      pushed === 'off' ? 'oauth_server:pushed_authorization_requests' : null,
  },
  { id: '5.3.2.2.3', says: 'refuses every other authorization request.', met: 'profile' },
  {
    id: '5.3.2.2.4',
    says: 'refuses what is pushed without client authentication.',
    met: 'profile',
  },
  { id: '5.3.2.2.5', says: 'requires PKCE with S256.', met: 'always' },
  { id: '5.3.2.2.6', says: 'requires the redirect_uri in what is pushed.', met: 'always' },
  { id: '5.3.2.2.7', says: 'answers with `iss`.', met: 'always' },
  {
    id: '5.3.2.2.8',
    says:
      'answers at no http address but the loopback address of a native application (RFC 8252 ' +
      'section 7.3).',
    met: 'profile',
    client({ redirectUris, applicationType }) {
      const open = redirectUris.find(
        (uri) =>
          /^http:/i.test(uri) && !(applicationType === 'native' && LOOPBACK_ADDRESS.test(uri)),
      );
      return open === undefined
        ? null
        : 'one of its redirect URIs is http, which is for http://127.0.0.1 and http://[::1] of ' +
            'a native application alone';
    },
  },
  { id: '5.3.2.2.9', says: 'refuses a code that was used before.', met: 'always' },
  { id: '5.3.2.2.10', says: 'never redirects by 307.', met: 'always' },
  { id: '5.3.2.2.11', says: 'redirects by 303.', met: 'profile' },
  { id: '5.3.2.2.12', says: 'gives a request_uri less than 600 seconds.', met: 'always' },
  {
    id: '5.3.2.2.13',
    says: 'shows people which client requests access, and what it requests.',
    met: 'always',
  },
  { id: '5.3.2.2.14', says: 'takes a nonce of 64 characters.', met: 'always' },
  { id: '5.3.2.3', says: 'says who signed in by OpenID Connect.', met: 'always' },
  {
    id: '5.3.4.2',
    says: 'takes no access token in the query, in its role as resource server.',
    met: 'always',
  },
  {
    id: '5.3.4.3',
    says:
      'looks at every use whether an access token is valid and not revoked, in its role as ' +
      'resource server.',
    met: 'always',
  },
  {
    id: '5.3.4.5',
    says:
      'takes a sender-constrained access token with a proof of its key alone, in its role as ' +
      'resource server.',
    met: 'switch',
  },
  {
    id: '5.4.1.1',
    says:
      'signs and takes PS256, ES256 and EdDSA with Ed25519, and nothing else: not RS256, not ' +
      '`none`.',
    met: 'profile',
    server: ({ trusted_issuers: issuers = {} }) =>
      Object.entries(issuers).flatMap(([issuer, { algorithms }]) =>
        algorithms
          .filter((each) => !PROFILED_ALGORITHMS.includes(each))
          .map((each) =>
            problem(`trusted_issuers:${issuer}:algorithms`, `has ${each}; leave it out`),
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
  { id: '5.4.1.2', says: 'takes RSA keys of 2048 bits and more.', met: 'always' },
  { id: '5.4.1.3', says: 'takes keys on elliptic curves of 224 bits and more.', met: 'always' },
  { id: '5.4.1.4', says: 'makes tokens and codes of 128 random bits and more.', met: 'always' },
  { id: '5.4.2.3', says: 'publishes no two keys of one kid.', met: 'always' },
  {
    id: '5.4.3',
    says: 'looks at the kind of a key, too, where several of a client have one kid.',
    met: 'always',
  },
];

/**
 * Returns why a client cannot use the profile, or null if it can. `when` selects the rules for
 * every use or for registration.
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

/** Whether a stored key set contains a key that the profile allows. */
function hasProfiledKey(jwks: string): boolean {
  const { keys } = JSON.parse(jwks) as { readonly keys: readonly { readonly alg?: string }[] };
  return keys.some(({ alg }) => alg === undefined || PROFILED_ALGORITHMS.includes(alg));
}
