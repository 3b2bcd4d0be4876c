// The application that `npx portico` uses. server.ts mounts the same definition.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { definePortico } from './portico.ts';
import { openUsers, type Users } from './users.ts';

let users: Users | null = null;

/** Returns the users of this process. Opens their database on the first call. */
export function theUsers(): Users {
  const storage = path.resolve(import.meta.dirname, process.env['STORAGE_DIR'] ?? 'storage');
  mkdirSync(storage, { recursive: true });
  return (users ??= openUsers(path.join(storage, 'users.sqlite')));
}

export default definePortico(theUsers);
