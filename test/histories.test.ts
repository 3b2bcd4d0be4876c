// @engines all, long: it kills processes and servers while it records a history
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ConfigMap } from 'portico';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { WITH_WINDOW } from './support/history/checker.ts';
import type { Operation } from './support/history/recorder.ts';
import { startWorkload, type WorkloadOptions } from './support/history/workload.ts';
import { explain, longestOf } from './support/model/explaining.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE, RUNS_ALL } from './support/scale.ts';

/**
 * Two server processes use one database. Under load, the test kills each process, and also the
 * database server if there is one. It compares all responses of both processes with the model of
 * grants.
 */

/** The test project's engine in a separate server that can be killed; null for SQLite. */
let database: DatabaseServer | null = null;
let portal: RunningPortal;
let nodes: Node[] = [];

interface Node {
  readonly url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

beforeAll(async () => {
  const shared = inject('databaseServer');
  if (shared !== undefined)
    database = await (shared.startsWith('postgres') ? POSTGRES : MARIADB).start();
  portal = await startPortal(database === null ? {} : { databaseServer: database.url });
});
afterEach(async () => {
  for (const node of nodes) await node.kill();
});
afterAll(async () => {
  await portal.close();
  await database?.close();
});

async function startNode(config: ConfigMap): Promise<Node> {
  const port = String(await freePort());
  let server: RunningProcess | null = null;
  const node: Node = {
    url: `http://localhost:${port}`,
    async start() {
      server = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
        cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
        env: {
          ...portal.env,
          PORT: port,
          PUBLIC_URL: portal.url,
          PORTAL_CONFIG: JSON.stringify(config),
        },
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

const window = { oauth_server: { refresh_retry_seconds: 300 } };

// @shows AS-5.4, AS-5.5, AS-5.18, AS-10.1, AS-18.1, AS-18.2, AS-18.3, AS-18.5, AS-18.6, AS-18.9, RFC7009-2.1g
test.each<[string, ConfigMap, Partial<WorkloadOptions>, number]>([
  ['', {}, {}, SCALE.historyRounds],
  [
    ', with a window for refreshing again',
    window,
    { lifetimes: WITH_WINDOW },
    SCALE.windowHistoryRounds,
  ],
])(
  'all responses fit one order of events even if processes are killed under load%s',
  async (_, config, given, rounds) => {
    nodes = [await startNode(config), await startNode(config)];
    const workload = await startWorkload({ portal, urls: nodes.map(({ url }) => url), ...given });
    await workload.answered(100);
    for (let round = 0; round < rounds; round += 1) {
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
    process.stdout.write(`${rounds} times each process and the database killed, ${verdict.line}\n`);
    expect(verdict.texts).toEqual([]);
    const isWindow = given.lifetimes !== undefined;
    await keep(verdict.operations, isWindow);
    // The long form needs TLC, as test/model.test.ts says.
    if (RUNS_ALL) await expectExplained(verdict.operations, isWindow);
    // Check that the interesting cases happened: authorizations were ended, and uses were refused.
    const answers = new Set(verdict.operations.map(({ answer }) => answer));
    expect([200, 400, 'good', 'dead', 'lost'].filter((each) => !answers.has(each as 200))).toEqual(
      [],
    );
  },
);

/** In the model itself (tools/model/README.md), for the longest authorizations. */
async function expectExplained(operations: readonly Operation[], window: boolean): Promise<void> {
  const explained = await explain(operations, { window, most: 10 });
  const { asked, operations: count, unexplained, seconds } = explained;
  process.stdout.write(
    `${asked} authorizations of ${count} operations, explained by the model in ${Math.round(seconds)} s\n`,
  );
  expect(unexplained).toEqual([]);
}

/**
 * If the variable KEEP_HISTORY names a folder, the history is written there. It is the input of
 * test/model.test.ts, for tools/model/histories/.
 */
async function keep(operations: readonly Operation[], window: boolean): Promise<void> {
  const { KEEP_HISTORY: folder } = process.env;
  if (folder === undefined) return;
  const engine = inject('databaseServer')?.split(':')[0] ?? 'sqlite';
  const lines = longestOf(operations, 10).map((operation) => JSON.stringify(operation));
  const file = path.join(folder, `${engine}${window ? '-window' : ''}.json`);
  await writeFile(file, `[\n${lines.join(',\n')}\n]\n`);
}
