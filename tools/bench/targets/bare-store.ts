import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { preparedOnce } from '../statements.ts';

export type Value = string | number | null;

/**
 * A row to insert. `columns` contain texts, and `times` contain numbers. The values follow this
 * order.
 */
export interface NewRow {
  readonly table: string;
  readonly columns: readonly string[];
  readonly times: readonly string[];
}

/**
 * A row to update, and another row to insert if the update matched. PostgreSQL does both in one
 * statement, and SQLite in a transaction.
 */
export interface Pair extends NewRow {
  readonly claim: string;
}

/** Runs statements with the bare driver. Prepares each statement once, and runs no other code. */
export interface Store {
  all(
    sql: string,
    parameters: readonly Value[],
  ): Promise<readonly Readonly<Record<string, Value>>[]>;
  write(sql: string, parameters: readonly Value[]): Promise<void>;
  claimAndInsert(pair: Pair, claim: readonly Value[], insert: readonly Value[]): Promise<void>;
}

export function insertOf({ table, columns, times }: NewRow): string {
  const names = [...columns, ...times];
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
}

export async function openStore(url: string): Promise<Store> {
  return url.startsWith('sqlite:') ? sqliteStore(url.slice('sqlite:'.length)) : postgresStore(url);
}

function asOneStatement({ claim, table, columns, times }: Pair): string {
  const values = [...columns.map(() => '?'), ...times.map(() => 'CAST(? AS BIGINT)')];
  return `WITH claimed AS (${claim} RETURNING 1)
    INSERT INTO ${table} (${[...columns, ...times].join(', ')}) SELECT ${values.join(', ')} FROM claimed`;
}

/** Creates each text only once. */
function once(make: (pair: Pair) => string): (pair: Pair) => string {
  const made = new Map<Pair, string>();
  return (pair) => {
    const sql = made.get(pair) ?? make(pair);
    made.set(pair, sql);
    return sql;
  };
}

function sqliteStore(file: string): Store {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const statement = preparedOnce(database);
  const inserts = once(insertOf);
  // All reads of one request use the same lock, as in Portico.
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
      return statement(sql).all(...parameters) as unknown as readonly Readonly<
        Record<string, Value>
      >[];
    },
    async write(sql, parameters) {
      endReading();
      statement(sql).run(...parameters);
    },
    async claimAndInsert(pair, claim, insert) {
      endReading();
      statement('BEGIN IMMEDIATE').run();
      statement(pair.claim).run(...claim);
      statement(inserts(pair)).run(...insert);
      statement('COMMIT').run();
    },
  };
}

function postgresStore(url: string): Store {
  const together = once(asOneStatement);
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
    all: async (sql, parameters) =>
      (await pool.query<Record<string, Value>>(named(sql, parameters))).rows,
    async write(sql, parameters) {
      await pool.query(named(sql, parameters));
    },
    async claimAndInsert(pair, claim, insert) {
      await pool.query(named(together(pair), [...claim, ...insert]));
    },
  };
}
