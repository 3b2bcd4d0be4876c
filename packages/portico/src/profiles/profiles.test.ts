import { describe, expect, test } from 'vitest';
import { FAPI2_RULES, type ProfiledClient, type ProfiledSwitches } from './fapi2.ts';
import { createProfiles, profileProblems, withProfile } from './profiles.ts';

const CLIENT: ProfiledClient = {
  public: false,
  keys: { jwks: null, jwksUri: 'https://client.example/keys', algorithm: null },
  grants: ['authorization_code', 'refresh_token'],
  scopes: ['openid'],
  redirectUris: ['https://client.example/cb'],
  applicationType: 'web',
  idTokenSignedResponseAlg: 'ES256',
  profile: null,
};
const PROFILED: ProfiledClient = { ...CLIENT, profile: 'fapi2' };
const OFF: ProfiledSwitches = { code_ttl: 60 };
const ON: ProfiledSwitches = {
  code_ttl: 600,
  private_key_jwt: true,
  dpop: 'accept',
  pushed_authorization_requests: 'accept',
};

test('each rule has its own number and a text', () => {
  const ids = FAPI2_RULES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { says } of FAPI2_RULES) expect(says).toMatch(/^[a-z].*\.$/);
});

describe('the configuration of a server of the profile', () => {
  test("gets the profile's values where it has none", () => {
    const config = withProfile({ profile: 'fapi2', ...OFF });
    expect(config).toEqual({
      profile: 'fapi2',
      code_ttl: 60,
      private_key_jwt: true,
      dpop: 'require',
      pushed_authorization_requests: 'require',
    });
    expect(profileProblems(config)).toEqual([]);
    expect(createProfiles(config).refusal(CLIENT)).toBeNull();
  });

  test.each<readonly [key: string, changes: Partial<ProfiledSwitches>]>([
    ['private_key_jwt', { private_key_jwt: false }],
    ['dpop', { dpop: 'off' }],
    ['dpop', { dpop: 'accept' }],
    ['pushed_authorization_requests', { pushed_authorization_requests: 'off' }],
    ['pushed_authorization_requests', { pushed_authorization_requests: 'accept' }],
    ['registration', { registration: 'open' }],
    ['code_ttl', { code_ttl: 61 }],
  ])('is refused if %s contradicts it: %j', (key, changes) => {
    expect(profileProblems({ profile: 'fapi2', ...OFF, ...changes }).map((each) => each.key)).toEqual([
      `oauth_server:${key}`,
    ]);
    // Other clients do not have to care.
    expect(profileProblems({ ...OFF, ...changes })).toEqual([]);
    expect(withProfile({ ...OFF, ...changes })).toEqual({ ...OFF, ...changes });
  });
});

describe('the profile applies', () => {
  test('to no client, if neither the server nor the client has it', () => {
    const { governs, refusal } = createProfiles(OFF);
    const open = { ...CLIENT, public: true, keys: null };
    expect([governs(open), refusal(open)]).toEqual([false, null]);
  });

  test('to a client that has it, and to no other', () => {
    const { governs, refusal } = createProfiles(ON);
    expect([governs(PROFILED), refusal(PROFILED)]).toEqual([true, null]);
    expect([governs(CLIENT), refusal({ ...CLIENT, public: true })]).toEqual([false, null]);
  });

  test('on a server that has it, to every client except an API that introspects tokens', () => {
    const { governs } = createProfiles(withProfile({ profile: 'fapi2', ...OFF }));
    expect(governs(CLIENT)).toBe(true);
    expect(governs({ ...CLIENT, grants: ['introspection'] })).toBe(false);
    expect(governs({ ...CLIENT, grants: ['client_credentials', 'introspection'] })).toBe(true);
    expect(governs({ ...PROFILED, grants: ['introspection'] })).toBe(true);
  });

  test('and a client with a profile that this release does not know is refused', () => {
    expect(createProfiles(ON).refusal({ ...CLIENT, profile: 'fapi3' })).toContain('not known');
    expect(createProfiles(ON).refusal({ ...CLIENT, profile: '' })).toContain('not known');
  });
});

test.each<readonly [what: string, changes: Partial<ProfiledClient>]>([
  ['is public', { public: true, keys: null }],
  ['has a secret', { keys: null }],
  ['signs with RS256', { keys: { jwks: null, jwksUri: 'https://a.example/', algorithm: 'RS256' } }],
  ['has ID tokens of RS256', { idTokenSignedResponseAlg: 'RS256' }],
  ['is answered by http', { redirectUris: ['https://client.example/cb', 'HTTP://localhost/cb'] }],
  ['is answered on loopback, and is no application on a device', { redirectUris: ['http://127.0.0.1/cb'] }],
  ['is answered at localhost', { redirectUris: ['http://localhost/cb'], applicationType: 'native' }],
  [
    'is answered at a name that begins like the loopback address',
    { redirectUris: ['http://127.0.0.1.example/cb'], applicationType: 'native' },
  ],
])('a client is refused that %s', (_, changes) => {
  const { refusal, requireRegistrable } = createProfiles(ON);
  expect(refusal({ ...PROFILED, ...changes })).toContain('fapi2');
  expect(() => requireRegistrable({ ...PROFILED, ...changes })).toThrow('fapi2');
});

test.each<readonly [what: string, changes: Partial<ProfiledClient>]>([
  [
    'is answered on the loopback address of a device',
    { redirectUris: ['http://[::1]:80/cb'], applicationType: 'native' },
  ],
  [
    'has its own URI scheme on a device',
    { redirectUris: ['com.example.app:/cb'], applicationType: 'native' },
  ],
  ['signs with PS256', { keys: { jwks: null, jwksUri: 'https://a.example/', algorithm: 'PS256' } }],
  ['asks for no ID token', { scopes: ['notes:read'], idTokenSignedResponseAlg: 'RS256' }],
])('a client is accepted that %s', (_, changes) => {
  const { refusal, requireRegistrable } = createProfiles(ON);
  expect(refusal({ ...PROFILED, ...changes })).toBeNull();
  expect(() => requireRegistrable({ ...PROFILED, ...changes })).not.toThrow();
});

test.each(['private_key_jwt', 'dpop', 'pushed_authorization_requests'] as const)(
  'without %s, a client with the profile gets nothing and cannot be registered',
  (key) => {
    const { refusal, requireRegistrable } = createProfiles({ ...ON, [key]: undefined });
    expect(refusal(PROFILED)).toContain(`oauth_server:${key}`);
    expect(() => requireRegistrable(PROFILED)).toThrow(`oauth_server:${key}`);
    expect(refusal(CLIENT)).toBeNull();
  },
);
