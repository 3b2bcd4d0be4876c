import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './contracts.ts';

/**
 * The environment of an application: the process's own values over those of `.env` in its folder. When `.env.local`
 * exists it replaces `.env` altogether.
 */
export function loadEnvironment(directory: string, base: Environment = withoutLent()): Environment {
  const file = ['.env.local', '.env']
    .map((name) => path.join(directory, name))
    .find((name) => existsSync(name));
  return file === undefined ? { ...base } : { ...parseEnv(readFileSync(file, 'utf8')), ...base };
}

/** What the console's run has put into the process's environment. */
let lent: ReadonlyMap<string, string | undefined> = new Map();

/**
 * Puts what `.env` says into the process's environment, where nothing has set it: code that the application's own start command gives
 * that file to (`node --env-file=.env`, dotenv) reads it there. What was lent to another application is taken back before.
 */
export function lendEnvironment(directory: string): void {
  takeEnvironmentBack();
  const all = Object.entries(loadEnvironment(directory));
  lent = new Map(all.filter(([name]) => process.env[name] === undefined));
  Object.assign(process.env, Object.fromEntries(lent));
}

/** Takes back what was lent last, unless it was changed since: the next application in this process has another database. */
export function takeEnvironmentBack(): void {
  for (const name of lent.keys()) if (isLent(name)) Reflect.deleteProperty(process.env, name);
  lent = new Map();
}

/** The process's own environment, as applications of every folder have it. */
function withoutLent(): Environment {
  if (lent.size === 0) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isLent(name)));
}

const isLent = (name: string) => lent.has(name) && lent.get(name) === process.env[name];
