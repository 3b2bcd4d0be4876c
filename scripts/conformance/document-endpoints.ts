import type { Chapter } from './rule.ts';

export const endpoints: Chapter = {
  source: 'Document 1',
  about: 'Endpoints',
  rules: [
    {
      section: 'Endpoints: GET /oauth/authorize',
      rule: 'It asks the signed-in person with the consent screen.',
      tests: [
        'test/authorization-request.test.ts > the pages > say who asks, as whom, for what, and where the answer goes',
      ],
    },
    {
      section: 'Endpoints: POST /oauth/authorize',
      rule: "It takes the person's answer, protected like a form.",
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > neither the request id alone nor with a made-up token is enough',
      ],
    },
    {
      section: 'Endpoints: POST /oauth/token',
      rule: 'It answers the three grants.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
        'test/token-endpoint.test.ts > the refresh token grant > replaces the token by a successor; the old one is invalid at once',
        'test/token-endpoint.test.ts > the client credentials grant > gives an access token, and no refresh token',
      ],
    },
    {
      section: 'Endpoints: POST /oauth/revoke',
      rule: 'It revokes tokens.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > openid-client finds and uses it',
      ],
    },
    {
      section: 'Endpoints: POST /oauth/introspect',
      rule: 'It tells a resource server elsewhere about a token.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
      ],
    },
    {
      section: 'Endpoints: GET and POST /oauth/userinfo',
      rule: 'It answers the claims about the person of the token, by either method.',
      tests: [
        'test/openid-connect.test.ts > UserInfo > answers GET and POST alike: JSON with the subject of the ID token, not to be stored',
      ],
    },
    {
      section: 'Endpoints: GET /.well-known/openid-configuration',
      rule: 'It is the discovery document.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the OpenID provider says the same, with what is its own',
      ],
    },
    {
      section: 'Endpoints: GET /.well-known/jwks.json',
      rule: 'It holds the public keys, and nothing private.',
      tests: [
        'test/openid-connect.test.ts > signing keys > a generated key signs from then on, and the one before stays published',
      ],
    },
    {
      section: 'Endpoint rules 1',
      rule: 'redirect_uri is required in the authorization request and again at the token endpoint.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > no redirect_uri, even for a client with one registered URI',
        'test/token-endpoint.test.ts > the authorization code grant > without %s: invalid_request, and the code can still be exchanged [redirect_uri]',
      ],
    },
    {
      section: 'Endpoint rules 1',
      rule: 'Redirect URIs match character by character.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [redirect URI]',
      ],
    },
    {
      section: 'Endpoint rules 2',
      rule: 'Every client, confidential or public, uses PKCE S256.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE missing]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE plain]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > PKCE missing, from a public client',
      ],
    },
    {
      section: 'Endpoint rules 3',
      rule: 'With an audience, resource names the target; the grant is bound to it and a refresh keeps it.',
      tests: [
        'test/token-endpoint.test.ts > a configured audience > is what a grant is bound to, named or not, and a refresh keeps it',
        'test/states-and-transitions.test.ts > Errors, with an audience > the audience is decided at authorization and kept through every refresh, whatever happens to the client later',
      ],
    },
    {
      section: 'Endpoint rules 4',
      rule: 'prompt=none is interaction_required.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > %s: %s [prompt=none]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=none]',
      ],
    },
    {
      section: 'Endpoint rules 4',
      rule: 'prompt=login is invalid_request.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > %s: %s [prompt=login]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=login]',
      ],
    },
    {
      section: 'Endpoint rules 4',
      rule: 'max_age is invalid_request, whatever its value.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > %s: %s [max_age present]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [max_age]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [max_age=0]',
      ],
    },
    {
      section: 'Endpoint rules 4',
      rule: 'prompt=consent is satisfied.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > unknown parameters and prompt=consent are fine',
      ],
    },
    {
      section: 'Endpoint rules 5',
      rule: 'Consent is asked for every time, of somebody who gave it before too.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > who allowed it before is asked again: nothing is ever granted without a question',
      ],
    },
    {
      section: 'Endpoint rules 6',
      rule: 'The browser is handed an opaque request id and no client, scope or redirect URI.',
      tests: [
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > on the way to signing in',
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > in the form of the consent screen',
      ],
    },
    {
      section: 'Endpoint rules 6',
      rule: 'The request is bound to the browser and to the person who was asked.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > the request id opened in another browser is refused, with the same person signed in too',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > another person signs in before the answer: the request is void',
        'test/browser.test.ts > in a real Chromium > the request id opened in another browser is refused',
      ],
    },
    {
      section: 'Endpoint rules 7',
      rule: 'Each consent screen carries a CSRF token of its own, derived from its request and keyed by the session.',
      tests: [
        "test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > one request's token does not answer another",
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > neither the request id alone nor with a made-up token is enough',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > the request id opened in another browser is refused, with the same person signed in too',
      ],
    },
    {
      section: 'Endpoint rules 7',
      rule: 'Several consent screens can be open at once.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > two consent screens open at once are answered in either order',
        'test/browser.test.ts > in a real Chromium > two consent screens open at once are answered %s',
      ],
    },
    {
      section: 'Endpoint rules 7',
      rule: 'The route is exempt from the session-wide check.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
        'test/doctor.test.ts > the doctor > finds nothing wrong with a portal that works',
      ],
    },
    {
      section: 'Endpoint rules 7',
      rule: "A host's own view takes the place of the consent screen.",
      tests: [
        "test/configuration.test.ts > oauth/consent in the view directory of the host > is shown in the place of Portico's own",
      ],
    },
    {
      section: 'Endpoint rules 8',
      rule: 'The protocol endpoints are exempt from the session-wide CSRF check by csrf_exempt_routes.',
      tests: [
        'test/configuration.test.ts > csrf_exempt_routes > an application switches one entry off by name, and the others stay',
        'test/doctor.test.ts > the doctor > an endpoint that the session-wide check refuses',
      ],
    },
    {
      section: 'Endpoint rules 9',
      rule: 'Introspection is granted by registering with --grant=introspection, to a confidential client.',
      tests: [
        'test/console.test.ts > oauth:client:create > --grant=introspection stands beside the grant types of a client with a redirect',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > is for a confidential client with the right, and for nobody else',
      ],
    },
    {
      section: 'Endpoint rules 9',
      rule: 'A public client is refused it at registration, and at the endpoint again.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > public client given the introspection grant: refused at registration and at the endpoint',
        'test/console.test.ts > oauth:client:create > refuses %s [a public client with introspection]',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > a public client is refused again at the endpoint, whatever its registration says',
      ],
    },
    {
      section: 'Endpoint rules 10',
      rule: 'A resource server elsewhere asks by authenticated introspection.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > is for a confidential client with the right, and for nobody else',
      ],
    },
    {
      section: 'Endpoint rules 10',
      rule: 'A changed scope or a demoted person shows with the next call.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > a demoted person takes effect on the next call',
        'test/token-endpoint.test.ts > the scopes that the client is registered for now > bound what is issued; when none is left, nothing is, and nothing is spent',
        'test/races.test.ts > two processes, one database > what one process revokes, suspends or demotes, the other refuses on the next call',
      ],
    },
  ],
};
