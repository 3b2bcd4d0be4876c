// @engines sqlite: the database makes no difference
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  content,
  mcpServerOf,
  tool,
  ToolError,
  type JsonSchema,
  type ToolCall,
  type ToolInterface,
} from '@portico/mcp';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { token } from 'portico';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { ADA, PASSWORD, REDIRECT_URI, signIn } from './support/portal.ts';
import { createVisitor } from './support/visitor.ts';

/** A public tool of the tests. */
function toolNamed(
  name: string,
  handle: (args: Readonly<Record<string, unknown>>, call: ToolCall) => unknown,
  inputSchema: Readonly<Record<string, unknown>> = { type: 'object' },
): ToolInterface {
  return {
    name: () => name,
    description: () => `The tool ${name}`,
    inputSchema: () => inputSchema,
    handle,
  };
}

/** The result of the tool `wrong`. Its content is invalid, although the type allows it. */
let wrongBlocks: unknown = [];

/** Reports progress of the call of `hasty` that has ended. */
let reportLate: ToolCall['progress'] = async () => {};
/** Lets the tool `patient` go on. */
let answered = Promise.withResolvers<void>();

/** Ends the tool `opened`. */
let close = Promise.withResolvers<void>();

/** Two equal objects, whose members replace what objects inherit. */
const TWICE = [
  { valueOf: 1, toString: 2 },
  { toString: 2, valueOf: 1 },
] as const;

/** An object with a member that replaces what objects inherit. */
const HIDING = { constructor: {} };

/** Different objects, almost as many as a body can have. */
const MANY = Array.from({ length: 4900 }, (_, index) => ({ [`race${index}`]: 1 }));

/** A valid URL of more than 2048 characters. */
const LONG_URL = `https://shop.example/${'x'.repeat(2048)}`;

const PARSED = '{"__proto__":{"b":2},"a":1}';

/** Recursive schemas with two alternatives that differ only after the recursion. */
const AMBIGUOUS: Readonly<Record<string, (kind: string) => object>> = {
  union: (kind) => ({
    type: 'object',
    properties: { child: { $ref: '#/$defs/node' } },
    required: [kind],
  }),
  allOf: (kind) => ({ allOf: [{ $ref: '#/$defs/base' }, { required: [kind] }] }),
  sibling: (kind) => ({ $ref: '#/$defs/base', required: [kind] }),
};

const TOOLS: readonly ToolInterface[] = [
  toolNamed('wrong', () => content(wrongBlocks as Parameters<typeof content>[0])),
  toolNamed('parsed', () => JSON.parse(PARSED) as unknown),
  toolNamed('parsed_content', () =>
    content([], JSON.parse(PARSED) as Readonly<Record<string, unknown>>),
  ),
  toolNamed('add', ({ a, b }) => ({ sum: Number(a) + Number(b) }), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { a: { type: 'integer' }, b: { $ref: '#/$defs/number' } },
    $defs: { number: { type: 'integer', minimum: 0 } },
    required: ['a', 'b'],
    additionalProperties: false,
  }),
  ...(['whole', 'text'] as const).map((name) =>
    toolNamed(name, ({ a }) => a, {
      $id: 'https://tools.example/arguments',
      type: 'object',
      properties: { a: { type: name === 'whole' ? 'integer' : 'string' } },
    }),
  ),
  ...(['2020-12/schema', '-07/schema#'] as const).map((dialect) =>
    toolNamed(`priced_${dialect.slice(0, 3)}`, () => 'priced', {
      $schema: `http://json-schema.org/draft${dialect.startsWith('-') ? '' : '/'}${dialect}`,
      type: 'object',
      properties: {
        amount: { type: 'number', multipleOf: 0.01 },
        dozens: { type: 'integer', multipleOf: 12 },
        millions: { type: 'integer', multipleOf: 1_000_000 },
        constructor: { type: 'string' },
        races: { type: 'array', uniqueItems: true },
        sides: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b', { c: 1 }] } },
        words: { type: 'array', uniqueItems: true, items: { type: ['string', 'null'] } },
        ranks: { prefixItems: [{}, {}], items: { type: 'string' }, uniqueItems: true },
        note: { type: 'string', nullable: true, formatMinimum: 'n', id: 'note' },
        nullable: { type: 'boolean' },
        page: { type: 'string', format: 'url' },
        side: { enum: [{ nullable: true }], nullable: false },
      },
      patternProperties: { '^notes': { type: 'string', nullable: true } },
    }),
  ),
  toolNamed('inherited', () => 'called', { type: 'object', required: ['toString'] }),
  {
    ...toolNamed('prices', () => ({ price: 19.99 })),
    outputSchema: () => ({
      type: 'object',
      properties: { price: { multipleOf: 0.01 }, toString: { type: 'string' } },
    }),
  },
  toolNamed('echo', ({ text }) => text),
  toolNamed('opened', async () => {
    await close.promise;
    return 'closed';
  }),
  toolNamed('chatty', async (_, { progress }) => {
    for (let done = 1; done <= 20_000; done += 1) await progress(done, 20_000, 'x'.repeat(1000));
    return 'done';
  }),
  toolNamed('hasty', (_, { progress }) => {
    reportLate = progress;
    return 'done';
  }),
  toolNamed('patient', async () => {
    await answered.promise;
    await reportLate(9);
    return 'done';
  }),
  toolNamed('tree', () => 'a tree', {
    type: 'object',
    $defs: { node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } } },
    properties: { child: { $ref: '#/$defs/node' } },
  }),
  toolNamed('filter', () => 'filtered', {
    type: 'object',
    $defs: {
      node: {
        anyOf: ['and', 'or'].map((op) => ({
          type: 'object',
          // The slower order: a validator visits `of` first.
          properties: { of: { $ref: '#/$defs/node' }, op: { const: op } },
          required: ['op', 'of'],
        })),
      },
    },
    properties: {
      where: { $ref: '#/$defs/node' },
      names: { type: 'array', items: { type: 'string' } },
    },
    required: ['where', 'names'],
  }),
  ...Object.entries(AMBIGUOUS).map(([name, alternative]) =>
    toolNamed(`ambiguous ${name}`.replace(' ', '_'), () => 'accepted', {
      type: 'object',
      $defs: {
        base: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } },
        node: { anyOf: ['a', 'b'].map(alternative) },
      },
      properties: { tree: { $ref: '#/$defs/node' } },
    }),
  ),
  toolNamed('list', () => [1, 2]),
  toolNamed('nothing', () => undefined),
  toolNamed('date', () => new Date(0)),
  toolNamed('picture', () => content([{ type: 'image', data: 'AA==', mimeType: 'image/png' }])),
  toolNamed('broken', () => {
    throw new Error('the oven is on fire');
  }),
  toolNamed('picky', () => {
    throw new ToolError('Only on Sundays.');
  }),
  toolNamed('slow', async (_, { progress }) => {
    await progress(1, 2, 'halfway');
    await progress(2, 2);
    return 'done';
  }),
  toolNamed('unmeasured', async (_, { progress }) => {
    await progress(NaN, 2);
    await progress(1, Infinity);
    await progress(1);
    return 'done';
  }),
  {
    ...toolNamed('orders', () => token().user()?.getProfile().name ?? null),
    personal: true,
    scope: () => 'mcp:orders',
  } as ToolInterface,
  {
    ...toolNamed('who', () => token().user()?.getProfile().name ?? null),
    personal: true,
  } as ToolInterface,
];

let assistant: RunningAssistant;
let streaming: RunningAssistant;
let service: string;
let linked: string;

beforeAll(async () => {
  const scopes = { oauth_server: { scopes: { 'mcp:orders': 'See your orders' } } };
  const config = { ...scopes, mcp: { allowed_origins: ['https://inspector.example'] } };
  assistant = await startAssistant({ tools: TOOLS, config });
  streaming = await startAssistant({
    tools: TOOLS,
    config: { ...scopes, mcp: { transport: { streaming: true } } },
  });
  service = await assistant.serviceToken();
  linked = await assistant.linkedToken();
});
afterAll(async () => {
  await assistant.close();
  await streaming.close();
});

interface Sending {
  readonly bearer?: string | null;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly at?: RunningAssistant;
  readonly signal?: AbortSignal | null;
}

function send(message: unknown, sending: Sending = {}) {
  const { bearer = service, headers = {}, at = assistant, signal = null } = sending;
  const all = new Headers();
  const given: Record<string, string | undefined> = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2025-11-25',
    ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
    ...headers,
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) all.set(name, value);
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return fetch(at.resource, { method: 'POST', headers: all, body, signal });
}

const request = (method: string, params: unknown = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const calling = (name: string, args: unknown = {}) =>
  request('tools/call', { name, arguments: args });
const initialize = (protocolVersion: string) =>
  request('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

async function answerOf(response: Promise<Response>): Promise<Answer> {
  return (await (await response).json()) as Answer;
}

async function expectRefused(response: Promise<Response>, status: number): Promise<void> {
  const refused = await response;
  expect(refused.status).toBe(status);
  expect(refused.headers.get('content-type')).toContain('application/json');
  expect(refused.headers.has('www-authenticate')).toBe(false);
  expect(((await refused.json()) as Answer).error?.message).toMatch(/\w/);
}

describe('an MCP client', () => {
  // @shows MCP-1.3, MCP-3.11, MCP-5.1, MCP-5.5, MCP-7.1, MCP-8.2, MCP-8.3, MCP-8.6, MCP-14.2
  test.each(['2025-11-25', '2025-03-26'])(
    'completes initialize, initialized, tools/list and tools/call under %s',
    async (version) => {
      const headers = { 'MCP-Protocol-Version': undefined };
      const { result } = await answerOf(send(initialize(version), { headers }));
      expect(result).toMatchObject({
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo: { name: 'Kitchen' },
      });
      const after = { headers: { 'MCP-Protocol-Version': version } };
      const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
      expect((await send(initialized, after)).status).toBe(202);
      const list = (await answerOf(send(request('tools/list'), after))).result as {
        tools: unknown[];
      };
      expect(list.tools).toContainEqual({
        name: 'service_status',
        description: 'Says whether the service is available.',
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      });
      const called = await answerOf(send(calling('service_status'), after));
      expect(called.result).toMatchObject({
        structuredContent: { status: 'available' },
        content: [{ type: 'text', text: '{"status":"available"}' }],
      });
    },
  );

  // @shows MCP-8.7
  test.each([
    ['2026-07-28', '2025-11-25'],
    ['2025-11-26', '2025-11-25'],
    ['2025-11-24', '2025-03-26'],
    ['2025-06-18', '2025-03-26'],
    ['2025-03-25', '2025-11-25'],
    ['2024-11-05', '2025-11-25'],
    ['tomorrow', '2025-11-25'],
    ['', '2025-11-25'],
  ])(
    'that requests %s gets the newest version that is not newer, or the latest: %s',
    async (asked, offered) => {
      for (const at of [assistant, streaming]) {
        const bearer = await at.serviceToken();
        const response = await send(initialize(asked), {
          at,
          bearer,
          headers: { 'MCP-Protocol-Version': asked },
        });
        expect(await response.text()).toContain(`"protocolVersion":"${offered}"`);
      }
    },
  );

  test('that requests 2025-06-18 continues with the version it was offered', async () => {
    const headers = { 'MCP-Protocol-Version': undefined };
    const { result } = await answerOf(send(initialize('2025-06-18'), { headers }));
    const after = { headers: { 'MCP-Protocol-Version': String(result?.['protocolVersion']) } };
    expect(
      (await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, after)).status,
    ).toBe(202);
    expect((await answerOf(send(calling('service_status'), after))).result).toMatchObject({
      structuredContent: { status: 'available' },
    });
  });

  // @shows MCP-10.7
  test('that is a service lists personal tools too', async () => {
    const { result } = await answerOf(send(request('tools/list')));
    const names = (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['service_status', 'my_account', 'who']));
  });

  test('is offered only tools', async () => {
    const { error } = await answerOf(send(request('resources/list')));
    expect(error?.code).toBe(-32_601);
  });

  // @shows MCP-8.9
  test.each(['GET', 'HEAD', 'DELETE', 'PUT', 'PATCH', 'PROPFIND'])(
    'gets 405 for %s with Allow: POST, with and without a token, as there are no sessions',
    async (method) => {
      const own = method === 'PROPFIND' ? 'POST, OPTIONS' : 'POST';
      for (const sent of [
        {},
        { Authorization: `Bearer ${service}` },
        { Origin: 'https://evil.example' },
      ]) {
        const headers = { ...sent, Accept: 'text/event-stream' };
        const response = await fetch(assistant.resource, { method, headers });
        expect([response.status, response.headers.get('allow')]).toEqual([405, own]);
      }
    },
  );
});

describe('the HTTP checks of the MCP endpoint', () => {
  // @shows MCP-8.1, MCP-11.1
  test('refuse a wrong Content-Type with 415', async () => {
    await expectRefused(send(calling('echo'), { headers: { 'Content-Type': 'text/plain' } }), 415);
  });
  // @shows MCP-8.1, MCP-11.1
  test.each([
    'application/json',
    'text/event-stream',
    '*/*',
    'application/jsonx, text/event-stream',
    'application/json, text/event-streams',
    'x/y; a="application/json, text/event-stream"',
    'application/json;q=0, text/event-stream',
    'application/json, text/event-stream; Q=0.000',
    'application/json text/event-stream',
  ])('refuse an Accept that does not list both types, %s, with 406', async (accept) => {
    await expectRefused(send(calling('echo'), { headers: { Accept: accept } }), 406);
  });
  // @shows MCP-8.10
  test.each([
    'application/jsonx',
    'application/json-patch+json',
    'json',
    'text/plain, application/json',
  ])('refuse the Content-Type %s with 415', async (type) => {
    await expectRefused(send(calling('echo'), { headers: { 'Content-Type': type } }), 415);
  });
  // @shows MCP-8.10
  test.each([
    ['Application/JSON', 'TEXT/Event-Stream , APPLICATION/json;q=0.5'],
    ['application/json ; charset=UTF-8', 'text/event-stream;q=1,application/json;charset="utf-8"'],
  ])('ignore the case and the parameters of a media type: %s', async (type, accept) => {
    const headers = { 'Content-Type': type, Accept: accept };
    expect((await send(calling('echo', { text: 'Hi' }), { headers })).status).toBe(200);
  });
  // @shows MCP-8.10
  test.each([
    'null',
    'true',
    '7',
    '"text"',
    '{}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":7}',
    '[1]',
    '[]',
  ])('refuse JSON that is not a request with 400 and -32600: %s', async (body) => {
    const response = await send(body, { headers: { 'MCP-Protocol-Version': '2025-03-26' } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32_600 } });
  });
  // @shows MCP-8.1, MCP-8.6, MCP-11.1
  test.each(['2025-06-18', '2024-11-05', '2026-07-28', 'x'])(
    'refuse the protocol version %s with 400',
    async (version) => {
      await expectRefused(
        send(calling('echo'), { headers: { 'MCP-Protocol-Version': version } }),
        400,
      );
    },
  );
  test('refuse invalid JSON, and JSON that is not a message, with 400', async () => {
    await expectRefused(send('{'), 400);
    await expectRefused(send(''), 400);
    await expectRefused(send('{"jsonrpc":"1.0"}'), 400);
    await expectRefused(send('null'), 400);
  });
  // @shows MCP-8.5, MCP-11.1
  test('run after the CSRF check if csrf_exempt_routes:mcp_server_rpc is off', async () => {
    const config = { csrf_exempt_routes: { mcp_server_rpc: false } };
    const guarded = await startAssistant({ config });
    try {
      const response = await send(calling('service_status'), { bearer: null, at: guarded });
      expect(response.status).toBe(403);
    } finally {
      await guarded.close();
    }
  });
});

describe('an MCP request without the parameters of its method', () => {
  const client = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };

  test.each([
    ['initialize', client],
    ['initialize', { ...client, protocolVersion: null }],
    ['initialize', { protocolVersion: '2025-11-25' }],
    ['initialize', undefined],
    ['tools/list', { cursor: 5 }],
    ['tools/call', { arguments: {} }],
    ['tools/call', { name: 'echo', arguments: [1] }],
  ])('gets -32602 with a readable message: %s %j', async (method, params) => {
    for (const at of [assistant, streaming]) {
      const bearer = await at.serviceToken();
      const answer = await (await send({ ...request(method), params }, { at, bearer })).text();
      const error = { code: -32_602, message: `The parameters are not those of ${method}.` };
      expect(answer).toContain(JSON.stringify({ jsonrpc: '2.0', id: 1, error }));
    }
  });
  // @shows MCP-8.30
  test('gets -32602 for an unknown cursor, and the first page for an empty one', async () => {
    const unknown = await send(request('tools/list', { cursor: 'eyJwYWdlIjoyfQ' }));
    expect(await unknown.json()).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('Invalid cursor') },
    });
    const first = await send(request('tools/list', { cursor: '' }));
    expect(await first.json()).toEqual(await (await send(request('tools/list'))).json());
    const other = await send(request('ping', { cursor: 'eyJwYWdlIjoyfQ' }));
    expect(await other.json()).toMatchObject({ result: {} });
  });
  test('does not affect the other requests of its batch', async () => {
    const batch = [request('tools/call', {}), { ...calling('echo', { text: 'Hi' }), id: 2 }];
    const response = await send(batch, { headers: { 'MCP-Protocol-Version': '2025-03-26' } });
    expect(await response.json()).toMatchObject([
      { id: 1, error: { code: -32_602 } },
      { id: 2, result: { content: [{ text: 'Hi' }] } },
    ]);
  });
});

describe('authorization of MCP requests', () => {
  // @shows MCP-3.9, MCP-8.1, MCP-8.4, MCP-10.5, MCP-11.5
  test('returns 401 without WWW-Authenticate for a request without a token', async () => {
    await expectRefused(send(request('tools/list'), { bearer: null }), 401);
    await expectRefused(send(request('tools/list'), { bearer: 'garbage' }), 401);
    await expectRefused(send('{', { bearer: null }), 401);
  });
  // @shows MCP-5.4, MCP-10.7, MCP-11.2
  test('returns 401 for a service token on a personal tool', async () => {
    await expectRefused(send(calling('my_account')), 401);
    await expectRefused(send(calling('who')), 401);
  });
  // @shows MCP-5.2, MCP-5.6
  test('lets a linked account call its tools, regardless of a browser session in the request', async () => {
    const { result } = await answerOf(send(calling('my_account'), { bearer: linked }));
    expect(result).toMatchObject({ structuredContent: { name: 'Ada Lovelace', email: ADA } });
    const email = `${randomUUID()}@example.com`;
    await assistant.accounts.create({ email, name: 'Eve', password: PASSWORD });
    const eve = createVisitor(assistant.url);
    await signIn(eve, await eve.get('/login'), email);
    const headers = { Cookie: eve.cookies() };
    const beside = await answerOf(send(calling('who'), { bearer: linked, headers }));
    expect(beside.result).toMatchObject({ content: [{ text: 'Ada Lovelace' }] });
    await expectRefused(send(calling('who'), { headers }), 401);
    await expectRefused(send(calling('who'), { bearer: null, headers }), 401);
  });
  // @shows MCP-3.9, MCP-5.6, MCP-8.4, MCP-10.7, MCP-11.3
  test('returns 403 from the next call on if an account loses the permission', async () => {
    const ada = await assistant.accounts.findByEmail(ADA);
    await assistant.accounts.deny(ada?.id ?? '', 'mcp:tools');
    await expectRefused(send(calling('my_account'), { bearer: linked }), 403);
    await assistant.accounts.grant(ada?.id ?? '', 'mcp:tools');
    expect((await send(calling('my_account'), { bearer: linked })).status).toBe(200);
  });
  // @shows MCP-5.2, MCP-10.7
  test('returns 403 for a token without the scope of the tool, though it works for other tools', async () => {
    expect((await send(calling('who'), { bearer: linked })).status).toBe(200);
    await expectRefused(send(calling('orders'), { bearer: linked }), 403);
    expect((await answerOf(send(calling('orders'), { bearer: linked }))).error?.message).toBe(
      'The linked account or its token does not reach this tool.',
    );
    await expectRefused(
      send(`\u{FEFF}${JSON.stringify(calling('orders'))}`, { bearer: linked }),
      400,
    );
  });
  // @shows MCP-5.6
  test('returns 401 from the next call on for a suspended account', async () => {
    const ada = await assistant.accounts.findByEmail(ADA);
    await assistant.accounts.setActive(ada?.id ?? '', false);
    await expectRefused(send(calling('my_account'), { bearer: linked }), 401);
    await assistant.accounts.setActive(ada?.id ?? '', true);
  });
  // @shows MCP-11.3
  test('returns 403 for a token without the user scope, also for public tools', async () => {
    const { client, secret } = await assistant.server.clients.create({
      name: 'Other',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid', 'mcp:tools'],
    });
    const narrow = await assistant.linkedToken('openid', { id: client.id, secret: secret ?? '' });
    await expectRefused(send(calling('my_account'), { bearer: narrow }), 403);
    await expectRefused(send(calling('service_status'), { bearer: narrow }), 403);
  });
  test('refuses a whole batch if one of its messages is refused', async () => {
    const batch = [calling('service_status'), { ...calling('my_account'), id: 2 }];
    await expectRefused(send(batch, { headers: { 'MCP-Protocol-Version': '2025-03-26' } }), 401);
  });
});

describe('the message that is checked is the message that runs', () => {
  const MARKED = '\u{FEFF}';

  test.each([
    ['a personal tool, with a service token', () => calling('my_account')],
    ['a public tool', () => calling('service_status')],
    ['a batch', () => [calling('my_account')]],
  ])('so a byte order mark before the body is invalid JSON: %s', async (_, message) => {
    await expectRefused(send(`${MARKED}${JSON.stringify(message())}`), 400);
  });

  test.each([
    [
      'a name twice, the last one personal',
      '{"name":"service_status","name":"my_account","arguments":{}}',
    ],
    ['an escaped name', '{"name":"my\\u005faccount","arguments":{}}'],
    ['an inherited name', '{"__proto__":{"name":"service_status"},"name":"my_account"}'],
  ])('so the response is 401 for %s', async (_, params) => {
    await expectRefused(
      send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`),
      401,
    );
  });

  test('so bytes that are not UTF-8 are invalid JSON', async () => {
    const text = Buffer.from(JSON.stringify(calling('service_status')));
    const body = Buffer.concat([
      text.subarray(0, -1),
      Buffer.from([0x20, 0xff]),
      text.subarray(-1),
    ]);
    const headers = {
      Authorization: `Bearer ${service}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    expect((await fetch(assistant.resource, { method: 'POST', headers, body })).status).toBe(400);
    // The invalid byte is inside a text here, where everything else is valid.
    const within = async (byte: number) => {
      const named = Buffer.from(JSON.stringify({ ...calling('service_status'), id: '#' }));
      named[named.indexOf('#')] = byte;
      return (await fetch(assistant.resource, { method: 'POST', headers, body: named })).status;
    };
    expect([await within(0x61), await within(0xff)]).toEqual([200, 400]);
  });
});

describe('a caller who disconnects from the MCP endpoint', () => {
  test.each([
    [false, 'a service'],
    [true, 'a service'],
    [false, 'a person'],
    [true, 'a person'],
  ])(
    'ends the tool call of this request, and delays no other (streaming: %s, for %s)',
    async (stream, who) => {
      const began = Promise.withResolvers<void>();
      const told = Promise.withResolvers<void>();
      const waiting = toolNamed('waiting', async (_, { signal }) => {
        began.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        told.resolve();
      });
      const config = { mcp: { transport: { streaming: stream } } };
      const patient = await startAssistant({ tools: [waiting], config });
      const bearer = await (who === 'a person' ? patient.linkedToken() : patient.serviceToken());
      const hangUp = new AbortController();
      const left = fetch(patient.resource, {
        method: 'POST',
        signal: hangUp.signal,
        headers: {
          Authorization: `Bearer ${bearer}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(calling('waiting')),
      }).then((response) => response.text());
      await began.promise;
      hangUp.abort();
      await expect(left).rejects.toThrow('aborted');
      await told.promise;
      await patient.close();
    },
  );

  test('cannot leave a request unanswered: a batch that cancels its own request is 400', async () => {
    const cancelled = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    };
    const headers = { 'MCP-Protocol-Version': '2025-03-26' };
    await expectRefused(send([calling('slow'), cancelled], { headers }), 400);
    expect((await send(cancelled)).status).toBe(202);
  });
});

describe('notifications/cancelled', () => {
  const cancelling = (requestId: unknown) => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'no longer needed' },
  });

  /** A tool that works until its signal is aborted or the test ends it. */
  function createWork() {
    const stop = Promise.withResolvers<void>();
    const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
    let begun = 0;
    return {
      stop: () => stop.resolve(),
      /** Resolves when this many calls are running. */
      running: (count: number) =>
        new Promise<void>((resolve) => {
          if (begun >= count) resolve();
          else waiting.push({ count, resolve });
        }),
      tool: toolNamed('waiting', async (_, { signal }) => {
        const aborted = new Promise((resolve) =>
          signal.addEventListener('abort', resolve, { once: true }),
        );
        begun += 1;
        for (const { count, resolve } of waiting) if (count <= begun) resolve();
        await Promise.race([aborted, stop.promise]);
        return signal.aborted ? 'ended' : 'done';
      }),
    };
  }

  async function started(stream = false) {
    const work = createWork();
    const config = { mcp: { transport: { streaming: stream } } };
    const at = await startAssistant({ tools: [work.tool], config });
    const bearer = await at.linkedToken();
    const call = (id: unknown, by = bearer) =>
      send({ ...calling('waiting'), id }, { at, bearer: by }).then((response) => response.text());
    const cancel = async (id: unknown, by = bearer, version = '2025-11-25') => {
      const headers = { 'MCP-Protocol-Version': version };
      const accepted = await send(cancelling(id), { at, bearer: by, headers });
      expect([accepted.status, await accepted.text()]).toEqual([202, '']);
    };
    return { ...work, at, bearer, call, cancel };
  }

  // @shows MCP-8.28
  test.each([false, true])(
    'ends the call of the same authorization with this id (streaming: %s)',
    async (stream) => {
      const { at, call, cancel, running, stop } = await started(stream);
      const [meant, text] = [call(1), call('1')];
      await running(2);
      await cancel(1);
      expect(await meant).toContain('"text":"The call was cancelled."');
      const again = call(1);
      await running(3);
      await cancel(1);
      expect(await again).toContain('"text":"The call was cancelled."');
      stop();
      expect(await text).toContain('"text":"done"');
      // The server forgets a call that has ended, so its id can be used again.
      await cancel(1);
      expect(await call(1)).toContain('"text":"done"');
      await at.close();
    },
  );

  // @shows MCP-8.28
  test('ends the call even if the client has refreshed its token since', async () => {
    const { at, call, cancel, running, stop } = await started();
    const before = await at.refresh(await at.refreshToken());
    const meant = call(1, before.access_token);
    await running(1);
    const after = await at.refresh(before.refresh_token);
    await cancel(1, after.access_token);
    stop();
    expect(await meant).toContain('"text":"The call was cancelled."');
    await at.close();
  });

  // @shows MCP-8.28
  test('ends no call of a different authorization, of a service, or of several calls with one id', async () => {
    const { at, bearer, call, cancel, running, stop } = await started();
    const other = await at.linkedToken();
    const serving = await at.serviceToken();
    const calls = [call(1), call(2), call(2), call(3, serving)];
    await running(4);
    await cancel(1, other);
    await cancel(1, serving);
    await cancel(3, serving);
    await cancel(3);
    await cancel(2);
    for (const id of ['1', null, {}, 1.5]) await cancel(id);
    expect((await send(cancelling(1), { at, bearer: `${bearer}x` })).status).toBe(401);
    stop();
    for (const text of await Promise.all(calls)) expect(text).toContain('"text":"done"');
    await at.close();
  });
});

/** Waits until there are this many callers. */
function createMeeting(count: number): () => Promise<void> {
  let waiting: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length < count) return;
      for (const go of waiting.toReversed()) go();
      waiting = [];
    });
}

describe('simultaneous MCP callers', () => {
  // @shows MCP-8.13
  test.each([false, true])(
    'each get their own responses even with the same ids and progress tokens (streaming: %s)',
    async (stream) => {
      const emails = [ADA, 'eve@example.com'];
      const callers = [...emails, ...emails, ...emails].map((email, index) => ({
        email,
        word: `word${index}`,
      }));
      const meet = createMeeting(callers.length);
      const who = () => token().user()?.getProfile().email;
      const whose = toolNamed('whose', async ({ word }, { progress }) => {
        await meet();
        await progress(1, 2, `${who()} ${String(word)}`);
        await meet();
        return { who: who(), word };
      });
      const config = { mcp: { transport: { streaming: stream } } };
      const busy = await startAssistant({
        tools: [{ ...whose, personal: true } as ToolInterface],
        config,
      });
      const eve = await busy.accounts.create({
        email: 'eve@example.com',
        name: 'Eve',
        password: PASSWORD,
      });
      await busy.accounts.grant(eve.id, 'mcp:tools');
      const tokens = new Map<string, string>();
      for (const email of emails)
        tokens.set(email, await busy.linkedToken('mcp:tools', busy.linking, email));
      await Promise.all(
        callers.map(async ({ email, word }) => {
          const params = { name: 'whose', arguments: { word }, _meta: { progressToken: 7 } };
          const sent = send(request('tools/call', params), {
            at: busy,
            bearer: tokens.get(email) ?? null,
          });
          const answer = await (await sent).text();
          expect(answer).toContain(`"structuredContent":{"who":"${email}","word":"${word}"}`);
          expect(answer.match(/word\d/g)?.every((found) => found === word)).toBe(true);
          expect(answer.includes(`"message":"${email} ${word}"`)).toBe(stream);
        }),
      );
      await busy.close();
    },
  );

  // @shows MCP-8.13
  test.each([false, true])(
    'who disconnect or cancel end only their own call (streaming: %s)',
    async (stream) => {
      const meet = createMeeting(3);
      const ended = new Map<unknown, Promise<void>>();
      const stop = Promise.withResolvers<void>();
      const waiting = toolNamed('waiting', async ({ caller }, { signal }) => {
        const told = Promise.withResolvers<void>();
        ended.set(caller, told.promise);
        signal.addEventListener('abort', () => told.resolve(), { once: true });
        await meet();
        await Promise.race([told.promise, stop.promise]);
        return signal.aborted ? 'ended' : 'done';
      });
      const config = { mcp: { transport: { streaming: stream } } };
      const busy = await startAssistant({ tools: [waiting], config });
      const bearer = await busy.serviceToken();
      const hangUp = new AbortController();
      const call = (caller: string, signal: AbortSignal | null = null) =>
        send(calling('waiting', { caller }), { at: busy, bearer, signal }).then((response) =>
          response.text(),
        );
      const left = call('leaves', hangUp.signal);
      const stayed = call('stays');
      await meet();
      const cancelled = {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: 1 },
      };
      expect((await send(cancelled, { at: busy, bearer })).status).toBe(202);
      hangUp.abort();
      await expect(left).rejects.toThrow('aborted');
      await ended.get('leaves');
      stop.resolve();
      expect(await stayed).toContain('"text":"done"');
      await busy.close();
    },
  );
});

describe('an MCP tool call', () => {
  // @shows MCP-5.7
  test.each([
    ['a missing argument', {}],
    ['a wrong type', { a: 1, b: 'two' }],
    ['a value that a $ref forbids', { a: 1, b: -1 }],
    ['an additional argument', { a: 1, b: 2, c: 3 }],
    ['a list', [1, 2]],
  ])('checks the arguments before the tool runs: %s', async (_, args) => {
    const { result, error } = await answerOf(send(calling('add', args)));
    // A list as arguments makes the message invalid in the protocol.
    expect(error === undefined ? result?.['isError'] : error.code < 0).toBe(true);
    expect(JSON.stringify(result ?? error)).not.toContain('sum');
  });
  test('checks the arguments against the schema of this tool, even if a schema has the same $id', async () => {
    for (const [name, wrong, right] of [
      ['whole', 'one', 1],
      ['text', 1, 'one'],
    ] as const) {
      expect((await answerOf(send(calling(name, { a: wrong })))).result).toMatchObject({
        isError: true,
      });
      expect((await answerOf(send(calling(name, { a: right })))).result).not.toHaveProperty(
        'isError',
      );
    }
  });
  // @shows MCP-5.7
  test.each([
    [true, 'no member, though each object inherits one of the names', {}],
    [true, 'a member with such a name', { constructor: 'Lotus' }],
    [false, 'a member with such a name and a wrong type', { constructor: 1 }],
    [false, 'null for a string, although OpenAPI has nullable', { note: null }],
    [true, 'a string before the one that an unknown keyword names', { note: 'a' }],
    [false, 'the same below a pattern', { notes: null }],
    [true, 'a URL', { page: 'https://shop.example/page' }],
    [false, 'no URL', { page: 'shop.example' }],
    [false, 'a URL that would take too long to check', { page: LONG_URL }],
    [true, 'a member that is called nullable', { nullable: true, side: { nullable: true } }],
    [false, 'a member that is called nullable and has a wrong type', { nullable: 1 }],
    [false, 'a value that a choice does not have', { side: {} }],
    ...[19.99, 4.35, -0.07, 0, 1e-2, 123_456_789.01, 1e300].map(
      (amount) => [true, `${amount}, which is whole cents`, { amount }] as const,
    ),
    ...[19.995, 0.001, 1e-300, 4.349_999_999_999_999, 19.990_000_001].map(
      (amount) => [false, `${amount}, which is not`, { amount }] as const,
    ),
    [true, 'two dozens', { dozens: 24 }],
    [false, 'one of a million', { millions: 1 }],
    [false, 'two dozens and one', { dozens: 25 }],
    [false, 'equal objects that hide what objects inherit', { races: TWICE }],
    [true, 'different objects that hide it', { races: [{ valueOf: 1 }, { valueOf: 2 }] }],
    [false, 'equal objects with a constructor', { races: [HIDING, { ...HIDING }] }],
    [true, 'numbers and texts of them', { races: [1, '1', [1], ['1'], { 1: 1 }, null, 'null'] }],
    [
      false,
      'equal lists',
      {
        races: [
          [1, [{ a: 1, b: 2 }]],
          [1.0, [{ b: 2, a: 1 }]],
        ],
      },
    ],
    [true, 'a single item', { races: [{ a: 1 }] }],
    [true, 'different items of an enum', { sides: ['a', { c: 1 }] }],
    [false, 'equal items of an enum', { sides: [{ c: 1 }, 'a', { c: 1 }] }],
    [true, 'different items of simple types', { words: ['a', null] }],
    [false, 'equal items of simple types', { words: ['a', null, 'a'] }],
    [false, 'equal items at the start of a list', { ranks: [{ a: 1 }, { a: 1 }, 'a'] }],
    [true, 'thousands of objects, compared in linear time', { races: MANY }],
  ] as const)(
    'checks the arguments as JSON Schema specifies: %j for %s',
    async (isValid, _, args) => {
      for (const dialect of ['202', '-07']) {
        const { result } = await answerOf(send(calling(`priced_${dialect}`, args)));
        const text = isValid ? /"text":"priced"/ : /"text":"The arguments do not match/;
        expect(JSON.stringify(result)).toMatch(text);
      }
    },
  );
  // @shows MCP-5.7
  test('with invalid small arguments gets a small response', async () => {
    const nested = (levels: number): object =>
      levels === 0 ? {} : { op: 'or', of: nested(levels - 1) };
    for (const args of [
      { where: nested(14), names: [] },
      { where: nested(1), names: Array.from({ length: 5000 }, () => 1) },
    ]) {
      const { result } = await answerOf(send(calling('filter', args)));
      expect(result).toMatchObject({ isError: true });
      expect(JSON.stringify(result).length).toBeLessThan(10_000);
    }
    const { result } = await answerOf(send(calling('filter', {})));
    const missing = ['where', 'names'].map((name) => `data must have required property '${name}'`);
    const text = `The arguments do not match the schema: ${missing.join(', ')}`;
    expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
  });
  // @shows MCP-5.7
  test.each(Object.keys(AMBIGUOUS))(
    'with a schema that would take forever to check still gets a response: %s',
    async (name) => {
      const nested = (levels: number, member: object): object =>
        levels === 0 ? member : { ...member, child: nested(levels - 1, member) };
      const calls = (tree: object) => answerOf(send(calling(`ambiguous_${name}`, { tree })));
      for (const member of [{}, { b: 1 }]) {
        const { result } = await calls(nested(60, member));
        expect(JSON.stringify(result).length).toBeLessThan(20_000);
      }
      expect((await calls(nested(5, { b: 1 }))).result).not.toHaveProperty('isError');
      expect((await calls(nested(5, {}))).result).toMatchObject({ isError: true });
    },
  );
  // @shows MCP-5.7
  test('does not accept an inherited member as a required member', async () => {
    const missing = await answerOf(send(calling('inherited')));
    expect(missing.result).toMatchObject({ isError: true });
    const given = await answerOf(send(calling('inherited', { toString: 1 })));
    expect(given.result).toEqual({ content: [{ type: 'text', text: 'called' }] });
    expect((await answerOf(send(calling('prices')))).result).toMatchObject({
      structuredContent: { price: 19.99 },
    });
  });
  test('with valid arguments returns the result of the tool', async () => {
    const { result } = await answerOf(send(calling('add', { a: 1, b: 2 })));
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    });
  });
  test.each([
    ['echo', { text: 'Hi' }, 'Hi'],
    ['list', {}, '[1,2]'],
    ['nothing', {}, ''],
    ['date', {}, '"1970-01-01T00:00:00.000Z"'],
  ])('%s: returns a result that is not an object as text', async (name, args, text) => {
    const { result } = await answerOf(send(calling(name, args)));
    expect(result).toEqual({ content: [{ type: 'text', text }] });
  });
  // @shows MCP-5.8
  test.each([
    ['of an unknown type', [{ type: 'film', reel: 1 }]],
    ['without its text', [{ type: 'text' }]],
    ['that is null', [null]],
    ['that cannot be written as JSON', [{ type: 'text', text: 'x', _meta: { a: 1n } }]],
    ['that is a text in place of a list', 'text'],
  ])(
    'with the content block %s is a tool error for the caller, and one log line',
    async (_, blocks) => {
      for (const [at, bearer] of [
        [assistant, service],
        [streaming, await streaming.serviceToken()],
      ] as const) {
        wrongBlocks = blocks;
        const answer = await (await send(calling('wrong'), { at, bearer })).text();
        expect(answer).toContain(
          '{"content":[{"type":"text","text":"The tool failed."}],"isError":true}',
        );
        const log = await readFile(path.join(at.application.storageDirectory, 'app.log'), 'utf8');
        expect(log).toContain('The tool wrong failed');
      }
    },
  );
  test('returns content unchanged', async () => {
    const { result } = await answerOf(send(calling('picture')));
    expect(result).toEqual({ content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] });
  });
  test('returns structured content without keys that become a prototype when copied', async () => {
    for (const name of ['parsed', 'parsed_content']) {
      const { result } = await answerOf(send(calling(name)));
      expect(JSON.stringify(result?.['structuredContent'])).toBe('{"a":1}');
    }
  });
  test('returns content blocks without members that their type does not have', async () => {
    wrongBlocks = [
      { extra: 1, text: 'x', type: 'text', annotations: { priority: 1, audience: ['user'] } },
    ];
    const { result } = await answerOf(send(calling('wrong')));
    expect(result).toEqual({
      content: [{ type: 'text', text: 'x', annotations: { audience: ['user'], priority: 1 } }],
    });
  });
  test('with arguments nested too deeply gets -32600, and one log line', async () => {
    for (const at of [assistant, streaming]) {
      const deep = `${'{"child":'.repeat(60_000)}{}${'}'.repeat(60_000)}`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tree","arguments":${deep}}}`;
      const answer = await (await send(body, { at, bearer: await at.serviceToken() })).text();
      expect(answer).toContain('"error":{"code":-32600,"message":"The body is nested too deep');
      const log = await readFile(path.join(at.application.storageDirectory, 'app.log'), 'utf8');
      expect(log).toContain(
        'mcp_server_rpc refused: 400 (The body is nested too deep: more than 100 levels.)',
      );
    }
  });
  // @shows MCP-5.7
  test('to an unknown tool gets -32602', async () => {
    expect((await answerOf(send(calling('unknown')))).error?.code).toBe(-32_602);
  });
  // @shows MCP-5.7
  test('writes an error thrown by the tool only to the log, and sends a ToolError to the caller', async () => {
    const id = randomUUID();
    const { result } = await answerOf(send(calling('broken'), { headers: { 'X-Request-Id': id } }));
    expect(result).toEqual({
      content: [{ type: 'text', text: 'The tool failed.' }],
      isError: true,
    });
    const log = await readFile(
      path.join(assistant.application.storageDirectory, 'app.log'),
      'utf8',
    );
    const lines = log.split('\n').filter((line) => line.includes(id));
    expect(lines).toEqual([expect.stringContaining('the oven is on fire')]);
    expect(lines[0]).toContain('The tool broken failed');
    const told = await answerOf(send(calling('picky')));
    expect(told.result).toEqual({
      content: [{ type: 'text', text: 'Only on Sundays.' }],
      isError: true,
    });
  });
});

// @shows AS-19.4
test.each<readonly [string, unknown, string | undefined, string]>([
  [
    'of a version that is not offered',
    request('ping'),
    '2026-07-28',
    'Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25, 2025-03-26)',
  ],
  [
    'with a secret in place of a version',
    request('ping'),
    'a-secret-of-the-client',
    'Unsupported protocol version: unknown (supported versions: 2025-11-25, 2025-03-26)',
  ],
  [
    'with initialize in a batch',
    [initialize('2025-03-26'), request('ping', {}, 2)],
    undefined,
    'Invalid Request: Only one initialization request is allowed',
  ],
  [
    'with a batch that is too large',
    Array.from({ length: 101 }, (_, id) => request('ping', {}, id)),
    undefined,
    'Invalid Request: Batch must not exceed 100 messages',
  ],
])('a request %s gets 400, and one log line', async (_, message, version, reason) => {
  const headers = { 'MCP-Protocol-Version': version };
  const refused = await send(message, { headers });
  expect(refused.status).toBe(400);
  const requestId = refused.headers.get('x-request-id') ?? '';
  const file = path.join(assistant.application.storageDirectory, 'app.log');
  const log = await readFile(file, 'utf8');
  const lines = log.split('\n').filter((line) => line.includes(requestId));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { endpoint: 'mcp_server_rpc', error: 400, detail: reason, clientId: assistant.service.id },
  ]);
  expect(log).not.toContain('a-secret-of-the-client');
});

describe('mcp:tool_timeout', () => {
  // @shows MCP-5.9
  test.each([false, true])(
    'ends a tool that takes longer with an error and aborts its signal (streaming: %s)',
    async (stream) => {
      const told = Promise.withResolvers<boolean>();
      const endless = toolNamed('endless', async (_, { signal, progress }) => {
        signal.addEventListener('abort', () => {
          told.resolve(signal.aborted);
          // Progress after the timeout is discarded without an error.
          void progress(1, 2);
        });
        await new Promise(() => {});
      });
      const config = { mcp: { tool_timeout: 1, transport: { streaming: stream } } };
      const patient = await startAssistant({ tools: [endless], config });
      const bearer = await patient.serviceToken();
      const answer = await (await send(calling('endless'), { at: patient, bearer })).text();
      expect(answer).toContain('"isError":true');
      expect(answer).toContain('The tool took longer than 1 second');
      expect(await told.promise).toBe(true);
      const log = await readFile(
        path.join(patient.application.storageDirectory, 'app.log'),
        'utf8',
      );
      expect(log).toContain('The tool endless took longer than 1 second');
      await patient.close();
    },
  );

  // @shows MCP-5.9
  test('lets a tool take exactly this long, and not a millisecond longer', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const endless = toolNamed('endless', (_, { signal }) => {
      begun.resolve(signal);
      return new Promise(() => {});
    });
    const patient = await startAssistant({
      tools: [endless],
      config: { mcp: { tool_timeout: 60 } },
    });
    const bearer = await patient.serviceToken();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const answer = send(calling('endless'), { at: patient, bearer });
      const signal = await begun.promise;
      vi.advanceTimersByTime(59_999);
      expect(signal.aborted).toBe(false);
      vi.advanceTimersByTime(1);
      expect(signal.aborted).toBe(true);
      expect(await (await answer).text()).toContain('The tool took longer than 60 seconds');
    } finally {
      vi.useRealTimers();
      await patient.close();
    }
  });

  // @shows MCP-5.9
  test.each([0, 1.5, '60', 86_401])('cannot be configured as %s', async (limit) => {
    const config = { mcp: { tool_timeout: limit } };
    await expect(startAssistant({ config })).rejects.toThrow('mcp:tool_timeout: ');
  });
});

describe('mcp:transport:streaming', () => {
  const slow = { ...calling('slow'), params: { name: 'slow', _meta: { progressToken: 7 } } };

  // @shows MCP-3.1, MCP-7.1
  test('set to true sends progress and the result as Server-Sent Events', async () => {
    const response = await send(slow, { bearer: await streaming.serviceToken(), at: streaming });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toContain('no-transform');
    const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as unknown,
    );
    expect(events).toMatchObject([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 7, progress: 1, total: 2, message: 'halfway' },
      },
      { method: 'notifications/progress', params: { progressToken: 7, progress: 2 } },
      { id: 1, result: { content: [{ type: 'text', text: 'done' }] } },
    ]);
  });
  test('set to true sends no progress to a caller that has not asked for it', async () => {
    const bearer = await streaming.serviceToken();
    const text = await (await send(calling('slow'), { bearer, at: streaming })).text();
    expect(text.match(/^data: .{9}/gm)).toEqual(['data: {"result"']);
  });
  test.each([false, true])(
    'set to %j closes the connection after the response if the client requests it (RFC 9112 9.6)',
    async (streams) => {
      const at = streams ? streaming : assistant;
      const bearer = await at.serviceToken();
      for (const connection of ['close', 'keep-alive']) {
        const response = await send(slow, { bearer, at, headers: { Connection: connection } });
        expect(response.headers.get('connection')).toBe(connection);
        await response.body?.cancel();
      }
    },
  );
  // @shows MCP-8.14
  test('set to true sends data while a tool works, because proxies close silent connections', async () => {
    close = Promise.withResolvers<void>();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const bearer = await streaming.serviceToken();
      const response = await send(calling('opened'), { bearer, at: streaming });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      vi.advanceTimersByTime(15_000);
      expect((await reader?.read())?.value).toBe(': keepalive\n\n');
      close.resolve();
      expect((await reader?.read())?.value).toContain('closed');
      expect((await reader?.read())?.done).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
  // @shows MCP-3.1
  test('set to true sends no progress for a call after its result, while others of the batch run', async () => {
    answered = Promise.withResolvers<void>();
    const called = (name: string, id: number) =>
      request('tools/call', { name, _meta: { progressToken: id } }, id);
    const response = await send([called('hasty', 1), called('patient', 2)], {
      bearer: await streaming.serviceToken(),
      at: streaming,
      headers: { 'MCP-Protocol-Version': '2025-03-26' },
    });
    const events: string[] = [];
    for await (const event of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      events.push(event);
      answered.resolve();
    }
    expect(events.join('').match(/"(?:method|id)":[^,}]+/g)).toEqual(['"id":1', '"id":2']);
  });
  test('set to true does not send progress that is not a number', async () => {
    const unmeasured = request('tools/call', { name: 'unmeasured', _meta: { progressToken: 7 } });
    const bearer = await streaming.serviceToken();
    const text = await (await send(unmeasured, { bearer, at: streaming })).text();
    expect(text.match(/"progressToken":7,[^}]+/g)).toEqual(['"progressToken":7,"progress":1']);
  });
  // @shows MCP-8.29
  test('set to true buffers at most 1 MiB of progress that the client has not read yet', async () => {
    const chatty = request('tools/call', { name: 'chatty', _meta: { progressToken: 7 } });
    const bearer = await streaming.serviceToken();
    const text = await (await send(chatty, { bearer, at: streaming })).text();
    expect(text).toContain('"progress":900,');
    expect(text.length).toBeLessThan(2 * 1024 * 1024);
    expect(text).toMatch(
      /data: \{"result":\{"content":\[\{"type":"text","text":"done"\}\]\},.*\n\n$/,
    );
  });
  // @shows MCP-3.1
  test('set to false sends one JSON response, and no progress', async () => {
    const response = await send(slow);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'done' }] } });
  });
});

describe('MCP batches', () => {
  const batch = [calling('echo', { text: 'one' }), { ...calling('echo', { text: 'two' }), id: 2 }];

  // @shows MCP-8.8
  test.each(['2025-03-26', undefined])(
    'under %s get a response for every message',
    async (version) => {
      const response = await send(batch, { headers: { 'MCP-Protocol-Version': version } });
      expect(await response.json()).toMatchObject([
        { id: 1, result: { content: [{ text: 'one' }] } },
        { id: 2, result: { content: [{ text: 'two' }] } },
      ]);
    },
  );
  // @shows MCP-8.8
  test('get a list as response, even if only one message needs one (JSON-RPC 2.0 section 6)', async () => {
    const headers = { 'MCP-Protocol-Version': '2025-03-26' };
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const messages of [[batch[0]], [initialized, batch[0]]]) {
      const response = await send(messages, { headers });
      expect(await response.json()).toMatchObject([{ id: 1 }]);
    }
  });
  // @shows MCP-13.5
  test('have at most a hundred messages', async () => {
    const pings = (count: number) =>
      Array.from({ length: count }, (_, id) => request('ping', {}, id));
    const headers = { 'MCP-Protocol-Version': '2025-03-26' };
    expect(await (await send(pings(100), { headers })).json()).toHaveLength(100);
    await expectRefused(send(pings(101), { headers }), 400);
  });
  // @shows MCP-8.8
  test('with initialize get 400, also if there is no other message', async () => {
    const headers = { 'MCP-Protocol-Version': '2025-03-26' };
    await expectRefused(send([initialize('2025-03-26'), request('ping', {}, 2)], { headers }), 400);
    await expectRefused(send([initialize('2025-03-26')], { headers }), 400);
    expect((await send(initialize('2025-03-26'), { headers })).status).toBe(200);
  });
  test('with two requests of the same id get 400, and no response to either', async () => {
    const headers = { 'MCP-Protocol-Version': '2025-03-26' };
    await expectRefused(send([batch[0], { ...batch[1], id: 1 }], { headers }), 400);
    expect((await send([batch[0], { ...batch[1], id: '1' }], { headers })).status).toBe(200);
  });
  // @shows MCP-8.8
  test('under 2025-11-25, or without messages, get 400', async () => {
    await expectRefused(send(batch), 400);
    await expectRefused(send([], { headers: { 'MCP-Protocol-Version': '2025-03-26' } }), 400);
  });
});

describe('origins and limits of MCP requests', () => {
  // @shows MCP-8.11
  test('a page of a foreign origin gets 403, before any other check', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      assistant.url.replace('http', 'https'),
      `${assistant.url}.evil.example`,
      `${assistant.url}0`,
      assistant.url.slice(0, -1),
    ]) {
      await expectRefused(send(request('tools/list'), { headers: { Origin: origin } }), 403);
    }
  });
  // @shows MCP-3.8, MCP-8.11
  // @shows RFC10017-6.3.3.4c
  test('its own origin, or one of mcp:allowed_origins, gets the CORS headers for browsers', async () => {
    expect((await send(request('ping'), { headers: { Origin: assistant.url } })).status).toBe(200);
    const origin = 'https://inspector.example';
    const response = await send(request('ping'), { headers: { Origin: origin } });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('vary')).toContain('Origin');
    const preflight = await fetch(assistant.resource, {
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    // A client that tries 2026-07-28 first also sends Mcp-Method and Mcp-Name.
    for (const header of ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'])
      expect(preflight.headers.get('access-control-allow-headers')).toContain(header);
    const headers = { Origin: origin, 'Access-Control-Request-Headers': 'baggage,traceparent' };
    const traced = await fetch(assistant.resource, { method: 'OPTIONS', headers });
    expect(traced.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, baggage, traceparent',
    );
    expect(traced.headers.get('vary')).toBe('Access-Control-Request-Headers, Origin');
    expect(traced.headers.has('access-control-allow-credentials')).toBe(false);
    const foreign = { ...headers, Origin: 'https://evil.example' };
    const untold = await fetch(assistant.resource, { method: 'OPTIONS', headers: foreign });
    expect([untold.status, untold.headers.get('access-control-allow-headers')]).toEqual([
      403,
      null,
    ]);
    const refused = await send(request('ping'), { bearer: null, headers: { Origin: origin } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      origin,
    ]);
  });
  // @shows MCP-13.4
  test('a body larger than 1 MiB gets 413', async () => {
    await expectRefused(send(calling('echo', { text: 'x'.repeat(1024 * 1024) })), 413);
    expect((await send(calling('echo', { text: 'x'.repeat(1000 * 1024) }))).status).toBe(200);
  });
});

describe('MCP discovery', () => {
  const document = async (at: string) =>
    (await (await fetch(`${assistant.url}/.well-known/${at}`)).json()) as Record<string, unknown>;

  // @shows MCP-7.9
  test('keeps the route names of the endpoint, which applications use for exemptions and mounts', () => {
    const own = mcpServerOf(assistant.application).endpoints.filter((each) => each.path === '/mcp');
    const named = own.map(({ name, methods }) => [name, ...methods.slice(0, 2)]);
    expect(named).toEqual([
      ['mcp_server_rpc', 'POST', 'OPTIONS'],
      ['mcp_server_stream', 'GET', 'DELETE'],
    ]);
  });

  // @shows MCP-2.4, MCP-7.2, MCP-7.3, MCP-7.6
  test('returns resource metadata with the canonical resource and the server, at both paths', async () => {
    const metadata = await document('oauth-protected-resource/mcp');
    expect(metadata).toMatchObject({
      resource: assistant.resource,
      authorization_servers: [assistant.url],
      scopes_supported: ['mcp:tools'],
      bearer_methods_supported: ['header'],
    });
    expect(await document('oauth-protected-resource')).toEqual(metadata);
  });
  // @shows MCP-2.4, MCP-7.4, MCP-7.6
  test('returns server metadata with client credentials, code, refresh and S256', async () => {
    expect(await document('oauth-authorization-server')).toMatchObject({
      issuer: assistant.url,
      grant_types_supported: expect.arrayContaining([
        'client_credentials',
        'authorization_code',
        'refresh_token',
      ]),
      code_challenge_methods_supported: ['S256'],
    });
  });
  // @shows MCP-7.5, MCP-10.1, MCP-10.2, MCP-13.3
  test('leads to a service token only for mcp:service and the resource, without a refresh token', async () => {
    const form = (changes: Record<string, string>) =>
      fetch(`${assistant.url}/oauth/token`, {
        method: 'POST',
        headers: {
          Authorization: `Basic ${Buffer.from(`${assistant.service.id}:${assistant.service.secret}`).toString('base64')}`,
        },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          scope: 'mcp:service',
          resource: assistant.resource,
          ...changes,
        }),
      });
    const tokens = (await (await form({})).json()) as Record<string, unknown>;
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'mcp:service' });
    expect(tokens).not.toHaveProperty('refresh_token');
    expect(await (await form({ scope: 'mcp:tools' })).json()).toMatchObject({
      error: 'invalid_scope',
    });
    expect(await (await form({ resource: `${assistant.resource}/` })).json()).toMatchObject({
      error: 'invalid_target',
    });
  });
});

describe('a refused MCP request', () => {
  // @shows AS-12.9, AS-19.3, AS-19.4
  test.each([
    ['no token', { bearer: null }, 'token()', 'missing_token', 'there is no Authorization header'],
    ['an unknown token', { bearer: 'x' }, 'token()', 'invalid_token', 'the token is unknown'],
    [
      'a foreign page',
      { headers: { Origin: 'https://evil.example' } },
      'mcp_server_rpc',
      403,
      'Pages of',
    ],
    [
      'no media type',
      { headers: { 'Content-Type': 'text/plain' } },
      'mcp_server_rpc',
      415,
      'Content-Type',
    ],
    ['no linked account', {}, 'mcp_server_rpc', 401, 'This tool acts for an account'],
  ])('for %s writes one line to the log', async (name, sending, endpoint, error, detail) => {
    const id = `${name.replaceAll(' ', '-')}-${randomUUID()}`;
    const response = await send(calling('orders'), {
      ...sending,
      headers: { ...('headers' in sending ? sending.headers : {}), 'X-Request-Id': id },
    });
    expect(response.headers.get('x-request-id')).toBe(id);
    const log = await readFile(
      path.join(assistant.application.storageDirectory, 'app.log'),
      'utf8',
    );
    const lines = log.split('\n').filter((line) => line.includes(`"${id}"`));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        endpoint,
        error,
        detail: expect.stringContaining(detail) as string,
        address: expect.stringMatching(/127\.0\.0\.1|::1/) as string,
      }),
    ]);
  });
});

describe('registering MCP tools', () => {
  // @shows MCP-5.1
  test.each([
    [
      'a name twice',
      [toolNamed('echo', () => 1), toolNamed('echo', () => 2)],
      'Two tools are named echo',
    ],
    ['a name with a space', [toolNamed('a b', () => 1)], 'The tool name "a b"'],
    [
      'an invalid schema',
      [toolNamed('x', () => 1, { type: 'object', properties: { a: { type: 'int' } } })],
      'The inputSchema() of the tool x cannot be used: type must be',
    ],
    [
      'a schema that would have to be fetched',
      [
        toolNamed('x', () => 1, {
          type: 'object',
          properties: { a: { $ref: 'https://x.example/a' } },
        }),
      ],
      'The inputSchema() of the tool x cannot be used: ',
    ],
    [
      'a schema that would be validated asynchronously',
      [toolNamed('x', () => 1, { $async: true, type: 'object' })],
      'The inputSchema() of the tool x cannot be used: $async',
    ],
    [
      'a Zod schema, which is not JSON Schema and would accept any arguments',
      [toolNamed('x', () => 1, z.object({ a: z.string() }) as object as JsonSchema)],
      'The inputSchema() of the tool x cannot be used: it is not plain JSON',
    ],
    [
      'a schema with a function',
      [toolNamed('x', () => 1, { type: 'object', properties: { a: () => 1 } })],
      'The inputSchema() of the tool x cannot be used: it is not plain JSON',
    ],
    [
      'a name that is not a string',
      [{ ...toolNamed('x', () => 1), name: () => 5 as unknown as string }],
      'The tool name 5',
    ],
    [
      'a description that is not a string',
      [{ ...toolNamed('x', () => 1), description: () => undefined as unknown as string }],
      'The description() of the tool x must return a string',
    ],
    [
      'a schema that is not for an object',
      [toolNamed('x', () => 1, { type: 'string' })],
      'must describe an object',
    ],
    [
      'a scope that is not offered',
      [{ ...toolNamed('x', () => 1), personal: true, scope: () => 'x:y' } as ToolInterface],
      'oauth_server:scopes: does not contain x:y, which scope() of the tool x requires',
    ],
    [
      'a scope that is not a method, and would leave the tool public',
      [{ ...toolNamed('x', () => 1), scope: 'orders:read' }],
      'The scope of the tool x must be a method that returns the name of a scope',
    ],
    [
      'a tool that does not say whether it is personal',
      [{ ...toolNamed('x', () => 1), personal: () => true }],
      'The tool x must have personal: true. To make it public, omit personal',
    ],
    [
      'a tool whose personal has no value, which would leave it public',
      [{ ...toolNamed('x', () => 1), personal: undefined }],
      'The tool x must have personal: true. To make it public, omit personal',
    ],
  ])('refuses %s at the start', async (_, tools, says) => {
    await expect(startAssistant({ tools })).rejects.toThrow(says);
  });
  test('fails with an SDK version in which the limits of schemas would not apply', async () => {
    const { prototype } = AjvJsonSchemaValidator;
    const choose = Object.getOwnPropertyDescriptor(prototype, '_engineFor');
    expect(Reflect.deleteProperty(prototype, '_engineFor')).toBe(true);
    try {
      const starting = startAssistant({ tools: [toolNamed('x', () => 1)] });
      await expect(starting).rejects.toThrow('install 2.4.0');
    } finally {
      Object.defineProperty(prototype, '_engineFor', choose ?? {});
    }
  });
  test('works later too: the tool is listed and can be called', async () => {
    const { tools } = mcpServerOf(assistant.application);
    const names = async () => {
      const { result } = await answerOf(send(request('tools/list')));
      return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
    };
    const later = `later-${randomUUID()}`;
    expect(await names()).not.toContain(later);
    tools.register(toolNamed(later, () => 'here'));
    expect(await names()).toContain(later);
    expect((await answerOf(send(calling(later)))).result).toMatchObject({
      content: [{ text: 'here' }],
    });
  });
  // @shows MCP-5.3
  test('outside of register() throws an error that says what to do', () => {
    expect(() => tool()).toThrow('tool() works only in register()');
  });
});
