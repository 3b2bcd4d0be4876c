// @engines sqlite: nothing is stored
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { codeBlocks } from '../../../../../test/support/documents.ts';
import { KNOWN_DOCUMENTS } from '../../../../../test/support/known-documents.ts';
import { demands } from '../../store/client-demands.fixture.ts';
import { mayRedirect } from '../../../../../test/support/redirects.ts';
import { createScopeCatalog } from '../../tokens/scopes.ts';
import { DocumentError, readDocument, readDocumentKeys } from './document.ts';
import { GRANT_TYPES } from '../../../../../test/support/grant-types.ts';
import { ALGORITHMS } from '../../../../../test/support/algorithms.ts';

const URL_OF_IT = 'https://client.example/client.json';
const OFFERED = createScopeCatalog({ 'notes:read': 'Read notes', 'notes:write': 'Write notes' });
const RULES = {
  catalog: OFFERED,
  takesKeys: false,
  demands: demands({ pushed: false, bound: false }),
  unnamedAlgorithm: 'RS256' as const,
  algorithms: ALGORITHMS,
  grantTypes: GRANT_TYPES,
  keysRefusal: () => null,
};
const PUBLIC_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
  format: 'jwk',
});
const ALL = ['openid', 'profile', 'email', 'notes:read', 'notes:write'];

const DOCUMENT = {
  client_id: URL_OF_IT,
  client_name: 'Assistant',
  redirect_uris: ['https://client.example/callback'],
};

const read = (changes: object) => readDocument({ ...DOCUMENT, ...changes }, URL_OF_IT, RULES);

function problem(value: unknown): string {
  try {
    return `no problem: ${JSON.stringify(readDocument(value, URL_OF_IT, RULES))}`;
  } catch (error) {
    return error instanceof DocumentError ? error.message : `a fault: ${String(error)}`;
  }
}

describe('a document in the form that a known host publishes is valid', () => {
  test.each(KNOWN_DOCUMENTS)('$host', ({ document, path, asks, applicationType, refreshes }) => {
    const url = `https://client.example${path}`;
    const client = readDocument({ client_id: url, ...document }, url, RULES);
    expect(client).toMatchObject({
      name: document['client_name'],
      applicationType,
      grants: refreshes ? ['authorization_code', 'refresh_token'] : ['authorization_code'],
      scopes: ALL,
      idTokenSignedResponseAlg: 'RS256',
    });
    expect(asks.filter((uri) => !mayRedirect(client, uri))).toEqual([]);
  });
});

test('the document in docs/connecting-clients.md is valid, for a public client', () => {
  const [example] = codeBlocks().filter(
    ({ page, info }) => page.endsWith('/connecting-clients.md') && info[0] === 'json',
  );
  const document = JSON.parse(example?.code ?? '') as { readonly client_id: string };
  expect(readDocument(document, document.client_id, RULES)).toMatchObject({
    name: 'Notes',
    keys: null,
    scopes: ALL,
  });
});

describe('a document that requires DPoP-bound tokens', () => {
  const rules = { ...RULES, demands: demands() };
  const demanding = (value: unknown) =>
    readDocument({ ...DOCUMENT, dpop_bound_access_tokens: value }, URL_OF_IT, rules)
      .dpopBoundAccessTokens;

  // @shows AS-24.6
  test('is accepted if the server issues them', () => {
    expect([undefined, false, true].map(demanding)).toEqual([false, false, true]);
    for (const value of [0, 'true', 1, [true]]) {
      expect(() => demanding(value)).toThrow('its dpop_bound_access_tokens must be true or false');
    }
  });
});

test('a document that requires pushed requests is accepted if the server supports them', () => {
  const pushes = (value: unknown) =>
    readDocument({ ...DOCUMENT, require_pushed_authorization_requests: value }, URL_OF_IT, {
      ...RULES,
      demands: demands(),
    }).pushesRequests;
  expect([undefined, false, true].map(pushes)).toEqual([false, false, true]);
});

// @shows AS-23.10
test('the keys of a document are accepted if clients may have keys, and only from allowed hosts', () => {
  const keyed = {
    ...DOCUMENT,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_methods_supported: ['none'],
    jwks_uri: 'https://client.example/k',
  };
  const rules = { ...RULES, takesKeys: true };
  expect(readDocument(keyed, URL_OF_IT, rules).keys).toEqual({
    jwks: null,
    jwksUri: 'https://client.example/k',
    algorithm: null,
  });
  const refusing = { ...rules, keysRefusal: (url: string) => `${url} is denied` };
  expect(() => readDocument(keyed, URL_OF_IT, refusing)).toThrow(
    'https://client.example/k is denied',
  );
  const elsewhere = { ...keyed, jwks_uri: 'https://client.example:8443/k' };
  expect(() => readDocument(elsewhere, URL_OF_IT, rules)).toThrow('has a port other than 443');
  expect(readDocument(elsewhere, URL_OF_IT, { ...rules, anyPort: true }).keys).not.toBeNull();
  const { jwks_uri: _, ...brought } = { ...keyed, jwks: { keys: [PUBLIC_KEY] } };
  expect(readDocument(brought, URL_OF_IT, refusing).keys?.jwksUri).toBeNull();
});

describe('a document that is not a valid client', () => {
  // @shows AS-21.3
  test.each<[says: string, value: unknown]>([
    ['content', null],
    ['content', []],
    ['content', 'client'],
    ['client_id', {}],
    ['client_id', { ...DOCUMENT, client_id: 1 }],
    ['not the URL', { ...DOCUMENT, client_id: 'https://client.example/other.json' }],
    ['not the URL', { ...DOCUMENT, client_id: `${URL_OF_IT}/` }],
    ['not the URL', { ...DOCUMENT, client_id: 'https://CLIENT.example/client.json' }],
    ['client_name', { ...DOCUMENT, client_name: undefined }],
    ['client_name', { ...DOCUMENT, client_name: ' ' }],
    ['client_name', { ...DOCUMENT, client_name: 'a'.repeat(101) }],
    ['client_name', { ...DOCUMENT, client_name: 'Assist\u202Eant' }],
    ['client_name', { ...DOCUMENT, client_name: 'Assist\uD800ant' }],
    ['redirect_uris', { ...DOCUMENT, redirect_uris: undefined }],
    ['redirect_uris', { ...DOCUMENT, redirect_uris: [] }],
    ['redirect_uris', { ...DOCUMENT, redirect_uris: 'https://client.example/callback' }],
    ['redirect_uris', { ...DOCUMENT, redirect_uris: ['https://client.example/callback', 1] }],
    ['can be used', { ...DOCUMENT, redirect_uris: ['http://client.example/callback'] }],
    ['can be used', { ...DOCUMENT, redirect_uris: ['javascript:alert(1)'] }],
    ['can be used', { ...DOCUMENT, redirect_uris: ['data:text/html,x', 'file:///etc/passwd'] }],
    ['can be used', { ...DOCUMENT, redirect_uris: ['https://client.example/*'] }],
    ['can be used', { ...DOCUMENT, redirect_uris: ['app:/callback'] }],
    ['application_type', { ...DOCUMENT, application_type: 'browser' }],
    ['client_secret', { ...DOCUMENT, client_secret: 'secret' }],
    ['client_secret_expires_at', { ...DOCUMENT, client_secret_expires_at: 0 }],
    ['client_secret_basic', { ...DOCUMENT, token_endpoint_auth_method: 'client_secret_basic' }],
    ['client_secret_post', { ...DOCUMENT, token_endpoint_auth_method: 'client_secret_post' }],
    ['client_secret_jwt', { ...DOCUMENT, token_endpoint_auth_method: 'client_secret_jwt' }],
    ['tls_client_auth', { ...DOCUMENT, token_endpoint_auth_method: 'tls_client_auth' }],
    [
      'client_secret_basic',
      {
        ...DOCUMENT,
        token_endpoint_auth_method: 'client_secret_basic',
        token_endpoint_auth_methods_supported: ['none'],
      },
    ],
    [
      'only by private_key_jwt',
      {
        ...DOCUMENT,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: 'https://client.example/k',
      },
    ],
    [
      'only by private_key_jwt',
      {
        ...DOCUMENT,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ kty: 'RSA' }] },
      },
    ],
    ['neither jwks nor jwks_uri', { ...DOCUMENT, token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'both jwks and jwks_uri',
      { ...DOCUMENT, jwks: { keys: [] }, jwks_uri: 'https://client.example/k' },
    ],
    [
      'private or symmetric key',
      { ...DOCUMENT, jwks: { keys: [{ kty: 'EC', x: 'x', y: 'y', d: 'd' }] } },
    ],
    [
      'private or symmetric key',
      { ...DOCUMENT, jwks: { keys: [{ kty: 'RSA' }, { kty: 'oct', k: 'k' }] } },
    ],
    ['jwks', { ...DOCUMENT, jwks: 'https://client.example/k' }],
    ['response_types do not include code', { ...DOCUMENT, response_types: ['token'] }],
    ['response_types', { ...DOCUMENT, response_types: 'code' }],
    [
      'grant_types do not include authorization_code',
      { ...DOCUMENT, grant_types: ['client_credentials'] },
    ],
    ['this server offers none of its scopes', { ...DOCUMENT, scope: 'admin root' }],
    ['id_token_signed_response_alg', { ...DOCUMENT, id_token_signed_response_alg: 'none' }],
    ['id_token_signed_response_alg', { ...DOCUMENT, id_token_signed_response_alg: 'HS256' }],
    ['dpop_bound_access_tokens', { ...DOCUMENT, dpop_bound_access_tokens: true }],
    [
      'require_pushed_authorization_requests',
      { ...DOCUMENT, require_pushed_authorization_requests: true },
    ],
    ['require_signed_request_object', { ...DOCUMENT, require_signed_request_object: true }],
  ])('%s: %j', (says, value) => {
    expect(problem(value)).toContain(says);
  });

  test('is quoted in the reason only in shortened and escaped form', () => {
    const long = 'a\n"b'.repeat(500);
    const messages = [
      problem({ ...DOCUMENT, client_name: long }),
      problem({ ...DOCUMENT, client_id: long }),
      problem({ ...DOCUMENT, scope: long }),
      problem({ ...DOCUMENT, redirect_uris: [long] }),
      problem({ ...DOCUMENT, token_endpoint_auth_method: long }),
      problem({ ...DOCUMENT, id_token_signed_response_alg: long }),
      problem({ ...DOCUMENT, application_type: long }),
    ];
    expect(messages.filter((message) => message.includes('\n') || message.length > 1500)).toEqual(
      [],
    );
  });
});

describe('the content of a document', () => {
  // @shows AS-21.12
  test.each([
    'application_type',
    'grant_types',
    'response_types',
    'scope',
    'token_endpoint_auth_method',
    'token_endpoint_auth_methods_supported',
    'token_endpoint_auth_signing_alg',
    'id_token_signed_response_alg',
    'jwks',
    'jwks_uri',
    'client_secret',
    'client_secret_expires_at',
    'dpop_bound_access_tokens',
  ])('an empty %s counts as missing', (name) => {
    const rules = { ...RULES, demands: demands() };
    const all = (changes: object) => readDocument({ ...DOCUMENT, ...changes }, URL_OF_IT, rules);
    for (const empty of [null, '', []]) expect(all({ [name]: empty })).toEqual(all({}));
  });

  test('its grants are limited to the two possible ones, and default to authorization_code', () => {
    expect(read({}).grants).toEqual(['authorization_code']);
    expect(read({ grant_types: ['refresh_token', 'authorization_code'] }).grants).toEqual([
      'authorization_code',
      'refresh_token',
    ]);
    const all = [
      'authorization_code',
      'client_credentials',
      'introspection',
      'password',
      'implicit',
    ];
    expect(read({ grant_types: all }).grants).toEqual(['authorization_code']);
  });

  test('its scopes are limited to those offered, and default to all of them', () => {
    expect(read({}).scopes).toEqual(ALL);
    expect(read({ scope: '' }).scopes).toEqual(ALL);
    expect(read({ scope: ' offline_access' }).scopes).toEqual(ALL);
    expect(read({ scope: 'notes:read admin openid notes:read' }).scopes).toEqual([
      'notes:read',
      'openid',
    ]);
  });

  test('its scopes never include service scopes, whether it names them or not', () => {
    const catalog = createScopeCatalog({
      'notes:read': 'Read notes',
      'mcp:service': { label: 'Discover', permission: 'notes:read' },
    });
    const scopesOf = (scope?: string) =>
      readDocument({ ...DOCUMENT, scope }, URL_OF_IT, { ...RULES, catalog }).scopes;
    expect(scopesOf()).toEqual(['openid', 'profile', 'email', 'notes:read']);
    expect(scopesOf('notes:read mcp:service')).toEqual(['notes:read']);
    expect(() => scopesOf('mcp:service')).toThrow('this server offers none of its scopes');
  });

  test('its unusable redirect URIs are ignored', () => {
    const uris = [
      'https://client.example/callback',
      'http://client.example/',
      'https://client.example/callback',
    ];
    expect(read({ redirect_uris: uris }).redirectUris).toEqual(['https://client.example/callback']);
  });

  test('its redirect URIs are matched exactly for a web application, even on loopback', () => {
    const client = read({
      application_type: 'web',
      redirect_uris: ['http://localhost:3000/callback'],
    });
    expect(mayRedirect(client, 'http://localhost:3000/callback')).toBe(true);
    expect(mayRedirect(client, 'http://localhost:3001/callback')).toBe(false);
  });

  test('it may name the algorithm of its ID tokens', () => {
    expect(read({ id_token_signed_response_alg: 'ES256' }).idTokenSignedResponseAlg).toBe('ES256');
  });
});

test('a demand with another value is no demand, unless the server has to understand it', () => {
  const pushed = { require_pushed_authorization_requests: 'true' };
  const met = { ...RULES, demands: demands() };
  expect(readDocument({ ...DOCUMENT, ...pushed }, URL_OF_IT, met).pushesRequests).toBe(false);
  expect(read({ dpop_bound_access_tokens: 'true' }).dpopBoundAccessTokens).toBe(false);
});

test('a document with another method is refused with those that it may have', () => {
  expect(problem({ ...DOCUMENT, token_endpoint_auth_method: 'client_secret_basic' })).toBe(
    'its token_endpoint_auth_method is "client_secret_basic"; here it must be none or ' +
      'private_key_jwt',
  );
});

describe('the keys of a document, when a client authenticates with them', () => {
  const KEYED = {
    ...DOCUMENT,
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: 'https://client.example/keys',
  };
  const keysOf = (changes: object, rules: object = {}) =>
    readDocumentKeys({ ...KEYED, ...changes }, URL_OF_IT, { keysRefusal: () => null, ...rules });

  test('are read even if the rest of the document is no longer valid', () => {
    const keys = { jwks: null, jwksUri: KEYED.jwks_uri, algorithm: null };
    expect(keysOf({ redirect_uris: 7, client_name: '' })).toEqual(keys);
    expect(keysOf({ token_endpoint_auth_signing_alg: 'ES256' })).toEqual({
      ...keys,
      algorithm: 'ES256',
    });
    const onPort = 'https://client.example:8443/keys';
    expect(keysOf({ jwks_uri: onPort }, { anyPort: true })).toEqual({ ...keys, jwksUri: onPort });
  });

  test.each<[object, string]>([
    [{ jwks_uri: 7 }, 'its jwks or jwks_uri has the wrong type'],
    [{ client_id: `${URL_OF_IT}x` }, 'its client_id is not the URL that it was fetched from'],
    [{ client_secret: 'x' }, 'it has a client_secret, but everyone can read the document'],
    [
      { token_endpoint_auth_method: 'none' },
      'its method is now none, so it has no keys to authenticate with',
    ],
    [{ jwks_uri: 'https://client.example:8443/keys' }, 'of its keys: The jwks_uri has a port'],
  ])('are refused for %j', (changes, says) => {
    expect(() => keysOf(changes)).toThrow(DocumentError);
    expect(() => keysOf(changes)).toThrow(says);
  });

  test('are refused at a host that documents may not use', () => {
    const asked: string[] = [];
    const keysRefusal = (url: string) => {
      asked.push(url);
      return 'its host is denied';
    };
    expect(() => keysOf({}, { keysRefusal })).toThrow(
      'its jwks_uri cannot be used: its host is denied',
    );
    expect(asked).toEqual([KEYED.jwks_uri]);
  });
});
