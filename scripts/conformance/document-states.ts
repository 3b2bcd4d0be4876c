import type { Chapter } from './rule.ts';

export const states: Chapter = {
  source: 'Document 1',
  about: 'States and transitions',
  rules: [
    {
      section: 'code issued',
      rule: 'Exchanged by the right client with the right redirect URI and verifier, in time, it is spent for an access token, a refresh token and, with openid, an ID token.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > authorization code issued, token request (authorization code grant), correct client, redirect URI and PKCE verifier, within code_ttl: spent; access token, refresh token (and ID token when openid was granted) are issued',
      ],
    },
    {
      section: 'code issued',
      rule: 'Offered with a wrong client, redirect URI or verifier it is spent, and good for nobody afterwards.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > authorization code issued, token request, wrong %s: spent; the exchange fails; the code is never accepted again [client]',
        'test/states-and-transitions.test.ts > States and transitions > authorization code issued, token request, wrong %s: spent; the exchange fails; the code is never accepted again [redirect URI]',
        'test/states-and-transitions.test.ts > States and transitions > authorization code issued, token request, wrong %s: spent; the exchange fails; the code is never accepted again [PKCE verifier]',
      ],
    },
    {
      section: 'code issued',
      rule: "A failure of the server's own leaves it as it was: nothing spent, nothing issued.",
      tests: [
        "test/states-and-transitions.test.ts > States and transitions > authorization code issued, token request, failure on the server's side: unchanged (rolled back); nothing was issued, nothing was spent",
      ],
    },
    {
      section: 'refresh token valid',
      rule: 'Used once, it is replaced by a successor of the same family and dead at once, without any grace.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > refresh token valid, refresh request, token unused: replaced by a successor in the same family; old token is invalid at once; there is no grace window',
      ],
    },
    {
      section: 'refresh token used',
      rule: 'Used again, it takes its whole family with it.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > refresh token used, refresh request with the same token again (replay), replay detected: whole family revoked; a successor too',
        'test/states-and-transitions.test.ts > States and transitions > refresh token used, replay detected also after it would have expired, and after rows were pruned',
      ],
    },
    {
      section: 'refresh token used',
      rule: 'So it does with a successor that was committed at the same moment.',
      tests: [
        'test/races.test.ts > two processes, one database > of concurrent uses of one refresh token exactly one is answered, and nothing of the family lives',
        'test/store-contract.test.ts > refresh tokens and families > of a rotation and a revocation at the same moment nothing lives afterwards',
      ],
    },
    {
      section: 'client registered',
      rule: 'Revoked, it takes every token that it was issued.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > client registered, client revoked: revoked; all tokens issued to it are revoked with it',
        'test/store-contract.test.ts > clients > revoked once, take every token with them',
      ],
    },
    {
      section: 'account active',
      rule: 'Once it cannot sign in, no token, no ID token and no UserInfo is to be had for it anywhere.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > account active, account can no longer sign in: inactive; no token issued, no ID token minted, no UserInfo answered, for that account everywhere at once',
        'test/races.test.ts > two processes, one database > suspending an account: within the same second no token, no ID token, no UserInfo, introspection inactive, in every process',
      ],
    },
    {
      section: 'secret current',
      rule: 'Rotated, the secret before is accepted for the overlap, a day by default; two are accepted at most.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > client secret current, oauth:client:rotate-secret, default: new secret current, previous secret still accepted; previous accepted for the overlap (default one day); at most two secrets are accepted; rotating again inside a window drops the older one',
        'test/client-lifecycle.test.ts > rotating a secret > at most two secrets are accepted: rotating again inside a window drops the older one',
      ],
    },
    {
      section: 'previous secret',
      rule: '--now ends it at once.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > previous secret accepted, oauth:client:rotate-secret <client_id> --now: previous secret ended immediately; the client breaks until redeployed',
        'test/console.test.ts > oauth:client:rotate-secret and oauth:client:revoke > prints the new secret once; the list marks the open rotation with its deadline',
      ],
    },
    {
      section: 'previous secret',
      rule: 'It lapses by itself when the overlap is over.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > previous secret accepted, time, overlap window elapsed: previous secret ended; lapses by itself; nothing has to run',
      ],
    },
    {
      section: 'consent pending',
      rule: 'Answered in the same browser by the same person in time, it yields a code.',
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > consent request pending, POST /oauth/authorize, same browser and same person as when asked, within consent_ttl: answered; code issued on consent',
      ],
    },
    {
      section: 'consent pending',
      rule: "Another person's sign-in before the answer makes it void for good.",
      tests: [
        'test/states-and-transitions.test.ts > States and transitions > consent request pending, another person signs in before the answer: void',
        'test/consent.test.ts > a consent request is answered once, by the person and in the browser that were asked > it stays void when the first person comes back',
      ],
    },
    {
      section: 'key active',
      rule: 'A generated key signs from then on; the one before stays published.',
      tests: [
        "test/states-and-transitions.test.ts > States and transitions > signing key active, oauth:keys:generate: retired (still published); the new key signs from then on. signing key retired, oauth:keys:prune, old enough, counted from when the key stopped signing: removed; the active key is never removed; an age shorter than an ID token's lifetime is refused",
      ],
    },
    {
      section: 'key retired',
      rule: 'It is removed when it stopped signing long enough ago; never the active one, and never before an ID token of its could have expired.',
      tests: [
        "test/states-and-transitions.test.ts > States and transitions > signing key active, oauth:keys:generate: retired (still published); the new key signs from then on. signing key retired, oauth:keys:prune, old enough, counted from when the key stopped signing: removed; the active key is never removed; an age shorter than an ID token's lifetime is refused",
        'test/client-lifecycle.test.ts > signing key active, retired, removed > retired keys are removed when old enough, counted from when they stopped signing; the active one never',
        'test/client-lifecycle.test.ts > signing key active, retired, removed > the age %d is refused',
      ],
    },
  ],
};
