// @engines clusters: it promotes synchronous standbys of PostgreSQL, with failures in every order
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from '../support/beside.ts';
import type { RunningProcess } from '../support/console.ts';
import {
  startReplicatedPostgres,
  type ReplicatedPostgres,
} from '../support/engines/replicated-postgres.ts';
import { CLIENTS, timesUnderLoad } from '../support/engines/under-load.ts';
import type { Workload } from '../support/history/workload.ts';
import { startPortal, type RunningPortal } from '../support/portal.ts';
import { SCALE } from '../support/scale.ts';

/** Two processes of Portico on one address, which leads to the primary. */
let postgres: ReplicatedPostgres;
let portal: RunningPortal;
let processes: readonly RunningProcess[];
let urls: readonly string[];

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  portal = await startPortal({ databaseServer: postgres.url });
  const started = [await startBeside(portal), await startBeside(portal)];
  processes = started.map(({ process }) => process);
  urls = started.map(({ other }) => other.url);
});
afterAll(async () => {
  for (const process of processes) await process.stop('SIGKILL');
  await portal.close();
  await postgres.close();
});

/**
 * Commits are acknowledged once a standby has them on its disk; it applies them as soon as it can.
 */
const USUAL = { synchronous_commit: 'on', recovery_min_apply_delay: '0' };
/**
 * They are acknowledged once a standby has applied them, which it does not do until it is promoted.
 */
const UNACKNOWLEDGED = { synchronous_commit: 'remote_apply', recovery_min_apply_delay: '10min' };
/** They are acknowledged, and standbys do not apply them. */
const LATE = { synchronous_commit: 'on', recovery_min_apply_delay: '10min' };

/** Each client waits for a commit that was written, and that no standby has acknowledged. */
async function commitsHang(): Promise<void> {
  const { administrator } = postgres.primary();
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  const count = async () => (await administrator.execute(waiting)).rows.length;
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThanOrEqual(CLIENTS);
}

const timesBroken = (title: string, fault: (load: Workload) => Promise<void>) =>
  timesUnderLoad(SCALE.clusterFaults, `PostgreSQL, ${title}`, { portal, urls }, async (load) => {
    await fault(load);
    await load.answered(100);
    await postgres.rejoin();
  });

/** The state after a promotion. */
async function follow(): Promise<void> {
  await postgres.configure(USUAL);
  postgres.address.leadTo(postgres.primary().port);
}

// @shows AS-18.9
test('the promotion of a standby after the primary was killed leads to no wrong response', async () => {
  const broken = await timesBroken('the primary killed', async () => {
    await postgres.primary().server().kill();
    await postgres.promote();
    await follow();
  });
  expect(broken).toEqual([]);
});

// @shows AS-18.9
test('unacknowledged commits and 15 seconds without a primary lead to no wrong response', async () => {
  const broken = await timesBroken(
    'commits done, not acknowledged, no primary for 15 s',
    async () => {
      await postgres.configure(UNACKNOWLEDGED);
      await commitsHang();
      await postgres.primary().server().kill();
      postgres.address.leadTo(null);
      // The fault lasts for this time.
      await setTimeout(15_000);
      await postgres.promote();
      await follow();
    },
  );
  expect(broken).toEqual([]);
});

// @shows AS-18.9, AS-18.12, AS-18.22
test.each([
  ['commits that were not acknowledged', UNACKNOWLEDGED],
  ['commits that were', LATE],
])(
  'an address that moves early to a standby with delayed %s leads to no wrong response',
  async (what, settings) => {
    const broken = await timesBroken(
      `the address moved before the promotion, ${what}`,
      async (load) => {
        await postgres.configure(settings);
        if (settings === UNACKNOWLEDGED) await commitsHang();
        else await load.answered(100);
        await postgres.primary().server().kill();
        postgres.address.leadTo((await postgres.successor()).port);
        // The fault lasts for this time. It is less than the time for which the server queries a
        // commit with an unknown result.
        await setTimeout(5000);
        await postgres.promote();
        await postgres.configure(USUAL);
        // The same server and the earlier connections stay in use.
        await load.answered(100);
        postgres.address.leadTo(postgres.primary().port);
      },
    );
    expect(broken).toEqual([]);
  },
);

// @shows AS-18.9
test('25 seconds without a standby, longer than a statement may take, give no wrong response', async () => {
  const broken = await timesBroken('no synchronous standby for 25 s', async () => {
    const standbys = postgres.standbys();
    for (const { server } of standbys) server().pause();
    await commitsHang();
    // The fault lasts for this time.
    await setTimeout(25_000);
    for (const { server } of standbys) server().goOn();
  });
  expect(broken).toEqual([]);
});

// @shows AS-18.9
test('the loss of data that only the primary has written leads to no wrong response', async () => {
  const broken = await timesBroken('commits that no standby has, and another primary', async () => {
    postgres.replication.leadTo(null);
    await commitsHang();
    // The fault lasts for this time.
    await setTimeout(12_000);
    await postgres.primary().server().kill();
    await postgres.promote();
    await follow();
  });
  expect(broken).toEqual([]);
});
