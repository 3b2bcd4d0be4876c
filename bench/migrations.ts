// node bench/migrations.ts [--rows 1000000] [--applied 15] [--writers 4] [--beforehand] [--restored]: how long each step of the schema takes with so many authorizations
// there, and how long a write and a read of one waits meanwhile. With
// --beforehand the indexes of 0018 are made before it, as docs/upgrade.md says; with --restored all of them end after the steps, as `oauth:restored` does. On the server of PostgreSQL or MariaDB that DATABASE_URL names.
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { migrate, openDatabase, type OpenedDatabase } from 'portico/host';
import {
  createAuthorizationServer,
  oauthServerConfiguration,
  oauthServerMigrations,
} from 'portico/oauth-server';
import { figure, print, printRows } from './print.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    applied: { type: 'string', default: '15' },
    writers: { type: 'string', default: '4' },
    beforehand: { type: 'boolean', default: false },
    restored: { type: 'boolean', default: false },
  },
});
const [rows, applied, writers] = [options.rows, options.applied, options.writers].map(Number) as [
  number,
  number,
  number,
];
const administrator = process.env['DATABASE_URL'] ?? '';
const FAR = Date.now() + 86_400_000;
/** Of a row, its place in the order: hexadecimal digits as ids have them. */
const idOf = (row: number) => row.toString(16).padStart(12, '0').padEnd(32, '0');

const FILL = {
  postgres: {
    number: 'n',
    rows: `generate_series(1, ${rows}) n`,
    id: "rpad(lpad(to_hex(n), 12, '0'), 32, '0')",
  },
  mysql: { number: 'seq', rows: `seq_1_to_${rows}`, id: "rpad(lpad(lower(hex(seq)), 12, '0'), 32, '0')" },
} as const;

async function fill(database: OpenedDatabase): Promise<void> {
  if (database.dialect === 'sqlite') throw new Error('DATABASE_URL names a server');
  const { number, rows: series, id } = FILL[database.dialect];
  await database.withoutTimeout().execute(
    `INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, created_at, expires_at, prune_after, refresh_hash,
      refresh_generation) SELECT ${id}, CONCAT('client-', MOD(${number}, 20)), 'accounts', CONCAT('person-', MOD(${number}, ${Math.ceil(rows / 5)})),
      CONCAT('subject-', MOD(${number}, ${Math.ceil(rows / 5)})), 'openid notes:read', 0, ${FAR}, ${FAR}, ${id}, 1 FROM ${series}`,
  );
}

/** On PostgreSQL, where an index that a step makes holds up every write. */
const BEFOREHAND = `
CREATE INDEX CONCURRENTLY oauth_families_client ON oauth_families (client_id, id);
CREATE INDEX CONCURRENTLY oauth_families_person_id ON oauth_families (user_provider, user_id, id);
`;

/** What `oauth:restored` does. */
async function endAll(database: OpenedDatabase): Promise<void> {
  const { access } = createAuthorizationServer({
    publicUrl: 'https://app.example',
    config: oauthServerConfiguration.parse({ name: 'App', scopes: { a: 'A' }, key_path: '/nowhere' }),
    database,
    host: {
      loginUrl: '/login',
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => false,
    },
  });
  await access.endAll();
}

interface Waits {
  write: number;
  read: number;
  writes: number;
}

/** Writes and reads authorizations as refreshes do, one after the other, until it is told to stop. */
function load(database: OpenedDatabase) {
  const state = { goesOn: true, waits: { write: 0, read: 0, writes: 0 } };
  const timed = async (kind: 'write' | 'read', work: Promise<unknown>) => {
    const began = performance.now();
    await work;
    state.waits[kind] = Math.max(state.waits[kind], performance.now() - began);
  };
  const use = async () => {
    while (state.goesOn) {
      const id = idOf(randomInt(1, rows));
      const write =
        'UPDATE oauth_families SET refresh_hash = ?, refresh_generation = refresh_generation + 1 WHERE id = ?';
      await timed('write', database.execute(write, [randomBytes(16).toString('hex'), id]));
      state.waits.writes += 1;
      await timed('read', database.execute('SELECT refresh_hash FROM oauth_families WHERE id = ?', [id]));
    }
  };
  const all = Promise.all(Array.from({ length: writers }, use));
  return {
    take(): Waits {
      const { waits } = state;
      state.waits = { write: 0, read: 0, writes: 0 };
      return waits;
    },
    async stop() {
      state.goesOn = false;
      await all;
    },
  };
}

const name = `portico_bench_${randomBytes(4).toString('hex')}`;
const server = openDatabase(administrator, { directory: '/' });
await server.execute(`CREATE DATABASE ${name}`);
const url = new URL(administrator);
url.pathname = `/${name}`;
const database = openDatabase(url.href, { directory: '/', statementTimeout: 600 });
try {
  await migrate(database, oauthServerMigrations.slice(0, applied));
  await fill(database);
  const loading = load(database);
  await setTimeout(5000);
  const { write, read, writes } = loading.take();
  const before = ['(none, 5 seconds)', '', figure(write), figure(read), figure(writes / 5)];
  const measured = [before];
  const steps = oauthServerMigrations.slice(applied).map(({ name: step }, index) => ({
    step,
    run: () => migrate(database, oauthServerMigrations.slice(applied + index, applied + index + 1)),
  }));
  const statements = options.beforehand ? BEFOREHAND.split(';').filter((each) => each.trim() !== '') : [];
  const early = statements.map((statement) => ({
    step: statement.trim().split(' ').slice(0, 4).join(' '),
    run: () => database.withoutTimeout().execute(statement),
  }));
  const restored = options.restored ? [{ step: 'oauth:restored', run: () => endAll(database) }] : [];
  for (const { step, run } of [...early, ...steps, ...restored]) {
    const began = performance.now();
    await run();
    const seconds = (performance.now() - began) / 1000;
    const waits = loading.take();
    measured.push([
      step,
      seconds.toFixed(1),
      figure(waits.write),
      figure(waits.read),
      figure(waits.writes / seconds),
    ]);
  }
  await loading.stop();
  print(`${database.dialect}, ${rows} authorizations, ${writers} writers`);
  printRows(['step', 'seconds', 'longest write (ms)', 'longest read (ms)', 'writes a second'], measured);
} finally {
  await database.close();
  await server.execute(`DROP DATABASE ${name}`);
  await server.close();
}
