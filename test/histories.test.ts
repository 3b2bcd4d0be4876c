import path from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { startWorkload } from './support/history/workload.ts';
import { freePort, startPortal, type RunningPortal } from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/**
 * Two server processes on one database, each killed under load, and so is the database server where there is one. What was answered
 * meanwhile, to everybody and by both, is held against the model of grants.
 */
const ROUNDS = SCALE.historyRounds;

/** The test project's engine, in a server of its own that can be killed; null for SQLite. */
let database: DatabaseServer | null = null;
let portal: RunningPortal;
const nodes: Node[] = [];

interface Node {
  readonly url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

beforeAll(async () => {
  const shared = inject('databaseServer');
  if (shared !== undefined) database = await (shared.startsWith('postgres') ? POSTGRES : MARIADB).start();
  portal = await startPortal(database === null ? {} : { databaseServer: database.url });
  for (let count = 0; count < 2; count += 1) nodes.push(await startNode());
});
afterAll(async () => {
  for (const node of nodes) await node.kill();
  await portal.close();
  await database?.close();
});

async function startNode(): Promise<Node> {
  const port = String(await freePort());
  let server: RunningProcess | null = null;
  const node: Node = {
    url: `http://localhost:${port}`,
    async start() {
      server = start([path.join(ROOT, 'bin', 'portico.js'), 'serve'], {
        cwd: path.join(ROOT, 'examples', 'portal'),
        env: { ...portal.env, PORT: port, PUBLIC_URL: portal.url },
      });
      await server.says('Listening on');
    },
    async kill() {
      await server?.stop('SIGKILL');
    },
  };
  await node.start();
  return node;
}

// @shows AS-5.4, AS-5.5, AS-10.1, AS-18.1, AS-18.2, AS-18.3, AS-18.5, AS-18.6, AS-18.9, RFC7009-2.1g
test('whatever is killed under load, there is an order that explains every answer of every process', async () => {
  const workload = await startWorkload({ portal, urls: nodes.map(({ url }) => url) });
  await workload.answered(100);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const node of nodes) {
      await node.kill();
      await workload.answered(40);
      await node.start();
      await workload.answered(40);
    }
    if (database === null) continue;
    await database.kill();
    await workload.unavailable(12);
    await database.restart();
    await workload.answered(80);
  }
  const verdict = await workload.stop();
  process.stdout.write(`${ROUNDS} times each process and the database killed, ${verdict.line}\n`);
  expect(verdict.texts).toEqual([]);
  // It happened: authorizations were ended, and uses refused.
  const answers = new Set(verdict.operations.map(({ answer }) => answer));
  expect([200, 400, 'good', 'dead', 'lost'].filter((each) => !answers.has(each as 200))).toEqual([]);
});
