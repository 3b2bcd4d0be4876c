import { NO_FIELDS } from '../store/no-fields.fixture.ts';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { RegistrationError } from '../errors.ts';
import type { OAuthServerConfig } from '../config.ts';
import { GRANT_TYPES } from '../../../../test/support/grant-types.ts';
import { profilesWith } from '../../../../test/support/profiles.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Server } from '../server.ts';
import type { GrantTypes } from '../store/grant-types.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import { checkName, checkRegistration, type ClientRegistration } from './registration.ts';
import { firstWithKey } from './id-token-algorithms.ts';
import { hasSecret, newClient } from './new-client.ts';
import { checkGrants } from './registered-grants.ts';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';

const SITE = 'https://client.example/callback';
const LOOPBACK = 'http://127.0.0.1/callback';
const CATALOG = createScopeCatalog({ 'notes:read': 'Read notes', 'notes:write': 'Write notes' });
const KEYS = { keys: [generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })] };
const BASE: ClientRegistration = { name: 'A client', redirectUris: [SITE], scopes: ['notes:read'] };
const SERVICE: ClientRegistration = {
  name: 'A service',
  scopes: ['notes:read'],
  grants: ['client_credentials'],
};
const OFF: Partial<OAuthServerConfig> = { code_ttl: 60 };
const ON: Partial<OAuthServerConfig> = {
  ...OFF,
  private_key_jwt: true,
  dpop: 'accept',
  pushed_authorization_requests: 'accept',
};
const OF_PROFILE: Partial<OAuthServerConfig> = { ...ON, profile: 'fapi2' };
const RS256: readonly SigningAlgorithm[] = ['RS256'];

const keysOf = (algorithms: readonly SigningAlgorithm[]) =>
  ({
    algorithms: ALGORITHMS,
    all: async () => algorithms.map((algorithm) => ({ algorithm })),
  }) as unknown as KeyRing;

const check = (
  changes: Partial<ClientRegistration> = {},
  { base = BASE, algorithms = RS256, switches = OFF } = {},
) =>
  checkRegistration({ ...base, ...changes }, {
    scopes: CATALOG,
    keys: keysOf(algorithms),
    profiles: profilesWith(switches),
    grantTypes: () => GRANT_TYPES,
    fetching: {},
    furtherMetadata: NO_FIELDS,
  } as Partial<Server> as Server);

async function refusal(...asked: Parameters<typeof check>): Promise<string> {
  try {
    await check(...asked);
  } catch (error) {
    if (error instanceof RegistrationError) return error.message;
    throw error;
  }
  throw new Error('It was not refused');
}

describe('A registration', () => {
  test('gets defaults for missing fields', async () => {
    expect(await check()).toStrictEqual({
      name: 'A client',
      redirectUris: [SITE],
      scopes: ['notes:read'],
      grants: ['authorization_code', 'refresh_token'],
      public: false,
      applicationType: 'web',
      keys: null,
      pushesRequests: false,
      dpopBoundAccessTokens: false,
      profile: null,
      idTokenSignedResponseAlg: 'RS256',
    });
  });

  test('keeps the given values, normalized', async () => {
    const says: Partial<ClientRegistration> = {
      name: '  A program ',
      redirectUris: [LOOPBACK, SITE, LOOPBACK],
      scopes: ['openid', 'notes:write', 'offline_access', 'openid'],
      grants: ['authorization_code'],
      public: true,
      applicationType: 'native',
      requirePushedAuthorizationRequests: true,
      dpopBoundAccessTokens: true,
      idTokenSignedResponseAlg: 'EdDSA',
    };
    expect(await check(says, { algorithms: ['RS256', 'EdDSA'] })).toStrictEqual({
      name: 'A program',
      redirectUris: [LOOPBACK, SITE],
      scopes: ['openid', 'notes:write'],
      grants: ['authorization_code'],
      public: true,
      applicationType: 'native',
      keys: null,
      pushesRequests: true,
      dpopBoundAccessTokens: true,
      profile: null,
      idTokenSignedResponseAlg: 'EdDSA',
    });
    expect(
      await check({ requirePushedAuthorizationRequests: false, dpopBoundAccessTokens: false }),
    ).toEqual(await check());
  });

  test('with keys has no secret', async () => {
    const jwksUri = 'https://client.example/keys';
    const published = await check({ jwksUri, tokenEndpointAuthSigningAlg: 'ES256' });
    expect(published.keys).toEqual({ jwks: null, jwksUri, algorithm: 'ES256' });
    const brought = await check({ jwks: KEYS });
    expect(brought.keys?.jwks).toContain('Ed25519');
    expect(
      [published, brought, await check({ public: true }), await check()].map(hasSecret),
    ).toEqual([false, false, false, true]);
  });

  test.each<[says: string, changes: Partial<ClientRegistration>]>([
    ['The client needs a name; use one that people recognise', { name: ' ' }],
    [
      'The application type "desktop" is unknown; use web or native',
      { applicationType: 'desktop' },
    ],
    [
      'The redirect URI "http://client.example/" must be https (http is allowed only on loopback: localhost, 127.0.0.1, [::1])',
      { redirectUris: [SITE, 'http://client.example/'] },
    ],
    [
      'The scope "unheard:of" is unknown; this server offers openid, profile, email, notes:read, notes:write',
      { scopes: ['notes:read', 'unheard:of'] },
    ],
    [
      'The grant "password" is unknown; use one of authorization_code, refresh_token, client_credentials, introspection',
      { grants: ['authorization_code', 'password'] },
    ],
    ['The client has no scope; add at least one with --scope', { scopes: [] }],
    ['The client has no scope; add at least one with --scope', { scopes: ['offline_access'] }],
    ['The profile "fapi1" is unknown; use fapi2', { profile: 'fapi1' }],
    [
      'A client with keys authenticates with them, so it cannot be public',
      { public: true, jwks: KEYS },
    ],
    [
      'A client with keys authenticates with them, so it cannot be public',
      { public: true, jwksUri: 'https://client.example/keys' },
    ],
    [
      'A client with keys authenticates with them, so it cannot be public',
      { public: true, tokenEndpointAuthSigningAlg: 'ES256' },
    ],
    [
      'The client has both jwks and jwks_uri; use only one of them',
      { jwks: KEYS, jwksUri: 'https://a.example/k' },
    ],
    [
      'The client needs its public keys: jwks or jwks_uri',
      { tokenEndpointAuthSigningAlg: 'ES256' },
    ],
  ])('is refused: %s', async (says, changes) => {
    expect(await refusal(changes)).toBe(says);
  });

  test.each(['a'.repeat(100), ` ${'a'.repeat(100)} `, 'ünïcode 😀'])(
    'may have the name %j',
    (name) => {
      expect(checkName(name)).toBe(name.trim());
    },
  );

  test.each([
    ['is longer than 100 characters', 'a'.repeat(101)],
    ['contains control or invisible characters', 'a\u0000b'],
    ['contains control or invisible characters', 'a\u202Eb'],
    ['contains control or invisible characters', 'a\u2028b'],
    ['contains control or invisible characters', 'a\u2029b'],
    ['is not well-formed Unicode', 'a\uD800b'],
  ])('cannot have a name that %s: %j', (says, name) => {
    expect(() => checkName(name)).toThrow(`The name ${says}`);
  });
});

describe('The grants of a registration', () => {
  test.each<[grants: readonly string[] | undefined, are: readonly string[]]>([
    [undefined, ['authorization_code', 'refresh_token']],
    [['introspection'], ['authorization_code', 'refresh_token', 'introspection']],
    [['authorization_code'], ['authorization_code']],
    [
      ['client_credentials', 'refresh_token', 'authorization_code'],
      ['authorization_code', 'refresh_token', 'client_credentials'],
    ],
    [GRANT_TYPES.rights, GRANT_TYPES.rights],
  ])('with a redirect URI, %j, are %j', async (grants, are) => {
    expect((await check(grants === undefined ? {} : { grants })).grants).toEqual(are);
  });

  test('without a redirect URI are those that it names', async () => {
    expect((await check({}, { base: SERVICE })).grants).toEqual(['client_credentials']);
    const asking = { name: 'An API', grants: ['introspection'] };
    expect(await check({}, { base: asking })).toMatchObject({
      grants: ['introspection'],
      scopes: [],
      redirectUris: [],
    });
  });

  test.each<[says: string, registration: ClientRegistration]>([
    ['The client has no grant; add --redirect or --grant=client_credentials', { name: 'A' }],
    [
      'The grant refresh_token needs authorization_code; add that grant too',
      { ...BASE, grants: ['refresh_token'] },
    ],
    [
      'The grant authorization_code needs a --redirect',
      { ...SERVICE, grants: ['authorization_code'] },
    ],
    [
      'A --redirect needs the grant authorization_code; add that grant, or remove the redirect',
      { ...SERVICE, redirectUris: [SITE] },
    ],
    [
      'A public client cannot have the grant client_credentials, because it has no secret',
      { ...SERVICE, public: true },
    ],
    [
      'A public client cannot have the grant introspection, because it has no secret',
      { ...BASE, public: true, grants: ['introspection'] },
    ],
    [
      'The scope email is about a person, but client_credentials tokens are not issued for a ' +
        'person; remove the scope',
      { ...SERVICE, scopes: ['notes:read', 'email'] },
    ],
  ])('are refused: %s', async (says, base) => {
    expect(await refusal({}, { base })).toBe(says);
  });

  test('may begin in each way that the server has', () => {
    const grantTypes = {
      rights: ['refresh_token'],
      isConfidential: () => false,
      begin: () => false,
      beginning: () => ['authorization_code', 'device_code'],
    } as unknown as GrantTypes;
    expect(() => checkGrants(['refresh_token'], [], false, grantTypes)).toThrow(
      'The grant refresh_token needs authorization_code or device_code; add that grant too',
    );
  });

  test('may include introspection besides others', async () => {
    const grants = ['authorization_code', 'client_credentials'];
    expect((await check({ grants, scopes: ['email'] })).scopes).toEqual(['email']);
    const service = { grants: ['client_credentials', 'introspection'], scopes: ['email'] };
    expect(await refusal(service, { base: SERVICE })).toContain(
      'The scope email is about a person',
    );
  });
});

describe('The ID token algorithm of a client', () => {
  const openid = { scopes: ['openid'] };

  test('is RS256 by default, or a named one if the server has a signing key for it', async () => {
    const both: readonly SigningAlgorithm[] = ['RS256', 'ES256'];
    expect((await check(openid, { algorithms: [] })).idTokenSignedResponseAlg).toBe('RS256');
    const named = { ...openid, idTokenSignedResponseAlg: 'ES256' };
    expect((await check(named, { algorithms: both })).idTokenSignedResponseAlg).toBe('ES256');
    expect(await refusal(named)).toBe(
      'The server has no signing key for ES256; run npx portico oauth:keys:generate --alg ES256 first',
    );
    expect(
      await refusal({ ...openid, idTokenSignedResponseAlg: 'RS256' }, { algorithms: [] }),
    ).toBe('The server has no signing key; run npx portico oauth:server:setup first');
  });

  test('can be named only by a client that gets ID tokens', async () => {
    const says =
      'An ID token needs the scope openid and a --redirect; add both, or remove --id-token-alg';
    const named = { idTokenSignedResponseAlg: 'RS256' };
    expect(await refusal(named)).toBe(says);
    const asking = { name: 'An API', grants: ['introspection'], scopes: ['openid'] };
    expect(await refusal(named, { base: asking })).toBe(says);
    expect((await check({ ...named, ...openid })).idTokenSignedResponseAlg).toBe('RS256');
  });

  test('is refused if it is unknown, and is shortened in the error', async () => {
    expect(await refusal({ ...openid, idTokenSignedResponseAlg: 'none' })).toBe(
      'The ID token algorithm "none" is unknown; use one of RS256, ES256, EdDSA',
    );
    expect(await refusal({ ...openid, idTokenSignedResponseAlg: 'a'.repeat(5000) })).not.toContain(
      'aaaa',
    );
  });

  test('is the first one for which the server has a key', async () => {
    expect(await firstWithKey(['ES256', 'EdDSA'], keysOf(['EdDSA', 'ES256']))).toBe('ES256');
    expect(await firstWithKey(['ES256', 'EdDSA'], keysOf(['RS256', 'EdDSA']))).toBe('EdDSA');
    expect(await firstWithKey(['ES256', 'EdDSA'], keysOf(['RS256']))).toBeNull();
  });
});

describe('A registration with a profile', () => {
  const base = {
    ...BASE,
    scopes: ['openid'],
    jwksUri: 'https://client.example/keys',
    profile: 'fapi2',
  };
  const both: readonly SigningAlgorithm[] = ['RS256', 'EdDSA'];

  test('gets the requirements of the profile, and one of its ID token algorithms', async () => {
    expect(await check({}, { base, algorithms: both, switches: ON })).toMatchObject({
      profile: 'fapi2',
      pushesRequests: true,
      dpopBoundAccessTokens: true,
      idTokenSignedResponseAlg: 'EdDSA',
    });
    expect(
      await check({ scopes: ['notes:read'] }, { base, algorithms: both, switches: ON }),
    ).toMatchObject({
      idTokenSignedResponseAlg: 'RS256',
    });
  });

  test('needs a key for one of these algorithms', async () => {
    expect(await refusal({}, { base, switches: ON })).toBe(
      'The server has no signing key for ES256 or EdDSA; run npx portico oauth:keys:generate --alg ES256 first',
    );
  });

  test('is refused first for a disabled setting, then for what the profile does not allow', async () => {
    const off = 'The profile fapi2 needs settings that are off: oauth_server:dpop';
    expect(await refusal({}, { base })).toContain(off);
    for (const algorithms of [[], RS256]) {
      expect(
        await refusal({ idTokenSignedResponseAlg: 'RS256' }, { base, algorithms, switches: ON }),
      ).toBe(
        'The profile fapi2 does not allow this client: its ID tokens are signed with RS256 (id_token_signed_response_alg)',
      );
    }
    expect(await refusal({ idTokenSignedResponseAlg: 'none' }, { base, switches: ON })).toContain(
      'The ID token algorithm "none" is unknown',
    );
    const { jwksUri: _, ...keyless } = base;
    expect(await refusal({}, { base: keyless, switches: ON })).toBe(
      'The profile fapi2 does not allow this client: it has no keys for authentication (private_key_jwt)',
    );
  });

  test('gets an algorithm of the profile even without naming it, if the server has the profile', async () => {
    const { profile: _, ...plain } = base;
    expect(await check({}, { base: plain, algorithms: both, switches: OF_PROFILE })).toMatchObject({
      profile: null,
      pushesRequests: false,
      dpopBoundAccessTokens: false,
      idTokenSignedResponseAlg: 'EdDSA',
    });
    expect((await check({}, { base: plain, algorithms: both })).idTokenSignedResponseAlg).toBe(
      'RS256',
    );
  });
});

test('A new client is unused, and has at most one secret', async () => {
  const checked = await check();
  const begun = { id: 'a', registeredBy: 'operator', secretHash: 'hash', createdAt: 7 } as const;
  expect(newClient(checked, begun)).toStrictEqual({
    ...checked,
    ...begun,
    secretExpiresAt: null,
    previousSecretHash: null,
    previousSecretExpiresAt: null,
    usedAt: null,
    revokedAt: null,
  });
});
