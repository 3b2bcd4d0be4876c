// @engines clusters: it puts PgBouncer between Portico and replicated PostgreSQL servers
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from '../support/beside.ts';
import type { RunningProcess } from '../support/console.ts';
import { startPgBouncer, type PgBouncer } from '../support/engines/pgbouncer.ts';
import {
  startReplicatedPostgres,
  type ReplicatedPostgres,
} from '../support/engines/replicated-postgres.ts';
import { timesUnderLoad, underLoad } from '../support/engines/under-load.ts';
import { startPortal, type RunningPortal } from '../support/portal.ts';
import { SCALE } from '../support/scale.ts';

/**
 * Two processes of Portico on PgBouncer in transaction mode, in front of the address of the
 * primary.
 */
let postgres: ReplicatedPostgres;
let bouncer: PgBouncer;
let portal: RunningPortal;
let processes: readonly RunningProcess[];
let urls: readonly string[];

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  portal = await startPortal({ databaseServer: postgres.url });
  bouncer = await startPgBouncer(postgres.address.port);
  const url = new URL(portal.env['DATABASE_URL'] ?? '');
  url.port = String(bouncer.port);
  const env = { DATABASE_URL: url.href };
  const started = [await startBeside(portal, env), await startBeside(portal, env)];
  processes = started.map(({ process }) => process);
  urls = started.map(({ other }) => other.url);
});
afterAll(async () => {
  for (const process of processes) await process.stop('SIGKILL');
  await bouncer.close();
  await portal.close();
  await postgres.close();
});

// @shows AS-18.2, AS-18.6
test('several processes share connections of PgBouncer in transaction mode without wrong responses', async () => {
  const broken = await underLoad('PgBouncer in transaction mode', { portal, urls }, (load) =>
    load.answered(SCALE.clusterAuthorizations * 10),
  );
  expect(broken).toEqual([]);
});

// @shows AS-18.9
test('a promotion behind PgBouncer leads to no wrong response', async () => {
  const title = 'PgBouncer, another primary behind it';
  const broken = await timesUnderLoad(
    SCALE.clusterFaults,
    title,
    { portal, urls },
    async (load) => {
      await postgres.primary().server().kill();
      await load.unavailable(6);
      await postgres.promote();
      postgres.address.leadTo(postgres.primary().port);
      await load.answered(100);
      await postgres.rejoin();
    },
  );
  expect(broken).toEqual([]);
});
