import type { Chapter } from './rule.ts';

export const oidcCore: Chapter = {
  source: 'OpenID Connect Core 1.0',
  about: 'Sign-in on top of OAuth 2.0',
  rules: [
    {
      section: '2',
      rule: 'iss, sub, aud, exp and iat stand in every ID token.',
      tests: [
        'test/openid-connect.test.ts > openid-client > openid alone releases the subject and nothing about the person',
      ],
    },
    {
      section: '2',
      rule: 'nonce comes back as it was sent.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
    {
      section: '2',
      rule: 'sub is never given to another person, and at most 255 ASCII characters.',
      tests: [
        'test/openid-connect.test.ts > openid-client > the subject is one for all applications, another for another person, and reveals neither',
        'test/another-host.test.ts > an application that does not use the kit > offers the whole flow by its contract alone; where it says nothing of a person, an ID token still carries sub',
        'test/pruning.test.ts > removing expired rows > leaves nothing behind once everything has expired',
      ],
    },
    {
      section: '2',
      rule: 'ID tokens are signed, with RS256.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > validates the response of a whole flow, the signature of the ID token included',
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
    {
      section: '2, 3.1.2.1',
      rule: 'auth_time stands in it when max_age asked for it.',
      tests: [],
      notDone:
        'Document 1: the time of the last sign-in is not recorded, so max_age is refused rather than passed over.',
    },
    {
      section: '3.1.2.1',
      rule: 'The authorization endpoint takes requests by GET.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
    {
      section: '3.1.2.1',
      rule: "It takes them by POST too: a form with a client_id, where the person's answer has a request_id.",
      tests: [
        'test/waiting-requests.test.ts > POST /oauth/authorize with a client_id is an authorization request > checked as by GET, it leads on by its id, whoever is signed in',
        'test/waiting-requests.test.ts > POST /oauth/authorize with a client_id is an authorization request > the whole way: sign in, allow, code',
        'test/waiting-requests.test.ts > POST /oauth/authorize with a client_id is an authorization request > errors go where they go by GET, and a repeated parameter is one',
        'test/waiting-requests.test.ts > POST /oauth/authorize with a client_id is an authorization request > with a request_id beside it is refused: it cannot be a question and an answer',
        'test/browser.test.ts > in a real Chromium > an authorization request that another site sends as a form',
      ],
    },
    {
      section: '3.1.2.1',
      rule: 'openid in scope makes it a request of OpenID Connect.',
      tests: [
        'test/openid-connect.test.ts > openid-client > without openid there is no ID token and no UserInfo',
      ],
    },
    {
      section: '3.1.2.1',
      rule: 'prompt=none shows nothing, and fails when something would have to be asked.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=none]',
      ],
    },
    {
      section: '3.1.2.1',
      rule: 'prompt=none beside another value is an error.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=none beside another]',
      ],
    },
    {
      section: '3.1.2.1',
      rule: 'prompt=login and prompt=select_account are errors where they cannot be honoured.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=login]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=select_account]',
      ],
    },
    {
      section: '3.1.2.1',
      rule: 'prompt=consent asks.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > unknown parameters and prompt=consent are fine',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > who allowed it before is asked again: nothing is ever granted without a question',
      ],
    },
    {
      section: '3.1.2.1, 15.1',
      rule: 'display, ui_locales, claims_locales and acr_values are no errors.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > the wishes of OpenID Connect that may be left unfulfilled are no error',
        'test/authorization-request.test.ts > what a request may leave out or add > unknown parameters and prompt=consent are fine',
      ],
    },
    {
      section: '3.1.2.1',
      rule: 'id_token_hint that names somebody else than who answers is an error.',
      tests: [],
      notDone: 'The parameter is ignored, as unknown ones are.',
    },
    {
      section: '3.1.2.3',
      rule: 'Whoever is not signed in is asked to sign in, and sign-in is safe from forgery and framing.',
      tests: [
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > on the way to signing in',
        'test/hostile-input.test.ts > whatever is sent > POST /login: nobody is signed in without the token of the page',
        'src/host/application.test.ts > the session-wide CSRF check > refuses an unsafe request without a token, with a wrong one, or with another session’s',
      ],
    },
    {
      section: '3.1.2.4',
      rule: 'Consent is obtained before anything is released.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > who allowed it before is asked again: nothing is ever granted without a question',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
      ],
    },
    {
      section: '3.1.2.5',
      rule: 'The answer carries code and state at the redirect URI.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
      ],
    },
    {
      section: '3.1.2.6',
      rule: 'Errors go to the redirect URI when it is valid, with the codes of OpenID Connect too.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=none]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [a request object]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [an unknown scope]',
      ],
    },
    {
      section: '3.1.2.6, 6',
      rule: 'Request objects are refused as not supported, and the metadata says so.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [a request object]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [a request_uri]',
        'test/openid-connect.test.ts > the metadata > of the OpenID provider says the same, with what is its own',
      ],
    },
    {
      section: '3.1.3.1',
      rule: 'The client authenticates at the token endpoint by its registered method.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > a wrong secret, or a confidential client without one, is 401',
        'test/token-endpoint.test.ts > client authentication > %s is 401 with a challenge',
      ],
    },
    {
      section: '3.1.3.2',
      rule: 'Code, client and redirect URI belong together, and the code was not used before.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong client: the exchange fails, and the code is never accepted again',
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [redirect URI]',
        'test/token-endpoint.test.ts > the authorization code grant > a spent code offered again is refused, and what it gave is revoked',
      ],
    },
    {
      section: '3.1.3.3',
      rule: 'The answer has token_type Bearer and an ID token, and is not to be stored.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > validates the response of a whole flow, the signature of the ID token included',
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
      ],
    },
    {
      section: '3.1.3.4',
      rule: 'Errors are those of OAuth 2.0.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again',
      ],
    },
    {
      section: '3.1.3.6',
      rule: 'at_hash fits the access token.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/openid-connect.test.ts > openid-client > openid alone releases the subject and nothing about the person',
      ],
    },
    {
      section: '3.1.3.7',
      rule: 'A strict client library finds nothing wrong with the ID token.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/openid-connect.test.ts > oauth4webapi > validates the response of a whole flow, the signature of the ID token included',
      ],
    },
    {
      section: '5.1',
      rule: 'Claims have their standard names and types.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/configuration.test.ts > oauth_server:claims > are added and never replace; a claim without a scope is dropped, also one returned by accident',
      ],
    },
    {
      section: '5.1',
      rule: 'A claim without a value is left out.',
      tests: [
        'test/configuration.test.ts > oauth_server:claims > are added and never replace; a claim without a scope is dropped, also one returned by accident',
      ],
    },
    {
      section: '5.3.1',
      rule: 'UserInfo takes GET and POST, with a bearer token.',
      tests: [
        'test/openid-connect.test.ts > UserInfo > answers GET and POST alike: JSON with the subject of the ID token, not to be stored',
      ],
    },
    {
      section: '5.3.2',
      rule: 'sub is always there, and the one of the ID token.',
      tests: [
        'test/openid-connect.test.ts > UserInfo > answers GET and POST alike: JSON with the subject of the ID token, not to be stored',
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
    {
      section: '5.3.2',
      rule: 'The answer is JSON.',
      tests: [
        'test/openid-connect.test.ts > UserInfo > answers GET and POST alike: JSON with the subject of the ID token, not to be stored',
      ],
    },
    {
      section: '5.3.3',
      rule: 'Errors are those of RFC 6750.',
      tests: [
        'test/openid-connect.test.ts > openid-client > a used refresh token again: the family is dead, the successor too',
        'test/openid-connect.test.ts > openid-client > without openid there is no ID token and no UserInfo',
      ],
    },
    {
      section: '5.3',
      rule: 'Browser applications may call it.',
      tests: ['test/openid-connect.test.ts > pages of any origin > may call %s, without credentials'],
    },
    {
      section: '5.4',
      rule: 'profile and email release their claims, openid alone the subject.',
      tests: [
        'test/openid-connect.test.ts > UserInfo > answers GET and POST alike: JSON with the subject of the ID token, not to be stored',
        'test/openid-connect.test.ts > openid-client > openid alone releases the subject and nothing about the person',
        'test/configuration.test.ts > oauth_server:claims > are released by the granted scopes only',
      ],
    },
    {
      section: '5.4',
      rule: 'address and phone release theirs where the host offers these scopes.',
      tests: [
        'test/configuration.test.ts > oauth_server:claims > of a scope whose permission the person has lost are released no more',
      ],
    },
    {
      section: '8',
      rule: 'Subjects are public: one for all clients.',
      tests: [
        'test/openid-connect.test.ts > openid-client > the subject is one for all applications, another for another person, and reveals neither',
        'test/openid-connect.test.ts > the metadata > of the OpenID provider says the same, with what is its own',
      ],
    },
    {
      section: '10.1.1',
      rule: 'Keys rotate without a gap: kid names the key, the one before stays published.',
      tests: [
        'test/openid-connect.test.ts > signing keys > a generated key signs from then on, and the one before stays published',
        'test/configuration.test.ts > oauth_server:key_path > is shared: a key that one process generates signs in all of them, without a restart',
      ],
    },
    {
      section: '12.2',
      rule: 'The ID token of a refresh has the same iss, sub and aud, and no nonce.',
      tests: [
        'test/openid-connect.test.ts > openid-client > refreshes: a new ID token without a nonce, for the same subject',
      ],
    },
  ],
};
