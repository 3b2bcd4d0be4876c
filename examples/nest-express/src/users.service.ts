import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Injectable } from '@nestjs/common';
import bcrypt from 'bcryptjs';

export interface User {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly suspended: number;
  readonly permissions: string;
}

/** The application's own users. This service existed before Portico was added. */
@Injectable()
export class UsersService {
  #database: DatabaseSync | undefined;

  byId(id: number): User | null {
    return this.#one('SELECT * FROM users WHERE id = ?', id);
  }

  byEmail(email: string): User | null {
    return this.#one('SELECT * FROM users WHERE email = ?', email);
  }

  async withPassword(email: string, password: string): Promise<User | null> {
    const user = this.byEmail(email);
    const isRight = user !== null && (await bcrypt.compare(password, user.password_hash));
    return isRight && user.suspended === 0 ? user : null;
  }

  #one(sql: string, parameter: number | string): User | null {
    this.#database ??= new DatabaseSync(
      path.join(process.env.STORAGE_DIR ?? 'storage', 'users.sqlite'),
    );
    return (this.#database.prepare(sql).get(parameter) ?? null) as User | null;
  }
}
