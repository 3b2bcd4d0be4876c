import path from 'node:path';
import { ConfigurationError, isConfigurationError } from '@portico/sql';
import { safeParse, type ZodType } from 'zod';
import type { ConfigSchema } from '../config.ts';
import { strippedProblems } from '../http/base-path.ts';
import type { ApplicationDefinition, Configuration } from './definition.ts';
import type { ConfigMap, ConfigValue, Environment } from './config-map.ts';
import type { ConfigurationProblem } from '@portico/sql';
import type { Plugin } from './plugin.ts';
import { loadEnvironment } from './environment.ts';
import { unknownKeyProblem } from './keys-of-packages.ts';
import { kitConfiguration, type KitConfig } from './keys.ts';
import { HTTP_NEEDS_DEV } from './public-url.ts';

/** The value of `log:path` for standard output. */
export const STANDARD_OUTPUT = '-';

export function getDirectory({ directory = '.' }: ApplicationDefinition): string {
  return path.resolve(directory);
}

/**
 * Returns the validated configuration. Plugins' defaults override the kit's, and the application's
 * values override all defaults. `base` replaces the environment of the process. Throws a
 * ConfigurationError with all problems.
 */
export function readConfiguration(
  definition: ApplicationDefinition,
  base?: Environment,
): Configuration {
  const directory = getDirectory(definition);
  const env = loadEnvironment(directory, base);
  const mode = env['APP_ENV'] === 'dev' ? 'dev' : 'prod';
  const storageDirectory = path.resolve(directory, env['STORAGE_DIR'] ?? 'storage');
  const plugins = definition.plugins ?? [];
  const layers = [...plugins.map((plugin) => plugin.defaults), definition.config];
  const chosen = mergeConfig(
    ...layers.map((layer) => (typeof layer === 'function' ? layer(env) : layer)),
  );
  // Next takes the result of path.join for a file that the application needs, and copies the
  // database into the build.
  const databaseFile = path.normalize(`${storageDirectory}/app.sqlite`);
  const databaseUrl = env['DATABASE_URL'] ?? `sqlite:${databaseFile}`;
  const contributed = [...plugins, definition].map(({ configuration }) => configuration);
  const schemas = Object.assign({}, kitConfiguration(mode, databaseUrl), ...contributed);
  const problems = earlyProblems(definition, chosen, env);
  try {
    const config = validateConfig(chosen, schemas);
    const { base_path: basePath, base_path_stripped: stripped } = config as unknown as KitConfig;
    for (const message of strippedProblems(basePath, stripped))
      problems.push({ key: 'base_path_stripped', message });
    const found = plugins.find((each) => each.branding !== undefined)?.branding;
    const branding = found?.(config, { directory, basePath }) ?? null;
    const isRefused = branding !== null && 'problems' in branding;
    if (isRefused) problems.push(...branding.problems);
    for (const plugin of plugins) problems.push(...(plugin.problems?.(config) ?? []));
    if (problems.length === 0 && !isRefused) {
      return { env, mode, storageDirectory, config, kit: config as unknown as KitConfig, branding };
    }
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    problems.push(...withVariables(error.problems, plugins, env));
    const needsDev = error.problems.some(({ message }) => message.startsWith(HTTP_NEEDS_DEV));
    if (needsDev && env['APP_ENV'] === undefined)
      problems.push({
        key: 'APP_ENV',
        message:
          `is not set in the environment or in the .env file of ${directory}; for ` +
          'development, set it to "dev"',
      });
  }
  throw new ConfigurationError(problems);
}

/** The problems that can be found before the validation. */
function earlyProblems(
  { database }: ApplicationDefinition,
  chosen: ConfigMap,
  env: Environment,
): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if (database !== undefined) {
    for (const key of OF_OWN_CONNECTIONS.filter((each) => chosen[each] !== undefined))
      problems.push({
        key,
        message: 'has no effect, because the application passes its own database; remove it',
      });
  }
  if (!['dev', 'prod', undefined].includes(env['APP_ENV']))
    problems.push({ key: 'APP_ENV', message: 'must be "dev" or "prod"' });
  return problems;
}

/**
 * Adds the names of missing environment variables to the problems that they cause. A missing
 * variable without a problem gets one.
 */
function withVariables(
  problems: readonly ConfigurationProblem[],
  plugins: readonly Plugin[],
  env: Environment,
): readonly ConfigurationProblem[] {
  const missing = plugins
    .flatMap(({ variables = {} }) => Object.entries(variables))
    .filter(([variable]) => (env[variable] ?? '') === '');
  const named = problems.map(({ key, message }) => {
    const [variable] = missing.find(([, each]) => each === key) ?? [];
    return {
      key,
      message: variable === undefined ? message : `${message} (${variable} is not set)`,
    };
  });
  const known = new Set(problems.map(({ key }) => key));
  const others = missing.filter(([, key]) => !known.has(key));
  return [
    ...named,
    ...others.map(([variable, key]) => ({ key, message: `is missing; set ${variable}` })),
  ];
}

/**
 * Portico opens connections with these keys. They have no effect on the application's own database.
 */
const OF_OWN_CONNECTIONS = [
  'database_url',
  'database_pool_size',
  'database_connection_lifetime',
  'database_statement_timeout',
];

/** Throws a ConfigurationError for anything that is not a plugin. */
export function requirePlugins({ plugins = [] }: ApplicationDefinition): void {
  const problems = plugins.flatMap((plugin: unknown, index): readonly ConfigurationProblem[] => {
    const key = `plugins:${index}`;
    if (typeof plugin === 'function') {
      const name = plugin.name === '' ? 'it' : plugin.name;
      return [{ key, message: `must be a plugin, but is a function; call it: ${name}()` }];
    }
    const isPlugin =
      typeof plugin === 'object' && plugin !== null && 'register' in plugin && 'commands' in plugin;
    return isPlugin
      ? []
      : [
          {
            key,
            message:
              'must be a plugin: pass the return value of oauthServer() or of another plugin ' +
              'function',
          },
        ];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/**
 * Returns the application's name for users: the setting `name`, or else `oauth_server:name`, or
 * else the host of `public_url`.
 */
export function applicationName(config: ConfigMap, publicUrl: string): string {
  const named = [config['name'], (config['oauth_server'] as ConfigMap | undefined)?.['name']];
  return named.find((name) => typeof name === 'string') ?? new URL(publicUrl).host;
}

// --- merging and validating ----------------------------------------------------------------------

/**
 * Merges layers of configuration. A later layer overrides earlier ones.
 *
 * - Maps are merged key by key.
 * - Arrays are merged by position. Remaining elements of a longer earlier array stay.
 * - Other values replace the earlier value.
 * - The value undefined changes nothing.
 *
 * @example
 * mergeConfig({ list: ['a', 'b'] }, { list: ['c'] }); // { list: ['c', 'b'] }
 */
export function mergeConfig(...layers: readonly ConfigMap[]): ConfigMap {
  return layers.reduce<ConfigMap>((under, over) => mergeMaps(under, over), {});
}

function mergeMaps(under: ConfigMap, over: ConfigMap): ConfigMap {
  const merged = new Map(Object.entries(under));
  for (const [key, value] of Object.entries(over))
    merged.set(key, mergeValues(merged.get(key), value));
  // `Object.fromEntries` treats `__proto__` as an ordinary key, so a configuration cannot replace a
  // prototype.
  return Object.fromEntries(merged);
}

function mergeValues(under: ConfigValue, over: ConfigValue): ConfigValue {
  if (over === undefined) return under;
  if (isMap(over)) return mergeMaps(isMap(under) ? under : {}, over);
  if (!Array.isArray(over)) return over;
  const values: readonly unknown[] = over;
  const beneath: readonly unknown[] = Array.isArray(under) ? under : [];
  const length = Math.max(values.length, beneath.length);
  return Array.from({ length }, (_, index) => mergeValues(beneath[index], values[index]));
}

function isMap(value: ConfigValue): value is ConfigMap {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns a key as messages show it, for example `oauth_server:name`. */
function configurationKey(path: readonly PropertyKey[]): string {
  return path.map(String).join(':');
}

/**
 * Validates each top-level key with a schema, and fills in defaults. Other keys belong to the
 * application and stay unchanged. Throws a ConfigurationError with all problems.
 */
export function validateConfig(
  config: ConfigMap,
  schemas: Readonly<Record<string, ConfigSchema>>,
): ConfigMap {
  const problems: ConfigurationProblem[] = [];
  const validated = new Map(Object.entries(config));
  for (const [key, schema] of Object.entries(schemas)) {
    const result = safeParse(schema as ZodType, config[key]);
    if (result.success) {
      validated.set(key, result.data);
      continue;
    }
    for (const issue of result.error.issues) {
      const path = [key, ...issue.path];
      if (issue.code === 'unrecognized_keys') {
        for (const unknown of issue.keys) {
          const unknownKey = configurationKey([...path, unknown]);
          problems.push({ key: unknownKey, message: unknownKeyProblem(unknownKey) });
        }
      } else {
        // If a key of a map is invalid, Zod puts the message into an inner issue.
        const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : issue.message;
        problems.push({ key: configurationKey(path), message: message ?? issue.message });
      }
    }
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Object.fromEntries(validated);
}
