// The process that soak.ts measures: one mount, with and without streaming. `soaked.ts <mount>`, with an IPC channel.
import type { ToolInterface } from 'portico/mcp';
import type { AuthorizationServer } from 'portico/oauth-server';
import { startAssistant } from '../assistant.ts';
import { MOUNTS } from '../mounts.ts';
import { KIT, type Endpoint, type Soaked } from './soak.ts';

const [, , name] = process.argv;

const available: ToolInterface = {
  name: () => 'available',
  description: () => 'Says that it is there',
  inputSchema: () => ({ type: 'object' }),
  handle: () => ({ available: true }),
};

/** Takes a turn of the event loop, listens for the end of its call, and reports progress. */
const later: ToolInterface = {
  name: () => 'later',
  description: () => 'Says the same a little later',
  inputSchema: () => ({ type: 'object' }),
  async handle(_, { signal, progress }) {
    signal.addEventListener('abort', () => {});
    await progress(1, 2);
    await new Promise((resolve) => setImmediate(resolve));
    return { available: true };
  },
};

const running: { close(): Promise<void> }[] = [];

async function start(streaming: boolean): Promise<Endpoint> {
  const mcp = { transport: { streaming } };
  if (name === KIT) {
    const options = { config: { mcp }, tools: [available, later], databaseServer: null };
    const assistant = await startAssistant(options);
    running.push(assistant);
    return { resource: assistant.resource, token: await assistant.serviceToken() };
  }
  const mount = MOUNTS.find((each) => each.name === name);
  if (mount === undefined) throw new Error(`There is no mount ${name}`);
  const scopes = { 'mcp:service': 'Use the tools that need no account' };
  const mounted = await mount.start({ mcp, oauth_server: { scopes } }, { databaseServer: null });
  running.push(mounted);
  for (const tool of [available, later]) mounted.mcp.tools.register(tool);
  return { resource: mounted.mcp.resource, token: await tokenFrom(mounted.server, mounted.url) };
}

async function tokenFrom(server: AuthorizationServer, url: string): Promise<string> {
  const { client, secret } = await server.clients.create({
    name: 'Soak',
    grants: ['client_credentials'],
    scopes: ['mcp:service'],
  });
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: `${url}/mcp` }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return token;
}

function collect(): void {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc');
  globalThis.gc();
}

/** What is finalised in one turn of the event loop can be collected in the next. */
async function heapUsed(): Promise<number> {
  for (let turn = 0; turn < 4; turn += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

process.on('message', () => {
  void heapUsed().then((bytes) => process.send?.(bytes));
});
process.on('disconnect', () => {
  void Promise.all(running.map((each) => each.close())).finally(() => process.exit());
});
process.send?.({ json: await start(false), streaming: await start(true) } satisfies Soaked);
