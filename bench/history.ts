// node bench/dist/history.js [rows …]: does a request cost more, the more tokens were issued before it? Fills Portico's
// tables with rows of tokens that live, and measures; on SQLite, or on the PostgreSQL server that DATABASE_URL names.
import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createDatabase } from './database.ts';
import { measure } from './measure.ts';
import { Bench } from './server.ts';
import { WORKS } from './works.ts';

const server = process.env['DATABASE_URL'];
const sizes = process.argv.slice(2).map(Number);
if (sizes.length === 0) sizes.push(10_000, 1_000_000, 10_000_000);
const MEASURED = [
  'client-credentials token',
  'introspection',
  'refresh, no ID token',
  'whole authorization',
  'UserInfo',
];

const bench = await Bench.seed('portico', server === undefined ? null : await createDatabase(server));
/** Adds the rows from one number to the other: tokens of many families of one client, their hashes spread evenly. */
async function fill(from: number, to: number): Promise<void> {
  const client = bench.seeded.web.id;
  const now = Date.now();
  if (server === undefined) fillSqlite(from, to, client, now);
  else await fillPostgres(from, to, client, now);
}

const TABLES = {
  family: `INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, audience, created_at,
    expires_at, revoked_at)`,
  access: `INSERT INTO oauth_access_tokens (token_hash, client_id, family_id, scope, audience, issued_at, expires_at)`,
  refresh: `INSERT INTO oauth_refresh_tokens (token_hash, family_id, issued_at, expires_at, used_at)`,
};
const LIVES = 30 * 24 * 3_600_000;
/** Tokens of one family. */
const OF_ONE = 10;

function fillSqlite(from: number, to: number, client: string, now: number): void {
  const database = new DatabaseSync(bench.database.slice('sqlite:'.length));
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; BEGIN');
  const family = database.prepare(
    `${TABLES.family} VALUES (?, ?, 'accounts', 'x', ?, 'notes:read', NULL, ?, ?, NULL)`,
  );
  const access = database.prepare(`${TABLES.access} VALUES (?, ?, ?, 'notes:read', NULL, ?, ?)`);
  const refresh = database.prepare(`${TABLES.refresh} VALUES (?, ?, ?, ?, NULL)`);
  for (let index = from; index < to; index += 1) {
    const id = `${inOrder((index - from) / (to - from)).slice(0, 12)}${Math.floor(index / OF_ONE)}`;
    if (index % OF_ONE === 0) family.run(id, client, id, now, now + LIVES);
    const owner = `${inOrder((index - (index % OF_ONE) - from) / (to - from)).slice(0, 12)}${Math.floor(index / OF_ONE)}`;
    access.run(inOrder((index - from) / (to - from)), client, owner, now, now + LIVES);
    refresh.run(inOrder((index - from) / (to - from)), owner, now, now + LIVES);
  }
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/** Base64url digits in the order of their bytes. */
const DIGITS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';

/** Something that looks like a SHA-256, at this place among all that there can be: filling in their order is quick. */
function inOrder(place: number): string {
  let text = '';
  let rest = place;
  for (let digit = 0; digit < 6; digit += 1) {
    rest *= 64;
    text += DIGITS[Math.floor(rest) % 64];
    rest %= 1;
  }
  return text + randomBytes(28).toString('base64url').slice(0, 37);
}

async function fillPostgres(from: number, to: number, client: string, now: number): Promise<void> {
  const connection = new pg.Client({ connectionString: bench.database });
  await connection.connect();
  const hash = (kind: string) => `encode(sha256(('${kind}' || n)::bytea), 'base64')`;
  const owner = `md5((n / ${OF_ONE})::text)`;
  const times = `${now}, ${now + LIVES}`;
  const series = `FROM generate_series(${from}, ${to - 1}) n`;
  await connection.query(`SET synchronous_commit = off`);
  await connection.query(
    `${TABLES.family} SELECT ${owner}, '${client}', 'accounts', 'x', ${owner}, 'notes:read', NULL, ${times}, NULL
      ${series} WHERE n % ${OF_ONE} = 0`,
  );
  await connection.query(
    `${TABLES.access} SELECT ${hash('a')}, '${client}', ${owner}, 'notes:read', NULL, ${times} ${series}`,
  );
  await connection.query(`${TABLES.refresh} SELECT ${hash('r')}, ${owner}, ${times}, NULL ${series}`);
  await connection.query('VACUUM ANALYZE');
  await connection.end();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  print(`| rows of access and of refresh tokens | ${MEASURED.join(' | ')} |`);
  print(`| --: | ${MEASURED.map(() => '--:').join(' | ')} |`);
  let rows = 0;
  for (const size of sizes) {
    await fill(rows, size);
    rows = size;
    const running = await bench.start();
    const figures: string[] = [];
    for (const name of MEASURED) {
      const work = WORKS.find((each) => each.name === name);
      if (work === undefined) continue;
      const load = { connections: 10, warmUp: 2, seconds: 4 };
      const { perSecond, p99 } = await measure(
        bench.port,
        (connection) => work.prepare(bench.seeded, connection),
        load,
      );
      figures.push(`${perSecond.toFixed(0)} (p99 ${p99.toFixed(1)} ms)`);
    }
    await running.stop();
    print(`| ${size.toLocaleString('en')} | ${figures.join(' | ')} |`);
  }
} finally {
  bench.remove();
}
