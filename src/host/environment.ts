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
