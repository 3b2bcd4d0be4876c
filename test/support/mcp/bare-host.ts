import { createServer } from 'node:http';
import { once } from 'node:events';
import { tool, type ScopedToolInterface } from '@portico/mcp';
import { token, type ConfigMap } from 'portico';
import { MyAccount } from '../../../examples/assistant/tools/my-account.ts';
import { startAssistant, type AssistantOptions, type RunningAssistant } from '../assistant.ts';
import { startDocumentHost } from '../document-host.ts';
import { createClock } from '../clock.ts';
import { ADA } from '../portal.ts';

/** A tool with a scope that the client does not request at first. */
class MyOrders implements ScopedToolInterface {
  readonly personal = true;
  name() {
    return 'my_orders';
  }
  description() {
    return 'Lists what the person has ordered.';
  }
  scope() {
    return 'orders:read';
  }
  inputSchema() {
    return { type: 'object', properties: {}, additionalProperties: false };
  }
  handle() {
    return { orders: ['soup'], of: token().user()?.getProfile().name ?? null };
  }
}

/** The settings that docs/connecting-assistants.md recommends. */
const SWITCHES = {
  oauth_server: {
    scopes: { 'orders:read': 'See your orders' },
    client_id_metadata_documents: true,
    registration: 'open',
    refresh_retry_seconds: 30,
  },
  mcp: {
    oauth: { challenge: true },
    protocol_versions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
  },
};

/** The path of the endpoint that sends challenges. The endpoint at `/mcp` does not. */
export const CHALLENGING = '/assistants/mcp';

/**
 * The settings that docs/connecting-assistants.md recommends if a voice assistant, and hosts that
 * insist on a secret, are used together with other hosts.
 */
const severalEndpoints = (url: string): ConfigMap => {
  const scopes = ['mcp:tools', 'orders:read', 'mcp:service'];
  return {
    oauth_server: {
      ...SWITCHES.oauth_server,
      registration_secret_ttl: 'never_expires',
      resources: {
        [`${url}/mcp`]: { scopes, label: 'Kitchen' },
        [`${url}${CHALLENGING}`]: { scopes, label: 'Kitchen', challenge: true },
      },
    },
    mcp: { protocol_versions: SWITCHES.mcp.protocol_versions, endpoints: { [CHALLENGING]: {} } },
  };
};

export interface BareHost {
  readonly assistant: RunningAssistant;
  /** Moves the server's clock by an hour. */
  hour(): void;
  /**
   * Publishes a metadata document with these redirect URIs, and returns its URL. As in Claude
   * Code's own document, there is no application_type.
   */
  document(name: string, redirectUris: readonly string[]): string;
  /** Lets the operator end all clients that registered themselves. */
  endRegistrations(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the example of an assistant, with all settings for clients that know only its address. */
export function startBareHost(): Promise<BareHost> {
  return start({ config: SWITCHES });
}

/** Starts the same example with two endpoints. One of them sends challenges. */
export function startTwoEndpoints(): Promise<BareHost> {
  const register = () => {
    for (const each of [new MyAccount(), new MyOrders()]) tool(CHALLENGING).register(each);
  };
  return start({ config: severalEndpoints, register });
}

async function start(options: Pick<AssistantOptions, 'config' | 'register'>): Promise<BareHost> {
  const clock = createClock();
  const documents = await startDocumentHost();
  const assistant = await startAssistant({
    ...options,
    tools: [new MyOrders()],
    clock: clock.now,
    outbound: documents.outbound,
  });
  const ada = await assistant.accounts.findByEmail(ADA);
  if (ada !== null) await assistant.accounts.grant(ada.id, 'orders:read');
  return {
    assistant,
    hour: () => clock.advance(3601),
    document: (name, redirectUris) =>
      documents.publish(`/${encodeURIComponent(name)}/client.json`, {
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
    async endRegistrations() {
      const { clients } = assistant.server;
      const living = (await clients.list()).filter(({ revokedAt }) => revokedAt === null);
      for (const { id, registeredBy } of living)
        if (registeredBy === 'registration') await clients.revoke(id);
    },
    async close() {
      await documents.close();
      await assistant.close();
    },
  };
}

/**
 * Starts a server at the address to which the browser returns, for clients that do not listen
 * there.
 */
export async function startCallback(port: number): Promise<{ close(): Promise<void> }> {
  const server = createServer((_, response) => response.end('You may close this page.'));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
