// `npm run bench:mcp` or `node tools/bench/mcp.ts [rounds] [seconds]`
//
// Measures tools/call with fifty tools. Each call checks the token. It compares Portico with a
// server that uses only the SDK, and with Portico's own UserInfo. They take turns in one run.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Sent } from './connection.ts';
import { cellsOf, type Verdict } from './goals.ts';
import { measure, type Measured, type Prepare } from './measure.ts';
import { figure, median, print, printRows, times } from './print.ts';
import { storeResult } from './results.ts';
import { Bench, CAN_PIN, freePort } from './server.ts';
import { WORKS } from './works.ts';

const [, , rounds = '3', seconds = '1.5'] = process.argv;
/** The larger number of connections. */
const MANY = 50;
const LOADS = [10, MANY] as const;

interface Contender {
  readonly name: string;
  readonly port: number;
  readonly prepare: Prepare;
  stop(): Promise<void>;
}

const portico = await startMcp('tools/call, Portico', 'mcp-app');
const sdk = await startMcp('tools/call, createMcpHandler', path.join('peers', 'mcp-sdk'));
const userInfo = await startUserInfo();
const contenders = [portico, sdk, userInfo];
try {
  const runs = new Map<string, Measured[]>();
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const connections of LOADS) {
      for (const { name, port, prepare } of contenders) {
        const load = { connections, warmUp: Number(seconds) / 3, seconds: Number(seconds) };
        const key = `${name} ${connections}`;
        runs.set(key, [...(runs.get(key) ?? []), await measure(port, prepare, load)]);
      }
    }
  }
  printTables(runs);
} finally {
  for (const contender of contenders) await contender.stop();
}

async function startMcp(name: string, file: string): Promise<Contender> {
  const directory = mkdtempSync(path.join(tmpdir(), 'portico-bench-mcp-'));
  const port = await freePort();
  const command = [
    process.execPath,
    `${path.join(import.meta.dirname, file)}${path.extname(import.meta.filename)}`,
    directory,
    String(port),
  ];
  const [program = '', ...args] = CAN_PIN ? ['taskset', '-c', '0', ...command] : command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { token } = await firstLine(child);
  const call: Sent = {
    method: 'POST',
    path: '/mcp',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_status","arguments":{}}}',
  };
  return {
    name,
    port,
    prepare: async (connection) => async () => {
      const { status, body } = await connection.request(call);
      if (status !== 200 || !body.includes('"structuredContent":{"status":"available"}')) {
        throw new Error(`${name} answered ${status}: ${body}`);
      }
    },
    async stop() {
      if (child.exitCode === null && child.kill()) await once(child, 'close');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function firstLine({ stdout }: ChildProcess): Promise<{ readonly token: string }> {
  if (stdout === null) throw new Error('There is no output to read');
  const [line] = (await once(stdout, 'data', { signal: AbortSignal.timeout(20_000) })) as [Buffer];
  return JSON.parse(line.toString()) as { readonly token: string };
}

async function startUserInfo(): Promise<Contender> {
  const name = 'UserInfo, Portico';
  const work = WORKS.find((each) => each.name === 'UserInfo');
  if (work === undefined) throw new Error('There is no work UserInfo');
  const bench = await Bench.seed('portico');
  const running = await bench.start();
  return {
    name,
    port: bench.port,
    prepare: (connection) => work.prepare(bench.seeded, connection),
    async stop() {
      await running.stop();
      await bench.remove();
    },
  };
}

function printTables(runs: ReadonlyMap<string, readonly Measured[]>): void {
  const of = ({ name }: Contender, connections: number, what: 'perSecond' | 'p99') =>
    median((runs.get(`${name} ${connections}`) ?? []).map((measured) => measured[what]));
  const against = (other: Contender, connections: number) =>
    of(portico, connections, 'perSecond') / of(other, connections, 'perSecond');

  const how = `SQLite, synchronous=FULL; medians of ${rounds} interleaved runs of ${seconds} s, 50 tools.`;
  print(`${how}\n`);
  printRows(
    [
      '',
      ...LOADS.flatMap((load) => [
        `a second, ${load} connections`,
        'p99, ms',
        'tools/call, Portico, to it',
      ]),
    ],
    contenders.map((contender) => [
      contender.name,
      ...LOADS.flatMap((load) => [
        figure(of(contender, load, 'perSecond')),
        of(contender, load, 'p99').toFixed(1),
        times(against(contender, load)),
      ]),
    ]),
  );
  print('');
  const p99 = of(portico, MANY, 'p99');
  const verdicts: readonly (readonly [row: string, measured: string, Verdict])[] = [
    ['p99, ms', p99.toFixed(1), { target: 'below 50', reached: p99 < 50 }],
    ...[[sdk, 2] as const, [userInfo, 1 / 3] as const].map(
      ([other, least]) =>
        [
          `calls against ${other.name}`,
          times(against(other, MANY)),
          { target: times(least), reached: against(other, MANY) >= least },
        ] as const,
    ),
  ];
  printRows(
    [`tools/call, Portico, ${MANY} connections`, 'measured', 'target', 'reached'],
    verdicts.map(([row, measured, verdict]) => [row, measured, ...cellsOf(verdict)]),
  );
  if (process.argv.length === 2) storeResult('mcp', { how });
}
