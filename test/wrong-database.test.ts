// @engines servers: a database server can refuse DATABASE_URL, and SQLite cannot
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { consoleOf, HERE, portico, porticoHere, ROOT, start } from './support/console.ts';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { freePort } from './support/free-port.ts';
import { startPortal } from './support/portal.ts';

/** What an operator sees if `DATABASE_URL` is wrong, on a server with accounts and passwords. */
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;
const SECRET = 'hunter2';
const PORTAL = path.join(ROOT, 'examples', 'portal');

let server: DatabaseServer;
let administrator: OpenedDatabase;
let storage: string;

const run = async (...statements: readonly string[]) => {
  for (const statement of statements) await administrator.execute(statement);
};

/**
 * On PostgreSQL, everyone except the administrator needs a password, and `app` may not use
 * `barred`.
 */
const RULES = [
  'host all postgres 127.0.0.1/32 trust',
  'host barred all 127.0.0.1/32 reject',
  'host all all 127.0.0.1/32 scram-sha-256',
];

const ACCOUNTS = isPostgres
  ? [
      `CREATE ROLE app LOGIN PASSWORD '${SECRET}'`,
      `CREATE ROLE expelled NOLOGIN PASSWORD '${SECRET}'`,
      'CREATE DATABASE barred',
      'CREATE DATABASE closed',
      'REVOKE CONNECT ON DATABASE closed FROM PUBLIC',
    ]
  : [
      `CREATE USER app@'%' IDENTIFIED BY '${SECRET}'`,
      `CREATE USER locked@'%' IDENTIFIED BY '${SECRET}' ACCOUNT LOCK`,
      `CREATE USER elsewhere@'192.0.2.1' IDENTIFIED BY '${SECRET}'`,
      'CREATE DATABASE closed',
      "GRANT SELECT ON empty.* TO app@'%'",
      "GRANT ALL ON missing.* TO app@'%'",
    ];

beforeAll(async () => {
  server = await (isPostgres ? POSTGRES : MARIADB).start();
  administrator = openDatabase(server.url, { directory: '/' });
  storage = await mkdtemp(path.join(tmpdir(), 'portico-wrong-database-'));
  await run('CREATE DATABASE empty', ...ACCOUNTS);
  if (!isPostgres) return;
  const { rows } = await administrator.execute<{ file: string }>(
    "SELECT setting AS file FROM pg_settings WHERE name = 'hba_file'",
  );
  const lines = RULES.map((rule) => `'${rule}'`).join(', ');
  await run(`COPY (SELECT unnest(ARRAY[${lines}])) TO '${rows[0]?.file}'`);
  await run('SELECT pg_reload_conf()');
  await vi.waitFor(async () => {
    if (await accepts(urlOf('app', 'empty', null))) throw new Error('The rules are not in force');
  });
});
afterAll(async () => {
  await administrator.close();
  await server.close();
  await rm(storage, { recursive: true });
});

/** The server's URL with another account and database. */
function urlOf(account: string, database: string, password: string | null = SECRET): string {
  const url = new URL(server.url);
  url.username = account;
  url.password = password ?? '';
  url.pathname = `/${database}`;
  return url.href;
}

async function accepts(url: string): Promise<boolean> {
  const database = openDatabase(url, { directory: '/' });
  try {
    await database.execute('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await database.close();
  }
}

const environment = (url: string) => ({
  APP_ENV: 'dev',
  STORAGE_DIR: storage,
  DATABASE_URL: url,
  PORT: '0',
});
const command = (url: string, ...args: readonly string[]) =>
  porticoHere(args, { cwd: PORTAL, env: environment(url) });

type Wrong = readonly [what: string, url: () => string, said: string, remedy: string];

const WRONG: readonly Wrong[] = isPostgres
  ? [
      [
        'a wrong password',
        () => urlOf('app', 'empty', `not-${SECRET}`),
        'password authentication failed for user "app"',
        'correct the user or the password',
      ],
      [
        'no password',
        () => urlOf('app', 'empty', null),
        'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
        'add the password, because the server requires one',
      ],
      [
        'an account that may not log in',
        () => urlOf('expelled', 'empty'),
        'role "expelled" is not permitted to log in',
        'correct the user, or allow it to connect from this machine (LOGIN, and pg_hba.conf)',
      ],
      [
        'a database that pg_hba.conf bars',
        () => urlOf('app', 'barred'),
        'pg_hba.conf rejects connection for host "127.0.0.1", user "app", database "barred", no encryption',
        'correct the user, or allow it to connect from this machine (LOGIN, and pg_hba.conf)',
      ],
      [
        'a database that does not exist',
        () => urlOf('app', 'missing'),
        'database "missing" does not exist',
        'correct the name of the database, or create it (CREATE DATABASE)',
      ],
      [
        'a database that the account may not use',
        () => urlOf('app', 'closed'),
        'permission denied for database "closed"',
        'grant the missing privilege to the user, or use the user that owns the database',
      ],
    ]
  : [
      [
        'a wrong password',
        () => urlOf('app', 'empty', `not-${SECRET}`),
        "Access denied for user 'app'@'localhost' (using password: YES)",
        'correct the user or the password, or allow the account to connect from this machine',
      ],
      [
        'an account that may not connect from here',
        () => urlOf('elsewhere', 'empty'),
        "Access denied for user 'elsewhere'@'localhost' (using password: YES)",
        'correct the user or the password, or allow the account to connect from this machine',
      ],
      [
        'a locked account',
        () => urlOf('locked', 'empty'),
        'Access denied, this account is locked',
        'unlock the account (ALTER USER … ACCOUNT UNLOCK)',
      ],
      [
        'a database that does not exist',
        () => urlOf('app', 'missing'),
        "Unknown database 'missing'",
        'correct the name of the database, or create it (CREATE DATABASE)',
      ],
      [
        'a database that the account may not use',
        () => urlOf('app', 'closed'),
        "Access denied for user 'app'@'%' to database 'closed'",
        'correct the name of the database, or grant the account its privileges',
      ],
    ];

describe('DATABASE_URL with', () => {
  // @shows AS-13.17, AS-18.28
  test.each(WRONG)(
    '%s makes each command fail with the cause and the remedy',
    async (_, url, said, remedy) => {
      const detail = `database_url: does not work (its value comes from DATABASE_URL): ${said}`;
      const stderr = `The configuration cannot be used:\n  ${detail}; ${remedy}\n`;
      for (const args of [
        ['db:migrate', 'up'],
        ['db:migrate', 'status'],
        ['serve'],
        ['account:list'],
      ])
        expect(await command(url(), ...args), args[0]).toEqual({ code: 1, stdout: '', stderr });
      const doctor = await command(url(), 'oauth:server:doctor', '--json');
      const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly object[] };
      expect(checks).toContainEqual({ part: 'store', outcome: 'failing', detail, remedy });
      expect(doctor).toMatchObject({ code: 1 });
      expect(doctor.stdout + doctor.stderr).not.toContain(SECRET);
      const database = openDatabase(url(), { directory: '/' });
      onTestFinished(() => database.close());
      const failure: unknown = await database.execute('SELECT 1').catch((error: unknown) => error);
      expect(database.isUnavailable(failure)).toBe(true);
    },
  );

  // @shows AS-13.8, AS-18.28
  test('an account that may not create tables makes the migration fail with cause and remedy', async () => {
    const [said, remedy] = isPostgres
      ? [
          'permission denied for schema public',
          'grant the missing privilege to the user, or use the user that owns the database',
        ]
      : [
          "CREATE command denied to user 'app'@'localhost' for table `empty`.`portico_migrations`",
          'grant the missing privilege to the account (GRANT … ON database.*), or use another account',
        ];
    expect(await command(urlOf('app', 'empty'), 'db:migrate', 'up')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The configuration cannot be used:\n  database_url: does not work (its value comes ' +
        'from DATABASE_URL): ' +
        `${said}; ${remedy}\n`,
    });
  });

  test.each(isPostgres ? [] : ['MariaDB'])(
    'no database makes the migration fail on %s',
    async () => {
      const { code, stderr } = await command(urlOf('app', ''), 'db:migrate', 'up');
      expect(code).toBe(1);
      expect(stderr).toMatch(/: No database selected; add the name of the database to the URL\n$/);
    },
  );

  test('a wrong password in the pool of the application is reported for that pool', async () => {
    const { code, stderr } = await portico(['--app', 'app.ts', 'db:migrate', 'up'], {
      cwd: path.join(ROOT, 'test', 'fixtures', 'borrowing'),
      env: {
        APP_ENV: 'dev',
        STORAGE_DIR: storage,
        POOL_URL: urlOf('app', 'empty', `not-${SECRET}`),
      },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The configuration cannot be used:\n {2}database: does not work: .*; correct the user or the password.*\n$/,
    );
  });

  /** A port without a server, and a name that no host has. */
  const away = (host: string) => server.url.replace(/127\.0\.0\.1:\d+/, host);
  const AWAY = [
    ['127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['database.invalid:1', 'getaddrinfo ENOTFOUND database.invalid'],
  ] as const;
  const lineOf = (reason: string) =>
    `The database cannot be reached: ${reason}. Start the database server, or correct database_url (DATABASE_URL)`;

  test.each(AWAY)('%s makes a command fail with the cause and the remedy', async (host, reason) => {
    for (const args of [['db:migrate', 'up'], ['account:list']])
      expect(await command(away(host), ...args)).toEqual({
        code: 1,
        stdout: '',
        stderr: `${lineOf(reason)} (details are in the log)\n`,
      });
  });

  // @shows AS-6.16, AS-18.28
  test.each(AWAY)('%s lets the server start with a warning', async (host, reason) => {
    const env = { ...environment(away(host)), PORT: String(await freePort()) };
    const serving = start([consoleOf(HERE), 'serve'], { cwd: PORTAL, env });
    onTestFinished(() => void serving.process.kill('SIGKILL'));
    await serving.says(`Warning: ${lineOf(reason)}\n`);
    const ready = await fetch(`http://127.0.0.1:${env.PORT}/health/ready`);
    expect(ready.status).toBe(503);
    expect(await serving.stop()).toBe(0);
  });
});

// @shows AS-6.16, AS-18.28
test('a password change at runtime causes 503 without details and a log line, until restored', async () => {
  const passwordIs = (password: string) =>
    run(
      isPostgres
        ? `ALTER ROLE app PASSWORD '${password}'`
        : `ALTER USER app@'%' IDENTIFIED BY '${password}'`,
    );
  await run('CREATE DATABASE served');
  await run(
    ...(isPostgres ? ['ALTER DATABASE served OWNER TO app'] : ["GRANT ALL ON served.* TO app@'%'"]),
  );
  const portal = await startPortal({ databaseUrl: urlOf('app', 'served') });
  onTestFinished(() => portal.close());
  const log = path.join(portal.application.storageDirectory, 'app.log');
  const ask = async () => {
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'x',
      code: 'x',
    });
    const answer = await fetch(`${portal.url}/oauth/token`, { method: 'POST', body });
    const id = answer.headers.get('x-request-id') ?? '';
    const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes(id));
    return { status: answer.status, text: await answer.text(), lines };
  };
  expect((await ask()).status).toBe(401);
  await passwordIs('changed');
  await endSessions();
  // The first request may still find an old connection.
  await ask();
  const refused = await ask();
  expect(refused).toMatchObject({
    status: 503,
    text: JSON.stringify({
      error: 'temporarily_unavailable',
      error_description: 'The server cannot answer now; try again.',
    }),
    lines: [expect.stringMatching(/password authentication failed|Access denied for user/)],
  });
  expect(refused.lines.join()).not.toContain(SECRET);
  await passwordIs(SECRET);
  expect((await ask()).status).toBe(401);
});

/** Ends the connections of the account. */
async function endSessions(): Promise<void> {
  if (isPostgres) {
    await run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app'");
    return;
  }
  await run("KILL USER 'app'");
}
