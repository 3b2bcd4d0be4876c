import type { Chapter } from './rule.ts';

export const rfc6749Responses: Chapter = {
  source: 'RFC 6749',
  about: 'OAuth 2.0, responses, refreshing and security',
  rules: [
    {
      section: '5.1',
      rule: 'The answer is JSON with access_token, token_type, expires_in and scope, not to be stored.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
      ],
    },
    {
      section: '5.2',
      rule: 'Errors are JSON with error and error_description, 400 unless said otherwise.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again',
        'test/token-endpoint.test.ts > the body > with an unknown grant_type is unsupported_grant_type',
      ],
    },
    {
      section: '5.2',
      rule: 'invalid_client is 401, with a challenge for the scheme that was used.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > %s is 401 with a challenge',
        'test/token-endpoint.test.ts > client authentication > the header %j is 401',
      ],
    },
    {
      section: '5.2',
      rule: 'unauthorized_client, unsupported_grant_type and invalid_scope are told apart.',
      tests: [
        'test/token-endpoint.test.ts > the client credentials grant > is refused to a client that was not registered for it',
        'test/token-endpoint.test.ts > the body > with an unknown grant_type is unsupported_grant_type',
        'test/token-endpoint.test.ts > the client credentials grant > refuses the scope %s',
      ],
    },
    {
      section: '6',
      rule: 'A refresh token works for the client that it was issued to.',
      tests: [
        "test/token-endpoint.test.ts > the refresh token grant > another client's token is refused and stays good",
      ],
    },
    {
      section: '6',
      rule: 'scope at a refresh stays within what was granted, and left out is all of it.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > a scope beyond what was granted is invalid_scope, and the token stays good',
        'test/token-endpoint.test.ts > the refresh token grant > scope narrows the access token; the family keeps its scopes',
      ],
    },
    {
      section: '6',
      rule: 'An issued successor replaces the refresh token, whose scope is the same.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > replaces the token by a successor; the old one is invalid at once',
        'test/token-endpoint.test.ts > the refresh token grant > scope narrows the access token; the family keeps its scopes',
      ],
    },
    {
      section: '10.1',
      rule: 'No secret is issued to a client that cannot keep it.',
      tests: [
        'test/console.test.ts > oauth:client:create > --public has no secret',
        'test/client-lifecycle.test.ts > rotating a secret > a public, an unknown and a revoked client have none to rotate',
      ],
    },
    {
      section: '10.2',
      rule: "Nothing is granted without the person's own answer, so that a client can hardly pose as another.",
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > who allowed it before is asked again: nothing is ever granted without a question',
        'test/authorization-request.test.ts > the pages > say who asks, as whom, for what, and where the answer goes',
      ],
    },
    {
      section: '10.3',
      rule: 'Access tokens and refresh tokens are told to their client only, and kept as hashes.',
      tests: [
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > nor does the log, which tells of the faults',
      ],
    },
    {
      section: '10.3',
      rule: 'Tokens are issued for the scopes that are asked for, and no more.',
      tests: [
        'test/consent.test.ts > only what was shown is granted > a scope whose permission the person lacks is neither asked for nor granted',
        'test/openid-connect.test.ts > openid-client > openid alone releases the subject and nothing about the person',
      ],
    },
    {
      section: '10.4',
      rule: 'Refresh tokens are tied to their client, and their misuse is noticed.',
      tests: [
        "test/token-endpoint.test.ts > the refresh token grant > another client's token is refused and stays good",
        'test/token-endpoint.test.ts > the refresh token grant > a used token again revokes the whole family, the successor and every access token',
      ],
    },
    {
      section: '10.5',
      rule: 'Codes are short-lived and single use.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > within code_ttl only',
        'test/races.test.ts > two processes, one database > of concurrent uses of one code exactly one is answered, and nothing of the family lives',
      ],
    },
    {
      section: '10.6',
      rule: 'A changed redirect URI is noticed in either request.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [redirect URI]',
      ],
    },
    {
      section: '10.9',
      rule: 'The server is authenticated by TLS.',
      tests: [
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [http://app.example.com]',
      ],
    },
    {
      section: '10.10',
      rule: 'Codes, tokens and secrets are 256 random bits.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
        'test/console.test.ts > oauth:client:create > prints the client by the names of RFC 7591, and nothing else on standard output',
      ],
    },
    {
      section: '10.10',
      rule: 'Guessing is slowed down.',
      tests: [
        'test/failed-attempts.test.ts > failed client authentication > is slowed down per client and address: the wait is told, and doubles',
        'test/failed-attempts.test.ts > failed client authentication > of many clients from one address is slowed down too',
      ],
    },
    {
      section: '10.12',
      rule: 'The authorization endpoint is safe from cross-site request forgery.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > neither the request id alone nor with a made-up token is enough',
        "test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > one request's token does not answer another",
      ],
    },
    {
      section: '10.13',
      rule: 'It is safe from clickjacking.',
      tests: [
        'test/authorization-request.test.ts > the pages > are not framed, not stored, send no referrer and run no script',
        'test/browser.test.ts > in a real Chromium > a page of another site cannot frame the consent screen',
      ],
    },
    {
      section: '10.14',
      rule: 'What a client sends is checked and escaped wherever it is shown.',
      tests: [
        "test/authorization-request.test.ts > the pages > escape an application's name",
        'test/hostile-input.test.ts > whatever is sent > GET /oauth/authorize: the answer is a page or a redirect, to the client or to sign in, without a code',
      ],
    },
    {
      section: '10.15',
      rule: 'The server is no open redirector.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
        'src/host/application.test.ts > signing in > never leads to %s',
        'test/hostile-input.test.ts > whatever is sent > near those paths, by any method: never a fault, and nobody is led elsewhere',
      ],
    },
    {
      section: '10.16',
      rule: 'A client can tell that a token was not issued to it.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
      ],
    },
  ],
};
