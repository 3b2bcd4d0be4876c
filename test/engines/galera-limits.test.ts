// @engines clusters: it counts rows on two Galera nodes at once
import { migrate, openDatabase, type OpenedDatabase, type SqlConnection } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { oauthServerMigrations } from '../../packages/portico/src/store/migrations/index.ts';
import { startGalera, type Galera } from '../support/engines/galera.ts';
import { Store } from '../support/store.ts';
import { storedClient } from '../support/stored-client.ts';

const NOW = 1_795_240_016_123;
const HOUR = 3_600_000;

let galera: Galera;
let opened: readonly [OpenedDatabase, OpenedDatabase];

beforeAll(async () => {
  galera = await startGalera();
  await galera.nodes[0].administrator.execute('CREATE DATABASE app');
  const open = (port: number) =>
    openDatabase(`mysql://root@127.0.0.1:${port}/app`, { directory: '/' });
  opened = [open(galera.nodes[0].port), open(galera.nodes[1].port)];
  await migrate(opened[0], oauthServerMigrations);
});
afterAll(async () => {
  for (const database of opened) await database.close();
  await galera.close();
});
beforeEach(async () => {
  await opened[0].execute("DELETE FROM oauth_waiting_requests WHERE secret_hash <> 'budget'");
  await opened[0].execute('DELETE FROM oauth_clients');
});

/**
 * Returns a store on each node. The other node does its work once, after the first node has
 * counted, and before it adds its row to this table.
 */
function atBoth(table: string, otherWork: (there: Store) => Promise<void>): Store {
  const [here, there] = opened;
  let isDone = false;
  const adding = (connection: SqlConnection): SqlConnection => ({
    async execute(sql, parameters) {
      if (!isDone && sql.startsWith(`INSERT INTO ${table}`)) {
        isDone = true;
        await otherWork(new Store(there, () => true));
      }
      return connection.execute(sql, parameters);
    },
  });
  return new Store(
    {
      ...here,
      transaction: (work, committed) =>
        here.transaction((connection) => work(adding(connection)), committed),
    },
    () => true,
  );
}

test('requests on two nodes together stay within the budget', async () => {
  const budget = { total: 400, ofOneNetwork: 400 };
  const request = (network: string) => ({
    secretHash: `of ${network}`,
    network,
    parameters: '[]',
    bytes: 300,
    expiresAt: NOW + HOUR,
  });
  for (let round = 0; round < 2; round += 1) {
    const [one, other] = [request(`one ${round}`), request(`other ${round}`)];
    const results: boolean[] = [];
    const here = atBoth('oauth_waiting_requests', async (there) => {
      results.push(await there.waitingRequests.keepWaitingRequest(other, budget, NOW));
    });
    results.push(await here.waitingRequests.keepWaitingRequest(one, budget, NOW));
    expect(results).toEqual([true, false]);
    await opened[1].execute("DELETE FROM oauth_waiting_requests WHERE secret_hash <> 'budget'");
  }
});

test('registrations on two nodes together stay within the limit of a network', async () => {
  const limits = { ofOneNetwork: 1, unused: 10, period: HOUR };
  const registration = (id: string) => ({
    client: storedClient(id, NOW, { registeredBy: 'registration' }),
    tokenHash: `of ${id}`,
    network: 'a network',
    initialTokenHash: null,
  });
  for (let round = 0; round < 2; round += 1) {
    const results: unknown[] = [];
    const here = atBoth('oauth_clients', async (there) => {
      results.push(
        await there.registrations.registerClient(registration(`other ${round}`), limits, NOW),
      );
    });
    results.push(
      await here.registrations.registerClient(registration(`one ${round}`), limits, NOW),
    );
    expect(results).toEqual([null, { reason: 'network', until: NOW + HOUR }]);
    await opened[1].execute('DELETE FROM oauth_clients');
  }
});
