// node bench/dist/family.js [refreshes]
//
// Prints which rows an authorization leaves behind if it is refreshed once, and if it is refreshed
// 100,000 times (1,000 with --quick). It uses SQLite, or the PostgreSQL server in DATABASE_URL.
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Connection } from './connection.ts';
import { createDatabase } from './database.ts';
import { figure, print, printRows } from './print.ts';
import { storeResult } from './results.ts';
import { Bench } from './server.ts';
import { WORKS } from './works.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
});
const refreshes = Number(positionals[0] ?? (options.quick ? 1000 : 100_000));
const postgres = process.env['DATABASE_URL'];
const WORK = 'refresh, no ID token';

const bench = await Bench.seed(
  'portico',
  postgres === undefined ? null : await createDatabase(postgres),
);
const running = await bench.start();
try {
  const connection = await Connection.open(bench.port);
  const refresh = await WORKS.find(({ name }) => name === WORK)?.prepare(bench.seeded, connection);
  if (refresh === undefined) throw new Error(`There is no work ${WORK}`);
  await refresh();
  const before = await rowsByTable();
  for (let made = 1; made < refreshes; made += 1) await refresh();
  const after = await rowsByTable();
  connection.close();
  const living = 'oauth_access_tokens';
  printRows(
    ['table', 'rows after one refresh', `after ${figure(refreshes)}`],
    [...after].map(([table, rows]) => [table, figure(before.get(table)), figure(rows)]),
  );
  const grew = [...after].filter(
    ([table, rows]) => table !== living && rows > (before.get(table) ?? 0),
  );
  print(
    `\nTarget: as many, but for living access tokens. Reached: ${grew.length === 0 ? 'yes' : '**no**'}.`,
  );
  if (process.argv.length === 2)
    storeResult(postgres === undefined ? 'family-sqlite' : 'family-postgres', {
      how: `${postgres === undefined ? 'SQLite' : 'PostgreSQL'}.`,
    });
} finally {
  await running.stop();
  await bench.remove();
}

/** Counts the rows of each table of the server. */
async function rowsByTable(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  if (postgres === undefined) {
    const database = new DatabaseSync(bench.database.slice('sqlite:'.length), { readOnly: true });
    const tables = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'oauth%' ORDER BY name",
      )
      .all();
    for (const { name } of tables) {
      counts.set(
        String(name),
        Number(database.prepare(`SELECT count(*) AS rows FROM ${String(name)}`).get()?.['rows']),
      );
    }
    database.close();
  } else {
    const client = new pg.Client({ connectionString: bench.database });
    await client.connect();
    const tables = await client.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_name LIKE 'oauth%' ORDER BY 1",
    );
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${name}`);
      counts.set(name, Number(rows[0]?.rows));
    }
    await client.end();
  }
  return counts;
}
