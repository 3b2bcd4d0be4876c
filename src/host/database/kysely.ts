import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  Kysely,
  QueryCompiler,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import type * as KyselyLibrary from 'kysely';
import type { SqlDialect } from '../../sql/contract.ts';
import type { Engine, EngineSession, StatementResult } from './engine.ts';
import { OpenTransaction, type TransactionLimits } from './open-transaction.ts';

type Library = typeof KyselyLibrary;

/** What Kysely's queries run on. */
export interface KyselyOptions {
  readonly library: Library;
  readonly dialect: SqlDialect;
  readonly engine: Engine;
  /** What its transactions are on, for whoever asks it from inside of one. */
  readonly store: object;
  readonly limits: TransactionLimits;
}

/** Kysely's typed queries, on the same connections as the kit's own statements. */
export function kyselyOn<Tables>(options: KyselyOptions): Kysely<Tables> {
  const { library, dialect } = options;
  return new library.Kysely<Tables>({
    dialect: { ...partsOf(library, dialect), createDriver: () => new EngineDriver(options) },
  });
}

function partsOf(library: Library, dialect: SqlDialect): Omit<Dialect, 'createDriver'> {
  const parts: Readonly<Record<SqlDialect, Omit<Dialect, 'createDriver'>>> = {
    sqlite: {
      // The engine puts transactions in order by itself, so Kysely need not make them wait.
      createAdapter: () =>
        Object.defineProperty(new library.SqliteAdapter(), 'supportsMultipleConnections', { value: true }),
      createQueryCompiler: () => new library.SqliteQueryCompiler(),
      createIntrospector: (kysely) => new library.SqliteIntrospector(kysely),
    },
    postgres: {
      createAdapter: () => new library.PostgresAdapter(),
      createQueryCompiler: () => new library.PostgresQueryCompiler(),
      createIntrospector: (kysely) => new library.PostgresIntrospector(kysely),
    },
    mysql: {
      createAdapter: () => new library.MysqlAdapter(),
      createQueryCompiler: () => new library.MysqlQueryCompiler(),
      createIntrospector: (kysely) => new library.MysqlIntrospector(kysely),
    },
  };
  return parts[dialect];
}

class EngineDriver implements Driver {
  readonly #options: KyselyOptions;

  constructor(options: KyselyOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<KyselyConnection> {
    return new KyselyConnection(await this.#options.engine.session(), this.#options);
  }

  beginTransaction(connection: KyselyConnection, settings: TransactionSettings): Promise<void> {
    return connection.begin(settings);
  }

  commitTransaction(connection: KyselyConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: KyselyConnection): Promise<void> {
    return connection.rollback();
  }

  savepoint(connection: KyselyConnection, name: string, compile: Compile): Promise<void> {
    return this.#say('SAVEPOINT', connection, name, compile);
  }

  rollbackToSavepoint(connection: KyselyConnection, name: string, compile: Compile): Promise<void> {
    return this.#say('ROLLBACK TO SAVEPOINT', connection, name, compile);
  }

  releaseSavepoint(connection: KyselyConnection, name: string, compile: Compile): Promise<void> {
    return this.#say('RELEASE SAVEPOINT', connection, name, compile);
  }

  async releaseConnection(connection: KyselyConnection): Promise<void> {
    connection.release();
  }

  /** The engine is the application's, which closes it. */
  async destroy(): Promise<void> {}

  async #say(command: string, connection: KyselyConnection, name: string, compile: Compile): Promise<void> {
    const { sql, createQueryId } = this.#options.library;
    const statement = sql`${sql.raw(command)} ${sql.id(name)}`;
    await connection.execute(compile(statement.toOperationNode(), createQueryId()).sql, []);
  }
}

type Compile = QueryCompiler['compileQuery'];

/** Ends with its transaction when that goes on for too long, whether Kysely gives it back or not. */
class KyselyConnection implements DatabaseConnection {
  readonly #session: EngineSession;
  readonly #store: object;
  readonly #limits: TransactionLimits;
  #open: OpenTransaction | null = null;
  /** The end of a transaction that went on for too long. */
  #undone: Promise<void> | null = null;

  constructor(session: EngineSession, { store, limits }: KyselyOptions) {
    this.#session = session;
    this.#store = store;
    this.#limits = limits;
  }

  execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    return (this.#open ?? this.#session).execute(sql, parameters);
  }

  /** Kysely calls the work itself, so what it is inside of is told before anything is waited for. */
  async begin(settings: TransactionSettings): Promise<void> {
    const open = new OpenTransaction(this.#store, this.#session, this.#limits);
    open.enter();
    try {
      await this.#session.begin(settings);
    } catch (error) {
      await open.end();
      throw error;
    }
    this.#open = open;
    open.watch(() => {
      this.#undone = open.end().then(() => this.#undo());
    });
  }

  async commit(): Promise<void> {
    this.#open?.refuseAfterEnd();
    await this.#open?.end();
    await this.#session.commit();
    void this.#forget();
  }

  async rollback(): Promise<void> {
    await this.#open?.end();
    await (this.#undone ?? this.#session.rollback());
    void this.#forget();
  }

  /**
   * The connection may go on to be used by itself. Kysely refuses the statements of a transaction that has ended only when
   * two more promises have run, and until then a late one must not run by itself.
   */
  async #forget(): Promise<void> {
    const ended = this.#open;
    await Promise.resolve();
    await Promise.resolve();
    if (this.#open === ended) this.#open = null;
  }

  release(): void {
    if (this.#undone === null) this.#session.release();
  }

  async #undo(): Promise<void> {
    // A connection that does not answer is given up, and with it goes what was done on it.
    await this.#session.rollback().catch(() => {});
    this.#session.release();
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, affected, insertId } = await this.execute(sql, parameters);
    return {
      rows: [...rows] as Row[],
      numAffectedRows: BigInt(affected),
      ...(insertId === undefined ? {} : { insertId }),
    };
  }

  /** All at once: an open cursor would hold up everybody else on SQLite. */
  async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    yield await this.executeQuery<Row>(query);
  }
}
