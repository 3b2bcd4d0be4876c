// @engines sqlite, long: it compares the metadata with the enabled features, not with stored data
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type AuthorizationServer,
  type Host,
  type OAuthServerConfigInput,
} from 'portico';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  claimsOf,
  headerOf,
  newKey,
  signed,
  withAssertion,
  type Algorithm,
} from './support/assertions.ts';
import { createDatabase } from './support/database.ts';
import { proofOf } from './support/fapi2.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { createClock } from './support/clock.ts';
import { CHALLENGE, REDIRECT_URI } from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/**
 * In every combination of settings, the metadata lists the enabled features, and the endpoints
 * match it.
 */

const ISSUER = 'https://host.example';
const AUDIENCE = `${ISSUER}/api`;
const ALGORITHMS: readonly Algorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
const KEYS = Object.fromEntries(ALGORITHMS.map((each) => [each, newKey(each, `key-of-${each}`)]));
const keyOf = (algorithm: Algorithm) => KEYS[algorithm] ?? newKey(algorithm);

const clock = createClock();
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
/** By authentication method. */
let ids: Readonly<Record<'secret' | 'keys' | 'public' | 'api', string>>;
let apiSecret: string;
let secret: string;

const host: Host = {
  signedIn: async () => null,
  loadAccount: async () => null,
  holdsPermission: async () => true,
  loginUrl: (returnTo) => `/sign-in?to=${encodeURIComponent(returnTo)}`,
  passwordHasher: {
    hash: async (text) => `#${text}`,
    verify: async (one, other) => `#${one}` === other,
  },
  clientAddress: () => null,
  audit: async () => {},
  log: { debug() {}, info() {}, warning() {}, error() {} },
};

function serverWith(changes: OAuthServerConfigInput): AuthorizationServer {
  const config = oauthServerConfiguration.parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
    audience: AUDIENCE,
    ...changes,
  });
  return createAuthorizationServer({ publicUrl: ISSUER, config, host, database, clock: clock.now });
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-advertised-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  const { clients, keys } = serverWith({ private_key_jwt: true });
  for (const each of ['RS256', 'ES256'] as const) await keys.generate(each);
  const common = { redirectUris: [REDIRECT_URI], scopes: ['openid', 'notes:read'] };
  const grants = ['authorization_code', 'refresh_token', 'client_credentials', 'introspection'];
  const jwks = { keys: ALGORITHMS.map((each) => keyOf(each).jwk) };
  const [withSecret, withKeys, open, api] = [
    await clients.create({ name: 'With a secret', ...common, grants }),
    await clients.create({
      name: 'With keys',
      ...common,
      grants,
      jwks,
      idTokenSignedResponseAlg: 'ES256',
    }),
    await clients.create({ name: 'Public', ...common, public: true }),
    await clients.create({ name: 'An API', grants: ['introspection'] }),
  ];
  ids = {
    secret: withSecret.client.id,
    keys: withKeys.client.id,
    public: open.client.id,
    api: api.client.id,
  };
  secret = withSecret.secret ?? '';
  apiSecret = api.secret ?? '';
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

type Metadata = Readonly<Record<string, unknown>>;
type Form = Readonly<Record<string, string>>;
type Asking = (at: string, init?: RequestInit) => Promise<Response>;

/** A request with this authentication method; the client was registered for it. */
function authenticated(
  method: string,
  form: Form,
  {
    isApi = false,
    algorithm = 'ES256',
  }: { readonly isApi?: boolean; readonly algorithm?: Algorithm } = {},
) {
  const [id, ownSecret] = isApi ? [ids.api, apiSecret] : [ids.secret, secret];
  const headers = new Headers();
  const body = new URLSearchParams(form);
  const add = (fields: Form) => {
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
  };
  if (method === 'client_secret_basic')
    headers.set('Authorization', `Basic ${Buffer.from(`${id}:${ownSecret}`).toString('base64')}`);
  if (method === 'client_secret_post') add({ client_id: id, client_secret: ownSecret });
  if (method === 'none') add({ client_id: ids.public });
  if (method === 'private_key_jwt') {
    const key = keyOf(algorithm);
    add(withAssertion(signed(key, headerOf(key), claimsOf(ids.keys, ISSUER, clock.now()))));
  }
  return { method: 'POST', headers, body };
}

const METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'];
const REQUEST = {
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  scope: 'notes:read',
};

async function isLetIn(response: Response): Promise<boolean> {
  const text = await response.text();
  return !/"(?:invalid_client|unauthorized_client)"/.test(text);
}

async function filtered<T>(
  all: readonly T[],
  holds: (each: T) => Promise<boolean>,
): Promise<readonly T[]> {
  const held = await Promise.all(all.map(holds));
  return all.filter((_, index) => held[index]);
}

const withProof = (
  init: ReturnType<typeof authenticated>,
  path: string,
  algorithm: Algorithm = 'ES256',
) => {
  const key = keyOf(algorithm);
  init.headers.set(
    'DPoP',
    proofOf({ now: clock.now }, key, { method: 'POST', url: ISSUER + path }),
  );
  return init;
};

/** The behavior of the endpoints, under the member names of the metadata. */
async function done(ask: Asking): Promise<Metadata> {
  const token = (form: Form, method: string, algorithm?: Algorithm) =>
    ask(
      '/oauth/token',
      withProof(
        authenticated(method, form, algorithm === undefined ? {} : { algorithm }),
        '/oauth/token',
      ),
    );
  const refreshing = { grant_type: 'refresh_token', refresh_token: 'a' };
  const ofToken = await filtered(METHODS, async (each) => isLetIn(await token(refreshing, each)));
  const ofRevocation = await filtered(METHODS, async (each) =>
    isLetIn(await ask('/oauth/revoke', authenticated(each, { token: 'a' }))),
  );
  const ofIntrospection = await filtered(METHODS, async (each) =>
    isLetIn(await ask('/oauth/introspect', authenticated(each, { token: 'a' }, { isApi: true }))),
  );
  const signedWith = await filtered(ALGORITHMS, async (each) =>
    isLetIn(await token(refreshing, 'private_key_jwt', each)),
  );
  const [letIn = 'none'] = ofToken;
  const boundWith = await filtered(ALGORITHMS, async (each) => {
    const request = authenticated(letIn, { grant_type: 'client_credentials', scope: 'notes:read' });
    const response = await ask('/oauth/token', withProof(request, '/oauth/token', each));
    return ((await response.json()) as { readonly token_type?: string }).token_type === 'DPoP';
  });
  const client = letIn === 'private_key_jwt' ? ids.keys : ids.secret;
  const pushed = await ask('/oauth/par', authenticated(letIn, { ...REQUEST, client_id: client }));
  const unpushed = await ask(
    `/oauth/authorize?${new URLSearchParams({ ...REQUEST, client_id: client })}`,
  );
  const refused = await ask(
    `/oauth/authorize?${new URLSearchParams({ ...REQUEST, client_id: client, response_type: 'token' })}`,
  );
  const document = await ask(
    `/oauth/authorize?${new URLSearchParams({ ...REQUEST, client_id: 'https://client.example/client' })}`,
  );
  const registered = await ask('/oauth/register', { method: 'POST', body: '{}' });
  const isThere = ({ status }: Response) => status !== 404;
  const algorithms = signedWith.length === 0 ? undefined : signedWith;
  return {
    token_endpoint_auth_methods_supported: ofToken,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: ofRevocation,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint_auth_methods_supported: ofIntrospection,
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    dpop_signing_alg_values_supported: boundWith.length === 0 ? undefined : boundWith,
    pushed_authorization_request_endpoint: isThere(pushed) ? `${ISSUER}/oauth/par` : undefined,
    require_pushed_authorization_requests: leadsTo(unpushed, REDIRECT_URI) ? true : undefined,
    authorization_response_iss_parameter_supported: (
      refused.headers.get('location') ?? ''
    ).includes(`iss=${encodeURIComponent(ISSUER)}`),
    client_id_metadata_document_supported: leadsTo(document, '/sign-in') ? true : undefined,
    registration_endpoint: isThere(registered) ? `${ISSUER}/oauth/register` : undefined,
  };
}

const leadsTo = (response: Response, place: string) =>
  (response.headers.get('location') ?? '').startsWith(place);

/** Members that do not depend on an option. */
const FIXED = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/oauth/authorize`,
  token_endpoint: `${ISSUER}/oauth/token`,
  revocation_endpoint: `${ISSUER}/oauth/revoke`,
  introspection_endpoint: `${ISSUER}/oauth/introspect`,
  jwks_uri: `${ISSUER}/.well-known/jwks.json`,
  scopes_supported: ['openid', 'profile', 'email', 'notes:read'],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
  code_challenge_methods_supported: ['S256'],
};

const SWITCHES = {
  private_key_jwt: [undefined, true],
  dpop: [undefined, 'accept', 'require'],
  pushed_authorization_requests: [undefined, 'accept', 'require'],
  profile: [undefined, 'fapi2'],
} as const;
const OTHERS = {
  registration: [undefined, 'open', 'initial_access_token'],
  client_id_metadata_documents: [undefined, true],
  challenge: [undefined, true],
} as const;

function product(
  switches: Readonly<Record<string, readonly unknown[]>>,
): readonly OAuthServerConfigInput[] {
  return Object.entries(switches).reduce<readonly OAuthServerConfigInput[]>(
    (before, [name, values]) =>
      before.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  );
}

/** Every combination of the first ones, each with some of the others, or with all. */
const COMBINATIONS = product(SWITCHES).flatMap((one, index) => {
  const others = product(OTHERS);
  return Array.from({ length: Math.min(SCALE.otherSwitches, others.length) }, (_, at) => ({
    ...one,
    ...others[(index * 5 + at) % others.length],
  }));
});

const contradicts = ({
  profile,
  dpop,
  pushed_authorization_requests: pushed,
  registration,
}: OAuthServerConfigInput) =>
  profile === 'fapi2' && (dpop === 'accept' || pushed === 'accept' || registration === 'open');

// @shows AS-27.6, AS-2.27
test('the metadata lists exactly what is enabled, in every combination of options', async () => {
  expect(COMBINATIONS.length).toBeGreaterThanOrEqual(36);
  for (const config of COMBINATIONS.filter((each) => !contradicts(each))) {
    const handle = createHandler(serverWith(config));
    const ask: Asking = async (at, init) =>
      (await handle(new Request(ISSUER + at, init))) ?? new Response(null, { status: 404 });
    const metadata = (await (
      await ask('/.well-known/oauth-authorization-server')
    ).json()) as Metadata;
    const openid = (await (await ask('/.well-known/openid-configuration')).json()) as Metadata;
    const found = JSON.parse(JSON.stringify({ ...FIXED, ...(await done(ask)) })) as Metadata;
    expect({ config, metadata }).toEqual({ config, metadata: found });
    for (const [name, value] of Object.entries(metadata)) expect(openid[name]).toEqual(value);
    expect(openid['id_token_signing_alg_values_supported']).toEqual(
      config.profile === 'fapi2' ? ['ES256'] : ['RS256', 'ES256'],
    );
    const resource = await ask('/.well-known/oauth-protected-resource/api');
    expect({ config, status: resource.status }).toEqual({
      config,
      status: config.challenge === true ? 200 : 404,
    });
    if (resource.status === 404) continue;
    const described = (await resource.json()) as Metadata;
    expect(described['dpop_signing_alg_values_supported']).toEqual(
      found['dpop_signing_alg_values_supported'],
    );
    // RFC 9728 section 2: present only if proofs are accepted.
    const required = config.dpop === 'require' || config.profile === 'fapi2';
    expect(described['dpop_bound_access_tokens_required']).toBe(
      required || config.dpop === 'accept' ? required : undefined,
    );
  }
});

// @shows AS-27.3
test('the server does not start with options that contradict the profile', () => {
  for (const config of COMBINATIONS.filter(contradicts)) {
    expect(() => serverWith(config), JSON.stringify(config)).toThrow('oauth_server:');
  }
});
