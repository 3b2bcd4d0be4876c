import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createFolder, serve, type ServerProcess } from './server-process.ts';
import { freePort } from '../free-port.ts';

export interface PgBouncer {
  readonly port: number;
  readonly server: ServerProcess;
  close(): Promise<void>;
}

const PROGRAM = '/usr/sbin/pgbouncer';

/**
 * Starts PgBouncer in transaction mode, in front of the server at this port. PgBouncer has fewer
 * connections to the server than the processes have to PgBouncer.
 */
export async function startPgBouncer(target: number): Promise<PgBouncer> {
  if (!existsSync(PROGRAM))
    throw new Error("PgBouncer is not installed (Debian's package pgbouncer)");
  const { folder, owner } = await createFolder('postgres');
  const port = await freePort();
  const file = path.join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${target} user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 6',
    'max_client_conn = 200',
    'server_login_retry = 1',
    'query_wait_timeout = 5',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const server = await serve(
    [PROGRAM, '-q', file],
    owner,
    `postgres://postgres@127.0.0.1:${port}/postgres`,
  );
  return {
    port,
    server,
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
