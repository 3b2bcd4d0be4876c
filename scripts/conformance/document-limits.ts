import type { Chapter } from './rule.ts';

export const limits: Chapter = {
  source: 'Document 1',
  about: 'Authentication, errors, limits and versioning',
  rules: [
    {
      section: 'Authentication 1',
      rule: 'Confidential clients authenticate with their secret at the token endpoint.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > a wrong secret, or a confidential client without one, is 401',
        'test/token-endpoint.test.ts > client authentication > client_secret_post works as client_secret_basic does',
      ],
    },
    {
      section: 'Authentication 1',
      rule: 'Public clients are identified by their id, and rely on PKCE.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > a public client is identified by its id, and shows no secret',
        'test/openid-connect.test.ts > openid-client > a public client signs in with PKCE alone',
      ],
    },
    {
      section: 'Authentication 2',
      rule: 'A client id is no secret: knowing it alone gets a confidential client nothing.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > a wrong secret, or a confidential client without one, is 401',
      ],
    },
    {
      section: 'Authentication 3',
      rule: "People sign in on the host's login route, and are always asked.",
      tests: [
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > on the way to signing in',
        'test/configuration.test.ts > oauth_server:login_route > %j is where people sign in',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > who allowed it before is asked again: nothing is ever granted without a question',
      ],
    },
    {
      section: 'Authentication 4',
      rule: 'A bearer token is looked up, so that whatever changes shows at once.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > revoked with its family',
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
      ],
    },
    {
      section: 'Authentication 4',
      rule: 'One key signs ID tokens, and all are published until they are pruned.',
      tests: [
        'test/openid-connect.test.ts > signing keys > a generated key signs from then on, and the one before stays published',
        'test/client-lifecycle.test.ts > signing key active, retired, removed > retired keys are removed when old enough, counted from when they stopped signing; the active one never',
      ],
    },
    {
      section: 'Authentication 5',
      rule: 'Introspection needs an authenticated confidential client with the right to it.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > is for a confidential client with the right, and for nobody else',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > a public client is refused again at the endpoint, whatever its registration says',
      ],
    },
    {
      section: 'Authentication 6',
      rule: 'A request without a usable token has none, whatever cookie comes with it.',
      tests: [
        'test/token-accessor.test.ts > there is no path from token() to a session > a valid session cookie without a token is no token',
        'test/token-accessor.test.ts > there is no path from token() to a session > a valid session cookie beside a bad bearer is no token',
      ],
    },
    {
      section: 'Authentication 7',
      rule: 'Revoking a client withdraws its tokens.',
      tests: [
        'test/client-lifecycle.test.ts > client registered, client revoked > all tokens issued to it are revoked with it, and it is nobody from then on',
        'test/client-lifecycle.test.ts > client registered, client revoked > a consent screen that was open when it was revoked leads nowhere',
      ],
    },
    {
      section: 'Errors',
      rule: 'No usable bearer token at a protected endpoint of the host: 401.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > no usable bearer token at a protected host endpoint: 401',
      ],
    },
    {
      section: 'Errors',
      rule: 'The token lacks the scope, or the person the permission: 403.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > token lacks the scope, or the person lacks the backing permission: 403',
      ],
    },
    {
      section: 'Errors',
      rule: 'prompt=none: interaction_required.',
      tests: ['test/states-and-transitions.test.ts > Errors > %s: %s [prompt=none]'],
    },
    {
      section: 'Errors',
      rule: 'prompt=login or max_age: invalid_request.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > %s: %s [prompt=login]',
        'test/states-and-transitions.test.ts > Errors > %s: %s [max_age present]',
      ],
    },
    {
      section: 'Errors',
      rule: 'No redirect_uri in the authorization or the token request: a protocol error.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > redirect_uri missing at authorization or token request: protocol error (RFC 6749 section 4.1.3)',
      ],
    },
    {
      section: 'Errors',
      rule: 'A code with a wrong client, redirect URI or verifier: the exchange fails, and the code is spent.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > authorization code offered with wrong client, redirect URI or verifier: exchange fails; code is spent',
      ],
    },
    {
      section: 'Errors',
      rule: 'A replayed refresh token: rejected, and its family revoked.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > replayed refresh token: rejected; family revoked',
      ],
    },
    {
      section: 'Errors',
      rule: 'A token for another target than the audience: as no token.',
      tests: [
        'test/states-and-transitions.test.ts > Errors, with an audience > token granted for a target other than the configured audience: treated as no token',
      ],
    },
    {
      section: 'Errors',
      rule: 'A public client with the introspection grant: refused at registration and at the endpoint.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > public client given the introspection grant: refused at registration and at the endpoint',
      ],
    },
    {
      section: 'Errors',
      rule: 'An inactive account: nothing issued and nothing answered.',
      tests: [
        'test/states-and-transitions.test.ts > Errors > inactive account: nothing issued and nothing answered for it',
      ],
    },
    {
      section: 'Limits: access_token_ttl',
      rule: '3600 seconds by default.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > expired',
        'test/configuration.test.ts > what is left out of oauth_server > has the defaults of the document',
      ],
    },
    {
      section: 'Limits: refresh_token_ttl',
      rule: '2592000 seconds by default.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > each successor lives refresh_token_ttl from its own issue',
        'test/configuration.test.ts > what is left out of oauth_server > has the defaults of the document',
      ],
    },
    {
      section: 'Limits: id_token_ttl',
      rule: '3600 seconds by default, and the least age that a key prune takes.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/client-lifecycle.test.ts > signing key active, retired, removed > the age %d is refused',
        'test/console.test.ts > the keys > oauth:keys:prune refuses an age below the lifetime of an ID token',
      ],
    },
    {
      section: 'Limits: code_ttl',
      rule: '60 seconds by default.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > within code_ttl only',
        'test/configuration.test.ts > what is left out of oauth_server > has the defaults of the document',
      ],
    },
    {
      section: 'Limits: consent_ttl',
      rule: '600 seconds by default.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > within consent_ttl only',
        'test/configuration.test.ts > what is left out of oauth_server > has the defaults of the document',
      ],
    },
    {
      section: 'Limits: secrets',
      rule: 'Two client secrets are accepted at most, the previous one for a day by default.',
      tests: [
        'test/client-lifecycle.test.ts > rotating a secret > at most two secrets are accepted: rotating again inside a window drops the older one',
        'test/states-and-transitions.test.ts > States and transitions > client secret current, oauth:client:rotate-secret, default: new secret current, previous secret still accepted; previous accepted for the overlap (default one day); at most two secrets are accepted; rotating again inside a window drops the older one',
      ],
    },
    {
      section: 'Versioning 1',
      rule: 'The schema has targets of authorizations, families as rows, and the secret that a client last replaced.',
      tests: [
        'test/store-contract.test.ts > the schema > has tables with the prefix oauth_ and no others; families are one of them, signing keys are not',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > client secrets of before are accepted, and can be rotated',
        'test/states-and-transitions.test.ts > Errors, with an audience > the audience is decided at authorization and kept through every refresh, whatever happens to the client later',
      ],
    },
    {
      section: 'Versioning 2',
      rule: 'A deployed store is brought forward with all its data; no table is dropped.',
      tests: [
        'test/schema-upgrade.test.ts > from the first release to this one, with data > nothing is dropped',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > access tokens of before work, for the same person and no more than before',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > what was revoked stays revoked',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > a refresh token used before the upgrade and replayed after it ends its family',
      ],
    },
    {
      section: 'Versioning 2',
      rule: 'A migration that was cut off is finished by the next run, and of several at once one does it.',
      tests: [
        'test/schema-upgrade.test.ts > applying the schema > a step that was cut off is finished by the next run',
        'test/schema-upgrade.test.ts > applying the schema > of two processes that migrate at once one does it, the other waits and finds it done',
      ],
    },
  ],
};
