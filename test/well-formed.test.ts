// @engines sqlite: responses are encoded without the database
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ask, content, ToolError, type ToolInterface } from '@portico/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import {
  ADA,
  callApi,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';

/**
 * Half of an emoji, as when a text is cut at some length: JSON.stringify writes it as an escape.
 */
const HALF = 'a\ud83d';
const CUT = 'a\uFFFD';

/**
 * JSON as readers in Rust and Python accept it: no half of a surrogate pair in a value or a key.
 */
function read(text: string): Record<string, unknown> {
  const half = /\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g;
  expect(text.match(half)?.filter((found) => found !== '\\\\') ?? []).toEqual([]);
  expect(text.isWellFormed()).toBe(true);
  return JSON.parse(text) as Record<string, unknown>;
}

const SCHEMA = {
  type: 'object',
  description: HALF,
  properties: { [HALF]: { type: 'string', enum: [HALF] } },
} as const;

function toolNamed(name: string, handle: ToolInterface['handle']): ToolInterface {
  return {
    name: () => name,
    description: () => HALF,
    title: () => HALF,
    annotations: () => ({ title: HALF }),
    inputSchema: () => SCHEMA,
    handle,
  };
}

const TOOLS: readonly ToolInterface[] = [
  toolNamed('text', () => HALF),
  toolNamed('object', () => ({ [HALF]: [HALF, '\\ud83d', '😀', 7] })),
  { ...toolNamed('described', () => ({ [HALF]: HALF })), outputSchema: () => SCHEMA },
  toolNamed('content', () => content([{ type: 'text', text: HALF }], { [HALF]: HALF })),
  toolNamed('refusing', () => {
    throw new ToolError(HALF);
  }),
  toolNamed('failing', () => {
    throw new Error(HALF);
  }),
  toolNamed('reporting', async (_, { progress }) => {
    await progress(1, 2, HALF);
    return 'done';
  }),
  toolNamed('asking', (_, call) => {
    const answered = call.answer('name')?.content;
    return answered === undefined
      ? ask({ name: { message: HALF, schema: SCHEMA } }, HALF)
      : answered;
  }),
  toolNamed('given', (args) => args),
];

const STATELESS = '2026-07-28';
const HEADERS = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
};

/** The response to a request, by default one of 2025-11-25, as text. */
async function sent(
  { at, bearer }: { readonly at: RunningAssistant; readonly bearer: string },
  body: string,
  headers: Readonly<Record<string, string>> = { 'MCP-Protocol-Version': '2025-11-25' },
) {
  const all = { ...HEADERS, Authorization: `Bearer ${bearer}`, ...headers };
  const response = await fetch(at.resource, { method: 'POST', headers: all, body });
  return { status: response.status, text: await response.text() };
}

const request = (method: string, params: unknown, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

describe('MCP output is well-formed Unicode:', () => {
  let running: { readonly at: RunningAssistant; readonly bearer: string };
  let streaming: typeof running;
  beforeAll(async () => {
    const mcp = {
      name: HALF,
      instructions: HALF,
      version: HALF,
      protocol_versions: [STATELESS, '2025-11-25', '2025-03-26'],
    };
    const start = async (stream: boolean) => {
      const config = { mcp: { ...mcp, transport: { streaming: stream } } };
      const at = await startAssistant({ tools: TOOLS, config });
      return { at, bearer: await at.serviceToken() };
    };
    running = await start(false);
    streaming = await start(true);
  });
  afterAll(async () => {
    await running.at.close();
    await streaming.at.close();
  });

  const call = async (name: string, args: unknown = {}) => {
    const { text } = await sent(running, request('tools/call', { name, arguments: args }));
    return read(text)['result'] as {
      readonly structuredContent?: unknown;
      readonly content: readonly { readonly text: string }[];
    };
  };
  const stateless = async (method: string, params: object, name = '') => {
    const capabilities = { elicitation: { form: {} } };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': STATELESS,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const headers = { 'MCP-Protocol-Version': STATELESS, 'Mcp-Method': method };
    const named = name === '' ? headers : { ...headers, 'Mcp-Name': name };
    const { text } = await sent(running, request(method, { _meta, ...params }), named);
    return read(text)['result'] as Record<string, unknown>;
  };

  // @shows MCP-8.24
  test('a result, in values, in keys and in the JSON of its text', async () => {
    expect((await call('text')).content[0]?.text).toBe(CUT);
    const { structuredContent, content: blocks } = await call('object');
    expect(structuredContent).toEqual({ [CUT]: [CUT, '\\ud83d', '😀', 7] });
    expect(read(blocks[0]?.text.replace('\\\\ud83d', '') ?? '')).toEqual({
      [CUT]: [CUT, '', '😀', 7],
    });
    expect((await call('content')).structuredContent).toEqual({ [CUT]: CUT });
    expect((await call('described')).structuredContent).toEqual({ [CUT]: CUT });
    expect((await call('refusing')).content[0]?.text).toBe(CUT);
    const listed = await stateless('tools/call', { name: 'object', arguments: {} }, 'object');
    expect(listed['structuredContent']).toEqual(structuredContent);
  });

  // @shows MCP-8.24
  test('the descriptions of tools and server, and arguments are checked against the listed schema', async () => {
    const { text } = await sent(running, request('tools/list', {}));
    const { tools } = read(text)['result'] as { tools: readonly { name: string }[] };
    const schema = {
      type: 'object',
      description: CUT,
      properties: { [CUT]: { type: 'string', enum: [CUT] } },
    };
    expect(tools.find(({ name }) => name === 'text')).toMatchObject({
      title: CUT,
      description: CUT,
      annotations: { title: CUT },
      inputSchema: schema,
    });
    expect((await stateless('tools/list', {}))['_meta']).toEqual({
      'io.modelcontextprotocol/serverInfo': { name: CUT, version: CUT },
    });
    expect(await stateless('server/discover', {})).toMatchObject({ instructions: CUT });
    const clientInfo = { name: 'test', version: '1' };
    const parameters = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const initialized = await sent(running, request('initialize', parameters));
    expect(read(initialized.text)['result']).toMatchObject({
      serverInfo: { name: CUT },
      instructions: CUT,
    });
    const metadata = await fetch(`${running.at.url}/.well-known/oauth-protected-resource/mcp`);
    expect(read(await metadata.text())).toMatchObject({ resource_name: CUT });
    expect((await call('given', { [CUT]: CUT })).structuredContent).toEqual({ [CUT]: CUT });
    expect((await call('given', { [CUT]: 'another' })).content[0]?.text).toContain(
      'do not match the schema',
    );
  });

  // @shows MCP-8.24
  test('the progress and questions of a tool, and the answers match what was sent', async () => {
    const params = { name: 'reporting', arguments: {}, _meta: { progressToken: 7 } };
    const { text } = await sent(streaming, request('tools/call', params));
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => read(data));
    expect(events[0]).toMatchObject({ params: { message: CUT } });
    const asked = await stateless('tools/call', { name: 'asking', arguments: {} }, 'asking');
    const { inputRequests, requestState } = asked as {
      inputRequests: { name: { params: object } };
      requestState: string;
    };
    expect(inputRequests.name.params).toMatchObject({
      message: CUT,
      requestedSchema: { properties: { [CUT]: { enum: [CUT] } } },
    });
    const inputResponses = { name: { action: 'accept', content: { [CUT]: CUT } } };
    const round = { name: 'asking', arguments: {}, requestState, inputResponses };
    expect((await stateless('tools/call', round, 'asking'))['structuredContent']).toEqual({
      [CUT]: CUT,
    });
  });

  // @shows MCP-8.24
  test.each([
    ['arguments', request('tools/call', { name: 'given', arguments: { a: [HALF] } })],
    ['the name of an argument', request('tools/call', { name: 'given', arguments: { [HALF]: 1 } })],
    ['a request ID', request('ping', {}, HALF)],
    ['a method', request(HALF, {})],
    ['a notification', JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { [HALF]: 1 } })],
    ['an escape with capital letters', request('ping', {}, 'x').replace('"x"', '"\\uD83D"')],
    ['a request in a batch', `[${request('ping', {})},${request('ping', {}, HALF)}]`],
  ])('a request body that is not well-formed is refused: %s', async (_, body) => {
    for (const version of ['2025-03-26', STATELESS]) {
      const headers = { 'MCP-Protocol-Version': version, 'Mcp-Method': 'x' };
      const { status, text } = await sent(running, body, headers);
      expect([status, read(text)]).toMatchObject([
        400,
        { error: { code: -32_600, message: 'The body has text that is not well-formed Unicode.' } },
      ]);
    }
    const whole = { name: 'given', arguments: { b: '😀\\ud83d' } };
    const escaped = request('tools/call', whole).replace('😀', '\\ud83d\\ude00');
    const { text } = await sent(running, escaped);
    expect(text).toContain('"structuredContent":{"b":"😀\\\\ud83d"}');
  });

  // @shows MCP-8.24
  test('a log line', async () => {
    expect((await call('failing')).content[0]?.text).toBe('The tool failed.');
    const log = await readFile(
      path.join(running.at.application.storageDirectory, 'app.log'),
      'utf8',
    );
    const lines = log.trim().split('\n').map(read);
    expect(
      lines.some(({ message }) =>
        String(message).includes(`The tool failing failed: Error: ${CUT}`),
      ),
    ).toBe(true);
  });
});

describe('the authorization server', () => {
  let portal: RunningPortal;
  beforeAll(async () => {
    portal = await startPortal({
      config: {
        oauth_server: {
          scopes: { 'team:read': { label: HALF, permission: 'notes.read', claims: ['team'] } },
          claims: () => ({ team: { [HALF]: [HALF] } }),
        },
      },
    });
    await portal.grant(ADA, 'notes.read');
  });
  afterAll(() => portal.close());

  // @shows AS-10.7
  test('sends ID tokens and UserInfo in well-formed Unicode', async () => {
    const client = await registerClient(portal, { scopes: ['openid', 'team:read'] });
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'openid team:read' });
    const [, payload = ''] = tokens.id_token.split('.');
    // An ill-formed claim is left out.
    expect(read(Buffer.from(payload, 'base64url').toString())).not.toHaveProperty('team');
    const userinfo = await callApi(portal, '/oauth/userinfo', tokens.access_token);
    expect(read(await userinfo.text())).not.toHaveProperty('team');
  });
});
