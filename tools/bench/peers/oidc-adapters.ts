import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { Pool } from 'pg';
import { preparedOnce } from '../statements.ts';

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/** The storage of the provider's models and of the accounts. */
export interface Storage {
  readonly adapter: AdapterFactory;
  createTables(): Promise<void>;
  addAccount(account: Account): Promise<void>;
  account(id: string): Promise<Account | undefined>;
  accountByEmail(email: string): Promise<Account | undefined>;
}

/** Opens the storage at this URL: `sqlite:<file>` or `postgres://…`. */
export function openStorage(url: string): Storage {
  return url.startsWith('sqlite:')
    ? new SqliteStorage(url.slice('sqlite:'.length))
    : new PostgresStorage(url);
}

const ACCOUNT = 'SELECT id, email, name, password_hash AS "passwordHash" FROM accounts';

function schema(types: { readonly json: string; readonly afterTable: string }): string {
  return `
    CREATE TABLE oidc_models (
      model TEXT NOT NULL,
      id TEXT NOT NULL,
      payload ${types.json} NOT NULL,
      expires_at BIGINT,
      grant_id TEXT,
      uid TEXT,
      user_code TEXT,
      PRIMARY KEY (model, id)
    )${types.afterTable};
    CREATE INDEX oidc_models_grant_id ON oidc_models (grant_id) WHERE grant_id IS NOT NULL;
    CREATE INDEX oidc_models_uid ON oidc_models (uid) WHERE uid IS NOT NULL;
    CREATE INDEX oidc_models_user_code ON oidc_models (user_code) WHERE user_code IS NOT NULL;
    CREATE TABLE accounts (
      id TEXT PRIMARY KEY,
      email TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      password_hash TEXT NOT NULL
    );`;
}

/** Returns the statements of an adapter. A dialect replaces placeholders such as `$1`. */
function modelQueries({ number, consumed }: Dialect) {
  const [one, two, three, four, five, six, seven] = [1, 2, 3, 4, 5, 6, 7].map(number);
  return {
    upsert: `INSERT INTO oidc_models (model, id, payload, expires_at, grant_id, uid, user_code)
      VALUES (${one}, ${two}, ${three}, ${four}, ${five}, ${six}, ${seven})
      ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at,
        grant_id = excluded.grant_id, uid = excluded.uid, user_code = excluded.user_code`,
    find: `SELECT payload FROM oidc_models WHERE model = ${one} AND id = ${two}`,
    findByUid: `SELECT payload FROM oidc_models WHERE model = ${one} AND uid = ${two}`,
    findByUserCode: `SELECT payload FROM oidc_models WHERE model = ${one} AND user_code = ${two}`,
    consume: `UPDATE oidc_models SET payload = ${consumed(String(three))} WHERE model = ${one} AND id = ${two}`,
    destroy: `DELETE FROM oidc_models WHERE model = ${one} AND id = ${two}`,
    revokeByGrantId: `DELETE FROM oidc_models WHERE model = ${one} AND grant_id = ${two}`,
  };
}

interface Dialect {
  readonly number: (position: number) => string;
  /** Returns the SQL for the payload with the time at which it was consumed. */
  readonly consumed: (time: string) => string;
}

type Name = keyof ReturnType<typeof modelQueries>;
type Value = string | number | null;

function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Returns the provider's adapter for one model. It works with both databases. */
function adapterOf(
  model: string,
  run: (name: Name, ...values: Value[]) => Promise<void>,
  find: (name: Name, value: string) => Promise<AdapterPayload | undefined>,
): Adapter {
  return {
    upsert: (id, payload, expiresIn) => run('upsert', ...upserted(model, id, payload, expiresIn)),
    find: (id) => find('find', id),
    findByUid: (uid) => find('findByUid', uid),
    findByUserCode: (userCode) => find('findByUserCode', userCode),
    consume: (id) => run('consume', model, id, now()),
    destroy: (id) => run('destroy', model, id),
    revokeByGrantId: (grantId) => run('revokeByGrantId', model, grantId),
  };
}

function upserted(
  model: string,
  id: string,
  payload: AdapterPayload,
  expiresIn: number | undefined,
): Value[] {
  const { grantId = null, uid = null, userCode = null } = payload;
  return [
    model,
    id,
    JSON.stringify(payload),
    expiresIn === undefined ? null : now() + expiresIn,
    grantId,
    uid,
    userCode,
  ];
}

class SqliteStorage implements Storage {
  readonly #database: DatabaseSync;
  readonly #prepared: (sql: string) => StatementSync;
  readonly #queries = modelQueries({
    number: (position) => `?${position}`,
    consumed: (time) => `json_set(payload, '$.consumed', ${time})`,
  });

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    this.#prepared = preparedOnce(this.#database);
  }

  readonly adapter = (model: string): Adapter => {
    const run = async (name: Name, ...values: readonly Value[]) => {
      this.#prepared(this.#queries[name]).run(...values);
    };
    const find = async (name: Name, value: string) => {
      const row = this.#prepared(this.#queries[name]).get(model, value);
      return row === undefined ? undefined : (JSON.parse(String(row['payload'])) as AdapterPayload);
    };
    return adapterOf(model, run, find);
  };

  async createTables(): Promise<void> {
    this.#database.exec(schema({ json: 'TEXT', afterTable: ' WITHOUT ROWID' }));
  }

  async addAccount({ id, email, name, passwordHash }: Account): Promise<void> {
    this.#prepared('INSERT INTO accounts VALUES (?, ?, ?, ?)').run(id, email, name, passwordHash);
  }

  async account(id: string): Promise<Account | undefined> {
    return this.#prepared(`${ACCOUNT} WHERE id = ?`).get(id) as Account | undefined;
  }

  async accountByEmail(email: string): Promise<Account | undefined> {
    return this.#prepared(`${ACCOUNT} WHERE email = ?`).get(email) as Account | undefined;
  }
}

class PostgresStorage implements Storage {
  readonly #pool: Pool;
  readonly #queries = modelQueries({
    number: (position) => `$${position}`,
    consumed: (time) => `payload || jsonb_build_object('consumed', ${time}::bigint)`,
  });

  constructor(connectionString: string) {
    this.#pool = new Pool({ connectionString, max: 10 });
  }

  readonly adapter = (model: string): Adapter => {
    const run = async (name: Name, ...values: Value[]) => {
      await this.#pool.query({ name, text: this.#queries[name], values });
    };
    const find = async (name: Name, value: string) => {
      const text = this.#queries[name];
      const { rows } = await this.#pool.query<{ payload: AdapterPayload }>({
        name,
        text,
        values: [model, value],
      });
      return rows[0]?.payload;
    };
    return adapterOf(model, run, find);
  };

  async createTables(): Promise<void> {
    await this.#pool.query(schema({ json: 'JSONB', afterTable: '' }));
  }

  async addAccount({ id, email, name, passwordHash }: Account): Promise<void> {
    await this.#pool.query('INSERT INTO accounts VALUES ($1, $2, $3, $4)', [
      id,
      email,
      name,
      passwordHash,
    ]);
  }

  account(id: string): Promise<Account | undefined> {
    return this.#accountWhere('id', id);
  }

  accountByEmail(email: string): Promise<Account | undefined> {
    return this.#accountWhere('email', email);
  }

  async #accountWhere(column: 'id' | 'email', value: string): Promise<Account | undefined> {
    const name = `account by ${column}`;
    const text = `${ACCOUNT} WHERE ${column} = $1`;
    const { rows } = await this.#pool.query<Account>({ name, text, values: [value] });
    return rows[0];
  }
}
