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
import type { SqlDialect } from '../contracts.ts';
import type { Engine, EngineSession } from './engine.ts';

type Library = typeof KyselyLibrary;

/** Kysely's typed queries, on the same connections as the kit's own statements. */
export function kyselyOn<Tables>(library: Library, dialect: SqlDialect, engine: Engine): Kysely<Tables> {
  return new library.Kysely<Tables>({
    dialect: { ...partsOf(library, dialect), createDriver: () => new EngineDriver(library, engine) },
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
  readonly #library: Library;
  readonly #engine: Engine;

  constructor(library: Library, engine: Engine) {
    this.#library = library;
    this.#engine = engine;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<KyselyConnection> {
    return new KyselyConnection(await this.#engine.session());
  }

  beginTransaction({ session }: KyselyConnection, settings: TransactionSettings): Promise<void> {
    return session.begin(settings);
  }

  commitTransaction({ session }: KyselyConnection): Promise<void> {
    return session.commit();
  }

  rollbackTransaction({ session }: KyselyConnection): Promise<void> {
    return session.rollback();
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

  async releaseConnection({ session }: KyselyConnection): Promise<void> {
    session.release();
  }

  /** The engine is the application's, which closes it. */
  async destroy(): Promise<void> {}

  async #say(command: string, { session }: KyselyConnection, name: string, compile: Compile): Promise<void> {
    const { sql, createQueryId } = this.#library;
    const statement = sql`${sql.raw(command)} ${sql.id(name)}`;
    await session.execute(compile(statement.toOperationNode(), createQueryId()).sql, []);
  }
}

type Compile = QueryCompiler['compileQuery'];

class KyselyConnection implements DatabaseConnection {
  readonly session: EngineSession;

  constructor(session: EngineSession) {
    this.session = session;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, affected, insertId } = await this.session.execute(sql, parameters);
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
