import { demands } from '../../../packages/portico/src/store/client-demands.fixture.ts';
import { isClientUrl } from '../../../packages/portico/src/clients/client-source.ts';
import {
  DocumentError,
  readDocument,
} from '../../../packages/portico/src/features/client-documents/document.ts';
import { saysNothing } from '../../../packages/portico/src/clients/metadata.ts';
import { newClient } from '../../../packages/portico/src/clients/new-client.ts';
import { unverified, isVerified } from '../../../packages/portico/src/clients/who-asks.ts';
import { ENGLISH_WORDS } from '../../../packages/portico/src/pages/words.ts';
import { createScopeCatalog, SERVICE_SCOPES } from '../../../packages/portico/src/tokens/scopes.ts';
import { checkDescribed } from '../support/described.ts';
import { hold, unless, type Target } from '../target.ts';
import { ALGORITHMS } from '../../../test/support/algorithms.ts';
import { GRANT_TYPES } from '../../../test/support/grant-types.ts';

const ADDRESS = 'https://client.example/client.json';
const catalog = createScopeCatalog({ 'notes:read': 'Read', 'mcp:service': 'Act as a service' });
const base = {
  client_id: ADDRESS,
  client_name: 'A client',
  redirect_uris: ['https://client.example/cb'],
};
const EC = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};

export const target: Target = {
  about: 'client ID metadata documents: members, keys, redirect URIs, names, what is refused',
  longest: 5120,
  seeds: [
    JSON.stringify(base),
    JSON.stringify({
      ...base,
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
      scope: 'openid notes:read',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }),
    JSON.stringify({
      ...base,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [EC] },
      token_endpoint_auth_signing_alg: 'ES256',
      id_token_signed_response_alg: 'ES256',
    }),
    JSON.stringify({
      ...base,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://client.example/jwks',
      dpop_bound_access_tokens: true,
      require_pushed_authorization_requests: true,
    }),
    JSON.stringify({
      ...base,
      client_secret: 'x',
      tls_client_certificate_bound_access_tokens: true,
    }),
  ],
  dictionary: [
    'client_id',
    'client_name',
    'redirect_uris',
    'application_type',
    'grant_types',
    'response_types',
    'scope',
    'token_endpoint_auth_method',
    'token_endpoint_auth_methods_supported',
    'token_endpoint_auth_signing_alg',
    'id_token_signed_response_alg',
    'jwks',
    'jwks_uri',
    'keys',
    'kty',
    'k',
    'd',
    'client_secret',
    'client_secret_expires_at',
    'dpop_bound_access_tokens',
    'require_pushed_authorization_requests',
    'require_signed_request_object',
    'none',
    'private_key_jwt',
    'client_secret_basic',
    'web',
    'native',
    'code',
    'authorization_code',
    'client_credentials',
    'openid',
    'mcp:service',
    'https://client.example/cb#x',
    'http://127.0.0.1:1/',
    '\u202E',
  ],
  start: () => (input) => {
    let value: unknown;
    try {
      value = JSON.parse(input.toString('utf8'));
    } catch {
      return;
    }
    for (const on of [false, true]) {
      const rules = {
        catalog,
        takesKeys: on,
        demands: demands({ pushed: on, bound: on }),
        unnamedAlgorithm: 'RS256',
        algorithms: ALGORITHMS,
        grantTypes: GRANT_TYPES,
        keysRefusal: (url: string) => (url.includes('evil') ? 'no' : null),
      } as const;
      const described = unless(
        (error) => error instanceof DocumentError,
        () => readDocument(value, ADDRESS, rules),
      );
      if (described === null) continue;
      const sent = value as Record<string, unknown>;
      hold(
        sent['client_id'] === ADDRESS && isClientUrl(ADDRESS),
        'the document of another client was taken',
      );
      hold(saysNothing(sent['client_secret']), 'a document with a secret was taken');
      checkDescribed({ ...described, public: described.keys === null, profile: null });
      hold(
        described.scopes.every((each) => catalog.has(each) && !SERVICE_SCOPES.has(each)) &&
          described.scopes.length > 0,
        'a scope that is not offered, or for services',
      );
      hold(
        described.grants.includes('authorization_code') &&
          !described.grants.includes('client_credentials'),
        'a grant for services',
      );
      if (sent['token_endpoint_auth_method'] === 'client_secret_basic')
        hold(false, 'a method that nobody can use was taken');
      if (!on)
        hold(
          described.keys === null && !described.pushesRequests && !described.dpopBoundAccessTokens,
          'what is switched off was taken',
        );
      if (sent['dpop_bound_access_tokens'] === true)
        hold(described.dpopBoundAccessTokens, 'a demand was forgotten');
      const client = newClient(
        { ...described, public: described.keys === null, profile: null },
        { id: ADDRESS, registeredBy: 'document', secretHash: null, createdAt: 1 },
      );
      hold(!isVerified(client), 'a stranger counts as known');
      for (const uri of described.redirectUris) {
        const asks = unverified(client, uri, 'Portal', ENGLISH_WORDS);
        hold(asks !== null && asks.asks === 'client.example', 'people are told of somebody else');
        hold(
          asks.calledName === null || !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(asks.calledName),
          'a name that cannot be seen is shown',
        );
      }
    }
  },
};
