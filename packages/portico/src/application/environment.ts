import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './config-map.ts';

/**
 * Returns an application's environment. Variables of the process override variables in `.env` in
 * the application's folder. If `.env.local` exists, it replaces `.env` completely.
 */
export function loadEnvironment(directory: string, base: Environment = withoutLent()): Environment {
  const file = ['.env.local', '.env']
    .map((name) => path.join(directory, name))
    .find((name) => existsSync(name));
  return file === undefined ? { ...base } : { ...parseEnv(readFileSync(file, 'utf8')), ...base };
}

/** The variables that `lendEnvironment` has added to the process's environment. */
let lent: ReadonlyMap<string, string | undefined> = new Map();

/**
 * Adds the variables in `.env` to the process's environment, except variables that are already set.
 * The application's own start command loads this file (`node --env-file=.env`, dotenv), so some of
 * its code expects the variables there. First removes the variables that an earlier call added for
 * another application.
 */
export function lendEnvironment(directory: string): void {
  takeEnvironmentBack();
  const all = Object.entries(loadEnvironment(directory));
  lent = new Map(all.filter(([name]) => process.env[name] === undefined));
  Object.assign(process.env, Object.fromEntries(lent));
}

/**
 * Removes the variables that `lendEnvironment` added, unless their values have changed since.
 * Otherwise, the next application in this process would use this application's database.
 */
export function takeEnvironmentBack(): void {
  for (const name of lent.keys()) if (isLent(name)) Reflect.deleteProperty(process.env, name);
  lent = new Map();
}

/** Returns the process's environment without the variables that were added for one application. */
function withoutLent(): Environment {
  if (lent.size === 0) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isLent(name)));
}

const isLent = (name: string) => lent.has(name) && lent.get(name) === process.env[name];
