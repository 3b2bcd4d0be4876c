import type { Chapter } from './rule.ts';

export const oidcDiscovery: Chapter = {
  source: 'OpenID Connect Discovery 1.0',
  about: 'How a client finds the provider',
  rules: [
    {
      section: '3',
      rule: 'Every required member is there: issuer, endpoints, jwks_uri, response types, subject types, algorithms with RS256.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the OpenID provider says the same, with what is its own',
      ],
    },
    {
      section: '3',
      rule: 'What is not supported is said: request, request_uri and claims parameters.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the OpenID provider says the same, with what is its own',
      ],
    },
    {
      section: '3',
      rule: 'The key set holds public keys for signatures, and nothing private.',
      tests: [
        'test/openid-connect.test.ts > signing keys > a generated key signs from then on, and the one before stays published',
      ],
    },
    {
      section: '4',
      rule: 'The document is at /.well-known/openid-configuration of the issuer.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > discovers both documents, and the key of the ID token is in the key set',
      ],
    },
    {
      section: '4.1, 4.2',
      rule: 'GET answers 200 and JSON.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the OpenID provider says the same, with what is its own',
      ],
    },
    {
      section: '4.3',
      rule: 'The issuer is the one of the address and of the ID tokens.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > discovers both documents, and the key of the ID token is in the key set',
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
  ],
};
