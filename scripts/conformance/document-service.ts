import type { Chapter } from './rule.ts';

export const service: Chapter = {
  source: 'Document 1',
  about: 'What the service does',
  rules: [
    {
      section: 'What the service does 1',
      rule: "The accounts, the sign-in and the permissions are the host's; the server brings none of its own.",
      tests: [
        'test/layers.test.ts > imports run downwards only > $folder imports only what its layer allows',
        'test/another-host.test.ts > an application that does not use the kit > offers the whole flow by its contract alone; where it says nothing of a person, an ID token still carries sub',
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > on the way to signing in',
        'test/token-accessor.test.ts > whom a token stands for > a person: user() is the host account',
      ],
    },
    {
      section: 'What the service does 2',
      rule: 'The grants are authorization code, refresh token and client credentials, and there is no other.',
      tests: [
        'test/openid-connect.test.ts > the metadata > of the authorization server names every endpoint and all that is offered, and nothing else',
        'test/token-endpoint.test.ts > the body > with an unknown grant_type is unsupported_grant_type',
      ],
    },
    {
      section: 'What the service does 2',
      rule: 'Confidential clients need PKCE with S256 as public ones do.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE missing]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [PKCE plain]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > PKCE missing, from a public client',
      ],
    },
    {
      section: 'What the service does 2',
      rule: 'Refresh tokens rotate strictly, and a replay is noticed.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > replaces the token by a successor; the old one is invalid at once',
        'test/token-endpoint.test.ts > the refresh token grant > a used token again revokes the whole family, the successor and every access token',
      ],
    },
    {
      section: 'What the service does 2',
      rule: 'With client credentials an application acts as itself.',
      tests: [
        'test/token-endpoint.test.ts > the client credentials grant > gives an access token, and no refresh token',
        'test/token-accessor.test.ts > whom a token stands for > an application by itself: user() is null, and no permission of anybody is asked for',
      ],
    },
    {
      section: 'What the service does 3',
      rule: 'OpenID Connect is asked for per request, by the scope openid; without it there is no ID token and no UserInfo.',
      tests: [
        'test/openid-connect.test.ts > openid-client > without openid there is no ID token and no UserInfo',
      ],
    },
    {
      section: 'What the service does 3',
      rule: 'ID tokens, UserInfo, discovery and a key set are part of the server.',
      tests: [
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
        'test/openid-connect.test.ts > oauth4webapi > discovers both documents, and the key of the ID token is in the key set',
      ],
    },
    {
      section: 'What the service does 4',
      rule: 'There is no implicit grant.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_type=token]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [response_type=code id_token]',
        'test/token-endpoint.test.ts > the body > with an unknown grant_type is unsupported_grant_type',
      ],
    },
    {
      section: 'What the service does 4',
      rule: 'There is no password grant.',
      tests: [
        'test/token-endpoint.test.ts > the body > with an unknown grant_type is unsupported_grant_type',
        'test/console.test.ts > oauth:client:create > refuses %s [an unknown grant]',
      ],
    },
    {
      section: 'What the service does 4',
      rule: 'A redirect URI with a wildcard cannot be registered.',
      tests: [
        'test/console.test.ts > oauth:client:create > refuses the redirect %s [https://*.client.example/cb]',
        'test/console.test.ts > oauth:client:create > refuses the redirect %s [https://client.example/*]',
      ],
    },
    {
      section: 'What the service does 4',
      rule: 'prompt and max_age are answered, never passed over in silence.',
      tests: [
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=none]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [prompt=login]',
        'test/authorization-request.test.ts > everything else goes back to the redirect URI with error, state and iss > %s [max_age]',
        'test/authorization-request.test.ts > what a request may leave out or add > unknown parameters and prompt=consent are fine',
      ],
    },
    {
      section: 'What the service does 5',
      rule: "The host's handlers ask token() for requireScope(), can() and user(), for their own request each.",
      tests: [
        'test/token-accessor.test.ts > can() > is the check of requireScope(), as a yes or no: the scope, and the permission behind it',
        'test/token-accessor.test.ts > whom a token stands for > a person: user() is the host account',
        'test/token-accessor.test.ts > token() in the wrong place > two requests at once see their own token each',
      ],
    },
    {
      section: 'What the service does 6',
      rule: 'A store, accounts, a login route and the console are needed, and the doctor says which is missing.',
      tests: [
        'test/doctor.test.ts > the doctor > a store that is gone',
        'test/doctor.test.ts > the doctor > a sign-in route that is not there',
        'test/console.test.ts > oauth:server:doctor > says which part is failing and what to do, and exits with 1',
      ],
    },
    {
      section: 'What the service does 7',
      rule: 'A suspended account stops working here in that moment, in every process.',
      tests: [
        'test/races.test.ts > two processes, one database > suspending an account: within the same second no token, no ID token, no UserInfo, introspection inactive, in every process',
        'test/token-accessor.test.ts > no usable token: 401 > of a suspended person, at once; restored, it works again',
      ],
    },
  ],
};
