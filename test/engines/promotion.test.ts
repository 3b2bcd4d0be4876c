// @engines clusters: it promotes synchronous standbys of PostgreSQL, in every order of what may go wrong
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from '../support/beside.ts';
import type { RunningProcess } from '../support/console.ts';
import { startClients, type Clients } from '../support/engines/clients.ts';
import { startReplicatedPostgres, type ReplicatedPostgres } from '../support/engines/replicated-postgres.ts';
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

const PEOPLE = 6;
/** Commits are acknowledged once a standby has them on its disk; it applies them as soon as it can. */
const USUAL = { synchronous_commit: 'on', recovery_min_apply_delay: '0' };
/** They are acknowledged once a standby has applied them, which it does not: until it is promoted. */
const UNACKNOWLEDGED = { synchronous_commit: 'remote_apply', recovery_min_apply_delay: '10min' };

/** Each person waits for a commit that was written, and that no standby has acknowledged. */
async function commitsHang(): Promise<void> {
  const { administrator } = postgres.primary();
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  const count = async () => (await administrator.execute(waiting)).rows.length;
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThanOrEqual(PEOPLE);
}

/** The fault in the middle of the load, several times; what was broken. */
async function underLoad(
  title: string,
  fault: (clients: Clients) => Promise<void>,
): Promise<readonly string[]> {
  const clients = await startClients({ portal, urls, clients: PEOPLE });
  for (let count = 0; count < SCALE.clusterFaults; count += 1) {
    await clients.answered(100);
    await fault(clients);
    await clients.answered(100);
    await postgres.rejoin();
  }
  const { line, texts } = await clients.stop();
  process.stdout.write(`PostgreSQL, ${SCALE.clusterFaults} times ${title}: ${line}\n`);
  return texts;
}

/** How it is after a promotion. */
async function follow(): Promise<void> {
  await postgres.configure(USUAL);
  postgres.address.leadTo(postgres.primary().port);
}

// @shows AS-18.9
test('the primary is killed, a standby promoted, and the address follows', async () => {
  const broken = await underLoad('the primary killed', async () => {
    await postgres.primary().server().kill();
    await postgres.promote();
    await follow();
  });
  expect(broken).toEqual([]);
});

// @shows AS-18.9, AS-18.12
test.each([['commits that were not acknowledged', UNACKNOWLEDGED]])(
  'the address moves before the promotion to a standby that applies late %s',
  async (what, settings) => {
    const broken = await underLoad(`the address moved before the promotion, ${what}`, async (clients) => {
      await postgres.configure(settings);
      await commitsHang();
      await postgres.primary().server().kill();
      postgres.address.leadTo((await postgres.successor()).port);
      await clients.unavailable(50);
      await postgres.promote();
      await postgres.configure(USUAL);
      // The same server, and the connections of before stay.
      await clients.answered(100);
      postgres.address.leadTo(postgres.primary().port);
    });
    expect(broken).toEqual([]);
  },
);

// @shows AS-18.9
test('no standby for longer than a statement may take, and then none of what the primary alone has written', async () => {
  const broken = await underLoad('commits that no standby has, and another primary', async () => {
    postgres.replication.leadTo(null);
    await commitsHang();
    // The time is the fault.
    await setTimeout(12_000);
    await postgres.primary().server().kill();
    await postgres.promote();
    await follow();
  });
  expect(broken).toEqual([]);
});
