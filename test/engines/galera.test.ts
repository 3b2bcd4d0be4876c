// @engines clusters: it starts three MariaDB nodes with Galera, kills one, and disconnects one
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase, type OpenedDatabase, type PersonReference } from 'portico';
import type { ConsentRequest } from '../../packages/portico/src/store/requests.ts';
import { Store } from '../../packages/portico/src/store/store.ts';
import { startBeside } from '../support/beside.ts';
import type { RunningProcess } from '../support/console.ts';
import { openAddress, type Address } from '../support/engines/address.ts';
import { startGalera, type Galera, type GaleraNode } from '../support/engines/galera.ts';
import { timesUnderLoad, underLoad } from '../support/engines/under-load.ts';
import type { Workload } from '../support/history/workload.ts';
import { startPortal, type RunningPortal } from '../support/portal.ts';
import { SCALE } from '../support/scale.ts';
import { storedClient } from '../support/stored-client.ts';

/**
 * Two processes of Portico, each with a separate address. They use the first two nodes, and both
 * nodes get writes.
 */
let galera: Galera;
let portal: RunningPortal;
let addresses: readonly [Address, Address];
let processes: readonly RunningProcess[];
let urls: readonly string[];

beforeAll(async () => {
  galera = await startGalera();
  const [first, second] = galera.nodes;
  portal = await startPortal({ databaseServer: first.url });
  addresses = [await openAddress(first.port), await openAddress(second.port)];
  const started = [];
  for (const { port } of addresses) {
    const url = new URL(portal.env['DATABASE_URL'] ?? '');
    url.port = String(port);
    started.push(await startBeside(portal, { DATABASE_URL: url.href }));
  }
  processes = started.map(({ process }) => process);
  urls = started.map(({ other }) => other.url);
});
afterAll(async () => {
  for (const process of processes) await process.stop('SIGKILL');
  await portal.close();
  for (const address of addresses) await address.close();
  await galera.close();
});

/** A machine under load needs time, in milliseconds. */
const PATIENCE = { timeout: 60_000 };
/** Waits until this node belongs to a cluster of this size. */
async function become(node: GaleraNode, nodes: number): Promise<void> {
  await expect.poll(() => node.state(), PATIENCE).toEqual({ size: nodes, ready: true });
}

const timesBroken = (title: string, fault: (load: Workload) => Promise<void>) =>
  timesUnderLoad(SCALE.clusterFaults, `Galera, ${title}`, { portal, urls }, fault);

/** Returns the problems in this many authorizations. Each request may go to either node. */
const fromNodeToNode = (title: string, count: number) =>
  underLoad(`Galera, ${title}`, { portal, urls }, (load) => load.authorizations(count));

// @shows AS-18.6, AS-18.23
test('on Galera, a write at one node is seen by the next request at another node', async () => {
  expect(await fromNodeToNode('from node to node', SCALE.clusterAuthorizations)).toEqual([]);
});

// @shows AS-18.2, AS-18.9
test('on Galera, a node killed under load and restarted leads to no wrong response', async () => {
  const [, second, third] = galera.nodes;
  const broken = await timesBroken('a node killed', async (load) => {
    await second.server().kill();
    await load.unavailable(5);
    addresses[1].leadTo(third.port);
    await load.answered(100);
    await second.restart();
    await become(second, 3);
    addresses[1].leadTo(second.port);
  });
  expect(broken).toEqual([]);
});

// @shows AS-18.9, AS-18.12
test('on Galera, a node cut off under load that still receives requests gives no wrong response', async () => {
  const [first, second] = galera.nodes;
  const broken = await timesBroken('a node cut off', async (load) => {
    await second.isolate(true);
    await load.unavailable(20);
    await become(first, 2);
    await load.answered(100);
    await second.isolate(false);
    await become(second, 3);
  });
  expect(broken).toEqual([]);
});

// @shows AS-18.9, AS-18.12
test('on Galera, a long cut-off leads to no wrong response, even if clients keep using the node', async () => {
  const [, second] = galera.nodes;
  const processes = { portal, urls, asksAgain: 'the same process' } as const;
  const title = `Galera, a node cut off for ${SCALE.cutOffFor} s, its clients ask nobody else`;
  const broken = await underLoad(title, processes, async (load) => {
    await load.answered(100);
    await second.isolate(true);
    await load.unavailable(20);
    // The fault lasts for this time.
    await setTimeout(SCALE.cutOffFor * 1000);
    await second.isolate(false);
    await become(second, 3);
    await load.answered(100);
  });
  expect(broken).toEqual([]);
});

// @shows AS-18.9
test('on Galera, a node that hangs under load until it is removed leads to no wrong response', async () => {
  const [first, second, third] = galera.nodes;
  const broken = await timesBroken('a node that hung', async (load) => {
    second.server().pause();
    await become(first, 2);
    addresses[1].leadTo(third.port);
    await load.answered(100);
    second.server().goOn();
    await become(second, 3);
    addresses[1].leadTo(second.port);
  });
  expect(broken).toEqual([]);
});

// @shows AS-18.2
test('on Galera without wsrep_retry_autocommit, no conflict leads to a wrong response', async () => {
  await galera.configure('wsrep_retry_autocommit', 0);
  expect(
    await fromNodeToNode('without retries of its own', SCALE.clusterAuthorizations / 4),
  ).toEqual([]);
});

// @shows AS-52.6
test('on Galera, access ended at one node ends what was granted without consent at another', async () => {
  const [first, second] = galera.nodes;
  const open = (port: number) => {
    const url = new URL(portal.env['DATABASE_URL'] ?? '');
    url.port = String(port);
    return openDatabase(url.href, { directory: '/' });
  };
  const [here, there] = [open(first.port), open(second.port)];
  onTestFinished(async () => {
    await here.close();
    await there.close();
  });
  let beforeCommit = () => Promise.resolve();
  const watched: OpenedDatabase = {
    ...here,
    transaction: (work, committed) =>
      here.transaction(async (connection) => {
        const result = await work(connection);
        await beforeCommit();
        return result;
      }, committed),
  };
  const beginning = new Store(watched, () => true);
  const { authorizations } = new Store(there, () => true);
  const now = Date.now();
  await beginning.clients.insertClient(storedClient('remembered', now));
  const began = { before: 0, after: 0 };
  for (let round = 0; round < SCALE.rememberedRounds; round += 1) {
    const person = { provider: 'accounts', id: `remembered ${round}` };
    const begin = (id: string, remembered: string | null) =>
      answer(beginning, person, id, remembered);
    beforeCommit = () => Promise.resolve();
    expect(await begin(`first ${round}`, null)).toBe(true);
    let ended = Promise.resolve(0);
    beforeCommit = async () => {
      beforeCommit = () => Promise.resolve();
      ended = authorizations
        .revokeFamily(`first ${round}`, now)
        .then(async () => (await authorizations.listAuthorizations(person, now)).length);
      await setTimeout(round % 4);
    };
    const isBegun = await begin(`second ${round}`, `first ${round}`);
    // If the authorization began before the access ended, its row exists, so it is ended too.
    expect(await ended).toBe(isBegun ? 1 : 0);
    began[isBegun ? 'before' : 'after'] += 1;
  }
  process.stdout.write(`Galera, remembered: ${JSON.stringify(began)}\n`);
});

/**
 * Answers a new request. `remembered` is the authorization because of which the person saw no
 * question.
 */
async function answer(
  { consentRequests }: Store,
  person: PersonReference,
  id: string,
  remembered: string | null,
): Promise<boolean> {
  const now = Date.now();
  const scopes = ['notes:read'];
  const redirectUri = 'https://client.example/cb';
  const parameters = { redirectUri, codeChallenge: 'challenge', nonce: null };
  const shared = { clientId: 'remembered', scopes, audience: null, thumbprint: null };
  const request: ConsentRequest = {
    ...shared,
    ...parameters,
    idHash: id,
    browserHash: 'browser',
    state: null,
    asked: { person, scopes },
    outcome: null,
    expiresAt: now + 600_000,
  };
  await consentRequests.insertConsentRequest(request);
  const applies = () => Promise.resolve(true);
  const because = remembered === null ? null : { id: remembered, details: {}, applies };
  const family = { ...shared, id, person, subject: 'subject' };
  const code = { hash: `code of ${id}`, expiresAt: now + 600_000, parameters };
  return consentRequests.answerConsent(
    request,
    { family, code },
    { allow: true, at: now },
    because,
  );
}
