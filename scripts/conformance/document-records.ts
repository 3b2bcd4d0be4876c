import type { Chapter } from './rule.ts';

export const records: Chapter = {
  source: 'Document 1',
  about: 'Stored records',
  rules: [
    {
      section: 'client',
      rule: 'A client keeps its id, name, exact redirect URIs, scopes, grants, public flag, secret hash and the previous one with its end.',
      tests: [
        'test/store-contract.test.ts > clients > are found by their id byte by byte: case and spaces at the end count',
        'test/store-contract.test.ts > clients > rotate their secret only while they live and have one; the one before the previous is dropped',
      ],
    },
    {
      section: 'client',
      rule: 'Its id does not change, whatever is rotated.',
      tests: [
        'test/client-lifecycle.test.ts > rotating a secret > client secret current: the new secret is current, and the previous one still accepted for the overlap',
      ],
    },
    {
      section: 'client',
      rule: 'introspection is a right beside the grants.',
      tests: [
        'test/console.test.ts > oauth:client:create > --grant=introspection stands beside the grant types of a client with a redirect',
      ],
    },
    {
      section: 'authorization',
      rule: 'Its target is decided when it is given, carried through every refresh, and out of the reach of later changes to the client.',
      tests: [
        'test/states-and-transitions.test.ts > Errors, with an audience > the audience is decided at authorization and kept through every refresh, whatever happens to the client later',
      ],
    },
    {
      section: 'code',
      rule: 'Of a code only the SHA-256 is kept.',
      tests: [
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > a code and a refresh token of before are good for one use',
      ],
    },
    {
      section: 'access token',
      rule: 'It is opaque, and only its SHA-256 is kept.',
      tests: [
        'test/token-endpoint.test.ts > the authorization code grant > answers as RFC 6749 section 5.1 says, never to be stored',
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > access tokens of before work, for the same person and no more than before',
      ],
    },
    {
      section: 'refresh token',
      rule: 'A family does not grow with use, and each of its used tokens is known as long as it lives.',
      tests: [
        'test/token-endpoint.test.ts > the refresh token grant > of a client that refreshes without pause the family does not grow, and each of its tokens is known as used',
        'test/token-endpoint.test.ts > the refresh token grant > what has the mark of a family ends it; without that, it is unknown and changes nothing',
        'test/store-contract.test.ts > refresh tokens and families > with the mark of their family do not grow with use, and each that was used ends the family',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > a family of before grows no more with use, and knows all that was ever used',
      ],
    },
    {
      section: 'refresh token',
      rule: 'Only its SHA-256 is kept, and it belongs to a family.',
      tests: [
        'test/nothing-in-the-clear.test.ts > nothing bearable is kept in the clear > the whole database after a full flow holds no code, token or secret that was handed out',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > a code and a refresh token of before are good for one use',
        'test/store-contract.test.ts > refresh tokens and families > a used one again ends the family, the successors too',
      ],
    },
    {
      section: 'family',
      rule: 'What descends from one authorization shares a family, which is a row of oauth_families.',
      tests: [
        'test/store-contract.test.ts > the schema > has tables with the prefix oauth_ and no others; families are one of them, signing keys are not',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > identifiers that differ in case, or in a space at the end, are different ones',
        'test/token-endpoint.test.ts > the refresh token grant > a replay leaves the families of other authorizations alone',
      ],
    },
    {
      section: 'ID token',
      rule: 'It is a signed JWT, addressed to one application.',
      tests: [
        'test/openid-connect.test.ts > oauth4webapi > validates the response of a whole flow, the signature of the ID token included',
        'test/openid-connect.test.ts > openid-client > signs a person in with state, nonce, PKCE and iss, and reads the claims',
      ],
    },
    {
      section: 'person reference',
      rule: "A person is the pair of provider and id that the host's sign-in knows.",
      tests: [
        "test/audit.test.ts > events for a host's audit log > a whole life: granted, issued, refreshed, replayed and revoked; with who, which application and what",
        'test/store-contract.test.ts > subjects > of people whose ids differ in case, or by a space at the end, are different',
      ],
    },
    {
      section: 'subject',
      rule: 'It is assigned once, kept for good, and gives away neither provider nor id.',
      tests: [
        'test/openid-connect.test.ts > openid-client > the subject is one for all applications, another for another person, and reveals neither',
        'test/store-contract.test.ts > subjects > are assigned once, whoever asks at the same moment',
        'test/pruning.test.ts > removing expired rows > leaves nothing behind once everything has expired',
      ],
    },
    {
      section: 'signing key',
      rule: 'It is a file in the key directory and no row.',
      tests: [
        'test/store-contract.test.ts > the schema > has tables with the prefix oauth_ and no others; families are one of them, signing keys are not',
        'test/configuration.test.ts > oauth_server:key_path > is oauth/keys in the storage unless said otherwise',
      ],
    },
    {
      section: 'signing key',
      rule: 'Nothing makes one on demand.',
      tests: [
        'test/openid-connect.test.ts > signing keys > without one, openid is invalid_scope before anyone is asked, and all else works',
        'test/console.test.ts > the keys > oauth:server:setup creates one key, once, and reports what is missing',
      ],
    },
    {
      section: 'consent request',
      rule: 'It is referred to by an opaque id.',
      tests: [
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > on the way to signing in',
        'test/authorization-request.test.ts > the browser is handed only an opaque request id > in the form of the consent screen',
      ],
    },
    {
      section: 'client secret',
      rule: 'Secrets are hashed with the hasher that the host uses for people.',
      tests: [
        'test/schema-upgrade.test.ts > from the first release to this one, with data > client secrets of before are accepted, and can be rotated',
        'test/another-host.test.ts > an application that does not use the kit > an unknown client costs its hasher what a wrong secret costs: one verification',
      ],
    },
    {
      section: 'tables',
      rule: 'All tables of the server have the prefix oauth_.',
      tests: [
        'test/store-contract.test.ts > the schema > has tables with the prefix oauth_ and no others; families are one of them, signing keys are not',
      ],
    },
    {
      section: 'identifiers',
      rule: 'Identifiers that differ in case, or by a space at the end, are different ones on every engine.',
      tests: [
        'test/store-contract.test.ts > clients > are found by their id byte by byte: case and spaces at the end count',
        'test/store-contract.test.ts > subjects > of people whose ids differ in case, or by a space at the end, are different',
        'test/schema-upgrade.test.ts > from the first release to this one, with data > identifiers that differ in case, or in a space at the end, are different ones',
      ],
    },
  ],
};
