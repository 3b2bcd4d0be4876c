// @engines sqlite: the database makes no difference
import { migrate, openDatabase, type OpenedDatabase } from '@portico/sql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { currentOrigin } from '../auditing/origin.ts';
import { ClientAuthentication } from '../clients/authentication.ts';
import { jsonReply } from '../endpoints/replies/responses.ts';
import type { Contribution, Feature } from '../feature.ts';
import { token } from '../resource/token-accessor.ts';
import type { Branding } from '../pages/branding.ts';
import { oauthServerMigrations } from '../store/migrations/index.ts';
import type { AuthorizationServerOptions } from './authorization-server-options.ts';
import {
  HOST,
  READING,
  startWith,
  WRITING,
  type StartedWith,
} from './authorization-server.fixture.ts';

const ADA = { provider: 'users', id: '7' };
const OWN_ASSERTIONS = { type: 'urn:own', verifierAt: () => async () => null };

let database: OpenedDatabase;
beforeAll(async () => {
  database = openDatabase('sqlite::memory:', { directory: '/' });
  await migrate(database, oauthServerMigrations);
});
afterAll(() => database.close());

const start = (
  section: object = {},
  changes: Partial<AuthorizationServerOptions> = {},
  adds: Contribution = {},
  feature: NonNullable<StartedWith['feature']> = {},
) => startWith(database, { section, changes, adds, feature });

const told = (section: object, changes: Partial<AuthorizationServerOptions> = {}) => {
  try {
    start(section, changes);
    return 'it started';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a server', () => {
  test('has its URLs, and the same objects as its features', () => {
    const { made, server, parts } = start({ audience: 'https://app.example/api' });
    expect(made).toMatchObject({
      issuer: 'https://app.example',
      basePath: '',
      mountPath: '',
      admitsUnverified: false,
      takesKeys: false,
      arrivals: [],
      resources: [],
      measuring: null,
      binding: null,
      audience: 'https://app.example/api',
      origin: 'https://app.example',
      resourceMetadataUrl: null,
    });
    for (const name of [
      'config',
      'host',
      'arrivals',
      'demands',
      'profiles',
      'keys',
      'audit',
      'outbox',
      'clock',
    ] as const)
      expect(made[name], name).toBe(server[name]);
    expect(server).toMatchObject({
      issuer: 'https://app.example',
      origin: 'https://app.example',
      audience: 'https://app.example/api',
      database,
      branding: null,
      measuring: null,
      paths: { authorize: '/oauth/authorize', home: '/' },
    });
    expect(made.grantTypes).toBe(server.grantTypes());
    expect(parts.clients).toBe(made.clients);
    expect(parts.server()).toBe(made);
    expect(parts).toMatchObject({ binding: null, sid: null, examined: null });
    expect(made.sealing).toBeDefined();
    expect(made.csrfExemptRoutes).toMatchObject({ oauth_server_token: true });
    expect(server.takesKeys()).toBe(false);
    expect(server.workloadTypes()).toEqual([]);
    expect(server.givenAccess()).toBeNull();
  });

  test.each([
    [undefined, '/auth', '/auth/', '/auth/oauth/token'],
    [false, '/auth', '/auth/', '/auth/oauth/token'],
    [true, '', '/auth/', '/oauth/token'],
  ])('has a base path, which a proxy removes: %s', (basePathStripped, mountPath, home, token) => {
    const changes = {
      publicUrl: 'https://app.example/more',
      basePath: '/auth',
      ...(basePathStripped === undefined ? {} : { basePathStripped }),
    };
    const { made, server } = start({}, changes);
    expect(made).toMatchObject({
      issuer: 'https://app.example/auth',
      basePath: '/auth',
      mountPath,
    });
    expect(server.paths.home).toBe(basePathStripped === true ? home : '/');
    expect(made.endpoints.map(({ path }) => path)).toContain(token);
    expect(made.endpoints.map(({ name }) => name)).toContain('oauth_server_metadata_in_front');
  });

  test('knows who waits only if its host says so, and has no details without a feature', async () => {
    const { made, parts } = start();
    const request = new Request('https://app.example/login');
    await expect(made.waitingFor(request, '/oauth/authorize?request_id=a')).rejects.toThrow(
      'tellsWhoWaits',
    );
    expect(await parts.authorizationDetails(request)).toBeUndefined();
    expect(parts.authenticating(async () => null, '/own')).toBeInstanceOf(ClientAuthentication);
  });

  test('warns of missing migrations when it is mounted, if it shows details', async () => {
    const empty = openDatabase('sqlite::memory:', { directory: '/' });
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      startWith(empty, { changes: { showsDetails: true } }).made.mounted();
      await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { interval: 1 });
      expect(warn.mock.calls).toMatchObject([
        [expect.stringContaining('migrations are not applied'), 'PorticoWarning'],
      ]);
    } finally {
      warn.mockRestore();
      await empty.close();
    }
  });

  test('logs a step that fails after the end of a session was stored', async () => {
    const lines: unknown[] = [];
    const log = { ...HOST.log, warning: (...line: unknown[]) => void lines.push(line) };
    const exception = new Error('not told');
    const sessionEnded = async () => () => Promise.reject(exception);
    const { made } = start({}, { host: { ...HOST, log } }, { sessionEnded });
    await made.sessionEnded({ session: 'one' });
    expect(lines).toEqual([[expect.stringContaining('a step after the commit'), { exception }]]);
  });

  test('does not start with a base path or settings that are not valid', () => {
    expect(told({}, { basePath: 'auth' })).toMatch(/^base_path: /);
    expect(told({}, { basePathStripped: true })).toMatch(/^base_path_stripped: /);
    const feature: Feature = {
      name: 'wrong',
      problems: (_, publicUrl) => [{ key: 'own', message: `is wrong at ${publicUrl}` }],
    };
    expect(told({}, { features: [feature] })).toBe('own: is wrong at https://app.example');
    expect(told({}, { publicUrl: 'app.example' })).toBe('Invalid URL');
    expect(told({})).toBe('it started');
  });

  test('has the settings of its profile, and does not start without what it needs', () => {
    const needs: Feature = {
      name: 'strict',
      profile: {
        name: 'strict',
        isServers: () => true,
        demanded: { code_ttl: 7 },
        needs: ['binding'],
        algorithms: ['ES256'],
        idTokenAlgorithms: ['RS256'],
        problems: () => [],
        missing: () => [],
      } as never,
    };
    expect(told({}, { features: [needs] })).toContain('no feature provides binding');
    const offer = { metadata: {}, requestFields: [], answerFields: [] };
    const { made, server } = start(
      {},
      { features: [needs] },
      { binding: { offer } as unknown as NonNullable<Contribution['binding']> },
    );
    expect(server.config.code_ttl).toBe(7);
    expect(server.profiles.servers?.name).toBe('strict');
    expect(made.binding).toBe(offer);
  });

  test('offers its scopes, and knows who holds them', async () => {
    const { made } = start();
    const names = ['openid', 'notes:read', 'other'];
    expect(names.map((name) => made.offers(name))).toEqual([true, true, false]);
    const held = await made.scopesHeldBy(ADA, ['openid', 'notes:read', 'notes:write']);
    expect(held).toEqual(['openid', 'notes:read']);
  });

  test('has the parts of features, and tells their functions what it does', async () => {
    const did: unknown[] = [];
    const { made, server, parts } = start({}, {}, {
      clientAssertions: () => ({ ...OWN_ASSERTIONS, problems: async () => ['a problem'] }),
      givenAccess: 'given',
      interaction: { details: async ({ url }: Request) => ({ url }) },
      sessionEnded: async (_: unknown, ended: unknown) => {
        did.push(ended);
        return async () => void did.push('committed');
      },
      workloads: [{ ...OWN_ASSERTIONS, type: 'urn:workload' }],
      metadata: { own_member: 1 },
      plainEndpoints: [{ name: 'own_plain', path: '/own', methods: [] }],
      expiring: { kind: 'own', remove: async () => ({ removed: 0, after: null }) },
      examination: () => ({ part: 'own' }),
      usesOnce: true,
    } as unknown as Contribution);
    expect(parts.accessPath).toBe('/oauth/applications');
    expect(made.takesKeys).toBe(true);
    expect(server.workloadTypes()).toEqual(['urn:workload']);
    expect(server.givenAccess()).toBe('given');
    expect(await parts.authorizationDetails(new Request(READING))).toEqual({ url: READING });
    expect(made.endpoints.at(-1)?.name).toBe('own_plain');
    expect(made.expiring.map(({ kind }) => kind)).toContain('own');
    const examined = made.examinations.map(({ part }) => part);
    expect([examined[0], examined.at(-1)]).toEqual(['table access', 'own']);
    const client = { id: 'a', keys: { jwks: {} } };
    expect(await made.clientKeyProblems(client as never)).toEqual(['a problem']);
    await made.sessionEnded({ session: 'one' });
    const committed = await made.sessionEndedIn(database, { session: 'two' });
    expect(did).toEqual([{ session: 'one' }, 'committed', { session: 'two' }]);
    await committed();
    expect(did).toHaveLength(4);
    await expect(made.sessionEnded({ session: '' })).rejects.toThrow('sessionEnded needs');
  });
});

describe('the resources of a server', () => {
  const lookUpOf = (api: object): unknown => Reflect.get(api, 'lookUpToken');
  const RESOURCES = {
    [READING]: { scopes: ['notes:read'], challenge: true },
    [WRITING]: { scopes: ['notes:read', 'notes:write'] },
  };
  const refusalAt = async (api: {
    withToken: (r: Request, n: () => Promise<Response>) => unknown;
  }) =>
    (
      (await api.withToken(
        new Request(READING, { headers: { Authorization: 'Bearer unknown' } }),
        async () => new Response('done'),
      )) as Response
    ).status;

  test('are found by their URLs, and each has its own scopes', async () => {
    const { made, server } = start({ resources: RESOURCES });
    expect(made.resources.map(({ resource }) => resource)).toEqual([READING, WRITING]);
    expect(made.resources).toBe(server.resources.all);
    const reading = made.resource(READING);
    expect(reading).toMatchObject({ origin: 'https://app.example', audience: READING });
    expect(reading.resourceMetadataUrl).toContain('/.well-known/oauth-protected-resource/reading');
    expect([reading.offers('notes:read'), reading.offers('notes:write')]).toEqual([true, false]);
    expect(made.resource(WRITING)).toMatchObject({ audience: WRITING });
    expect(made.resource(WRITING).offers('notes:write')).toBe(true);
    expect([made.audience, made.offers('notes:write')]).toEqual([null, true]);
    expect(await refusalAt(reading)).toBe(200);
    expect(() => made.resource('https://other.example')).toThrow(
      "server.resource('https://other.example') is not configured: add the URL to " +
        `oauth_server:resources (configured URLs: ${READING}, ${WRITING})`,
    );
    expect(() => start().made.resource(READING)).toThrow('(configured URLs: none)');
    const audience = 'https://app.example/api';
    const { made: other } = start({ audience });
    expect(lookUpOf(other.resource(audience))).toBe(lookUpOf(other));
    expect(other).toMatchObject({ audience, resourceMetadataUrl: null });
  });

  test('know their scopes, and say where a scope belongs that they do not have', async () => {
    const requiring = (server: ReturnType<typeof start>, url: string | null) => {
      const { made } = server;
      const api = url === null ? made : made.resource(url);
      return api.withToken(new Request(READING), async () => {
        token().requireScope('notes:delete');
        return new Response();
      });
    };
    const several = start({ resources: RESOURCES });
    const required = "token() requires the scope 'notes:delete', which ";
    await expect(requiring(several, READING)).rejects.toThrow(
      `${required}is not a scope of ${READING}`,
    );
    await expect(requiring(several, null)).rejects.toThrow(`${required}belongs to a resource`);
    await expect(requiring(start(), null)).rejects.toThrow(
      `${required}is not in oauth_server:scopes`,
    );
  });

  test('accept only tokens for themselves, which the server issues to its clients', async () => {
    const passwordHasher = {
      hash: async (secret: string) => `hash of ${secret}`,
      verify: async (secret: string, hash: string) => hash === `hash of ${secret}`,
    };
    const host = { ...HOST, passwordHasher };
    const { made } = start({ resources: RESOURCES }, { host });
    const { client, secret } = await made.clients.create({
      name: 'Notebook',
      grants: ['client_credentials', 'introspection'],
      scopes: ['notes:read'],
    });
    const post = async (name: string, form: Readonly<Record<string, string>>) => {
      const found = made.endpoints.find((each) => each.name === `oauth_server_${name}`);
      const credentials = { client_id: client.id, client_secret: secret ?? '' };
      const body = new URLSearchParams({ ...credentials, ...form });
      const response = await found?.handle(new Request(READING, { method: 'POST', body }));
      return (await response?.json()) as Readonly<Record<string, unknown>>;
    };
    const issued = await post('token', { grant_type: 'client_credentials', resource: READING });
    expect(issued).toMatchObject({ token_type: 'Bearer', scope: 'notes:read' });
    const value = String(issued['access_token']);
    const uses = async (url: string | null) => {
      const api = url === null ? made : made.resource(url);
      const headers = { Authorization: `Bearer ${value}` };
      const response = await api.withToken(new Request(READING, { headers }), async () => {
        token().requireUsable();
        return new Response('done');
      });
      return response.status;
    };
    expect([await uses(READING), await uses(WRITING), await uses(null)]).toEqual([200, 401, 401]);
    expect(await post('introspect', { token: value })).toMatchObject({
      active: true,
      client_id: client.id,
      aud: READING,
    });
  });

  test('that are the audience are the main API', () => {
    const { made } = start({ resources: RESOURCES, audience: READING });
    const main = made.resource(READING);
    expect(lookUpOf(main)).toBe(lookUpOf(made));
    expect(() => made.resource('other')).toThrow(`(configured URLs: ${READING}, ${WRITING})`);
  });

  test('have metadata, also with what an application adds', async () => {
    const { made } = start({ resources: RESOURCES });
    const endpoints = made.endpoints.filter(({ name }) => name.includes('resource_metadata'));
    expect(endpoints.map(({ name, path, methods }) => [name, path, methods])).toEqual([
      [
        'oauth_server_resource_metadata',
        '/.well-known/oauth-protected-resource/reading',
        ['GET', 'OPTIONS'],
      ],
      [
        'oauth_server_resource_metadata_2',
        '/.well-known/oauth-protected-resource/writing',
        ['GET', 'OPTIONS'],
      ],
    ]);
    const contents = () =>
      Promise.all(
        endpoints.map(async ({ handle }) => {
          const { resource } = (await (await handle(new Request(READING))).json()) as {
            readonly resource: string;
          };
          return resource;
        }),
      );
    expect(await contents()).toEqual([READING, WRITING]);
    made.resource(WRITING).serveResource({ metadata: { resource: 'replaced' } });
    expect(await contents()).toEqual([READING, 'replaced']);
  });
});

describe('the endpoints of a server', () => {
  const ask = async (
    { made }: ReturnType<typeof start>,
    name: string,
    init: RequestInit = {},
    context?: unknown,
  ) => {
    const found = made.endpoints.find((each) => each.name === `oauth_server_${name}`);
    if (found === undefined) throw new Error(`There is no endpoint ${name}`);
    const response = await found.handle(
      new Request(`https://app.example${found.path}`, init),
      context,
    );
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const body: unknown = isJson ? JSON.parse(text) : text;
    return { status: response.status, body };
  };
  const POST = { method: 'POST', body: new URLSearchParams({ token: 'a' }) };

  test('answer with the handler of their name', async () => {
    const started = start({}, {}, { metadata: { own_member: 1 } });
    const invalid = { status: 401, body: { error: 'invalid_client' } };
    for (const name of ['token', 'revoke', 'introspect'])
      expect(await ask(started, name, POST), name).toMatchObject(invalid);
    expect(await ask(started, 'userinfo')).toMatchObject({ status: 401 });
    const page = await ask(started, 'authorize');
    expect(page).toEqual({ status: 400, body: expect.stringContaining('<!doctype') as string });
    expect((await ask(started, 'consent', POST)).body).not.toEqual(page.body);
    for (const name of ['openid_configuration', 'metadata'])
      expect(await ask(started, name), name).toMatchObject({
        status: 200,
        body: { issuer: 'https://app.example', own_member: 1 },
      });
    const provider = (await ask(started, 'openid_configuration')).body;
    expect(provider).toHaveProperty('userinfo_endpoint');
    expect((await ask(started, 'metadata')).body).not.toHaveProperty('userinfo_endpoint');
    expect(await ask(started, 'jwks')).toEqual({ status: 200, body: { keys: [] } });
  });

  test('show details only if they may, and have the branding of the server', async () => {
    const broken = { render: () => Promise.reject(new Error('no view')) };
    const host = { ...HOST, ...broken, signedIn: () => Promise.reject(new Error('the reason')) };
    const shown: unknown[] = [];
    const render = async (_: string, data: object) => {
      shown.push(data);
      return 'a page';
    };
    const view = { accent: 'green' };
    const branding = () => ({ view, logos: [] }) as unknown as Branding;
    for (const details of [{}, { showsDetails: false }, { showsDetails: true }]) {
      const started = start({}, { ...details, host: { ...host, render } }, {}, { branding });
      expect(started.server.branding?.view).toBe(view);
      expect(await ask(started, 'authorize')).toEqual({ status: 400, body: 'a page' });
    }
    const members = ['detail', 'branding'] as const;
    expect(
      shown.map((data) => members.map((name) => (data as Record<string, unknown>)[name])),
    ).toEqual([
      [null, view],
      [null, view],
      ['no client_id was sent, or more than one', view],
    ]);
  });

  test('of features know the origin of a request if the server records events', async () => {
    const endpoints = [{ name: 'oauth_server_own', path: '/own', methods: ['GET'] }] as const;
    const handlers = () => ({
      oauth_server_own: async () => jsonReply(currentOrigin(() => '192.0.2.1')),
    });
    const originOf = async (section: object) =>
      (await ask(start(section, {}, { handlers }, { endpoints }), 'own')).body;
    expect(await originOf({ audit: { keep: true } })).toMatchObject({ address: '192.0.2.1' });
    expect(await originOf({})).toEqual({ address: null, requestId: null });
  });

  test('cannot have a feature that replaces metadata', () => {
    expect(() => start({}, {}, { metadata: { issuer: 'own' } })).toThrow(
      'A feature adds the metadata member issuer, which the server already has',
    );
  });
});
