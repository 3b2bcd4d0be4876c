// What `npx portico` works on: the same definition that server.ts mounts.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createTokens, type Tokens } from './jwt.ts';
import { definePortico } from './portico.ts';
import { openUsers, type Users } from './users.ts';

let users: Users | null = null;
let tokens: Tokens | null = null;

/** The users of this process, opened when they are first asked for. */
export function theUsers(): Users {
  const storage = path.resolve(import.meta.dirname, process.env['STORAGE_DIR'] ?? 'storage');
  mkdirSync(storage, { recursive: true });
  return (users ??= openUsers(path.join(storage, 'users.sqlite')));
}

/** The tokens of this application: not Portico's, which knows nothing of them. */
export function theTokens(): Tokens {
  return (tokens ??= createTokens(process.env['JWT_SECRET'] ?? randomBytes(32).toString('hex')));
}

export default definePortico(theUsers, theTokens);
