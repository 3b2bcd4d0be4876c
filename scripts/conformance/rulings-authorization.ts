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
      rule: 'Until somebody is signed in nothing is stored of a request that fits a cookie: it waits encrypted in the browser, named by its id.',
      tests: [
        'test/waiting-requests.test.ts > a request of nobody > keeps nothing here: no row of its own and no session',
        'test/waiting-requests.test.ts > a request of nobody > waits in an encrypted cookie of its own, that scripts cannot read, for consent_ttl',
        'test/waiting-requests.test.ts > a request of nobody > opens under its own name alone, and only as it was sealed',
        'test/waiting-requests.test.ts > a request of nobody > beyond a few in one browser the oldest goes, and no more than a few kilobytes wait',
        'test/waiting-requests.test.ts > a request of nobody > in several tabs of a fresh browser waits in each, and each is answered',
        'test/browser.test.ts > in a real Chromium > the first two tabs of a fresh browser, opened at once, are both answered',
        'test/another-host.test.ts > the secret of the browser session > is not asked for before somebody is signed in',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'It is checked again when somebody has signed in, and its time to answer begins then.',
      tests: [
        'test/waiting-requests.test.ts > a request of nobody > is checked again when somebody has signed in: what was taken back meanwhile is not asked for',
        'test/waiting-requests.test.ts > a request of nobody > waits no longer than consent_ttl; from when it is put to somebody they have that time to answer',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'A longer one goes to the store within a budget of bytes, shared by network; no session begins for it.',
      tests: [
        'test/waiting-requests.test.ts > a request that is too long for a cookie > waits in the store for the one browser that has its secret, and is gone when it was put to somebody',
        'test/waiting-requests.test.ts > a request that is too long for a cookie > a flood of them takes no more than its share: others find room, and no session begins',
        'test/store-contract.test.ts > requests that wait for somebody to sign in > of one network take its share, also when all come at the same moment',
        'test/store-contract.test.ts > requests that wait for somebody to sign in > of many networks take the whole at most: the oldest of the one that holds most makes room for one that holds less',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'Who answered a request before is told so, in the browser they answered in, and nobody else is.',
      tests: [
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > answered before, it says so to the person who did, in the same browser, and to nobody else',
        'test/browser.test.ts > in a real Chromium > the back button after the answer: it says that it was answered, and leads to the applications',
      ],
    },
    {
      section: 'Authorization request',
      rule: 'A browser secret of fewer than 22 characters is a fault; another one than a question was asked with is a warning.',
      tests: [
        'test/another-host.test.ts > the secret of the browser session > that is %s is refused at once, as a fault that names the member [an empty text]',
        'test/another-host.test.ts > the secret of the browser session > another one than the question was asked with: nothing is answered, and the log names the likely cause and the remedy',
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
