import { failing, ok, skipped, warning, type Finding } from '../findings.ts';
import { judgeLimit, judgeRoom, orOk, toSettings, type Settings } from '../judging.ts';
import type { ExaminedDatabase, Examinations } from '../examinations.ts';

type Store = ExaminedDatabase['database'];

/** Reads the values of settings in one of Portico's sessions. */
async function readSettings(database: Store, ...names: readonly string[]): Promise<Settings> {
  const { rows } = await database.execute<{ readonly name: string; readonly setting: string }>(
    'SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ' +
      `(${names.map(() => '?').join(', ')})`,
    names,
  );
  return toSettings(rows.map(({ name, setting }) => [name, setting]));
}

async function examineDurability({ database }: ExaminedDatabase): Promise<readonly Finding[]> {
  const settings = await readSettings(database, 'fsync', 'full_page_writes', 'synchronous_commit');
  return orOk(
    [
      settings.text('fsync') === 'off'
        ? warning(
            'fsync is off: if the machine crashes, confirmed writes are lost and the database ' +
              'may be corrupted',
            'set fsync = on, unless you do not need the data',
          )
        : null,
      settings.text('full_page_writes') === 'off'
        ? warning(
            'full_page_writes is off: if the machine crashes, pages may be only partly written',
            'set full_page_writes = on, unless the storage writes whole pages',
          )
        : null,
      settings.text('synchronous_commit') === 'off'
        ? warning(
            'synchronous_commit is off: if the server crashes, the last confirmed writes are ' +
              'lost, including revocations',
            'set synchronous_commit = on for this account (ALTER ROLE … SET)',
          )
        : null,
    ],
    'a commit is confirmed when it is on disk',
  );
}

/** The standbys that are connected to a primary. */
interface Standbys {
  readonly attached: number;
  /** The number of standbys whose details the database account can see. */
  readonly visible: number;
  /**
   * The number of standbys that a commit waits for now, or would wait for if another standby
   * failed.
   */
  readonly candidates: number;
}

/**
 * Counts the standbys. Without pg_monitor, an account can count standbys, but cannot see their
 * details.
 */
const STANDBYS = `
  SELECT count(*) AS attached, count(sync_state) AS visible,
    count(CASE WHEN sync_state IN ('sync', 'quorum', 'potential') THEN 1 END) AS candidates
  FROM pg_catalog.pg_stat_replication
  WHERE (state IS NULL OR state = 'streaming') AND (sync_state IN ('sync', 'quorum', 'potential') OR pid NOT IN (
    SELECT active_pid FROM pg_catalog.pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL
  ))`;

async function examineReplication({ database }: ExaminedDatabase): Promise<readonly Finding[]> {
  const settings = await readSettings(
    database,
    'synchronous_standby_names',
    'synchronous_commit',
    'transaction_read_only',
  );
  const { rows: recovery } = await database.execute<{ readonly standby: number }>(
    'SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN 1 ELSE 0 END AS standby',
  );
  if (recovery[0]?.standby === 1) {
    return [
      failing(
        'the connection leads to a standby, which is read-only: every write gets 503',
        'point database_url (DATABASE_URL) to the primary: use an address that follows the ' +
          'primary, or list several hosts',
      ),
    ];
  }
  if (settings.text('transaction_read_only') === 'on') {
    return [
      failing(
        'transactions are read-only here: every write gets 503',
        'if this server should accept writes, find where default_transaction_read_only is ' +
          'set (server, database or account: pg_db_role_setting) and remove it',
      ),
    ];
  }
  const { rows } = await database.execute<Standbys>(STANDBYS);
  const [standbys] = rows;
  if (standbys === undefined)
    return [skipped('not checked: the server does not report which standbys are attached')];
  return [
    judgeStandbys(
      standbys,
      settings.text('synchronous_standby_names').trim(),
      settings.text('synchronous_commit'),
    ),
  ];
}

/**
 * Returns how many standbys a commit waits for. It is 2 for `ANY 2 (…)`, `FIRST 2 (…)` and `2 (…)`.
 * A plain list means `FIRST 1`.
 */
function countRequired(names: string): number {
  return Number(/^(?:ANY\s+|FIRST\s+)?(\d+)\s*\(/i.exec(names)?.[1] ?? 1);
}

const LOST =
  'if a standby is promoted, the last commits are lost: revoked access works again, ' +
  'and used tokens become valid again';

function judgeStandbys(
  { attached, visible, candidates }: Standbys,
  names: string,
  level: string,
): Finding {
  if (names === '') {
    if (attached === 0) return ok('a single server, without standbys');
    return warning(
      `${plural(attached, 'standby follows', 'standbys follow')} asynchronously: ${LOST}`,
      "attach two standbys and set synchronous_standby_names = 'ANY 1 (…)'",
    );
  }
  if (!['on', 'remote_apply'].includes(level)) {
    return warning(
      `synchronous_commit is ${level}, so a commit does not wait until it is on the disk ` +
        `of a standby: ${LOST}`,
      'set synchronous_commit = on, or remote_apply, for this account (ALTER ROLE … SET)',
    );
  }
  const required = countRequired(names);
  const named = `synchronous_standby_names is '${names}'`;
  if (attached < required || (visible > 0 && candidates < required)) {
    const synchronous = visible > 0 ? candidates : attached;
    return failing(
      `${named}, but ` +
        `${plural(synchronous, 'of these standbys is', 'of these standbys are')} attached: ` +
        'every write waits, then gets 503',
      'attach the missing standby, or remove its name from synchronous_standby_names',
    );
  }
  if (visible === 0) {
    return skipped(
      `${named}, but this account cannot see which of the ${attached} attached standbys ` +
        'are synchronous: run GRANT pg_monitor TO this account',
    );
  }
  if (candidates === required) {
    return warning(
      `${named}, and no spare standby is attached: if one fails, every write waits, then gets 503`,
      `attach one more standby and set synchronous_standby_names = 'ANY ${required} (…)'`,
    );
  }
  return ok(
    `a commit waits for ${required} of ${candidates} standbys (synchronous_commit = ${level})`,
  );
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/**
 * The lowest useful time limits, in milliseconds. With lower limits, statements that wait for a
 * lock or for a standby would often fail.
 */
const LEAST_LIMITS = {
  statement_timeout: 1000,
  lock_timeout: 1000,
  idle_in_transaction_session_timeout: 1000,
} as const;

/** Reads the connection limits of the account and the database. -1 means that there is no limit. */
const OWN_LIMITS = `
  SELECT (SELECT rolconnlimit FROM pg_catalog.pg_roles WHERE rolname = current_user) AS role_limit,
    (SELECT datconnlimit FROM pg_catalog.pg_database WHERE datname = current_database()) AS database_limit`;

async function examineConnections({
  database,
  pool = null,
}: ExaminedDatabase): Promise<readonly Finding[]> {
  // Look for a pooler first, while few connections are open and must share server processes. Later,
  // each connection could use a different process even behind a pooler.
  const pooler = await findPooler(database, pool?.size ?? MOST_AT_ONCE);
  const settings = await readSettings(
    database,
    'max_connections',
    'superuser_reserved_connections',
    'reserved_connections',
    ...Object.keys(LEAST_LIMITS),
  );
  const { rows } = await database.execute<Readonly<Record<string, unknown>>>(OWN_LIMITS);
  const own = [rows[0]?.['role_limit'], rows[0]?.['database_limit']]
    .map(Number)
    .filter((each) => each >= 0);
  const reserved =
    settings.number('superuser_reserved_connections') +
    Number(settings.find('reserved_connections') ?? 0);
  const connections = Math.min(settings.number('max_connections') - reserved, ...own);
  const limits = Object.entries(LEAST_LIMITS).map(([name, least]) =>
    judgeLimit(name, settings.number(name), least),
  );
  return [
    pooler === null ? judgeRoom(connections, pool) : ok(pooler),
    ...limits.filter((each) => each !== null),
  ];
}

const MOST_AT_ONCE = 4;

interface ServerProcess {
  readonly pid: number;
  readonly age: string | number;
}

/** Reads the id and the age in seconds of the server process behind a connection. */
const PROCESS = `
  SELECT pid, extract(epoch FROM clock_timestamp() - backend_start) AS age
  FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid()`;

const SLOWLY = 'SELECT pg_catalog.pg_backend_pid() AS pid, 0 AS age FROM pg_catalog.pg_sleep(0.05)';

/**
 * Returns the reason why the server seems to be behind a pooler, or null. Sends statements on
 * several connections at the same time. If one server process responds to several statements, the
 * reason may be a pooler in transaction mode. A store with fewer connections than statements looks
 * the same. The check is therefore repeated with slow statements, for which a pooler uses several
 * processes. A server process that is older than this process also shows that there is a pooler.
 */
async function findPooler(database: Store, most: number): Promise<string | null> {
  const atOnce = async (sql: string): Promise<readonly ServerProcess[]> => {
    const asked = Array.from({ length: Math.min(most, MOST_AT_ONCE) }, () =>
      database.execute<ServerProcess>(sql),
    );
    return (await Promise.all(asked)).flatMap(({ rows }) => rows);
  };
  const isShared = (processes: readonly ServerProcess[]) =>
    new Set(processes.map(({ pid }) => pid)).size < processes.length;
  const here = process.uptime();
  const processes = await atOnce(PROCESS);
  if (isShared(processes) && !isShared(await atOnce(SLOWLY))) {
    return (
      'the connection uses a pooler in transaction mode (several connections share one server ' +
      'process), so the limits of the pooler apply instead of max_connections. Set time limits ' +
      'with ALTER ROLE … SET'
    );
  }
  if (!processes.some(({ age }) => Number(age) > here + 1)) return null;
  return (
    'the connection uses a pooler (a server process is older than this process), so the ' +
    'limits of the pooler apply instead of max_connections'
  );
}

export const EXAMINATIONS: Examinations = {
  parts: [
    ['durability', examineDurability],
    ['replication', examineReplication],
    ['connections', examineConnections],
  ],
  findUnready: async () => null,
};
