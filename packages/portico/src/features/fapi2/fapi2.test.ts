import { describe, expect, test } from 'vitest';
import { profileProblems, withProfile } from '../../assembly/feature-profiles.ts';
import type { OAuthServerConfig } from '../../config.ts';
import { profilesWith } from '../../../../../test/support/profiles.ts';
import type { Profiles } from '../../profiles.ts';
import type { ClientMetadata } from '../../store/client.ts';
import { fapi2 } from './index.ts';
import { FAPI2_RULES } from './rules.ts';

const CLIENT: ClientMetadata = {
  name: 'A client',
  pushesRequests: true,
  dpopBoundAccessTokens: true,
  public: false,
  keys: { jwks: null, jwksUri: 'https://client.example/keys', algorithm: null },
  grants: ['authorization_code', 'refresh_token'],
  scopes: ['openid'],
  redirectUris: ['https://client.example/cb'],
  applicationType: 'web',
  idTokenSignedResponseAlg: 'ES256',
  profile: null,
};
const PROFILED: ClientMetadata = { ...CLIENT, profile: 'fapi2' };
type Config = Partial<OAuthServerConfig>;
const OFF: Config = { code_ttl: 60 };
const ON: Config = {
  code_ttl: 600,
  private_key_jwt: true,
  dpop: 'accept',
  pushed_authorization_requests: 'accept',
};

test('each FAPI 2.0 rule has a unique number and a text', () => {
  const ids = FAPI2_RULES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { says } of FAPI2_RULES) expect(says).toMatch(/^[a-z].*\.$/);
});

const problems = (config: Config) => profileProblems([fapi2], config as OAuthServerConfig);
const completed = (config: Config) => withProfile([fapi2], config as OAuthServerConfig);
const governs = (profiles: Profiles, client: ClientMetadata) =>
  profiles.of(client)?.name === 'fapi2';

describe('the configuration of a server with the FAPI 2.0 profile', () => {
  test('gets the values of the profile for missing settings', () => {
    const config = completed({ profile: 'fapi2', ...OFF });
    expect(config).toEqual({
      profile: 'fapi2',
      code_ttl: 60,
      private_key_jwt: true,
      dpop: 'require',
      pushed_authorization_requests: 'require',
    });
    expect(problems(config)).toEqual([]);
    expect(profilesWith(config).refusal(CLIENT)).toBeNull();
  });

  test.each<readonly [key: string, changes: Config]>([
    ['private_key_jwt', { private_key_jwt: false }],
    ['dpop', { dpop: 'off' }],
    ['dpop', { dpop: 'accept' }],
    ['pushed_authorization_requests', { pushed_authorization_requests: 'off' }],
    ['pushed_authorization_requests', { pushed_authorization_requests: 'accept' }],
    ['registration', { registration: 'open' }],
    ['code_ttl', { code_ttl: 61 }],
  ])('is refused if %s contradicts it: %j', (key, changes) => {
    expect(problems({ profile: 'fapi2', ...OFF, ...changes }).map((each) => each.key)).toEqual([
      `oauth_server:${key}`,
    ]);
    // For clients without the profile, the same changes are allowed.
    expect(problems({ ...OFF, ...changes })).toEqual([]);
    expect(completed({ ...OFF, ...changes })).toEqual({ ...OFF, ...changes });
  });
});

test.each(['dpop', 'pushed_authorization_requests'])(
  'the FAPI 2.0 profile says what the setting %s must be',
  (key) => {
    expect(problems({ profile: 'fapi2', ...OFF, [key]: 'off' })).toEqual([
      {
        key: `oauth_server:${key}`,
        message:
          'must be "require", not "off"; if you remove the setting, the profile sets it to ' +
          '"require" (oauth_server:profile is fapi2)',
      },
    ]);
  },
);

describe('the FAPI 2.0 profile', () => {
  test('applies to no client, if neither the server nor the client has it', () => {
    const profiles = profilesWith(OFF);
    const open = { ...CLIENT, public: true, keys: null };
    expect([governs(profiles, open), profiles.refusal(open)]).toEqual([false, null]);
  });

  test('applies to a client that has it, and to no other', () => {
    const profiles = profilesWith(ON);
    expect([governs(profiles, PROFILED), profiles.refusal(PROFILED)]).toEqual([true, null]);
    expect([governs(profiles, CLIENT), profiles.refusal({ ...CLIENT, public: true })]).toEqual([
      false,
      null,
    ]);
  });

  test('of the server applies to every client, except an API that only introspects tokens', () => {
    const profiles = profilesWith({ profile: 'fapi2' });
    expect(governs(profiles, CLIENT)).toBe(true);
    expect(governs(profiles, { ...CLIENT, grants: ['introspection'] })).toBe(false);
    expect(governs(profiles, { ...CLIENT, grants: ['client_credentials', 'introspection'] })).toBe(
      true,
    );
    expect(governs(profiles, { ...PROFILED, grants: ['introspection'] })).toBe(true);
  });

  test('with a name that this release does not know makes its client refused', () => {
    expect(profilesWith(ON).refusal({ ...CLIENT, profile: 'fapi3' })).toContain('unknown');
    expect(profilesWith(ON).refusal({ ...CLIENT, profile: '' })).toContain('unknown');
  });
});

test.each<readonly [what: string, changes: Partial<ClientMetadata>]>([
  ['is public', { public: true, keys: null }],
  ['has a secret', { keys: null }],
  [
    'is a workload',
    {
      keys: {
        jwks: null,
        jwksUri: null,
        algorithm: null,
        workload: { issuer: 'https://cluster.example', subject: 'pod' },
      },
    },
  ],
  ['signs with RS256', { keys: { jwks: null, jwksUri: 'https://a.example/', algorithm: 'RS256' } }],
  ['has ID tokens signed with RS256', { idTokenSignedResponseAlg: 'RS256' }],
  [
    'has an http redirect URI',
    { redirectUris: ['https://client.example/cb', 'HTTP://localhost/cb'] },
  ],
  [
    'has a loopback redirect URI, and is not a native application',
    { redirectUris: ['http://127.0.0.1/cb'] },
  ],
  [
    'has a redirect URI with localhost',
    { redirectUris: ['http://localhost/cb'], applicationType: 'native' },
  ],
  [
    'has a redirect URI whose host begins like the loopback address',
    { redirectUris: ['http://127.0.0.1.example/cb'], applicationType: 'native' },
  ],
])('with the FAPI 2.0 profile, a client is refused that %s', (_, changes) => {
  const profiles = profilesWith(ON);
  expect(profiles.refusal({ ...PROFILED, ...changes })).toContain('fapi2');
  expect(() => profiles.requireRegistrable({ ...PROFILED, ...changes })).toThrow('fapi2');
});

test.each<readonly [what: string, changes: Partial<ClientMetadata>]>([
  [
    'is a native application with a loopback redirect URI',
    { redirectUris: ['http://[::1]:80/cb'], applicationType: 'native' },
  ],
  [
    'is a native application with its own URI scheme',
    { redirectUris: ['com.example.app:/cb'], applicationType: 'native' },
  ],
  ['signs with PS256', { keys: { jwks: null, jwksUri: 'https://a.example/', algorithm: 'PS256' } }],
  [
    'has a redirect URI with an http URL in its query',
    { redirectUris: ['https://client.example/cb?next=http://client.example/'] },
  ],
  [
    'has a key for RS256 and one for ES256',
    {
      keys: {
        jwks: JSON.stringify({ keys: [{ alg: 'RS256' }, { alg: 'ES256' }] }),
        jwksUri: null,
        algorithm: null,
      },
    },
  ],
  ['requests no ID token', { scopes: ['notes:read'], idTokenSignedResponseAlg: 'RS256' }],
])('with the FAPI 2.0 profile, a client is accepted that %s', (_, changes) => {
  const profiles = profilesWith(ON);
  expect(profiles.refusal({ ...PROFILED, ...changes })).toBeNull();
  expect(() => profiles.requireRegistrable({ ...PROFILED, ...changes })).not.toThrow();
});

test.each(['private_key_jwt', 'dpop', 'pushed_authorization_requests'] as const)(
  'without %s, a client with the FAPI 2.0 profile is refused and cannot be registered',
  (key) => {
    const profiles = profilesWith({ ...ON, [key]: undefined });
    expect(profiles.refusal(PROFILED)).toContain(`oauth_server:${key}`);
    expect(() => profiles.requireRegistrable(PROFILED)).toThrow(`oauth_server:${key}`);
    expect(profiles.refusal(CLIENT)).toBeNull();
  },
);
