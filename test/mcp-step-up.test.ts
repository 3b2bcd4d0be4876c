// @engines sqlite: clients see no difference between engines
import * as client2 from '@modelcontextprotocol/client';
import * as extensions1 from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import * as client1 from '@modelcontextprotocol/sdk/client/index.js';
import * as http1 from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ScopedToolInterface } from '@portico/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { ADA, REDIRECT_URI, signIn } from './support/portal.ts';
import { createVisitor, locationOf, type Visitor } from './support/visitor.ts';

/**
 * The official TypeScript clients of both generations, with the challenges of the MCP endpoint
 * (decision 38).
 */
let assistant: RunningAssistant;
let ada: Visitor;

const personal = (name: string, scope: string): ScopedToolInterface => ({
  name: () => name,
  description: () => `The tool ${name}`,
  inputSchema: () => ({ type: 'object' }),
  handle: () => name,
  personal: true,
  scope: () => scope,
});

beforeAll(async () => {
  assistant = await startAssistant({
    config: {
      oauth_server: { scopes: { 'mcp:orders': 'See your orders', 'mcp:pay': 'Pay for you' } },
      mcp: { oauth: { challenge: true, narrow_service_scope: true } },
    },
    tools: [personal('orders', 'mcp:orders'), personal('pay', 'mcp:pay')],
  });
  const account = await assistant.accounts.findByEmail(ADA);
  for (const each of ['mcp:orders', 'mcp:pay'])
    await assistant.accounts.grant(account?.id ?? '', each);
  ada = createVisitor(assistant.url);
  await signIn(ada, await ada.get('/login'), ADA);
});
afterAll(() => assistant.close());

/** A provider without a browser. It stores the URL to which it would send Ada. */
async function newProvider(grants: readonly ('authorization_code' | 'refresh_token')[]) {
  const { client, secret } = await assistant.server.clients.create({
    name: 'A host',
    redirectUris: [REDIRECT_URI],
    scopes: ['mcp:tools', 'mcp:orders', 'mcp:pay'],
    grants: [...grants],
  });
  const kept: { sent: URL[]; verifier: string; tokens: unknown } = {
    sent: [],
    verifier: '',
    tokens: undefined,
  };
  return {
    asked: () => kept.sent.map((url) => url.searchParams.get('scope')),
    /** Ada allows the last request; returns the code that her browser receives. */
    async allowed(): Promise<string> {
      const consent = await ada.visit(kept.sent.at(-1)?.href ?? '');
      return (
        locationOf(await ada.submit(consent, { decision: 'allow' })).searchParams.get('code') ?? ''
      );
    },
    redirectUrl: REDIRECT_URI,
    clientMetadata: { client_name: 'A host', redirect_uris: [REDIRECT_URI] },
    clientInformation: () => ({ client_id: client.id, client_secret: secret ?? '' }),
    tokens: () => kept.tokens as never,
    saveTokens(tokens: unknown) {
      kept.tokens = tokens;
    },
    redirectToAuthorization(url: URL) {
      kept.sent.push(url);
    },
    saveCodeVerifier(verifier: string) {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier,
  };
}
type Provider = Awaited<ReturnType<typeof newProvider>>;

interface Connected {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

interface Generation {
  readonly name: string;
  /**
   * The grants of the clients. Clients of version 1 respond to a challenge with the refresh token
   * if they have one.
   */
  readonly grants: readonly ('authorization_code' | 'refresh_token')[];
  /** The scopes of its requests, in order. */
  readonly asked: readonly string[];
  readonly connect: (provider: unknown) => Promise<Connected>;
  readonly finish: (provider: Provider, code: string) => Promise<void>;
  /** The provider as the SDK creates it, without scopes. */
  readonly service: (clientId: string, clientSecret: string) => unknown;
}

const GENERATIONS: readonly Generation[] = [
  {
    name: '@modelcontextprotocol/client 2.x',
    grants: ['authorization_code', 'refresh_token'],
    // This version adds the new scope to its scopes.
    asked: ['mcp:tools', 'mcp:tools mcp:orders', 'mcp:tools mcp:orders mcp:pay'],
    async connect(provider) {
      const client = new client2.Client({ name: 'test', version: '1.0.0' });
      const authProvider = provider as client2.OAuthClientProvider;
      await client.connect(
        new client2.StreamableHTTPClientTransport(new URL(assistant.resource), { authProvider }),
      );
      return client;
    },
    async finish(provider, code) {
      const authProvider = provider as unknown as client2.OAuthClientProvider;
      const transport = new client2.StreamableHTTPClientTransport(new URL(assistant.resource), {
        authProvider,
      });
      await transport.finishAuth(new URLSearchParams({ code, iss: assistant.url }));
    },
    service: (clientId, clientSecret) =>
      new client2.ClientCredentialsProvider({
        clientId,
        clientSecret,
        expectedIssuer: assistant.url,
      }),
  },
  {
    name: '@modelcontextprotocol/sdk 1.x',
    grants: ['authorization_code'],
    // This version requests only the scopes in the challenge.
    asked: ['mcp:tools', 'mcp:tools mcp:orders', 'mcp:tools mcp:pay'],
    async connect(provider) {
      const client = new client1.Client({ name: 'test', version: '1.0.0' });
      const authProvider = provider as OAuthClientProvider;
      await client.connect(
        new http1.StreamableHTTPClientTransport(new URL(assistant.resource), { authProvider }),
      );
      return client;
    },
    async finish(provider, code) {
      const authProvider = provider as unknown as OAuthClientProvider;
      await new http1.StreamableHTTPClientTransport(new URL(assistant.resource), {
        authProvider,
      }).finishAuth(code);
    },
    service: (clientId, clientSecret) =>
      new extensions1.ClientCredentialsProvider({
        clientId,
        clientSecret,
        expectedIssuer: assistant.url,
      }),
  },
];

describe.each(GENERATIONS)('$name', ({ grants, asked, connect, finish, service }) => {
  // @shows AS-8.18, MCP-8.20
  test('connects from a bare 401, adds scopes tool by tool, and keeps access to earlier tools', async () => {
    const provider = await newProvider(grants);
    await expect(connect(provider)).rejects.toThrow(/Unauthorized/);
    await finish(provider, await provider.allowed());
    const client = await connect(provider);
    try {
      for (const name of ['orders', 'pay']) {
        await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(/Unauthorized/);
        await finish(provider, await provider.allowed());
        const answer = await client.callTool({ name, arguments: {} });
        expect(answer).toMatchObject({ content: [{ text: name }] });
      }
      for (const name of ['my_account', 'orders', 'pay'])
        await client.callTool({ name, arguments: {} });
    } finally {
      await client.close();
    }
    expect(provider.asked()).toEqual(asked);
  });

  // @shows MCP-10.8
  test('connects as a service without configured scopes, with the scopes of the challenge', async () => {
    const client = await connect(service(assistant.service.id, assistant.service.secret));
    try {
      expect(await client.callTool({ name: 'service_status', arguments: {} })).toMatchObject({
        structuredContent: { status: 'available' },
      });
      await expect(client.callTool({ name: 'orders', arguments: {} })).rejects.toThrow(
        /401|Unauthorized/,
      );
    } finally {
      await client.close();
    }
  });
});
