// The application's own users and sessions. This file existed before Portico was added.
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface User {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly suspended: number;
  readonly permissions: string;
}

const database = new DatabaseSync(
  path.join(Deno.env.get('STORAGE_DIR') ?? 'storage', 'users.sqlite'),
);
database.exec('PRAGMA busy_timeout = 1000');

const one = (condition: string, value: string | number) =>
  (database.prepare(`SELECT * FROM users WHERE ${condition}`).get(value) ?? null) as User | null;

export const userById = (id: number) => one('id = ?', id);
export const userByEmail = (email: string) => one('email = ?', email);

const sessions = new Map<string, number>();

export function createSession(user: User): string {
  const id = crypto.randomUUID();
  sessions.set(id, user.id);
  return id;
}

function sessionOf(request: Request): string {
  return /(?:^|; )session=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? '';
}

export function userOfSession(request: Request): User | null {
  const user = userById(sessions.get(sessionOf(request)) ?? 0);
  return user?.suspended === 0 ? user : null;
}

export function endSession(request: Request): void {
  sessions.delete(sessionOf(request));
}
