import type { Chapter } from './rule.ts';

export const rfc9700Recommendations: Chapter = {
  source: 'RFC 9700',
  about: 'Best current practice: recommendations',
  rules: [
    {
      section: '2.1',
      rule: 'Redirect URIs are compared as strings, exactly.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
      ],
    },
    {
      section: '2.1, 4.1.3',
      rule: 'Native applications may change the port of a localhost redirect URI.',
      tests: [],
      notDone:
        'Document 1 wants every redirect URI matched exactly; a native application registers the ports that it uses.',
    },
    {
      section: '2.1',
      rule: 'No URL of the server forwards a browser to wherever a parameter says.',
      tests: [
        'src/host/application.test.ts > signing in > never leads to %s',
        'test/hostile-input.test.ts > whatever is sent > POST /login with the right password: whatever return_to is, the browser stays',
        'test/hostile-input.test.ts > whatever is sent > near those paths, by any method: never a fault, and nobody is led elsewhere',
      ],
    },
    {
      section: '2.1',
      rule: 'Clients can defend against cross-site request forgery: PKCE is always there, state and nonce come back unchanged.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/authorization-request.test.ts > what a request may leave out or add > state and nonce are as long as the URL allows',
      ],
    },
    {
      section: '2.1',
      rule: 'Clients can tell servers apart by iss, against mix-up.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
        'test/relying-party.test.ts > signing in > a callback with %s signs nobody in [another issuer]',
      ],
    },
    {
      section: '2.1, 4.12',
      rule: 'A redirect never takes a form with it: the answer to a form is 303, and no redirect is 307.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
        "test/applications.test.ts > a person's own page of applications > one button takes all of it back, from that moment, and from nobody else",
        'src/host/application.test.ts > signing in > leads to the path to return to, and the session knows who it is',
      ],
    },
    {
      section: '2.1.1',
      rule: 'PKCE is supported, and required of public and confidential clients.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE missing]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > PKCE missing, from a public client',
      ],
    },
    {
      section: '2.1.1',
      rule: 'A method that shows the verifier, plain, is refused.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE plain]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE without a method, which means plain]',
      ],
    },
    {
      section: '2.1.1',
      rule: 'The verifier must be right at the token endpoint.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [PKCE verifier]',
        'test/token-endpoint.test.ts > the authorization code grant > without %s: invalid_request, and the code can still be exchanged [code_verifier]',
      ],
    },
    {
      section: '2.1.1, 4.8.2',
      rule: 'No downgrade: there is no code without a challenge, so no verifier is ever accepted for one.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE missing]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > PKCE missing, from a public client',
      ],
    },
    {
      section: '2.1.1',
      rule: 'Support for PKCE can be found in the metadata.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
      ],
    },
    {
      section: '2.1.1',
      rule: 'A server is encouraged to notice challenges and nonces that never change.',
      tests: [],
      notDone: 'They are not compared between requests; strict client libraries make them anew each time.',
    },
    {
      section: '2.1.2',
      rule: 'No access token is issued in an authorization response.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_type=token]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_type=code id_token]',
        'test/hostile-input.test.ts > whatever is sent > GET /oauth/authorize: the answer is a page or a redirect, to the client or to sign in, without a code',
      ],
    },
    {
      section: '2.2.1, 4.10.1',
      rule: 'Access tokens should be bound to their sender (mutual TLS, DPoP).',
      tests: [],
      notDone:
        'Document 1 asks for bearer credentials; they are short-lived, looked up at every use and dead the moment they are revoked.',
    },
    {
      section: '2.2.2, 4.14.2',
      rule: 'Refresh tokens of public clients rotate.',
      tests: [
        'test/openid-connect.test.ts > openid-client > a public client signs in with PKCE alone',
        'test/races.test.ts > two processes, one database > of concurrent uses of one refresh token exactly one is answered, and nothing of the family lives',
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > a public client revokes its own by its id',
      ],
    },
    {
      section: '2.3',
      rule: "An access token reaches no further than its scopes, and its person's permissions.",
      tests: [
        'test/token-accessor.test.ts > a token that does not reach: 403 > the token lacks the scope',
        'test/token-accessor.test.ts > a token that does not reach: 403 > the person no longer holds the permission behind the scope',
      ],
    },
    {
      section: '2.3, 4.10.2',
      rule: 'Access tokens are for one target, and refused by any other.',
      tests: [
        'test/states-and-transitions.test.ts > Errors, with an audience > token granted for a target other than the configured audience: treated as no token',
        'test/token-endpoint.test.ts > a configured audience > is what a grant is bound to, named or not, and a refresh keeps it',
      ],
    },
    {
      section: '2.4',
      rule: 'The password grant is not to be had.',
      tests: [
        'test/token-endpoint.test.ts > the body > with an unknown grant_type is unsupported_grant_type',
        'test/console.test.ts > oauth:client:create > refuses %s [an unknown grant]',
      ],
    },
    {
      section: '2.5',
      rule: 'Clients that can authenticate have to.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > a wrong secret, or a confidential client without one, is 401',
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > a client that does not authenticate revokes nothing',
      ],
    },
    {
      section: '2.5',
      rule: 'Asymmetric client authentication is recommended.',
      tests: [],
      notDone:
        'Document 1 knows client secrets only; they are kept as password hashes, so reading the store gives none away.',
    },
    {
      section: '2.6',
      rule: 'Metadata is published.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > discovers both documents, and the key of the ID token is in the key set',
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
      ],
    },
    {
      section: '2.6, 4.15',
      rule: "Clients do not choose their client id, and a token of theirs looks like no person's.",
      tests: [
        'test/console.test.ts > oauth:client:create > prints the client by the names of RFC 7591, and nothing else on standard output',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > a client-credentials token has no sub',
        'test/token-accessor.test.ts > whom a token stands for > an application by itself: user() is null, and no permission of anybody is asked for',
      ],
    },
    {
      section: '2.6',
      rule: 'Redirect URIs are https, but for loopback.',
      tests: [
        'test/console.test.ts > oauth:client:create > refuses the redirect %s [http://client.example/cb]',
        'test/console.test.ts > oauth:client:create > refuses the redirect %s [http://127.0.0.1.client.example/cb]',
        'test/console.test.ts > oauth:client:create > --grant, --redirect and --scope are repeatable',
      ],
    },
    {
      section: '2.6',
      rule: 'Where browser applications call, other origins are let in.',
      tests: ['test/openid-connect.test.ts > pages of any origin > may call %s, without credentials'],
    },
    {
      section: '2.6',
      rule: 'The authorization endpoint lets no other origin in.',
      tests: ['test/openid-connect.test.ts > pages of any origin > may not read %s'],
    },
    {
      section: '2.6, 4.17',
      rule: 'Messages between windows check both sides.',
      tests: [],
      notApplicable: 'Answers travel by redirects only; response_mode other than query is refused.',
    },
  ],
};
