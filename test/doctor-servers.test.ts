// @engines servers: it changes settings of its own database server; SQLite has no server
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { finding, findings as findingsOf, type Examined } from './support/examined.ts';
import { openOwnStore } from './support/own-store.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';

/** The doctor's findings about a server with changed settings, which no other test uses. */
let server: DatabaseServer;
let administrator: OpenedDatabase;
let portal: RunningPortal;
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;

beforeAll(async () => {
  server = await (isPostgres ? POSTGRES : MARIADB).start();
  administrator = openDatabase(server.url, { directory: '/' });
  portal = await startPortal({ databaseServer: server.url });
});
afterAll(async () => {
  await portal.close();
  await administrator.close();
  await server.close();
});

const findings = (part: string, examined: Examined = {}) => findingsOf(portal, part, examined);

/** Runs the first of these, and the second when the test is finished. */
async function until(set: string, reset: string): Promise<void> {
  onTestFinished(async () => void (await administrator.execute(reset)));
  await administrator.execute(set);
}

/** Database settings for new sessions. */
async function setInSessions(setting: string, value: string): Promise<void> {
  const name = new URL(portal.env['DATABASE_URL'] ?? '').pathname.slice(1);
  await until(
    `ALTER DATABASE ${name} SET ${setting} = '${value}'`,
    `ALTER DATABASE ${name} RESET ${setting}`,
  );
}

/** Server settings that it reloads. */
async function setInServer(setting: string, value: string): Promise<void> {
  const reload = async (statement: string) => {
    await administrator.execute(statement);
    await administrator.execute('SELECT pg_reload_conf()');
  };
  const before = await valueOf(setting);
  onTestFinished(async () => {
    await reload(`ALTER SYSTEM RESET ${setting}`);
    await expect.poll(() => valueOf(setting)).toBe(before);
  });
  await reload(`ALTER SYSTEM SET ${setting} = '${value}'`);
  await expect.poll(() => valueOf(setting)).toBe(value);
}

async function valueOf(setting: string): Promise<unknown> {
  const { rows } = await administrator.execute('SELECT setting FROM pg_settings WHERE name = ?', [
    setting,
  ]);
  return rows[0]?.['setting'];
}

const ON_POSTGRES: Readonly<Record<string, () => Promise<void>>> = {
  async 'a server by itself is in order'() {
    expect(await findings('replication')).toEqual([
      expect.objectContaining(finding('ok', /^a single server, without standbys/)),
    ]);
  },
  async 'fsync that is off, as here'() {
    expect(await findings('durability')).toMatchObject([
      finding('warning', /^fsync is off/, /fsync = on/),
    ]);
  },
  async 'commits that are answered before they are on the disk'() {
    await setInSessions('synchronous_commit', 'off');
    expect(await findings('durability')).toMatchObject([
      finding('warning', /^fsync/, /./),
      finding('warning', /^synchronous_commit is off/, /ALTER ROLE/),
    ]);
  },
  async 'pages that may be written in part'() {
    await setInServer('full_page_writes', 'off');
    expect(await findings('durability')).toContainEqual(
      expect.objectContaining(finding('warning', /^full_page_writes is off/, /./)),
    );
  },
  async 'transactions that may only read'() {
    await setInSessions('default_transaction_read_only', 'on');
    expect(await findings('replication')).toMatchObject([
      finding('failing', /read-only here/, /default_transaction_read_only/),
    ]);
  },
  async 'a standby that commits wait for, and that is not there'() {
    await setInServer('synchronous_standby_names', 'ANY 1 (one, other)');
    expect(await findings('replication')).toMatchObject([
      finding('failing', /0 of these standbys are attached: every write waits/, /attach/),
    ]);
  },
  async 'commits that do not wait for the standbys that are named'() {
    await setInSessions('synchronous_commit', 'local');
    await setInServer('synchronous_standby_names', 'ANY 1 (one, other)');
    expect(await findings('replication')).toMatchObject([
      finding(
        'warning',
        /synchronous_commit is local.*used tokens become valid again/,
        /remote_apply/,
      ),
    ]);
  },
  async 'a standby that no commit waits for'() {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-standby-'));
    // The server counts this program as a standby.
    const program = path.join(path.dirname(POSTGRES.find() ?? ''), 'pg_receivewal');
    const port = new URL(server.url).port;
    const standby = spawn(
      program,
      `-D ${folder} -h 127.0.0.1 -p ${port} -U postgres -w`.split(' '),
    );
    onTestFinished(async () => {
      standby.kill('SIGKILL');
      await once(standby, 'close');
      await rm(folder, { recursive: true });
    });
    const attached = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'";
    await expect
      .poll(async () => (await administrator.execute(attached)).rows.length, { timeout: 20_000 })
      .toBe(1);
    expect(await findings('replication')).toMatchObject([
      finding(
        'warning',
        /^1 standby follows asynchronously: .*used tokens become valid again/,
        /ANY 1/,
      ),
    ]);
  },
  async 'room for so many processes'() {
    const pool = { size: 10, lifetime: 300 };
    expect(await findings('connections', { pool })).toMatchObject([
      finding('ok', /^the server allows 297 connections: enough for 29 processes/),
    ]);
    expect(await findings('connections', { pool: { ...pool, size: 400 } })).toMatchObject([
      finding(
        'warning',
        /^the pool can open 400 connections, but the server allows only 297/,
        /database_pool_size/,
      ),
    ]);
    const name = new URL(portal.env['DATABASE_URL'] ?? '').pathname.slice(1);
    await until(
      `ALTER DATABASE ${name} CONNECTION LIMIT 15`,
      `ALTER DATABASE ${name} CONNECTION LIMIT -1`,
    );
    expect(await findings('connections', { pool })).toMatchObject([
      finding('ok', /enough for 1 process with/),
    ]);
  },
  async 'time limits that end what waits for a moment'() {
    await setInSessions('lock_timeout', '50ms');
    expect(await findings('connections', { store: openOwnStore })).toMatchObject([
      finding('ok', /297 connections/),
      finding('warning', /^lock_timeout is only 50 ms/, /at least 1000 ms/),
    ]);
  },
};

const ON_MARIADB: Readonly<Record<string, () => Promise<void>>> = {
  async 'a server by itself is in order'() {
    expect(await findings('replication')).toMatchObject([finding('ok', /^a single server/)]);
    expect(await findings('tables')).toMatchObject([finding('ok', /^\d+ tables use InnoDB/)]);
  },
  async 'commits that are answered before they are on the disk, as here'() {
    expect(await findings('durability')).toMatchObject([
      finding('warning', /^innodb_flush_log_at_trx_commit is 2/, /= 1/),
    ]);
    await until(
      'SET GLOBAL innodb_flush_log_at_trx_commit = 1',
      'SET GLOBAL innodb_flush_log_at_trx_commit = 2',
    );
    expect(await findings('durability')).toMatchObject([finding('ok', /on disk/)]);
  },
  async 'a server that may only be read from'() {
    await until('SET GLOBAL read_only = 1', 'SET GLOBAL read_only = 0');
    expect(await findings('replication')).toMatchObject([
      finding('failing', /^the server is read-only/, /database_url/),
    ]);
  },
  async 'room for so many processes'() {
    const pool = { size: 10, lifetime: 300 };
    expect(await findings('connections', { pool })).toMatchObject([
      finding('ok', /^the server allows 300 connections: enough for 30 processes/),
    ]);
    await until('SET GLOBAL max_connections = 15', 'SET GLOBAL max_connections = 300');
    expect(await findings('connections', { pool })).toMatchObject([
      finding('ok', /enough for 1 process with/),
    ]);
    expect(await findings('connections', { pool: { ...pool, size: 20 } })).toMatchObject([
      finding(
        'warning',
        /^the pool can open 20 connections, but the server allows only 15/,
        /database_pool_size/,
      ),
    ]);
  },
  async 'connections that the server ends before the pool does'() {
    await until('SET GLOBAL wait_timeout = 60', 'SET GLOBAL wait_timeout = 28800');
    expect(await findings('connections', { pool: { size: 10, lifetime: 300 } })).toMatchObject([
      finding('ok', /^the server allows/),
      finding('warning', /^wait_timeout is 60 s/, /database_connection_lifetime/),
    ]);
  },
  async 'time limits that end what waits for a moment'() {
    await until('SET GLOBAL max_statement_time = 0.5', 'SET GLOBAL max_statement_time = 0');
    expect(await findings('connections', { store: openOwnStore })).toMatchObject([
      finding('ok', /300 connections/),
      finding('warning', /^max_statement_time is only 500 ms/, /at least 1000 ms/),
    ]);
  },
  async 'tables without transactions, or without a primary key'() {
    const { database } = portal.application;
    onTestFinished(async () => void (await database.execute('DROP TABLE oauth_left')));
    await database.execute('CREATE TABLE oauth_left (id INTEGER) ENGINE = MyISAM');
    expect(await findings('tables')).toMatchObject([
      finding('failing', /: oauth_left$/, /InnoDB/),
      finding('warning', /: oauth_left$/, /key/),
    ]);
  },
};

describe('the doctor, about the database server', () => {
  // @shows AS-13.17
  test.each(Object.entries(isPostgres ? ON_POSTGRES : ON_MARIADB))('%s', async (_, examination) => {
    await expect(examination()).resolves.toBeUndefined();
  });
});
