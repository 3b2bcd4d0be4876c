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

const one = (condition: string, value: string | number) =>
  (database.prepare(`SELECT * FROM users WHERE ${condition}`).get(value) ?? null) as User | null;

export const userById = (id: number) => one('id = ?', id);
export const userByEmail = (email: string) => one('email = ?', email);
