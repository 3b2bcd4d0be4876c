import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDatabase, type OpenedDatabase } from 'portico';
import { openAddress, type Address } from './address.ts';
import { POSTGRES, required } from './database-server.ts';
import { createFolder, run, serve, type Owner, type ServerProcess } from './server-process.ts';
import { freePort } from '../free-port.ts';

/** One of three servers: the primary, or one of its standbys. */
export interface PostgresNode {
  readonly name: string;
  readonly port: number;
  /** The URL of an administrator. */
  readonly url: string;
  /** A store for statements of the tests themselves. */
  readonly administrator: OpenedDatabase;
  readonly server: () => ServerProcess;
}

/**
 * PostgreSQL with two synchronous standbys and `ANY 1`: a commit succeeds as soon as one standby
 * has it. The tests do what Patroni would do: they promote the standby that has received most, and
 * move the address to it.
 */
export interface ReplicatedPostgres {
  /** The address for clients. It leads to the primary until a test moves it. */
  readonly address: Address;
  /** The address from which standbys receive the primary's log. */
  readonly replication: Address;
  /** The URL of an administrator, through the address. */
  readonly url: string;
  readonly primary: () => PostgresNode;
  readonly standbys: () => readonly PostgresNode[];
  /** Changes these settings on all servers, as `postgresql.conf` would. */
  configure(settings: Readonly<Record<string, string>>): Promise<void>;
  /**
   * Promotes the standby that has received most. The other standby follows it. The address stays.
   */
  promote(): Promise<PostgresNode>;
  /** Returns the standby that would be promoted. */
  successor(): Promise<PostgresNode>;
  /** Starts killed servers as standbys of the primary. */
  rejoin(): Promise<void>;
  close(): Promise<void>;
}

const NAMES = ['a', 'b', 'c'] as const;

const SETTINGS = {
  fsync: 'off',
  max_connections: '100',
  shared_buffers: '32MB',
  unix_socket_directories: '',
  synchronous_standby_names: `ANY 1 (${NAMES.join(', ')})`,
  // Keep the log for standbys that follow late. Otherwise, the checkpoint of a backup would remove
  // it.
  wal_keep_size: '1GB',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '100ms',
} as const;

const urlAt = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const bin = path.dirname(required(POSTGRES));
  const { folder, owner } = await createFolder('postgres');
  const all = await Promise.all(NAMES.map((name) => createNode(name, { bin, folder, owner })));
  const [first] = all;
  if (first === undefined) throw new Error('There is no server');
  await first.initialise();
  let primary: Node = first;
  const standbysOf = () => all.filter((node) => node !== primary && node.isRunning());
  const [address, replication] = [await openAddress(primary.port), await openAddress(primary.port)];
  const rejoin = async () => {
    for (const node of all) if (!node.isRunning()) await node.follow(replication);
  };
  await rejoin();
  const successor = async () => {
    const [standby] = await inOrderOfReceived(standbysOf());
    if (standby === undefined) throw new Error('There is no standby');
    return standby;
  };
  return {
    address,
    replication,
    url: urlAt(address.port),
    primary: () => primary,
    standbys: standbysOf,
    successor,
    async configure(settings) {
      for (const { administrator } of [primary, ...standbysOf()]) {
        for (const [name, value] of Object.entries(settings)) {
          await administrator.execute(`ALTER SYSTEM SET ${name} = '${value}'`);
        }
        await administrator.execute('SELECT pg_reload_conf()');
      }
    },
    async promote() {
      primary = await successor();
      await primary.administrator.execute('SELECT pg_promote(true)');
      replication.leadTo(primary.port);
      return primary;
    },
    rejoin,
    async close() {
      await address.close();
      await replication.close();
      for (const node of all) await node.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Node extends PostgresNode {
  isRunning(): boolean;
  /** Starts the server as a primary without data. */
  initialise(): Promise<void>;
  /** Starts the server as a standby, with a copy of the primary's data. */
  follow(replication: Address): Promise<void>;
  close(): Promise<void>;
}

async function createNode(
  name: string,
  { bin, folder, owner }: { readonly bin: string; readonly folder: string; readonly owner: Owner },
): Promise<Node> {
  const data = path.join(folder, name);
  const port = await freePort();
  const url = `${urlAt(port)}?target_session_attrs=any`;
  const settings = Object.entries({ ...SETTINGS, cluster_name: name }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  const administrator = openDatabase(url, { directory: '/', poolSize: 2 });
  let server: ServerProcess | null = null;
  const start = async () => {
    const command = [
      `${bin}/postgres`,
      '-D',
      data,
      '-p',
      String(port),
      '-h',
      '127.0.0.1',
      ...settings,
    ];
    server = await serve(command, owner, url);
  };
  const isRunning = () => server?.isRunning() === true;
  return {
    name,
    port,
    url,
    administrator,
    server() {
      if (server === null) throw new Error(`The server ${name} was never started`);
      return server;
    },
    isRunning,
    async initialise() {
      const initialised = `${bin}/initdb -D ${data} -U postgres -A trust --no-sync --locale=C -E UTF8`;
      await run(initialised.split(' '), owner);
      await start();
    },
    async follow({ port: primary }) {
      await rm(data, { recursive: true, force: true });
      const copied = `-D ${data} -h 127.0.0.1 -p ${primary} -U postgres -R -X stream -c fast --no-sync`;
      await run([`${bin}/pg_basebackup`, ...copied.split(' ')], owner);
      await start();
    },
    async close() {
      await administrator.close();
      await server?.kill();
    },
  };
}

/**
 * Returns the standbys. The one that has received most comes first. The log that the primary sent
 * before it ended may still be arriving. If a standby received more after this check, it could not
 * follow the promoted one. Therefore, checks again until nothing changes, for at most half a
 * second.
 */
async function inOrderOfReceived(standbys: readonly Node[]): Promise<readonly Node[]> {
  let received = await bytesReceived(standbys);
  for (let asked = 0; asked < 5; asked += 1) {
    await setTimeout(100);
    const before = received;
    received = await bytesReceived(standbys);
    if (received.every((bytes, index) => bytes === before[index])) break;
  }
  return standbys
    .map((node, index) => ({ node, bytes: received[index] ?? 0 }))
    .toSorted((one, other) => other.bytes - one.bytes)
    .map(({ node }) => node);
}

function bytesReceived(standbys: readonly Node[]): Promise<readonly number[]> {
  return Promise.all(
    standbys.map(async ({ administrator }) => {
      const { rows } = await administrator.execute<{ bytes: number }>(
        "SELECT CAST(pg_last_wal_receive_lsn() - '0/0' AS bigint) AS bytes",
      );
      return rows[0]?.bytes ?? 0;
    }),
  );
}
