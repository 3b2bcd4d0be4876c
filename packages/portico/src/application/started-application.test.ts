// @engines sqlite: the database makes no difference
import type { Migration } from '@portico/sql';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  defineApplication,
  migrationsOf,
  startApplication,
  type StartedApplication,
  type StartOptions,
} from './application.ts';
import type { ApplicationDefinition } from './definition.ts';
import { EMPTY_PLUGIN } from '../../../../test/support/plugin.ts';
import type { Plugin } from './plugin.ts';
import type { Route } from './routes.ts';
import type { Application } from './started-application.ts';

let folder: string;
let started: Application[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-started-'));
});
afterEach(async () => {
  const opened = started;
  started = [];
  try {
    await Promise.all(opened.map((application) => application.close()));
  } finally {
    await rm(folder, { recursive: true });
  }
});

const PUBLIC = { public_url: 'https://app.example' };

async function start(
  parts: Partial<ApplicationDefinition> = {},
  options: StartOptions = { env: {} },
): Promise<Application> {
  const application = await startApplication(
    { directory: folder, config: PUBLIC, ...parts },
    options,
  );
  started.push(application);
  return application;
}

const plugin = (name: string, parts: Partial<Plugin> = {}): Plugin => ({
  ...EMPTY_PLUGIN,
  name,
  ...parts,
});

const route = (name: string, at: string, parts: Partial<Route> = {}): Route => ({
  name,
  methods: ['GET'],
  path: at,
  handler: () => new Response(name),
  ...parts,
});

const ask = async (application: Application, method: string, at: string) => {
  const response = await (application as StartedApplication).fetch(
    new Request(`https://app.example${at}`, { method }),
  );
  return [response.status, await response.text()];
};

describe('the routes of an application', () => {
  test('answer their own path and methods, and HEAD like GET', async () => {
    const application = await start({
      register(own) {
        own.route(route('one', '/one'));
        own.route(route('form', '/one', { methods: ['POST', 'PUT'] }));
      },
    });
    expect(await ask(application, 'GET', '/one?a')).toEqual([200, 'one']);
    expect(await ask(application, 'HEAD', '/one')).toEqual([200, 'one']);
    expect(await ask(application, 'PUT', '/one')).toEqual([200, 'form']);
    expect(await ask(application, 'DELETE', '/one')).toEqual([404, '']);
    expect(await ask(application, 'GET', '/one/')).toEqual([404, '']);
  });

  test('have unique names, and paths that are known by these names', async () => {
    const twice = start({
      register(own) {
        own.route(route('one', '/one'));
        own.route(route('one', '/two'));
      },
    });
    await expect(twice).rejects.toThrow("Two routes have the name 'one'; rename one");
    const application = await start({ register: (own) => own.route(route('one', '/one')) });
    expect([application.hasRoute('one'), application.hasRoute('two')]).toEqual([true, false]);
    expect(application.path('one')).toBe('/one');
    expect(() => application.path('two')).toThrow("There is no route 'two'");
  });

  test('that yield are left out if another route has the name or the path', async () => {
    const yields = { yields: true } as const;
    const application = await start({
      register(own) {
        own.route(route('one', '/yielding', yields));
        own.route(route('other', '/path', yields));
        own.route(route('third', '/third', yields));
        own.route(route('third', '/fourth', yields));
        own.route(route('one', '/one'));
        own.route(route('two', '/path', { methods: ['POST'] }));
      },
    });
    expect(await ask(application, 'GET', '/yielding')).toEqual([404, '']);
    expect(await ask(application, 'GET', '/path')).toEqual([404, '']);
    expect(await ask(application, 'GET', '/third')).toEqual([200, 'third']);
    expect([application.hasRoute('other'), application.path('third')]).toEqual([false, '/third']);
  });

  test.each([
    [false, '/auth/one', '/auth/one'],
    [true, '/one', '/auth/one'],
  ])('get the base path in links once, if the proxy removes it: %s', async (stripped, at, link) => {
    const config = { ...PUBLIC, base_path: '/auth', base_path_stripped: stripped };
    const application = await start({ config, register: (own) => own.route(route('one', at)) });
    expect([application.path('one'), application.basePath]).toEqual([link, '/auth']);
  });

  test('and middlewares are added only while the application registers', async () => {
    const application = await start({ register: (own) => own.middleware((_, next) => next()) });
    expect(() => application.route(route('one', '/one'))).toThrow(
      'A route can be added only in register()',
    );
    expect(() => application.middleware((_, next) => next())).toThrow(
      'A middleware can be added only in register()',
    );
  });
});

test('a definition is what starts, and its plugins must be plugins', async () => {
  const definition = { config: PUBLIC, plugins: [] };
  expect(defineApplication(definition)).toBe(definition);
  const called = (() => null) as unknown as Plugin;
  await expect(start({ plugins: [called] })).rejects.toThrow('plugins:0: must be a plugin');
});

test('plugins register before the application, and their hooks run around it', async () => {
  const ran: string[] = [];
  const noting = (name: string) =>
    plugin(name, {
      register: async () => void ran.push(name),
      around: async (application, inner) => {
        ran.push(`before, by ${name}`);
        await inner();
        ran.push(`after, by ${name}: ${application.basePath}`);
      },
    });
  const without = plugin('third', { register: () => void ran.push('third') });
  await start({
    plugins: [noting('one'), without, noting('two')],
    register: async () => void ran.push('the application'),
  });
  expect(ran).toEqual([
    'one',
    'third',
    'two',
    'before, by one',
    'before, by two',
    'the application',
    'after, by two: ',
    'after, by one: ',
  ]);
});

test('the application has its folders, its mode and the settings of its pool', async () => {
  const env = { APP_ENV: 'dev', STORAGE_DIR: 'data', MORE: 'x' };
  await mkdir(path.join(folder, 'data'));
  const application = await start({ config: { public_url: 'https://app.example/' } }, { env });
  expect(application).toMatchObject({
    directory: folder,
    storageDirectory: path.join(folder, 'data'),
    mode: 'dev',
    env,
    publicUrl: 'https://app.example',
    basePath: '',
    pool: null,
    telemetry: null,
    branding: null,
    host: null,
  });
  expect(() => application.clientAddress()).toThrow(
    'clientAddress() was called outside a request, or in an application that mounts Portico',
  );
  expect((await start()).mode).toBe('prod');
});

test('migrations come from the framework, the plugins and the application', () => {
  const step = (name: string) => ({ name }) as unknown as Migration;
  const definition = {
    config: {},
    framework: { migrations: () => [step('framework')] },
    plugins: [
      plugin('one', { migrations: [step('one')] }),
      plugin('two', { migrations: (config) => [step(String(config['name']))] }),
    ],
    migrations: [step('own')],
  } as unknown as ApplicationDefinition;
  const names = (...given: Parameters<typeof migrationsOf>) =>
    migrationsOf(...given).map(({ name }) => name);
  expect(names(definition, { name: 'two' })).toEqual(['framework', 'one', 'two', 'own']);
  expect(names(definition)).toEqual(['framework', 'one', 'undefined', 'own']);
  expect(names({ config: {} })).toEqual([]);
});

test('only the chosen migrations are applied', async () => {
  const step = (name: string): Migration => ({
    name,
    async up(schema) {
      await schema.execute(`CREATE TABLE ${name} (id INTEGER)`);
    },
  });
  const application = await start({ migrations: [step('one_0001'), step('two_0001')] });
  expect(await application.migrate((name) => name.startsWith('two'))).toEqual(['two_0001']);
  expect(await application.migrations()).toMatchObject([
    { name: 'one_0001' },
    { name: 'two_0001' },
  ]);
  expect(await application.migrate()).toEqual(['one_0001']);
  expect(await application.printMigrations()).toEqual(expect.any(String));
});

describe('the log', () => {
  test('is a file in the folder of the application', async () => {
    const application = await start();
    application.log.warning('a line');
    application.log.debug('below the level');
    const text = await readFile(path.join(folder, 'logs', 'app.log'), 'utf8');
    expect(text).toContain('a line');
    expect(text).not.toContain('below the level');
  });

  test('is standard output if the path is -', async () => {
    await start({ config: { ...PUBLIC, log: { path: '-' } } });
    expect(await readdir(folder)).not.toContain('-');
  });

  test('that cannot be opened because of another error is no problem of the configuration', async () => {
    const wrong = start({ config: { ...PUBLIC, log: { path: 'a\0b' } } });
    await expect(wrong).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  });

  test('that cannot be opened is a problem of the configuration', async () => {
    const wrong = start({ config: { ...PUBLIC, log: { path: '.' } } });
    await expect(wrong).rejects.toThrow(
      `log:path: is ${folder}, which this process cannot open (EISDIR`,
    );
  });
});
