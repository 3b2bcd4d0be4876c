// The application that `npx portico` uses. server.ts mounts the same definition.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createTokens, type Tokens } from './jwt.ts';
import { definePortico } from './portico.ts';
import { openUsers, type Users } from './users.ts';

let users: Users | null = null;
let tokens: Tokens | null = null;

/** Returns the users of this process. Opens their database on the first call. */
export function theUsers(): Users {
  const storage = path.resolve(import.meta.dirname, process.env['STORAGE_DIR'] ?? 'storage');
  mkdirSync(storage, { recursive: true });
  return (users ??= openUsers(path.join(storage, 'users.sqlite')));
}

/** Returns the application's own tokens. Portico does not use them. */
export function theTokens(): Tokens {
  return (tokens ??= createTokens(process.env['JWT_SECRET'] ?? randomBytes(32).toString('hex')));
}

export default definePortico(theUsers, theTokens);
