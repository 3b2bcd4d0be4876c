import type { Chapter } from './rule.ts';

export const rfc6749Requests: Chapter = {
  source: 'RFC 6749',
  about: 'OAuth 2.0, endpoints and grants',
  rules: [
    {
      section: '3.1',
      rule: 'GET is supported at the authorization endpoint.',
      tests: [
        'test/authorization-request.test.ts > the pages > say who asks, as whom, for what, and where the answer goes',
      ],
    },
    {
      section: '3.1, 3.2',
      rule: 'The server is reached over TLS: its origin is https.',
      tests: [
        'test/console.test.ts > the service refuses to start, naming each key and what to do > public_url %j under APP_ENV=%s [http://app.example.com]',
      ],
    },
    {
      section: '3.1',
      rule: 'A parameter without a value counts as omitted.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > a parameter without a value counts as omitted',
        'test/token-endpoint.test.ts > the authorization code grant > without %s: invalid_request, and the code can still be exchanged',
      ],
    },
    {
      section: '3.1',
      rule: 'Unknown parameters are ignored.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > unknown parameters and prompt=consent are fine',
      ],
    },
    {
      section: '3.1',
      rule: 'Parameters are not sent twice.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > a repeated %s',
      ],
    },
    {
      section: '3.1.1',
      rule: 'A missing response_type is invalid_request, an unknown one unsupported_response_type.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_type missing]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_type=token]',
      ],
    },
    {
      section: '3.1.2',
      rule: 'A redirect URI is absolute and has no fragment.',
      tests: [
        'test/console.test.ts > oauth:client:create > refuses the redirect %s [/cb]',
        'test/console.test.ts > oauth:client:create > refuses the redirect %s [https://client.example/cb#there]',
      ],
    },
    {
      section: '3.1.2',
      rule: 'Its own query is kept when the answer is added.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > a redirect URI keeps its own query',
      ],
    },
    {
      section: '3.1.2.2',
      rule: 'Clients register their redirect URIs, the full ones, before they use the endpoint.',
      tests: [
        'test/console.test.ts > oauth:client:create > refuses %s [code without a redirect]',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
      ],
    },
    {
      section: '3.1.2.3',
      rule: 'The redirect URI of a request is compared with those that are registered.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
      ],
    },
    {
      section: '3.1.2.4',
      rule: 'When it is not among them, the person is told and not redirected.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > no redirect_uri, even for a client with one registered URI',
      ],
    },
    {
      section: '3.2',
      rule: 'The token endpoint takes POST only, and reads nothing of the query.',
      tests: [
        'test/token-endpoint.test.ts > the method > is POST: GET is 405, and nothing is spent',
        'test/token-endpoint.test.ts > the method > is POST: what stands in the query is not read',
      ],
    },
    {
      section: '3.2',
      rule: 'Parameters without a value are omitted ones, and repeated ones are refused.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > without %s: invalid_request, and the code can still be exchanged',
        'test/token-endpoint.test.ts > the body > with a repeated parameter is invalid_request, whatever the parameter',
      ],
    },
    {
      section: '3.2.1',
      rule: 'Confidential clients authenticate at the token endpoint.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > a wrong secret, or a confidential client without one, is 401',
      ],
    },
    {
      section: '3.3',
      rule: 'scope is a list of tokens of visible ASCII, parted by spaces; one that is ill-formed or unknown is invalid_scope.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [an ill-formed scope]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [an unknown scope]',
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
      ],
    },
    {
      section: '3.3',
      rule: 'The response says the scope that was issued.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
        'test/consent.test.ts > only what was shown is granted > a scope whose permission the person lacks is neither asked for nor granted',
      ],
    },
    {
      section: '3.3',
      rule: 'Without scope a documented default is used, or the request fails.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > without a scope, all the scopes of the client but openid are meant',
        'test/token-endpoint.test.ts > the client credentials grant > without a scope gives all that the client has',
      ],
    },
    {
      section: '4.1.1',
      rule: 'state comes back exactly as it was sent.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > state and nonce are as long as the URL allows',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
      ],
    },
    {
      section: '4.1.2',
      rule: 'A code is short-lived.',
      tests: ['test/token-endpoint.test.ts > the authorization code grant > within code_ttl only'],
    },
    {
      section: '4.1.2',
      rule: 'A code is used once; a second use is refused, and the tokens of the first are revoked.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > a spent code offered again is refused, and what it gave is revoked',
      ],
    },
    {
      section: '4.1.2',
      rule: 'A code is bound to its client and redirect URI.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong client: the exchange fails, and the code is never accepted again',
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [redirect URI]',
      ],
    },
    {
      section: '4.1.2.1',
      rule: 'access_denied when the person declines.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > denying is access_denied, and no code',
      ],
    },
    {
      section: '4.1.2.1',
      rule: 'unauthorized_client when the client is not registered for the grant.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > a client that is not registered for the grant is unauthorized_client',
      ],
    },
    {
      section: '4.1.2.1',
      rule: 'error_description is plain ASCII without quotes and backslashes.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s',
      ],
    },
    {
      section: '4.1.3',
      rule: 'redirect_uri at the token endpoint is the one of the authorization request.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [redirect URI]',
        'test/token-endpoint.test.ts > the authorization code grant > without %s: invalid_request, and the code can still be exchanged [redirect_uri]',
      ],
    },
    {
      section: '4.1.3',
      rule: 'An incomplete request or a client that fails to authenticate spends no code.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > without %s: invalid_request, and the code can still be exchanged',
        'test/token-endpoint.test.ts > the authorization code grant > a client that fails to authenticate spends nothing',
      ],
    },
    {
      section: '4.4',
      rule: 'Client credentials are for confidential clients.',
      tests: [
        'test/console.test.ts > oauth:client:create > refuses %s [a public client with client credentials]',
        'test/token-endpoint.test.ts > the client credentials grant > is refused to a client that was not registered for it',
      ],
    },
    {
      section: '4.4.2',
      rule: 'The scopes are those that the client is registered for, and none about a person.',
      tests: [
        'test/token-endpoint.test.ts > the client credentials grant > refuses the scope %s',
        'test/token-endpoint.test.ts > the client credentials grant > without a scope gives all that the client has',
      ],
    },
    {
      section: '4.4.3',
      rule: 'No refresh token comes with it.',
      tests: [
        'test/token-endpoint.test.ts > the client credentials grant > gives an access token, and no refresh token',
      ],
    },
  ],
};
