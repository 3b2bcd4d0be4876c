// @engines sqlite, needs prometheus: it starts Prometheus and its own database server
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { openDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { freePort } from './support/free-port.ts';
import { FAULTS, type Fault, type FaultName } from './support/faults/faults.ts';
import { startOperated, type OperatedInstallation } from './support/faults/installation.ts';
import { startLoad, type Load } from './support/faults/load.ts';
import { alertRules, dashboardExpressions, OPERATE, usedMetrics } from './support/operate.ts';

/**
 * Prometheus from Debian's package `prometheus`, with the files of examples/operate. All times are
 * a hundredth of the original.
 */
describe('the rules of examples/operate, with promtool', () => {
  test.each([
    ['accepts the rules', ['check', 'rules', 'alerts.yml']],
    ['accepts the configuration', ['check', 'config', 'prometheus.yml']],
    ['finds that each rule fires only on its fault', ['test', 'rules', 'alerts.test.yml']],
  ])('%s', async (_, args) => {
    const { stdout } = await promisify(execFile)('promtool', args, { cwd: OPERATE });
    expect(stdout).toContain('SUCCESS');
  });
});

interface RunningPrometheus {
  /** The series that an expression matches now. */
  query(expression: string): Promise<readonly Series[]>;
  /** The names of the firing alerts. */
  firing(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** These durations replace the minutes and hours in the rules. */
const WINDOW = '5s';
const SCRAPE = '500ms';
const quick = (rules: string) =>
  rules
    .replaceAll(/\[\d+m\]/g, `[${WINDOW}]`)
    .replaceAll(/offset \d+m/g, `offset ${WINDOW}`)
    .replaceAll(/^( +for:) .*$/gm, '$1 0s');

async function startPrometheus(target: string): Promise<RunningPrometheus> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-prometheus-'));
  const read = (file: string) => readFile(path.join(OPERATE, file), 'utf8');
  await writeFile(path.join(folder, 'alerts.yml'), quick(await read('alerts.yml')));
  const configuration = (await read('prometheus.yml'))
    .replaceAll(/_interval: 15s/g, `_interval: ${SCRAPE}`)
    .replace('localhost:9464', target);
  await writeFile(path.join(folder, 'prometheus.yml'), configuration);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${path.join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await isReady(child);
  const get = async (where: string) =>
    (await (await fetch(`${url}${where}`)).json()) as { readonly data: unknown };
  return {
    async query(expression) {
      const { data } = await get(`/api/v1/query?${new URLSearchParams({ query: expression })}`);
      return (data as { readonly result?: readonly Series[] }).result ?? [];
    },
    async firing() {
      const { data } = await get('/api/v1/alerts');
      const { alerts } = data as {
        readonly alerts: readonly { labels: Record<string, string>; state: string }[];
      };
      return [
        ...new Set(
          alerts
            .filter(({ state }) => state === 'firing')
            .map(({ labels }) => labels['alertname'] ?? ''),
        ),
      ];
    },
    async close() {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isReady(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  while (!said.includes('Server is ready to receive web requests')) {
    await Promise.race([once(child.stderr ?? child, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`Prometheus ended:\n${said}`);
  }
}

/** In milliseconds. */
const POLLED = { timeout: 60_000, interval: 100 };

let server: DatabaseServer;
beforeAll(async () => {
  server = await POSTGRES.start();
});
afterAll(() => server.close());

/** On a database of the server, or on a file. */
async function operated(
  onServer: boolean,
  look: (of: {
    installation: OperatedInstallation;
    load: Load;
    prometheus: RunningPrometheus;
  }) => Promise<void>,
): Promise<void> {
  const database = onServer ? await createDatabase('', server.url) : null;
  const installation = await startOperated(database?.url);
  const prometheus = await startPrometheus(new URL(installation.metricsUrl).host);
  try {
    await look({ installation, load: await startLoad(installation), prometheus });
  } finally {
    await prometheus.close();
    await installation.close();
    await database?.drop();
  }
}

/** Continues the load until the condition holds. */
async function under(
  load: Load,
  fault: Fault | null,
  isSo: () => Promise<boolean>,
): Promise<boolean> {
  for (let round = 0; round < 5000; round += 1) {
    await load.round();
    await fault?.round?.(load);
    if (await isSo()) return true;
  }
  return false;
}

/** The names in the dashboard and the rules that Prometheus does not have. */
async function missing(prometheus: RunningPrometheus): Promise<readonly string[]> {
  const expressions = [...alertRules(), ...dashboardExpressions()].map(
    ({ expression }) => expression,
  );
  const asked = new Set(
    expressions
      .flatMap(usedMetrics)
      .map(({ metric, labels }) => `${metric}{${labels.map((each) => `${each}!=""`).join()}}`),
  );
  const found = await Promise.all(
    [...asked].map(async (each) => ((await prometheus.query(each)).length > 0 ? [] : [each])),
  );
  return found.flat();
}

/**
 * Returns the expressions of the dashboard that match nothing, or whose result does not have the
 * labels of the legend.
 */
async function emptyPanels(prometheus: RunningPrometheus): Promise<readonly string[]> {
  const found = await Promise.all(
    dashboardExpressions().map(async ({ title, expression, legend }) => {
      const series = await prometheus.query(expression);
      const shown = series.some(({ metric }) =>
        legend.every((label) => metric[label] !== undefined),
      );
      return shown ? [] : [`${title}: ${expression}`];
    }),
  );
  return found.flat();
}

/** Makes rows look expired for a long time. The next inserts remove them. */
async function ageTokens(databaseUrl: string): Promise<void> {
  const database = openDatabase(databaseUrl, { directory: '/' });
  try {
    await database.execute('UPDATE oauth_access_tokens SET expires_at = 1');
  } finally {
    await database.close();
  }
}

test('every metric and label of dashboard and rules is in Prometheus, and every panel has data', async () => {
  await operated(true, async ({ installation, load, prometheus }) => {
    await load.refresh(load.deadToken);
    await load.refresh(load.spent[0] ?? '');
    for (let guessed = 0; guessed < 60; guessed += 1) await load.guess();
    await ageTokens(installation.databaseUrl);
    for (let round = 0; round < 60; round += 1) await load.round();
    await FAULTS['read-only'].inject(installation);
    await under(load, null, async () => (await missing(prometheus)).length === 0);
    expect(await missing(prometheus)).toEqual([]);
    await under(load, null, async () => (await emptyPanels(prometheus)).length === 0);
    expect(await emptyPanels(prometheus)).toEqual([]);
  });
});

describe.each(Object.keys(FAULTS) as readonly FaultName[])('with the fault: %s', (name) => {
  const fault: Fault = FAULTS[name];

  test(`these alerts fire, and did not before: ${fault.alerts.join(', ')}`, async () => {
    await operated(fault.store === 'PostgreSQL', async ({ installation, load, prometheus }) => {
      const fires = async () =>
        (await prometheus.firing()).filter((each) => fault.alerts.includes(each)).toSorted();
      const isMeasured = async () =>
        (await prometheus.query(`changes(portico_signing_key_age_seconds[${WINDOW}]) > 2`)).length >
        0;
      expect(await under(load, null, isMeasured)).toBe(true);
      expect(await fires()).toEqual([]);
      await fault.inject(installation, load);
      await under(load, fault, async () => (await fires()).length === fault.alerts.length);
      expect(await fires()).toEqual(fault.alerts.toSorted());
    });
  });
});

test('PorticoDown fires after the process ends', async () => {
  await operated(false, async ({ installation, prometheus }) => {
    const isUp = async () => (await prometheus.query('up == 1')).length > 0;
    await expect.poll(isUp, POLLED).toBe(true);
    expect(await prometheus.firing()).not.toContain('PorticoDown');
    await installation.process.stop('SIGKILL');
    await expect.poll(() => prometheus.firing(), POLLED).toContain('PorticoDown');
  });
});
