import { demands } from '../../../packages/portico/src/store/client-demands.fixture.ts';
import { createScopeCatalog, SERVICE_SCOPES } from '../../../packages/portico/src/tokens/scopes.ts';
import { OAuthError, RegistrationError } from '../../../packages/portico/src/errors.ts';
import { checkRegistration } from '../../../packages/portico/src/clients/registration.ts';
import { readRegistration } from '../../../packages/portico/src/features/registration/asked-metadata.ts';
import { checkDescribed } from '../support/described.ts';
import { NO_FIELDS } from '../../../packages/portico/src/store/no-fields.fixture.ts';
import type { Server } from '../../../packages/portico/src/server.ts';
import { Profiles } from '../../../packages/portico/src/profiles.ts';
import { hold, unless, unlessAsync, type Target } from '../target.ts';
import { ALGORITHMS } from '../../../test/support/algorithms.ts';
import { GRANT_TYPES } from '../../../test/support/grant-types.ts';

const catalog = createScopeCatalog({ 'notes:read': 'Read', 'mcp:service': 'Act as a service' });
const base = { client_name: 'A client', redirect_uris: ['https://client.example/cb'] };
const EC = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
const keys = {
  algorithms: ALGORITHMS,
  all: async () => [{ algorithm: 'RS256' }, { algorithm: 'ES256' }],
} as never;
const profiles = new Profiles([]);
const server = {
  scopes: catalog,
  keys,
  profiles,
  grantTypes: () => GRANT_TYPES,
  fetching: {},
  furtherMetadata: NO_FIELDS,
} as unknown as Server;

export const target: Target = {
  about: 'registration bodies (RFC 7591): members, what is replaced, what is refused',
  seeds: [
    JSON.stringify({
      ...base,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'openid notes:read',
    }),
    JSON.stringify({
      ...base,
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/cb', 'cursor://cb', 'com.example.app:/cb'],
    }),
    JSON.stringify({
      ...base,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [EC] },
    }),
    JSON.stringify({
      ...base,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://client.example/jwks',
      id_token_signed_response_alg: 'ES256',
      response_types: ['code'],
    }),
    JSON.stringify({
      client_name: 'Service',
      grant_types: ['client_credentials'],
      scope: 'notes:read mcp:service',
    }),
    JSON.stringify({
      ...base,
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: false,
      software_statement: 'x',
    }),
  ],
  dictionary: [
    'client_name',
    'redirect_uris',
    'application_type',
    'grant_types',
    'response_types',
    'scope',
    'token_endpoint_auth_method',
    'token_endpoint_auth_signing_alg',
    'id_token_signed_response_alg',
    'jwks',
    'jwks_uri',
    'keys',
    'k',
    'd',
    'dpop_bound_access_tokens',
    'require_pushed_authorization_requests',
    'none',
    'private_key_jwt',
    'client_secret_basic',
    'client_secret_post',
    'web',
    'native',
    'code',
    'authorization_code',
    'refresh_token',
    'client_credentials',
    'introspection',
    'openid',
    'offline_access',
    'mcp:service',
    'http://127.0.0.1:1/',
    'ES256',
  ],
  start: () => async (input) => {
    let value: unknown;
    try {
      value = JSON.parse(input.toString('utf8'));
    } catch {
      return;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const sent = value as Record<string, unknown>;
    for (const [cameWithToken, mayHaveSecret, on] of [
      [false, false, false],
      [false, false, true],
      [false, true, true],
      [true, true, true],
    ] as const) {
      const rules = {
        catalog,
        algorithms: ALGORITHMS,
        grantTypes: GRANT_TYPES,
        cameWithToken,
        mayHaveSecret,
        takesKeys: on,
        demands: demands({ pushed: on, bound: on }),
      };
      const registration = unless(
        (error) => error instanceof OAuthError,
        () => readRegistration(sent, rules),
      );
      if (registration === null) continue;
      const isStranger = registration.public === true || !cameWithToken;
      const scopes = registration.scopes ?? [];
      hold(
        scopes.length > 0 && scopes.every((each) => catalog.has(each)),
        'a scope that is not offered',
      );
      hold(
        !isStranger || !scopes.some((each) => SERVICE_SCOPES.has(each)),
        'anybody speaks for a service',
      );
      hold(
        !isStranger || !(registration.grants ?? []).includes('client_credentials'),
        'anybody acts as itself',
      );
      hold(
        !(registration.grants ?? []).includes('introspection'),
        'a client registered itself to look at tokens',
      );
      hold(
        registration.jwksUri === undefined || cameWithToken,
        'any client makes this server fetch',
      );
      hold(
        mayHaveSecret ||
          registration.public === true ||
          'jwks' in registration ||
          'jwksUri' in registration,
        'a client without a right to a secret gets one',
      );
      if (!on)
        hold(
          registration.jwks === undefined && registration.dpopBoundAccessTokens === false,
          'what is switched off was taken',
        );
      const checked = await unlessAsync(
        (error) => error instanceof RegistrationError,
        () => checkRegistration(registration, server),
      );
      if (checked === null) continue;
      checkDescribed(checked);
      hold(checked.public === (registration.public ?? false), 'it is registered as something else');
      hold(
        checked.redirectUris.join('').length <= 4000 && checked.redirectUris.length <= 20,
        'anybody keeps much here',
      );
    }
  },
};
