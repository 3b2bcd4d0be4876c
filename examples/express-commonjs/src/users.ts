// The application's own users. This file existed before Portico was added.
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

const file = path.join(process.env.STORAGE_DIR ?? 'storage', 'users.sqlite');
const database = new DatabaseSync(file, { timeout: 1000 });

export function userById(id: number): User | undefined {
  return database.prepare('SELECT * FROM users WHERE id = ?').get(id) as User | undefined;
}

export function userByEmail(email: string): User | undefined {
  return database.prepare('SELECT * FROM users WHERE email = ?').get(email) as User | undefined;
}
