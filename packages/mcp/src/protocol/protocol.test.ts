import type { Log } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { mcpConfiguration } from '../configuration.ts';
import type { McpContext } from '../context.ts';
import { Contributions } from '../contributions.ts';
import type { McpFeature } from '../feature.ts';
import { ContentRoom } from '../tools/content-room.ts';
import { ToolCalls } from '../tools/tool-call.ts';
import { ToolList } from '../tools/tool-list.ts';
import { createToolRegistry } from '../tools/tools.ts';
import { Protocol } from './protocol.ts';
import { StatelessProtocol } from './stateless-protocol.ts';
import { offeredVersions } from './versions.ts';

const BROKEN = new Error('broken');

/** A feature with a method that answers, one that refuses, and one that fails. */
const FEATURE: McpFeature = {
  name: 'doors',
  start: () => ({
    isOffered: () => true,
    methods: {
      'doors/open': { type: 'JSONRPCRequest', answer: () => ({ result: { open: true } }) },
      'doors/close': {
        type: 'JSONRPCRequest',
        answer: () => ({ error: { code: 1, message: 'Stuck.' } }),
      },
      'doors/break': {
        type: 'JSONRPCRequest',
        answer() {
          throw BROKEN;
        },
      },
    },
  }),
};

function started() {
  const logged: unknown[] = [];
  const log = { error: (...line: readonly unknown[]) => void logged.push(line) };
  const tools = createToolRegistry();
  tools.register({
    name: () => 'echo',
    description: () => '',
    inputSchema: () => ({ type: 'object' }),
    handle: ({ text }) => text,
  });
  const context = {
    config: mcpConfiguration.parse({ version: '7' }),
    name: 'Shop',
    instructions: { instructions: 'Ask.' },
    meta: { shop: 1 },
    versions: offeredVersions(['2026-07-28', '2025-11-25', '2025-03-26']),
    tools,
    log: log as unknown as Log,
    server: {},
  } as unknown as McpContext;
  const contributions = new Contributions(context, [FEATURE]);
  const parts = [new ToolList(tools, contributions), new ToolCalls(context)] as const;
  const older = new Protocol(context, contributions, ...parts);
  const stateless = new StatelessProtocol(context, contributions, ...parts);
  const caller = (version: string) => ({
    signal: new AbortController().signal,
    notify: () => undefined,
    version,
    room: new ContentRoom(),
  });
  const request = (method: string, params?: object) => ({
    jsonrpc: '2.0' as const,
    id: 'x',
    method,
    ...(params === undefined ? {} : { params: { ...params } }),
  });
  return {
    logged,
    ask: async (method: string, params?: object) => {
      const text = await older.answer(request(method, params), caller('2025-11-25'));
      return JSON.parse(text) as unknown;
    },
    askNew: async (method: string, params?: object) => {
      const metadata = { capabilities: {} };
      const asked = request(method, params);
      const { status, text } = await stateless.answer(asked, caller('2026-07-28'), metadata);
      return [status, JSON.parse(text) as unknown];
    },
  };
}

const TOOL = { name: 'echo', description: '', inputSchema: { type: 'object' } };
const CONTENT = [{ type: 'text', text: 'hi' }];
const logLine = (method: string) => [
  'The MCP request {method} failed: {exception}',
  { method, exception: BROKEN },
];
const error = (code: number, message: string) => ({
  jsonrpc: '2.0',
  id: 'x',
  error: { code, message },
});

describe('a protocol with initialize', () => {
  const result = (value: object) => ({ jsonrpc: '2.0', id: 'x', result: value });
  const wrong = (method: string) => error(-32_602, `The parameters are not those of ${method}.`);

  test('answers each of its methods', async () => {
    const { ask } = started();
    const clientInfo = { name: 'a', version: '1' };
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    expect(await ask('initialize', hello)).toEqual(
      result({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'Shop', version: '7' },
        instructions: 'Ask.',
      }),
    );
    expect(await ask('ping')).toEqual(result({}));
    expect(await ask('tools/list')).toEqual(result({ tools: [TOOL] }));
    expect(await ask('tools/call', { name: 'echo', arguments: { text: 'hi' } })).toEqual(
      result({ content: CONTENT }),
    );
    expect(await ask('doors/open')).toEqual(result({ open: true }));
  });

  test('answers errors', async () => {
    const { ask, logged } = started();
    for (const method of ['initialize', 'tools/call'])
      expect(await ask(method, { a: 1 })).toEqual(wrong(method));
    for (const method of ['ping', 'tools/list'])
      expect(await ask(method, { _meta: 1 })).toEqual(wrong(method));
    expect(await ask('tools/call', { name: 'none' })).toEqual(
      error(-32_602, 'No tool has this name.'),
    );
    expect(await ask('doors/close')).toEqual(error(1, 'Stuck.'));
    expect(await ask('toString')).toEqual(error(-32_601, 'Method not found'));
    expect(logged).toEqual([]);
    expect(await ask('doors/break')).toEqual(error(-32_603, 'Internal error'));
    expect(logged).toEqual([logLine('doors/break')]);
  });
});

describe('the protocol of 2026-07-28', () => {
  const result = (value: object) => [
    200,
    {
      jsonrpc: '2.0',
      id: 'x',
      result: { resultType: 'complete', ...value, _meta: { shop: 1 } },
    },
  ];
  const CACHED = { ttlMs: 300_000, cacheScope: 'private' };

  test('answers each of its methods', async () => {
    const { askNew } = started();
    expect(await askNew('server/discover')).toEqual(
      result({
        supportedVersions: ['2026-07-28', '2025-11-25', '2025-03-26'],
        capabilities: { tools: {} },
        instructions: 'Ask.',
        ...CACHED,
      }),
    );
    expect(await askNew('tools/list')).toEqual(result({ tools: [TOOL], ...CACHED }));
    expect(await askNew('tools/call', { name: 'echo', arguments: { text: 'hi' } })).toEqual(
      result({ content: CONTENT }),
    );
    expect(await askNew('doors/open')).toEqual(result({ open: true }));
  });

  test('answers errors, and an unknown method with the status 404', async () => {
    const { askNew, logged } = started();
    const wrong = (method: string) => error(-32_602, `The parameters are not those of ${method}.`);
    expect(await askNew('tools/call', { a: 1 })).toEqual([200, wrong('tools/call')]);
    expect(await askNew('tools/list', { _meta: 1 })).toEqual([200, wrong('tools/list')]);
    expect(await askNew('tools/call', { name: 'none' })).toEqual([
      200,
      error(-32_602, 'No tool has this name.'),
    ]);
    const sent = { name: 'echo', requestState: 'a', inputResponses: 7 };
    expect(await askNew('tools/call', sent)).toMatchObject([200, { error: { code: -32_602 } }]);
    expect(await askNew('doors/close')).toEqual([200, error(1, 'Stuck.')]);
    for (const method of ['ping', 'toString'])
      expect(await askNew(method)).toEqual([404, error(-32_601, 'Method not found')]);
    expect(logged).toEqual([]);
    expect(await askNew('doors/break')).toEqual([200, error(-32_603, 'Internal error')]);
    expect(logged).toEqual([logLine('doors/break')]);
  });
});
