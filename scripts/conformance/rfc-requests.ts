import type { Chapter } from './rule.ts';

export const rfc7636: Chapter = {
  source: 'RFC 7636',
  about: 'Proof Key for Code Exchange',
  rules: [
    {
      section: '4.1',
      rule: 'A verifier has 43 to 128 unreserved characters; any other belongs to no challenge, its own included.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > a verifier %s belongs to no challenge, its own neither (RFC 7636 section 4.1)',
      ],
    },
    {
      section: '4.2, appendix B',
      rule: 'S256 is the base64url of the SHA-256 of the verifier; the example of the RFC works.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
      ],
    },
    {
      section: '4.3',
      rule: 'Without a method plain would be meant, and plain is not offered.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE without a method, which means plain]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE plain]',
      ],
    },
    {
      section: '4.4',
      rule: 'The challenge is kept with the code.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [PKCE verifier]',
      ],
    },
    {
      section: '4.4.1',
      rule: 'A missing challenge or an unsupported method is invalid_request.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE missing]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE plain]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > PKCE missing, from a public client',
      ],
    },
    {
      section: '4.5',
      rule: 'code_verifier is required at the token endpoint.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > without %s: invalid_request, and the code can still be exchanged [code_verifier]',
      ],
    },
    {
      section: '4.6',
      rule: 'A verifier that does not match is invalid_grant.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [PKCE verifier]',
        'test/openid-connect.test.ts > openid-client > a code exchanged with the wrong verifier is invalid_grant, and spent',
      ],
    },
    {
      section: '7.2',
      rule: 'There is no way back to plain or to no PKCE at all.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE missing]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE plain]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE without a method, which means plain]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > PKCE missing, from a public client',
      ],
    },
  ],
};

export const rfc8414: Chapter = {
  source: 'RFC 8414',
  about: 'Authorization server metadata',
  rules: [
    {
      section: '2',
      rule: 'The issuer is an https URL without query or fragment.',
      tests: [
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [https://app.example.com?x]',
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [https://app.example.com/path]',
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [http://app.example.com]',
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
      ],
    },
    {
      section: '2',
      rule: 'Endpoints, response types, grants, client authentication and PKCE methods are published as they are.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
      ],
    },
    {
      section: '3',
      rule: 'The document is at /.well-known/oauth-authorization-server.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > discovers both documents, and the key of the ID token is in the key set',
      ],
    },
    {
      section: '3.1, 3.2',
      rule: 'GET answers 200 and JSON.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
      ],
    },
    {
      section: '3.2',
      rule: 'A member without a value is left out.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
      ],
    },
    {
      section: '3.3',
      rule: 'The issuer in it is the one that the address was made from.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > discovers both documents, and the key of the ID token is in the key set',
      ],
    },
  ],
};

export const rfc8707: Chapter = {
  source: 'RFC 8707',
  about: 'Resource indicators',
  rules: [
    {
      section: '2',
      rule: 'A target is an absolute URI without a fragment.',
      tests: [
        'test/configuration.test.ts > oauth_server:audience > %j is refused [https://api.example/#part]',
        'test/configuration.test.ts > oauth_server:audience > %j is refused [/api]',
        'test/console.test.ts > the service refuses to start, naming each key and what to do > everything malformed, all at once',
      ],
    },
    {
      section: '2',
      rule: 'A target that is unknown or unwanted is invalid_target.',
      tests: [
        'test/token-endpoint.test.ts > a configured audience > any other target is invalid_target, before anyone is asked',
        'test/token-endpoint.test.ts > the client credentials grant > refuses a resource when no audience is configured',
      ],
    },
    {
      section: '2',
      rule: 'Several resources in one request are allowed to a server; here a grant has one target.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > a repeated resource is invalid_target',
      ],
    },
    {
      section: '2.1',
      rule: 'The target of the authorization request is what the tokens are for.',
      tests: [
        'test/token-endpoint.test.ts > a configured audience > is what a grant is bound to, named or not, and a refresh keeps it',
        'test/states-and-transitions.test.ts > Errors, with an audience > the audience is decided at authorization and kept through every refresh, whatever happens to the client later',
      ],
    },
    {
      section: '2.2',
      rule: 'A token request cannot reach for another target.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [resource]',
        'test/token-endpoint.test.ts > the refresh token grant > a different resource is invalid_target, and the token stays good',
      ],
    },
    {
      section: '3',
      rule: 'A token is refused where it was not meant for.',
      tests: [
        'test/states-and-transitions.test.ts > Errors, with an audience > token granted for a target other than the configured audience: treated as no token',
      ],
    },
  ],
};

export const rfc9207: Chapter = {
  source: 'RFC 9207',
  about: 'Issuer identification in authorization responses',
  rules: [
    {
      section: '2',
      rule: 'iss stands in a response with a code.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
      ],
    },
    {
      section: '2',
      rule: 'iss stands in a response with an error.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s',
      ],
    },
    {
      section: '2',
      rule: 'Its value is the issuer of the metadata.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > validates the response of a whole flow, the signature of the ID token included',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
      ],
    },
    {
      section: '2.3',
      rule: 'The metadata says that it comes.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
      ],
    },
    {
      section: '2.4',
      rule: 'A client that compares it signs nobody in when it differs.',
      tests: [
        'test/relying-party.test.ts > signing in > a callback with %s signs nobody in [another issuer]',
      ],
    },
  ],
};
