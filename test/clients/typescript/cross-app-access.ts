import {
  Client,
  CrossAppAccessProvider,
  requestJwtAuthorizationGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { run } from './program.ts';

/**
 * The official SDK, 2.x, for access that an organization's identity provider controls. The variable
 * that the MCP conformance suite uses for this contains its credentials from the organization.
 */
interface Given {
  readonly client_id: string;
  readonly client_secret: string;
  readonly idp_token_endpoint: string;
  readonly idp_client_id: string;
  readonly idp_id_token: string;
}

const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Given;

await run(async ({ resource }) => {
  const authProvider = new CrossAppAccessProvider({
    clientId: given.client_id,
    clientSecret: given.client_secret,
    async assertion({ authorizationServerUrl, resourceUrl, scope, fetchFn }) {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint: given.idp_token_endpoint,
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: given.idp_id_token,
        clientId: given.idp_client_id,
        ...(scope === undefined ? {} : { scope }),
        fetchFn,
      });
      return jwtAuthGrant;
    },
  });
  const transport = new StreamableHTTPClientTransport(resource, { authProvider });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return {
    version: transport.protocolVersion ?? '',
    call: async (tool) => JSON.stringify(await client.callTool({ name: tool, arguments: {} })),
    hour: () => {},
    close: () => client.close(),
  };
});
