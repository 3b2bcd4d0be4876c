// @engines clusters: it runs the doctor on clusters with missing nodes
import { openDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGalera, type Galera } from '../support/engines/galera.ts';
import { startPgBouncer } from '../support/engines/pgbouncer.ts';
import {
  startReplicatedPostgres,
  type ReplicatedPostgres,
} from '../support/engines/replicated-postgres.ts';
import { finding, findings } from '../support/examined.ts';
import { openOwnStore } from '../support/own-store.ts';
import {
  ADA,
  callApi,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
} from '../support/portal.ts';

let portal: RunningPortal;

/** The portal's database at another server. */
function at(port: number, user?: string): string {
  const url = new URL(portal.env['DATABASE_URL'] ?? '');
  url.port = String(port);
  if (user !== undefined) url.username = user;
  return url.href;
}

const PATIENCE = { timeout: 60_000, interval: 250 };

describe('the doctor, on Galera', () => {
  let galera: Galera;
  beforeAll(async () => {
    galera = await startGalera();
    portal = await startPortal({ databaseServer: galera.nodes[0].url });
  });
  afterAll(async () => {
    await portal.close();
    await galera.close();
  });

  // @shows AS-13.17
  test('reports no problem for three nodes whose sessions see all commits of other nodes', async () => {
    expect(await findings(portal, 'replication')).toMatchObject([
      finding('ok', /^a Galera cluster of 3 nodes; .*wsrep_sync_wait = 7/),
    ]);
    expect(await findings(portal, 'tables')).toMatchObject([finding('ok', /primary key/)]);
    expect(await findings(portal, 'durability')).toMatchObject([
      finding('warning', /innodb_flush_log_at_trx_commit is 2: if all nodes crash together/, /= 1/),
    ]);
  });

  // @shows AS-13.17
  test('warns about sessions that miss commits of other nodes, and a server that retries nothing', async () => {
    await galera.configure('wsrep_retry_autocommit', 0);
    onTestFinished(() => galera.configure('wsrep_retry_autocommit', 1));
    await galera.configure('wsrep_dirty_reads', 1);
    onTestFinished(() => galera.configure('wsrep_dirty_reads', 0));
    expect(await findings(portal, 'replication', { store: openOwnStore })).toMatchObject([
      finding('warning', /^wsrep_sync_wait is 0: .* a revocation/, /wsrep_sync_wait = 7/),
      finding('warning', /^wsrep_dirty_reads is ON: .* revoked/, /wsrep_dirty_reads = OFF/),
      finding('warning', /^wsrep_retry_autocommit is 0/, /1 or more/),
    ]);
  });

  // @shows AS-13.17
  test('fails for a node that is cut off from the others', async () => {
    const [first, second] = galera.nodes;
    onTestFinished(async () => {
      await second.isolate(false);
      await expect.poll(() => first.state(), PATIENCE).toEqual({ size: 3, ready: true });
    });
    await second.isolate(true);
    await expect.poll(() => second.state(), PATIENCE).toMatchObject({ ready: false });
    const failing = finding(
      'failing',
      /^this node of the Galera cluster is not ready/,
      /point database_url \(DATABASE_URL\) to another/,
    );
    expect(await findings(portal, 'store', { url: at(second.port) })).toMatchObject([failing]);
    const own = { url: at(second.port), store: openOwnStore };
    expect(await findings(portal, 'replication', own)).toMatchObject([failing]);
  });

  // @shows AS-13.17
  test('warns about a cluster of two nodes', async () => {
    const [first, , third] = galera.nodes;
    await third.server().kill();
    await expect.poll(() => first.state(), PATIENCE).toEqual({ size: 2, ready: true });
    expect(await findings(portal, 'replication')).toMatchObject([
      finding('warning', /two nodes: if one node fails, the other also stops answering/, /garbd/),
    ]);
  });
});

describe('the doctor, on replicated PostgreSQL', () => {
  let postgres: ReplicatedPostgres;
  beforeAll(async () => {
    postgres = await startReplicatedPostgres();
    portal = await startPortal({ databaseServer: postgres.url });
  });
  afterAll(async () => {
    await portal.close();
    await postgres.close();
  });

  /** Its output once there are this many standbys. */
  async function withStandbys(count: number) {
    const attached = async () =>
      (await postgres.primary().administrator.execute('SELECT 1 FROM pg_stat_replication')).rows
        .length;
    await expect.poll(attached, PATIENCE).toBe(count);
    return findings(portal, 'replication');
  }

  // @shows AS-13.17
  test('reports no problem for two synchronous standbys', async () => {
    expect(await withStandbys(2)).toMatchObject([
      finding('ok', /^a commit waits for 1 of 2 standbys \(synchronous_commit = on\)/),
    ]);
  });

  // @shows AS-13.17
  test('reports what its account is not allowed to see', async () => {
    const { administrator } = postgres.primary();
    await administrator.execute('CREATE ROLE plain LOGIN');
    onTestFinished(async () => void (await administrator.execute('DROP ROLE plain')));
    const url = at(postgres.address.port, 'plain');
    expect(await findings(portal, 'replication', { url })).toMatchObject([
      finding('skipped', /which of the 2 attached standbys are synchronous.*GRANT pg_monitor/),
    ]);
  });

  // @shows AS-13.17
  test('fails for a connection that leads to a standby', async () => {
    const [standby] = postgres.standbys();
    const url = at(standby?.port ?? 0);
    const asAny = (address: string) =>
      openDatabase(`${address}?target_session_attrs=any`, { directory: '/' });
    expect(await findings(portal, 'replication', { url, store: asAny })).toMatchObject([
      finding('failing', /leads to a standby, which is read-only/, /primary/),
    ]);
  });

  // @shows AS-13.17
  test('reports a pooler that shares connections, and only then', async () => {
    const bouncer = await startPgBouncer(postgres.address.port);
    onTestFinished(() => bouncer.close());
    expect(await findings(portal, 'connections', { url: at(bouncer.port) })).toMatchObject([
      finding('ok', /^the connection uses a pooler in transaction mode .*ALTER ROLE/),
    ]);
    // The next processes find connections that were opened before they started.
    expect(await findings(portal, 'connections')).toMatchObject([
      finding('ok', /^the server allows 97/),
    ]);
  });

  // @shows AS-13.17
  test('warns about a single standby, and fails without any standby, while tokens still work', async () => {
    const { access_token: token } = await obtainTokens(portal, await registerClient(portal), ADA);
    const [one, other] = postgres.standbys();
    await one?.server().kill();
    expect(await withStandbys(1)).toMatchObject([
      finding('warning', /no spare standby is attached/, /ANY 1/),
    ]);
    await other?.server().kill();
    expect(await withStandbys(0)).toMatchObject([
      finding('failing', /0 of these standbys are attached: every write waits/, /attach/),
    ]);
    expect((await callApi(portal, '/api/notes', token)).status).toBe(200);
    await postgres.rejoin();
    await withStandbys(2);
  });
});
