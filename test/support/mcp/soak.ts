import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type ClientRequest } from 'node:http';
import path from 'node:path';

/** The kit's own server, beside the mounts of other frameworks. */
export const KIT = 'portico/host';

/** What is soaked: the kit, and one mount of each framework. */
export const SOAKED: readonly string[] = [
  KIT,
  'portico/node',
  'a session in an encrypted cookie, by portico/fetch',
  'portico/express',
  'portico/fastify',
  'portico/koa',
  'Hono, with encrypted sessions',
  'Nest on Express',
  'Nest on Fastify',
  'Next',
];

export interface Endpoint {
  readonly resource: string;
  readonly token: string;
}

/** What the process under test reports when it listens: an endpoint that answers with JSON, and one that streams. */
export interface Soaked {
  readonly json: Endpoint;
  readonly streaming: Endpoint;
}

/**
 * What the process is asked: for the size of its heap, or to answer once so many calls wait for their callers to leave. It answers
 * with a number.
 */
export type Asked = 'heap' | { readonly waiting: number };

export interface SoakOptions {
  /** One of SOAKED, or another mount. */
  readonly mount: string;
  /** Calls that are measured in each mode, after some that are not. */
  readonly calls: number;
  /** The heap of the process, in MiB. */
  readonly heap: number;
}

/** Growth of the heap per call, in bytes. */
export interface LeftBehind {
  readonly json: number;
  readonly streaming: number;
  /** By calls whose callers hang up in the middle, of both kinds. */
  readonly hungUp: number;
}

const WARM_UP = 100;
const AT_ONCE = 8;

const MESSAGES: readonly string[] = [
  { method: 'tools/call', params: { name: 'available', arguments: {} } },
  { method: 'tools/call', params: { name: 'later', arguments: {}, _meta: { progressToken: 7 } } },
  { method: 'ping' },
  { method: 'tools/list' },
].map((message) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));

const ENDLESS = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'never', arguments: {}, _meta: { progressToken: 7 } },
});

/**
 * Calls the MCP endpoints of a process with a small heap, and measures how much the heap grows. Rejects when a call has no
 * result.
 */
export async function soak({ mount, calls, heap }: SoakOptions): Promise<LeftBehind> {
  const child = fork(path.join(import.meta.dirname, 'soaked.ts'), [mount], {
    execArgv: ['--expose-gc', `--max-old-space-size=${heap}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const ended = new AbortController();
  const exit = once(child, 'exit').then(([code, signal]: unknown[]) =>
    ended.abort(new Error(`The process under soak ended with ${String(code ?? signal)}`)),
  );
  const told = async () => {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [unknown];
    return message;
  };
  const ask = async (asked: Asked) => {
    const answer = told();
    child.send(asked);
    return Number(await answer);
  };
  const leftBehind = async (work: (calls: number) => Promise<void>) => {
    await work(WARM_UP);
    const before = await ask('heap');
    await work(calls);
    return ((await ask('heap')) - before) / calls;
  };
  try {
    const { json, streaming } = (await told()) as Soaked;
    return {
      json: await leftBehind((count) => callAll(json, agent, count)),
      streaming: await leftBehind((count) => callAll(streaming, agent, count)),
      hungUp: await leftBehind((count) => hangUpAll([json, streaming], count, (waiting) => ask({ waiting }))),
    };
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    agent.destroy();
    if (child.connected) child.disconnect();
    await exit;
  }
}

async function callAll(endpoint: Endpoint, agent: Agent, calls: number): Promise<void> {
  let begun = 0;
  const oneAfterTheOther = async () => {
    while (begun < calls) {
      const message = MESSAGES[begun % MESSAGES.length] ?? '';
      begun += 1;
      await call(endpoint, agent, message);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, oneAfterTheOther));
}

/** Some calls at once, to each endpoint in turn; their callers leave when all of them are under way, and the next follow when all have ended. */
async function hangUpAll(
  endpoints: readonly Endpoint[],
  calls: number,
  untilWaiting: (count: number) => Promise<unknown>,
): Promise<void> {
  for (let begun = 0; begun < calls; begun += AT_ONCE) {
    const endpoint = endpoints[(begun / AT_ONCE) % endpoints.length] ?? { resource: '', token: '' };
    const sent = Array.from({ length: AT_ONCE }, () => post(endpoint, ENDLESS));
    for (const each of sent) each.on('error', () => {}).on('response', (response) => response.resume());
    await untilWaiting(AT_ONCE);
    for (const each of sent) each.destroy();
    await untilWaiting(0);
  }
}

function call(endpoint: Endpoint, agent: Agent, message: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = post(endpoint, message, agent);
    sent.on('error', reject);
    sent.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200 && body.includes('"result"')) resolve();
        else reject(new Error(`Answered ${response.statusCode}: ${body}`));
      });
    });
  });
}

/** On a connection of its own without an agent. */
function post({ resource, token }: Endpoint, message: string, agent: Agent | false = false): ClientRequest {
  const sent = request(resource, {
    agent,
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
      'Content-Length': Buffer.byteLength(message),
    },
  });
  sent.end(message);
  return sent;
}
