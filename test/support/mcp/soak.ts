import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import path from 'node:path';

/** The kit's own server, beside the mounts of other frameworks. */
export const KIT = 'portico/host';

export interface Endpoint {
  readonly resource: string;
  readonly token: string;
}

/** What the process under test reports when it listens: an endpoint that answers with JSON, and one that streams. */
export interface Soaked {
  readonly json: Endpoint;
  readonly streaming: Endpoint;
}

export interface SoakOptions {
  /** KIT, or the name of a mount. */
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
}

const WARM_UP = 100;
const AT_ONCE = 8;

const MESSAGES: readonly string[] = [
  { method: 'tools/call', params: { name: 'available', arguments: {} } },
  { method: 'tools/call', params: { name: 'later', arguments: {}, _meta: { progressToken: 7 } } },
  { method: 'ping' },
  { method: 'tools/list' },
].map((message) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));

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
  const heapUsed = async () => {
    const answer = told();
    child.send('heap');
    return Number(await answer);
  };
  const leftBehind = async (endpoint: Endpoint) => {
    await callAll(endpoint, agent, WARM_UP);
    const before = await heapUsed();
    await callAll(endpoint, agent, calls);
    return ((await heapUsed()) - before) / calls;
  };
  try {
    const { json, streaming } = (await told()) as Soaked;
    return { json: await leftBehind(json), streaming: await leftBehind(streaming) };
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

function call({ resource, token }: Endpoint, agent: Agent, message: string): Promise<void> {
  return new Promise((resolve, reject) => {
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
    sent.end(message);
  });
}
