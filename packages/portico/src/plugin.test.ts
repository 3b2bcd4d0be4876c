// @engines sqlite: the database makes no difference
import path from 'node:path';
import { openDatabase, type OpenedDatabase } from '@portico/sql';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { QUIET_LOG } from '../../../test/support/quiet-log.ts';
import type { Plugin } from './application/plugin.ts';
import type { Application } from './application/started-application.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { configOf, HOST, NOW } from './assembly/authorization-server.fixture.ts';
import { migrationsWith } from './assembly/migrations.ts';
import { BearerError } from './errors.ts';
import type { Feature } from './feature.ts';
import { runInContext } from './http/context.ts';
import { Speaking } from './pages/speaking.ts';
import { oauthServer, type OAuthServerPluginOptions } from './plugin.ts';
import { token } from './resource/token-accessor.ts';
import type { Server } from './server.ts';
import { oauthServerMigrations } from './store/migrations/index.ts';

let database: OpenedDatabase;
beforeAll(() => {
  database = openDatabase('sqlite::memory:', { directory: '/' });
});
afterAll(() => database.close());

const REQUEST = new Request('https://app.example/');
const STEP = { name: 'oauth_server_own_0001_rows', up: async () => {} };

/** Returns an application with these members. `did` has what the plugin adds to it. */
function applicationWith(section: object = {}, changes: object = {}) {
  const did = {
    routes: [] as { name: string; path: string; handler: (...given: unknown[]) => unknown }[],
    middlewares: [] as ((request: Request, next: () => Promise<Response>) => unknown)[],
    closing: [] as (() => Promise<void>)[],
    events: [] as unknown[],
  };
  const application = {
    publicUrl: 'https://app.example',
    basePath: '',
    directory: '/srv/app',
    storageDirectory: '/srv/data',
    config: { public_url: 'https://app.example', oauth_server: configOf(section) },
    database,
    mode: 'prod',
    branding: null,
    telemetry: null,
    host: null,
    speaking: new Speaking(),
    log: QUIET_LOG,
    views: { render: async (view: string) => `the view ${view}` },
    passwordHasher: { hash: async () => 'a hash', verify: async () => true },
    events: { on() {}, emit: async (...given: unknown[]) => void did.events.push(given) },
    clientAddress: () => '192.0.2.1',
    services: new Map(),
    migrations: async () => [{ name: 'of the application', appliedAt: null }],
    route: (route: (typeof did.routes)[number]) => void did.routes.push(route),
    middleware: (added: (typeof did.middlewares)[number]) => void did.middlewares.push(added),
    onClose: (work: () => Promise<void>) => void did.closing.push(work),
    ...changes,
  } as unknown as Application;
  return { application, did };
}

/** Registers the plugin with a feature. Returns the server, and what the feature got. */
function register(
  application: Application,
  options: OAuthServerPluginOptions = { host: HOST },
  more: Partial<Feature> = {},
) {
  let server: Server | null = null;
  const registered: unknown[] = [];
  const own: Feature = {
    name: 'own',
    start: (started) => {
      server = started;
      return {};
    },
    register: (...given) => void registered.push(...given),
    ...more,
  };
  const plugin = oauthServer({ features: [own], ...options });
  void plugin.register(application);
  const made = application.services.get('oauth_server') as AuthorizationServer;
  return { plugin, server: server as unknown as Server, made, registered };
}

describe('the plugin adds to an application', () => {
  test('its name, its defaults and its configuration', () => {
    const feature: Feature = {
      name: 'own',
      config: { own_key: z.boolean() },
      endpoints: [{ name: 'own_form', path: '/own', methods: ['POST'] }],
    };
    const { name, defaults, configuration, views } = oauthServer({ features: [feature] });
    expect(name).toBe('oauth_server');
    expect(defaults).toMatchObject({
      oauth_server: {},
      csrf_exempt_routes: { oauth_server_token: true, own_form: true },
    });
    expect(Object.keys(configuration)).toEqual(
      expect.arrayContaining(['oauth_server', 'branding']),
    );
    const section = configuration['oauth_server'] as z.ZodType;
    expect(section.safeParse({ name: 'App', scopes: {}, own_key: true }).success).toBe(true);
    expect(views).toEqual(expect.any(String));
    expect(Object.keys(oauthServer().configuration)).toContain('oauth_server');
  });

  test('what its features find in the configuration', () => {
    const asked: unknown[] = [];
    const branding = { problems: [] };
    const feature: Feature = {
      name: 'own',
      problems(...given) {
        asked.push(given);
        return [{ key: 'own', message: 'is wrong' }];
      },
      messages: { xx: async () => ({}) },
      tokenSchemes: ({ code_ttl: ttl }) => (ttl === 7 ? ['Own'] : []),
      profile: { isServers: () => true, demanded: { code_ttl: 7 }, problems: () => [] } as never,
      branding(...given) {
        asked.push(given);
        return branding;
      },
      migrations: () => [STEP],
    };
    const plugin = oauthServer({ features: [feature] });
    const { config } = applicationWith({ languages: ['en', 'xx'] }).application;
    expect(plugin.problems?.(config)).toEqual([{ key: 'own', message: 'is wrong' }]);
    expect(plugin.words?.(config)).toMatchObject({
      languages: ['en', 'xx'],
      own: { 'scope.notes:read.label': 'Read your notes' },
      catalogs: { xx: expect.any(Function) as unknown },
    });
    expect(plugin.tokenSchemes?.(config)).toContain('Own');
    const place = { directory: '/srv/app', basePath: '/auth' };
    const unbranded = { ...config, branding: undefined };
    expect(plugin.branding?.(unbranded, place)).toBe(branding);
    expect(asked).toMatchObject([
      [{ code_ttl: 7 }, 'https://app.example'],
      [{ name: 'App' }, { ...place, application: unbranded }],
    ]);
    const migrations = plugin.migrations as (given: object) => readonly object[];
    expect(migrations({})).toBe(oauthServerMigrations);
    expect(migrations(config)).toEqual(migrationsWith(configOf(), [feature]));
    expect(migrations(config)).toContain(STEP);
  });

  test('a service, the routes of the endpoints, a middleware and an end', async () => {
    const { application, did } = applicationWith();
    const { made, registered } = register(application);
    expect(registered).toEqual([application, made]);
    const routes = did.routes.map(({ name, path: at }) => [name, at]);
    const endpoints = made.endpoints.map(({ name, path: at }) => [name, at]);
    // The feature health adds its routes in addition.
    expect(routes.slice(0, endpoints.length)).toEqual(endpoints);
    const jwks = did.routes.find(({ name }) => name === 'oauth_server_jwks');
    expect(jwks).toMatchObject({ methods: ['GET', 'OPTIONS'] });
    const response = (await jwks?.handler({}, REQUEST)) as Response;
    expect(await response.json()).toEqual({ keys: [] });
    const started = vi.spyOn(made.outbox, 'start');
    const [middleware] = did.middlewares;
    const inner = async () => {
      expect(() => token().requireUsable()).toThrow(BearerError);
      return new Response('the route');
    };
    const answer = (await middleware?.(REQUEST, inner)) as Response;
    expect(await answer.text()).toBe('the route');
    expect(started).toHaveBeenCalledOnce();
    const stopped = vi.spyOn(made.outbox, 'stop');
    await did.closing[0]?.();
    expect(stopped).toHaveBeenCalledOnce();
  });

  test('no routes if the application does not want them', () => {
    const { application, did } = applicationWith({ routes: false });
    register(application);
    expect(did.routes).toEqual([]);
  });

  test('commands, with those of features', async () => {
    const feature: Feature = {
      name: 'own',
      commands: async () => (program) => void program.command('own:command'),
      clientMetadata: [
        { name: 'own_field', option: { flag: '--own-field <own>', says: 's' } },
      ] as never,
      clientDemands: [{ option: { flag: '--own-demand', says: 's' } }] as never,
      profile: { name: 'own_profile', says: 'is own' } as never,
      signingAlgorithms: [{ name: 'ES999' }] as never,
    };
    const program = new Command();
    const plugin = oauthServer({ features: [feature, { name: 'without' }] });
    await plugin.commands(program, { definition: {}, console: {} } as never);
    const names = program.commands.map((command) => command.name());
    expect(names).toEqual(expect.arrayContaining(['oauth:client:create', 'own:command']));
    const create = program.commands.find((each) => each.name() === 'oauth:client:create');
    const help = create?.helpInformation() ?? '';
    for (const shown of ['--own-field', '--own-demand', 'own_profile', 'ES999'])
      expect(help).toContain(shown);
    expect(help).not.toContain('undefined');
  });

  test.each([
    ['login', { hasRoute: () => false }, 1],
    ['/login', {}, 0],
  ])('a warning if no one can sign in at %s', (route, changes, count) => {
    const host = () => ({ ...HOST });
    const { application } = applicationWith({ login_route: route }, { host, ...changes });
    const { plugin } = register(application, {});
    const warnings = plugin.warnings?.(application) ?? [];
    expect(warnings).toHaveLength(count);
    for (const warning of warnings) expect(warning).toMatch(/^no one can sign in: .+; .+/);
  });

  test('who waits, if its host says so', async () => {
    const waitingFor = async (...given: unknown[]) => given;
    const asked = (tellsWhoWaits: boolean) => {
      const services = new Map([['oauth_server', { host: { tellsWhoWaits }, waitingFor }]]);
      const plugin = oauthServer() as Plugin;
      return plugin.waitingFor?.({ services } as never, REQUEST, '/back');
    };
    expect(await asked(true)).toEqual([REQUEST, '/back']);
    expect(await asked(false)).toBeNull();
  });
});

describe('the server of the plugin', () => {
  test('has the parts and settings of the application', async () => {
    const config = { public_url: 'https://app.example', oauth_server: configOf() };
    const { application } = applicationWith(
      {},
      { basePath: '/auth', config: { ...config, base_path_stripped: true } },
    );
    const { server, made } = register(application, { host: HOST, clock: () => NOW });
    expect(server).toMatchObject({
      issuer: 'https://app.example/auth',
      mountPath: '',
      measuring: null,
      branding: null,
      speaking: application.speaking,
    });
    expect(server.clock()).toBe(NOW);
    expect(await server.migrations()).toEqual([{ name: 'of the application', appliedAt: null }]);
    expect(made.issuer).toBe('https://app.example/auth');
    const kept = applicationWith({}, { basePath: '/auth' }).application;
    expect(register(kept).server.mountPath).toBe('/auth');
    const branding = { view: {}, logos: [] };
    const branded = applicationWith({}, { branding }).application;
    expect(register(branded).server.branding).toBe(branding);
    const telemetry = { observe() {} };
    const measured = applicationWith({}, { telemetry }).application;
    expect(register(measured).made.measuring).not.toBeNull();
  });

  test('may send requests to this computer only in development', () => {
    const allowed = (mode: string) =>
      register(applicationWith({}, { mode, publicUrl: 'http://localhost:3000' }).application).server
        .fetching.allowsLoopback;
    expect([allowed('dev'), allowed('prod')]).toEqual([true, false]);
  });

  test.each([
    [undefined, '/srv/data/oauth/keys'],
    ['storage/oauth/keys', '/srv/data/oauth/keys'],
    ['./storage//oauth/keys', '/srv/data/oauth/keys'],
    ['keys', '/srv/app/keys'],
    ['/keys', '/keys'],
  ])('has its keys, with the setting %s, in %s', (keyPath, expected) => {
    const { application } = applicationWith({ key_path: keyPath });
    const { made } = register(application);
    expect(made.config.key_path).toBe(path.normalize(expected));
    expect(made.config.name).toBe('App');
  });

  test('takes missing parts of its host from the application', async () => {
    const { log: _, ...host } = HOST;
    const { application, did } = applicationWith();
    const asked: unknown[] = [];
    const { made } = register(application, {
      host(given) {
        asked.push(given);
        return host;
      },
    });
    expect(asked).toEqual([application]);
    expect(await made.host.render('oauth/error', {})).toBe('the view oauth/error');
    expect(await made.host.passwordHasher.hash('a')).toBe('a hash');
    expect(made.host.clientAddress(REQUEST)).toBe('192.0.2.1');
    const event = { type: 'secret_rotated', clientId: 'a', previousExpiresAt: null } as const;
    await made.host.audit(event);
    expect(did.events).toEqual([['oauth_server.audit', event]]);
    const lines: unknown[] = [];
    const log = { ...QUIET_LOG, error: (line: string) => void lines.push(line) };
    const logging = applicationWith({}, { log }).application;
    register(logging, { host }).made.host.log.error('a line');
    expect(lines).toEqual(['a line']);
    const outside = () => {
      throw new Error('outside of a request');
    };
    const other = applicationWith({}, { clientAddress: outside }).application;
    expect(register(other, { host }).made.host.clientAddress(REQUEST)).toBeNull();
  });

  test('has the host of the framework, which knows the page for the sign-in', async () => {
    const asked: unknown[] = [];
    const own = (signIn: string) => {
      asked.push(signIn);
      return { signedIn: async () => null, loginUrl: () => '/login' };
    };
    const { application, did } = applicationWith({ login_route: 'enter' }, { host: own });
    const { made } = register(application, {});
    expect(asked).toEqual(['enter']);
    expect(made.host).toMatchObject({ accountFor: null, tellsWhoWaits: true, commit: null });
    expect(made.host.log).toBe(application.log);
    expect(made.host.passwordHasher).toBe(application.passwordHasher);
    expect(await made.host.render('oauth/error', {})).toBe('the view oauth/error');
    const address = runInContext(null, 'r', () => made.host.clientAddress(REQUEST));
    expect([address, made.host.loginUrl('/')]).toEqual(['192.0.2.1', '/login']);
    await made.host.audit({ type: 'secret_rotated' } as never);
    expect(did.events).toEqual([['oauth_server.audit', { type: 'secret_rotated' }]]);
  });

  test('cannot start without a host', () => {
    expect(() => register(applicationWith().application, {})).toThrow(
      'plugins:oauth_server: needs a host; pass oauthServer({ host }), or define the ' +
        'application with @portico/kit',
    );
  });
});
