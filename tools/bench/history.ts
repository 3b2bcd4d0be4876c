// node bench/dist/history.js [rows …] [--rounds 5] [--seconds 2] [--works part]
//
// Measures whether a request costs more if more was issued before. For each number of
// authorizations there is a database and a server. Each authorization has a refresh token and a
// valid access token. The servers take turns. It uses SQLite, or the PostgreSQL server in
// DATABASE_URL.
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDatabase } from './database.ts';
import { cellsOf } from './goals.ts';
import { measure, type Measured } from './measure.ts';
import { figure, median, percent, print, printRows } from './print.ts';
import { Bench, type RunningTarget } from './server.ts';
import { WORKS } from './works.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    works: { type: 'string', default: '' },
  },
});
const postgres = process.env['DATABASE_URL'];
const sizes = positionals.length === 0 ? [10_000, 1_000_000, 10_000_000] : positionals.map(Number);
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
const DAY = 24 * 3_600_000;
/**
 * The most bytes that one authorization takes with its tokens. They include its indexes, and
 * everything that is written temporarily.
 */
const BYTES_EACH = 1200;
/**
 * The number of rows in one transaction. If a transaction does not fit into memory, its rows are
 * written twice.
 */
const AT_ONCE = 500_000;
/** How much slower the largest database may be than the smallest. */
const MOST_LOST = 0.1;
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
  await printTable();
} finally {
  for (const { bench, running } of grown) {
    await running.stop();
    await bench.remove();
  }
}

async function printTable(): Promise<void> {
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  print(
    `${postgres === undefined ? 'SQLite, synchronous=FULL' : 'PostgreSQL'}; medians of ${rounds} turns of ${seconds} s.\n`,
  );
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

// --- filling
// --------------------------------------------------------------------------------------------------

function requireRoom(): void {
  if (postgres !== undefined) return;
  const { bavail, bsize } = statfsSync(tmpdir());
  const needed = sizes.reduce((sum, size) => sum + size * BYTES_EACH, 0);
  if (bavail * bsize < needed) {
    throw new Error(
      `${tmpdir()} has ${figure((bavail * bsize) / 2 ** 30)} GiB, ${figure(needed / 2 ** 30)} are needed; TMPDIR names another folder`,
    );
  }
}

/** The SQL of each engine from which the rows are built. `n` is the number of the row. */
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
  };
}

async function fill(bench: Bench, size: number): Promise<void> {
  const { id } = bench.seeded.web;
  if (postgres === undefined) fillSqlite(bench, id, size);
  else await fillPostgres(bench, id, size);
}

function fillSqlite({ database: url }: Bench, client: string, size: number): void {
  const database = new DatabaseSync(url.slice('sqlite:'.length));
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -500000');
  const { families, accessTokens } = rowsOf(
    {
      hex: (number, digits) => `printf('%0${digits}x', ${number})`,
      hash: 'substr(hex(randomblob(22)), 1, 43)',
    },
    client,
    Date.now(),
    size,
  );
  for (const insert of [families, accessTokens]) {
    const some = database.prepare(
      `WITH RECURSIVE series (n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM series WHERE n + 1 < ?2) ${insert} FROM series`,
    );
    for (let from = 0; from < size; from += AT_ONCE) some.run(from, Math.min(size, from + AT_ONCE));
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

async function fillPostgres({ database: url }: Bench, client: string, size: number): Promise<void> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  await connection.query('SET synchronous_commit = off');
  const { families, accessTokens } = rowsOf(
    {
      hex: (number, digits) => `lpad(to_hex((${number})::bigint), ${digits}, '0')`,
      hash: `md5(random()::text) || substr(md5(n::text), 1, 11)`,
    },
    client,
    Date.now(),
    size,
  );
  for (const insert of [families, accessTokens]) {
    for (let from = 0; from < size; from += AT_ONCE) {
      const to = Math.min(size, from + AT_ONCE) - 1;
      await connection.query(`${insert} FROM generate_series(${from}::bigint, ${to}::bigint) n`);
    }
  }
  await connection.query('VACUUM ANALYZE');
  await connection.query('CHECKPOINT');
  await connection.end();
}
