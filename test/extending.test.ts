// @engines sqlite: it reads docs/extending.md, and asks the feature that stands there
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
  type AuthorizationServer,
  type Feature,
  type OpenedDatabase,
} from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ROOT } from './support/console.ts';
import { blocksOf } from './support/documents.ts';

const ISSUER = 'https://app.example';
const SECTION = { name: 'Orders', scopes: { 'orders:read': 'See your orders' } };

let folder: string;
let database: OpenedDatabase;
let maintenance: Feature;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-extending-'));
  database = openDatabase('sqlite:data.sqlite', { directory: folder });
  await migrate(database, oauthServerMigrations);
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const page = await readFile(path.join(ROOT, 'docs', 'extending.md'), 'utf8');
  const block = blocksOf('docs/extending.md', page).find(({ file }) => file === 'maintenance.ts');
  const file = path.join(folder, 'maintenance.ts');
  const code = block?.code.replace("'portico'", `'${pathToFileURL(SERVER).href}'`) ?? '';
  await writeFile(file, code);
  ({ maintenance } = (await import(pathToFileURL(file).href)) as { readonly maintenance: Feature });
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
      loginUrl: '/login',
      log: { debug() {}, info() {}, warning() {}, error() {} },
    },
  });
}

async function ask(
  { endpoints }: AuthorizationServer,
  at: string,
  form?: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly told: Readonly<Record<string, unknown>> } | null> {
  const endpoint = endpoints.find((each) => each.path === at);
  if (endpoint === undefined) return null;
  const init = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
  const response = await endpoint.handle(new Request(`${ISSUER}${at}`, init));
  return { status: response.status, told: (await response.json()) as Readonly<Record<string, unknown>> };
}

describe('a feature of the application', () => {
  test('adds an endpoint, a metadata member, and a check of issued tokens', async () => {
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

  test('has its own configuration keys, which are checked, and which are unknown without it', () => {
    expect(() => start({ maintenance: 'yes' })).toThrow('must be true or false');
    expect(() => oauthServerConfiguration.parse({ ...SECTION, maintenance: true })).toThrow('maintenance');
    const section = configurationWith([maintenance]);
    expect(section.safeParse({ ...SECTION, maintenance: 1 }).success).toBe(false);
    expect(section.safeParse({ ...SECTION, maintenance: true }).success).toBe(true);
  });

  test('leaves nothing if it is not added', async () => {
    const server = start({}, []);
    expect(await ask(server, '/oauth/maintenance')).toBeNull();
    expect(
      Object.keys((await ask(server, '/.well-known/oauth-authorization-server'))?.told ?? {}),
    ).not.toContain('maintenance_endpoint');
  });

  test('must be the only one that binds tokens to a key', () => {
    const binding = {} as never;
    const features = ['one', 'other'].map((name): Feature => ({ name, start: () => ({ binding }) }));
    expect(() => start({}, features)).toThrow('a server has one of them');
  });
});

describe('a feature of the application is refused', () => {
  const feature = (parts: Partial<Feature>): Feature => ({ name: 'own', ...parts });
  const endpoint = (name: string, at: string) =>
    feature({ endpoints: [{ name, path: at, methods: ['POST'] }] });

  test.each([
    ['a configuration key of the core', { config: { access_token_ttl: z.int() } }, 'access_token_ttl'],
    ['a configuration key of another feature', { config: { dpop: z.string() } }, 'dpop'],
    ['a key of a scope that exists', { scopeConfig: { permission: z.string() } }, 'permission'],
  ])('if it adds %s', (_, parts, key) => {
    expect(() => configurationWith([feature(parts as Partial<Feature>)])).toThrow(
      `The feature own adds the configuration key ${key}, which exists`,
    );
  });

  test.each([
    ['has the name of another one', endpoint('oauth_server_par', '/own'), 'oauth_server_par'],
    ['is at the path of one of the core', endpoint('own_token', '/oauth/token'), '/oauth/token'],
    ['is at the path of another feature', endpoint('own_par', '/oauth/par'), '/oauth/par'],
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

test('a check of issued tokens may be asynchronous', async () => {
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
  const form = { grant_type: 'client_credentials', client_id: client.id, client_secret: secret ?? '' };
  expect(await ask(server, '/oauth/token', form)).toMatchObject({
    status: 400,
    told: { error_description: 'No tokens today.' },
  });
});
