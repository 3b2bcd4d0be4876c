import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './contracts.ts';

/**
 * The environment of an application. The process's values override those of `.env` in its folder.
 * If `.env.local` exists, it replaces `.env` completely.
 */
export function loadEnvironment(directory: string, base: Environment = withoutLent()): Environment {
  const file = ['.env.local', '.env']
    .map((name) => path.join(directory, name))
    .find((name) => existsSync(name));
  return file === undefined ? { ...base } : { ...parseEnv(readFileSync(file, 'utf8')), ...base };
}

/** What the console has added to the process's environment. */
let lent: ReadonlyMap<string, string | undefined> = new Map();

/**
 * Adds the values of `.env` to the process's environment, except for variables that are already
 * set. Some code expects them there, because the application's own start command loads that file
 * (`node --env-file=.env`, dotenv). First removes what was added for another application.
 */
export function lendEnvironment(directory: string): void {
  takeEnvironmentBack();
  const all = Object.entries(loadEnvironment(directory));
  lent = new Map(all.filter(([name]) => process.env[name] === undefined));
  Object.assign(process.env, Object.fromEntries(lent));
}

/**
 * Removes what was added last, unless it was changed since. The next application in this process
 * has another database.
 */
export function takeEnvironmentBack(): void {
  for (const name of lent.keys()) if (isLent(name)) Reflect.deleteProperty(process.env, name);
  lent = new Map();
}

/** The process's environment without those additions, for applications of every folder. */
function withoutLent(): Environment {
  if (lent.size === 0) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isLent(name)));
}

const isLent = (name: string) => lent.has(name) && lent.get(name) === process.env[name];
