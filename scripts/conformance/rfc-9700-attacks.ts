import type { Chapter } from './rule.ts';

export const rfc9700Attacks: Chapter = {
  source: 'RFC 9700',
  about: 'Best current practice: attacks and countermeasures',
  rules: [
    {
      section: '4.1',
      rule: 'A redirect URI pattern, or an unregistered URI, is never followed.',
      tests: [
        'test/console.test.ts > oauth:client:create > refuses the redirect %s [https://*.client.example/cb]',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
      ],
    },
    {
      section: '4.2.4',
      rule: 'Pages of the server send no referrer, and nothing of other sites runs in them.',
      tests: [
        'test/authorization-request.test.ts > the pages > are not framed, not stored, send no referrer and run no script',
      ],
    },
    {
      section: '4.2.4',
      rule: 'A code is good once; a second use takes back what the first gave.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > a spent code offered again is refused, and what it gave is revoked',
        'test/races.test.ts > two processes, one database > of concurrent uses of one code exactly one is answered, and nothing of the family lives',
      ],
    },
    {
      section: '4.2.4',
      rule: 'A code works with its own verifier only, so a leaked one is worth nothing.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [PKCE verifier]',
        'test/states-and-transitions.test.ts > States and transitions > authorization code issued, token request, wrong %s: spent; the exchange fails; the code is never accepted again [PKCE verifier]',
      ],
    },
    {
      section: '4.3',
      rule: 'No token ever stands in a URL; one in a query opens nothing.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > a token in the query or in a form opens nothing',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_mode=fragment]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_type=token]',
      ],
    },
    {
      section: '4.4',
      rule: 'The issuer stands in every authorization response, errors included.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > allowing issues a code, with state and iss',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s',
      ],
    },
    {
      section: '4.5',
      rule: 'A code that is injected into another client or transaction is refused and spent.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > wrong client: the exchange fails, and the code is never accepted again',
        'test/token-endpoint.test.ts > the authorization code grant > wrong %s: the exchange fails, and the code is never accepted again [PKCE verifier]',
      ],
    },
    {
      section: '4.6',
      rule: 'An access token that is injected into another client can be noticed: at_hash binds it to the ID token.',
      tests: [
        'test/openid-connect.test.ts > openid-client > openid alone releases the subject and nothing about the person',
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
    {
      section: '4.7',
      rule: 'The consent form cannot be sent by another site.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > neither the request id alone nor with a made-up token is enough',
        'test/hostile-input.test.ts > whatever is sent > POST /oauth/authorize: the answer is a page, nothing is answered, and the question can still be',
      ],
    },
    {
      section: '4.9',
      rule: 'A token is checked against the store at every use, and none is kept in the clear.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > revoked with its family',
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > nor does the log, which tells of the faults',
      ],
    },
    {
      section: '4.11',
      rule: 'With an unknown client or an unregistered redirect URI nobody is redirected.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > an unknown client',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
      ],
    },
    {
      section: '4.11.2',
      rule: 'People are authenticated before any redirect to a client, errors included.',
      tests: [],
      notDone:
        'A malformed request of a registered client is answered at its registered redirect URI before anyone signs in. There is no open registration: only the operator registers clients and their URIs.',
    },
    {
      section: '4.13',
      rule: 'What a proxy says of a request is believed only as configured.',
      tests: [
        'test/failed-attempts.test.ts > failed client authentication > of many clients from one address is slowed down too',
        "test/audit.test.ts > events for a host's audit log > the address is what a proxy says only when the application has one",
      ],
    },
    {
      section: '4.14.2',
      rule: 'Refresh tokens are bound to their client, and to the scopes and target of the consent.',
      tests: [
        "test/token-endpoint.test.ts > the refresh token grant > another client's token is refused and stays good",
        'test/token-endpoint.test.ts > the refresh token grant > a scope beyond what was granted is invalid_scope, and the token stays good',
        'test/token-endpoint.test.ts > the refresh token grant > a different resource is invalid_target, and the token stays good',
      ],
    },
    {
      section: '4.14.2',
      rule: 'A replayed refresh token ends the active one as well.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > a used token again revokes the whole family, the successor and every access token',
        'test/races.test.ts > two processes, one database > of concurrent uses of one refresh token exactly one is answered, and nothing of the family lives',
      ],
    },
    {
      section: '4.14.2',
      rule: 'Refresh tokens that are not used expire.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > each successor lives refresh_token_ttl from its own issue',
      ],
    },
    {
      section: '4.14.2',
      rule: 'Refresh tokens cannot be guessed, and are kept as hashes.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
      ],
    },
    {
      section: '4.14.2',
      rule: 'They may end by themselves when a password changes or somebody signs out.',
      tests: [],
      notApplicable:
        "It is the host's to decide; a suspended account ends them at once, and people take access back on a page of their own.",
    },
    {
      section: '4.16',
      rule: 'The pages cannot be framed.',
      tests: [
        'test/authorization-request.test.ts > the pages > are not framed, not stored, send no referrer and run no script',
        'test/browser.test.ts > in a real Chromium > a page of another site cannot frame the consent screen',
      ],
    },
  ],
};
