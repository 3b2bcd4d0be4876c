// @engines sqlite: it runs the features of docs/extending.md and docs/own-grant.md
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  OAuthError,
  openDatabase,
  type AuditEvent,
  type AuthorizationServer,
  type Feature,
  type GrantType,
  type OpenedDatabase,
} from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { newKey } from './support/assertions.ts';
import { ROOT } from './support/console.ts';
import { blocksOf } from './support/documents.ts';

const ISSUER = 'https://app.example';
const SECTION = { name: 'Orders', scopes: { 'orders:read': 'See your orders' } };

let folder: string;
let database: OpenedDatabase;
let maintenance: Feature;
let vouchers: Feature;
const events: AuditEvent[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-extending-'));
  database = openDatabase('sqlite:data.sqlite', { directory: folder });
  await migrate(database, oauthServerMigrations);
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const pages = ['docs/extending.md', 'docs/own-grant.md'];
  const texts = await Promise.all(pages.map((page) => readFile(path.join(ROOT, page), 'utf8')));
  const blocks = pages.flatMap((page, index) => blocksOf(page, texts[index] ?? ''));
  const featureIn = async (name: string) => {
    const block = blocks.find(({ file }) => file === `${name}.ts`);
    const file = path.join(folder, `${name}.ts`);
    await writeFile(
      file,
      block?.code.replace("'portico'", `'${pathToFileURL(SERVER).href}'`) ?? '',
    );
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, Feature>>;
  };
  maintenance = (await featureIn('maintenance'))['maintenance'] as Feature;
  vouchers = (await featureIn('vouchers'))['vouchers'] as Feature;
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const SERVER = path.join(ROOT, 'packages', 'portico', 'dist', 'index.js');

function start(section: object, features: readonly Feature[] = [maintenance]): AuthorizationServer {
  const config = configurationWith(features).parse({
    ...SECTION,
    key_path: path.join(folder, 'keys'),
    ...section,
  });
  return createAuthorizationServer({
    publicUrl: ISSUER,
    config,
    database,
    features,
    host: {
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => true,
      audit: async (event) => void events.push(event),
      loginUrl: '/login',
      log: { debug() {}, info() {}, warning() {}, error() {} },
    },
  });
}

async function ask(
  { endpoints }: AuthorizationServer,
  at: string,
  form?: Readonly<Record<string, unknown>>,
): Promise<{ readonly status: number; readonly told: Readonly<Record<string, unknown>> } | null> {
  const endpoint = endpoints.find((each) => each.path === at);
  if (endpoint === undefined) return null;
  const body =
    form === undefined || at === '/oauth/register'
      ? JSON.stringify(form)
      : new URLSearchParams(form as Readonly<Record<string, string>>);
  const headers: Record<string, string> =
    at === '/oauth/register' ? { 'Content-Type': 'application/json' } : {};
  const init = form === undefined ? {} : { method: 'POST', body, headers };
  const response = await endpoint.handle(new Request(`${ISSUER}${at}`, init));
  return {
    status: response.status,
    told: (await response.json()) as Readonly<Record<string, unknown>>,
  };
}

describe('a custom feature of the application', () => {
  test('can add an endpoint, a metadata member, and a check of issued tokens', async () => {
    const statuses: unknown[] = [];
    for (const isStopped of [false, true]) {
      const server = start({ maintenance: isStopped });
      const metadata = await ask(server, '/.well-known/oauth-authorization-server');
      expect(metadata?.told).toMatchObject({ maintenance_endpoint: `${ISSUER}/oauth/maintenance` });
      expect((await ask(server, '/oauth/maintenance'))?.told).toEqual({
        stopped: isStopped,
        server: 'Orders',
      });
      const { client, secret } = await server.clients.create({
        name: 'Job',
        grants: ['client_credentials'],
        scopes: ['orders:read'],
      });
      const answer = await ask(server, '/oauth/token', {
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: secret ?? '',
      });
      statuses.push([answer?.status, answer?.told['error_description']]);
    }
    expect(statuses).toEqual([
      [200, undefined],
      [400, 'No tokens are issued during maintenance.'],
    ]);
  });

  test('has its own configuration keys, which are validated, and which are unknown without it', () => {
    expect(() => start({ maintenance: 'yes' })).toThrow('must be true or false');
    expect(() => oauthServerConfiguration.parse({ ...SECTION, maintenance: true })).toThrow(
      'maintenance',
    );
    const ofPackage = { ...SECTION, imported_pbkdf2_iterations: 5 };
    expect(() => oauthServerConfiguration.parse(ofPackage)).toThrow(
      'needs the package @portico/import; install it',
    );
    const section = configurationWith([maintenance]);
    expect(section.safeParse({ ...SECTION, maintenance: 1 }).success).toBe(false);
    expect(section.safeParse({ ...SECTION, maintenance: true }).success).toBe(true);
  });

  test('has no effect if it is not added', async () => {
    const server = start({}, []);
    expect(await ask(server, '/oauth/maintenance')).toBeNull();
    expect(
      Object.keys((await ask(server, '/.well-known/oauth-authorization-server'))?.told ?? {}),
    ).not.toContain('maintenance_endpoint');
  });

  test('must be the only feature that binds tokens to a key', () => {
    const binding = {} as never;
    const features = ['one', 'other'].map((name): Feature => ({
      name,
      start: () => ({ binding }),
    }));
    expect(() => start({}, features)).toThrow('remove one of the two features');
  });

  test('cannot provide measurements beside the telemetry feature', () => {
    const measuring = (() => ({})) as never;
    expect(() => start({}, [{ name: 'own', measuring }])).toThrow(
      'oauth_server:telemetry: is also provided by the feature own (measuring); remove one of the two features',
    );
  });
});

describe('a custom feature is refused', () => {
  const feature = (parts: Partial<Feature>): Feature => ({ name: 'own', ...parts });
  const endpoint = (name: string, at: string) =>
    feature({ endpoints: [{ name, path: at, methods: ['POST'] }] });

  test.each([
    [
      'a configuration key of the core',
      { config: { access_token_ttl: z.int() } },
      'access_token_ttl',
    ],
    ['a configuration key of a different feature', { config: { dpop: z.string() } }, 'dpop'],
    ['a key of a scope that exists', { scopeConfig: { permission: z.string() } }, 'permission'],
  ])('if it adds %s', (_, parts, key) => {
    expect(() => configurationWith([feature(parts as Partial<Feature>)])).toThrow(
      `The feature own adds the configuration key ${key}, which already exists`,
    );
  });

  test.each([
    [
      'has the name of a different endpoint',
      endpoint('oauth_server_par', '/own'),
      'oauth_server_par',
    ],
    ['is at the path of one of the core', endpoint('own_token', '/oauth/token'), '/oauth/token'],
    ['is at the path of a different feature', endpoint('own_par', '/oauth/par'), '/oauth/par'],
    ['could be named as a route of the application', endpoint('transfer', '/transfer'), 'transfer'],
  ])('if its endpoint %s', (_, own, named) => {
    expect(() => start({}, [own])).toThrow(named);
  });

  test.each(['issuer', 'token_endpoint', 'userinfo_endpoint', 'dpop_signing_alg_values_supported'])(
    'if it contributes the metadata member %s, which exists',
    (member) => {
      const own = feature({ start: () => ({ metadata: { [member]: 'own' } }) });
      expect(() => start({ dpop: 'accept' }, [own])).toThrow(`metadata member ${member}`);
    },
  );
});

test('a check of issued tokens in a custom feature can be asynchronous', async () => {
  const refusing: Feature = {
    name: 'own',
    start: () => ({
      async issuanceCheck() {
        await Promise.resolve();
        throw new OAuthError('invalid_request', 'No tokens today.');
      },
    }),
  };
  const server = start({}, [refusing]);
  const { client, secret } = await server.clients.create({
    name: 'Job',
    grants: ['client_credentials'],
    scopes: ['orders:read'],
  });
  const form = {
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: secret ?? '',
  };
  expect(await ask(server, '/oauth/token', form)).toMatchObject({
    status: 400,
    told: { error_description: 'No tokens today.' },
  });
});

describe("a feature's data about a person", () => {
  const person = { provider: 'accounts', id: 'ada' };
  const storeSubject = () =>
    database.execute(
      'INSERT INTO oauth_subjects (user_provider, user_id, subject) VALUES (?, ?, ?)',
      [person.provider, person.id, 'the subject'],
    );
  const serverForgetting = (forgetsPerson: () => Promise<boolean | void>) =>
    start({}, [{ name: 'notes', start: () => ({ forgetsPerson }) }]);
  const erasing = { type: 'person_erased', by: 'console', authorizations: 0 };

  test('can be all that is left to erase after a call that failed, and both calls are audited', async () => {
    let notes = 1;
    let isLocked = true;
    const { access } = serverForgetting(async () => {
      if (isLocked) throw new Error('The notes are locked');
      const had = notes > 0;
      notes = 0;
      return had;
    });
    await storeSubject();
    events.length = 0;
    await expect(access.erasePerson(person, { by: 'console' })).rejects.toThrow('notes are locked');
    const partial = { ...erasing, complete: false };
    expect(events).toMatchObject([partial]);
    // Nothing has been removed since.
    await expect(access.erasePerson(person, { by: 'console' })).rejects.toThrow('notes are locked');
    expect(events).toMatchObject([partial]);
    isLocked = false;
    expect(await access.erasePerson(person, { by: 'console' })).toEqual({
      authorizations: 0,
      requests: 0,
      subject: false,
      events: 0,
    });
    expect(events).toMatchObject([partial, erasing]);
    expect(events[1]).not.toHaveProperty('complete');
    expect(JSON.stringify(events)).not.toContain('ada');
    await expect(access.erasePerson(person)).rejects.toThrow('Nothing is stored');
    expect(events).toHaveLength(2);
  });

  test('does not count if the feature does not say whether it removed anything', async () => {
    const { access } = serverForgetting(async () => {});
    await storeSubject();
    expect(await access.erasePerson(person)).toMatchObject({ subject: true });
    await expect(access.erasePerson(person)).rejects.toThrow('Nothing is stored');
  });
});

describe('a custom grant of a feature', () => {
  const GRANT = 'urn:example:grant';
  const ON = { vouchers: ['the-voucher'] };
  const SERVICE = { name: 'Job', grants: [GRANT], scopes: ['orders:read'] };
  const METADATA = '/.well-known/oauth-authorization-server';
  const CORE = ['authorization_code', 'refresh_token', 'client_credentials'];
  const startWith = (section: object, more: readonly Feature[] = []) =>
    start(section, [vouchers, ...more]);

  const exchange = (
    server: AuthorizationServer,
    id: string,
    secret: string | null,
    voucher = 'the-voucher',
  ) =>
    ask(server, '/oauth/token', {
      grant_type: GRANT,
      voucher,
      client_id: id,
      ...(secret === null ? {} : { client_secret: secret }),
    });
  const isActive = async (server: AuthorizationServer, token: unknown) => {
    const { client, secret } = await server.clients.create({
      name: 'API',
      grants: ['introspection'],
    });
    const sent = { token, client_id: client.id, client_secret: secret };
    return (await ask(server, '/oauth/introspect', sent))?.told['active'];
  };

  test('gives tokens to its clients, and is audited under its name', async () => {
    const server = startWith(ON);
    expect((await ask(server, METADATA))?.told['grant_types_supported']).toEqual([...CORE, GRANT]);
    const { client, secret } = await server.clients.create(SERVICE);
    expect((await server.clients.show(client.id)).client.grants).toEqual([GRANT]);
    events.length = 0;
    const answer = await exchange(server, client.id, secret);
    expect(answer).toMatchObject({
      status: 200,
      told: { token_type: 'Bearer', scope: 'orders:read' },
    });
    expect(events).toMatchObject([
      { type: 'tokens_issued', grantType: GRANT, clientId: client.id },
    ]);
    const token = answer?.told['access_token'];
    expect(await isActive(server, token)).toBe(true);
    // Without the grant, the tokens that it issued are no longer valid.
    await server.clients.update(client.id, { addGrants: ['introspection'], removeGrants: [GRANT] });
    expect(await isActive(server, token)).toBe(false);
    await server.clients.update(client.id, { addGrants: [GRANT] });
    expect(await isActive(server, token)).toBe(true);
    expect(await isActive(startWith({}), token)).toBe(false);
  });

  test('refuses unknown values, and is called only for its clients', async () => {
    const server = startWith(ON);
    const { client, secret } = await server.clients.create(SERVICE);
    const { client: other, secret: itsSecret } = await server.clients.create({
      ...SERVICE,
      grants: ['client_credentials'],
    });
    const answers = [
      await exchange(server, client.id, secret, 'another'),
      await exchange(server, other.id, itsSecret),
      await exchange(server, client.id, 'wrong'),
    ];
    expect(
      answers.map((each) => [each?.status, each?.told['error'], each?.told['error_description']]),
    ).toEqual([
      [400, 'invalid_grant', 'The voucher is unknown.'],
      [400, 'unauthorized_client', `The client is not registered for the grant ${GRANT}.`],
      [401, 'invalid_client', expect.any(String)],
    ]);
  });

  test('does not exist while its feature is off, and does not block other changes of its clients', async () => {
    const { client, secret } = await startWith(ON).clients.create({
      ...SERVICE,
      grants: ['client_credentials', GRANT],
    });
    const server = startWith({});
    expect((await ask(server, METADATA))?.told['grant_types_supported']).toEqual(CORE);
    expect(await exchange(server, client.id, secret)).toMatchObject({
      status: 400,
      told: { error: 'unsupported_grant_type' },
    });
    await expect(server.clients.create(SERVICE)).rejects.toThrow(`The grant "${GRANT}" is unknown`);
    const { client: renamed } = await server.clients.update(client.id, { name: 'Renamed' });
    expect(renamed).toMatchObject({ name: 'Renamed', grants: ['client_credentials', GRANT] });
    const { client: less } = await server.clients.update(client.id, { removeGrants: [GRANT] });
    expect(less.grants).toEqual(['client_credentials']);
  });

  test('is limited to clients that authenticate, if the feature declares this', async () => {
    const server = startWith({ ...ON, registration: 'open' });
    await expect(server.clients.create({ ...SERVICE, public: true })).rejects.toThrow(
      `A public client cannot have the grant ${GRANT}`,
    );
    const sent = {
      grant_types: ['authorization_code', GRANT],
      redirect_uris: ['https://a.example/'],
    };
    const registered = await ask(server, '/oauth/register', sent);
    expect(registered).toMatchObject({
      status: 201,
      told: { grant_types: ['authorization_code'] },
    });
  });

  test('can be registered by the client itself with an initial access token', async () => {
    const server = startWith({ ...ON, registration: 'initial_access_token' });
    const { token } = await server.initialAccessTokens.create({});
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    const body = JSON.stringify({ grant_types: [GRANT] });
    const endpoint = server.endpoints.find((each) => each.path === '/oauth/register');
    const response = await endpoint?.handle(
      new Request(`${ISSUER}/oauth/register`, { method: 'POST', headers, body }),
    );
    const told = (await response?.json()) as Readonly<Record<string, string>>;
    expect([response?.status, told['grant_types']]).toEqual([201, [GRANT]]);
    const { client_id: id = '', client_secret: secret = '' } = told;
    expect(await exchange(server, id, secret)).toMatchObject({ status: 200 });
  });

  test('for people can be open to every client, and be combined with refresh_token', async () => {
    const forPeople: Feature = {
      name: 'people',
      start: () => ({
        grants: [
          {
            name: 'urn:example:people',
            begins: 'person',
            clients: 'any',
            grant: () => ({
              answer: async () => Promise.reject(new OAuthError('invalid_grant', 'Not this one.')),
            }),
          },
        ],
      }),
    };
    const server = startWith({ registration: 'open' }, [forPeople]);
    const grants = ['refresh_token', 'urn:example:people'];
    const { client } = await server.clients.create({ ...SERVICE, grants, public: true });
    expect(client.grants).toEqual(grants);
    const told = await ask(server, '/oauth/register', { grant_types: grants });
    expect(told).toMatchObject({ status: 201, told: { grant_types: grants, response_types: [] } });
    const sent = { grant_type: 'urn:example:people', client_id: client.id };
    expect((await ask(server, '/oauth/token', sent))?.told['error_description']).toBe(
      'Not this one.',
    );
  });

  test.each([
    ['is one of the core', 'client_credentials', ', which already exists'],
    ['is a grant of a different feature', GRANT, ', which already exists'],
    ['is a right of clients', 'introspection', ', which already exists'],
    ['has a space', 'two words', '; its name must be a URI'],
  ])('is refused if it %s', (_, name, why) => {
    const own: Feature = {
      name: 'own',
      start: () => ({
        grants: [
          {
            name,
            begins: 'client',
            clients: 'confidential',
            grant: () => ({ answer: () => Promise.reject(new Error()) }),
          },
        ],
      }),
    };
    expect(() => startWith(ON, [own])).toThrow(`The feature own adds the grant type ${name}${why}`);
  });

  test.each([
    [{ clients: undefined }, "must have clients: 'any' or 'confidential'"],
    [{ clients: 'public' }, "must have clients: 'any' or 'confidential'"],
    [{ begins: undefined }, "must have begins: 'person', 'organization', 'client' or null"],
    [{ clients: 'any' }, "must have clients: 'confidential', because it has begins: 'client'"],
  ])('is refused if its rules are not clear: %j', (rules, why) => {
    expect(() => startWith(ON, [granting(rules)])).toThrow(
      `The grant type urn:example:own of own ${why}`,
    );
  });

  test('gives nothing to a registered public client after it is limited to confidential clients', async () => {
    const before = startWith({}, [granting({ begins: 'person', clients: 'any' })]);
    const grants = ['urn:example:own'];
    const { client } = await before.clients.create({ ...SERVICE, grants, public: true });
    const now = startWith({}, [granting({})]);
    const sent = { grant_type: 'urn:example:own', client_id: client.id };
    expect(await ask(now, '/oauth/token', sent)).toMatchObject({
      status: 400,
      told: { error: 'unauthorized_client' },
    });
  });

  test('limited later to confidential clients gives registered clients no additional rights', async () => {
    const section = { registration: 'open', private_key_jwt: true };
    const before = startWith(section, [granting({ begins: 'person', clients: 'any' })]);
    const jwks = { keys: [newKey('ES256').jwk] };
    const metadata = { token_endpoint_auth_method: 'private_key_jwt', jwks };
    const told = (
      await ask(before, '/oauth/register', { ...metadata, grant_types: ['urn:example:own'] })
    )?.told;
    const now = startWith(section, [granting({})]);
    const endpoint = now.endpoints.find((each) => each.path === '/oauth/register');
    const replaced = await endpoint?.handle(
      new Request(String(told?.['registration_client_uri']), {
        method: 'PUT',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${String(told?.['registration_access_token'])}`,
        },
        body: JSON.stringify({
          ...metadata,
          client_id: told?.['client_id'],
          grant_types: ['client_credentials', 'urn:example:own'],
        }),
      }),
    );
    expect(replaced?.status).toBe(400);
    expect(await replaced?.json()).toMatchObject({ error: 'invalid_client_metadata' });
  });
});

/** A feature with a grant that has these rules and never issues tokens. */
function granting(rules: object): Feature {
  const grant = {
    name: 'urn:example:own',
    begins: 'client',
    clients: 'confidential',
    grant: () => ({ answer: () => Promise.reject(new Error('It was asked.')) }),
    ...rules,
  };
  return { name: 'own', start: () => ({ grants: [grant as GrantType] }) };
}

test('a custom feature can write audit events at the start, and the host receives them', async () => {
  const audited = Promise.withResolvers<void>();
  const event = {
    type: 'client_revoked',
    clientId: 'c-starting',
    cause: 'operator',
  } as unknown as AuditEvent;
  const feature: Feature = {
    name: 'starting',
    start(server) {
      void server.audit(event).then(audited.resolve, audited.reject);
      return {};
    },
  };
  start({}, [feature]);
  await audited.promise;
  expect(events).toContainEqual(event);
});
