// @engines sqlite: the database makes no difference
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { examineAssistant, type DirectoryName } from '@portico/assistant';
import type { ToolInterface } from '@portico/mcp';
import { describe, expect, test } from 'vitest';
import {
  startAssistant,
  type AssistantOptions,
  type RunningAssistant,
} from './support/assistant.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { REDIRECT_URI } from './support/portal.ts';

const HOST = path.join(ROOT, 'examples', 'assistant');

type Prepare = (assistant: RunningAssistant) => Promise<unknown>;

/** Starts the example, changes it, and returns the whole report as lines. */
async function examined(
  options: AssistantOptions = {},
  prepare: Prepare = async () => {},
  directories: readonly DirectoryName[] = [],
): Promise<readonly string[]> {
  const assistant = await startAssistant(options);
  try {
    await prepare(assistant);
    const { checks } = await examineAssistant(assistant.application, {
      serverOnly: false,
      directories,
    });
    return checks.map(({ outcome, part, detail }) =>
      `${outcome} ${part}: ${detail}`
        .replaceAll(assistant.url, 'URL')
        .replaceAll(assistant.service.id, 'SERVICE')
        .replaceAll(assistant.linking.id, 'LINKING'),
    );
  } finally {
    await assistant.close();
  }
}

const about = (lines: readonly string[], part: string) =>
  lines.filter((line) => line.split(':')[0]?.endsWith(` ${part}`));

/** A tool that needs no account, with all annotations that directories require. */
const tool = (name: string, more: object = {}): ToolInterface => ({
  name: () => name,
  title: () => name,
  description: () => `The tool ${name}`,
  inputSchema: () => ({ type: 'object' }),
  annotations: () => ({ readOnlyHint: true, destructiveHint: false, openWorldHint: false }),
  handle: () => name,
  ...more,
});

describe('assistant:doctor', () => {
  // @shows MCP-9.2, MCP-9.3
  test('reports each check of a complete assistant', async () => {
    expect(await examined()).toEqual([
      'ok configuration: the URL of the MCP endpoint is URL/mcp; it sends responses as JSON',
      'ok csrf_exempt_routes: the route mcp_server_rpc is exempt from the CSRF check',
      `ok account linking: callback URIs: ${REDIRECT_URI}`,
      'ok OAuth tables: all migrations are applied',
      'ok discovery: /.well-known/oauth-protected-resource/mcp returns the correct resource and ' +
        'authorization server',
      'ok discovery: /.well-known/oauth-protected-resource returns the correct resource and ' +
        'authorization server',
      'ok discovery: the metadata at /.well-known/oauth-authorization-server contains everything ' +
        'that assistants need',
      'ok authentication: a request without a token gets 401 without a WWW-Authenticate header',
      'ok service client: SERVICE matches the configuration; its grants: client_credentials',
      'ok account-linking client: LINKING matches the configuration; its grants: ' +
        'authorization_code, refresh_token',
      'ok tool scopes: tools: 1 public (mcp:service), 1 personal',
      'ok listing: is complete',
    ]);
  });

  // @shows MCP-9.3
  test('checks the clients only if the tables exist', async () => {
    const storage = await mkdtemp(path.join(tmpdir(), 'portico-assistant-doctor-'));
    try {
      const env = { STORAGE_DIR: storage };
      const { stdout } = await porticoHere(['assistant:doctor', '--json'], { cwd: HOST, env });
      const { checks } = JSON.parse(stdout) as { checks: readonly { part: string }[] };
      expect(checks.filter(({ part }) => part.includes('client'))).toEqual([
        {
          part: 'clients',
          outcome: 'skipped',
          detail: 'not checked: database migrations are missing. See the finding "OAuth tables"',
          remedy: null,
        },
      ]);
    } finally {
      await rm(storage, { recursive: true, force: true });
    }
  });

  test('sends the request of an assistant to check that it needs a token', async () => {
    const assistant = await startAssistant();
    try {
      const { application } = assistant;
      const sent: Request[] = [];
      const fetchSeen: typeof application.fetch = (request, ...more) => {
        if (request.method === 'POST') sent.push(request.clone());
        return application.fetch(request, ...more);
      };
      await examineAssistant({ ...application, fetch: fetchSeen }, { serverOnly: true });
      const [request] = sent;
      expect([sent.length, request?.url]).toEqual([1, assistant.resource]);
      expect(Object.fromEntries(request?.headers ?? [])).toEqual({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      });
      expect(await request?.json()).toEqual({ jsonrpc: '2.0', id: 1, method: 'ping' });
    } finally {
      await assistant.close();
    }
  });

  // @shows MCP-3.20
  test('fails for a refusal by another part of the application, even with challenges', async () => {
    const config = {
      mcp: { oauth: { challenge: true } },
      csrf_exempt_routes: { mcp_server_rpc: false },
    };
    expect(about(await examined({ config }), 'authentication')).toEqual([
      'failing authentication: a request without a token gets 403 instead of a plain 401',
    ]);
  });

  // @shows MCP-9.5
  test('fails for a second service client, even without account linking', async () => {
    const config = { assistant: { account_linking: false } };
    const twice: Prepare = ({ server, linking }) =>
      Promise.all([
        server.clients.revoke(linking.id),
        server.clients.create({
          name: 'Again',
          grants: ['client_credentials'],
          scopes: ['mcp:service'],
        }),
      ]);
    expect(about(await examined({ config }, twice), 'service client')).toEqual([
      'ok service client: SERVICE matches the configuration; its grants: client_credentials',
      expect.stringMatching(
        /^failing service client: .* \(Again\) .*\. Another client has the same role, but only/,
      ),
    ]);
  });

  // @shows MCP-9.3
  test('fails if the application has no tool', async () => {
    expect(about(await examined({ onlyTools: true }), 'tool scopes')).toEqual([
      'failing tool scopes: no tool is registered',
    ]);
  });

  // @shows MCP-9.3
  test('does not demand account linking for tools that need no account', async () => {
    const config = { assistant: { account_linking: false } };
    const options = { config, onlyTools: true, tools: [tool('one'), tool('two')] };
    expect(about(await examined(options), 'tool scopes')).toEqual([
      'ok tool scopes: tools: 2 public (mcp:service), 0 personal',
    ]);
  });

  // @shows MCP-3.4, MCP-9.3
  test('names each personal tool whose scope the linking client lacks', async () => {
    const ordering = (name: string) => tool(name, { personal: true, scope: () => 'kitchen:order' });
    const config = { oauth_server: { scopes: { 'kitchen:order': 'Order for you' } } };
    const tools = [ordering('order'), ordering('cancel'), tool('unscoped', { personal: true })];
    expect(about(await examined({ config, tools }), 'tool scopes')).toEqual([
      'failing tool scopes: order needs kitchen:order, cancel needs kitchen:order',
    ]);
  });

  // @shows MCP-17.6
  test('reports that a directory would refuse no tool', async () => {
    const options = { onlyTools: true, tools: [tool('one'), tool('two')] };
    const lines = await examined(options, undefined, ['claude', 'chatgpt']);
    expect(lines.filter((line) => line.includes(' directory '))).toEqual([
      "ok directory claude: all tools pass Portico's checks for Claude's directory",
      "ok directory chatgpt: all tools pass Portico's checks for ChatGPT's directory",
    ]);
  });

  test('prints an error in the application instead of a report', async () => {
    const app = path.join(ROOT, 'test', 'fixtures', 'failing-assistant', 'app.ts');
    const printed = await porticoHere(['--app', app, 'assistant:doctor'], { cwd: HOST });
    expect(printed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('the oven has no door') as string,
    });
  });
});
