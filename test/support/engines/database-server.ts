import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A locally installed database server, started for the tests on a free loopback port. */
export interface DatabaseServer {
  /** An administrator's URL, with the right to create databases. */
  readonly url: string;
  /** Kills the server, as a crash would; its data stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  restart(): Promise<void>;
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
        `mariadb-install-db --no-defaults --datadir=${folder} --auth-root-authentication-method=normal --skip-test-db`.split(
          ' ',
        ),
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

export const ENGINES: readonly Engine[] = [POSTGRES, MARIADB];

function required(engine: Engine): string {
  const program = engine.find();
  if (program === null)
    throw new Error(`${engine.label} is not installed (Debian's package ${engine.package})`);
  return program;
}

function firstExisting(...files: readonly string[]): string | null {
  return files.find((file) => existsSync(file)) ?? null;
}

function onPath(program: string): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, program));
}

async function startServer(programs: EnginePrograms): Promise<DatabaseServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-engine-'));
  const data = path.join(folder, 'data');
  const owner = await unprivilegedOwner(programs.account, folder);
  await run(programs.initialise(data), owner);
  const port = await freePort();
  const url = programs.url(port);
  let server = await serve(programs.serve(data, port), owner, url);
  // However the tests end, the server ends with them.
  const last = () => server.kill('SIGKILL');
  process.once('exit', last);

  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const closed = once(server, 'close');
    server.kill('SIGKILL');
    await closed;
  }

  return {
    url,
    kill,
    async restart() {
      server = await serve(programs.serve(data, port), owner, url);
    },
    async close() {
      process.off('exit', last);
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** As root, the server runs as the account of its package, which then owns the folder. */
async function unprivilegedOwner(account: string, folder: string): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, account], { encoding: 'utf8' }).stdout),
  );
  if (uid === undefined || gid === undefined || !Number.isInteger(uid) || uid === 0) {
    throw new Error(`There is no account ${account} to run the server as`);
  }
  await chown(folder, uid, gid);
  return { uid, gid };
}

async function run([program = '', ...args]: readonly string[], owner: Owner): Promise<void> {
  const child = spawn(program, args, { ...owner, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${output.join('')}`);
}

/** How long a server may take to answer its first statement, in milliseconds. */
const PATIENCE = 60_000;

async function serve(
  [program = '', ...args]: readonly string[],
  owner: Owner,
  url: string,
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...owner, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 100_000) said += text;
  });
  // Imported late: vitest.config.ts loads this file before `dist` is built.
  const { openDatabase } = await import('portico/host');
  const until = Date.now() + PATIENCE;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}:\n${said}`);
    const database = openDatabase(url, { directory: '/' });
    try {
      await database.execute('SELECT 1');
      return child;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await database.close();
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
