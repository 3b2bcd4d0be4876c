import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SigningAlgorithms } from '../keys/algorithms.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import type { SecurityProfile } from '../profiles.ts';
import type { ProtectedResource } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import { Discovery, resourceMetadata } from './discovery.ts';
import type { Handler } from './endpoint.ts';
import {
  authorizationServerMetadata,
  openidProviderMetadata,
  type MetadataAdditions,
} from './metadata.ts';
import { askRoundTrip, type SigningKeyFile } from './round-trip.ts';

const ISSUER = 'https://portal.example/auth';
const ES256 = { name: 'ES256' } as never;
const NONE: MetadataAdditions = { members: {}, values: {}, responseModes: ['query'] };
const STRICT = {
  algorithms: ['PS256', 'ES256'],
  idTokenAlgorithms: ['ES256'],
  authenticationMethods: ['private_key_jwt'],
} as unknown as SecurityProfile;

const keyOf = (algorithm: string, name: string = algorithm) =>
  ({ algorithm, kid: name, privateKey: null, publicJwk: { kid: name } }) as unknown as SigningKey;

/** Returns a server with these settings. `keys` are its published keys, or the error instead. */
function serverWith({
  admitsUnverified = false,
  takesKeys = false,
  profile = null as SecurityProfile | null,
  locales = null as readonly string[] | null,
  workloads = [] as readonly string[],
} = {}) {
  const state = { keys: [keyOf('RS256')] as readonly SigningKey[] | Error };
  const published = async () => {
    if (state.keys instanceof Error) throw state.keys;
    return state.keys;
  };
  const server = {
    issuer: ISSUER,
    scopes: createScopeCatalog({
      'notes:read': { label: 'Read', claims: ['tenant'] },
      'mcp:service': 'Everything',
    }),
    admitsUnverified,
    profiles: { servers: profile },
    takesKeys: () => takesKeys,
    workloadTypes: () => workloads,
    grantTypes: () => ({ names: ['authorization_code', 'refresh_token'] }),
    speaking: { locales },
    keys: { algorithms: new SigningAlgorithms([ES256]), published },
    host: { clientAddress: () => '192.0.2.1' },
    clock: () => 1_800_000_000_000,
  } as unknown as Server;
  return { server, state };
}

type Settings = Parameters<typeof serverWith>[0];
const openidOf = (settings: Settings, keys: readonly string[], additions = NONE) =>
  openidProviderMetadata(
    serverWith(settings).server,
    keys.map((algorithm) => keyOf(algorithm)),
    additions,
  );

const SECRETS = ['client_secret_basic', 'client_secret_post'];
const SCOPES = ['openid', 'profile', 'email', 'notes:read', 'mcp:service'];

describe('the metadata of the authorization server', () => {
  test('has its endpoints and what it supports', () => {
    expect(authorizationServerMetadata(serverWith().server, [], NONE)).toEqual({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/oauth/authorize`,
      token_endpoint: `${ISSUER}/oauth/token`,
      revocation_endpoint: `${ISSUER}/oauth/revoke`,
      introspection_endpoint: `${ISSUER}/oauth/introspect`,
      jwks_uri: `${ISSUER}/.well-known/jwks.json`,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: [...SECRETS, 'none'],
      revocation_endpoint_auth_methods_supported: [...SECRETS, 'none'],
      introspection_endpoint_auth_methods_supported: SECRETS,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
  });

  test('has the additions of features, each grant type once, and the languages', () => {
    const values = { grant_types_supported: ['refresh_token', 'device'] };
    const additions = { members: { issuer: 'added', more: 1 }, values, responseModes: ['a', 'b'] };
    const { server } = serverWith({ locales: ['en', 'de'] });
    expect(authorizationServerMetadata(server, [], additions)).toMatchObject({
      issuer: 'added',
      more: 1,
      response_modes_supported: ['a', 'b'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'device'],
      ui_locales_supported: ['en', 'de'],
    });
  });

  test('lists the keys of clients and the tokens of workloads as ways to authenticate', () => {
    const settings = { takesKeys: true, workloads: ['urn:workload'] };
    const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
    const methods = [...SECRETS, 'private_key_jwt', 'urn:workload'];
    const common = {
      introspection_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    };
    expect(authorizationServerMetadata(serverWith(settings).server, [], NONE)).toMatchObject({
      ...common,
      token_endpoint_auth_methods_supported: [...methods, 'none'],
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint_auth_methods_supported: [...methods, 'none'],
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    });
    const strict = serverWith({ ...settings, profile: STRICT }).server;
    expect(authorizationServerMetadata(strict, [], NONE)).toMatchObject({
      ...common,
      introspection_endpoint_auth_signing_alg_values_supported: ['PS256', 'ES256'],
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['PS256', 'ES256'],
      revocation_endpoint_auth_methods_supported: ['private_key_jwt'],
      revocation_endpoint_auth_signing_alg_values_supported: ['PS256', 'ES256'],
    });
  });

  test.each<[what: string, Settings, keys: readonly string[], scopes: readonly string[]]>([
    ['every scope if an operator registers all clients', {}, [], SCOPES],
    [
      'no service scope for unverified clients',
      { admitsUnverified: true },
      ['RS256'],
      SCOPES.slice(0, 4),
    ],
    ['no openid without a key', { admitsUnverified: true }, [], SCOPES.slice(1, 4)],
    [
      'no openid without a key of the profile',
      { admitsUnverified: true, profile: STRICT },
      ['RS256'],
      SCOPES.slice(1, 4),
    ],
    [
      'openid with a key of the profile',
      { admitsUnverified: true, profile: STRICT },
      ['RS256', 'ES256'],
      SCOPES.slice(0, 4),
    ],
  ])('lists %s', (_, settings, keys, scopes) => {
    expect(openidOf(settings, keys)['scopes_supported']).toEqual(scopes);
  });
});

describe('the metadata of the OpenID provider', () => {
  test('has the members of the authorization server and more', () => {
    const all = openidOf({}, []);
    expect(all).toMatchObject({
      ...authorizationServerMetadata(serverWith().server, [], NONE),
      userinfo_endpoint: `${ISSUER}/oauth/userinfo`,
      subject_types_supported: ['public'],
      prompt_values_supported: ['consent', 'none'],
      claim_types_supported: ['normal'],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
    const claims = all['claims_supported'] as readonly string[];
    expect([claims[0], claims.at(-1), new Set(claims).size]).toEqual([
      'sub',
      'tenant',
      claims.length,
    ]);
    expect(claims).toContain('email');
    const values = { prompt_values_supported: ['login'], claims_supported: ['acr'] };
    const more = openidOf({}, [], { ...NONE, values });
    expect(more['prompt_values_supported']).toEqual(['consent', 'none', 'login']);
    expect(more['claims_supported']).toEqual([...claims, 'acr']);
  });

  test.each<[Settings, readonly string[], readonly string[]]>([
    [{}, [], ['RS256']],
    [{}, ['ES256'], ['RS256', 'ES256']],
    [{}, ['EdDSA'], ['RS256']],
    [{ profile: STRICT }, [], []],
    [{ profile: STRICT }, ['RS256'], []],
    [{ profile: STRICT }, ['RS256', 'ES256'], ['ES256']],
  ])('with %j and the keys %j lists the algorithms %j', (settings, keys, names) => {
    expect(openidOf(settings, keys)['id_token_signing_alg_values_supported']).toEqual(names);
  });
});

describe('the documents', () => {
  const ask = async (handler: Handler, headers = {}) => {
    const reply = await handler(new Request(ISSUER, { headers }));
    return { ...reply, content: JSON.parse(String(reply.body)) as Record<string, unknown> };
  };
  const A_MINUTE = 'public, max-age=60';

  test('of the provider follow the keys, and keep the last ones while keys are lost', async () => {
    const { server, state } = serverWith();
    const handler = new Discovery(server, NONE).openidConfiguration();
    const algorithms = async () =>
      (await ask(handler)).content['id_token_signing_alg_values_supported'];
    const lost = new Error('lost');
    state.keys = lost;
    expect(await algorithms()).toEqual(['RS256']);
    state.keys = [keyOf('ES256')];
    expect(await algorithms()).toEqual(['RS256', 'ES256']);
    state.keys = lost;
    const reply = await ask(handler);
    expect(reply.content['id_token_signing_alg_values_supported']).toEqual(['RS256', 'ES256']);
    expect(reply).toMatchObject({ status: 200, headers: { 'Cache-Control': A_MINUTE } });
    expect(reply.headers).not.toHaveProperty('Portico-Doctor');
  });

  test('of the provider list no openid while keys have been lost since the start', async () => {
    const { server, state } = serverWith({ admitsUnverified: true });
    state.keys = new Error('lost');
    const { content } = await ask(new Discovery(server, NONE).openidConfiguration());
    expect(content['scopes_supported']).toEqual(SCOPES.slice(1, 4));
  });

  test('of the provider have the answer to the doctor, and are then not stored', async () => {
    const { server, state } = serverWith();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = { ...keyOf('ES256'), privateKey } as SigningKeyFile;
    state.keys = [key];
    const question = askRoundTrip(key, ISSUER, server.clock());
    const handler = new Discovery(server, NONE).openidConfiguration();
    const { headers, content } = await ask(handler, { 'Portico-Doctor': question.header });
    expect(headers).toMatchObject({
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json',
    });
    expect(question.open(headers['Portico-Doctor'] ?? '')).toMatchObject({
      address: '192.0.2.1',
    });
    expect(content['issuer']).toBe(ISSUER);
  });

  test('of the authorization server follow the keys only with unverified clients', async () => {
    for (const admitsUnverified of [true, false]) {
      const { server, state } = serverWith({ admitsUnverified });
      const handler = new Discovery(server, NONE).metadata();
      const lists = async () =>
        ((await ask(handler)).content['scopes_supported'] as string[]).includes('openid');
      state.keys = [];
      expect(await lists()).toBe(!admitsUnverified);
      state.keys = [keyOf('RS256')];
      expect(await lists()).toBe(true);
      expect((await ask(handler)).headers['Cache-Control']).toBe(A_MINUTE);
    }
  });

  test('with the keys follow the key files, and fail while keys are lost', async () => {
    const { server, state } = serverWith();
    const handler = new Discovery(server, NONE).jwks();
    state.keys = [keyOf('RS256', 'one'), keyOf('ES256', 'two')];
    const reply = await ask(handler);
    expect(reply.content).toEqual({ keys: [{ kid: 'one' }, { kid: 'two' }] });
    expect(reply.headers['Cache-Control']).toMatch(/^public, max-age=\d+$/);
    const [one] = state.keys;
    state.keys = one === undefined ? [] : [one];
    expect((await ask(handler)).content).toEqual({ keys: [{ kid: 'one' }] });
    state.keys = new Error('lost');
    await expect(ask(handler)).rejects.toThrow('lost');
  });

  test('of a resource are built again only if they have changed', async () => {
    let [built, metadata] = [0, {}];
    const containing = (name: string) => ({
      toJSON() {
        built += 1;
        return { name };
      },
    });
    metadata = containing('one');
    const handler = resourceMetadata({ metadata: () => metadata } as ProtectedResource);
    expect((await ask(handler)).content).toEqual({ name: 'one' });
    expect(await ask(handler)).toMatchObject({ headers: { 'Cache-Control': A_MINUTE } });
    expect(built).toBe(1);
    metadata = containing('two');
    expect((await ask(handler)).content).toEqual({ name: 'two' });
    expect(built).toBe(2);
  });
});
