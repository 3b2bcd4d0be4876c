// The process that soak.ts measures: one mount, with and without streaming. `soaked.ts <mount>`, with an IPC channel.
import { setImmediate } from 'node:timers/promises';
import type { ToolInterface } from 'portico/mcp';
import type { AuthorizationServer } from 'portico/oauth-server';
import { startAssistant } from '../assistant.ts';
import { mountNamed } from '../mounts.ts';
import { KIT, type Asked, type Endpoint, type Soaked } from './soak.ts';

const [, , name = KIT] = process.argv;

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
    await setImmediate();
    return { available: true };
  },
};

/** Calls of the next tool that are under way. */
let waiting = 0;

/** Answers only once its caller is gone. */
const never: ToolInterface = {
  name: () => 'never',
  description: () => 'Waits until nobody listens any more',
  inputSchema: () => ({ type: 'object' }),
  async handle(_, { signal, progress }) {
    await progress(1, 2);
    waiting += 1;
    if (!signal.aborted) await new Promise((left) => signal.addEventListener('abort', left, { once: true }));
    waiting -= 1;
    return { available: false };
  },
};

const TOOLS = [available, later, never];

const running: { close(): Promise<void> }[] = [];

async function start(streaming: boolean): Promise<Endpoint> {
  const mcp = { transport: { streaming } };
  if (name === KIT) {
    const assistant = await startAssistant({ config: { mcp }, tools: TOOLS, databaseServer: null });
    running.push(assistant);
    return { resource: assistant.resource, token: await assistant.serviceToken() };
  }
  const scopes = { 'mcp:service': 'Use the tools that need no account' };
  const mount = await mountNamed(name);
  const mounted = await mount.start({ mcp, oauth_server: { scopes } }, { databaseServer: null });
  running.push(mounted);
  for (const tool of TOOLS) mounted.mcp.tools.register(tool);
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

/** What is finalised in one turn of the event loop can be collected in the next. */
async function heapUsed(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc');
  for (let turn = 0; turn < 4; turn += 1) {
    globalThis.gc();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}

async function answer(asked: Asked): Promise<number> {
  if (asked === 'heap') return heapUsed();
  while (waiting !== asked.waiting) await setImmediate();
  return waiting;
}

process.on('message', (asked: Asked) => void answer(asked).then((number) => process.send?.(number)));
process.on('disconnect', () => {
  void Promise.all(running.map((each) => each.close())).finally(() => process.exit());
});
process.send?.({ json: await start(false), streaming: await start(true) } satisfies Soaked);
