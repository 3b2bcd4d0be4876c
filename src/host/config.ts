import type { ZodType } from 'zod';
import type { ConfigMap, ConfigurationProblem, ConfigValue } from './contracts.ts';
import { ConfigurationError } from '../contracts/errors.ts';

/**
 * Lays maps over one another, later ones on top: maps merge by key, arrays by position (an element beyond the later
 * array's end stays), everything else is replaced. An undefined value changes nothing.
 */
export function mergeConfig(...layers: readonly ConfigMap[]): ConfigMap {
  return layers.reduce<ConfigMap>((under, over) => mergeMaps(under, over), {});
}

function mergeMaps(under: ConfigMap, over: ConfigMap): ConfigMap {
  const merged = new Map(Object.entries(under));
  for (const [key, value] of Object.entries(over)) merged.set(key, mergeValues(merged.get(key), value));
  // fromEntries defines properties, so that a key such as __proto__ stays a mere key.
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

/** The documents' form of a key: its parts joined by colons. */
export function configurationKey(path: readonly PropertyKey[]): string {
  return path.map(String).join(':');
}

/**
 * Checks each top-level key that has a schema, and fills in the schema's defaults; other keys are the application's own
 * and pass through. Throws a ConfigurationError with all problems of all keys.
 */
export function validateConfig(config: ConfigMap, schemas: Readonly<Record<string, ZodType>>): ConfigMap {
  const problems: ConfigurationProblem[] = [];
  const validated = new Map(Object.entries(config));
  for (const [key, schema] of Object.entries(schemas)) {
    const result = schema.safeParse(config[key]);
    if (result.success) {
      validated.set(key, result.data);
      continue;
    }
    for (const issue of result.error.issues) {
      const path = [key, ...issue.path];
      if (issue.code === 'unrecognized_keys') {
        for (const unknown of issue.keys) {
          problems.push({
            key: configurationKey([...path, unknown]),
            message: 'is not a known key; remove it',
          });
        }
      } else {
        // What is wrong with a map's key is told by the issues inside.
        const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : issue.message;
        problems.push({ key: configurationKey(path), message: message ?? issue.message });
      }
    }
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Object.fromEntries(validated);
}
