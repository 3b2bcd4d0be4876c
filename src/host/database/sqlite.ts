import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDatabase,
  type SqliteDialectConfig,
  type SqliteStatement,
} from 'kysely';

/** How long a statement waits for another process's write, in milliseconds. */
const BUSY_TIMEOUT = 5000;
/** Prepared statements are kept up to this number. */
const KEPT_STATEMENTS = 256;

/**
 * `node:sqlite` behind Kysely's dialect. Transactions are immediate: the write lock is taken at the start, so that a
 * transaction which reads first cannot lose its place to another process.
 */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  /** The file, absolute, or `:memory:`. It is opened at the first statement. */
  constructor(file: string) {
    const config = { database: async () => open(file) };
    super(config);
    this.#config = config;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateSqliteDriver(this.#config);
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

function open(file: string): SqliteDatabase {
  if (file !== ':memory:') mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
  // FULL: a revocation that was answered survives a power cut, which WAL alone does not promise.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = statementOf(database.prepare(sql));
        if (statements.size >= KEPT_STATEMENTS) statements.clear();
        statements.set(sql, statement);
      }
      return statement;
    },
  };
}

function statementOf(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}

/** SQLite's result codes that mean "not now": BUSY, LOCKED, IOERR, CANTOPEN, FULL. */
const UNAVAILABLE: ReadonlySet<number> = new Set([5, 6, 10, 14, 13]);

/** BUSY and LOCKED: another process is writing. */
export function isSqliteBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  const code = error.errcode & 0xff;
  return code === 5 || code === 6;
}

export function isSqliteUnavailable(error: Error): boolean {
  // The primary result code is the low byte of the extended one.
  return 'errcode' in error && typeof error.errcode === 'number' && UNAVAILABLE.has(error.errcode & 0xff);
}
