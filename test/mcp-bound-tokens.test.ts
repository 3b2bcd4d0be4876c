// @engines sqlite: the database makes no difference
import { randomUUID } from 'node:crypto';
import { mcpServerOf, type ToolInterface, type UserToolInterface } from '@portico/mcp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basic, startAssistant, type RunningAssistant } from './support/assistant.ts';
import { newDpopKey } from './support/dpop.ts';
import { boundHeaders, proofFor } from './support/proofs.ts';

/** Bound tokens at the MCP endpoint, for each way to send and answer a request. */

type Json = Readonly<Record<string, unknown>>;

const STATELESS = '2026-07-28';

const progressing: ToolInterface = {
  name: () => 'progressing',
  description: () => 'Tells how far it is',
  inputSchema: () => ({ type: 'object' }),
  async handle(_, { progress }) {
    await progress(1, 2, 'halfway');
    return 'done';
  },
};

const mine: UserToolInterface = {
  name: () => 'mine',
  description: () => 'Acts for a person',
  inputSchema: () => ({ type: 'object' }),
  personal: true,
  handle: () => null,
};

const key = newDpopKey();
let assistant: RunningAssistant;
let bound: string;

beforeAll(async () => {
  assistant = await startAssistant({
    tools: [progressing, mine],
    config: {
      oauth_server: { dpop: 'accept' },
      mcp: {
        protocol_versions: [STATELESS, '2025-11-25', '2025-03-26'],
        transport: { streaming: true },
        allowed_origins: ['https://page.example'],
      },
    },
  });
  const url = `${assistant.url}/oauth/token`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: basic(assistant.service), DPoP: proofFor(key, 'POST', url) },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'mcp:service',
      resource: assistant.resource,
    }),
  });
  bound = ((await response.json()) as { readonly access_token: string }).access_token;
});
afterAll(() => assistant.close());

/**
 * Sends the request with a proof, then sends it again with the same proof. Resolves to the first
 * response.
 */
async function sendTwice(body: unknown, more: Readonly<Record<string, string>>): Promise<string> {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...boundHeaders(key, 'POST', assistant.resource, bound),
    ...more,
  };
  const send = () =>
    fetch(assistant.resource, { method: 'POST', headers, body: JSON.stringify(body) });
  const first = await send();
  const text = await first.text();
  expect([first.status, text]).toEqual([200, text]);
  const again = await send();
  expect([again.status, again.headers.get('content-type')]).toEqual([401, 'application/json']);
  expect(await again.text()).not.toContain('done');
  return text;
}

const call = (id: number, more: Json = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'progressing', arguments: {}, _meta: { progressToken: id, ...more } },
});

const eventsOf = (text: string) =>
  [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data) as Json);

// @shows MCP-8.21, AS-12.12
test('a streamed MCP response needs one DPoP proof for all its events', async () => {
  const events = eventsOf(await sendTwice(call(1), { 'MCP-Protocol-Version': '2025-11-25' }));
  expect(events).toMatchObject([
    { method: 'notifications/progress', params: { progress: 1, message: 'halfway' } },
    { id: 1, result: { content: [{ text: 'done' }] } },
  ]);
});

// @shows MCP-8.21
test('an MCP batch needs one DPoP proof for all its messages', async () => {
  const text = await sendTwice([call(1), call(2), { jsonrpc: '2.0', id: 3, method: 'ping' }], {
    'MCP-Protocol-Version': '2025-03-26',
  });
  for (const id of [1, 2, 3]) expect(text).toContain(`"id":${id}`);
  expect(text.match(/"done"/g)).toHaveLength(2);
});

// @shows MCP-8.21
test('an MCP request of 2026-07-28 needs one DPoP proof, and no earlier session', async () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const text = await sendTwice(call(1, meta), {
    'MCP-Protocol-Version': STATELESS,
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'progressing',
  });
  expect(eventsOf(text).at(-1)).toMatchObject({
    id: 1,
    result: { resultType: 'complete', content: [{ text: 'done' }] },
  });
});

// @shows MCP-8.4
test('without mcp:oauth:challenge, an MCP tool that is refused challenges only a bound token', async () => {
  const refused = async (authorization: Readonly<Record<string, string>>) => {
    const { status, headers } = await fetch(assistant.resource, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
        ...authorization,
      },
      body: JSON.stringify({ ...call(1), params: { name: 'mine', arguments: {} } }),
    });
    return [status, headers.get('www-authenticate')];
  };
  expect(await refused(boundHeaders(key, 'POST', assistant.resource, bound))).toEqual([
    401,
    expect.stringMatching(/^DPoP error="invalid_token"/),
  ]);
  const bearer = await assistant.serviceToken();
  expect(await refused({ Authorization: `Bearer ${bearer}` })).toEqual([401, null]);
});

// @shows MCP-8.21
test('a page may send a DPoP proof to the MCP endpoint', async () => {
  const allowed = async () => {
    const { headers } = await fetch(assistant.resource, {
      method: 'OPTIONS',
      headers: { Origin: 'https://page.example' },
    });
    return headers.get('access-control-allow-headers');
  };
  const expected =
    'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, DPoP';
  expect(await allowed()).toBe(expected);
  // A tool that clients cannot call in 2026-07-28 changes nothing.
  const properties = { a: { type: 'string', 'x-mcp-header': 'not a name' } };
  mcpServerOf(assistant.application).tools.register({
    ...progressing,
    name: () => `wrong-${randomUUID()}`,
    inputSchema: () => ({ type: 'object', properties }),
  });
  expect(await allowed()).toBe(expected);
});
