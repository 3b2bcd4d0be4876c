// @engines sqlite, needs chromium: clients see no difference between engines
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import * as client2 from '@modelcontextprotocol/client';
import * as extensions1 from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import * as auth1 from '@modelcontextprotocol/sdk/client/auth.js';
import * as client1 from '@modelcontextprotocol/sdk/client/index.js';
import * as http1 from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { launchChromium } from './support/chromium.ts';
import { ROOT, start, type ConsoleResult } from './support/console.ts';
import { ADA, PASSWORD } from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/** The official MCP clients, which start from a 401 without a challenge, and the inspector. */
let assistant: RunningAssistant;
/** The redirect URI of the authorization code flow. */
let callback: Server;
let redirectUrl: string;

beforeAll(async () => {
  assistant = await startAssistant();
  const port = await freePort();
  redirectUrl = `http://127.0.0.1:${port}/callback`;
  callback = createServer((_, response) => response.end('You may close this page.'));
  callback.listen(port, '127.0.0.1');
  await once(callback, 'listening');
});
afterAll(async () => {
  callback.closeAllConnections();
  callback.close();
  await assistant.close();
});

const VERSIONS = ['2025-11-25', '2025-03-26'] as const;
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Makes a client request this version instead of its newest one. */
function offering(version: string): Fetch {
  return (url, init) => {
    const body = init?.body;
    if (typeof body !== 'string' || !body.includes('"initialize"')) return fetch(url, init);
    const offered = body.replace(/"protocolVersion":"[^"]*"/, `"protocolVersion":"${version}"`);
    return fetch(url, { ...init, body: offered });
  };
}

/** The common part of both versions of the client. */
interface Connected {
  readonly version: string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

interface Provider {
  readonly authorizationUrl: () => URL | null;
}

/** An in-memory OAuth provider for the client. */
function codeProvider(information: { client_id: string; client_secret: string }) {
  const kept: { url: URL | null; verifier: string; tokens: unknown } = {
    url: null,
    verifier: '',
    tokens: undefined,
  };
  return {
    authorizationUrl: () => kept.url,
    redirectUrl,
    clientMetadata: { client_name: 'Test', redirect_uris: [redirectUrl] },
    clientInformation: () => information,
    tokens: () => kept.tokens as never,
    saveTokens(tokens: unknown) {
      kept.tokens = tokens;
    },
    redirectToAuthorization(url: URL) {
      kept.url = url;
    },
    saveCodeVerifier(verifier: string) {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier,
  } satisfies Provider & Record<string, unknown>;
}

const SERVICE = 'mcp:service';

/**
 * This version of the client always requests the scopes of the resource metadata, which are for
 * people. A service can only set its own scope here.
 */
class ServiceProvider extends client2.ClientCredentialsProvider {
  override prepareTokenRequest(): URLSearchParams {
    return super.prepareTokenRequest(SERVICE);
  }
}

interface Generation {
  readonly name: string;
  connect(provider: unknown, fetchAs: Fetch): Promise<Connected>;
  finish(provider: unknown, code: string, fetchAs: Fetch): Promise<void>;
  credentials(id: string, secret: string): unknown;
  readonly unauthorized: new (...args: never[]) => Error;
}

const GENERATIONS: readonly Generation[] = [
  {
    name: '@modelcontextprotocol/client 2.x',
    async connect(provider, fetchAs) {
      const client = new client2.Client({ name: 'test', version: '1.0.0' });
      const transport = new client2.StreamableHTTPClientTransport(new URL(assistant.resource), {
        authProvider: provider as client2.OAuthClientProvider,
        fetch: fetchAs,
      });
      await client.connect(transport);
      return {
        version: transport.protocolVersion,
        listTools: () => client.listTools(),
        callTool: (call) => client.callTool(call),
        close: () => client.close(),
      };
    },
    async finish(provider, code, fetchAs) {
      const transport = new client2.StreamableHTTPClientTransport(new URL(assistant.resource), {
        authProvider: provider as client2.OAuthClientProvider,
        fetch: fetchAs,
      });
      await transport.finishAuth(new URLSearchParams({ code, iss: assistant.url }));
    },
    credentials: (clientId, clientSecret) =>
      new ServiceProvider({
        clientId,
        clientSecret,
        scope: SERVICE,
        expectedIssuer: assistant.url,
      }),
    unauthorized: client2.UnauthorizedError,
  },
  {
    name: '@modelcontextprotocol/sdk 1.x',
    async connect(provider, fetchAs) {
      const client = new client1.Client({ name: 'test', version: '1.0.0' });
      const transport = new http1.StreamableHTTPClientTransport(new URL(assistant.resource), {
        authProvider: provider as auth1.OAuthClientProvider,
        fetch: fetchAs,
      });
      await client.connect(transport);
      return {
        version: transport.protocolVersion,
        listTools: () => client.listTools(),
        callTool: (call) => client.callTool(call),
        close: () => client.close(),
      };
    },
    async finish(provider, code, fetchAs) {
      const transport = new http1.StreamableHTTPClientTransport(new URL(assistant.resource), {
        authProvider: provider as auth1.OAuthClientProvider,
        fetch: fetchAs,
      });
      await transport.finishAuth(code);
    },
    credentials: (clientId, clientSecret) =>
      new extensions1.ClientCredentialsProvider({
        clientId,
        clientSecret,
        scope: SERVICE,
        expectedIssuer: assistant.url,
      }),
    unauthorized: auth1.UnauthorizedError,
  },
];

const CASES = GENERATIONS.flatMap((generation) =>
  VERSIONS.map((version) => [generation.name, version, generation] as const),
);

/** Signs Ada in at this URL and allows the request; returns the code that her browser receives. */
async function consentInBrowser(url: URL): Promise<string> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(url.href);
    await page.getByLabel('Email address').fill(ADA);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${redirectUrl}?*`);
    return new URL(page.url()).searchParams.get('code') ?? '';
  } finally {
    await browser.close();
  }
}

describe('MCP clients with client credentials, discovered from a bare 401', () => {
  // @shows MCP-1.3
  test.each(CASES)('%s under %s', async (_, version, generation) => {
    const { id, secret } = assistant.service;
    const client = await generation.connect(generation.credentials(id, secret), offering(version));
    try {
      expect(client.version).toBe(version);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['service_status', 'my_account']);
      expect(await client.callTool({ name: 'service_status', arguments: {} })).toMatchObject({
        structuredContent: { status: 'available' },
      });
      await expect(client.callTool({ name: 'my_account', arguments: {} })).rejects.toThrow(
        /401|Unauthorized/,
      );
    } finally {
      await client.close();
    }
  });
});

describe('MCP clients with the authorization code, and a browser that answers consent', () => {
  // @shows MCP-3.5, MCP-10.6
  test.each(CASES)('%s under %s', async (_, version, generation) => {
    const { client, secret } = await assistant.server.clients.create({
      name: 'Linking',
      redirectUris: [redirectUrl],
      scopes: ['mcp:tools'],
    });
    const provider = codeProvider({ client_id: client.id, client_secret: secret ?? '' });
    await expect(generation.connect(provider, offering(version))).rejects.toThrow(
      generation.unauthorized,
    );
    const url = provider.authorizationUrl();
    expect(url?.searchParams.get('resource')).toBe(assistant.resource);
    expect(url?.searchParams.get('code_challenge_method')).toBe('S256');
    const code = await consentInBrowser(url ?? new URL(assistant.url));
    await generation.finish(provider, code, offering(version));
    const connected = await generation.connect(provider, offering(version));
    try {
      expect(connected.version).toBe(version);
      expect(await connected.callTool({ name: 'my_account', arguments: {} })).toMatchObject({
        structuredContent: { name: 'Ada Lovelace', email: ADA },
      });
    } finally {
      await connected.close();
    }
  });
});

describe('@modelcontextprotocol/inspector --cli', () => {
  const INSPECTOR = path.join(ROOT, 'node_modules', '.bin', 'mcp-inspector');

  async function inspect(token: string | null, ...args: readonly string[]): Promise<ConsoleResult> {
    const header = token === null ? [] : ['--header', `Authorization: Bearer ${token}`];
    const run = start(
      [
        INSPECTOR,
        '--cli',
        '--transport',
        'http',
        '--server-url',
        assistant.resource,
        ...header,
        ...args,
      ],
      {
        cwd: assistant.application.storageDirectory,
        env: { HOME: assistant.application.storageDirectory },
      },
    );
    return { code: await run.ended(), stdout: run.stdout(), stderr: run.stderr() };
  }

  test('calls tools/list and tools/call with a token', async () => {
    const token = await assistant.serviceToken();
    const list = await inspect(token, '--method', 'tools/list');
    expect(list.code, list.stderr).toBe(0);
    expect(list.stdout).toContain('"service_status"');
    const call = await inspect(token, '--method', 'tools/call', '--tool-name', 'service_status');
    expect(call.code, call.stderr).toBe(0);
    expect(call.stdout).toContain('"available"');
  });

  test('reports that it is not authorized without a token', async () => {
    const { code, stdout, stderr } = await inspect(null, '--method', 'tools/list');
    expect(code).not.toBe(0);
    expect(stderr).toContain('auth_required');
    expect(stdout).not.toContain('service_status');
  });
});
