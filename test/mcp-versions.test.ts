// @engines sqlite: the database makes no difference
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  ask,
  content,
  mcpServerOf,
  ToolError,
  type ToolCall,
  type ToolInterface,
} from '@portico/mcp';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basic, startAssistant, type RunningAssistant } from './support/assistant.ts';
import { PASSWORD, REDIRECT_URI } from './support/portal.ts';

const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;
const STATELESS = '2026-07-28';

type Json = Readonly<Record<string, unknown>>;

function toolNamed(
  name: string,
  handle: ToolInterface['handle'],
  more: Partial<ToolInterface> & Json = {},
): ToolInterface {
  return {
    name: () => name,
    description: () => `The tool ${name}`,
    inputSchema: () => ({ type: 'object' }),
    handle,
    ...more,
  };
}

const ICONS = [
  {
    src: 'https://app.example/icon.png',
    mimeType: 'image/png',
    sizes: ['48x48', '96x96'],
    theme: 'dark',
  },
  { src: 'data:image/svg+xml;base64,PHN2Zy8+', sizes: ['any'] },
] as const;
const OUTPUT = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };

const CONFIRM = {
  message: 'Pay the bill?',
  schema: {
    type: 'object',
    properties: { ok: { type: 'boolean' }, tip: { type: 'integer', maximum: 10 } },
  },
};

/** The calls that the tools received. */
const calls: { readonly name: string; readonly call: ToolCall }[] = [];
const noting =
  (name: string, handle: ToolInterface['handle']): ToolInterface['handle'] =>
  (args, call) => {
    calls.push({ name, call });
    return handle(args, call);
  };

const pay = noting('pay', ({ amount }, call) => {
  if (call.answer('confirm') === null) return ask({ confirm: CONFIRM }, { amount });
  return { paid: call.state, tip: call.answer('confirm')?.content['tip'] ?? 0, id: call.id };
});

const TOOLS: readonly ToolInterface[] = [
  toolNamed('described', ({ sum }) => ({ sum }), {
    title: () => 'Described',
    annotations: () => ({ readOnlyHint: true, openWorldHint: false }),
    outputSchema: () => OUTPUT,
    icons: () => ICONS as never,
  }),
  toolNamed('list', () => [1, 2], {
    outputSchema: () => ({ type: 'array', items: { type: 'integer' } }),
  }),
  toolNamed('word', () => 'word', { outputSchema: () => ({ type: 'string' }) }),
  toolNamed('blocks', ({ sum }) => content([], sum === undefined ? null : { sum }), {
    outputSchema: () => OUTPUT,
  }),
  toolNamed(
    'nothing',
    ({ fails }) => {
      if (fails === true) throw new ToolError('Not today.');
    },
    { outputSchema: () => ({}) },
  ),
  toolNamed(
    'noted',
    noting('noted', () => 'noted'),
  ),
  toolNamed('pay', pay),
  { ...toolNamed('pay_mine', pay), personal: true } as ToolInterface,
  { ...toolNamed('far', () => 'far'), personal: true, scope: () => 'mcp:far' } as ToolInterface,
  toolNamed('pay_twice', pay),
  toolNamed('open_page', (_, { answer }) =>
    answer('page') === null
      ? ask({ page: { message: 'Enter your key', url: 'https://app.example/key' } })
      : (answer('page')?.action ?? null),
  ),
  toolNamed('asks_wrongly', ({ how }) => ask(WRONG_QUESTIONS[String(how)] as never)),
  toolNamed('region', () => 'here', {
    inputSchema: () => ({
      type: 'object',
      properties: {
        place: {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
        },
        floor: { type: 'integer', 'x-mcp-header': 'Floor' },
        open: { type: 'boolean', 'x-mcp-header': 'Open' },
      },
    }),
  }),
  toolNamed('waiting', async (_, { signal, progress }) => {
    await progress(1);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    left.resolve();
  }),
  toolNamed('asks_much', ({ size }) => ask({ confirm: CONFIRM }, 'x'.repeat(Number(size)))),
  toolNamed(
    'noted_form',
    (_, { answer }) => answer('confirm')?.content ?? ask({ confirm: CONFIRM }),
  ),
  toolNamed('asks_once', async (_, { progress }) => {
    await progress(1);
    const schema = { ...CONFIRM.schema };
    let times = 0;
    const toJSON = () => {
      times += 1;
      if (times > 1) throw new Error('it is written once');
      return CONFIRM.schema;
    };
    Object.defineProperty(schema, 'toJSON', { value: toJSON });
    return ask({ confirm: { ...CONFIRM, schema } });
  }),
  toolNamed('progressing', async (_, { progress }) => {
    await progress(1, 2, 'halfway');
    return 'done';
  }),
];

/** Resolves when the tool `waiting` has ended. */
let left = Promise.withResolvers<void>();

const WRONG_QUESTIONS: Readonly<Record<string, unknown>> = {
  nothing: {},
  'no form': {
    q: { message: 'x', schema: { type: 'object', properties: { a: { type: 'object' } } } },
  },
  'a script': { q: { message: 'x', url: 'javascript:alert(1)' } },
  'plain http': { q: { message: 'x', url: 'http://app.example/' } },
  'no name': { __proto__x: 1, '': CONFIRM },
  'another request': { q: { method: 'tools/call', params: {} } },
};

const FAR = { oauth_server: { scopes: { 'mcp:far': 'Go far' } } };

let assistant: RunningAssistant;
let streaming: RunningAssistant;
let byDefault: RunningAssistant;
let service: string;
let linked: string;
const events: AuditEvent[] = [];

beforeAll(async () => {
  const mcp = { protocol_versions: VERSIONS, allowed_origins: ['https://page.example'] };
  assistant = await startAssistant({
    tools: TOOLS,
    config: { ...FAR, mcp: { ...mcp, audit: true } },
  });
  streaming = await startAssistant({
    tools: TOOLS,
    config: { ...FAR, mcp: { ...mcp, transport: { streaming: true } } },
  });
  byDefault = await startAssistant({ tools: TOOLS, config: FAR });
  service = await assistant.serviceToken();
  linked = await assistant.linkedToken();
  assistant.application.events.on(AUDIT, (event) => {
    events.push(event);
  });
});
afterAll(async () => {
  await assistant.close();
  await streaming.close();
  await byDefault.close();
});

interface Sending {
  readonly version?: string;
  readonly meta?: Json | null;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly bearer?: string;
  readonly at?: RunningAssistant;
  readonly id?: number | string;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly id?: unknown;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } },
};

async function post(
  body: unknown,
  { headers = {}, bearer = service, at = assistant }: Sending,
): Promise<Answered> {
  const all = new Headers({
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    Authorization: `Bearer ${bearer}`,
  });
  for (const [name, value] of Object.entries(headers)) if (value !== null) all.set(name, value);
  const response = await fetch(at.resource, {
    method: 'POST',
    headers: all,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const last = text.startsWith('event:') ? (text.trim().split('data: ').at(-1) ?? '') : text;
  const parsed = (last === '' ? {} : JSON.parse(last)) as Pick<Answered, 'id' | 'result' | 'error'>;
  return { status: response.status, headers: response.headers, text, ...parsed };
}

/** A valid request of 2026-07-28, unless the test overrides something. */
function send(method: string, params: Json = {}, sending: Sending = {}): Promise<Answered> {
  const { meta = META, version = STATELESS, headers = {}, id = 7 } = sending;
  return post(
    { jsonrpc: '2.0', id, method, params: meta === null ? params : { _meta: meta, ...params } },
    {
      ...sending,
      headers: {
        'MCP-Protocol-Version': version,
        'Mcp-Method': method,
        'Mcp-Name': typeof params['name'] === 'string' ? params['name'] : null,
        ...headers,
      },
    },
  );
}

const call = (name: string, args: Json = {}, sending: Sending & { readonly with?: Json } = {}) =>
  send('tools/call', { name, arguments: args, ...sending.with }, sending);

/** A request of a version with `initialize`. */
const sendOlder = (version: string, method: string, params: Json = {}, sending: Sending = {}) =>
  post(
    { jsonrpc: '2.0', id: 7, method, params },
    { ...sending, headers: { 'MCP-Protocol-Version': version, ...sending.headers } },
  );

const logPath = (at: RunningAssistant) =>
  (at.application.config['log'] as { readonly path: string }).path;

describe('an MCP request of 2026-07-28', () => {
  // @shows MCP-15.2, MCP-15.4
  test('needs no initialize, and its result has the members of this version', async () => {
    const discovered = await send('server/discover');
    expect(discovered.status).toBe(200);
    expect(discovered.result).toEqual({
      resultType: 'complete',
      supportedVersions: [...VERSIONS],
      capabilities: { tools: {} },
      ttlMs: 300_000,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'Kitchen', version: '1.0.0' } },
    });
    const listed = await send('tools/list');
    expect(listed.result).toMatchObject({
      resultType: 'complete',
      ttlMs: 300_000,
      cacheScope: 'private',
      _meta: discovered.result?.['_meta'],
    });
    const called = await call('service_status');
    expect(called.result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: '{"status":"available"}' }],
      structuredContent: { status: 'available' },
      _meta: discovered.result?.['_meta'],
    });
  });

  // @shows MCP-15.2
  test.each([
    ['no _meta', null],
    ['no version', { 'io.modelcontextprotocol/clientCapabilities': {} }],
    ['a version that is not a string', { ...META, 'io.modelcontextprotocol/protocolVersion': 3 }],
    ['no capabilities', { 'io.modelcontextprotocol/protocolVersion': STATELESS }],
    [
      'a capability that is not an object',
      { ...META, 'io.modelcontextprotocol/clientCapabilities': { elicitation: 3 } },
    ],
    [
      'a client without a name',
      { ...META, 'io.modelcontextprotocol/clientInfo': { version: '1' } },
    ],
  ])('with %s gets -32602 and 400, with the id', async (_, meta) => {
    const refused = await send('tools/list', {}, { meta, id: 'mine' });
    expect([refused.status, refused.error?.code, refused.id]).toEqual([400, -32_602, 'mine']);
  });

  // @shows MCP-15.2
  test.each(['2027-01-01', '1900-01-01', '2025-11-25', 'v999.0.0'])(
    'of the version %s gets -32022 and 400, with the offered versions',
    async (version) => {
      const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': version };
      const refused = await send('tools/list', {}, { meta, version });
      expect([refused.status, refused.error?.code]).toEqual([400, -32_022]);
      expect(refused.error?.data).toEqual({ supported: [...VERSIONS], requested: version });
    },
  );

  // @shows MCP-15.2
  test.each(['tools/list', 'initialize'])(
    'without _meta gets -32022 if its header names a newer version than the offered ones: %s',
    async (method) => {
      const refused = await send(method, {}, { meta: null, version: '2027-01-01' });
      expect([refused.status, refused.error?.code, refused.id]).toEqual([400, -32_022, 7]);
      expect(refused.error?.data).toEqual({ supported: [...VERSIONS], requested: '2027-01-01' });
    },
  );

  // @shows MCP-15.2
  test.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'subscriptions/listen',
    'prompts/list',
    'constructor',
  ])('with the unknown method %s gets -32601 and 404', async (method) => {
    for (const at of [assistant, streaming]) {
      const refused = await send(method, {}, { at, bearer: await at.serviceToken() });
      expect([refused.status, refused.error?.code, refused.id]).toEqual([404, -32_601, 7]);
    }
  });

  // @shows MCP-15.3
  test.each([
    ['a different method', { 'Mcp-Method': 'tools/list' }],
    ['the method in capital letters', { 'Mcp-Method': 'TOOLS/CALL' }],
    ['no method', { 'Mcp-Method': null }],
    ['a different tool', { 'Mcp-Name': 'described' }],
    ['no tool', { 'Mcp-Name': null }],
    ['two tools', { 'Mcp-Name': 'noted, described' }],
    ['a tool in invalid base64', { 'Mcp-Name': '=?base64?bm90ZWQ?=' }],
    ['a tool in base64 that is not UTF-8', { 'Mcp-Name': '=?base64?/w==?=' }],
    ['an older version', { 'MCP-Protocol-Version': '2025-11-25' }],
    ['no version', { 'MCP-Protocol-Version': null }],
  ])('whose header fields have %s gets -32020 and 400, and no tool runs', async (_, headers) => {
    const before = calls.length;
    const refused = await call('noted', {}, { headers });
    expect([refused.status, refused.error?.code, refused.id]).toEqual([400, -32_020, 7]);
    expect(calls.length).toBe(before);
  });

  // @shows MCP-15.3
  test('can have the name of the tool in base64', async () => {
    const encoded = `=?base64?${Buffer.from('noted').toString('base64')}?=`;
    expect((await call('noted', {}, { headers: { 'Mcp-Name': encoded } })).result).toMatchObject({
      content: [{ text: 'noted' }],
    });
  });

  // @shows MCP-15.3
  test('must repeat the arguments marked in the schema of the tool in header fields', async () => {
    const args = { place: { region: 'Zürich' }, floor: 42, open: true };
    const region = `=?base64?${Buffer.from('Zürich').toString('base64')}?=`;
    const right = {
      'Mcp-Param-Region': region,
      'Mcp-Param-Floor': '42.0',
      'Mcp-Param-Open': 'true',
    };
    expect((await call('region', args, { headers: right })).status).toBe(200);
    expect((await call('region', {}, {})).status).toBe(200);
    expect((await call('region', { floor: null }, {})).status).toBe(200);
    for (const wrong of [
      { ...right, 'Mcp-Param-Region': 'Basel' },
      { ...right, 'Mcp-Param-Region': null },
      // Some proxies read such bytes as Latin-1, and others as UTF-8.
      { ...right, 'Mcp-Param-Region': 'Zürich' },
      { ...right, 'Mcp-Param-Floor': '0x2a' },
      { ...right, 'Mcp-Param-Floor': '43' },
      { ...right, 'Mcp-Param-Open': 'false' },
      { ...right, 'Mcp-Param-Open': null },
    ]) {
      const refused = await call('region', args, { headers: wrong });
      expect([refused.status, refused.error?.code]).toEqual([400, -32_020]);
    }
    // A proxy would decide by a value that the tool never gets.
    for (const without of [{}, { place: {}, floor: null }]) {
      const refused = await call('region', without, { headers: { 'Mcp-Param-Region': 'Basel' } });
      expect([refused.status, refused.error?.code]).toEqual([400, -32_020]);
    }
    // No header can repeat a list. The schema refuses this argument.
    expect((await call('region', { floor: [42] }, {})).result).toMatchObject({ isError: true });
    // Two texts that are the same number in JavaScript may be different numbers for a proxy.
    const unsafe = { headers: { 'Mcp-Param-Floor': '9007199254740993' } };
    expect((await call('region', { floor: 9_007_199_254_740_992 }, unsafe)).status).toBe(400);
    expect(
      (await sendOlder('2025-11-25', 'tools/call', { name: 'region', arguments: args })).status,
    ).toBe(200);
  });

  // @shows MCP-10.7, MCP-15.2
  test.each([
    ['a service', 401],
    ['an account without its scope', 403],
  ])('with %s for a personal tool gets %j, with the id', async (who, status) => {
    const refused = await call(
      status === 401 ? 'pay_mine' : 'far',
      {},
      { bearer: status === 401 ? service : linked },
    );
    expect([who, refused.status, refused.error?.code, refused.id]).toEqual([
      who,
      status,
      status,
      7,
    ]);
    expect(refused.headers.has('www-authenticate')).toBe(false);
  });

  // @shows MCP-15.10
  test.each([
    [
      {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
        tracestate: 'vendor=1',
        baggage: 'a=b',
      },
      {
        parent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
        state: 'vendor=1',
        baggage: 'a=b',
      },
    ],
    [
      {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
        tracestate: 'x'.repeat(513),
        baggage: 'a=b\r\nSet-Cookie: c',
      },
      {
        parent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
        state: null,
        baggage: null,
      },
    ],
    [{ traceparent: '00-00000000000000000000000000000000-00f067aa0ba902b7-01' }, null],
    [{ traceparent: 'nothing\r\n' }, null],
    [{ tracestate: 'vendor=1' }, null],
  ])('passes the trace of %j to the tool', async (trace, given) => {
    await call('noted', {}, { meta: { ...META, ...trace } });
    expect(calls.at(-1)?.call.trace).toEqual(given);
  });

  test('is refused with a _meta larger than the body limit, and accepted with a smaller one', async () => {
    const large = { ...META, 'com.example/large': 'x'.repeat(900_000) };
    expect((await call('noted', {}, { meta: large })).status).toBe(200);
    const larger = { ...META, 'com.example/large': 'x'.repeat(1_100_000) };
    expect((await call('noted', {}, { meta: larger })).status).toBe(413);
  });

  test('is refused with a _meta that is nested too deeply, and so is the next such request', async () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'noted', arguments: {}, _meta: { ...META, deep: 'DEEP' } },
    }).replace('"DEEP"', nested);
    const headers = {
      'MCP-Protocol-Version': STATELESS,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'noted',
    };
    expect(await post(body, { headers })).toMatchObject({ status: 400, id: 7 });
    expect((await call('noted')).result?.['resultType']).toBe('complete');
  });

  // @shows MCP-15.8
  test.each([
    [{}, false, false],
    [{ elicitation: {} }, true, false],
    [{ elicitation: { form: {} } }, true, false],
    [{ elicitation: { url: {} } }, false, true],
    [{ elicitation: { form: {}, url: {} } }, true, true],
  ])(
    'with the client capabilities %j tells the tool what it can ask the person',
    async (capabilities, form, page) => {
      await call(
        'noted',
        {},
        { meta: { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities } },
      );
      const { canAsk } = calls.at(-1)?.call ?? {};
      expect([canAsk?.('form'), canAsk?.('page')]).toEqual([form, page]);
    },
  );

  test('can be a notification, which is accepted, but not a response', async () => {
    const headers = { 'MCP-Protocol-Version': STATELESS };
    const notification = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    };
    expect((await post(notification, { headers })).status).toBe(202);
    expect((await post({ jsonrpc: '2.0', id: 1, result: {} }, { headers })).status).toBe(400);
  });

  // @shows MCP-15.3
  test.each([
    ['that names a different version in the header', '2025-11-25', STATELESS, -32_020],
    ['of a version that is not offered', '2027-01-01', '2027-01-01', -32_022],
  ])('can be no notification %s', async (_, header, claimed, code) => {
    const _meta = { ...META, 'io.modelcontextprotocol/protocolVersion': claimed };
    const params = { requestId: 1, _meta };
    const refused = await post(
      { jsonrpc: '2.0', method: 'notifications/cancelled', params },
      { headers: { 'MCP-Protocol-Version': header } },
    );
    expect([refused.status, refused.error?.code]).toEqual([400, code]);
  });

  // @shows MCP-3.1, MCP-8.14
  test('gets progress and the result as a stream, and errors with a status without a stream', async () => {
    const bearer = await streaming.serviceToken();
    const meta = { ...META, progressToken: 'p' };
    const streamed = await call('progressing', {}, { at: streaming, bearer, meta });
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(streamed.text).toContain(
      '"progressToken":"p","progress":1,"total":2,"message":"halfway"',
    );
    expect(streamed.result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
    const single = await call('service_status', {}, { at: streaming, bearer });
    expect(single.headers.get('content-type')).toBe('text/event-stream');
    const unable = { ...META, 'io.modelcontextprotocol/clientCapabilities': {} };
    const refused = await call('pay', { amount: 1 }, { at: streaming, bearer, meta: unable });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      400,
      'application/json',
    ]);
  });

  // @shows MCP-8.14
  test.each([
    [STATELESS, 'request'],
    [STATELESS, 'stream'],
    ['2025-11-25', 'request'],
    ['2025-11-25', 'stream'],
  ])('and one of %s end their tool if the host ends only the %s', async (version, ended) => {
    left = Promise.withResolvers<void>();
    const rpc = mcpServerOf(streaming.application).endpoints.find(({ path }) => path === '/mcp');
    const request = new AbortController();
    const _meta = { ...(version === STATELESS ? META : {}), progressToken: 1 };
    const params = { name: 'waiting', arguments: {}, _meta };
    const response = await rpc?.handle(
      new Request(streaming.resource, {
        method: 'POST',
        signal: request.signal,
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          Authorization: `Bearer ${await streaming.serviceToken()}`,
          'MCP-Protocol-Version': version,
          'Mcp-Method': 'tools/call',
          'Mcp-Name': 'waiting',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      }),
    );
    const reader = response?.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('notifications/progress');
    await (ended === 'request' ? request.abort() : reader?.cancel());
    await left.promise;
    expect((await reader?.read())?.done).toBe(true);
  });

  test('gets one JSON document without mcp:transport:streaming', async () => {
    const bearer = await assistant.serviceToken();
    const meta = { ...META, progressToken: 'p' };
    const answers = [
      await call('progressing', {}, { bearer, meta }),
      await call('service_status', {}, { bearer }),
    ];
    for (const { status, headers, text } of answers) {
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(JSON.parse(text)).toMatchObject({
        jsonrpc: '2.0',
        result: { resultType: 'complete' },
      });
    }
  });

  test('can be sent by a page with the header fields of this version', async () => {
    const preflight = await fetch(assistant.resource, {
      method: 'OPTIONS',
      headers: { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, mcp-param-region, mcp-param-floor, mcp-param-open',
    );
  });
});

describe('older MCP versions at the same endpoint', () => {
  // @shows MCP-15.5
  test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
    'get a response to initialize for %s, and no members of 2026-07-28 later',
    async (protocolVersion) => {
      const client = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const { result } = await post(
        { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion, ...client } },
        {},
      );
      expect(result).toMatchObject({ protocolVersion, serverInfo: { name: 'Kitchen' } });
      const { result: called } = await sendOlder(protocolVersion, 'tools/call', {
        name: 'service_status',
      });
      expect(Object.keys(called ?? {})).toEqual(['content', 'structuredContent']);
      expect((await sendOlder(protocolVersion, 'ping')).result).toEqual({});
    },
  );

  test.each(['2026-07-28', '2027-01-01'])(
    'get 2025-11-25 in response to initialize for %s',
    async (asked) => {
      const params = {
        protocolVersion: asked,
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      };
      const { result } = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, {});
      expect(result?.['protocolVersion']).toBe('2025-11-25');
    },
  );

  // @shows MCP-15.5
  test('can differ for each request on one connection', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect((await call('noted')).result?.['resultType']).toBe('complete');
      const older = await sendOlder('2025-11-25', 'tools/call', { name: 'noted', arguments: {} });
      expect(older.result?.['resultType']).toBeUndefined();
      expect((await sendOlder(STATELESS, 'tools/list')).error?.code).toBe(-32_602);
    }
  });

  // @shows MCP-15.5
  test('can use a batch, which is refused if it contains a request of 2026-07-28', async () => {
    const headers = { 'MCP-Protocol-Version': '2025-03-26' };
    const older = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post([older], { headers })).status).toBe(200);
    const newer = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: META } };
    expect((await post([older, newer], { headers })).status).toBe(400);
    expect((await post([newer], { headers: { 'MCP-Protocol-Version': STATELESS } })).status).toBe(
      400,
    );
  });

  test('cannot send initialize with the header of 2026-07-28', async () => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const refused = await sendOlder(STATELESS, 'initialize', params);
    expect([refused.status, refused.error?.code]).toEqual([400, -32_020]);
  });

  // @shows MCP-15.1
  test('do not include 2026-07-28 and 2025-06-18 by default', async () => {
    const bearer = await byDefault.serviceToken();
    for (const version of [STATELESS, '2025-06-18']) {
      const refused = await send('tools/list', {}, { version, at: byDefault, bearer });
      expect([refused.status, refused.error]).toEqual([
        400,
        {
          code: -32_000,
          message: `Bad Request: Unsupported protocol version: ${version} (supported versions: 2025-11-25, 2025-03-26)`,
        },
      ]);
    }
  });

  // @shows MCP-15.1
  test('get an error that lists 2026-07-28 if this is the only version offered', async () => {
    const alone = await startAssistant({
      tools: TOOLS,
      config: { ...FAR, mcp: { protocol_versions: [STATELESS] } },
    });
    try {
      const bearer = await alone.serviceToken();
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      };
      const at = { at: alone, bearer };
      const refused = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, at);
      expect([refused.status, refused.error?.code, refused.error?.data]).toEqual([
        400,
        -32_022,
        { supported: [STATELESS], requested: '2025-11-25' },
      ]);
      expect((await sendOlder('2025-03-26', 'ping', {}, at)).status).toBe(400);
      // The response repeats only a text that looks like a version.
      for (const unclear of [3, { jsonrpc: '2.0', id: 1, method: 'initialize', params: 3 }]) {
        const { status, error } = await post(unclear, at);
        const data = { supported: [STATELESS], requested: 'unknown' };
        expect([status, error?.data]).toEqual([400, data]);
      }
      expect((await post([{ jsonrpc: '2.0', id: 1, method: 'ping' }], at)).status).toBe(400);
      expect((await call('service_status', {}, at)).status).toBe(200);
      const { result } = await call('pay', { amount: 5 }, at);
      const inputResponses = { confirm: { action: 'accept', content: { ok: true } } };
      const answers = { requestState: result?.['requestState'], inputResponses };
      expect((await call('pay', { amount: 5 }, { ...at, with: answers })).result).toMatchObject({
        resultType: 'complete',
        structuredContent: { paid: { amount: 5 } },
      });
    } finally {
      await alone.close();
    }
  });

  test('must be named in each request if 2025-03-26 is not offered', async () => {
    const newer = await startAssistant({
      config: { mcp: { protocol_versions: ['2025-11-25', '2025-06-18'] } },
    });
    try {
      const refused = await post(
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { at: newer, bearer: await newer.serviceToken() },
      );
      expect([refused.status, refused.error?.message]).toEqual([
        400,
        'Bad Request: Unsupported protocol version: 2025-03-26 (supported versions: 2025-11-25, 2025-06-18)',
      ]);
    } finally {
      await newer.close();
    }
  });

  // @shows MCP-15.1
  test.each([
    [[], 'must contain at least one version'],
    [['2024-11-05'], 'must be one of 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26'],
  ])('cannot be configured as mcp:protocol_versions %j', async (versions, problem) => {
    await expect(
      startAssistant({ config: { mcp: { protocol_versions: versions } } }),
    ).rejects.toThrow(problem);
  });
});

describe('the declaration of a tool', () => {
  // @shows MCP-15.6
  test.each([
    [
      '2026-07-28',
      ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'icons'],
    ],
    [
      '2025-11-25',
      ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'icons'],
    ],
    ['2025-06-18', ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']],
    ['2025-03-26', ['name', 'description', 'inputSchema', 'annotations']],
  ])('in %s has the members %j', async (version, members) => {
    const listing = version === STATELESS ? send('tools/list') : sendOlder(version, 'tools/list');
    const tools = (await listing).result?.['tools'] as readonly Json[];
    const described = tools.find(({ name }) => name === 'described');
    expect(Object.keys(described ?? {})).toEqual(members);
    expect(Object.keys(tools.find(({ name }) => name === 'noted') ?? {})).toEqual([
      'name',
      'description',
      'inputSchema',
    ]);
    expect('outputSchema' in (tools.find(({ name }) => name === 'list') ?? {})).toBe(
      version === STATELESS,
    );
    expect(described?.['icons']).toEqual(members.includes('icons') ? ICONS : undefined);
  });

  // @shows MCP-15.7
  test.each([
    ['described', { sum: 3 }, { sum: 3 }],
    ['list', {}, [1, 2]],
    ['word', {}, 'word'],
    ['blocks', { sum: 3 }, { sum: 3 }],
  ])('of an outputSchema matches the result of %s', async (name, args, structured) => {
    expect((await call(name, args)).result?.['structuredContent']).toEqual(structured);
    const { result } = await sendOlder('2025-11-25', 'tools/call', { name, arguments: args });
    const isObject = typeof structured === 'object' && !Array.isArray(structured);
    expect(result?.['structuredContent']).toEqual(isObject ? structured : undefined);
    expect(result?.['isError']).toBeUndefined();
  });

  // @shows MCP-15.7
  test.each([
    ['described', { sum: 'three' }],
    ['blocks', {}],
    ['nothing', {}],
  ])(
    'of an outputSchema that %s does not match leads to a tool error and one log line',
    async (name, args) => {
      for (const answer of [
        await call(name, args),
        await sendOlder('2025-03-26', 'tools/call', { name, arguments: args }),
      ]) {
        expect(answer.result).toMatchObject({
          isError: true,
          content: [{ text: 'The tool failed.' }],
        });
        expect(answer.text).not.toContain('outputSchema');
      }
      expect(await readFile(logPath(assistant), 'utf8')).toContain(`The tool ${name} failed`);
    },
  );

  // @shows MCP-15.7
  test('of an outputSchema does not apply to a tool error', async () => {
    expect((await call('nothing', { fails: true })).result).toMatchObject({
      isError: true,
      content: [{ text: 'Not today.' }],
    });
  });

  // @shows MCP-15.6
  test.each([
    ['an icon with a script URL', { icons: () => [{ src: 'javascript:alert(1)' }] }],
    ['an icon over http', { icons: () => [{ src: 'http://app.example/icon.png' }] }],
    ['an icon with a password', { icons: () => [{ src: 'https://a:b@app.example/icon.png' }] }],
    ['an icon with HTML', { icons: () => [{ src: 'data:text/html;base64,PGI+' }] }],
    [
      'an icon with an invalid size',
      { icons: () => [{ src: 'https://app.example/i.png', sizes: ['large'] }] },
    ],
    [
      'an icon with an unknown member',
      { icons: () => [{ src: 'https://app.example/i.png', onload: 'x' }] },
    ],
    [
      'an icon with an unknown theme',
      { icons: () => [{ src: 'https://app.example/i.png', theme: 'blue' }] },
    ],
    ['an unknown annotation', { annotations: () => ({ safe: true }) }],
    ['a hint that is not a boolean', { annotations: () => ({ readOnlyHint: 'yes' }) }],
    ['a title that is not a string', { title: () => 3 }],
    ['an empty title', { title: () => '' }],
    ['an invalid outputSchema', { outputSchema: () => ({ type: 'nothing' }) }],
    ['a marked argument in an array', markedAt('items')],
    ['a marked argument that is a number', marked({ type: 'number', 'x-mcp-header': 'N' })],
    [
      'two marked arguments for one header',
      {
        inputSchema: () => ({
          type: 'object',
          properties: {
            a: { type: 'string', 'x-mcp-header': 'A' },
            b: { type: 'string', 'x-mcp-header': 'A' },
          },
        }),
      },
    ],
    [
      'a marked argument with an invalid field name',
      marked({ type: 'string', 'x-mcp-header': 'a b' }),
    ],
  ])('with %s prevents the start', async (_, wrong) => {
    const tool = toolNamed('wrong', () => null, wrong);
    await expect(
      startAssistant({ tools: [tool], config: { mcp: { protocol_versions: VERSIONS } } }),
    ).rejects.toThrow('of the tool wrong');
  });
});

function marked(argument: Json): Json {
  return { inputSchema: () => ({ type: 'object', properties: { a: argument } }) };
}

function markedAt(keyword: string): Json {
  return marked({ type: 'array', [keyword]: { type: 'string', 'x-mcp-header': 'A' } });
}

describe('an MCP tool that asks the person', () => {
  const ok = { confirm: { action: 'accept', content: { ok: true, tip: 2 } } };

  async function asked(name: string, args: Json, sending: Sending = {}): Promise<string> {
    const { result } = await call(name, args, sending);
    expect(result?.['resultType']).toBe('input_required');
    return String(result?.['requestState']);
  }

  const answering = (name: string, args: Json, answers: Json, sending: Sending = {}) =>
    call(name, args, { ...sending, with: answers });

  // @shows MCP-15.8, MCP-15.9
  test('is called again with the answers and its state', async () => {
    const first = await call('pay', { amount: 5 });
    expect(first.result).toEqual({
      resultType: 'input_required',
      inputRequests: {
        confirm: {
          method: 'elicitation/create',
          params: { mode: 'form', message: CONFIRM.message, requestedSchema: CONFIRM.schema },
        },
      },
      requestState: expect.any(String) as string,
      _meta: expect.any(Object) as object,
    });
    const firstCall = calls.at(-1)?.call;
    const requestState = first.result?.['requestState'];
    const second = await answering('pay', { amount: 5 }, { requestState, inputResponses: ok });
    expect(second.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { paid: { amount: 5 }, tip: 2, id: firstCall?.id },
    });
    const again = await answering('pay', { amount: 5 }, { requestState, inputResponses: ok });
    expect(again.result?.['structuredContent']).toMatchObject({ id: firstCall?.id });
    const other = await asked('pay', { amount: 5 });
    const others = await answering(
      'pay',
      { amount: 5 },
      { requestState: other, inputResponses: ok },
    );
    expect(others.result).not.toMatchObject({ structuredContent: { id: firstCall?.id } });
  });

  // @shows MCP-15.9
  test('has a state that the client cannot read', async () => {
    const state = await asked('pay', { amount: 4711 });
    const bytes = Buffer.from(state.split('.').at(-1) ?? '', 'base64url').toString('latin1');
    expect(bytes).not.toContain('4711');
    expect(bytes).not.toContain('Pay');
  });

  // @shows MCP-15.9
  test('accepts its state only for the same person, client, tool and arguments', async () => {
    const requestState = await asked('pay', { amount: 5 });
    const sent = { requestState, inputResponses: ok };
    const mine = await asked('pay_mine', { amount: 5 }, { bearer: linked });
    const before = calls.length;
    const other = await anotherToken(assistant);
    const sentMine = { requestState: mine, inputResponses: ok };
    for (const refused of [
      await answering('pay', { amount: 6 }, sent),
      await answering('pay', { amount: '5' }, sent),
      await answering('pay', {}, sent),
      await answering('pay_twice', { amount: 5 }, sent),
      await answering('pay', { amount: 5 }, sent, { bearer: linked }),
      await answering('pay', { amount: 5 }, sent, { bearer: await anotherService() }),
      await answering('pay', { amount: 5 }, sentMine, { bearer: linked }),
      await answering('pay_mine', { amount: 5 }, sentMine, { bearer: other }),
      ...(await Promise.all(
        forged(requestState).map((forgery) =>
          answering('pay', { amount: 5 }, { requestState: forgery, inputResponses: ok }),
        ),
      )),
    ]) {
      expect([refused.status, refused.error?.code]).toEqual([200, -32_602]);
    }
    expect(calls.length).toBe(before);
    const elsewhere = { at: streaming, bearer: await streaming.serviceToken() };
    expect((await answering('pay', { amount: 5 }, sent, elsewhere)).error?.code).toBe(-32_602);
    expect(
      (await answering('pay_mine', { amount: 5 }, sentMine, { bearer: linked })).result,
    ).toMatchObject({
      resultType: 'complete',
    });
  });

  // @shows MCP-15.9
  test('accepts the arguments in any order', async () => {
    const requestState = await asked('pay', { amount: 5, note: { a: 1, b: [2] } });
    const sent = { requestState, inputResponses: ok };
    const again = await answering('pay', { note: { b: [2], a: 1 }, amount: 5 }, sent);
    expect(again.result?.['resultType']).toBe('complete');
    const other = await answering('pay', { note: { b: [2], a: 1, c: 0 }, amount: 5 }, sent);
    expect(other.error?.code).toBe(-32_602);
    const list = { requestState: await asked('pay', { amount: [{ a: 1, b: 2 }, 3] }) };
    const sorted = await answering('pay', { amount: [{ b: 2, a: 1 }, 3] }, list);
    expect(sorted.result?.['resultType']).toBe('input_required');
    const moved = await answering('pay', { amount: [3, { a: 1, b: 2 }] }, list);
    expect(moved.error?.code).toBe(-32_602);
  });

  // @shows MCP-15.9
  test('has at most 65,536 characters of questions and state', async () => {
    const { result } = await call('asks_much', { size: 0 });
    const asked = result?.['inputRequests'];
    const size = 65_536 - JSON.stringify({ id: randomUUID(), asked, state: '' }).length;
    const most = await call('asks_much', { size });
    expect(most.result?.['resultType']).toBe('input_required');
    expect((await call('asks_much', { size: size + 1 })).error?.code).toBe(-32_603);
  });

  // @shows MCP-15.9
  test('ignores answers without a state', async () => {
    const { result } = await answering('pay', { amount: 5 }, { inputResponses: ok });
    expect(result?.['resultType']).toBe('input_required');
  });

  // @shows MCP-15.8
  test.each([
    ['that breaks the schema', { confirm: { action: 'accept', content: { ok: true, tip: 11 } } }],
    ['that is not an answer', { confirm: 12_345 }],
    ['with an unknown action', { confirm: { action: 'perhaps' } }],
  ])('refuses an answer %s with -32602, and does not run', async (_, inputResponses) => {
    const requestState = await asked('pay', { amount: 5 });
    const before = calls.length;
    const refused = await answering('pay', { amount: 5 }, { requestState, inputResponses });
    expect(refused.error?.code).toBe(-32_602);
    expect(calls.length).toBe(before);
  });

  // @shows MCP-15.8
  test.each([null, [], 'yes', 3])(
    'refuses inputResponses %j with -32602',
    async (inputResponses) => {
      const requestState = await asked('pay', { amount: 5 });
      const refused = await answering('pay', { amount: 5 }, { requestState, inputResponses });
      expect(refused.error?.code).toBe(-32_602);
    },
  );

  // @shows MCP-15.8
  test('ignores answers to other questions, and asks unanswered questions again', async () => {
    const requestState = await asked('pay', { amount: 5 });
    const more = {
      requestState,
      inputResponses: { ...ok, other: { action: 'accept' }, __proto__x: 1 },
    };
    expect((await answering('pay', { amount: 5 }, more)).result?.['resultType']).toBe('complete');
    const none = { requestState, inputResponses: { other: { action: 'accept' } } };
    expect((await answering('pay', { amount: 5 }, none)).result?.['resultType']).toBe(
      'input_required',
    );
    expect((await answering('pay', { amount: 5 }, { requestState })).result?.['resultType']).toBe(
      'input_required',
    );
  });

  // @shows MCP-15.8
  test('does not receive a member for which no form had a field', async () => {
    const requestState = await asked('noted_form', {});
    const content = { ok: true, admin: true, __proto__x: 1 };
    const inputResponses = { confirm: { action: 'accept', content } };
    const { result } = await answering('noted_form', {}, { requestState, inputResponses });
    expect(result?.['structuredContent']).toEqual({ ok: true });
  });

  // @shows MCP-15.8
  test('fails as a server error if its question can be serialized only once; the server continues', async () => {
    const bearer = await streaming.serviceToken();
    for (const sending of [{}, { at: streaming, bearer, meta: { ...META, progressToken: 'p' } }]) {
      const { status, error } = await call('asks_once', {}, sending);
      expect([status, error?.code]).toEqual([200, -32_603]);
      expect(await readFile(logPath(sending.at ?? assistant), 'utf8')).toContain(
        'it is written once',
      );
      expect((await call('noted', {}, sending)).status).toBe(200);
    }
  });

  // @shows MCP-15.8
  test.each([
    ['pay', {}, { elicitation: { form: {} } }],
    ['pay', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ['open_page', { elicitation: {} }, { elicitation: { url: {} } }],
    ['open_page', { sampling: {} }, { elicitation: { url: {} } }],
  ])(
    '%s of a client that supports %j gets -32021 and 400, with what is missing',
    async (name, capabilities, missing) => {
      const meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
      const refused = await call(name, { amount: 5 }, { meta });
      expect([refused.status, refused.error?.code]).toEqual([400, -32_021]);
      expect(refused.error?.data).toEqual({ requiredCapabilities: missing });
    },
  );

  // @shows MCP-15.8
  test('can send the person to a page, and gets the result of that page', async () => {
    const requestState = await asked('open_page', {});
    const declined = { requestState, inputResponses: { page: { action: 'decline' } } };
    expect((await answering('open_page', {}, declined)).result?.['content']).toEqual([
      { type: 'text', text: 'decline' },
    ]);
  });

  // @shows MCP-15.8
  test('returns a tool error to a client of an older version, for which canAsk() is false', async () => {
    const { result } = await sendOlder('2025-11-25', 'tools/call', {
      name: 'pay',
      arguments: { amount: 5 },
    });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('2026-07-28') as string }],
    });
    expect(calls.at(-1)?.call.canAsk('form')).toBe(false);
  });

  test.each(Object.keys(WRONG_QUESTIONS))(
    'fails with a tool error for questions with %s',
    async (how) => {
      expect((await call('asks_wrongly', { how })).result).toMatchObject({
        isError: true,
        content: [{ text: 'The tool failed.' }],
      });
    },
  );
});

/** A token of another service. */
async function anotherService(): Promise<string> {
  const { client, secret } = await assistant.server.clients.create({
    name: 'Another service',
    grants: ['client_credentials'],
    scopes: ['mcp:service'],
  });
  const response = await fetch(`${assistant.url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: basic({ id: client.id, secret: secret ?? '' }) },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: assistant.resource }),
  });
  return ((await response.json()) as { readonly access_token: string }).access_token;
}

/** A token of the same client for another person. */
async function anotherToken(at: RunningAssistant): Promise<string> {
  const email = `eve-${randomUUID()}@example.com`;
  const account = await at.accounts.create({ email, name: 'Eve', password: PASSWORD });
  await at.accounts.grant(account.id, 'mcp:tools');
  return at.linkedToken('mcp:tools', at.linking, email);
}

/** The state with one change, and values that are not a state. */
function forged(state: string): readonly unknown[] {
  const flipped = state.at(-2) === 'A' ? 'B' : 'A';
  const [period = '', text = ''] = state.split('.');
  return [
    `${state}-TAMPERED`,
    `${state.slice(0, -2)}${flipped}${state.slice(-1)}`,
    `${Number(period) + 1}.${text}`,
    `${Number(period) - 1}.${text}`,
    `999999999.${text}`,
    text,
    '',
    '{}',
    null,
    3,
    { toString: 'x' },
    'x'.repeat(500_000),
  ];
}

describe('the official MCP client, which detects the version itself,', () => {
  // @shows MCP-15.1, MCP-15.2, MCP-15.3, MCP-15.8
  test.each([false, true])(
    'uses 2026-07-28, repeats arguments in header fields, and asks the person (streaming: %s)',
    async (stream) => {
      const at = stream ? streaming : assistant;
      const bearer = await at.serviceToken();
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
      );
      const shown: string[] = [];
      client.setRequestHandler('elicitation/create', ({ params }) => {
        shown.push(params.message);
        return { action: 'accept', content: { ok: true, tip: 3 } };
      });
      const sent: (string | null)[] = [];
      const transport = new StreamableHTTPClientTransport(new URL(at.resource), {
        requestInit: { headers: { Authorization: `Bearer ${bearer}` } },
        fetch: async (url, init) => {
          sent.push(new Headers(init?.headers).get('mcp-protocol-version'));
          return fetch(url, init);
        },
      });
      await client.connect(transport);
      try {
        const { tools } = await client.listTools();
        expect(tools.find(({ name }) => name === 'described')).toMatchObject({
          title: 'Described',
          outputSchema: OUTPUT,
        });
        const paid = await client.callTool({ name: 'pay', arguments: { amount: 5 } });
        expect(paid.structuredContent).toMatchObject({ paid: { amount: 5 }, tip: 3 });
        expect(shown).toEqual([CONFIRM.message]);
        const args = { place: { region: 'Zürich' }, floor: 42 };
        const region = await client.callTool({ name: 'region', arguments: args });
        expect(region.content).toEqual([{ type: 'text', text: 'here' }]);
        expect([...new Set(sent)]).toEqual([STATELESS]);
      } finally {
        await client.close();
      }
    },
  );
});

describe('mcp:audit', () => {
  const called = () => events.filter(({ type }) => type === 'tool_called');

  // @shows MCP-15.11
  test('set to true records each tool call as an event, without arguments and results', async () => {
    for (const [name, args, outcome] of [
      ['noted', { secret: 'hunter2' }, 'succeeded'],
      ['pay', { amount: 5, secret: 'hunter2' }, 'asked'],
      ['described', { sum: 'three' }, 'failed'],
      ['nothing', { fails: true }, 'failed'],
    ] as const) {
      await call(name, args);
      expect(called().at(-1)).toEqual({
        type: 'tool_called',
        tool: name,
        clientId: assistant.service.id,
        person: null,
        outcome,
        duration: expect.any(Number) as number,
      });
    }
    expect(JSON.stringify(events)).not.toContain('hunter2');
    const began = performance.now();
    await call('pay_mine', { amount: 5 }, { bearer: linked });
    const { duration } = called().at(-1) as unknown as { readonly duration: number };
    expect(duration).toBeLessThanOrEqual(Math.ceil(performance.now() - began));
    expect(called().at(-1)).toMatchObject({
      tool: 'pay_mine',
      clientId: assistant.linking.id,
      person: { provider: expect.any(String) as string, id: expect.any(String) as string },
    });
    await sendOlder('2025-11-25', 'tools/call', { name: 'noted', arguments: {} });
    expect(called().at(-1)).toMatchObject({ tool: 'noted', outcome: 'succeeded' });
  });

  // @shows MCP-15.11
  test('set to true records no event for a request that calls no tool', async () => {
    const before = called().length;
    await send('tools/list');
    expect((await call('no_such_tool')).error?.code).toBe(-32_602);
    await call('pay_mine', { amount: 5 });
    await call('noted', {}, { headers: { 'Mcp-Name': 'pay' } });
    expect(called().length).toBe(before);
  });

  test('set to false, the default, records no event', async () => {
    const told: unknown[] = [];
    byDefault.application.events.on(AUDIT, (event) => {
      told.push(event);
    });
    const bearer = await byDefault.serviceToken();
    await sendOlder(
      '2025-11-25',
      'tools/call',
      { name: 'noted', arguments: {} },
      { at: byDefault, bearer },
    );
    expect(told).toEqual([expect.objectContaining({ type: 'tokens_issued' })]);
  });
});

describe('mcp:calls_per_minute', () => {
  // @shows MCP-15.12
  test('returns 429 with Retry-After only to the client and person with too many calls', async () => {
    const config = { ...FAR, mcp: { protocol_versions: VERSIONS, calls_per_minute: 2 } };
    const limited = await startAssistant({ tools: TOOLS, config });
    try {
      const at = { at: limited, bearer: await limited.serviceToken() };
      const own = { at: limited, bearer: await limited.linkedToken() };
      const other = { at: limited, bearer: await anotherToken(limited) };
      const before = calls.length;
      const batch = [1, 2, 3].map((id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'noted', arguments: {} },
      }));
      expect(
        (await post(batch, { ...own, headers: { 'MCP-Protocol-Version': '2025-03-26' } })).status,
      ).toBe(200);
      expect((await call('noted', {}, own)).status).toBe(429);
      expect((await call('noted', {}, other)).status).toBe(200);
      // The same person with another client.
      const { client, secret } = await limited.server.clients.create({
        name: 'Another',
        redirectUris: [REDIRECT_URI],
        scopes: ['mcp:tools'],
      });
      const bearer = await limited.linkedToken('mcp:tools', {
        id: client.id,
        secret: secret ?? '',
      });
      expect((await call('noted', {}, { at: limited, bearer })).status).toBe(200);
      expect((await call('noted', {}, at)).status).toBe(200);
      expect((await call('noted', {}, at)).status).toBe(200);
      const refused = await call('noted', {}, at);
      expect([refused.status, refused.error?.code, refused.id]).toEqual([429, 429, 7]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      const older = await sendOlder(
        '2025-11-25',
        'tools/call',
        { name: 'noted', arguments: {} },
        at,
      );
      expect([older.status, older.error?.code, older.headers.has('retry-after')]).toEqual([
        429,
        -32_000,
        true,
      ]);
      expect((await send('tools/list', {}, at)).status).toBe(429);
      expect(calls.length).toBe(before + 7);
    } finally {
      await limited.close();
    }
  });

  // @shows MCP-15.12
  test.each([
    ['requests that call no tool', { id: 1, method: 'ping' }],
    ['calls without a name', { id: 1, method: 'tools/call', params: {} }],
    ['notifications', { method: 'notifications/initialized' }],
    ['an object that is not a message', {}],
  ])('counts every message of a batch: %s', async (_, message) => {
    const config = { ...FAR, mcp: { protocol_versions: VERSIONS, calls_per_minute: 10 } };
    const limited = await startAssistant({ tools: TOOLS, config });
    try {
      const headers = { 'MCP-Protocol-Version': '2025-03-26' };
      const at = { at: limited, bearer: await limited.serviceToken(), headers };
      const batch = (count: number) =>
        Array.from({ length: count }, (__, id) => ({
          jsonrpc: '2.0',
          ...message,
          ...('id' in message ? { id } : {}),
        }));
      expect((await post(batch(6), at)).status).not.toBe(429);
      expect((await post(batch(6), at)).status).toBe(429);
      expect((await post(batch(4), at)).status).not.toBe(429);
      expect((await post(batch(1), at)).status).toBe(429);
      expect((await call('noted', {}, at)).status).toBe(429);
    } finally {
      await limited.close();
    }
  });

  test('counts an empty batch as one message', async () => {
    const config = { ...FAR, mcp: { protocol_versions: VERSIONS, calls_per_minute: 1 } };
    const limited = await startAssistant({ tools: TOOLS, config });
    try {
      const at = { at: limited, bearer: await limited.serviceToken() };
      expect((await post([], at)).status).toBe(400);
      expect((await post([], at)).status).toBe(429);
    } finally {
      await limited.close();
    }
  });

  test.each([0, -1, 1.5, 'many'])('cannot be configured as %j', async (calls_per_minute) => {
    await expect(startAssistant({ config: { mcp: { calls_per_minute } } })).rejects.toThrow(
      'message',
    );
  });
});
