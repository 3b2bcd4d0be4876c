import { describe, expect, test } from 'vitest';
import { authenticationMetadata } from './client-metadata.ts';
import { demands } from '../store/client-demands.fixture.ts';

const CLIENT = { public: true, keys: null, pushesRequests: false, dpopBoundAccessTokens: false };
const KEYS = { jwks: '{"keys":[{"kty":"EC"}]}', jwksUri: null, algorithm: null };
const WORKLOAD = { issuer: 'https://ci.example', subject: 'repo:a/b' };
const SPIFFE = { issuer: 'spiffe://example.org', subject: 'spiffe://example.org/a' };
const DEMANDS = { pushesRequests: true, dpopBoundAccessTokens: true };
const DEMANDED = { require_pushed_authorization_requests: true, dpop_bound_access_tokens: true };

describe('the metadata that a client receives', () => {
  test.each([
    ['without a secret or keys', CLIENT, { token_endpoint_auth_method: 'none' }],
    [
      'with a secret',
      { ...CLIENT, public: false },
      { token_endpoint_auth_method: 'client_secret_basic' },
    ],
    [
      'with stored keys',
      { ...CLIENT, public: false, keys: KEYS },
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'EC' }] } },
    ],
    [
      'with published keys and an algorithm',
      {
        ...CLIENT,
        public: false,
        keys: { jwks: null, jwksUri: 'https://client.example/k', algorithm: 'ES256' },
      },
      {
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        jwks_uri: 'https://client.example/k',
      },
    ],
    [
      'as a workload',
      { ...CLIENT, public: false, keys: { ...KEYS, jwks: null, workload: WORKLOAD } },
      {
        token_endpoint_auth_method: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        workload: WORKLOAD,
      },
    ],
    [
      'as a workload of a SPIFFE trust domain',
      { ...CLIENT, public: false, keys: { ...KEYS, jwks: null, workload: SPIFFE } },
      {
        token_endpoint_auth_method: 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe',
        workload: SPIFFE,
      },
    ],
  ] as const)('shows that it authenticates %s, and its requirements', (_, client, says) => {
    expect(authenticationMetadata(client, demands())).toStrictEqual(says);
    expect(authenticationMetadata({ ...client, ...DEMANDS }, demands())).toStrictEqual({
      ...says,
      ...DEMANDED,
    });
    expect(authenticationMetadata({ ...client, pushesRequests: true }, demands())).toStrictEqual({
      ...says,
      require_pushed_authorization_requests: true,
    });
    expect(
      authenticationMetadata({ ...client, dpopBoundAccessTokens: true }, demands()),
    ).toStrictEqual({
      ...says,
      dpop_bound_access_tokens: true,
    });
  });
});
