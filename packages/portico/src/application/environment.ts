import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './config-map.ts';

/**
 * Returns the environment of an application. Variables of the process override those in `.env` in
 * the application's folder. `.env.local` replaces `.env` if it exists. `base` replaces the
 * variables of the process. Does not change `process.env`.
 *
 * @example
 * const { DATABASE_URL } = loadEnvironment(import.meta.dirname);
 */
export function loadEnvironment(directory: string, base: Environment = withoutLent()): Environment {
  const file = ['.env.local', '.env']
    .map((name) => path.join(directory, name))
    .find((name) => existsSync(name));
  return file === undefined ? { ...base } : { ...parseEnv(readFileSync(file, 'utf8')), ...base };
}

/** The variables that `lendEnvironment` has added to the process. */
let lent: ReadonlyMap<string, string | undefined> = new Map();

/**
 * Adds the variables of the application's environment file to the process. Variables that are set
 * keep their values. Some code expects them, because the application's own start command loads the
 * file (`node --env-file=.env`, dotenv). First removes the variables of an earlier application.
 */
export function lendEnvironment(directory: string): void {
  takeEnvironmentBack();
  const all = Object.entries(loadEnvironment(directory));
  lent = new Map(all.filter(([name]) => process.env[name] === undefined));
  Object.assign(process.env, Object.fromEntries(lent));
}

/**
 * Removes the variables that `lendEnvironment` has added, if their values are unchanged. Otherwise,
 * the next application in this process would use this application's database.
 */
export function takeEnvironmentBack(): void {
  for (const name of lent.keys()) if (isLent(name)) Reflect.deleteProperty(process.env, name);
  lent = new Map();
}

/** The environment of the process without the variables from `lendEnvironment`. */
function withoutLent(): Environment {
  if (lent.size === 0) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isLent(name)));
}

const isLent = (name: string) => lent.has(name) && lent.get(name) === process.env[name];
