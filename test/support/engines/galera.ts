import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { openDatabase, type OpenedDatabase } from 'portico';
import { MARIADB, required } from './database-server.ts';
import { createFolder, run, serve, type Owner, type ServerProcess } from './server-process.ts';
import { freePort } from '../free-port.ts';

/** One of the three servers in a cluster. You can write to each of them. */
export interface GaleraNode {
  readonly port: number;
  /** The URL of an administrator. */
  readonly url: string;
  /** A store for statements of the tests themselves. */
  readonly administrator: OpenedDatabase;
  readonly server: () => ServerProcess;
  /**
   * Starts a killed server again, as Debian's unit does. The server receives the writes that the
   * cluster made in the meantime.
   */
  restart(): Promise<void>;
  /** Separates the server from the others, which continue without it, or joins it again. */
  isolate(isolated: boolean): Promise<void>;
  /** Returns the size of the server's cluster, and whether the server accepts queries. */
  state(): Promise<{ readonly size: number; readonly ready: boolean }>;
}

export interface Galera {
  readonly nodes: readonly [GaleraNode, GaleraNode, GaleraNode];
  /** Sets a variable on all servers. */
  configure(variable: string, value: string | number): Promise<void>;
  close(): Promise<void>;
}

const PROVIDER = '/usr/lib/galera/libgalera_smm.so';

/**
 * Starts MariaDB with Galera 4 and three nodes. The settings are the server's defaults, except
 * sizes and the time after which the cluster removes a dead node.
 */
export async function startGalera(): Promise<Galera> {
  if (!existsSync(PROVIDER))
    throw new Error("Galera 4 is not installed (Debian's package galera-4)");
  const { folder, owner } = await createFolder('mysql');
  const ports: NodePorts[] = [];
  for (let count = 0; count < 3; count += 1) {
    ports.push({
      sql: await freePort(),
      group: await freePort(),
      ist: await freePort(),
      sst: await freePort(),
    });
  }
  const group = ports.map((port) => `127.0.0.1:${port.group}`).join(',');
  const nodes = ports.map((port) =>
    createNode({ data: path.join(folder, String(port.sql)), owner, port, group }),
  );
  const [first, second, third] = nodes;
  if (first === undefined || second === undefined || third === undefined)
    throw new Error('There are no nodes');
  await first.begin();
  await second.join();
  await third.join();
  return {
    nodes: [first, second, third],
    async configure(variable, value) {
      for (const { administrator } of nodes)
        await administrator.execute(`SET GLOBAL ${variable} = ${value}`);
    },
    async close() {
      for (const node of nodes) await node.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface NodePorts {
  readonly sql: number;
  /** The port for the traffic between the nodes. */
  readonly group: number;
  /** The ports on which the node receives missed writes and the complete data. */
  readonly ist: number;
  readonly sst: number;
}

interface NodeOptions {
  readonly data: string;
  readonly owner: Owner;
  readonly port: NodePorts;
  readonly group: string;
}

interface Node extends GaleraNode {
  /** Starts the cluster with this node. */
  begin(): Promise<void>;
  /** Starts this node without data, and joins it to the cluster. */
  join(): Promise<void>;
  close(): Promise<void>;
}

function createNode({ data, owner, port, group }: NodeOptions): Node {
  const url = `mysql://root@127.0.0.1:${port.sql}/mysql`;
  const administrator = openDatabase(url, { directory: '/', poolSize: 2 });
  let server: ServerProcess | null = null;
  const options = {
    'gmcast.listen_addr': `tcp://127.0.0.1:${port.group}`,
    'ist.recv_addr': `127.0.0.1:${port.ist}`,
    'gcache.size': '64M',
    'evs.keepalive_period': 'PT0.5S',
    'evs.suspect_timeout': 'PT3S',
    'evs.inactive_timeout': 'PT6S',
  };
  const command = [
    required(MARIADB),
    '--no-defaults',
    `--datadir=${data}`,
    // Otherwise, other servers would remove its temporary tables (database-server.ts).
    `--tmpdir=${path.dirname(data)}`,
    `--port=${port.sql}`,
    `--socket=${data}/mariadb.sock`,
    '--bind-address=127.0.0.1',
    '--max-connections=100',
    '--innodb-buffer-pool-size=32M',
    '--innodb-log-file-size=32M',
    '--innodb-flush-log-at-trx-commit=2',
    '--innodb-autoinc-lock-mode=2',
    '--binlog-format=ROW',
    '--character-set-server=utf8mb4',
    '--collation-server=utf8mb4_general_ci',
    '--wsrep-on=ON',
    `--wsrep-provider=${PROVIDER}`,
    `--wsrep-cluster-address=gcomm://${group}`,
    '--wsrep-cluster-name=portico',
    `--wsrep-node-address=127.0.0.1:${port.group}`,
    `--wsrep-node-incoming-address=127.0.0.1:${port.sql}`,
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${port.sst}`,
    `--wsrep-provider-options=${Object.entries(options)
      .map(([name, value]) => `${name}=${value}`)
      .join(';')}`,
  ];
  const start = async (...more: readonly string[]) => {
    server = await serve([...command, ...more], owner, url);
  };
  const tell = (option: string) =>
    administrator.execute(`SET GLOBAL wsrep_provider_options = '${option}'`);
  return {
    port: port.sql,
    url,
    administrator,
    server() {
      if (server === null) throw new Error('The server was never started');
      return server;
    },
    async begin() {
      const made =
        `mariadb-install-db --no-defaults --datadir=${data} --tmpdir=${path.dirname(data)} ` +
        '--auth-root-authentication-method=normal --skip-test-db';
      await run(made.split(' '), owner);
      await start('--wsrep-new-cluster');
    },
    async join() {
      await run(['mkdir', data], owner);
      await start();
    },
    async restart() {
      const said = await run([...command, '--wsrep-recover'], owner);
      const [, position] = /Recovered position: (\S+)/.exec(said) ?? [];
      await start(...(position === undefined ? [] : [`--wsrep-start-position=${position}`]));
    },
    isolate: async (isolated) => void (await tell(`gmcast.isolate=${isolated ? 1 : 0}`)),
    async state() {
      const { rows } = await administrator.execute<{ Variable_name: string; Value: string }>(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_ready')",
      );
      const values = new Map(rows.map(({ Variable_name: name, Value: value }) => [name, value]));
      return {
        size: Number(values.get('wsrep_cluster_size')),
        ready: values.get('wsrep_ready') === 'ON',
      };
    },
    async close() {
      await administrator.close();
      await server?.kill();
    },
  };
}
