// The application's own users. This file existed before Portico was added.
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

function one(sql: string, parameter: number | string): User | null {
  // Do not use path.join here: Next takes its result for a file that the application needs, and
  // copies the database into the build.
  opened ??= new DatabaseSync(`${process.env.STORAGE_DIR ?? 'storage'}/users.sqlite`);
  return (opened.prepare(sql).get(parameter) ?? null) as User | null;
}

export const userById = (id: number) => one('SELECT * FROM users WHERE id = ?', id);
export const userByEmail = (email: string) => one('SELECT * FROM users WHERE email = ?', email);
