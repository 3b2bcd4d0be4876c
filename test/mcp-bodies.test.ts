// @engines sqlite, long: the server refuses these bodies before it stores anything
import type { ToolInterface } from '@portico/mcp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';

const STATELESS = '2026-07-28';
const VERSIONS = [STATELESS, '2025-11-25', '2025-06-18', '2025-03-26'];

const ANYTHING: ToolInterface = {
  name: () => 'anything',
  description: () => 'Takes anything',
  inputSchema: () => ({ type: 'object' }),
  handle: () => 'taken',
};

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
const running: { readonly name: string; readonly at: RunningAssistant; readonly bearer: string }[] =
  [];

beforeAll(async () => {
  process.on('unhandledRejection', note);
  for (const [name, mcp] of [
    ['by default', {}],
    ['by default, streaming', { transport: { streaming: true } }],
    ['with every version', { protocol_versions: VERSIONS }],
    [
      'with every version, streaming',
      { protocol_versions: VERSIONS, transport: { streaming: true } },
    ],
  ] as const) {
    const at = await startAssistant({ tools: [ANYTHING], config: { mcp } });
    running.push({ name, at, bearer: await at.serviceToken() });
  }
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  for (const { at } of running) await at.close();
});

const request = (method: string, params: string) =>
  `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`;
const initialize = (capabilities: string) =>
  request(
    'initialize',
    `{"protocolVersion":"2025-11-25","clientInfo":{"name":"x","version":"1"},"capabilities":${capabilities}}`,
  );
const metaWith = (capabilities: string) =>
  `{"io.modelcontextprotocol/protocolVersion":"${STATELESS}","io.modelcontextprotocol/clientCapabilities":${capabilities}}`;

/** The place of an attacker's value in the message, and how deeply it is nested there. */
const PLACES: Readonly<
  Record<
    string,
    { readonly depth: number; readonly body: (value: string) => string; readonly named?: string }
  >
> = {
  initialize: { depth: 4, body: (value) => initialize(`{"experimental":{"x":${value}}}`) },
  'the capabilities of a request': {
    depth: 5,
    body: (value) =>
      request('server/discover', `{"_meta":${metaWith(`{"experimental":{"x":${value}}}`)}}`),
    named: '',
  },
  'the arguments of a tool': {
    depth: 3,
    body: (value) => request('tools/call', `{"name":"anything","arguments":{"x":${value}}}`),
  },
  'the arguments of a tool in 2026-07-28': {
    depth: 3,
    body: (value) =>
      request(
        'tools/call',
        `{"_meta":${metaWith('{}')},"name":"anything","arguments":{"x":${value}}}`,
      ),
    named: 'anything',
  },
  'the answers to a tool': {
    depth: 3,
    body: (value) =>
      request(
        'tools/call',
        `{"_meta":${metaWith('{}')},"name":"anything","requestState":"x","inputResponses":{"x":${value}}}`,
      ),
    named: 'anything',
  },
  'a batch': { depth: 3, body: (value) => `[${request('ping', `{"x":${value}}`)}]` },
};

/** `levels` arrays or objects around a number. */
const nested = {
  objects: (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`,
  arrays: (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`,
};

function send(place: string, value: string, each: (typeof running)[number]) {
  const { body, named } = PLACES[place] as (typeof PLACES)[string];
  return sendBody(body(value), each, named);
}

async function sendBody(text: string, { at, bearer }: (typeof running)[number], named?: string) {
  const { method } =
    named === undefined ? { method: '' } : (JSON.parse(text) as { method: string });
  const headers = new Headers({
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    Authorization: `Bearer ${bearer}`,
  });
  if (named !== undefined) {
    headers.set('MCP-Protocol-Version', STATELESS);
    headers.set('Mcp-Method', method);
    if (named !== '') headers.set('Mcp-Name', named);
  }
  const response = await fetch(at.resource, { method: 'POST', headers, body: text });
  return { status: response.status, text: await response.text() };
}

/** At depths in this range, the stack of the schemas overflowed. */
const DEPTHS = [500, 1500, 1700, 1900, 2100, 2300, 2364, 2400, 2600, 2800, 5000, 60_000];

// @shows MCP-8.15
test.each(Object.keys(PLACES))(
  'a body nested to any depth gets a response, and so does the next request: %s',
  async (place) => {
    for (const each of running) {
      for (const form of [nested.objects, nested.arrays]) {
        for (const depth of DEPTHS) {
          const { status, text } = await send(place, form(depth), each);
          expect([each.name, depth, status, text]).toEqual([
            each.name,
            depth,
            400,
            expect.stringContaining(
              '"error":{"code":-32600,"message":"The body is nested too deep',
            ),
          ]);
        }
      }
      expect((await send('initialize', '{}', each)).status).toBe(200);
    }
    // A rejection reaches the process after the current tasks are done.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  },
  20_000,
);

// @shows MCP-8.15
test.each(['initialize', 'the arguments of a tool', 'a batch'])(
  'a body can have a hundred levels, not counting brackets inside strings: %s',
  async (place) => {
    const { depth } = PLACES[place] as (typeof PLACES)[string];
    for (const each of running) {
      for (const form of [nested.objects, nested.arrays]) {
        // The client's `experimental` is an object of objects.
        const within = (levels: number) => `{"x":${form(levels - 1)}}`;
        expect((await send(place, within(100 - depth), each)).status).toBe(200);
        expect((await send(place, within(101 - depth), each)).status).toBe(400);
      }
      const texts = JSON.stringify({ ['{"\\'.repeat(200)]: `\\"${'[{'.repeat(200)}` });
      expect((await send(place, texts, each)).status).toBe(200);
      const besides = `{"x":[${Array.from({ length: 300 }, () => '[{}]').join(',')}]}`;
      expect((await send(place, besides, each)).status).toBe(200);
    }
  },
);

// @shows MCP-8.15
test('the refusal of a 2026-07-28 request has the id of the request', async () => {
  const [, , all] = running;
  if (all === undefined) throw new Error('Nothing runs');
  const { text } = await send('the capabilities of a request', nested.objects(200), all);
  expect(JSON.parse(text)).toMatchObject({ id: 7, error: { code: -32_600 } });
});

// @shows MCP-8.15
test('a batch of more than a hundred messages is refused for its size, with any content', async () => {
  const [byDefault] = running;
  if (byDefault === undefined) throw new Error('Nothing runs');
  const batch = (count: number, each: (index: number) => string) =>
    sendBody(`[${Array.from({ length: count }, (_, index) => each(index)).join(',')}]`, byDefault);
  const ping = (index: number) => `{"jsonrpc":"2.0","id":${index},"method":"ping"}`;
  expect((await batch(100, ping)).status).toBe(200);
  const tooLarge = await batch(101, ping);
  expect(tooLarge).toEqual({
    status: 400,
    text: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: Batch must not exceed 100 messages"},"id":null}',
  });
  expect(await batch(5000, () => '{}')).toEqual(tooLarge);
  expect((await batch(100, () => '{}')).text).toContain('The body is not a JSON-RPC 2.0 request.');
});

// @shows MCP-8.15
test('the client information in initialize can have at most a thousand values', async () => {
  const values = (count: number) =>
    `{"x":[${Array.from({ length: count }, () => '[]').join(',')}]}`;
  for (const each of running) {
    expect((await send('initialize', values(900), each)).status).toBe(200);
    for (const count of [1001, 9000]) {
      const { status, text } = await send('initialize', values(count), each);
      expect([status, JSON.parse(text)]).toEqual([
        400,
        {
          jsonrpc: '2.0',
          id: null,
          error: {
            code: -32_602,
            message: 'What the client says of itself is more than 1000 values.',
          },
        },
      ]);
    }
    // The tool itself decides what it accepts.
    expect((await send('the arguments of a tool', values(9000), each)).status).toBe(200);
  }
  const [, , all] = running;
  if (all === undefined) throw new Error('Nothing runs');
  expect((await send('the capabilities of a request', values(900), all)).status).toBe(200);
  for (const count of [1001, 9000]) {
    const refused = await send('the capabilities of a request', values(count), all);
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      400,
      { id: 7, error: { code: -32_602 } },
    ]);
  }
});

// @shows MCP-8.27
test.each(Object.keys(PLACES))(
  'a body can have at most ten thousand values, at any place and level: %s',
  async (place) => {
    const members = (count: number) =>
      Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',');
    const forms = {
      'a flat array': (count: number) =>
        `{"x":[${Array.from({ length: count }, () => '1').join(',')}]}`,
      'a flat object': (count: number) => `{${members(count)}}`,
      'objects in an array': (count: number) => `{"x":[${'{"a":1},'.repeat(count / 2)}{}]}`,
    };
    for (const each of running) {
      for (const form of Object.values(forms)) {
        const { status, text } = await send(place, form(10_000), each);
        expect([each.name, status, (JSON.parse(text) as { error: unknown }).error]).toEqual([
          each.name,
          400,
          { code: -32_600, message: 'The body has more than 10000 values.' },
        ]);
      }
      expect(
        (await send('the arguments of a tool', forms['a flat object'](9900), each)).status,
      ).toBe(200);
    }
  },
);
