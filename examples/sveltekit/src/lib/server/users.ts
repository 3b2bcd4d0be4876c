// The application's own users and sessions. This file existed before Portico was added.
import { createHash, randomBytes } from 'node:crypto';
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

let opened: DatabaseSync | undefined;

function database(): DatabaseSync {
  if (opened === undefined) {
    const file = path.join(process.env.STORAGE_DIR ?? 'storage', 'users.sqlite');
    opened = new DatabaseSync(file, { timeout: 1000 });
    opened.exec(
      'CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, user_id INTEGER NOT NULL)',
    );
  }
  return opened;
}

export function userById(id: number): User | null {
  return (database().prepare('SELECT * FROM users WHERE id = ?').get(id) ?? null) as User | null;
}

export function userByEmail(email: string): User | null {
  return (database().prepare('SELECT * FROM users WHERE email = ?').get(email) ??
    null) as User | null;
}

const idOf = (token: string) => createHash('sha256').update(token).digest('hex');

export function createSession(user: User): string {
  const token = randomBytes(32).toString('base64url');
  database().prepare('INSERT INTO sessions VALUES (?, ?)').run(idOf(token), user.id);
  return token;
}

export function userOfSession(token = ''): User | null {
  const sql =
    'SELECT users.* FROM users JOIN sessions ON user_id = users.id WHERE sessions.id = ? AND suspended = 0';
  return (database().prepare(sql).get(idOf(token)) ?? null) as User | null;
}

export function endSession(token = ''): void {
  database().prepare('DELETE FROM sessions WHERE id = ?').run(idOf(token));
}
