import type { Chapter } from './rule.ts';

export const authorizationRulings: Chapter = {
  source: 'Our rulings',
  about: 'The authorization request',
  rules: [
    {
      section: 'Authorization request',
      rule: 'An unknown client or an unregistered redirect URI is a page, 400, and never a redirect.',
      tests: [
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > an unknown client',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a redirect_uri with %s',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > no client',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a repeated client_id',
        'test/authorization-request.test.ts > an authorization request without a certain destination is answered with a page, never a redirect > a repeated redirect_uri',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Every other error goes to the redirect URI, with error, state unchanged and iss.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'A repeated parameter is invalid_request.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > a repeated %s',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > a repeated state, which cannot be returned',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'request and request_uri are refused by the errors made for them.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [a request object]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [a request_uri]',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'A response_mode other than query is invalid_request.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_mode=fragment]',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Unknown parameters are ignored.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > unknown parameters and prompt=consent are fine',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'prompt is a list; any member but consent and none is invalid_request, and so is none beside another.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=none beside another]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=login]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=login consent]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=select_account]',
      ],
    },
    {
      section: 'Authorization request',
      rule: "Without scope all of the client's are meant, but openid.",
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > without a scope, all the scopes of the client but openid are meant',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'offline_access is known: it needs no permission, is not shown, and grants nothing beyond the grants of the client.',
      tests: [
        'test/authorization-request.test.ts > offline_access, which clients hard-code > is no obstacle, is not shown, and is not among the scopes that are granted, which the answer tells',
        'test/authorization-request.test.ts > offline_access, which clients hard-code > gives no refresh token to a client that is not registered for refreshing',
        'test/authorization-request.test.ts > offline_access, which clients hard-code > alone it names no scope, as when none is sent',
        'test/authorization-request.test.ts > offline_access, which clients hard-code > may be named when a client is registered, and is in no metadata',
      ],
    },
    {
      section: 'Authorization request',
      rule: "A scope that is unknown or not the client's is invalid_scope.",
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [an unknown scope]',
        "test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > a scope that is offered, but not this client's",
      ],
    },
    {
      section: 'Authorization request',
      rule: 'resource is invalid_target without an audience, repeated, or when it is another one.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [a resource when no audience is configured]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > a repeated resource is invalid_target',
        'test/token-endpoint.test.ts > a configured audience > any other target is invalid_target, before anyone is asked',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Without resource the audience is meant all the same.',
      tests: [
        'test/token-endpoint.test.ts > a configured audience > is what a grant is bound to, named or not, and a refresh keeps it',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'A token of before the audience was configured is none.',
      tests: [
        'test/token-endpoint.test.ts > a configured audience > a token granted before the audience was configured is no token',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'openid without a signing key is invalid_scope before anyone is asked.',
      tests: [
        'test/openid-connect.test.ts > signing keys > without one, openid is invalid_scope before anyone is asked, and all else works',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'state, nonce and redirect URI are as long as the URL allows, through signing in too.',
      tests: [
        'test/authorization-request.test.ts > what a request may leave out or add > state and nonce are as long as the URL allows',
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > a long request survives signing in',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Consent says who asks, as whom, for what, and where the answer goes.',
      tests: [
        'test/authorization-request.test.ts > the pages > say who asks, as whom, for what, and where the answer goes',
      ],
    },
    {
      section: 'Authorization request',
      rule: '"Not you?" lets somebody else sign in and be asked.',
      tests: [
        'test/consent.test.ts > "Not you?" > signs out, and asks whoever signs in next; the first request is void',
        'test/browser.test.ts > in a real Chromium > "Not you?" lets the other person sign in and be asked',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Only scopes whose permission is held are asked for; if none is left it is access_denied.',
      tests: [
        'test/consent.test.ts > only what was shown is granted > a scope whose permission the person lacks is neither asked for nor granted',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > scopes of which the person holds no permission are access_denied, without a question',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Only what was shown is granted, and only as far as it is still held.',
      tests: [
        'test/consent.test.ts > only what was shown is granted > a permission gained between the question and the answer is not granted',
        'test/consent.test.ts > only what was shown is granted > a permission gained while two tabs show the question: neither tab grants more than the first showed',
        'test/consent.test.ts > only what was shown is granted > a permission lost between the question and the answer is not granted',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Deny is as near as allow.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > denying is access_denied, and no code',
        'test/browser.test.ts > in a real Chromium > everything can be done by keyboard',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'The pages cannot be framed, are not stored, send no referrer and run no script.',
      tests: [
        'test/authorization-request.test.ts > the pages > are not framed, not stored, send no referrer and run no script',
        'test/browser.test.ts > in a real Chromium > a page of another site cannot frame the consent screen',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'The content security policy lets the answer through in Chromium.',
      tests: [
        'test/browser.test.ts > in a real Chromium > sign in, approve, land on the relying party with claims and the notes API',
      ],
    },
  ],
};
