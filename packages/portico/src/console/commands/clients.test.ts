import { describe, expect, test, vi } from 'vitest';
import { storedClient } from '../../../../../test/support/stored-client.ts';
import type { ShownClient } from '../../clients/describing.ts';
import { RegistrationError } from '../../errors.ts';
import type { Client } from '../../store/client.ts';
import type { ClientDemand } from '../../store/client-demands.ts';
import type { MetadataField } from '../../store/further-metadata.ts';
import { addClientCreate, type ClientChoices } from './client-create.ts';
import { addClientList } from './client-list.ts';
import { clientMetadata } from './client-metadata.ts';
import { addClientRevoke } from './client-revoke.ts';
import { addClientRotateSecret } from './client-rotate-secret.ts';
import { addClientShow } from './client-show.ts';
import { addClientUnblock } from './client-unblock.ts';
import { addClientUpdate } from './client-update.ts';
import { runCommand } from './run-command.fixture.ts';

const BY = { by: 'console' };
const CREATED = Date.UTC(2026, 0, 1);
const LATER = Date.UTC(2026, 0, 2, 0, 0, 1, 999);
const demand = (field: string, metadata: string, flag: string) => ({
  field,
  metadata,
  isMet: true,
  option: { flag, says: '' },
  shown: { what: 'tokens', as: `with ${field}`, inFull: `only with ${field}` },
});
const DEMANDS = [
  demand('dpopBoundAccessTokens', 'dpop_bound_access_tokens', '--dpop'),
  demand('pushesRequests', 'require_pushed_authorization_requests', '--par'),
] as unknown as readonly ClientDemand[];
const FIELDS = [
  { name: 'uris', called: 'URI', option: { flag: '--uri <uri>', says: '' } },
  {
    name: 'trusted',
    called: 'trusted',
    shape: 'flag',
    selfRegistered: 'never',
    option: { flag: '--trusted', says: '' },
  },
] as unknown as readonly MetadataField[];
const CHOICES = {
  demands: DEMANDS,
  fields: FIELDS,
  profiles: [{ name: 'fapi2', says: '' }],
  algorithms: ['RS256'],
} as unknown as ClientChoices;
const KEYS = { jwks: '{"keys":[]}', jwksUri: null, algorithm: null };
const WORKLOAD = { ...KEYS, jwks: null, workload: { issuer: 'https://idp.example', subject: 'a' } };
const client = (changes: Partial<Client> = {}) => storedClient('id', CREATED, changes);

/** A server whose method of `clients` answers with this value, or rejects with this error. */
function answering(method: string, answer: unknown, more: object = {}) {
  const asked: unknown[] = [];
  const clients = {
    async [method](...given: unknown[]) {
      asked.push(given);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { asked, server: { clients, demands: DEMANDS, ...more } };
}

describe('oauth:client:create', () => {
  async function created(
    {
      client: made = client(),
      secret = 'the secret',
      problems = [],
    }: {
      readonly client?: Client;
      readonly secret?: string | null;
      readonly problems?: readonly string[];
    },
    ...options: string[]
  ) {
    const clientKeyProblems = async () => problems;
    const { asked, server } = answering('create', { client: made, secret }, { clientKeyProblems });
    const add = addClientCreate(CHOICES);
    return {
      ...(await runCommand(add, server, 'oauth:client:create', 'My app', ...options)),
      asked,
    };
  }
  const NOTHING = {
    name: 'My app',
    redirectUris: [],
    scopes: [],
    grants: [],
    public: false,
    applicationType: 'web',
    allowedSchemes: [],
  };

  test('passes only what was chosen', async () => {
    const { asked } = await created({});
    expect(asked).toEqual([[expect.objectContaining(NOTHING), BY]]);
    const [[given]] = asked as [[object]];
    for (const name of ['profile', 'siteUri', 'idTokenSignedResponseAlg', 'metadata', 'logo'])
      expect(given).not.toHaveProperty(name);
    expect(given).not.toMatchObject({ dpopBoundAccessTokens: true });
  });

  test('passes each option', async () => {
    const { asked, noted } = await created(
      {},
      '--redirect=https://a.example',
      '--redirect=https://b.example',
      '--scope=openid,notes:read',
      '--grant=authorization_code',
      '--public',
      '--native',
      '--allow-scheme=cursor',
      '--dpop',
      '--par',
      '--uri=https://c.example',
      '--trusted',
      '--profile=fapi2',
      '--site=https://site.example',
      '--logo=https://site.example/logo.png',
      '--id-token-alg=ES256',
      '--jwks=https://site.example/keys',
      '--jwks-alg=EdDSA',
      '--workload=https://idp.example',
      '--subject=a',
    );
    expect(asked).toEqual([
      [
        {
          name: 'My app',
          redirectUris: ['https://a.example', 'https://b.example'],
          scopes: ['openid', 'notes:read'],
          grants: ['authorization_code'],
          public: true,
          applicationType: 'native',
          allowedSchemes: ['cursor'],
          dpopBoundAccessTokens: true,
          requirePushedAuthorizationRequests: true,
          metadata: { uris: ['https://c.example'], trusted: ['true'] },
          profile: 'fapi2',
          siteUri: 'https://site.example',
          logoUri: 'https://site.example/logo.png',
          idTokenSignedResponseAlg: 'ES256',
          jwksUri: 'https://site.example/keys',
          tokenEndpointAuthSigningAlg: 'EdDSA',
          workload: { issuer: 'https://idp.example', subject: 'a' },
        },
        BY,
      ],
    ]);
    expect(noted[0]).toMatch(/^Warning: any program on the device can register cursor: and/);
  });

  test.each([
    [['--workload=a'], 'Use --workload and --subject together'],
    [['--logo=/missing.png'], 'The logo /missing.png cannot be read'],
    [['--jwks=/missing.json'], 'The key set /missing.json cannot be read'],
  ])('refuses %j before it registers a client', async (options, says) => {
    expect(await created({}, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      asked: [],
    });
  });

  test('prints the id and the secret, or how the client authenticates without one', async () => {
    expect(await created({})).toMatchObject({
      printed: ['client id:     id', 'client secret: the secret'],
      noted: ['Copy the secret now. It is not shown again: only its hash is stored.'],
    });
    const none = { secret: null };
    const isPublic = client({ public: true });
    expect(await created({ ...none, client: isPublic })).toMatchObject({
      printed: ['client id:     id'],
      noted: ['This client is public: it has no secret and uses PKCE.'],
    });
    const withoutCode = client({ public: true, grants: ['urn:other'] });
    expect((await created({ ...none, client: withoutCode })).noted).toEqual([
      'This client is public: it has no secret.',
    ]);
    const keyed = client({ keys: KEYS });
    const byKeys = 'This client has no secret. It authenticates with its keys (private_key_jwt).';
    expect(await created({ ...none, client: keyed })).toMatchObject({
      printed: ['client id:     id'],
      noted: [byKeys],
    });
    expect((await created({ ...none, client: keyed, problems: ['a', 'b'] })).noted).toEqual([
      byKeys,
      'Warning: some keys cannot be used: a; b.',
    ]);
    const workload = { ...none, client: client({ keys: WORKLOAD }), problems: ['a'] };
    expect(await created(workload)).toMatchObject({
      printed: ['client id:     id'],
      noted: ["This client has no secret. It authenticates with its workload's token."],
    });
  });

  test('with --json prints only JSON', async () => {
    const { printed, noted } = await created({}, '--json', '--uri=a', '--trusted');
    expect(printed).toEqual([
      {
        ...clientMetadata(client(), DEMANDS),
        uris: ['a'],
        trusted: true,
        client_secret: 'the secret',
        client_secret_expires_at: 0,
      },
    ]);
    expect(noted).toEqual([]);
    const [without] = (await created({ secret: null }, '--json')).printed;
    expect(without).toEqual(clientMetadata(client(), DEMANDS));
  });
});

describe('oauth:client:update', () => {
  async function updated(answer: unknown, ...options: string[]) {
    const { asked, server } = answering('update', answer);
    const add = addClientUpdate(CHOICES);
    return { ...(await runCommand(add, server, 'oauth:client:update', 'id', ...options)), asked };
  }
  const SAME = { client: client(), changes: {} };

  test('passes each option', async () => {
    const { asked, noted } = await updated(
      SAME,
      '--name=New',
      '--add-redirect-uri=https://a.example',
      '--remove-redirect-uri=https://b.example',
      '--allow-scheme=cursor',
      '--add-scope=a,b',
      '--remove-scope=c',
      '--add-grant=refresh_token',
      '--remove-grant=client_credentials',
      '--site=https://site.example',
      '--logo=https://site.example/logo.png',
      '--jwks=https://site.example/keys',
      '--jwks-alg=EdDSA',
      '--uri=',
      '--no-trusted',
    );
    expect(asked).toEqual([
      [
        'id',
        {
          name: 'New',
          addRedirectUris: ['https://a.example'],
          removeRedirectUris: ['https://b.example'],
          allowedSchemes: ['cursor'],
          addScopes: ['a', 'b'],
          removeScopes: ['c'],
          addGrants: ['refresh_token'],
          removeGrants: ['client_credentials'],
          siteUri: 'https://site.example',
          logoUri: 'https://site.example/logo.png',
          jwksUri: 'https://site.example/keys',
          tokenEndpointAuthSigningAlg: 'EdDSA',
          metadata: { uris: [], trusted: [] },
        },
        BY,
      ],
    ]);
    expect(noted[0]).toMatch(/register cursor: and/);
    for (const [option, changes] of [
      ['--remove-site', { siteUri: null }],
      ['--remove-logo', { logo: null }],
      ['--name=New', { name: 'New' }],
    ] as const)
      expect((await updated(SAME, option)).asked).toEqual([['id', changes, BY]]);
  });

  test.each([
    [[], 'No changes given. Add an option such as --name or --remove-scope; see --help'],
    [['--json'], 'No changes given'],
    [['--jwks=/missing.json'], 'The key set /missing.json cannot be read'],
    [['--logo=/missing.png'], 'The logo /missing.png cannot be read'],
  ])('refuses the options %j', async (options, says) => {
    expect(await updated(SAME, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      printed: [],
      asked: [],
    });
  });

  test('ends with the reason if the change is refused', async () => {
    expect(await updated(new RegistrationError('It is revoked'), '--name=a')).toMatchObject({
      failed: 'It is revoked',
      printed: [],
    });
  });

  test('prints each value before and after', async () => {
    const changes = {
      client_name: { before: 'Old', after: 'New "app"' },
      redirect_uris: { before: ['a', 'b'], after: [] },
      client_uri: { before: null, after: 'https://site.example' },
      grant_types: { before: '', after: ['c'] },
    };
    expect(await updated({ client: client(), changes }, '--name=New')).toMatchObject({
      printed: [
        `Changed the client id:
  client_name: "Old" → "New \\u{22}app\\u{22}"
  redirect_uris: "a", "b" → none
  client_uri: none → "https://site.example"
  grant_types: none → "c"`,
      ],
      noted: [],
    });
    expect(await updated(SAME, '--name=Old')).toMatchObject({
      printed: [],
      noted: ['Nothing was changed: the client id already has these values.'],
    });
  });

  test('with --json prints the client and the changes', async () => {
    const changes = { client_name: { before: 'Old', after: 'New' } };
    const answer = { client: client(), changes };
    expect((await updated(answer, '--name=New', '--uri=a', '--json')).printed).toEqual([
      { ...clientMetadata(client(), DEMANDS), uris: ['a'], changes },
    ]);
    expect((await updated(SAME, '--name=New', '--json')).printed).toEqual([
      { ...clientMetadata(client(), DEMANDS), changes: {} },
    ]);
  });
});

describe('oauth:client:list', () => {
  async function listed(
    clients: readonly Client[],
    {
      marked = {},
      next = null,
      fields = FIELDS,
    }: {
      readonly marked?: Readonly<Record<string, object>> | null;
      readonly next?: string | null;
      readonly fields?: readonly MetadataField[];
    } = {},
    ...options: string[]
  ) {
    const asked: unknown[] = [];
    const server = {
      demands: DEMANDS,
      clients: {
        list: async () => clients,
        async page(page: unknown) {
          asked.push(page);
          return { items: clients, next };
        },
        async metadataOf() {
          if (marked === null) throw new Error('The fields are read');
          return new Map(Object.entries(marked));
        },
      },
    };
    const add = addClientList({ ...CHOICES, fields });
    return { ...(await runCommand(add, server, 'oauth:client:list', ...options)), asked };
  }

  test('shows what each client may do', async () => {
    const until = Date.now() + 3_600_000;
    const { printed, noted } = await listed(
      [
        client(),
        storedClient('full', CREATED, {
          public: true,
          applicationType: 'native',
          scopes: [],
          grants: ['client_credentials'],
          idTokenSignedResponseAlg: 'ES256',
          keys: KEYS,
          dpopBoundAccessTokens: true,
          profile: 'fapi2',
          previousSecretExpiresAt: until,
          redirectUris: ['https://a.example', 'https://b.example'],
        }),
      ],
      { marked: { full: { trusted: ['true'], uris: ['a'] } } },
    );
    expect(noted).toEqual([]);
    expect(printed).toEqual([
      `id  An application  (confidential)
  grants     authorization_code, refresh_token
  scopes     openid, notes:read
  redirect   https://client.example/cb

full  An application  (public, native, trusted)
  grants     client_credentials
  ID tokens  ES256
  keys       stored by the server (private_key_jwt)
  tokens     with dpopBoundAccessTokens
  profile    fapi2
  rotation   open: the previous secret is accepted until ${new Date(until).toISOString()}
  redirect   https://a.example
  redirect   https://b.example`,
    ]);
  });

  test.each([
    [{ registeredBy: 'registration' }, '"An application"  (confidential, registered itself)'],
    [{ registeredBy: 'document' }, '"An application"  (confidential, a document)'],
    [{ registeredBy: 'document', revokedAt: 1 }, '(confidential, a document, blocked)'],
    [{ revokedAt: 1 }, 'An application  (confidential, revoked)'],
    [{ name: 'a\nb', registeredBy: 'registration' }, String.raw`id  "a\u{a}b"  (`],
  ] as const)('shows who registered %j, and whether it is revoked', async (changes, says) => {
    expect((await listed([client(changes)])).printed[0]).toContain(says);
  });

  test.each([
    [{ ...KEYS, algorithm: 'ES256' }, 'keys       stored by the server (private_key_jwt, ES256)'],
    [
      { ...KEYS, jwksUri: 'https://a.example/keys' },
      'keys       https://a.example/keys (private_key_jwt)',
    ],
    [WORKLOAD, 'workload   a of https://idp.example'],
  ] as const)('shows the keys %j', async (keys, says) => {
    expect((await listed([client({ keys })])).printed[0]).toContain(`\n  ${says}\n`);
  });

  test('shows an open rotation until it ends, to the millisecond', async () => {
    vi.useFakeTimers({ now: CREATED, toFake: ['Date'] });
    try {
      const rotating = (until: number, changes = {}) =>
        listed([client({ previousSecretExpiresAt: until, ...changes })]);
      expect((await rotating(CREATED + 1)).printed[0]).toContain('rotation   open');
      expect((await rotating(CREATED)).printed[0]).not.toContain('rotation');
      expect((await rotating(CREATED + 1, { revokedAt: 1 })).printed).toEqual([
        expect.stringMatching(/scopes {5}openid, notes:read\n {2}redirect {3}\S+$/),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('says that there is no client, or no more', async () => {
    expect(await listed([])).toMatchObject({
      printed: [],
      noted: ['No application is registered. To register one, see oauth:client:create --help.'],
    });
    expect(await listed([], {}, '--after=x')).toMatchObject({
      printed: [],
      noted: ['There are no more applications.'],
    });
  });

  test('prints pages', async () => {
    expect(await listed([client()], { next: 'id' }, '--limit=1')).toMatchObject({
      printed: [expect.stringMatching(/^id {2}/)],
      noted: ['There are more. Continue with --after id'],
      asked: [{ limit: 1 }],
    });
    expect(await listed([client(), client()], {}, '--after=x')).toMatchObject({
      printed: [expect.stringMatching(/^id {2}[^]*\n\nid {2}/)],
      noted: [],
      asked: [{ after: 'x' }],
    });
    expect((await listed([client()], { next: 'id' }, '--limit=1', '--json')).printed).toEqual([
      { items: [{ ...clientMetadata(client(), DEMANDS) }], next: 'id' },
    ]);
  });

  test('with --json prints a list, with the marks that only an operator can set', async () => {
    const marked = { id: { trusted: ['true'], uris: ['a'] } };
    expect((await listed([client(), storedClient('b', 1)], { marked }, '--json')).printed).toEqual([
      [
        { ...clientMetadata(client(), DEMANDS), trusted: true },
        clientMetadata(storedClient('b', 1), DEMANDS),
      ],
    ]);
    expect((await listed([], {}, '--json')).printed).toEqual([[]]);
    const fields = FIELDS.slice(0, 1);
    expect((await listed([client()], { fields, marked: null }, '--json')).printed).toEqual([
      [clientMetadata(client(), DEMANDS)],
    ]);
    const lists = [{ name: 'tags', called: 'tag', selfRegistered: 'never' }] as never;
    expect((await listed([client()], { fields: lists }, '--json')).printed).toEqual([
      [{ ...clientMetadata(client(), DEMANDS), tags: [] }],
    ]);
  });
});

describe('oauth:client:show', () => {
  const SHOWN: ShownClient = {
    client: client(),
    status: 'active',
    keys: [],
    secret: { previousAcceptedUntil: null },
    scopesNotOffered: [],
    refusal: null,
    metadata: {},
  };
  async function shown(changes: Partial<ShownClient>, ...options: string[]) {
    const { asked, server } = answering('show', { ...SHOWN, ...changes });
    const add = addClientShow(CHOICES);
    const said = await runCommand(add, server, 'oauth:client:show', 'id', ...options);
    expect(asked).toEqual([['id']]);
    expect(said.noted).toEqual([]);
    return said.printed;
  }

  test('shows all that is stored', async () => {
    expect(await shown({})).toEqual([
      `id  An application  (confidential)
  status         active
  registered     2026-01-01T00:00:00.000Z by an operator
  last used      not recorded for applications that an operator registered
  grants         authorization_code, refresh_token
  scopes         openid, notes:read
  redirect       https://client.example/cb
  authenticates  by its secret; no previous secret is accepted
  ID tokens      RS256`,
    ]);
    const full = await shown({
      client: client({
        scopes: ['notes:read', 'old', 'openid'],
        dpopBoundAccessTokens: true,
        profile: 'fapi2',
        revokedAt: LATER,
      }),
      status: 'revoked',
      refusal: 'it lacks a key',
      scopesNotOffered: ['old'],
      metadata: { uris: ['a', 'b'], trusted: ['true'] },
      secret: { previousAcceptedUntil: LATER },
    });
    expect(full).toEqual([
      `id  An application  (confidential, revoked, trusted)
  status         revoked, but cannot get tokens now: it lacks a key
  registered     2026-01-01T00:00:00.000Z by an operator
  last used      not recorded for applications that an operator registered
  ended          2026-01-02T00:00:01.999Z
  grants         authorization_code, refresh_token
  scopes         notes:read, old (no longer offered), openid
  redirect       https://client.example/cb
  authenticates  by its secret; the previous secret is accepted until 2026-01-02T00:00:01.999Z
  ID tokens      RS256
  tokens         only with dpopBoundAccessTokens
  profile        fapi2
  uris           a
  uris           b`,
    ]);
    expect((await shown({ client: client({ scopes: ['notes:read'] }) }))[0]).not.toContain(
      'ID tok',
    );
  });

  test.each([
    ['registration', null, 'registered     2026-01-01T00:00:00.000Z by the application itself'],
    ['document', null, 'by the document at its id; its information is not verified'],
    ['registration', null, 'last used      never'],
    ['document', LATER, 'last used      2026-01-02T00:00:01.999Z (recorded once a day)'],
  ] as const)(
    'shows who registered it (%s) and its last use',
    async (registeredBy, usedAt, says) => {
      expect((await shown({ client: client({ registeredBy, usedAt }) }))[0]).toContain(says);
    },
  );

  test.each<[what: string, changes: Partial<Client>, secret: ShownClient['secret'], says: string]>([
    [
      'a workload',
      { keys: WORKLOAD },
      null,
      'as the workload a, with tokens from https://idp.example',
    ],
    ['stored keys', { keys: KEYS }, null, 'by its keys, stored by the server (private_key_jwt)'],
    [
      'keys with one algorithm',
      { keys: { ...KEYS, algorithm: 'ES256' } },
      null,
      'by its keys, stored by the server (private_key_jwt), only with ES256',
    ],
    [
      'keys at a URL',
      { keys: { ...KEYS, jwksUri: 'https://a.example' } },
      null,
      'by the keys that it publishes at https://a.example (private_key_jwt)',
    ],
    [
      'nothing',
      { public: true },
      null,
      'without a secret or key: it is a public client, protected by PKCE',
    ],
    [
      'a secret that expires',
      { secretExpiresAt: CREATED },
      { previousAcceptedUntil: null },
      'by its secret, which expires at 2026-01-01T00:00:00.000Z; no previous secret is accepted',
    ],
  ])('shows a client that authenticates with %s', async (_, changes, secret, says) => {
    expect((await shown({ client: client(changes), secret }))[0]).toContain(
      `\n  authenticates  ${says}\n`,
    );
  });

  test('shows each key, and quotes the id that the client chose', async () => {
    const [text] = await shown({
      keys: [
        { kid: null, kty: 'RSA', alg: null, thumbprint: 'x' },
        { kid: 'a"', kty: 'EC', alg: 'ES256', thumbprint: 'y' },
      ],
    });
    expect(text).toContain(
      '\n  key            without a kid, RSA, thumbprint x' +
        '\n  key            "a\\u{22}", EC, ES256, thumbprint y\n',
    );
  });

  test('with --json prints times in seconds', async () => {
    const given = client({ usedAt: LATER });
    const keys = [{ kid: null, kty: 'RSA', alg: null, thumbprint: 'x' }];
    const [printed] = await shown(
      {
        client: given,
        keys,
        refusal: 'a reason',
        scopesNotOffered: ['old'],
        metadata: { uris: ['a'] },
        secret: { previousAcceptedUntil: LATER },
      },
      '--json',
    );
    expect(printed).toEqual({
      ...clientMetadata(given, DEMANDS),
      uris: ['a'],
      status: 'active',
      keys,
      previous_secret_expires_at: LATER / 1000 - 0.999,
      scopes_not_offered: ['old'],
      refused_because: 'a reason',
      last_used_at: LATER / 1000 - 0.999,
    });
    const [without] = await shown({ secret: null }, '--json');
    expect(without).toMatchObject({ previous_secret_expires_at: null, last_used_at: null });
  });
});

test('the metadata of a client has the names of RFC 7591, and leaves out defaults', () => {
  expect(clientMetadata(client(), DEMANDS)).toStrictEqual({
    client_id: 'id',
    client_name: 'An application',
    application_type: 'web',
    redirect_uris: ['https://client.example/cb'],
    scope: 'openid notes:read',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_basic',
    registered_by: 'operator',
    client_id_issued_at: CREATED / 1000,
    previous_secret_expires_at: null,
    revoked_at: null,
  });
  const full = client({
    idTokenSignedResponseAlg: 'ES256',
    siteUri: 'https://site.example',
    logoHash: 'hash',
    profile: 'fapi2',
    createdAt: LATER,
    secretExpiresAt: LATER,
    previousSecretExpiresAt: LATER,
    revokedAt: LATER,
  });
  const seconds = LATER / 1000 - 0.999;
  expect(clientMetadata(full, DEMANDS)).toMatchObject({
    id_token_signed_response_alg: 'ES256',
    client_uri: 'https://site.example',
    logo_sha256: 'hash',
    profile: 'fapi2',
    client_id_issued_at: seconds,
    client_secret_expires_at: seconds,
    previous_secret_expires_at: seconds,
    revoked_at: seconds,
  });
});

describe('oauth:client:rotate-secret', () => {
  async function rotated(previousExpiresAt: number | null, ...options: string[]) {
    const answer = { secret: 'new', previousExpiresAt };
    const { asked, server } = answering('rotateSecret', answer);
    const add = addClientRotateSecret;
    return {
      ...(await runCommand(add, server, 'oauth:client:rotate-secret', 'id', ...options)),
      asked,
    };
  }
  const COPY = 'Copy the secret now. It is not shown again: only its hash is stored.';

  test('prints the secret, and until when the previous one is accepted', async () => {
    expect(await rotated(LATER)).toEqual({
      printed: ['client secret: new'],
      noted: [COPY, 'The previous secret is accepted until 2026-01-02T00:00:01.999Z.'],
      failed: null,
      asked: [['id', undefined, BY]],
    });
    expect(await rotated(null, '--now')).toEqual({
      printed: ['client secret: new'],
      noted: [COPY, 'The previous secret is no longer accepted.'],
      failed: null,
      asked: [['id', 0, BY]],
    });
    expect((await rotated(LATER, '--overlap=12h')).asked).toEqual([['id', 43_200, BY]]);
    for (const [until, seconds] of [
      [LATER, LATER / 1000 - 0.999],
      [null, null],
    ] as const)
      expect(await rotated(until, '--json')).toMatchObject({
        printed: [{ client_id: 'id', client_secret: 'new', previous_secret_expires_at: seconds }],
        noted: [],
      });
  });

  test.each([
    [['--now', '--overlap=0'], 'Use either --overlap or --now, not both'],
    [['--overlap=0'], 'With --overlap 0, the application cannot authenticate'],
    [['--overlap=x'], '--overlap must be a duration'],
  ])('refuses %j', async (options, says) => {
    expect(await rotated(LATER, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      printed: [],
      asked: [],
    });
  });
});

describe('oauth:client:revoke', () => {
  async function revoked(id: string, registeredBy: Client['registeredBy'], wasKnown = true) {
    const answer = { client: { registeredBy }, wasKnown };
    const { asked, server } = answering('revoke', answer);
    const said = await runCommand(addClientRevoke, server, 'oauth:client:revoke', id);
    expect(asked).toEqual([[id, BY]]);
    return said;
  }

  test('says what no longer works, and what still does', async () => {
    expect(await revoked('id', 'operator')).toMatchObject({
      printed: ['The client id and all its tokens are revoked.'],
      noted: [],
    });
    expect(await revoked('id', 'registration')).toMatchObject({
      printed: ['The client id, which registered itself, and all its tokens are revoked.'],
      noted: ['It can register again as another client while oauth_server:registration allows it.'],
    });
    const url = 'https://client.example/a.json';
    expect(await revoked(url, 'document')).toMatchObject({
      printed: [
        `The URL ${url} is blocked. People can no longer allow this application. All its tokens ` +
          'are revoked.',
      ],
      noted: [
        'Other documents of client.example are not blocked. To block them too, add the host to ' +
          'oauth_server:client_id_metadata_documents:denied_hosts.',
      ],
    });
    expect((await revoked(url, 'document', false)).printed).toEqual([
      `The URL ${url} is blocked. No person has used it yet. People cannot allow this application.`,
    ]);
  });
});

test('oauth:client:unblock says that earlier access stays revoked', async () => {
  const { asked, server } = answering('unblock', undefined);
  const said = await runCommand(addClientUnblock, server, 'oauth:client:unblock', 'https://a');
  expect(said.printed).toEqual([
    'The URL https://a is no longer blocked. People must allow the application again. Earlier ' +
      'access stays revoked.',
  ]);
  expect(asked).toEqual([['https://a', BY]]);
});

test.each([
  ['oauth:client:show', 'show', addClientShow(CHOICES)],
  ['oauth:client:revoke', 'revoke', addClientRevoke],
  ['oauth:client:unblock', 'unblock', addClientUnblock],
  ['oauth:client:rotate-secret', 'rotateSecret', addClientRotateSecret],
  ['oauth:client:create', 'create', addClientCreate(CHOICES)],
] as const)('%s ends with the reason of a refusal', async (name, method, add) => {
  const { server } = answering(method, new RegistrationError('There is no such client'));
  expect(await runCommand(add, server, name, 'id')).toEqual({
    printed: [],
    noted: [],
    failed: 'There is no such client',
  });
});
