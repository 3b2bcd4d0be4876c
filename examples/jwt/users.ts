import { DatabaseSync } from 'node:sqlite';
import bcrypt from 'bcryptjs';

/** A row in the application's own table of users. This table existed before Portico was added. */
export interface User {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly suspended: number;
  readonly permissions: string;
}

export interface Users {
  byId(id: number): User | null;
  byEmail(email: string): User | null;
  mayDo(id: number, permission: string): boolean;
  setSuspended(id: number, suspended: boolean): void;
  setPermissions(id: number, permissions: string): void;
  close(): void;
}

export function openUsers(file: string): Users {
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE IF NOT EXISTS users (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password_hash TEXT NOT NULL,
    suspended INTEGER NOT NULL DEFAULT 0, permissions TEXT NOT NULL
  )`);
  const insert =
    'INSERT OR IGNORE INTO users (email, name, password_hash, permissions) VALUES (?, ?, ?, ?)';
  const hash = bcrypt.hashSync('portico', 8);
  database.prepare(insert).run('ada@example.com', 'Ada Lovelace', hash, 'orders:read mcp:tools');
  database.prepare(insert).run('grace@example.com', 'Grace Hopper', hash, 'orders:read');
  const one = (column: 'id' | 'email', value: string | number) =>
    (database.prepare(`SELECT * FROM users WHERE ${column} = ?`).get(value) ?? null) as User | null;
  return {
    byId: (id) => one('id', id),
    byEmail: (email) => one('email', email),
    mayDo: (id, permission) => one('id', id)?.permissions.split(' ').includes(permission) ?? false,
    setSuspended(id, suspended) {
      database.prepare('UPDATE users SET suspended = ? WHERE id = ?').run(suspended ? 1 : 0, id);
    },
    setPermissions(id, permissions) {
      database.prepare('UPDATE users SET permissions = ? WHERE id = ?').run(permissions, id);
    },
    close: () => database.close(),
  };
}
