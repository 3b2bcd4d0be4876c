// node tools/bench/access.ts [--rows 1000000] [--seconds 10] [--theirs 50000]
//
// Measures the lists of who has access, with a million authorizations. It prints how long the first
// page of each list takes. It also prints how long a refresh takes while everything that a person
// allowed is revoked, erased, or removed after its expiry. It runs on SQLite, or on the PostgreSQL
// or MariaDB server in DATABASE_URL.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import {
  openDatabase,
  type Database,
  authorizationServerOf,
  type AuthorizationServer,
} from 'portico';
import { measure, type Measured } from './measure.ts';
import { figure, percent, print, printRows } from './print.ts';
import { storeResult } from './results.ts';
import { Bench } from './server.ts';
import { application } from './targets/portico-application.ts';
import { WORKS } from './works.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '10' },
    theirs: { type: 'string', default: '50000' },
    times: { type: 'string', default: '50' },
  },
});
const [rows, seconds, theirs, times] = [
  options.rows,
  options.seconds,
  options.theirs,
  options.times,
].map(Number) as [number, number, number, number];
const administrator = process.env['DATABASE_URL'];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.now();
/**
 * The time between two authorizations, in milliseconds. All authorizations together span four
 * weeks.
 */
const BETWEEN_TWO = Math.floor((28 * DAY) / rows);
/** The number of rows that one statement inserts. */
const AT_ONCE = 50_000;
const PROVIDER = 'accounts';
/**
 * People who each have very many authorizations. Each of them owns one part of the rows. The first
 * person owns the newest part.
 */
const MANY = ['to be revoked', 'to be erased', 'looked for'] as const;
const RARE_CLIENT = 'rare';

/** The SQL of each engine that creates the rows. `n` is the number of the row. */
const WORDS = {
  sqlite: {
    hex: (number: string, digits: number) => `printf('%0${digits}x', ${number})`,
    concat: (...parts: readonly string[]) => parts.join(' || '),
    series: (from: number, to: number) =>
      `(WITH RECURSIVE s (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM s WHERE n < ${to}) SELECT n FROM s) series`,
  },
  postgres: {
    hex: (number: string, digits: number) => `lpad(to_hex((${number})::bigint), ${digits}, '0')`,
    concat: (...parts: readonly string[]) => parts.join(' || '),
    series: (from: number, to: number) =>
      `generate_series(${from}::bigint, ${to}::bigint) series (n)`,
  },
  mysql: {
    hex: (number: string, digits: number) => `LPAD(LOWER(HEX(${number})), ${digits}, '0')`,
    concat: (...parts: readonly string[]) => `CONCAT(${parts.join(', ')})`,
    series: (from: number, to: number) => `(SELECT seq AS n FROM seq_${from}_to_${to}) series`,
  },
} as const;

const url = administrator === undefined ? null : await create(administrator);
const bench = await Bench.seed('portico', url);
const database = openDatabase(bench.database, { directory: bench.directory });
try {
  const began = performance.now();
  await fill();
  process.stderr.write(
    `${figure(rows)} rows made in ${figure((performance.now() - began) / 1000)} s\n`,
  );
  const place = {
    directory: bench.directory,
    database: bench.database,
    port: bench.port,
    url: `http://127.0.0.1:${bench.port}`,
  };
  const opened = await application(place);
  const server = authorizationServerOf(opened);
  print(`${database.dialect}, ${figure(rows)} authorizations.\n`);
  await printIndexes();
  await printLists(server);
  const running = await bench.start();
  await printMassActions(server);
  if (process.argv.length === 2)
    storeResult(`access-${database.dialect}`, {
      how: `${database.dialect}, ${figure(rows)} authorizations.`,
    });
  await running.stop();
  await opened.close();
} finally {
  await database.close();
  if (administrator !== undefined && url !== null) await drop(administrator, url);
  else await bench.remove();
}

// --- indexes
// ---------------------------------------------------------------------------------------------------

/**
 * Prints how long the migrations for the lists take. During such a step, other requests can write
 * to the table on MariaDB, but not on PostgreSQL and SQLite.
 */
async function printIndexes(): Promise<void> {
  const on = database.dialect === 'mysql' ? ' ON oauth_families' : '';
  const INDEXES = [
    ['oauth_families_client', 'client_id, id'],
    ...(database.dialect === 'postgres'
      ? [['oauth_families_person_id', 'user_provider, user_id, id']]
      : []),
  ] as const;
  for (const [name, columns] of INDEXES) {
    await database.execute(`DROP INDEX ${name}${on}`);
    const began = performance.now();
    await database.execute(`CREATE INDEX ${name} ON oauth_families (${columns})`);
    print(`${name} is made in ${((performance.now() - began) / 1000).toFixed(1)} s.\n`);
  }
  const began = performance.now();
  await database.execute('ALTER TABLE oauth_families ADD COLUMN tried BIGINT');
  print(`A column is added in ${(performance.now() - began).toFixed(0)} ms.\n`);
}

// --- lists
// ----------------------------------------------------------------------------------------------------

async function printLists({ access }: AuthorizationServer): Promise<void> {
  const common = bench.seeded.web.id;
  const person = (id: string) => ({ person: { provider: PROVIDER, id } });
  const many = person(MANY[2]);
  const LISTS = {
    everything: {},
    'a common client': { clientId: common },
    'a rare client': { clientId: RARE_CLIENT },
    'a person': person(`person ${Math.floor(rows / 8)}`),
    'a person with very many': many,
    'a common scope': { scope: 'notes:read' },
    'a rare scope, the oldest rows': { scope: 'rare' },
    'a rare scope of a common client': { scope: 'rare', clientId: common },
    'a scope that no one has': { scope: 'none' },
    'a scope that no one has, of a common client': { scope: 'none', clientId: common },
    'a scope that no one has, of a person with very many': { scope: 'none', ...many },
    'unused for 1 day: hardly any': { unusedSince: NOW - DAY },
    'unused for 27 days: none': { unusedSince: NOW - 27 * DAY },
    'unused for 90 days: none': { unusedSince: NOW - 90 * DAY },
    'unused for 10 days, of a common client': { unusedSince: NOW - 10 * DAY, clientId: common },
    'all four, of a person with very many': {
      ...many,
      clientId: common,
      scope: 'none',
      unusedSince: NOW - DAY,
    },
    'an unknown person': person('nobody'),
  } as const;
  const table: string[][] = [];
  for (const [name, filter] of Object.entries(LISTS)) {
    const took: number[] = [];
    let found = '';
    for (let time = 0; time <= times; time += 1) {
      const began = performance.now();
      const { items, next } = await access.list(filter);
      took.push(performance.now() - began);
      found = `${items.length}${next === null ? '' : ' and more'}`;
    }
    const [first = 0, ...others] = took;
    const sorted = others.toSorted((one, other) => one - other);
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    const slowest = Math.max(first, at(0.99));
    table.push([
      name,
      found,
      ...[first, at(0.5), at(0.99)].map((value) => value.toFixed(1)),
      'below 100',
      slowest < 100 ? 'yes' : '**no**',
    ]);
  }
  printRows(
    ['first page, ms', 'found', 'first time', 'median', '99th percentile', 'target', 'reached'],
    table,
  );
}

// --- tokens beside it
// -----------------------------------------------------------------------------------------

async function printMassActions(server: AuthorizationServer): Promise<void> {
  const refresh = WORKS.find(({ name }) => name === 'refresh, no ID token');
  if (refresh === undefined) throw new Error('There is no such work');
  const load = (lasting: number) =>
    measure(bench.port, (connection) => refresh.prepare(bench.seeded, connection), {
      connections: 10,
      warmUp: 1,
      seconds: lasting,
    });
  const alone = await load(seconds);
  const table = [row('alone', alone, null, alone)];
  for (const [name, act] of Object.entries({
    'all of a person revoked': () =>
      server.access.revokePerson({ provider: PROVIDER, id: MANY[0] }),
    'all of a person erased': () => server.access.erasePerson({ provider: PROVIDER, id: MANY[1] }),
    'expired ones removed': () => server.prune(),
  })) {
    let tookMs: number | null = null;
    const began = performance.now();
    const acting = act().then(() => (tookMs = performance.now() - began));
    const beside = await load(seconds);
    await acting;
    table.push(row(name, beside, tookMs, alone));
    table.push(row('alone again', await load(seconds), null, alone));
  }
  print('');
  printRows(
    [
      'refresh, 10 connections',
      'a second',
      'median, ms',
      '99th percentile, ms',
      'against alone',
      'the action took, s',
    ],
    table,
  );
}

function row(
  name: string,
  { perSecond, p50, p99 }: Measured,
  tookMs: number | null,
  alone: Measured,
): string[] {
  const took = tookMs === null ? '-' : (tookMs / 1000).toFixed(1);
  return [name, figure(perSecond), p50.toFixed(1), p99.toFixed(1), percent(p99 / alone.p99), took];
}

// --- filling
// --------------------------------------------------------------------------------------------------

/**
 * Creates a person for every four rows, over four weeks. The newest parts belong to the people with
 * very many authorizations. The oldest authorizations have expired.
 */
async function fill(): Promise<void> {
  const { hex, concat, series } = WORDS[database.dialect];
  const { id: common } = bench.seeded.web;
  await database.execute(
    `INSERT INTO oauth_clients (client_id, name, redirect_uris, scope, grants, is_public, created_at)
    VALUES (?, 'Rare', '[]', 'openid', 'authorization_code', 1, ?)`,
    [RARE_CLIENT, NOW],
  );
  const at = `(${NOW - HOUR - rows * BETWEEN_TWO} + n * ${BETWEEN_TWO})`;
  const id = concat(hex(at, 12), hex('n', 20));
  const hash = concat(hex('n', 22), hex('n + 1', 21));
  const of = (index: number) =>
    `n >= ${rows - (index + 1) * theirs} AND n < ${rows - index * theirs}`;
  const who = MANY.map((person, index) => `WHEN ${of(index)} THEN '${person}'`).join(' ');
  const expires = `CASE WHEN n < ${theirs} THEN ${NOW - 2 * DAY} ELSE ${NOW + 20 * DAY} END`;
  const insert = `INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, created_at, expires_at, prune_after,
      code_hash, code_expires_at, code_spent_at, refresh_hash, refresh_mark_hash, refresh_generation, refresh_expires_at, used_at)
    SELECT ${id}, CASE WHEN n % ${Math.floor(rows / 20)} = 1 THEN '${RARE_CLIENT}' ELSE '${common}' END, '${PROVIDER}',
      CASE ${who} ELSE ${concat("'person '", `CAST(${database.dialect === 'mysql' ? 'n DIV 4' : 'n / 4'} AS CHAR(20))`)} END,
      ${hash}, CASE WHEN n >= ${theirs} AND n < ${theirs + 20} THEN 'openid rare' ELSE 'openid notes:read' END,
      ${at}, ${expires}, ${expires}, ${hash}, ${at}, ${at}, ${hash}, ${hash}, 10, ${expires}, CASE WHEN n = ${Math.floor(rows / 2)} THEN NULL ELSE ${NOW - HOUR} END
    FROM `;
  for (let from = 0; from < rows; from += AT_ONCE) {
    await database.execute(insert + series(from, Math.min(rows, from + AT_ONCE) - 1));
  }
  await settle(database);
}

/** Lets the engine analyze its rows. The engine would do this by itself after some time. */
async function settle(filled: Database): Promise<void> {
  if (filled.dialect === 'postgres') await filled.execute('ANALYZE');
  if (filled.dialect === 'mysql') await filled.execute('ANALYZE TABLE oauth_families');
}

async function create(server: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  const made = new URL(server);
  made.pathname = `/${name}`;
  return made.href;
}

async function drop(server: string, made: string): Promise<void> {
  const force = server.startsWith('postgres') ? ' WITH (FORCE)' : '';
  await administer(server, `DROP DATABASE ${new URL(made).pathname.slice(1)}${force}`);
}

async function administer(server: string, statement: string): Promise<void> {
  const administration = openDatabase(server, { directory: '/' });
  try {
    await administration.execute(statement);
  } finally {
    await administration.close();
  }
}
