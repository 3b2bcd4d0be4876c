// @engines sqlite: it tests how records are read; test/importing.test.ts runs on every engine
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GRANT_TYPES } from '../../../test/support/grant-types.ts';
import {
  openImporting,
  type ImportingServers,
  type ServerOptions,
} from '../../../test/support/importing-server.ts';
import { readClientRecord } from './client-records.ts';

const OFFERED = { furtherFields: [], demands: [], rights: GRANT_TYPES.rights };
const NOW_IN_SECONDS = 1_800_000_000;

let servers: ImportingServers;
beforeAll(async () => {
  servers = await openImporting();
});
afterAll(() => servers.close());

type Given = Readonly<Record<string, unknown>>;

const newId = () => `imported-${crypto.randomUUID()}`;
const service = (more: Given = {}): Given => ({
  client_id: newId(),
  client_name: 'Robot',
  grant_types: ['client_credentials'],
  scope: 'notes:read',
  client_secret: 'x'.repeat(20),
  ...more,
});
const web = (more: Given = {}): Given => ({
  client_id: newId(),
  client_name: 'Web',
  redirect_uris: ['https://client.example/cb'],
  scope: 'notes:read',
  client_secret: 'x'.repeat(20),
  ...more,
});

/** Imports one record, and returns what the operator and the store then know. */
async function take(record: unknown, section: ServerOptions['section'] = {}) {
  const { importing, clients } = servers.serverWith({ section });
  const { written, clients: told } = await importing.clients([record]);
  const { outcome, problem, changes, clientId } = told[0] ?? {};
  const client = written && typeof clientId === 'string' ? await clients.find(clientId) : null;
  return { written, outcome, problem, changes, clientId, client };
}
const problemOf = async (record: unknown, section: ServerOptions['section'] = {}) =>
  (await take(record, section)).problem;
const accepted = (changes: readonly string[], client: object = {}) => ({
  outcome: 'imported',
  problem: null,
  changes,
  client,
});

describe('the imported record of a client', () => {
  test.each([
    [1_700_000_000, 1_700_000_000_000],
    [1_700_000_000.1234, 1_700_000_000_123],
    [NOW_IN_SECONDS, NOW_IN_SECONDS * 1000],
    [1_900_000_000, null],
    [-5, null],
    [0, null],
    ['1700000000', null],
    ['2023-11-14T22:13:20Z', null],
  ])(
    'keeps a past registration date in milliseconds, and ignores any other: %j',
    (at, createdAt) => {
      const record = { client_id: 'one', client_name: 'One', client_id_issued_at: at };
      expect(readClientRecord(record, NOW_IN_SECONDS * 1000, OFFERED).createdAt).toBe(createdAt);
    },
  );

  // @shows AS-41.2
  test.each([
    ['null', null],
    ['no value', undefined],
    ['a text', 'client_id'],
    ['a number', 7],
    ['a list', [{}]],
  ])('is refused if it is not an object: %s', async (_, given) => {
    expect(await take(given)).toMatchObject({
      written: false,
      outcome: 'refused',
      problem: 'the record is not a JSON object',
      clientId: null,
    });
  });

  // @shows AS-41.2
  test.each([
    ['missing', undefined, 'client_id must have 1 to 255 printable ASCII characters'],
    ['a number', 7, 'client_id must be a string'],
    ['with a space at its beginning', ' one', 'client_id must have 1 to 255'],
    ['with a space at its end', 'one ', 'client_id must have 1 to 255'],
    ['outside ASCII', 'é', 'client_id must have 1 to 255'],
    ['of 256 characters', 'x'.repeat(256), 'client_id must have 1 to 255'],
  ])('is refused if its id is %s, and the report contains no id', async (_, id, problem) => {
    const { clientId, problem: told } = await take(service({ client_id: id }));
    expect([clientId, told]).toEqual([null, expect.stringContaining(problem) as string]);
  });

  // @shows AS-41.1
  test('may have an id of 255 characters', async () => {
    const id = newId().padEnd(255, '~');
    expect(await take(service({ client_id: id }))).toMatchObject({
      clientId: id,
      ...accepted([], { id }),
    });
  });

  // @shows AS-41.2
  test('may have an unknown field if the field is empty', async () => {
    for (const empty of [null, '', false, 0, []]) {
      const record = service({ tls_client_auth_subject_dn: empty, logo_uri: empty });
      expect(await take(record)).toMatchObject(accepted([]));
    }
    expect(await problemOf(service({ tls_client_auth_subject_dn: ['x'] }))).toContain(
      'unknown fields: "tls_client_auth_subject_dn"; if the client does not need them, remove',
    );
  });

  // @shows AS-41.2
  test('has every RFC 7591 field either imported, or skipped and reported', async () => {
    const read = {
      application_type: 'web',
      client_id_issued_at: 1_700_000_000,
      client_secret_expires_at: NOW_IN_SECONDS + 1,
      grant_types: ['authorization_code'],
      id_token_signed_response_alg: 'RS256',
      response_types: ['code'],
      subject_type: 'public',
      token_endpoint_auth_method: 'client_secret_post',
      token_endpoint_auth_signing_alg: 'ES256',
    };
    const leftOut = {
      backchannel_logout_session_required: true,
      backchannel_logout_uri: 'https://client.example/out',
      client_uri: 'https://client.example/',
      contacts: ['ada@client.example'],
      frontchannel_logout_session_required: true,
      frontchannel_logout_uri: 'https://client.example/out',
      initiate_login_uri: 'https://client.example/in',
      logo_uri: 'https://client.example/logo.png',
      policy_uri: 'https://client.example/policy',
      post_logout_redirect_uris: ['https://client.example/bye'],
      software_id: 'web',
      software_version: '1',
      tos_uri: 'https://client.example/terms',
    };
    expect(await take(web({ ...read, ...leftOut }))).toMatchObject(
      accepted(
        [
          'not imported (use oauth:client:update to add values that Portico supports): ' +
            Object.keys(leftOut).join(', '),
          'client_secret_expires_at is not imported, because imported secrets do not expire',
        ],
        { createdAt: 1_700_000_000_000, idTokenSignedResponseAlg: 'RS256' },
      ),
    );
  });

  // @shows AS-41.2
  test('cannot make the client first-party', async () => {
    expect(await problemOf(web({ first_party: true }), { remember_consent: true })).toContain(
      'unknown fields: "first_party"',
    );
  });

  // @shows AS-41.2
  test.each([
    ['a name that is not text', { client_name: 7 }, 'client_name must be a string'],
    ['no name', { client_name: null }, 'client_name is missing'],
    ['an undefined name', { client_name: undefined }, 'The client needs a name'],
    ['a scope that is not text', { scope: ['notes:read', 7] }, 'scope must be a list of strings'],
    ['a scope in incomplete JSON', { scope: '["notes:read"' }, 'scope must be a list of strings'],
    ['no scope', { scope: undefined }, 'scope'],
    ['no grants', { grant_types: undefined }, 'grant_types is empty'],
    [
      'an expiry date of the secret as text',
      { client_secret_expires_at: '1900000000' },
      'client_secret_expires_at must be a number of seconds',
    ],
    [
      'a secret that expires now',
      { client_secret_expires_at: NOW_IN_SECONDS },
      'remove the secret and client_secret_expires_at, and use --new-secrets',
    ],
    [
      'an unknown type',
      { application_type: 'desktop' },
      'The application type "desktop" is unknown',
    ],
    ['pairwise subjects', { subject_type: 'pairwise' }, 'subject_type must be public'],
  ])('is refused: %s', async (_, more, problem) => {
    const told = await take(service(more));
    expect(told).toMatchObject({ written: false, outcome: 'refused', changes: [] });
    expect(told.problem).toContain(problem);
    expect(told.problem).not.toContain('Stryker');
  });
});

describe('a list in an imported record', () => {
  // @shows AS-41.2
  test.each([
    ['a list', ['notes:read', 'notes:write']],
    ['words in one text', 'notes:read notes:write'],
    ['words with more white space', '  notes:read \n\t notes:write '],
    ['JSON in a text', '["notes:read", "notes:write"]'],
    ['JSON after white space', ' \n["notes:read","notes:write"] '],
  ])('may be %s', async (_, scope) => {
    expect(await take(service({ scope }))).toMatchObject(
      accepted([], { scopes: ['notes:read', 'notes:write'] }),
    );
  });

  // @shows AS-41.2
  test('may be a string for grants and redirect URIs too', async () => {
    const given = { redirect_uris: 'https://a.example/cb\nhttps://b.example/cb' };
    expect(
      await take(web({ ...given, grant_types: 'refresh_token authorization_code' })),
    ).toMatchObject(
      accepted([], {
        redirectUris: ['https://a.example/cb', 'https://b.example/cb'],
        grants: ['authorization_code', 'refresh_token'],
      }),
    );
  });
});

describe('the grants and redirect URIs of an imported client', () => {
  // @shows AS-41.2
  test('default to those of a web application if grant_types is missing', async () => {
    expect(await take(web())).toMatchObject(
      accepted([], {
        grants: ['authorization_code'],
        redirectUris: ['https://client.example/cb'],
        public: false,
        applicationType: 'web',
      }),
    );
  });

  // @shows AS-41.2
  test('exclude values that the server does not support, which are reported', async () => {
    const record = service({
      grant_types: ['client_credentials', 'implicit'],
      response_types: ['code', 'token'],
      redirect_uris: ['https://client.example/cb'],
    });
    expect(await take(record)).toMatchObject(
      accepted(
        [
          'grant_types not imported, because this server does not offer them: "implicit"',
          'response_types not imported, because this server does not offer them: "token"',
          'redirect_uris are not imported, because none of the grants uses them',
        ],
        { grants: ['client_credentials'], redirectUris: [] },
      ),
    );
  });

  // @shows AS-41.2
  test('make a client with a loopback address native, unless its record names a type', async () => {
    const loopback = { redirect_uris: ['http://127.0.0.1/cb'] };
    expect(await take(web(loopback))).toMatchObject(
      accepted(
        [
          'imported as a native application, because it has a redirect URI on loopback or with a ' +
            'private-use scheme',
        ],
        { applicationType: 'native' },
      ),
    );
    for (const about of [loopback, {}]) {
      expect(await take(web({ ...about, application_type: 'native' }))).toMatchObject(
        accepted([], { applicationType: 'native' }),
      );
    }
    expect(await take(web({ ...loopback, application_type: 'web' }))).toMatchObject(
      accepted([], { applicationType: 'web' }),
    );
  });
});

describe('the authentication of an imported client', () => {
  const isPublic = { token_endpoint_auth_method: 'none', client_secret: undefined };
  const noSecret = 'the secret is not imported, because token_endpoint_auth_method is none';

  // @shows AS-41.2
  test.each([
    ['no secret and no keys', {}, []],
    ['a secret', { client_secret: 'short' }, [noSecret]],
    ['a hash', { client_secret_hash: 'md5:0' }, [noSecret]],
    ['a secret that has expired', { client_secret_expires_at: 1 }, []],
    [
      'keys',
      { jwks: { keys: [] } },
      ['the keys are not imported, because token_endpoint_auth_method is none'],
    ],
    [
      'a URL for keys',
      { jwks_uri: 'https://client.example/keys' },
      ['the keys are not imported, because token_endpoint_auth_method is none'],
    ],
  ])(
    'is none for a public client, whatever else its record contains: %s',
    async (_, more, changes) => {
      expect(await take(web({ ...isPublic, ...more }))).toMatchObject(
        accepted(changes, { public: true, secretHash: null, keys: null }),
      );
    },
  );

  // @shows AS-41.3
  test('is a secret, which the record must contain unless newSecrets creates one', async () => {
    const record = service({ client_secret: undefined });
    expect(await problemOf(record)).toBe(
      'client_secret and client_secret_hash are missing; add one of them, or use --new-secrets',
    );
    const { importing, clients } = servers.serverWith();
    const dry = await importing.clients([record], { newSecrets: true, dryRun: true });
    expect(dry.clients).toMatchObject([{ outcome: 'imported', secret: null }]);
    const { clients: told } = await importing.clients([record], { newSecrets: true });
    expect(told[0]?.secret).toMatch(/^[\w-]{43}$/);
    const { secretHash } = (await clients.find(String(record['client_id']))) ?? {};
    expect(secretHash).toBe(`hash of ${told[0]?.secret}`);
    const again = await importing.clients([record], { newSecrets: true });
    expect(again.clients).toMatchObject([{ outcome: 'unchanged', secret: null }]);
  });

  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  };
  const on = { private_key_jwt: true } as const;
  const keyed = (more: Given) =>
    service({ token_endpoint_auth_method: 'private_key_jwt', client_secret: undefined, ...more });
  const jwks = { keys: [jwk] };
  const address = 'https://client.example/keys';
  const kept = (keys: object) => accepted([], { public: false, secretHash: null, keys });
  const stored = expect.stringContaining(jwk.x) as string;

  // @shows AS-41.2
  test.each([
    ['keys', { jwks }, { jwks: stored, jwksUri: null, algorithm: null }],
    ['keys as text', { jwks: JSON.stringify(jwks) }, { jwks: stored, jwksUri: null }],
    [
      'the address of its keys',
      { jwks_uri: address },
      { jwks: null, jwksUri: address, algorithm: null },
    ],
    [
      'keys and their algorithm',
      { jwks, token_endpoint_auth_signing_alg: 'ES256' },
      { jwks: stored, algorithm: 'ES256' },
    ],
  ])('is a key without a secret, if the server accepts keys: %s', async (_, more, keys) => {
    expect(await take(keyed(more), on)).toMatchObject(kept(keys));
  });

  // @shows AS-41.2
  test('is a key even if the record also has a secret, which is reported', async () => {
    expect(await take(keyed({ jwks, client_secret: 'x'.repeat(20) }), on)).toMatchObject({
      ...kept({ jwks: stored }),
      changes: [
        'the secret is not imported, because token_endpoint_auth_method is private_key_jwt',
      ],
    });
  });

  // @shows AS-41.2
  test.each([
    ['no key', {}],
    ['only an algorithm', { token_endpoint_auth_signing_alg: 'ES256' }],
  ])('cannot be a key if the record contains no key: %s', async (_, more) => {
    expect(await problemOf(keyed(more), on)).toContain('needs its public keys');
  });

  // @shows AS-41.2
  test.each([
    ['keys that are not JSON', { jwks: '{"keys":' }, 'The jwks must be a JSON object'],
    ['both keys and a URL for keys', { jwks, jwks_uri: address }, 'both jwks and jwks_uri'],
    ['an unknown algorithm', { jwks, token_endpoint_auth_signing_alg: 'HS256' }, 'must be one of'],
    ['a URL that is not text', { jwks_uri: 7 }, 'jwks_uri must be a string'],
  ])('is refused: %s', async (_, more, problem) => {
    expect(await problemOf(keyed(more), on)).toContain(problem);
  });
});

describe('a boolean field of an imported record', () => {
  const on = { dpop: 'accept' } as const;

  // @shows AS-41.2
  test.each([true, 1])('is set by %j', async (value) => {
    expect(await take(service({ dpop_bound_access_tokens: value }), on)).toMatchObject(
      accepted([], { dpopBoundAccessTokens: true }),
    );
  });

  // @shows AS-41.2
  test.each(['true', 2, {}])('is refused as %j', async (value) => {
    expect(await problemOf(service({ dpop_bound_access_tokens: value }), on)).toBe(
      'dpop_bound_access_tokens must be true or false',
    );
  });

  // @shows AS-41.5
  test('is compared with that of the client that already exists', async () => {
    const record = service();
    expect(await take(record, on)).toMatchObject(accepted([], { dpopBoundAccessTokens: false }));
    expect(await problemOf({ ...record, dpop_bound_access_tokens: true }, on)).toContain(
      'with a different dpop_bound_access_tokens; to change it, use oauth:client:update',
    );
  });
});

describe('the fields that features add to an imported record', () => {
  const on = { logout: true, back_channel_logout: true };

  // @shows AS-41.2
  test('accept lists, strings and booleans, and stay unset if the record has none', async () => {
    const { clients } = servers.serverWith({ section: on });
    const of = async (record: Given) => (await clients.show(String(record['client_id']))).metadata;
    const bare = web();
    expect(await take(bare, on)).toMatchObject(accepted([]));
    expect(await of(bare)).toEqual({});
    const full = web({
      post_logout_redirect_uris: '["https://client.example/bye"]',
      backchannel_logout_uri: 'https://client.example/out',
      backchannel_logout_session_required: 1,
    });
    expect(await take(full, on)).toMatchObject(accepted([]));
    expect(await of(full)).toEqual({
      post_logout_redirect_uris: ['https://client.example/bye'],
      backchannel_logout_uri: ['https://client.example/out'],
      backchannel_logout_session_required: ['true'],
    });
  });

  // @shows AS-41.2
  test('may be present without a value', async () => {
    const record = web({
      post_logout_redirect_uris: undefined,
      backchannel_logout_session_required: undefined,
    });
    expect(await take(record, on)).toMatchObject(accepted([]));
    const { clients } = servers.serverWith({ section: on });
    expect((await clients.show(String(record['client_id']))).metadata).toEqual({});
    expect(await problemOf(web({ backchannel_logout_uri: undefined }), on)).toContain(
      'The back-channel logout URI "" is not a URL',
    );
  });

  // @shows AS-41.5
  test('have the same result for an empty list as for a missing field', async () => {
    const record = web({ post_logout_redirect_uris: '[]' });
    expect(await take(record, on)).toMatchObject(accepted([]));
    expect(await take(record, on)).toMatchObject({ outcome: 'unchanged', problem: null });
  });
});
