// @engines sqlite: the database makes no difference
import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ResourceInterface, ScopedToolInterface, ToolInterface } from '@portico/mcp';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { ADA } from './support/portal.ts';

/** `mcp:security_schemes`: the data that ChatGPT needs about the authorization of tools. */
const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;
const STATELESS = '2026-07-28';

type Json = Readonly<Record<string, unknown>>;

/** The names of the tools and resources that ran. */
const ran: string[] = [];

const open = (name: string): ToolInterface => ({
  name: () => name,
  description: () => `The tool ${name}`,
  inputSchema: () => ({ type: 'object' }),
  handle: () => {
    ran.push(name);
    return name;
  },
});
const scoped = (name: string, scope: string): ScopedToolInterface => ({
  ...open(name),
  personal: true,
  scope: () => scope,
});
const TOOLS: readonly ToolInterface[] = [
  open('open'),
  { ...open('mine'), personal: true } as ToolInterface,
  scoped('orders', 'mcp:orders'),
  scoped('forbidden', 'mcp:never'),
];
const secret = {
  uri: () => 'app://secret',
  name: () => 'secret',
  personal: true,
  read: () => {
    ran.push('secret');
    return 'secret';
  },
} as ResourceInterface;

const SCOPES = { scopes: { 'mcp:orders': 'See your orders', 'mcp:never': 'What Ada may not' } };
const config = (mcp: Json) => ({
  oauth_server: SCOPES,
  mcp: { protocol_versions: VERSIONS, ...mcp },
});

let assistant: RunningAssistant;
let streaming: RunningAssistant;
let without: RunningAssistant;
let service: string;
let linked: string;
let narrow: string;
const events: AuditEvent[] = [];

beforeAll(async () => {
  const on = { security_schemes: true, audit: true, oauth: { challenge: true } };
  assistant = await startAssistant({ tools: TOOLS, resources: [secret], config: config(on) });
  streaming = await startAssistant({
    tools: TOOLS,
    config: config({ ...on, transport: { streaming: true } }),
  });
  without = await startAssistant({ tools: TOOLS, config: config({ oauth: { challenge: true } }) });
  const ada = await assistant.accounts.findByEmail(ADA);
  await assistant.accounts.grant(ada?.id ?? '', 'mcp:orders');
  assistant.application.events.on(AUDIT, (event) => void events.push(event));
  service = await assistant.serviceToken();
  linked = await assistant.linkedToken();
  narrow = await streaming.serviceToken();
});
afterAll(async () => {
  await assistant.close();
  await streaming.close();
  await without.close();
});

interface Sending {
  readonly version?: string;
  readonly bearer?: string | null;
  readonly at?: RunningAssistant;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly id?: unknown;
  readonly result?: Json;
}

async function post(body: unknown, sending: Sending, more: Readonly<Record<string, string>> = {}) {
  const { version = '2025-11-25', bearer = service, at = assistant } = sending;
  const response = await fetch(at.resource, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': version,
      ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
      ...more,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const parsed = (text.startsWith('{') ? JSON.parse(text) : {}) as Pick<Answer, 'id' | 'result'>;
  return { ...parsed, status: response.status, headers: response.headers, text } satisfies Answer;
}

function send(method: string, params: Json, sending: Sending = {}): Promise<Answer> {
  if (sending.version !== STATELESS)
    return post({ jsonrpc: '2.0', id: 7, method, params }, sending);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = params['name'];
  return post({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } }, sending, {
    'Mcp-Method': method,
    ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
  });
}

const call = (name: string, sending: Sending = {}) =>
  send('tools/call', { name, arguments: {} }, sending);

function challengeOf({ result }: Answer): string {
  const meta = result?.['_meta'] as
    { readonly 'mcp/www_authenticate'?: readonly string[] } | undefined;
  return meta?.['mcp/www_authenticate']?.[0] ?? 'no challenge';
}

const metadata = (at: RunningAssistant) =>
  `resource_metadata="${at.url}/.well-known/oauth-protected-resource/mcp"`;

describe('mcp:security_schemes in the list of tools', () => {
  // @shows MCP-17.1
  test.each(VERSIONS)(
    'in %s, gives each tool its schemes, which contain the scopes of a call',
    async (version) => {
      const { result } = await send('tools/list', {}, { version });
      const tools = result?.['tools'] as readonly Json[];
      const schemes = Object.fromEntries(
        tools.map((tool) => [tool['name'], tool['securitySchemes']]),
      );
      expect(schemes).toMatchObject({
        open: [{ type: 'oauth2', scopes: ['mcp:tools'] }],
        mine: [{ type: 'oauth2', scopes: ['mcp:tools'] }],
        orders: [{ type: 'oauth2', scopes: ['mcp:tools', 'mcp:orders'] }],
      });
      for (const tool of tools) {
        const copy = (tool['_meta'] as Json | undefined)?.['securitySchemes'];
        expect(copy).toEqual(version === '2025-03-26' ? undefined : tool['securitySchemes']);
      }
    },
  );

  // @shows MCP-17.3
  test.each(VERSIONS)('in %s, adds nothing if it is off', async (version) => {
    const { text } = await send(
      'tools/list',
      {},
      { version, at: without, bearer: await without.serviceToken() },
    );
    expect(text).not.toContain('securitySchemes');
    expect(text).not.toContain('oauth2');
  });
});

describe('with mcp:security_schemes, a call that the token does not allow', () => {
  // @shows MCP-17.2
  test.each(VERSIONS)(
    'in %s returns a tool error with the challenge, and runs no tool',
    async (version) => {
      ran.length = 0;
      const unlinked = await call('mine', { version });
      expect([unlinked.status, unlinked.id, unlinked.headers.get('www-authenticate')]).toEqual([
        200,
        7,
        null,
      ]);
      expect(unlinked.headers.get('cache-control')).toBe('no-store');
      const told = 'This tool acts for an account: link one first.';
      expect(unlinked.result).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: told }],
      });
      expect(challengeOf(unlinked)).toBe(
        `Bearer error="invalid_token", error_description="${told}", ${metadata(assistant)}, scope="mcp:tools"`,
      );
      const scopeless = await call('orders', { version, bearer: linked });
      expect([scopeless.status, scopeless.result?.['isError']]).toEqual([200, true]);
      expect(challengeOf(scopeless)).toContain(
        'Bearer error="insufficient_scope", error_description="',
      );
      expect(challengeOf(scopeless)).toContain('scope="mcp:tools mcp:orders"');
      expect(scopeless.result?.['resultType']).toBe(version === STATELESS ? 'complete' : undefined);
      const meta = Object.keys(scopeless.result?.['_meta'] as Json);
      expect(meta.includes('io.modelcontextprotocol/serverInfo')).toBe(version === STATELESS);
      expect(ran).toEqual([]);
    },
  );

  // @shows MCP-17.2
  test('gets the same response if responses are streamed', async () => {
    ran.length = 0;
    const refused = await call('mine', { at: streaming, bearer: narrow });
    expect([refused.status, refused.result?.['isError'], ran]).toEqual([200, true, []]);
    expect(challengeOf(refused)).toContain(metadata(streaming));
  });

  // @shows MCP-17.2
  test('is logged in one line with its reason and status, and is no audit event', async () => {
    events.length = 0;
    const { headers } = await call('mine');
    const log = await readFile(
      (assistant.application.config['log'] as { path: string }).path,
      'utf8',
    );
    const line = log
      .split('\n')
      .find((each) => each.includes(headers.get('x-request-id') ?? 'no id'));
    expect(line).toContain(
      'mcp_server_rpc refused: 401 (This tool acts for an account: link one first.)',
    );
    expect(events.filter(({ type }) => type === 'tool_called')).toEqual([]);
  });

  // @shows MCP-17.3
  test('is 401 or 403 if the setting is off', async () => {
    const refused = await call('mine', { at: without, bearer: await without.serviceToken() });
    expect([refused.status, refused.headers.get('www-authenticate'), refused.text]).toEqual([
      401,
      `Bearer error="invalid_token", ${metadata(without)}, scope="mcp:tools"`,
      '{"jsonrpc":"2.0","error":{"code":-32000,"message":"This tool acts for an account: link one first."},"id":null}',
    ]);
  });
});

describe('with mcp:security_schemes, a refusal is still an HTTP error', () => {
  // @shows MCP-17.4
  test.each([null, 'wrong'])(
    'for a call with the token %j: 401 with the challenge',
    async (bearer) => {
      ran.length = 0;
      for (const name of ['open', 'mine', 'orders', 'unknown']) {
        const refused = await call(name, { bearer });
        expect([refused.status, refused.result, ran]).toEqual([401, undefined, []]);
        expect(refused.headers.get('www-authenticate')).toContain(metadata(assistant));
      }
    },
  );

  // @shows MCP-17.4
  test('for a call that no token would allow: 403 without a challenge', async () => {
    ran.length = 0;
    const refused = await call('forbidden', { bearer: linked });
    expect([refused.status, refused.result, ran]).toEqual([403, undefined, []]);
    expect(refused.headers.get('www-authenticate')).toBeNull();
    expect(refused.text).not.toContain('www_authenticate');
  });

  // @shows MCP-17.4
  test('for a batch, which is refused as a whole, and none of its calls runs', async () => {
    ran.length = 0;
    const asking = (name: string, id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: {} },
    });
    const note = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'mine', arguments: {} } };
    for (const batch of [
      [asking('mine', 1)],
      [asking('open', 1), asking('mine', 2)],
      [asking('mine', 1), { jsonrpc: '2.0', method: 'notifications/initialized' }],
      [asking('open', 1), note],
    ]) {
      const refused = await post(batch, { version: '2025-03-26' });
      expect([refused.status, refused.result, ran]).toEqual([401, undefined, []]);
    }
    expect((await post(note, {})).status).toBe(401);
  });

  // @shows MCP-17.4
  test('for reading a resource, because there are no tool errors', async () => {
    ran.length = 0;
    const refused = await send('resources/read', { uri: 'app://secret' });
    expect([refused.status, refused.result, ran]).toEqual([401, undefined, []]);
  });

  test('for a page of a foreign origin', async () => {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'mine', arguments: {} },
    };
    expect((await post(body, {}, { Origin: 'https://evil.example' })).status).toBe(403);
  });
});

// @shows MCP-17.5
test('mcp:security_schemes without mcp:oauth:challenge prevents the start', async () => {
  await expect(startAssistant({ config: { mcp: { security_schemes: true } } })).rejects.toThrow(
    'mcp:security_schemes: needs mcp:oauth:challenge to be true',
  );
});

describe('the official MCP client', () => {
  // @shows MCP-17.1, MCP-17.2
  test('reads the schemes and the challenge, and a call that is allowed works', async () => {
    const client = new Client({ name: 'official', version: '1' });
    const requestInit = { headers: { Authorization: `Bearer ${linked}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(assistant.resource), { requestInit }),
    );
    try {
      const { tools } = await client.listTools();
      const orders = tools.find(({ name }) => name === 'orders');
      expect(orders?._meta?.['securitySchemes']).toEqual([
        { type: 'oauth2', scopes: ['mcp:tools', 'mcp:orders'] },
      ]);
      const refused = await client.callTool({ name: 'orders', arguments: {} });
      expect(refused.isError).toBe(true);
      expect(refused._meta?.['mcp/www_authenticate']).toEqual([
        expect.stringContaining('error="insufficient_scope"'),
      ]);
      const allowed = await client.callTool({ name: 'mine', arguments: {} });
      expect([allowed.isError, allowed.content]).toEqual([
        undefined,
        [{ type: 'text', text: 'mine' }],
      ]);
    } finally {
      await client.close();
    }
  });
});
