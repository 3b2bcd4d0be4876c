// `npm run bench:mcp`: the latency of tools/call with fifty tools and fifty connections, the token checked at each call.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { measure } from './load.ts';

const root = path.join(import.meta.dirname, '..');
const storage = mkdtempSync(path.join(tmpdir(), 'portico-bench-'));
const port = await freePort();
const url = `http://localhost:${port}`;
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  return free;
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
  const measured = await measure(
    {
      url: `${url}/mcp`,
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_status","arguments":{}}}',
    },
    { connections: 50, requests: 20_000, warmUp: 2000 },
  );
  const { requests, perSecond, p50, p99, slowest } = measured;
  process.stdout.write(
    `tools/call service_status, 50 tools, 50 connections, ${requests} calls: ${perSecond.toFixed(0)}/s, ` +
      `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms\n`,
  );
} finally {
  server.kill();
  await once(server, 'close');
  rmSync(storage, { recursive: true, force: true });
}
