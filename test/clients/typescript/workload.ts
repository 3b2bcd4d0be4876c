import {
  Client,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { run } from './program.ts';

/**
 * The official SDK, 2.x, in a program with a token of its platform and no secret (SEP-1933). The
 * variable that the MCP conformance suite uses for this contains the token.
 */
interface Given {
  readonly client_id: string;
  readonly valid_jwt: string;
}

const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Given;

class WorkloadProvider implements OAuthClientProvider {
  readonly redirectUrl = undefined;
  readonly clientMetadata = { redirect_uris: [], token_endpoint_auth_method: 'none' };
  #tokens: OAuthTokens | undefined;

  clientInformation() {
    return { client_id: given.client_id };
  }
  prepareTokenRequest(scope?: string) {
    return new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: given.valid_jwt,
      ...(scope === undefined ? {} : { scope }),
    });
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens) {
    this.#tokens = tokens;
  }
  redirectToAuthorization() {
    throw new Error('A program has no browser');
  }
  saveCodeVerifier() {
    throw new Error('A program has no code');
  }
  codeVerifier(): string {
    throw new Error('A program has no code');
  }
}

await run(async ({ resource }) => {
  const transport = new StreamableHTTPClientTransport(resource, {
    authProvider: new WorkloadProvider(),
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return {
    version: transport.protocolVersion ?? '',
    call: async (tool) => JSON.stringify(await client.callTool({ name: tool, arguments: {} })),
    hour: () => {},
    close: () => client.close(),
  };
});
