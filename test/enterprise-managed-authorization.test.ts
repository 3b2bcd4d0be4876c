// @engines sqlite: clients see no difference between engines
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { ROOT, start } from './support/console.ts';
import { DOCUMENTS_CA_FILE } from './support/document-host.ts';
import { accountOf, JWT_BEARER, SUBJECT } from './support/identity-provider.ts';
import { startClient } from './support/mcp/bare-client.ts';
import { ADA, type TestClient } from './support/portal.ts';
import { startExchangingProvider, type ExchangingProvider } from './support/token-exchange.ts';

/**
 * An organization allows a client of its people to use tools (MCP, Enterprise-Managed
 * Authorization). The client uses the official SDK's CrossAppAccessProvider.
 */
const PROGRAM = [
  process.execPath,
  path.join(ROOT, 'test', 'clients', 'typescript', 'cross-app-access.ts'),
];
const SUITE = path.join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const EXTENSION = 'io.modelcontextprotocol/enterprise-managed-authorization';

let home: string;
let provider: ExchangingProvider;
let assistant: RunningAssistant;
let client: TestClient;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'portico-cross-app-'));
  provider = await startExchangingProvider(() => client.id);
  assistant = await startAssistant({
    config: { oauth_server: { jwt_bearer_grant: true, trusted_issuers: provider.trusted } },
    outbound: provider.host.outbound,
  });
  const registered = { name: 'Assistant', redirectUris: [], scopes: ['mcp:tools'] };
  const created = await assistant.server.clients.create({ ...registered, grants: [JWT_BEARER] });
  client = { id: created.client.id, secret: created.secret ?? '' };
  await assistant.server.organizationAccess?.link(
    { issuer: provider.issuer, subject: SUBJECT },
    await accountOf(assistant, ADA),
  );
});
afterAll(async () => {
  await assistant.close();
  await provider.close();
  await rm(home, { recursive: true });
});

const startSdk = () =>
  startClient(
    {
      name: 'cross-app access',
      command: () => Promise.resolve(PROGRAM),
      env: { ...provider.env(client), NODE_EXTRA_CA_CERTS: DOCUMENTS_CA_FILE },
    },
    [assistant.resource],
    home,
  );

/** The capabilities that the endpoint says to a client of this version. */
async function capabilitiesAt(at: RunningAssistant, protocolVersion: string): Promise<object> {
  const response = await fetch(at.resource, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${await at.serviceToken()}`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    }),
  });
  const { result } = (await response.json()) as { readonly result: { capabilities: object } };
  return result.capabilities;
}

// The suite's scenario starts a separate server. So it tests only the client, which calls our tools
// in the tests below.
test('the client passes the conformance suite: auth/enterprise-managed-authorization', async () => {
  const scenario = 'auth/enterprise-managed-authorization';
  const command = `${PROGRAM.join(' ')} < /dev/null`;
  const options = ['--command', command, '--scenario', scenario, '--output-dir', home];
  const run = start([SUITE, 'client', ...options], { cwd: home });
  const code = await run.ended();
  expect({ code, said: code === 0 ? '' : `${run.stdout()}${run.stderr()}` }).toEqual({
    code: 0,
    said: '',
  });
});

// @shows AS-49.1, AS-49.3, AS-49.10
test('the client calls a personal tool without a consent page', async () => {
  const sdk = await startSdk();
  onTestFinished(() => sdk.close());
  expect(await sdk.next()).toHaveProperty('connected');
  sdk.tell('call my_account');
  expect(await sdk.next()).toEqual({ answer: expect.stringContaining('Ada Lovelace') as string });
  expect(provider.exchanges.at(-1)).toMatchObject({
    audience: assistant.server.issuer,
    resource: assistant.resource,
  });
  const { items } = await assistant.server.access.list({ clientId: client.id });
  expect(items).toMatchObject([{ givenBy: provider.issuer, audience: assistant.resource }]);
});

// @shows AS-49.5, AS-49.6
test('access ended by an operator is not given again for a new assertion of the client', async () => {
  const sdk = await startSdk();
  onTestFinished(() => sdk.close());
  expect(await sdk.next()).toHaveProperty('connected');
  const person = await accountOf(assistant, ADA);
  const { items } = await assistant.server.access.list({ person, clientId: client.id });
  await assistant.server.access.revokeAuthorizations(items.map(({ id }) => id));
  const before = provider.exchanges.length;
  sdk.tell('call my_account');
  expect(await sdk.next()).toHaveProperty('refused');
  expect(provider.exchanges.length).toBeGreaterThan(before);
  await assistant.server.organizationAccess?.allow({ person, clientId: client.id });
  sdk.tell('call my_account');
  expect(await sdk.next()).toEqual({ answer: expect.stringContaining('Ada Lovelace') as string });
});

// @shows AS-49.10
test.each(['2025-11-25', '2025-03-26'])(
  'the MCP endpoint declares the extension to clients of %s',
  async (version) => {
    expect(await capabilitiesAt(assistant, version)).toMatchObject({
      extensions: { [EXTENSION]: {} },
    });
  },
);

// @shows AS-49.9, AS-49.10
test('the MCP endpoint does not declare the extension without the grant', async () => {
  const plain = await startAssistant();
  onTestFinished(() => plain.close());
  expect(await capabilitiesAt(plain, '2025-11-25')).toEqual({ tools: {} });
});

test('the client does not connect if the organization refuses', async () => {
  provider.deny();
  const sdk = await startSdk();
  onTestFinished(() => sdk.close());
  await expect(sdk.next()).rejects.toThrow('access_denied');
});
