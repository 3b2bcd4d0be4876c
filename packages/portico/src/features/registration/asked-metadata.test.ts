import { describe, expect, test } from 'vitest';
import { demands } from '../../store/client-demands.fixture.ts';
import { OAuthError } from '../../errors.ts';
import { createScopeCatalog } from '../../tokens/scopes.ts';
import { readRegistration, type MetadataRules, type SentMetadata } from './asked-metadata.ts';
import { GRANT_TYPES } from '../../../../../test/support/grant-types.ts';
import { ALGORITHMS } from '../../../../../test/support/algorithms.ts';

const LOOPBACK = 'http://127.0.0.1/callback';
const SITE = 'https://client.example/callback';
const RULES: MetadataRules = {
  catalog: createScopeCatalog({
    'notes:read': 'Read notes',
    'notes:write': 'Write notes',
    'mcp:service': { label: 'Discover', permission: 'notes:read' },
  }),
  algorithms: ALGORITHMS,
  grantTypes: GRANT_TYPES,
  cameWithToken: false,
  mayHaveSecret: false,
  takesKeys: false,
  demands: demands({ pushed: false, bound: false }),
};
/** The rules for a client with an initial access token. */
const LET_IN: MetadataRules = { ...RULES, cameWithToken: true, mayHaveSecret: true };
const WITH_KEYS: MetadataRules = { ...RULES, takesKeys: true };
const PEOPLE = ['openid', 'profile', 'email', 'notes:read', 'notes:write'];
const KEYS = { keys: [] };

const asked = (changes: SentMetadata = {}, rules = RULES) =>
  readRegistration({ redirect_uris: [LOOPBACK], ...changes }, rules);

/**
 * Returns the code of the refusal, the message for the client, and the additional detail for the
 * log.
 */
function refusal(sent: SentMetadata, rules = RULES): readonly [string, string, string | null] {
  try {
    readRegistration({ redirect_uris: [LOOPBACK], ...sent }, rules);
  } catch (error) {
    if (error instanceof OAuthError) return [error.code, error.message, error.detail];
    throw error;
  }
  throw new Error('It was not refused');
}
const metadataRefusal = (description: string, detail: string | null = null) => [
  'invalid_client_metadata',
  description,
  detail,
];

describe('A registration request', () => {
  test('may contain only a redirect URI', () => {
    expect(asked()).toStrictEqual({
      name: 'An application without a name',
      redirectUris: [LOOPBACK],
      scopes: PEOPLE,
      grants: ['authorization_code'],
      public: true,
      applicationType: 'native',
      requirePushedAuthorizationRequests: false,
      dpopBoundAccessTokens: false,
    });
  });

  test('uses its own members, not inherited ones', () => {
    const inherited = {
      client_name: 'A',
      grant_types: ['refresh_token'],
      dpop_bound_access_tokens: true,
      jwks: KEYS,
    };
    const sent = Object.assign(Object.create(inherited) as SentMetadata, {
      redirect_uris: [LOOPBACK],
    });
    const rules = { ...WITH_KEYS, demands: demands() };
    expect(readRegistration(sent, rules)).toStrictEqual(asked());
    Object.assign(sent, { token_endpoint_auth_method: 'private_key_jwt' });
    expect(() => readRegistration(sent, rules)).toThrow('The client needs its public keys');
  });

  test('may contain null instead of omitting a member', () => {
    const names = ['client_name', 'grant_types', 'scope', 'response_types', 'application_type'];
    const more = [
      'dpop_bound_access_tokens',
      'token_endpoint_auth_method',
      'id_token_signed_response_alg',
    ];
    const sent = Object.fromEntries([...names, ...more].map((name) => [name, null]));
    expect(asked(sent, { ...RULES, demands: demands() })).toStrictEqual(asked());
  });

  test.each([
    ['A client', 'A client'],
    [' a ', ' a '],
    ['', 'An application without a name'],
    [' \t ', 'An application without a name'],
  ])('with the client_name %j registers the name %j', (client_name, name) => {
    expect(asked({ client_name })).toMatchObject({ name });
  });

  test('may name the ID token algorithm', () => {
    expect(asked({ id_token_signed_response_alg: 'ES256' })).toMatchObject({
      idTokenSignedResponseAlg: 'ES256',
    });
  });

  test.each([
    [undefined, ['authorization_code']],
    [
      ['refresh_token', 'authorization_code', 'implicit'],
      ['authorization_code', 'refresh_token'],
    ],
  ])('with the grant_types %j registers the grants %j', (grant_types, grants) => {
    expect(asked({ grant_types }).grants).toEqual(grants);
  });

  test.each([[[]], [['code']], [['token', 'code']]])(
    'may contain the response_types %j',
    (response_types) => {
      expect(asked({ response_types }).grants).toEqual(['authorization_code']);
    },
  );

  test.each([
    ['is not text', { client_name: ['A'] }, 'The field client_name must be a text.'],
    ['is a number', { scope: 7 }, 'The field scope must be a text.'],
    [
      'is not a list',
      { grant_types: 'refresh_token' },
      'The field grant_types must be a list of texts.',
    ],
    [
      'is a list with other values',
      { response_types: ['code', 1] },
      'The field response_types must be a list of texts.',
    ],
    [
      'is an object',
      { redirect_uris: { 0: SITE } },
      'The field redirect_uris must be a list of texts.',
    ],
    [
      'is half of a surrogate pair',
      { client_name: 'a\uD800' },
      'The field client_name is not well-formed Unicode.',
    ],
    ['is not a grant', { grant_types: [''] }, 'The grant_types must include authorization_code.'],
    [
      'has only the grant refresh_token',
      { grant_types: ['refresh_token'] },
      'The grant_types must include authorization_code.',
    ],
    [
      'is a grant for services',
      { grant_types: ['client_credentials'] },
      'The grant_types must include authorization_code.',
    ],
    [
      'is another response type',
      { response_types: ['token'] },
      'The response_types must include code, which the grant authorization_code needs.',
    ],
    [
      'has a scope that is not offered to it',
      { scope: 'unheard:of mcp:service' },
      'None of the scopes is offered.',
    ],
  ])('is refused if it %s: %j', (_, sent, description) => {
    expect(refusal(sent)).toEqual(metadataRefusal(description));
  });

  test('is refused for an unknown application type, which is logged', () => {
    expect(refusal({ application_type: 'desktop' })).toEqual(
      metadataRefusal('The application_type must be web or native.', 'it is "desktop"'),
    );
  });
});

describe('The redirect URIs of a registration request', () => {
  const of = (redirect_uris: readonly string[], application_type?: string) =>
    asked({ redirect_uris, application_type });
  const wrong = (redirect_uris: unknown, application_type?: string) =>
    refusal({ redirect_uris, application_type });

  test.each([
    [[SITE], undefined, 'web'],
    [[SITE], 'native', 'native'],
    [[LOOPBACK], 'web', 'web'],
    [[SITE, LOOPBACK], undefined, 'native'],
    [['com.example.app:/callback'], undefined, 'native'],
  ])('%j with the application_type %j make the client %s', (uris, type, applicationType) => {
    expect(of(uris, type)).toMatchObject({ redirectUris: uris, applicationType });
  });

  test('with a scheme without a dot are skipped if others remain, only for a native application', () => {
    expect(of(['cursor://callback', SITE, LOOPBACK])).toMatchObject({
      redirectUris: [SITE, LOOPBACK],
    });
    expect(of(['MyApp://callback', SITE])).toMatchObject({ redirectUris: [SITE] });
    const inCapitals = SITE.replace('https', 'HTTPS');
    expect(of([inCapitals, LOOPBACK])).toMatchObject({ redirectUris: [inCapitals, LOOPBACK] });
    expect(wrong(['HTTP://client.example/callback', SITE, LOOPBACK])[2]).toContain('HTTP://');
    expect(wrong(['cursor://callback'])[1]).toMatch(
      /^A redirect URI must be https or have a private-use/,
    );
    expect(wrong(['cursor://callback', SITE], 'web')).toEqual([
      'invalid_redirect_uri',
      'A redirect URI is not an absolute https URL.',
      'it is "cursor://callback"',
    ]);
    expect(wrong(['com.example.app:/callback', 'evil://callback'], 'web')[2]).toContain(
      'com.example.app',
    );
  });

  test('are accepted all together or not at all', () => {
    expect(wrong([SITE, 'https://client.example/#part'])).toEqual([
      'invalid_redirect_uri',
      'A redirect URI has a fragment; remove it.',
      'it is "https://client.example/#…"',
    ]);
  });

  test.each([[undefined], [null], [[]]])('are required: %j', (uris) => {
    expect(wrong(uris)).toEqual(['invalid_redirect_uri', 'The redirect_uris are missing.', null]);
  });

  test('are at most 20, with 4,000 characters in total', () => {
    const twenty = Array.from({ length: 20 }, (_, number) => `https://client.example/${number}`);
    expect(of(twenty).redirectUris).toEqual(twenty);
    const long = [SITE.padEnd(2000, 'a'), SITE.padEnd(2000, 'b')];
    expect(of(long).redirectUris).toEqual(long);
    for (const uris of [[...twenty, SITE], [...long, 'a'], [SITE.padEnd(4001, 'a')]]) {
      expect(wrong(uris)).toEqual([
        'invalid_redirect_uri',
        'There may be 20 redirect_uris, of 4000 characters together.',
        null,
      ]);
    }
  });
});

test.each([RULES, LET_IN])('lists of a feature have at most 4,000 characters in total', (rules) => {
  const further = [{ name: 'places', called: 'place', most: 20, problem: () => null }];
  const of = (places: readonly string[]) => asked({ places }, { ...rules, further }).metadata;
  const long = [SITE.padEnd(2000, 'a'), SITE.padEnd(2000, 'b')];
  expect(of(long)).toEqual({ places: long });
  expect(refusal({ places: [...long, 'a'] }, { ...rules, further })).toEqual(
    metadataRefusal('The values of places may have 4000 characters together.'),
  );
});

describe('A client with an initial access token', () => {
  test.each([undefined, 'client_secret_basic', 'client_secret_post'])(
    'has a secret, and the scopes that it names, with the method %s',
    (method) => {
      const sent = {
        token_endpoint_auth_method: method,
        scope: 'notes:read mcp:service unheard:of',
      };
      expect(asked(sent, LET_IN)).toStrictEqual({
        ...asked(),
        public: false,
        scopes: ['notes:read', 'mcp:service'],
      });
      // A secret does not give an unverified client the scopes of services. Like every unverified
      // client, it gets all scopes that users may allow.
      expect(asked(sent)).toStrictEqual(asked());
    },
  );

  test('may be public, and is then like any other public client', () => {
    const sent = { token_endpoint_auth_method: 'none', scope: 'notes:read' };
    expect(asked(sent, LET_IN)).toStrictEqual(asked());
    expect(refusal({ ...sent, grant_types: ['client_credentials'] }, LET_IN)).toEqual(
      metadataRefusal('The grant_types must include authorization_code.'),
    );
  });

  test('may use client_credentials alone, without redirect URIs and identity scopes', () => {
    const sent = { grant_types: ['client_credentials'], response_types: ['token'] };
    expect(asked(sent, LET_IN)).toStrictEqual({
      ...asked(),
      public: false,
      redirectUris: [],
      scopes: ['notes:read', 'notes:write', 'mcp:service'],
      grants: ['client_credentials'],
      applicationType: 'web',
    });
    expect(asked({ ...sent, application_type: 'native' }, LET_IN).applicationType).toBe('native');
    expect(refusal({ ...sent, scope: 'openid' }, LET_IN)).toEqual(
      metadataRefusal('None of the scopes is offered.'),
    );
  });

  test('may use authorization_code and client_credentials together', () => {
    const sent = { grant_types: ['client_credentials', 'refresh_token', 'authorization_code'] };
    expect(asked(sent, LET_IN)).toMatchObject({
      redirectUris: [LOOPBACK],
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: [...PEOPLE, 'mcp:service'],
    });
  });

  test('must use authorization_code or client_credentials', () => {
    expect(refusal({ grant_types: ['refresh_token'] }, LET_IN)).toEqual(
      metadataRefusal('The grant_types must include authorization_code or client_credentials.'),
    );
  });
});

describe('A self-registered client with keys', () => {
  const sent = { token_endpoint_auth_method: 'private_key_jwt', jwks: KEYS };
  const uri = 'https://client.example/keys';

  test('authenticates with them, and with the algorithm that it names', () => {
    expect(asked({ ...sent, scope: 'notes:read' }, WITH_KEYS)).toStrictEqual({
      ...asked(),
      public: false,
      jwks: KEYS,
    });
    expect(asked({ ...sent, token_endpoint_auth_signing_alg: 'ES256' }, WITH_KEYS)).toMatchObject({
      jwks: KEYS,
      tokenEndpointAuthSigningAlg: 'ES256',
    });
  });

  test('may publish them at a URL if it has an initial access token', () => {
    const publishing = { ...sent, jwks: null, jwks_uri: uri, scope: 'notes:read' };
    expect(
      asked(publishing, { ...WITH_KEYS, cameWithToken: true, mayHaveSecret: true }),
    ).toStrictEqual({
      ...asked(),
      public: false,
      scopes: ['notes:read'],
      jwksUri: uri,
    });
    expect(refusal(publishing, WITH_KEYS)).toEqual(
      metadataRefusal(
        'The jwks_uri needs an initial access token; send the keys themselves, as jwks.',
      ),
    );
  });

  test.each([{ jwks: undefined }, { jwks: null }, { jwks: undefined, jwks_uri: null }])(
    'must send keys: %j',
    (without) => {
      expect(refusal({ ...sent, ...without }, WITH_KEYS)).toEqual(
        metadataRefusal('The client needs its public keys: jwks or jwks_uri.'),
      );
    },
  );

  test('is accepted only if keys are enabled, and keys are ignored with a different method', () => {
    const detail = 'the token_endpoint_auth_method is "private_key_jwt"';
    const methods = 'The token_endpoint_auth_method must be none, client_secret_basic';
    expect(refusal(sent)).toEqual(metadataRefusal(`${methods} or client_secret_post.`, detail));
    expect(refusal({ token_endpoint_auth_method: 'tls_client_auth' }, WITH_KEYS)).toEqual(
      metadataRefusal(
        `${methods}, client_secret_post or private_key_jwt.`,
        'the token_endpoint_auth_method is "tls_client_auth"',
      ),
    );
    expect(asked({ jwks: KEYS, jwks_uri: uri }, WITH_KEYS)).toStrictEqual(asked());
  });
});

describe.each([
  ['require_pushed_authorization_requests', 'requirePushedAuthorizationRequests'],
  ['dpop_bound_access_tokens', 'dpopBoundAccessTokens'],
] as const)('A client registration with %s', (name, read) => {
  const rules = { ...RULES, demands: demands() };

  test.each([
    [undefined, false],
    [null, false],
    [false, false],
    [true, true],
  ])('as %j requires it: %j', (value, is) => {
    expect(asked({ [name]: value }, rules)).toStrictEqual({ ...asked(), [read]: is });
  });

  test('must have true or false, and is ignored while the feature is off', () => {
    expect(refusal({ [name]: 'true' }, rules)).toEqual(
      metadataRefusal(`The field ${name} must be true or false.`),
    );
    for (const value of [true, 'true']) expect(asked({ [name]: value })).toStrictEqual(asked());
  });
});

test('A registration may ask for public subjects only', () => {
  expect(asked({ subject_type: 'public' }).name).toBe(asked().name);
  expect(refusal({ subject_type: 'pairwise' })).toEqual(
    metadataRefusal('The subject_type must be public.', 'it is "pairwise"'),
  );
});

describe('A field that a feature adds', () => {
  const field = (name: string, changes: object = {}) =>
    ({ name, called: name, most: 9, problem: () => null, ...changes }) as const;
  const further = [
    field('texts'),
    field('flag', { shape: 'flag' }),
    field('text', { shape: 'text' }),
    field('tokened', { selfRegistered: 'with-token' }),
    field('operators', { selfRegistered: 'never' }),
  ];
  const SENT = {
    texts: ['a', 'b'],
    flag: true,
    text: 'c',
    tokened: ['d'],
    operators: ['e'],
  };

  test('has the values that the client sends, as far as it may set it', () => {
    const values = { texts: ['a', 'b'], flag: ['true'], text: ['c'] };
    expect(asked(SENT, { ...RULES, further }).metadata).toEqual({ ...values, tokened: [] });
    for (const rules of [LET_IN, { ...RULES, wasVouchedFor: true }])
      expect(asked(SENT, { ...rules, further }).metadata).toEqual({ ...values, tokened: ['d'] });
  });

  test('is empty if the client does not send it', () => {
    for (const sent of [{}, { flag: false }])
      expect(asked(sent, { ...LET_IN, further }).metadata).toEqual({
        texts: [],
        flag: [],
        text: [],
        tokened: [],
      });
    expect(asked(SENT)).not.toHaveProperty('metadata');
  });
});
