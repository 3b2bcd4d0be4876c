// The application's own users and sessions. This file existed before Portico was added.
import { Database } from 'bun:sqlite';
import path from 'node:path';

export interface User {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly suspended: number;
  readonly permissions: string;
}

const database = new Database(path.join(process.env.STORAGE_DIR ?? 'storage', 'users.sqlite'));
database.run('PRAGMA busy_timeout = 1000');
database.run('CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, user_id INTEGER NOT NULL)');

export const userById = (id: number) =>
  database.query<User, [number]>('SELECT * FROM users WHERE id = ?').get(id);

export const userByEmail = (email: string) =>
  database.query<User, [string]>('SELECT * FROM users WHERE email = ?').get(email);

export function createSession(user: User): string {
  const id = crypto.randomUUID();
  database.run('INSERT INTO sessions VALUES (?, ?)', [id, user.id]);
  return id;
}

export const userOfSession = (id: string | null) =>
  database
    .query<User, [string]>(
      'SELECT users.* FROM users JOIN sessions ON user_id = users.id WHERE sessions.id = ? AND suspended = 0',
    )
    .get(id ?? '');

export const endSession = (id: string | null) =>
  database.run('DELETE FROM sessions WHERE id = ?', [id]);
