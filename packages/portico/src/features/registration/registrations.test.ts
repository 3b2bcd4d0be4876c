import { NO_FIELDS } from '../../store/no-fields.fixture.ts';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { demands } from '../../store/client-demands.fixture.ts';
import { tokenHash } from '../../crypto.ts';
import {
  BearerError,
  OAuthError,
  RegistrationError,
  TooManyRegistrationsError,
} from '../../errors.ts';
import { ALGORITHMS } from '../../../../../test/support/algorithms.ts';
import { GRANT_TYPES } from '../../../../../test/support/grant-types.ts';
import { profilesWith } from '../../../../../test/support/profiles.ts';
import type { Client, InitialAccessToken } from '../../store/client.ts';
import type { OAuthServerConfig } from '../../config.ts';
import { currentCaller } from '../../http/caller.ts';
import type { KeyRing } from '../../keys/key-ring.ts';
import type { Parts } from '../../feature.ts';
import type { Server } from '../../server.ts';
import { createScopeCatalog } from '../../tokens/scopes.ts';
import { Registrations, type Registered } from './registrations.ts';
import type { ClientRecords } from '../../store/sql/clients.ts';
import type { InitialAccessTokenRecords } from '../../store/sql/initial-access-tokens.ts';
import type {
  NewRegistration,
  RegistrationLimits,
  RegistrationRecords,
  RegistrationRefusal,
} from './records.ts';
import type { Store } from '../../store/store.ts';

const NOW = 1_800_000_000_000;
const SITE = 'https://client.example/callback';
const ADDRESS = '192.0.2.7';
const CODE = ['authorization_code', 'refresh_token'];
const PEOPLE = ['openid', 'profile', 'email', 'notes:read', 'notes:write'];
const KEYS = { keys: [generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })] };
const KEYED = { token_endpoint_auth_method: 'private_key_jwt', jwks: KEYS };

interface Row {
  readonly client: Client;
  readonly tokenHash: string | null;
}

/** Creates a server with a table of clients. Some of them have registered themselves. */
function start(config: Partial<OAuthServerConfig> = {}, parts: Partial<Server> = {}) {
  const rows = new Map<string, Row>();
  const initial = new Map<string, InitialAccessToken>();
  const registered: (readonly [NewRegistration, RegistrationLimits, number])[] = [];
  const events: object[] = [];
  const hashesAsked: string[] = [];
  const state = { now: NOW, refuses: null as RegistrationRefusal | null, meanwhile: () => {} };
  const change = (id: string, changes: Partial<Client>) => {
    const row = rows.get(id);
    if (row !== undefined) rows.set(id, { ...row, client: { ...row.client, ...changes } });
  };
  const server = {
    config: { registration: 'open', ...config },
    takesKeys: () => config.private_key_jwt ?? true,
    grantTypes: () => GRANT_TYPES,
    store: {
      registrations: {
        async registerClient(registration, limits, now) {
          registered.push([registration, limits, now]);
          if (state.refuses !== null) return state.refuses;
          rows.set(registration.client.id, registration);
          return null;
        },
        findRefusal: async () => state.refuses,
        hasInitialToken: async (id) => {
          const row = rows.get(id);
          return row !== undefined && 'initialTokenHash' in row && row.initialTokenHash !== null;
        },
        async findRegistrationHash(id) {
          hashesAsked.push(id);
          return rows.get(id)?.tokenHash ?? null;
        },
        async updateRegistration(client, hash) {
          state.meanwhile();
          const row = rows.get(client.id);
          if (row === undefined || row.tokenHash !== hash || row.client.revokedAt !== null)
            return false;
          const isSame =
            JSON.stringify(row.client.redirectUris) === JSON.stringify(client.redirectUris);
          if (row.client.usedAt !== null && !isSame) return false;
          rows.set(client.id, { ...row, client });
          return true;
        },
      } satisfies Partial<RegistrationRecords>,
      initialAccessTokens: {
        findInitialAccessToken: async (hash) => initial.get(hash) ?? null,
      } satisfies Partial<InitialAccessTokenRecords>,
      clients: {
        async revokeClient(id, now) {
          if (rows.get(id)?.client.revokedAt !== null) return false;
          change(id, { revokedAt: now });
          return true;
        },
        rotateSecret: async () => true,
      } satisfies Partial<ClientRecords>,
    } as unknown as Store,
    scopes: createScopeCatalog({ 'notes:read': 'Read notes', 'notes:write': 'Write notes' }),
    keys: { algorithms: ALGORITHMS, all: async () => [] },
    fetching: { anyPort: false },
    demands: demands(),
    furtherMetadata: NO_FIELDS,
    profiles: profilesWith({ private_key_jwt: true }),
    host: { passwordHasher: { hash: async (secret: string) => `hash of ${secret}` } },
    audit: async (event: object) => void events.push(event),
    clock: () => state.now,
    ...parts,
  } as unknown as Server;
  const registrations = new Registrations(server, {
    clients: { find: async (id: string) => rows.get(id)?.client ?? null },
    secrets: {
      verify: async (client: Client | null, secret: string) =>
        client?.secretHash === `hash of ${Buffer.from(secret).toString()}`,
    },
  } as unknown as Parts);
  /** Registers a client, with an initial access token if the server requires one. */
  const register = (
    sent: object = {},
    token: string | null = null,
    address: string | null = ADDRESS,
  ) =>
    registrations.register({ redirect_uris: [SITE], grant_types: CODE, ...sent }, token, address);
  const replace = async (of: Registered, sent: object = {}, address: string | null = ADDRESS) => {
    const client = rows.get(of.client.id)?.client ?? of.client;
    const all = { client_id: client.id, redirect_uris: [SITE], grant_types: CODE, ...sent };
    return registrations.replace(client, of.registrationAccessToken, all, address);
  };
  const letIn = (token: string, about: Partial<InitialAccessToken> = {}) => {
    initial.set(tokenHash(token), {
      id: 'initial',
      note: '',
      uses: 9,
      usesLeft: 9,
      createdAt: NOW,
      expiresAt: NOW + 1,
      ...about,
    });
    return token;
  };
  const find = (id: string, token: string) => registrations.find(id, token);
  const end = (client: Client) => registrations.end(client);
  const renew = (client: Client, address: string | null) =>
    registrations.renewSecret(client, null, address);
  return {
    find,
    renew,
    end,
    register,
    replace,
    letIn,
    change,
    rows,
    registered,
    events,
    hashesAsked,
    state,
  };
}

async function errorOf(what: Promise<unknown>): Promise<readonly unknown[]> {
  const error: unknown = await what.then(
    () => new Error('It was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof OAuthError) return [error.code, error.message, error.detail];
  if (error instanceof BearerError) return [error.code, error.detail];
  if (error instanceof TooManyRegistrationsError) return [error.of, error.retryAfter];
  throw error;
}
const unusable = (detail: string) => ['invalid_token', detail];

describe('A client that registers itself', () => {
  test('is public, gets a token that is stored as a hash, and records one event', async () => {
    const { register, registered, events } = start();
    const { client, secret, registrationAccessToken } = await register({ client_name: 'A client' });
    expect(client).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'A client',
      redirectUris: [SITE],
      scopes: PEOPLE,
      grants: CODE,
      idTokenSignedResponseAlg: 'RS256',
      public: true,
      applicationType: 'web',
      registeredBy: 'registration',
      keys: null,
      pushesRequests: false,
      dpopBoundAccessTokens: false,
      profile: null,
      secretHash: null,
      secretExpiresAt: null,
      previousSecretHash: null,
      previousSecretExpiresAt: null,
      createdAt: NOW,
      usedAt: null,
      revokedAt: null,
    });
    expect(secret).toBeNull();
    expect(registered).toEqual([
      [
        {
          client,
          tokenHash: tokenHash(registrationAccessToken),
          network: ADDRESS,
          initialTokenHash: null,
        },
        { ofOneNetwork: 60, unused: 10_000, period: 3_600_000 },
        NOW,
      ],
    ]);
    expect(events).toEqual([
      { type: 'client_registered', clientId: client.id, registeredBy: 'registration' },
    ]);
  });

  test('may have an unknown address', async () => {
    const { register, registered } = start();
    await register({}, null, null);
    expect(registered[0]?.[0].network).toBe('');
  });

  test('gets a secret only with an initial access token, and only its hash is stored', async () => {
    const { register, letIn, registered } = start();
    const { client, secret } = await register({}, letIn('let me in'));
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(client).toMatchObject({ public: false, secretHash: `hash of ${secret}` });
    expect(registered[0]?.[0].initialTokenHash).toBe(tokenHash('let me in'));
    const keyed = await register(KEYED, letIn('let me in'));
    expect([keyed.secret, keyed.client.secretHash, keyed.client.public]).toEqual([
      null,
      null,
      false,
    ]);
  });

  test('needs a valid initial access token if that is configured, or if it sends one', async () => {
    const closed = start({ registration: 'initial_access_token' });
    expect(await errorOf(closed.register())).toEqual([
      'missing_token',
      'no initial access token was sent',
    ]);
    for (const made of [closed, start()]) {
      expect(await errorOf(made.register({}, 'x'))).toEqual(
        unusable('the initial access token is unknown'),
      );
      expect(await errorOf(made.register({}, made.letIn('old', { expiresAt: NOW })))).toEqual(
        unusable('the initial access token initial has expired'),
      );
      expect(await errorOf(made.register({}, made.letIn('used', { usesLeft: 0 })))).toEqual(
        unusable('the initial access token initial has been used up'),
      );
      expect(made.registered).toEqual([]);
      expect((await made.register({}, made.letIn('good', { usesLeft: 1 }))).client.public).toBe(
        false,
      );
    }
  });

  test('is refused without an event if the store reports that a limit is reached', async () => {
    const { register, state, events, letIn } = start();
    state.refuses = { reason: 'network', until: NOW + 1500 };
    expect(await errorOf(register())).toEqual(['network', 2]);
    state.refuses = { reason: 'all', until: NOW + 5000 };
    expect(await errorOf(register())).toEqual(['all', 5]);
    state.refuses = { reason: 'token' };
    expect(await errorOf(register({}, letIn('a')))).toEqual(
      unusable('the initial access token was used up or became invalid during this request'),
    );
    expect(events).toEqual([]);
  });

  test('is refused before its secret is hashed if a limit is already reached', async () => {
    const hash = vi.fn<() => Promise<string>>(async () => 'hash');
    const host = { passwordHasher: { hash } } as unknown as Server['host'];
    const { register, state } = start({ registration_secret_ttl: 3600 }, { host });
    state.refuses = { reason: 'network', until: NOW + 1500 };
    expect(await errorOf(register())).toEqual(['network', 2]);
    expect(hash).not.toHaveBeenCalled();
    state.refuses = null;
    expect((await register()).client).toMatchObject({
      secretHash: 'hash',
      secretExpiresAt: NOW + 3_600_000,
    });
  });

  test('gets the reason of a refusal without its input, which is only in the log', async () => {
    const { register } = start();
    const long = 'The name is longer than 100 characters';
    expect(await errorOf(register({ client_name: 'a'.repeat(101) }))).toEqual([
      'invalid_client_metadata',
      long,
      long,
    ]);
    expect(await errorOf(register({ id_token_signed_response_alg: 'none' }))).toEqual([
      'invalid_client_metadata',
      'The id_token_signed_response_alg must be one of RS256, ES256, EdDSA.',
      'the id_token_signed_response_alg is "none"',
    ]);
  });

  test('gets no reason that contains quotation marks', async () => {
    const says = 'The field "a" is not valid';
    const furtherMetadata = {
      fields: [],
      check() {
        throw new RegistrationError(says);
      },
    } as unknown as Server['furtherMetadata'];
    expect(await errorOf(start({}, { furtherMetadata }).register())).toEqual([
      'invalid_client_metadata',
      'The client cannot be registered with these metadata.',
      says,
    ]);
  });

  test('may have fields that features add, when it registers and later', async () => {
    const written: unknown[] = [];
    const furtherMetadata = {
      fields: [{ name: 'texts', called: 'text', most: 9, problem: () => null }],
      check() {},
      writing: (_id: string, values: object) => void written.push(values),
    } as unknown as Server['furtherMetadata'];
    const { register, replace } = start({}, { furtherMetadata });
    const made = await register({ texts: ['a'] });
    await replace(made, { texts: ['b'] });
    expect(written).toEqual([{ texts: ['a'] }, { texts: ['b'] }]);
  });

  test('is not blamed for an internal error', async () => {
    const fault = new TypeError('a fault');
    const all = () => Promise.reject(fault);
    const { register } = start({}, { keys: { algorithms: ALGORITHMS, all } as unknown as KeyRing });
    await expect(register({ id_token_signed_response_alg: 'ES256' })).rejects.toBe(fault);
  });

  test('gets the algorithm of its ID tokens only if it gets some, and the server has a key', async () => {
    const algorithms = ['RS256', 'ES256'];
    const keys = {
      algorithms: ALGORITHMS,
      all: async () => algorithms.map((algorithm) => ({ algorithm })),
    } as unknown as KeyRing;
    const { register, letIn } = start({}, { keys });
    const asking = { id_token_signed_response_alg: 'ES256' };
    expect((await register(asking)).client.idTokenSignedResponseAlg).toBe('ES256');
    const service = { grant_types: ['client_credentials'], redirect_uris: [] };
    for (const without of [
      register({ ...asking, scope: 'notes:read' }, letIn('a')),
      register({ ...asking, ...service, scope: 'notes:read' }, letIn('a')),
    ])
      expect(await errorOf(without)).toEqual([
        'invalid_client_metadata',
        'The id_token_signed_response_alg needs the scope openid and the grant authorization_code.',
        null,
      ]);
    algorithms.pop();
    expect(await errorOf(register(asking))).toEqual([
      'invalid_client_metadata',
      'The id_token_signed_response_alg cannot be ES256: the server has no signing key for it.',
      null,
    ]);
  });

  test('may require features that are enabled', async () => {
    const demanding = {
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
    };
    const on = await start().register(demanding);
    expect(on.client).toMatchObject({ pushesRequests: true, dpopBoundAccessTokens: true });
    const off = await start({}, { demands: demands({ pushed: false, bound: false }) }).register(
      demanding,
    );
    expect(off.client).toMatchObject({ pushesRequests: false, dpopBoundAccessTokens: false });
    expect((await errorOf(start({ private_key_jwt: false }).register(KEYED)))[0]).toBe(
      'invalid_client_metadata',
    );
  });
});

describe('A registration', () => {
  const UNKNOWN = unusable('no active, self-registered client has this client_id');

  test('is found by its own token', async () => {
    const { register, find } = start();
    const { client, registrationAccessToken } = await register();
    expect(await find(client.id, registrationAccessToken)).toEqual(client);
  });

  test('is not found by any other token', async () => {
    const { register, find } = start();
    const [one, other] = [await register(), await register()];
    for (const token of [
      '',
      'x',
      other.registrationAccessToken,
      tokenHash(one.registrationAccessToken),
    ]) {
      expect(await errorOf(find(one.client.id, token))).toEqual(
        unusable(`the registration access token is not valid for the client ${one.client.id}`),
      );
    }
  });

  test('is found only for an active self-registered client, with the same reads otherwise', async () => {
    const { register, find, rows, change, hashesAsked } = start();
    expect(await errorOf(find('unknown', 'x'))).toEqual(UNKNOWN);
    expect(hashesAsked).toEqual(['0'.repeat(32)]);
    const one = await register();
    rows.set(one.client.id, { client: one.client, tokenHash: null });
    expect(await errorOf(find(one.client.id, one.registrationAccessToken))).toEqual(UNKNOWN);
    const other = await register();
    change(other.client.id, { revokedAt: NOW });
    expect(await errorOf(find(other.client.id, other.registrationAccessToken))).toEqual(UNKNOWN);
  });
});

describe('A registration update', () => {
  test('replaces the metadata of the client, but not its type, and records one event', async () => {
    const { register, replace, rows, events, state } = start();
    const made = await register({ client_name: 'Before' });
    state.now += 1000;
    const replaced = await replace(made, { client_name: 'After', redirect_uris: [`${SITE}/2`] });
    expect(replaced).toEqual({ ...made.client, name: 'After', redirectUris: [`${SITE}/2`] });
    expect(rows.get(made.client.id)?.client).toEqual(replaced);
    expect(events.slice(1)).toEqual([
      { type: 'client_changed', clientId: made.client.id, registeredBy: 'registration' },
    ]);
  });

  test.each([
    'registration_access_token',
    'registration_client_uri',
    'client_secret_expires_at',
    'client_id_issued_at',
  ])('is refused with %s', async (name) => {
    const { register, replace } = start();
    expect(await errorOf(replace(await register(), { [name]: 0 }))).toEqual([
      'invalid_request',
      `The field ${name} cannot be set by the client.`,
      null,
    ]);
  });

  test('needs its own client_id, and its own secret if one is sent', async () => {
    const { register, replace, letIn } = start();
    const made = await register({}, letIn('a'));
    for (const client_id of [undefined, 'another', [made.client.id]]) {
      expect(await errorOf(replace(made, { client_id }))).toEqual([
        'invalid_request',
        'The client_id must be the one of the registration.',
        null,
      ]);
    }
    for (const client_secret of [0, 7, ['x'], ' ', 'another']) {
      expect(await errorOf(replace(made, { client_secret }))).toEqual([
        'invalid_request',
        'The client_secret must be the one of the client, if it is sent.',
        null,
      ]);
    }
    expect(await replace(made, { client_secret: made.secret })).toEqual(made.client);
  });

  test('keeps the authentication method', async () => {
    const { register, replace, letIn } = start();
    const says = 'The token_endpoint_auth_method cannot become another';
    const confidential = await register({}, letIn('a'));
    for (const sent of [{ token_endpoint_auth_method: 'none' }, KEYED]) {
      expect((await errorOf(replace(confidential, sent)))[1]).toBe(
        `${says}: the client has a secret.`,
      );
    }
    expect((await errorOf(replace(await register(), KEYED)))[1]).toBe(`${says}.`);
    const keyed = await register(KEYED);
    for (const sent of [{}, { token_endpoint_auth_method: 'none' }])
      expect((await errorOf(replace(keyed, sent)))[1]).toBe(`${says}.`);
    expect((await replace(keyed, { ...KEYED, client_name: 'B' })).name).toBe('B');
  });

  test('still allows what the initial access token allowed at registration', async () => {
    const { register, replace, letIn, change } = start();
    const acts = { grant_types: [...CODE, 'client_credentials'], scope: 'notes:read' };
    expect((await replace(await register({}, letIn('a')), acts)).scopes).toEqual(['notes:read']);
    const published = { ...KEYED, jwks: undefined, jwks_uri: 'https://client.example/keys' };
    const publishing = await register(published, letIn('a'));
    expect((await replace(publishing, { ...published, scope: 'notes:write' })).scopes).toEqual([
      'notes:write',
    ]);
    const acting = await register({ ...KEYED, ...acts }, letIn('a'));
    expect((await replace(acting, { ...KEYED, ...acts, scope: 'notes:write' })).scopes).toEqual([
      'notes:write',
    ]);
    const stranger = await register();
    expect((await errorOf(replace(stranger, { grant_types: ['client_credentials'] })))[0]).toBe(
      'invalid_client_metadata',
    );
    // This client registered before the server offered the other scopes. It gets them, like every
    // client that registers now.
    change(stranger.client.id, { scopes: ['openid'] });
    expect((await replace(stranger, { scope: 'notes:read' })).scopes).toEqual(PEOPLE);
  });

  test('for a client with keys keeps its scopes unless it names others', async () => {
    const { register, replace, letIn, change } = start();
    const made = await register({ ...KEYED, scope: 'notes:read' }, letIn('a'));
    expect(made.client.scopes).toEqual(['notes:read']);
    expect((await replace(made, KEYED)).scopes).toEqual(['notes:read']);
    expect((await replace(made, { ...KEYED, scope: 'email notes:write' })).scopes).toEqual([
      'email',
      'notes:read',
      'notes:write',
    ]);
    change(made.client.id, { scopes: ['unheard:of'] });
    expect(await errorOf(replace(made, KEYED))).toEqual([
      'invalid_client_metadata',
      'None of the scopes is offered.',
      null,
    ]);
  });

  test('keeps the requirements of the client while their feature is disabled', async () => {
    const demanding = {
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
    };
    const on = start();
    const made = await on.register(demanding);
    expect(await on.replace(made)).toMatchObject({
      pushesRequests: false,
      dpopBoundAccessTokens: false,
    });
    const off = start({}, { demands: demands({ pushed: false, bound: false }) });
    const there = await off.register();
    off.change(there.client.id, { pushesRequests: true, dpopBoundAccessTokens: true });
    expect(await off.replace(there)).toMatchObject({
      pushesRequests: true,
      dpopBoundAccessTokens: true,
    });
  });

  const PLACES = [
    'invalid_redirect_uri',
    'The redirect_uris stay as they are once a person has allowed the client; register another one.',
    null,
  ];

  test('cannot change the redirect URIs once a person has allowed the client, even at that moment', async () => {
    const { register, replace, change, state } = start();
    const made = await register();
    change(made.client.id, { usedAt: NOW });
    expect((await replace(made, { client_name: 'B' })).name).toBe('B');
    expect(await errorOf(replace(made, { redirect_uris: [`${SITE}/2`] }))).toEqual(PLACES);
    const other = await register();
    state.meanwhile = () => change(other.client.id, { usedAt: NOW });
    expect(await errorOf(replace(other, { redirect_uris: [`${SITE}/2`] }))).toEqual(PLACES);
  });

  test('keeps the order of the redirect URIs, unless one of them changes', async () => {
    const { register, replace, change } = start();
    const [one, two, three] = [1, 2, 3].map((place) => `${SITE}/${place}`);
    const made = await register({ redirect_uris: [one, two] });
    const replaced = async (...sent: readonly (string | undefined)[]) =>
      (await replace(made, { redirect_uris: sent })).redirectUris;
    expect(await replaced(two, one)).toEqual([one, two]);
    expect(await replaced(three, one)).toEqual([three, one]);
    expect(await replaced(two, three, one)).toEqual([two, three, one]);
    expect(await replaced(one, two)).toEqual([one, two]);
    change(made.client.id, { usedAt: NOW });
    expect(await replaced(two, one)).toEqual([one, two]);
  });

  test('is refused if the client was revoked at the same moment', async () => {
    const { register, replace, change, rows, state, events } = start();
    const made = await register();
    state.meanwhile = () => change(made.client.id, { revokedAt: NOW });
    expect((await errorOf(replace(made)))[1]).toMatch(/^no active, self-registered client/);
    const other = await register();
    state.meanwhile = () => {
      const row = rows.get(other.client.id);
      rows.clear();
      state.meanwhile = () => {};
      queueMicrotask(() => row !== undefined && rows.set(other.client.id, row));
    };
    expect(await errorOf(replace(other))).toEqual(
      unusable('the client was revoked during this request'),
    );
    expect(events).toHaveLength(2);
  });

  test('is allowed 60 times an hour per network, whatever the result', async () => {
    const { register, replace, state } = start();
    const made = await register();
    for (let times = 0; times < 60; times += 1) {
      await errorOf(replace(made, { client_id: 'another' }, times < 59 ? ADDRESS : '192.0.2.8'));
    }
    expect((await replace(made)).name).toBe(made.client.name);
    state.now += 1000;
    expect(await errorOf(replace(made))).toEqual(['network', 3599]);
    expect((await replace(made, {}, null)).name).toBe(made.client.name);
    for (let times = 0; times < 59; times += 1) await replace(made, {}, null);
    expect(await errorOf(replace(made, {}, null))).toEqual(['network', 3600]);
  });
});

test('A new secret is hashed in the turn of the network that asks for it', async () => {
  const callers: unknown[] = [];
  const passwordHasher = {
    async hash(secret: string) {
      callers.push(currentCaller());
      return `hash of ${secret}`;
    },
  };
  const parts = { host: { passwordHasher } } as unknown as Partial<Server>;
  const { register, renew, state } = start({ registration_secret_ttl: 3600 }, parts);
  const basic = { token_endpoint_auth_method: 'client_secret_basic' };
  const { client } = await register(basic);
  expect(await renew(client, ADDRESS)).toBeNull();
  state.now += 3_600_000;
  const given = await renew(client, '192.0.2.8');
  expect(given).toMatchObject({ hash: `hash of ${given?.secret}`, expiresAt: NOW + 7_200_000 });
  expect(callers).toEqual([ADDRESS, '192.0.2.8']);
});

test('A registration is deleted only once, with one event', async () => {
  const { register, end, rows, events } = start();
  const { client } = await register();
  await end(client);
  await end(client);
  expect(rows.get(client.id)?.client.revokedAt).toBe(NOW);
  expect(events.slice(1)).toEqual([
    { type: 'client_revoked', clientId: client.id, registeredBy: 'registration' },
  ]);
});
