// What `npx portico` works on: the same definition that server.ts mounts.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { definePortico } from './portico.ts';
import { openUsers, type Users } from './users.ts';

let users: Users | null = null;

/** The users of this process, opened when they are first asked for. */
export function theUsers(): Users {
  const storage = path.resolve(import.meta.dirname, process.env['STORAGE_DIR'] ?? 'storage');
  mkdirSync(storage, { recursive: true });
  return (users ??= openUsers(path.join(storage, 'users.sqlite')));
}

export default definePortico(theUsers);
