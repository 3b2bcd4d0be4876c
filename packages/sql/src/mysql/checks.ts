import { failing, ok, warning, type Finding } from '../findings.ts';
import { judgeLimit, judgeRoom, orOk, toSettings, type Settings } from '../judging.ts';
import type { ExaminedDatabase, Examinations } from '../examinations.ts';

type Store = ExaminedDatabase['database'];

/**
 * Reads settings or status values in one of Portico's sessions. Omits those that the server does
 * not have.
 */
async function shown(database: Store, what: string, names: readonly string[]): Promise<Settings> {
  const { rows } = await database.execute<{
    readonly Variable_name: string;
    readonly Value: string;
  }>(`SHOW SESSION ${what} WHERE Variable_name IN (${names.map(() => '?').join(', ')})`, names);
  return toSettings(rows.map(({ Variable_name: name, Value: value }) => [name, value]));
}

const variables = (database: Store, ...names: readonly string[]) =>
  shown(database, 'VARIABLES', names);

const isOn = (value: string | null) =>
  value !== null && !['OFF', '0', 'NO'].includes(value.toUpperCase());

async function examineDurability({ database }: ExaminedDatabase): Promise<readonly Finding[]> {
  const settings = await variables(
    database,
    'innodb_flush_log_at_trx_commit',
    'log_bin',
    'sync_binlog',
    'wsrep_on',
  );
  const flushes = settings.text('innodb_flush_log_at_trx_commit');
  const isCluster = isOn(settings.find('wsrep_on'));
  const isLost = isCluster ? 'if all nodes crash together' : 'if the machine crashes';
  const writesLog = isOn(settings.find('log_bin')) && !isCluster;
  const syncs = settings.find('sync_binlog') ?? '1';
  return orOk(
    [
      flushes === '1'
        ? null
        : warning(
            `innodb_flush_log_at_trx_commit is ${flushes}: ${isLost}, up to a second of ` +
              'confirmed writes is lost, including revocations',
            'set innodb_flush_log_at_trx_commit = 1',
          ),
      writesLog && syncs !== '1'
        ? warning(
            `sync_binlog is ${syncs}: if the machine crashes, writes can be lost or missing ` +
              'on replicas',
            'set sync_binlog = 1',
          )
        : null,
    ],
    'a commit is confirmed when it is on disk',
  );
}

async function examineReplication({ database }: ExaminedDatabase): Promise<readonly Finding[]> {
  const settings = await variables(
    database,
    'read_only',
    'innodb_read_only',
    'wsrep_on',
    'wsrep_sync_wait',
    'wsrep_dirty_reads',
    'wsrep_retry_autocommit',
  );
  if (isOn(settings.text('read_only')) || isOn(settings.find('innodb_read_only'))) {
    return [
      failing(
        'the server is read-only: requests that write get 503, or their writes do not reach ' +
          'the other servers',
        'point database_url (DATABASE_URL) to the server that accepts writes',
      ),
    ];
  }
  if (!isOn(settings.find('wsrep_on'))) return [ok('a single server, which accepts writes')];
  return examineCluster(database, settings);
}

/**
 * The required value of `wsrep_sync_wait`. Reads (1), UPDATE and DELETE (2) and INSERT (4) wait
 * until the commits of other nodes are applied.
 */
const WAITS = 7;

const clusterStatus = (database: Store) =>
  shown(database, 'STATUS', [
    'wsrep_cluster_status',
    'wsrep_cluster_size',
    'wsrep_ready',
    'wsrep_local_state_comment',
  ]);

/** Returns a finding if the server is a Galera node that has lost its cluster. */
async function findUnready(database: Store): Promise<Finding | null> {
  try {
    const isNode = isOn((await variables(database, 'wsrep_on')).find('wsrep_on'));
    return isNode ? judgeReadiness(await clusterStatus(database)) : null;
  } catch {
    return null;
  }
}

function judgeReadiness(status: Settings): Finding | null {
  const cluster = status.text('wsrep_cluster_status');
  if (cluster === 'Primary' && isOn(status.text('wsrep_ready'))) return null;
  return failing(
    `this node of the Galera cluster is not ready (${cluster}): requests to it get 503`,
    'let this node rejoin the cluster, or point database_url (DATABASE_URL) to another node',
  );
}

async function examineCluster(database: Store, settings: Settings): Promise<readonly Finding[]> {
  const status = await clusterStatus(database);
  const unready = judgeReadiness(status);
  if (unready !== null) return [unready];
  const size = status.number('wsrep_cluster_size');
  const state = status.text('wsrep_local_state_comment');
  const wait = settings.number('wsrep_sync_wait');
  const retries = settings.number('wsrep_retry_autocommit');
  return orOk(
    [
      size < 3
        ? warning(
            `the Galera cluster has ${size === 1 ? 'only one node' : 'only two nodes'}: ` +
              (size === 1
                ? 'if it fails, no other node takes over'
                : 'if one node fails, the other also stops answering, because it has no majority'),
            'use three nodes; one of them can be an arbitrator (garbd)',
          )
        : null,
      state === 'Synced'
        ? null
        : warning(
            `this node of the Galera cluster is ${state}: it is behind the others`,
            'wait until it is Synced, and make the proxy use only nodes that are Synced',
          ),
      (wait & WAITS) === WAITS
        ? null
        : warning(
            `wsrep_sync_wait is ${wait}: a node may not yet have what another node wrote, such ` +
              'as a revocation or a new token',
            `set wsrep_sync_wait = ${WAITS} for the sessions of this account, or send all ` +
              'queries of Portico to one node',
          ),
      isOn(settings.find('wsrep_dirty_reads'))
        ? warning(
            'wsrep_dirty_reads is ON: a node that is cut off from the others returns old data, ' +
              'such as revoked tokens',
            'set wsrep_dirty_reads = OFF for the sessions of this account',
          )
        : null,
      retries === 0
        ? warning(
            'wsrep_retry_autocommit is 0: after each conflict between nodes, Portico has to ' +
              'send the statement again',
            'set wsrep_retry_autocommit = 1 or more',
          )
        : null,
    ],
    `a Galera cluster of ${size} nodes; a session sees the commits of all nodes ` +
      `(wsrep_sync_wait = ${wait})`,
  );
}

async function examineConnections({
  database,
  pool = null,
}: ExaminedDatabase): Promise<readonly Finding[]> {
  const settings = await variables(
    database,
    'max_connections',
    'max_user_connections',
    'wait_timeout',
    'max_statement_time',
  );
  const ofAccount = settings.number('max_user_connections');
  const connections = Math.min(
    settings.number('max_connections'),
    ofAccount > 0 ? ofAccount : Number.POSITIVE_INFINITY,
  );
  const wait = settings.number('wait_timeout');
  return [
    judgeRoom(connections, pool),
    ...[
      pool !== null && wait < pool.lifetime
        ? warning(
            `wait_timeout is ${wait} s, but the pool keeps connections for ${pool.lifetime} ` +
              's: the server closes them first',
            `set database_connection_lifetime below wait_timeout, or increase wait_timeout`,
          )
        : null,
      judgeLimit(
        'max_statement_time',
        Number(settings.find('max_statement_time') ?? 0) * 1000,
        1000,
      ),
    ].filter((each) => each !== null),
  ];
}

/** Lists only Portico's tables, because the database may contain other tables. */
const TABLES = `
  SELECT t.TABLE_NAME AS name, t.ENGINE AS engine, count(k.CONSTRAINT_NAME) AS primary_keys
  FROM information_schema.TABLES t
  LEFT JOIN information_schema.TABLE_CONSTRAINTS k
    ON k.TABLE_SCHEMA = t.TABLE_SCHEMA AND k.TABLE_NAME = t.TABLE_NAME AND k.CONSTRAINT_TYPE = 'PRIMARY KEY'
  WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_TYPE = 'BASE TABLE'
    AND t.TABLE_NAME REGEXP '^(oauth|host|portico)_'
  GROUP BY t.TABLE_NAME, t.ENGINE ORDER BY t.TABLE_NAME`;

interface Table {
  readonly name: string;
  readonly engine: string;
  readonly primary_keys: number;
}

async function examineTables({ database }: ExaminedDatabase): Promise<readonly Finding[]> {
  const { rows } = await database.execute<Table>(TABLES);
  const named = (tables: readonly Table[]) => tables.map(({ name }) => name).join(', ');
  const others = rows.filter(({ engine }) => engine.toUpperCase() !== 'INNODB');
  const without = rows.filter((each) => each.primary_keys === 0);
  return orOk(
    [
      others.length > 0
        ? failing(
            'these tables do not use InnoDB, so they have no transactions and are not ' +
              `replicated: ${named(others)}`,
            'run ALTER TABLE … ENGINE = InnoDB for each table',
          )
        : null,
      without.length > 0
        ? warning(
            'these tables have no primary key, which Galera needs to identify rows: ' +
              named(without),
            'add the primary key that db:migrate up --print shows',
          )
        : null,
    ],
    `${rows.length} tables use InnoDB, and each has a primary key`,
  );
}

export const EXAMINATIONS: Examinations = {
  parts: [
    ['durability', examineDurability],
    ['replication', examineReplication],
    ['connections', examineConnections],
    ['tables', examineTables],
  ],
  findUnready,
};
