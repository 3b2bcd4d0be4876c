// @engines sqlite: the database makes no difference
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  createMcpServer,
  createToolRegistry,
  mcpServerOf,
  resource,
  tool,
  type ToolInterface,
} from '@portico/mcp';
import { basic, startAssistant, type RunningAssistant } from './support/assistant.ts';
import { ADA, REDIRECT_URI, VERIFIER, codeRequest, signIn } from './support/portal.ts';
import { createVisitor, locationOf } from './support/visitor.ts';

/** `mcp:endpoints`: several MCP endpoints in one application (decision 70). */
let assistant: RunningAssistant;
let second: string;

const named = (name: string): ToolInterface => ({
  name: () => name,
  description: () => `The tool ${name}`,
  inputSchema: () => ({ type: 'object' }),
  handle: () => `${name} was here`,
});

const MCP_SCOPES = ['mcp:tools', 'mcp:service'];
const start = (mcp: object = {}, resources: (url: string) => object | null = () => null) =>
  startAssistant({
    config: (url) => ({
      oauth_server: {
        resources: resources(url) ?? {
          [`${url}/mcp`]: { scopes: MCP_SCOPES },
          [`${url}/assistants/mcp`]: { scopes: MCP_SCOPES, challenge: true },
        },
      },
      mcp: { endpoints: { '/assistants/mcp': { name: 'Kitchen for assistants' } }, ...mcp },
    }),
    register() {
      tool('/assistants/mcp').register(named('second_only'));
      resource('/assistants/mcp').register({
        uri: () => 'kitchen://menu',
        name: () => 'Menu',
        read: () => 'Soup',
      });
    },
  });

beforeAll(async () => {
  assistant = await start();
  second = `${assistant.url}/assistants/mcp`;
});
afterAll(() => assistant.close());

async function tokenFor(at: string, to = assistant): Promise<string> {
  const visitor = createVisitor(to.url);
  const query = codeRequest(to.linking.id, { scope: 'mcp:tools', resource: at });
  const page = await visitor.visit(`${to.url}/oauth/authorize?${query}`);
  const consent = await visitor.get(locationOf(await signIn(visitor, page, ADA)).href);
  const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
  const response = await fetch(`${to.url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: basic(to.linking) },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: answer.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    }),
  });
  return ((await response.json()) as { readonly access_token: string }).access_token;
}

const ask = (at: string, accessToken: string | null, method: string, params: object = {}) =>
  fetch(at, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(accessToken === null ? {} : { authorization: `Bearer ${accessToken}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

const toolsAt = async (at: string, accessToken: string) => {
  const response = await ask(at, accessToken, 'tools/list');
  const { result } = (await response.json()) as { result: { tools: readonly { name: string }[] } };
  return result.tools.map(({ name }) => name).toSorted();
};

describe('a server with two MCP endpoints', () => {
  // @shows MCP-18.1
  test('has separate tools and resources for each', async () => {
    const [first, other] = [await tokenFor(assistant.resource), await tokenFor(second)];
    expect(await toolsAt(assistant.resource, first)).toEqual(['my_account', 'service_status']);
    expect(await toolsAt(second, other)).toEqual(['second_only']);
    const called = await ask(second, other, 'tools/call', { name: 'second_only', arguments: {} });
    expect(await called.text()).toContain('second_only was here');
    const read = await ask(second, other, 'resources/read', { uri: 'kitchen://menu' });
    expect(await read.text()).toContain('Soup');
    expect(
      await (
        await ask(assistant.resource, first, 'resources/read', { uri: 'kitchen://menu' })
      ).text(),
    ).toContain('error');
  });

  // @shows MCP-18.2
  test('accepts at each endpoint only tokens for this endpoint, also of a service', async () => {
    for (const [at, other] of [
      [assistant.resource, second],
      [second, assistant.resource],
    ] as const) {
      const response = await fetch(`${assistant.url}/oauth/token`, {
        method: 'POST',
        headers: { Authorization: basic(assistant.service) },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          scope: 'mcp:service',
          resource: at,
        }),
      });
      const { access_token: service } = (await response.json()) as {
        readonly access_token: string;
      };
      for (const accessToken of [await tokenFor(at), service]) {
        expect((await ask(at, accessToken, 'ping')).status).toBe(200);
        expect((await ask(other, accessToken, 'ping')).status).toBe(401);
      }
    }
  });

  // @shows MCP-18.3
  test('can send challenges at one endpoint only, for POST and GET', async () => {
    for (const method of ['POST', 'GET']) {
      const bare = await fetch(assistant.resource, { method });
      expect([method, bare.status, bare.headers.get('www-authenticate')]).toEqual([
        method,
        method === 'GET' ? 405 : 401,
        null,
      ]);
      const challenged = await fetch(second, { method });
      expect(challenged.status).toBe(401);
      expect(challenged.headers.get('www-authenticate')).toContain(
        `resource_metadata="${assistant.url}/.well-known/oauth-protected-resource/assistants/mcp"`,
      );
    }
  });

  // @shows MCP-18.1
  test('has separate metadata for each; the address without a path is that of /mcp', async () => {
    const documentAt = async (path: string) =>
      (await (
        await fetch(`${assistant.url}/.well-known/oauth-protected-resource${path}`)
      ).json()) as object;
    expect(await documentAt('/assistants/mcp')).toMatchObject({
      resource: second,
      resource_name: 'Kitchen for assistants',
      scopes_supported: ['mcp:tools'],
    });
    expect(await documentAt('/mcp')).toMatchObject({
      resource: assistant.resource,
      resource_name: 'Kitchen',
    });
    expect(await documentAt('')).toMatchObject({ resource: assistant.resource });
    expect(mcpServerOf(assistant.application, '/assistants/mcp').resource).toBe(second);
    expect(() => mcpServerOf(assistant.application, '/other')).toThrow('add it to mcp:endpoints');
  });

  // @shows MCP-18.2
  test('does not accept a trailing slash or capital letters in a path', async () => {
    const accessToken = await tokenFor(second);
    for (const at of [`${second}/`, `${assistant.url}/Assistants/mcp`])
      expect((await ask(at, accessToken, 'ping')).status).toBe(404);
    // A page must be able to read this response, so its browser gets an answer to the preflight.
    const preflight = await fetch(`${second}/`, {
      method: 'OPTIONS',
      headers: { Origin: assistant.url, 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.status).toBe(204);
  });
});

describe('a configuration error of MCP endpoints prevents the start', () => {
  const refusalOf = (mcp: object, resources?: (url: string) => object) =>
    start(mcp, resources).then(
      async (started) => {
        await started.close();
        return 'it started';
      },
      (error: unknown) => String(error),
    );

  // @shows MCP-18.4
  test.each([
    [{ '/assistants/mcp': {}, '/other': {} }, 'does not contain'],
    [{ '/mcp': {} }, 'is the built-in endpoint'],
    [{ 'assistants/mcp': {} }, 'must be a path'],
    [{ '/assistants/mcp/': {} }, 'must be a path'],
    [{ '/assistants/../mcp': {} }, 'must be a path'],
    [{ '/assistants/%6dcp': {} }, 'must be a path'],
    [{ '/assistants/mcp': { scopes_supported: ['email'] } }, 'it started'],
    [{ '/assistants/mcp': { scopes_supported: ['other'] } }, 'contains other'],
    [{}, 'no MCP endpoint has this path. The endpoints are /mcp'],
  ])('endpoints %j: %s', async (endpoints, message) => {
    expect(await refusalOf({ endpoints })).toContain(message);
  });

  // @shows MCP-18.4
  test('if the resource of an endpoint is missing', async () => {
    const elsewhere = () => ({ 'https://elsewhere.example/': { scopes: MCP_SCOPES } });
    expect(await refusalOf({}, elsewhere)).toContain('oauth_server:resources');
  });

  // @shows MCP-18.4
  test.each([
    [['/a-b', '/a_b'], 'mcp:endpoints:/a_b: differs from /a-b only in punctuation'],
    [['/oauth/token'], 'is already the path of the endpoint oauth_server_token'],
  ])('with the paths %j', async (paths, message) => {
    const endpoints = Object.fromEntries(['/assistants/mcp', ...paths].map((path) => [path, {}]));
    const resourcesAt = (url: string) =>
      Object.fromEntries(
        ['/mcp', ...Object.keys(endpoints)].map((path) => [
          `${url}${path}`,
          { scopes: MCP_SCOPES },
        ]),
      );
    expect(await refusalOf({ endpoints }, resourcesAt)).toContain(message);
  });

  // @shows MCP-18.4
  test.each([[null], ['https://shop.example/api']])(
    'also in code that creates an endpoint on a server whose tokens are for %j',
    (audience) => {
      const { server, application } = assistant;
      const { config } = mcpServerOf(application);
      const other = { ...server, audience, resources: [] };
      const options = { server: other, config, tools: createToolRegistry(), log: application.log };
      expect(() => createMcpServer(options)).toThrow(
        `oauth_server:audience: must be the MCP resource: ${assistant.resource}`,
      );
    },
  );

  // @shows MCP-18.4
  test('also in code that creates an endpoint twice', () => {
    const { server, application } = assistant;
    const { config } = mcpServerOf(application);
    const options = { server, config, tools: createToolRegistry(), log: application.log };
    expect(() => createMcpServer(options)).toThrow(
      'mcp:endpoints:/mcp: is already the path of an MCP endpoint on this server; choose ' +
        'another path',
    );
  });
});

// @shows MCP-18.5
test('mcp:calls_per_minute counts the calls of a person at all endpoints together', async () => {
  const limited = await start({ calls_per_minute: 3 });
  onTestFinished(() => limited.close());
  const at = `${limited.url}/assistants/mcp`;
  const [first, other] = [await tokenFor(limited.resource, limited), await tokenFor(at, limited)];
  const statuses = [];
  for (const [to, accessToken] of [
    [limited.resource, first],
    [at, other],
    [at, other],
    [limited.resource, first],
    [at, other],
  ] as const)
    statuses.push((await ask(to, accessToken, 'ping')).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
});

// @shows MCP-17.5
test('mcp:security_schemes applies only to endpoints with challenges, and requires one', async () => {
  const marked = await start({ security_schemes: true });
  onTestFinished(() => marked.close());
  const listed = async (at: string) =>
    (await ask(at, await tokenFor(at, marked), 'tools/list')).text();
  expect(await listed(`${marked.url}/assistants/mcp`)).toContain('securitySchemes');
  expect(await listed(marked.resource)).not.toContain('securitySchemes');
  const silent = (url: string) => ({
    [`${url}/mcp`]: { scopes: MCP_SCOPES },
    [`${url}/assistants/mcp`]: { scopes: MCP_SCOPES },
  });
  await expect(start({ security_schemes: true }, silent)).rejects.toThrow(
    'mcp:security_schemes: needs mcp:oauth:challenge to be true',
  );
});
