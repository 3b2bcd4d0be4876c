import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createFolder, run, serve } from './server-process.ts';
import { freePort } from '../free-port.ts';

/** A locally installed database server, started for the tests on a free loopback port. */
export interface DatabaseServer {
  /** An administrator's URL, with the right to create databases. */
  readonly url: string;
  /** Kills the server, as a crash would; its data stays. */
  kill(): Promise<void>;
  /** Ends it with a clean shutdown. */
  end(): Promise<void>;
  /** Starts it again on the same port and data, with these extra options. */
  restart(...options: readonly string[]): Promise<void>;
  /** Kills it, and removes its data. */
  close(): Promise<void>;
}

/** An engine that the tests can start. */
export interface Engine {
  /** The name of its test project. */
  readonly name: 'postgres' | 'mariadb';
  /** For messages. */
  readonly label: string;
  /** Debian's package. */
  readonly package: string;
  /** The server's program, or null when it is not installed. */
  find(): string | null;
  start(): Promise<DatabaseServer>;
}

interface EnginePrograms {
  /** The unprivileged account that Debian's package made; servers refuse to run as root. */
  readonly account: string;
  readonly initialise: (folder: string) => readonly string[];
  readonly serve: (folder: string, port: number) => readonly string[];
  readonly url: (port: number) => string;
}

export const POSTGRES: Engine = {
  name: 'postgres',
  label: 'PostgreSQL 15',
  package: 'postgresql-15',
  find: () => firstExisting('/usr/lib/postgresql/15/bin/postgres', ...onPath('postgres')),
  start: () => {
    const bin = path.dirname(required(POSTGRES));
    return startServer({
      account: 'postgres',
      initialise: (folder) =>
        `${bin}/initdb -D ${folder} -U postgres -A trust --no-sync --locale=C -E UTF8`.split(' '),
      // Without fsync: test data need not survive a power cut.
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
  package: 'mariadb-server',
  find: () => firstExisting('/usr/sbin/mariadbd', ...onPath('mariadbd')),
  start: () => {
    const server = required(MARIADB);
    return startServer({
      account: 'mysql',
      initialise: (folder) =>
        // Servers that start at the same time conflict if they share a folder for temporary files.
        (
          `mariadb-install-db --no-defaults --datadir=${folder} --tmpdir=${path.dirname(folder)} ` +
          '--auth-root-authentication-method=normal --skip-test-db'
        ).split(' '),
      // Debian's default collation, which ignores case.
      serve: (folder, port) =>
        (
          `${server} --no-defaults --datadir=${folder} --port=${port} --socket=${folder}/mariadb.sock ` +
          '--bind-address=127.0.0.1 --max-connections=300 --innodb-flush-log-at-trx-commit=2 ' +
          '--character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci'
        ).split(' '),
      url: (port) => `mysql://root@127.0.0.1:${port}/mysql`,
    });
  },
};

/** The server's program; throws when it is not installed. */
export function required(engine: Engine): string {
  const program = engine.find();
  if (program === null)
    throw new Error(`${engine.label} is not installed (Debian's package ${engine.package})`);
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
