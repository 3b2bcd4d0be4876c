// node bench/dist/history.js [rows …] [--expired 10] [--rounds 5] [--seconds 2] [--works part]
//
// Measures whether a request costs more if more was issued before. For each number of
// authorizations there is a database and a server. Each authorization has a refresh token and a
// valid access token. The servers take turns. With --expired, there are also so
// many expired access tokens for each authorization. Then it measures pruning while tokens are
// issued, changes of the schema and a backup, on the largest database. It uses SQLite, or the
// PostgreSQL server in DATABASE_URL.
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDatabase } from './database.ts';
import { cellsOf } from './goals.ts';
import { measure, type Measured } from './measure.ts';
import { figure, median, percent, print, printRows } from './print.ts';
import { storeResult } from './results.ts';
import { Bench, type RunningTarget } from './server.ts';
import { WORKS } from './works.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    works: { type: 'string', default: '' },
    expired: { type: 'string', default: '0' },
  },
});
const postgres = process.env['DATABASE_URL'];
const sizes = positionals.length === 0 ? [10_000, 1_000_000, 10_000_000] : positionals.map(Number);
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
/** The number of expired access tokens for each authorization. */
const expired = Number(options.expired);
const DAY = 24 * 3_600_000;
/**
 * The maximum number of bytes for one authorization with its tokens, including its indexes and
 * everything that is written temporarily.
 */
const BYTES_EACH = 1200;
/** The maximum number of bytes for an expired access token. */
const BYTES_EXPIRED = 400;
/**
 * The number of rows in one transaction. The engine writes rows twice if their transaction does not
 * fit into memory.
 */
const AT_ONCE = 500_000;
/** How much slower the largest database may be than the smallest. */
const MOST_LOST = 0.1;
/** The migrations that read the largest tables. */
const CHANGES = {
  'index of access tokens made': 'CREATE INDEX bench_tokens ON oauth_access_tokens (client_id, id)',
  'index of access tokens removed': 'DROP INDEX bench_tokens',
  'column of authorizations added': 'ALTER TABLE oauth_families ADD COLUMN bench BIGINT',
  'column of authorizations removed': 'ALTER TABLE oauth_families DROP COLUMN bench',
};
const MEASURED = [
  'client-credentials token',
  'introspection',
  'refresh, no ID token',
  'refresh with ID token, ES256',
  'whole authorization',
  'UserInfo',
].filter((name) => name.includes(options.works));

interface Grown {
  readonly size: number;
  readonly bench: Bench;
  readonly running: RunningTarget;
}

requireRoom();
const grown: Grown[] = [];
try {
  for (const size of sizes) {
    const bench = await Bench.seed(
      'portico',
      postgres === undefined ? null : await createDatabase(postgres),
    );
    const began = performance.now();
    await fill(bench, size);
    process.stderr.write(
      `${figure(size)} rows made in ${figure((performance.now() - began) / 1000)} s\n`,
    );
    grown.push({ size, bench, running: await bench.start() });
  }
  const how = await printTable();
  await printUpkeep();
  if (options.works === '')
    storeResult(postgres === undefined ? 'history-sqlite' : 'history-postgres', { how });
} finally {
  for (const { bench, running } of grown) {
    await running.stop();
    await bench.remove();
  }
}

async function printTable(): Promise<string> {
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  const how =
    `${postgres === undefined ? 'SQLite, synchronous=FULL' : 'PostgreSQL'}; medians of ${rounds} turns of ${seconds} s, 10 connections; ` +
    `${expired} expired access tokens for each authorization.`;
  print(`${how}\n`);
  const rows: string[][] = [];
  for (const name of MEASURED) {
    const by = await turns(name);
    const [few, many] = [by.get(smallest)?.perSecond ?? 0, by.get(largest)?.perSecond ?? 0];
    const kept = many / few;
    rows.push([
      name,
      ...sizes.map((size) => {
        const measured = by.get(size);
        return `${figure(measured?.perSecond)} (p99 ${measured?.p99.toFixed(1)} ms)`;
      }),
      percent(kept),
      ...cellsOf({ target: `at least ${percent(1 - MOST_LOST)}`, reached: kept >= 1 - MOST_LOST }),
    ]);
  }
  const heads = sizes.map((size) => `${size.toLocaleString('en')} authorizations`);
  printRows(['work', ...heads, 'the most against the fewest', 'target', 'reached'], rows);
  return how;
}

/** Returns the median of the turns for each size. */
async function turns(
  name: string,
): Promise<ReadonlyMap<number, Pick<Measured, 'perSecond' | 'p99'>>> {
  const work = WORKS.find((each) => each.name === name);
  if (work === undefined) throw new Error(`There is no work ${name}`);
  const runs = new Map<number, Measured[]>(sizes.map((size) => [size, []]));
  for (let round = 0; round < rounds; round += 1) {
    // Go forwards and backwards, so that no server always runs after the same other server.
    for (const { size, bench } of round % 2 === 0 ? grown : grown.toReversed()) {
      const load = { connections: 10, warmUp: seconds / 4, seconds };
      runs
        .get(size)
        ?.push(
          await measure(bench.port, (connection) => work.prepare(bench.seeded, connection), load),
        );
    }
  }
  return new Map(
    [...runs].map(([size, all]) => [
      size,
      {
        perSecond: median(all.map(({ perSecond }) => perSecond)),
        p99: median(all.map(({ p99 }) => p99)),
      },
    ]),
  );
}

// --- upkeep
// ---------------------------------------------------------------------------------------------------

/** Prints pruning, changes of the schema and a backup on the largest database. */
async function printUpkeep(): Promise<void> {
  const largest = grown.toSorted((one, other) => other.size - one.size)[0];
  if (largest === undefined) return;
  print('');
  if (expired > 0) await printPruning(largest);
  await largest.running.stop();
  const rows: string[][] = [];
  for (const [name, statement] of Object.entries(CHANGES)) {
    const began = performance.now();
    await statements(largest.bench, statement);
    rows.push([name, ((performance.now() - began) / 1000).toFixed(1)]);
  }
  const began = performance.now();
  await backUp(largest.bench);
  rows.push(['backup', ((performance.now() - began) / 1000).toFixed(1)]);
  printRows([`${figure(largest.size)} authorizations`, 'seconds'], rows);
}

/**
 * Measures pruning while the server issues tokens. The server must remove at least as many rows as
 * it adds.
 */
async function printPruning({ bench }: Grown): Promise<void> {
  const work = WORKS.find(({ name }) => name === 'client-credentials token');
  if (work === undefined) throw new Error('There is no such work');
  const left = `SELECT count(*) AS n FROM oauth_access_tokens WHERE expires_at < ${Date.now()}`;
  const before = await statements(bench, left);
  const load = { connections: 10, warmUp: 0, seconds: seconds * rounds };
  const began = performance.now();
  const { done } = await measure(
    bench.port,
    (connection) => work.prepare(bench.seeded, connection),
    load,
  );
  const took = (performance.now() - began) / 1000;
  const [issued, removed] = [done / took, (before - (await statements(bench, left))) / took];
  const reached = issued >= 1000 && removed >= issued;
  printRows(
    ['', 'tokens issued a second', 'expired tokens removed a second', 'target', 'reached'],
    [
      [
        'pruning',
        figure(issued),
        figure(removed),
        ...cellsOf({ target: '1,000 issued, and as many removed', reached }),
      ],
    ],
  );
  print('');
}

/** Runs a statement. Returns the number `n` of its first row, or 0. */
async function statements({ database: url }: Bench, statement: string): Promise<number> {
  if (postgres === undefined) {
    const database = new DatabaseSync(url.slice('sqlite:'.length));
    const row = database.prepare(statement).get();
    database.close();
    return Number(row?.['n'] ?? 0);
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ n?: string }>(statement);
  await client.end();
  return Number(rows[0]?.n ?? 0);
}

/** Copies the database, as the guide for backups does, and removes the copy. */
async function backUp({ database: url, directory }: Bench): Promise<void> {
  const copy = path.join(directory, 'copy');
  if (postgres === undefined) {
    const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
    await backup(database, copy);
    database.close();
  } else {
    const dump = spawnSync('pg_dump', ['--format=custom', `--file=${copy}`, url]);
    if (dump.status !== 0) throw new Error(`pg_dump failed: ${String(dump.stderr)}`);
  }
  rmSync(copy, { force: true });
}

// --- filling
// --------------------------------------------------------------------------------------------------

function requireRoom(): void {
  if (postgres !== undefined) return;
  const { bavail, bsize } = statfsSync(tmpdir());
  const needed = sizes.reduce(
    (sum, size) => sum + size * (BYTES_EACH + expired * BYTES_EXPIRED),
    0,
  );
  if (bavail * bsize < needed) {
    throw new Error(
      `${tmpdir()} has ${figure((bavail * bsize) / 2 ** 30)} GiB, ${figure(needed / 2 ** 30)} are needed; TMPDIR names another folder`,
    );
  }
}

/** The SQL of each engine that creates the rows. `n` is the number of the row. */
interface Words {
  readonly hex: (number: string, digits: number) => string;
  /** A text that is as long as a SHA-256 hash. */
  readonly hash: string;
}

/**
 * Returns authorizations that were refreshed recently, in the order of their keys. Each belongs to
 * a different person, and they are one millisecond apart.
 */
function rowsOf({ hex, hash }: Words, client: string, now: number, rows: number) {
  const at = `(${now - rows} + n)`;
  const id = `${hex(at, 12)} || ${hex('n', 20)}`;
  const before = `(${now - 90 * DAY} + n)`;
  const expires = `${at} + ${30 * DAY}`;
  const person = `'person' || ${hex('n', 12)}`;
  return {
    families: `INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, audience, created_at,
        expires_at, revoked_at, prune_after, code_hash, code_expires_at, code_spent_at, refresh_hash, refresh_mark_hash,
        refresh_generation, refresh_expires_at)
      SELECT ${id}, '${client}', 'accounts', ${person}, ${hash}, 'notes:read', NULL, ${at},
        ${expires}, NULL, ${expires}, ${hash}, ${at} + 60000, ${at}, ${hash}, ${hash}, 10, ${expires}`,
    accessTokens: `INSERT INTO oauth_access_tokens (id, secret_hash, client_id, family_id, scope, audience, issued_at,
        expires_at)
      SELECT ${id}, ${hash}, '${client}', ${id}, 'notes:read', NULL, ${at}, ${expires}`,
    // Tokens of the application itself. They are older than all other tokens.
    expiredTokens: `INSERT INTO oauth_access_tokens (id, secret_hash, client_id, family_id, scope, audience, issued_at,
        expires_at)
      SELECT ${hex(before, 12)} || ${hex('n', 20)}, ${hash}, '${client}', NULL, 'notes:read', NULL, ${before}, ${before} + 3600000`,
  };
}

/** Returns each statement with the number of its rows. */
function parts(
  size: number,
  { families, accessTokens, expiredTokens }: ReturnType<typeof rowsOf>,
): readonly (readonly [insert: string, count: number])[] {
  return [
    [families, size],
    [accessTokens, size],
    [expiredTokens, size * expired],
  ];
}

async function fill(bench: Bench, size: number): Promise<void> {
  const { id } = bench.seeded.web;
  if (postgres === undefined) fillSqlite(bench, id, size);
  else await fillPostgres(bench, id, size);
}

function fillSqlite({ database: url }: Bench, client: string, size: number): void {
  const database = new DatabaseSync(url.slice('sqlite:'.length));
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -500000');
  const { families, accessTokens, expiredTokens } = rowsOf(
    {
      hex: (number, digits) => `printf('%0${digits}x', ${number})`,
      hash: 'substr(hex(randomblob(22)), 1, 43)',
    },
    client,
    Date.now(),
    size,
  );
  for (const [insert, count] of parts(size, { families, accessTokens, expiredTokens })) {
    const some = database.prepare(
      `WITH RECURSIVE series (n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM series WHERE n + 1 < ?2) ${insert} FROM series`,
    );
    for (let from = 0; from < count; from += AT_ONCE)
      some.run(from, Math.min(count, from + AT_ONCE));
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

async function fillPostgres({ database: url }: Bench, client: string, size: number): Promise<void> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  await connection.query('SET synchronous_commit = off');
  const { families, accessTokens, expiredTokens } = rowsOf(
    {
      hex: (number, digits) => `lpad(to_hex((${number})::bigint), ${digits}, '0')`,
      hash: `md5(random()::text) || substr(md5(n::text), 1, 11)`,
    },
    client,
    Date.now(),
    size,
  );
  for (const [insert, count] of parts(size, { families, accessTokens, expiredTokens })) {
    for (let from = 0; from < count; from += AT_ONCE) {
      const to = Math.min(count, from + AT_ONCE) - 1;
      await connection.query(`${insert} FROM generate_series(${from}::bigint, ${to}::bigint) n`);
    }
  }
  await connection.query('VACUUM ANALYZE');
  await connection.query('CHECKPOINT');
  await connection.end();
}
