// `npm run bench:mcp`: the latency of tools/call with fifty tools and fifty connections, the token checked at each call.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Sent } from './connection.ts';
import { measure } from './measure.ts';
import { freePort } from './server.ts';

const root = path.join(import.meta.dirname, '..');
const storage = mkdtempSync(path.join(tmpdir(), 'portico-bench-'));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const env = {
  ...process.env,
  APP_ENV: 'dev',
  PORT: String(port),
  PUBLIC_URL: url,
  ASSISTANT_MCP_RESOURCE: `${url}/mcp`,
  ASSISTANT_NAME: 'Kitchen',
  STORAGE_DIR: storage,
};
const portico = ['bin/portico.js', '--app', 'bench/mcp-app.ts'];

interface Setup {
  readonly clients: readonly { readonly client_id: string; readonly client_secret: string }[];
}

function run(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...portico, ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function serviceToken({ clients: [service] }: Setup): Promise<string> {
  const credentials = Buffer.from(`${service?.client_id}:${service?.client_secret}`).toString('base64');
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: `${url}/mcp` }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

run('db:migrate', 'up');
const setup = JSON.parse(run('assistant:setup', '--json')) as Setup;
const server = spawn(process.execPath, [...portico, 'serve'], {
  cwd: root,
  env,
  stdio: ['ignore', 'ignore', 'pipe'],
});
try {
  await once(server.stderr, 'data');
  const token = await serviceToken(setup);
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
  const { done, perSecond, p50, p99, slowest } = await measure(
    port,
    async (connection) => async () => {
      const { status, body } = await connection.request(call);
      if (status !== 200 || !body.includes('"content"')) throw new Error(`Answered ${status}: ${body}`);
    },
    { connections: 50, warmUp: 1, seconds: 4 },
  );
  process.stdout.write(
    `tools/call service_status, 50 tools, 50 connections, ${done} calls: ${perSecond.toFixed(0)}/s, ` +
      `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms\n`,
  );
} finally {
  server.kill();
  await once(server, 'close');
  rmSync(storage, { recursive: true, force: true });
}
