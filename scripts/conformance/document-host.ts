import type { Chapter } from './rule.ts';

export const host: Chapter = {
  source: 'Document 1',
  about: 'token() and the console',
  rules: [
    {
      section: 'token(): requireScope',
      rule: 'Without a usable token it is 401.',
      tests: [
        'test/token-accessor.test.ts > no usable token: 401 > no token',
        'test/token-accessor.test.ts > no usable token: 401 > garbage: %j',
        'test/token-accessor.test.ts > no usable token: 401 > expired',
      ],
    },
    {
      section: 'token(): requireScope',
      rule: 'A token that does not reach is 403.',
      tests: [
        'test/token-accessor.test.ts > a token that does not reach: 403 > the token lacks the scope',
        'test/token-accessor.test.ts > a token that does not reach: 403 > the person no longer holds the permission behind the scope',
      ],
    },
    {
      section: 'token(): can',
      rule: 'It answers what requireScope() checks, as a boolean.',
      tests: [
        'test/token-accessor.test.ts > can() > is the check of requireScope(), as a yes or no: the scope, and the permission behind it',
      ],
    },
    {
      section: 'token(): user',
      rule: "It is the host's own user model.",
      tests: ['test/token-accessor.test.ts > whom a token stands for > a person: user() is the host account'],
    },
    {
      section: 'token(): user',
      rule: 'It is null for a client-credentials token.',
      tests: [
        'test/token-accessor.test.ts > whom a token stands for > an application by itself: user() is null, and no permission of anybody is asked for',
      ],
    },
    {
      section: 'token()',
      rule: 'Scope and permission must hold at every call.',
      tests: [
        'test/token-accessor.test.ts > a token that does not reach: 403 > the person no longer holds the permission behind the scope',
        'test/races.test.ts > two processes, one database > what one process revokes, suspends or demotes, the other refuses on the next call',
      ],
    },
    {
      section: 'token()',
      rule: "A client-credentials token stands for the application, and nobody's permissions are asked for.",
      tests: [
        'test/token-accessor.test.ts > whom a token stands for > an application by itself: user() is null, and no permission of anybody is asked for',
      ],
    },
    {
      section: 'token()',
      rule: 'No bearer token, however bad, leads to a cookie session.',
      tests: [
        'test/token-accessor.test.ts > there is no path from token() to a session > a valid session cookie without a token is no token',
        'test/token-accessor.test.ts > there is no path from token() to a session > a valid session cookie beside a bad bearer is no token',
        'test/token-accessor.test.ts > there is no path from token() to a session > a bad bearer beside a valid session sees no session anywhere',
      ],
    },
    {
      section: 'Console: oauth:server:setup',
      rule: 'It makes the signing key if there is none, and reports what is missing.',
      tests: [
        'test/console.test.ts > the keys > oauth:server:setup creates one key, once, and reports what is missing',
      ],
    },
    {
      section: 'Console: oauth:server:doctor',
      rule: 'It says which part is failing.',
      tests: [
        'test/console.test.ts > oauth:server:doctor > says which part is failing and what to do, and exits with 1',
        'test/doctor.test.ts > the doctor > an unreadable signing key is named',
        'test/doctor.test.ts > the doctor > a key, or the key directory, that others may open is a fault',
        'test/doctor.test.ts > the doctor > a view that cannot be compiled is named by file and line, in the log of a page that needs it too',
      ],
    },
    {
      section: 'Console: oauth:server:doctor',
      rule: 'With --online it asks the public address: issuer, key set, and what of a request comes through the proxies.',
      tests: [
        'test/doctor-online.test.ts > the public address, with --online > that another issuer answers at',
        'test/doctor-online.test.ts > the public address, with --online > that a process with another key directory answers at',
        'test/doctor-online.test.ts > the round trip through the proxies > warns of another host and another scheme',
        'test/doctor-online.test.ts > the round trip through the proxies > shows nothing to whoever does not have the keys',
        'test/doctor-online.test.ts > oauth:server:doctor --online > asks a process that serves, and exits with 1 for a wrong PUBLIC_URL',
      ],
    },
    {
      section: 'Console: oauth:server:doctor',
      rule: 'It marks an open rotation.',
      tests: ['test/console.test.ts > oauth:server:doctor > marks an open rotation with its deadline'],
    },
    {
      section: 'Console: oauth:client:create',
      rule: 'It registers a client from a name, redirects, scopes and grants.',
      tests: [
        'test/console.test.ts > oauth:client:create > prints the client by the names of RFC 7591, and nothing else on standard output',
        'test/console.test.ts > oauth:client:create > --grant, --redirect and --scope are repeatable',
      ],
    },
    {
      section: 'Console: oauth:client:create',
      rule: 'Id and secret are printed once; the secret is kept as a hash only.',
      tests: [
        'test/console.test.ts > oauth:client:create > prints the id and the secret once, to a person',
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
      ],
    },
    {
      section: 'Console: oauth:client:create',
      rule: '--public gives a client without a secret: identified, and protected by PKCE.',
      tests: [
        'test/console.test.ts > oauth:client:create > --public has no secret',
        'test/openid-connect.test.ts > openid-client > a public client signs in with PKCE alone',
      ],
    },
    {
      section: 'Console: oauth:client:list',
      rule: 'It lists the clients, and marks an open rotation.',
      tests: [
        'test/console.test.ts > oauth:client:rotate-secret and oauth:client:revoke > prints the new secret once; the list marks the open rotation with its deadline',
        'test/console.test.ts > oauth:client:rotate-secret and oauth:client:revoke > a revoked client is listed as revoked',
      ],
    },
    {
      section: 'Console: oauth:client:rotate-secret',
      rule: 'It gives a new secret, with --overlap or --now; id and tokens stay.',
      tests: [
        'test/console.test.ts > oauth:client:rotate-secret and oauth:client:revoke > prints the new secret once; the list marks the open rotation with its deadline',
        'test/client-lifecycle.test.ts > rotating a secret > client secret current: the new secret is current, and the previous one still accepted for the overlap',
      ],
    },
    {
      section: 'Console: oauth:keys:generate',
      rule: 'It adds a key, which signs from then on.',
      tests: [
        'test/console.test.ts > the keys > oauth:keys:generate adds a key each time',
        'test/openid-connect.test.ts > signing keys > a generated key signs from then on, and the one before stays published',
      ],
    },
    {
      section: 'Console: oauth:keys:prune',
      rule: 'It removes retired keys.',
      tests: [
        'test/console.test.ts > the keys > oauth:keys:prune refuses an age below the lifetime of an ID token',
        'test/client-lifecycle.test.ts > signing key active, retired, removed > retired keys are removed when old enough, counted from when they stopped signing; the active one never',
      ],
    },
    {
      section: 'Console: db:migrate up',
      rule: 'It applies the schema.',
      tests: [
        'test/console.test.ts > db:migrate > up a second time finds the schema up to date; status names every step',
        'test/schema-upgrade.test.ts > applying the schema > of two processes that migrate at once one does it, the other waits and finds it done',
      ],
    },
  ],
};
