import { request, type Agent, type ClientRequest } from 'node:http';
import type { Endpoint } from './soak.ts';

/** How many requests run at the same time. */
export const AT_ONCE = 8;

/** A request to the MCP endpoint, with the headers of its MCP version. */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Params = Readonly<Record<string, unknown>>;

export function older(method: string, params: Params = {}): Sent {
  return {
    headers: { 'MCP-Protocol-Version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  };
}

export function newer(method: string, { _meta: meta = {}, ...params }: Params = {}): Sent {
  const version = '2026-07-28';
  const _meta = {
    ...(meta as Params),
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const name = typeof params['name'] === 'string' ? { 'Mcp-Name': params['name'] } : {};
  return {
    headers: { 'MCP-Protocol-Version': version, 'Mcp-Method': method, ...name },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  };
}

const PROGRESS = { progressToken: 7 };
const ASKING = { name: 'asks', arguments: {} };
const ANSWERS = { sure: { action: 'accept', content: { ok: true } } };

const MESSAGES: readonly Sent[] = [
  older('tools/call', { name: 'available', arguments: {} }),
  older('tools/call', { name: 'later', arguments: {}, _meta: PROGRESS }),
  older('ping'),
  older('tools/list'),
  newer('server/discover'),
  newer('tools/list'),
  newer('tools/call', { name: 'available', arguments: {} }),
  newer('tools/call', { name: 'later', arguments: {}, _meta: PROGRESS }),
  newer('tools/call', ASKING),
];

const ENDLESS: readonly Sent[] = [older, newer].map((message) =>
  message('tools/call', { name: 'never', arguments: {}, _meta: PROGRESS }),
);

/**
 * Makes all kinds of calls, one after another. Answers the questions of tools. Each call must have
 * a result.
 */
export async function callAll(endpoint: Endpoint, agent: Agent, calls: number): Promise<void> {
  let begun = 0;
  const oneAfterTheOther = async () => {
    while (begun < calls) {
      const message = MESSAGES[begun % MESSAGES.length] ?? older('ping');
      begun += 1;
      const answer = await result(endpoint, agent, message);
      const [, requestState] = /"requestState":"([^"]+)"/.exec(answer) ?? [];
      if (requestState === undefined) continue;
      const answered = newer('tools/call', { ...ASKING, inputResponses: ANSWERS, requestState });
      await result(endpoint, agent, answered);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, oneAfterTheOther));
}

/**
 * Makes some calls at the same time, to one endpoint after another. When all calls are running,
 * their callers disconnect. When all calls have ended, makes the next calls.
 */
export async function hangUpAll(
  endpoints: readonly Endpoint[],
  calls: number,
  untilWaiting: (count: number) => Promise<unknown>,
): Promise<void> {
  for (let begun = 0; begun < calls; begun += AT_ONCE) {
    const endpoint = endpoints[(begun / AT_ONCE) % endpoints.length] ?? { resource: '', token: '' };
    const sent = Array.from({ length: AT_ONCE }, (_, index) =>
      post(endpoint, ENDLESS[index % ENDLESS.length] ?? older('ping')),
    );
    for (const each of sent)
      each.on('error', () => {}).on('response', (response) => response.resume());
    await untilWaiting(AT_ONCE);
    for (const each of sent) each.destroy();
    await untilWaiting(0);
  }
}

/** Returns the result of a call. Rejects if the response has no result. */
async function result(endpoint: Endpoint, agent: Agent, message: Sent): Promise<string> {
  const { status, body } = await call(endpoint, agent, message);
  if (status === 200 && body.includes('"result"')) return body;
  throw new Error(`Answered ${status}: ${body}`);
}

function call(
  endpoint: Endpoint,
  agent: Agent,
  message: Sent,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = post(endpoint, message, agent);
    sent.on('error', reject);
    sent.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
  });
}

/** Posts a message on a separate connection, without an agent. */
function post(
  { resource, token }: Endpoint,
  { headers, body }: Sent,
  agent: Agent | false = false,
): ClientRequest {
  const sent = request(resource, {
    agent,
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Content-Length': Buffer.byteLength(body),
      ...headers,
    },
  });
  sent.end(body);
  return sent;
}
