import type { Chapter } from './rule.ts';

export const tokenRulings: Chapter = {
  source: 'Our rulings',
  about: 'Tokens and their endpoints',
  rules: [
    {
      section: 'Token endpoint',
      rule: 'client_secret_basic is form-decoded; client_secret_post works too; both at once is invalid_request.',
      tests: [
        'test/token-endpoint.test.ts > client authentication > client_secret_basic is form-decoded (RFC 6749 section 2.3.1)',
        'test/token-endpoint.test.ts > client authentication > client_secret_post works as client_secret_basic does',
        'test/token-endpoint.test.ts > client authentication > both at once is invalid_request',
      ],
    },
    {
      section: 'Token endpoint',
      rule: 'An unknown client costs the work that a wrong secret costs.',
      tests: [
        'test/another-host.test.ts > an application that does not use the kit > an unknown client costs its hasher what a wrong secret costs: one verification',
      ],
    },
    {
      section: 'Token endpoint',
      rule: '401 carries a Basic challenge.',
      tests: ['test/token-endpoint.test.ts > client authentication > %s is 401 with a challenge'],
    },
    {
      section: 'Token endpoint',
      rule: 'Bodies are forms of at most 64 KiB (413); a repeated parameter is refused.',
      tests: [
        'test/token-endpoint.test.ts > the body > is a form and nothing else',
        'test/token-endpoint.test.ts > the body > above 64 KiB is 413',
        'test/token-endpoint.test.ts > the body > with a repeated parameter is invalid_request, whatever the parameter',
      ],
    },
    {
      section: 'Token endpoint',
      rule: 'Every answer is marked no-store, the errors too.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
        'test/token-endpoint.test.ts > the body > with a repeated parameter is invalid_request, whatever the parameter',
        'test/token-endpoint.test.ts > the body > above 64 KiB is 413',
      ],
    },
    {
      section: 'Token endpoint',
      rule: "A spent code offered by another client is an ordinary refusal: nobody ends another's authorization with one.",
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > a spent code offered by another, %s client is an ordinary refusal: nothing of what it gave ends [public]',
        'test/token-endpoint.test.ts > the authorization code grant > a spent code offered by another, %s client is an ordinary refusal: nothing of what it gave ends [confidential]',
        'test/token-endpoint.test.ts > the authorization code grant > of an exchange and an offer by another client at the same moment, what was answered lives',
        'test/store-contract.test.ts > codes > burnt by another client after an exchange end nothing, in either order',
      ],
    },
    {
      section: 'Token endpoint',
      rule: 'A spent code offered again by its own client is invalid_grant, and what it gave is revoked.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > a spent code offered again is refused, and what it gave is revoked',
        'test/pruning.test.ts > removing expired rows > a code that was spent long ago still ends its living family',
      ],
    },
    {
      section: 'Token endpoint',
      rule: 'Each successor lives refresh_token_ttl from its own issue.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > each successor lives refresh_token_ttl from its own issue',
      ],
    },
    {
      section: 'Token endpoint',
      rule: 'scope narrows the access token of a refresh, and not the family.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > scope narrows the access token; the family keeps its scopes',
      ],
    },
    {
      section: 'Token endpoint',
      rule: 'A different resource at a refresh is invalid_target, and spends nothing.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > a different resource is invalid_target, and the token stays good',
      ],
    },
    {
      section: 'Revocation',
      rule: 'A refresh token ends its family, an access token only itself.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > a refresh token ends its family: successors and access tokens with it',
        'test/revocation-and-introspection.test.ts > POST /oauth/revoke > an access token ends only itself',
      ],
    },
    {
      section: 'Revocation',
      rule: "An unknown token and somebody else's are answered 200, and nothing happens.",
      tests: [
        "test/revocation-and-introspection.test.ts > POST /oauth/revoke > an unknown or somebody else's token: 200, and nothing",
      ],
    },
    {
      section: 'Introspection',
      rule: 'scope is what would be honoured now.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > a demoted person takes effect on the next call',
      ],
    },
    {
      section: 'Introspection',
      rule: 'sub is the public subject, aud the target where there is one; the pair of the host is never told.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > tells a resource server elsewhere what a token is good for, by the public subject',
        'test/states-and-transitions.test.ts > Errors, with an audience > the audience is decided at authorization and kept through every refresh, whatever happens to the client later',
      ],
    },
    {
      section: 'Introspection',
      rule: 'A client-credentials token has no sub.',
      tests: [
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > a client-credentials token has no sub',
      ],
    },
    {
      section: 'ID token',
      rule: 'RS256 with kid; iss, aud, sub, exp, iat, nonce and at_hash, with the claims of the granted scopes.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/openid-connect.test.ts > openid-client > openid alone releases the subject and nothing about the person',
      ],
    },
    {
      section: 'ID token',
      rule: 'After a refresh there is no nonce.',
      tests: [
        'test/openid-connect.test.ts > openid-client > refreshes: a new ID token without a nonce, for the same subject',
      ],
    },
    {
      section: 'Liveness',
      rule: 'Whether the account may sign in is settled before anything is issued.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > nothing is issued for an account that was suspended after it consented',
        'test/token-endpoint.test.ts > the refresh token grant > nothing is refreshed for a suspended account',
      ],
    },
    {
      section: 'Liveness',
      rule: 'The host is never called inside a transaction: it may need the one connection that the transaction holds.',
      tests: [
        'test/another-host.test.ts > an application that does not use the kit > offers the whole flow by its contract alone; where it says nothing of a person, an ID token still carries sub',
      ],
    },
    {
      section: 'Other origins',
      rule: 'Any origin may call token, revoke, userinfo, the key set and the metadata, without credentials.',
      tests: ['test/openid-connect.test.ts > pages of any origin > may call %s, without credentials'],
    },
    {
      section: 'Other origins',
      rule: 'None may read authorize, introspect or anything with a session.',
      tests: [
        'test/openid-connect.test.ts > pages of any origin > may not read %s',
        'test/revocation-and-introspection.test.ts > POST /oauth/introspect > pages of other origins cannot read it',
      ],
    },
    {
      section: 'Every endpoint',
      rule: 'Every refusal has a private reason: in the log, in one structured line with the id of its request.',
      tests: [
        'test/refusals.test.ts > a refusal leaves one line in the log > with the request, the endpoint, the error, the client and the address',
        'test/refusals.test.ts > a refusal leaves one line in the log > without a stack, and none for what succeeds',
        'test/refusals.test.ts > a refusal leaves one line in the log > of a route that token() protects too',
        'test/refusals.test.ts > the log says which of the possible reasons it was, where the client is told one answer for all > of a refresh token: unknown, of another client, used, expired, revoked, of an account that is inactive',
        'test/refusals.test.ts > the log says which of the possible reasons it was, where the client is told one answer for all > of a code: unknown, wrong verifier, wrong redirect_uri with both, wrong resource, used, expired',
        'test/refusals.test.ts > the log says which of the possible reasons it was, where the client is told one answer for all > of an access token: unknown, expired, revoked, without the scope, without the permission',
        'test/refusals.test.ts > the log says which of the possible reasons it was, where the client is told one answer for all > of what goes back to the redirect URI: which scope it was',
      ],
    },
    {
      section: 'Every endpoint',
      rule: 'The id of a request, its own X-Request-Id or a new one, stands in every answer.',
      tests: [
        'test/refusals.test.ts > the id of a request > is the one that came with it, when that is a plain word',
        'test/refusals.test.ts > the id of a request > is another one for %j',
        'test/refusals.test.ts > the id of a request > stands in the answer to %s %s, %i',
        'test/refusals.test.ts > the id of a request > stands in a redirect, and in a 304',
        'test/refusals.test.ts > the id of a request > stands on an error page, for whoever asks for help',
      ],
    },
    {
      section: 'Every endpoint',
      rule: 'What a stranger sent is cut, shown without what may be a secret, and is no line of its own.',
      tests: [
        'test/refusals.test.ts > what a stranger sends is no line of its own > is cut, and characters that are not seen are written out',
        'test/refusals.test.ts > what a stranger sends is no line of its own > is not shown where it may be a secret in the wrong place',
        'test/refusals.test.ts > the log says which of the possible reasons it was, where the client is told one answer for all > of an unregistered redirect_uri: both, without what may be secret',
      ],
    },
    {
      section: 'Every endpoint',
      rule: 'The private reason stands on the error page under APP_ENV=dev alone.',
      tests: [
        'test/refusals.test.ts > the reason on the error page > is shown under APP_ENV=dev',
        'test/refusals.test.ts > the reason on the error page > is never shown otherwise',
      ],
    },
    {
      section: 'Every endpoint',
      rule: 'A path is matched as it was sent: with dot segments, backslashes or a fragment it is none of the endpoints.',
      tests: [
        'test/error-answers.test.ts > the portal > %s is none of its endpoints',
        'test/error-answers.test.ts > the portal > a placeholder takes no dot segment, however it is written',
      ],
    },
    {
      section: 'Every endpoint',
      rule: 'A fault at an endpoint that people see is a page for a browser, JSON without details for a program.',
      tests: [
        'test/error-answers.test.ts > the portal > a fault at an endpoint that people see is a page for them, and JSON for a program',
      ],
    },
    {
      section: 'The kit',
      rule: 'What no route answers names method and path as JSON, and is a page for a browser; so are 405, 413, 500 and 503.',
      tests: [
        'test/error-answers.test.ts > an application without hooks of its own > answers a program with JSON that names method and path: %s %s, %i',
        'test/error-answers.test.ts > an application without hooks of its own > answers a browser with a page: %s %s, %i',
        'test/error-answers.test.ts > an application without hooks of its own > a body that is too large is 413, on a page too; a HEAD has neither',
      ],
    },
    {
      section: 'Signing keys',
      rule: 'Keys that were known and are lost: 503 for the key set and for what needs an ID token, nothing spent, until they are back.',
      tests: [
        'test/keys.test.ts > a key directory that is lost while serving > %s: the key set is 503, and is there again with the directory',
        'test/keys.test.ts > a key directory that is lost while serving > %s: what needs an ID token is 503, and nothing is spent',
        'test/keys.test.ts > a key directory that is lost while serving > what needs no key goes on, and the metadata stays what it was',
        'test/keys.test.ts > a server that never had a key has an empty key set',
      ],
    },
    {
      section: 'Signing keys',
      rule: 'A clock that is set back keeps nothing alive that is held for moments.',
      tests: [
        'test/keys.test.ts > a clock that is set back > does not keep a process signing with a key that another one has replaced and removed',
        'test/resource-server.test.ts > the cache > is off unless asked for, and bounded in time and in size',
      ],
    },
    {
      section: 'Limits',
      rule: 'A lifetime or an age is a century at most, in the configuration and at the console.',
      tests: [
        'test/configuration.test.ts > the lifetimes > %s is a century at most',
        'test/configuration.test.ts > the lifetimes > of a century each, everything works',
        'test/console.test.ts > the keys > ages and overlaps have an end: a century, and a year',
      ],
    },
    {
      section: 'The console',
      rule: 'A mistake in app.ts is printed with file, line and stack; an error made for people is one line.',
      tests: [
        'test/console.test.ts > a mistake in the file of an application > %s is printed with its file and line, and its stack',
        'test/console.test.ts > a mistake in the file of an application > plugins: %s is named, without a stack',
        'test/console.test.ts > a mistake in the file of an application > what is thrown and is no error is printed too, with the file',
      ],
    },
    {
      section: 'The console',
      rule: 'The log may be standard output while serving; of a command it is standard error, beside the data.',
      tests: [
        'test/console.test.ts > log:path > - is standard output while serving, and serve says so',
        'test/console.test.ts > log:path > - is standard error for a command, whose standard output is data alone',
      ],
    },
    {
      section: 'Claims',
      rule: 'A claim that no scope of the server releases is warned of, once for each name.',
      tests: [
        'test/configuration.test.ts > oauth_server:claims > that no scope of the server releases are told in the log, once for each name',
      ],
    },
    {
      section: 'MCP',
      rule: 'A refusal of the MCP endpoint is one line of the log too, and every mount answers with the id of the request.',
      tests: [
        'test/mcp.test.ts > a refusal > of %s leaves one line in the log',
        'test/mounts.test.ts > $name > the id of the request stands in the answer to %s %s, %i',
      ],
    },
  ],
};
