import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createFolder, run, serve } from './server-process.ts';
import { MYSQL_FILES } from '../../../tools/mysql/place.ts';
import { freePort } from '../free-port.ts';

/**
 * A database server that is installed on this machine. The tests start it on a free loopback port.
 */
export interface DatabaseServer {
  /** The URL of an administrator who may create databases. */
  readonly url: string;
  /** Kills the server, like a crash. Its data stays. */
  kill(): Promise<void>;
  /** Shuts the server down cleanly. */
  end(): Promise<void>;
  /** Starts the server again on the same port and data, with additional options. */
  restart(...options: readonly string[]): Promise<void>;
  /** Kills the server and removes its data. */
  close(): Promise<void>;
}

/** A database engine that the tests can start. */
export interface Engine {
  /** The name of the engine's test project. */
  readonly name: 'postgres' | 'mariadb' | 'mysql';
  /** The name of the engine for messages. */
  readonly label: string;
  /** Where the server comes from, for a message if it is missing. */
  readonly source: string;
  /** Returns the path of the server's program, or null if it is not installed. */
  find(): string | null;
  start(): Promise<DatabaseServer>;
}

interface EnginePrograms {
  /** The unprivileged account that Debian's package creates. The servers refuse to run as root. */
  readonly account: string;
  readonly initialise: (folder: string) => readonly string[];
  readonly serve: (folder: string, port: number) => readonly string[];
  readonly url: (port: number) => string;
}

export const POSTGRES: Engine = {
  name: 'postgres',
  label: 'PostgreSQL 15',
  source: "Debian's package postgresql-15",
  find: () => firstExisting('/usr/lib/postgresql/15/bin/postgres', ...onPath('postgres')),
  start: () => {
    const bin = path.dirname(required(POSTGRES));
    return startServer({
      account: 'postgres',
      initialise: (folder) =>
        `${bin}/initdb -D ${folder} -U postgres -A trust --no-sync --locale=C -E UTF8`.split(' '),
      // Run without fsync: test data does not have to survive a power failure.
      serve: (folder, port) =>
        `${bin}/postgres -D ${folder} -p ${port} -h 127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=300`.split(
          ' ',
        ),
      url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    });
  },
};

export const MARIADB: Engine = {
  name: 'mariadb',
  label: 'MariaDB 10.11',
  source: "Debian's package mariadb-server",
  find: () => firstExisting('/usr/sbin/mariadbd', ...onPath('mariadbd')),
  start: () => {
    const server = required(MARIADB);
    return startServer({
      account: 'mysql',
      initialise: (folder) =>
        // Each server needs a separate folder for temporary files. Otherwise, servers that start at
        // the same time conflict.
        (
          `mariadb-install-db --no-defaults --datadir=${folder} --tmpdir=${path.dirname(folder)} ` +
          '--auth-root-authentication-method=normal --skip-test-db'
        ).split(' '),
      // Use Debian's default collation. It ignores case.
      serve: (folder, port) =>
        (
          `${server} --no-defaults --datadir=${folder} --port=${port} --socket=${folder}/mariadb.sock ` +
          // A starting server removes all temporary tables in its folder for temporary files. In a
          // shared folder, it would remove those of running servers, which would then crash.
          `--tmpdir=${path.dirname(folder)} ` +
          '--bind-address=127.0.0.1 --max-connections=300 --innodb-flush-log-at-trx-commit=2 ' +
          // Run without fsync, as on PostgreSQL. Use one file for all tables, because there are
          // many databases.
          '--debug-no-sync --innodb-file-per-table=0 ' +
          '--character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci'
        ).split(' '),
      url: (port) => `mysql://root@127.0.0.1:${port}/mysql`,
    });
  },
};

export const MYSQL: Engine = {
  name: 'mysql',
  label: 'MySQL 9',
  source: 'npm run mysql:fetch',
  find: () => firstExisting(MYSQL_FILES.server),
  start: () => {
    const { loader, libraries, base } = MYSQL_FILES;
    const server = `${loader} --library-path ${libraries} ${required(MYSQL)} --no-defaults --basedir=${base}`;
    return startServer({
      // The account of MariaDB's package, because this server is not installed.
      account: 'mysql',
      initialise: (folder) =>
        `${server} --initialize-insecure --datadir=${folder} --tmpdir=${path.dirname(folder)}`.split(
          ' ',
        ),
      serve: (folder, port) =>
        (
          `${server} --datadir=${folder} --tmpdir=${path.dirname(folder)} --port=${port} ` +
          `--socket=${folder}/mysql.sock --mysqlx=OFF --secure-file-priv= --bind-address=127.0.0.1 ` +
          '--max-connections=300 --innodb-flush-log-at-trx-commit=2 --skip-log-bin'
        ).split(' '),
      url: (port) => `mysql://root@127.0.0.1:${port}/mysql`,
    });
  },
};

/** Returns the path of the server's program. Throws if it is not installed. */
export function required(engine: Engine): string {
  const program = engine.find();
  if (program === null) throw new Error(`${engine.label} is not installed (${engine.source})`);
  return program;
}

function firstExisting(...files: readonly string[]): string | null {
  return files.find((file) => existsSync(file)) ?? null;
}

function onPath(program: string): readonly string[] {
  const folders = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, program));
}

async function startServer(programs: EnginePrograms): Promise<DatabaseServer> {
  const { folder, owner } = await createFolder(programs.account);
  const data = path.join(folder, 'data');
  await run(programs.initialise(data), owner);
  const port = await freePort();
  const url = programs.url(port);
  const command = programs.serve(data, port);
  let server = await serve(command, owner, url);
  return {
    url,
    kill: () => server.kill(),
    end: () => server.end(),
    async restart(...options) {
      server = await serve([...command, ...options], owner, url);
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
