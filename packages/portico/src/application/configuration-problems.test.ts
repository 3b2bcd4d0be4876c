import path from 'node:path';
import { ConfigurationError, isConfigurationError } from '@portico/sql';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Branding } from '../pages/branding.ts';
import {
  applicationName,
  getDirectory,
  readConfiguration,
  requirePlugins,
  validateConfig,
} from './configuration.ts';
import type { ApplicationDefinition } from './definition.ts';
import { EMPTY_PLUGIN } from '../../../../test/support/plugin.ts';
import type { Plugin } from './plugin.ts';

const FOLDER = path.join(import.meta.dirname, 'no-such-folder');
const PUBLIC = { public_url: 'https://app.example' };

const plugin = (parts: Partial<Plugin> = {}): Plugin => ({
  ...EMPTY_PLUGIN,
  name: 'own',
  ...parts,
});

const read = (parts: Partial<ApplicationDefinition> = {}, env = {}) =>
  readConfiguration({ directory: FOLDER, config: PUBLIC, ...parts }, env);

/** Returns the problems of a configuration, each as its key and its message. */
function problemsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    return error.problems.map(({ key, message }) => `${key}: ${message}`);
  }
  return [];
}

test('the later layer wins: defaults of the kit, then of plugins, then the application', () => {
  const plugins = [
    plugin({ defaults: { body_limit: 2000, session_ttl: 100, trusted_proxies: 1 } }),
    plugin({ defaults: (env) => ({ session_ttl: Number(env['TTL']), trusted_proxies: 2 }) }),
  ];
  const config = () => ({ ...PUBLIC, trusted_proxies: 3 });
  expect(read({ plugins, config }, { TTL: '200' }).kit).toMatchObject({
    body_limit: 2000,
    session_ttl: 200,
    trusted_proxies: 3,
    database_pool_size: 10,
  });
});

test('the environment chooses the mode, the storage and the database', () => {
  const { mode, storageDirectory, kit, branding } = read();
  const storage = path.join(FOLDER, 'storage');
  expect([mode, storageDirectory, kit.database_url, branding]).toEqual([
    'prod',
    storage,
    `sqlite:${path.join(storage, 'app.sqlite')}`,
    null,
  ]);
  const env = { APP_ENV: 'dev', STORAGE_DIR: '/data', DATABASE_URL: 'sqlite:/other.sqlite' };
  const other = read({}, env);
  expect([other.mode, other.storageDirectory, other.kit.database_url, other.env]).toEqual([
    'dev',
    '/data',
    'sqlite:/other.sqlite',
    env,
  ]);
  expect(read({}, { APP_ENV: 'prod' }).mode).toBe('prod');
  expect(getDirectory({ config: {} })).toBe(process.cwd());
});

test('APP_ENV is dev or prod', () => {
  for (const wrong of ['', 'development'])
    expect(problemsOf(() => read({}, { APP_ENV: wrong }))).toEqual([
      'APP_ENV: must be "dev" or "prod"',
    ]);
});

test('settings of connections have no effect beside a database of the application', () => {
  const database = {} as never;
  const settings = {
    database_url: 'sqlite:a',
    database_pool_size: 5,
    database_connection_lifetime: 60,
    database_statement_timeout: 5,
  };
  const config = { ...PUBLIC, ...settings };
  expect(problemsOf(() => read({ database, config }))).toEqual(
    Object.keys(settings).map(
      (key) => `${key}: has no effect, because the application passes its own database; remove it`,
    ),
  );
  expect(problemsOf(() => read({ config }))).toEqual([]);
  expect(problemsOf(() => read({ database }))).toEqual([]);
});

test('base_path_stripped needs a base path', () => {
  const stripped = { ...PUBLIC, base_path_stripped: true };
  expect(problemsOf(() => read({ config: stripped }))).toEqual([
    expect.stringMatching(/^base_path_stripped: is true, but base_path is empty/) as string,
  ]);
  expect(problemsOf(() => read({ config: { ...stripped, base_path: '/auth' } }))).toEqual([]);
});

test('problems of plugins and of branding are reported together', () => {
  const seen: unknown[] = [];
  const plugins = [
    plugin({ problems: (config) => [{ key: 'one', message: String(config['public_url']) }] }),
    plugin({
      branding: (_, place) => {
        seen.push(place);
        return { problems: [{ key: 'two', message: 'is wrong' }] };
      },
      problems: () => [{ key: 'three', message: 'is wrong' }],
    }),
    plugin({ branding: () => null }),
  ];
  expect(problemsOf(() => read({ plugins, config: { ...PUBLIC, base_path: '/auth' } }))).toEqual([
    'two: is wrong',
    'one: https://app.example',
    'three: is wrong',
  ]);
  expect(seen).toEqual([{ directory: FOLDER, basePath: '/auth' }]);
  // Without a message, a refused branding is refused as well.
  const silent = plugin({ branding: () => ({ problems: [] }) });
  expect(() => read({ plugins: [silent] })).toThrow(ConfigurationError);
  const branding = { logos: [] } as unknown as Branding;
  expect(read({ plugins: [plugin({ branding: () => branding })] }).branding).toBe(branding);
});

test('a missing variable is named beside the setting that it is for', () => {
  const text = z.string('is missing');
  const plugins = [
    plugin(),
    plugin({
      configuration: { token: text, other: text },
      variables: { OWN_TOKEN: 'token', OWN_MORE: 'more' },
    }),
  ];
  expect(problemsOf(() => read({ plugins }, { OWN_TOKEN: '' }))).toEqual([
    'token: is missing (OWN_TOKEN is not set)',
    'other: is missing',
    'more: is missing; set OWN_MORE',
  ]);
  const env = { OWN_TOKEN: 'a', OWN_MORE: 'b' };
  expect(problemsOf(() => read({ plugins }, env))).toEqual([
    'token: is missing',
    'other: is missing',
  ]);
  expect(
    problemsOf(() => read({ plugins, config: { ...PUBLIC, token: 'a', other: 'b' } })),
  ).toEqual([]);
});

test('an address that needs development says where APP_ENV was looked for', () => {
  const config = { public_url: 'http://localhost:8080' };
  const first = expect.stringMatching(/^public_url: must be https \(http is allowed/) as string;
  expect(problemsOf(() => read({ config }))).toEqual([
    first,
    `APP_ENV: is not set in the environment or in the .env file of ${FOLDER}; for ` +
      'development, set it to "dev"',
  ]);
  expect(problemsOf(() => read({ config }, { APP_ENV: 'prod' }))).toEqual([first]);
  expect(problemsOf(() => read({ config: { public_url: 'http://app.example' } }))).toHaveLength(1);
});

test('an error that is not about the configuration is kept', () => {
  const failure = new TypeError('a fault of the plugin');
  const plugins = [
    plugin({
      problems() {
        throw failure;
      },
    }),
  ];
  expect(() => read({ plugins })).toThrow(failure);
});

test('a problem within a map or of its key is reported with its whole path', () => {
  const schemas = {
    map: z.record(z.string().max(3, 'is too long'), z.strictObject({ list: z.array(z.string()) })),
  };
  expect(problemsOf(() => validateConfig({ map: { long_key: { list: [] } } }, schemas))).toEqual([
    'map:long_key: is too long',
  ]);
  const inner = { map: { a: { list: ['x', 1], more: 1, all: 2 } }, own: 1 };
  expect(
    problemsOf(() => validateConfig(inner, schemas)).map((each) => each.split(': ')[0]),
  ).toEqual(['map:a:list:1', 'map:a:more', 'map:a:all']);
  expect(validateConfig({ own: 1, map: {} }, schemas)).toEqual({ own: 1, map: {} });
});

test('a plugin is what a plugin function returns', () => {
  const check =
    (...plugins: unknown[]) =>
    () =>
      requirePlugins({ plugins } as never);
  expect(check(plugin())).not.toThrow();
  expect(() => requirePlugins({ config: {} })).not.toThrow();
  function oauthServer() {}
  expect(check(plugin(), oauthServer)).toThrow(
    'plugins:1: must be a plugin, but is a function; call it: oauthServer()',
  );
  expect(check(() => {})).toThrow('but is a function; call it: it()');
  for (const wrong of [null, undefined, 'one', {}, { register: 1 }, { commands: 1 }])
    expect(check(wrong)).toThrow(
      'plugins:0: must be a plugin: pass the return value of oauthServer() or of another ' +
        'plugin function',
    );
});

test('people see the name of the application, or else the host of its address', () => {
  const url = 'https://app.example:8443';
  expect([
    applicationName({ name: 'One', oauth_server: { name: 'Two' } }, url),
    applicationName({ oauth_server: { name: 'Two' } }, url),
    applicationName({ name: 1, oauth_server: {} }, url),
    applicationName({}, url),
  ]).toEqual(['One', 'Two', 'app.example:8443', 'app.example:8443']);
});
