import type { Chapter } from './rule.ts';

export const rfc6750: Chapter = {
  source: 'RFC 6750',
  about: 'Bearer tokens',
  rules: [
    {
      section: '2.1',
      rule: 'The token is taken from the Authorization header, whatever the case of the scheme.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > expired',
        "test/token-accessor.test.ts > there is no path from token() to a session > a bearer of one person beside another person's session is the bearer's person",
      ],
    },
    {
      section: '2.2',
      rule: "UserInfo takes it from a form body too; the host's own routes, whose bodies are theirs, do not.",
      tests: [
        'test/openid-connect.test.ts > UserInfo takes the token in a form body too > of a form that says so: what the header would open',
        'test/openid-connect.test.ts > UserInfo takes the token in a form body too > no other body is read for one, and the header is enough beside a form without one',
        'test/token-accessor.test.ts > no usable token: 401 > a token in the query or in a form opens nothing',
      ],
    },
    {
      section: '2',
      rule: 'A token is sent in one way: in the form and in the header, or twice in the form, is invalid_request.',
      tests: [
        'test/openid-connect.test.ts > UserInfo takes the token in a form body too > beside an Authorization header it is invalid_request, whatever the header says',
        'test/openid-connect.test.ts > UserInfo takes the token in a form body too > sent twice it is invalid_request',
      ],
    },
    {
      section: '2.3',
      rule: 'Taking it from the query is optional, discouraged, and not offered.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > a token in the query or in a form opens nothing',
      ],
    },
    {
      section: '3',
      rule: '401 and 403 carry a Bearer challenge.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > no token',
        'test/token-accessor.test.ts > a token that does not reach: 403 > the token lacks the scope',
      ],
    },
    {
      section: '3',
      rule: 'The scope that is missing is named.',
      tests: ['test/token-accessor.test.ts > a token that does not reach: 403 > the token lacks the scope'],
    },
    {
      section: '3.1',
      rule: 'A request without a token is told no error code.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > no token',
        'test/token-accessor.test.ts > no usable token: 401 > another scheme',
      ],
    },
    {
      section: '3.1',
      rule: 'invalid_token is 401: malformed, unknown, expired or revoked.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > garbage: %j',
        'test/token-accessor.test.ts > no usable token: 401 > expired',
        'test/token-accessor.test.ts > no usable token: 401 > revoked with its family',
      ],
    },
    {
      section: '3.1',
      rule: 'insufficient_scope is 403.',
      tests: ['test/token-accessor.test.ts > a token that does not reach: 403 > the token lacks the scope'],
    },
    {
      section: '5.3',
      rule: 'Tokens are short-lived and limited in scope.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > expired',
        'test/token-accessor.test.ts > a token that does not reach: 403 > the token lacks the scope',
      ],
    },
  ],
};

export const rfc7009: Chapter = {
  source: 'RFC 7009',
  about: 'Token revocation',
  rules: [
    {
      section: '2.1',
      rule: 'Refresh tokens and access tokens can be revoked.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > a refresh token ends its family: successors and access tokens with it',
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > an access token ends only itself',
      ],
    },
    {
      section: '2.1',
      rule: 'The client authenticates; a public one is identified by its id.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > a client that does not authenticate revokes nothing',
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > a public client revokes its own by its id',
      ],
    },
    {
      section: '2.1',
      rule: 'token is required.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > without a token it is invalid_request',
      ],
    },
    {
      section: '2.1',
      rule: 'A wrong token_type_hint does no harm: the token is found all the same.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > an access token ends only itself',
      ],
    },
    {
      section: '2.1',
      rule: 'A token of another client is left alone (and answered as an unknown one, so that nothing is learnt).',
      tests: [
        "test/revocation-and-introspection.test.ts > POST /oauth/revoke > an unknown or somebody else's token: 200, and nothing",
      ],
    },
    {
      section: '2.1',
      rule: 'A revoked refresh token takes the access tokens of its grant with it.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > a refresh token ends its family: successors and access tokens with it',
      ],
    },
    {
      section: '2.1',
      rule: 'Revocation takes effect at once, in every process.',
      tests: [
        'test/crashes.test.ts > killed under load: what was answered is valid, nothing was spent twice, every revocation holds',
        'test/store-contract.test.ts > refresh tokens and families > of a rotation and a revocation at the same moment nothing lives afterwards',
      ],
    },
    {
      section: '2.2',
      rule: 'An unknown token is 200, like a revoked one.',
      tests: [
        "test/revocation-and-introspection.test.ts > POST /oauth/revoke > an unknown or somebody else's token: 200, and nothing",
      ],
    },
    {
      section: '2.2.1',
      rule: 'A server that cannot answer says 503 with Retry-After.',
      tests: [
        'test/another-host.test.ts > a store that cannot be reached > is 503 temporarily_unavailable with Retry-After, as JSON, until it is back',
        'test/outage.test.ts > the database stopped under load, and back: 503 meanwhile, nothing else, nothing spent without an answer',
      ],
    },
    {
      section: '2.3',
      rule: 'Browser applications may call it.',
      tests: ['test/openid-connect.test.ts > pages of any origin > may call %s, without credentials'],
    },
  ],
};

export const rfc7662: Chapter = {
  source: 'RFC 7662',
  about: 'Token introspection',
  rules: [
    {
      section: '2.1',
      rule: 'The endpoint takes a form by POST, with the token.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
        'test/hostile-input.test.ts > whatever is sent > POST /oauth/introspect: the answer is JSON, and no token is active but one that was sent',
      ],
    },
    {
      section: '2.1, 4',
      rule: 'Whoever asks is authenticated and authorized.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > is for a confidential client with the right, and for nobody else',
      ],
    },
    {
      section: '2.2',
      rule: 'active is true for a token that is good now, with scope, client_id, token_type, exp, iat, iss and sub.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
      ],
    },
    {
      section: '2.2',
      rule: 'aud names the target.',
      tests: [
        'test/states-and-transitions.test.ts > Errors, with an audience > the audience is decided at authorization and kept through every refresh, whatever happens to the client later',
      ],
    },
    {
      section: '2.2',
      rule: 'Of a token that is not good now nothing is said but active: false.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > inactive: unknown, a refresh token, revoked, of a suspended person, expired',
      ],
    },
    {
      section: '2.3',
      rule: 'A caller that fails to authenticate gets 401.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > is for a confidential client with the right, and for nobody else',
      ],
    },
    {
      section: '4',
      rule: 'Expiry, revocation, the account and the target are all looked at.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > inactive: unknown, a refresh token, revoked, of a suspended person, expired',
        'test/states-and-transitions.test.ts > Errors, with an audience > token granted for a target other than the configured audience: treated as no token',
      ],
    },
    {
      section: '4',
      rule: 'The answer is not stored by caches.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
      ],
    },
    {
      section: '5',
      rule: 'The person is told by the public subject only.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
      ],
    },
  ],
};
