import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './config-map.ts';

/**
 * Returns an application's environment. The process's values override those of `.env` in the
 * application's folder. If `.env.local` exists, it replaces `.env` completely.
 */
export function loadEnvironment(directory: string, base: Environment = withoutLent()): Environment {
  const file = ['.env.local', '.env']
    .map((name) => path.join(directory, name))
    .find((name) => existsSync(name));
  return file === undefined ? { ...base } : { ...parseEnv(readFileSync(file, 'utf8')), ...base };
}

/** The values that `lendEnvironment` has added to the process's environment. */
let lent: ReadonlyMap<string, string | undefined> = new Map();

/**
 * Adds the values of `.env` to the process's environment, except for variables that are already
 * set. Some code expects the values there, because the application's own start command loads that
 * file (`node --env-file=.env`, dotenv). First removes the values of another application.
 */
export function lendEnvironment(directory: string): void {
  takeEnvironmentBack();
  const all = Object.entries(loadEnvironment(directory));
  lent = new Map(all.filter(([name]) => process.env[name] === undefined));
  Object.assign(process.env, Object.fromEntries(lent));
}

/**
 * Removes the added values, except for variables that have changed since they were added. If they
 * stayed, the next application in this process would use this application's database.
 */
export function takeEnvironmentBack(): void {
  for (const name of lent.keys()) if (isLent(name)) Reflect.deleteProperty(process.env, name);
  lent = new Map();
}

/**
 * Returns the process's environment without the added values, because they belong to the folder of
 * one application.
 */
function withoutLent(): Environment {
  if (lent.size === 0) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isLent(name)));
}

const isLent = (name: string) => lent.has(name) && lent.get(name) === process.env[name];
