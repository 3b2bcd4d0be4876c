import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './contracts.ts';

/**
 * The environment of an application: the process's own values over those of `.env` in its folder. When `.env.local`
 * exists it replaces `.env` altogether.
 */
export function loadEnvironment(directory: string, base: Environment = process.env): Environment {
  const file = ['.env.local', '.env']
    .map((name) => path.join(directory, name))
    .find((name) => existsSync(name));
  return file === undefined ? { ...base } : { ...parseEnv(readFileSync(file, 'utf8')), ...base };
}

/**
 * Puts what `.env` says into the process's environment, where nothing has set it: code that the application's own start command gives
 * that file to (`node --env-file=.env`, dotenv) reads it there. Returns what gives the environment without it, for an application of
 * another folder.
 */
export function lendEnvironment(directory: string): () => Environment {
  const lent = Object.entries(loadEnvironment(directory)).filter(([name]) => process.env[name] === undefined);
  Object.assign(process.env, Object.fromEntries(lent));
  const isLent = new Map(lent);
  return () =>
    Object.fromEntries(Object.entries(process.env).filter(([name, value]) => isLent.get(name) !== value));
}
