import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { preparedOnce } from '../statements.ts';

export type Value = string | number | null;

export type Statement = readonly [sql: string, parameters: readonly Value[]];

/** Statements as bare as the driver has them: prepared once, nothing around them. */
export interface Store {
  all(sql: string, parameters: readonly Value[]): Promise<readonly Readonly<Record<string, Value>>[]>;
  transaction(statements: readonly Statement[]): Promise<void>;
}

export async function openStore(url: string): Promise<Store> {
  return url.startsWith('sqlite:') ? sqliteStore(url.slice('sqlite:'.length)) : postgresStore(url);
}

function sqliteStore(file: string): Store {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const statement = preparedOnce(database);
  // As Portico: what one request reads, it reads under one lock.
  let isReading = false;
  const endReading = () => {
    if (isReading) statement('COMMIT').run();
    isReading = false;
  };
  return {
    async all(sql, parameters) {
      if (!isReading) {
        statement('BEGIN').run();
        isReading = true;
        process.nextTick(endReading);
      }
      return statement(sql).all(...parameters) as unknown as readonly Readonly<Record<string, Value>>[];
    },
    async transaction(statements) {
      endReading();
      statement('BEGIN IMMEDIATE').run();
      for (const [sql, parameters] of statements) statement(sql).run(...parameters);
      statement('COMMIT').run();
    },
  };
}

function postgresStore(url: string): Store {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const names = new Map<string, { readonly name: string; readonly text: string }>();
  const named = (sql: string, values: readonly Value[]) => {
    let known = names.get(sql);
    if (known === undefined) {
      let count = 0;
      known = { name: `bare_${names.size}`, text: sql.replace(/\?/g, () => `$${(count += 1)}`) };
      names.set(sql, known);
    }
    return { ...known, values: [...values] };
  };
  return {
    all: async (sql, parameters) => (await pool.query<Record<string, Value>>(named(sql, parameters))).rows,
    async transaction(statements) {
      const client = await pool.connect();
      await client.query('BEGIN');
      for (const [sql, parameters] of statements) await client.query(named(sql, parameters));
      await client.query('COMMIT');
      client.release();
    },
  };
}
