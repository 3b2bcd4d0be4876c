import type { McpContribution, McpFeature } from '../../feature.ts';

/** The extension's name (MCP, Enterprise-Managed Authorization). */
const EXTENSION = 'io.modelcontextprotocol/enterprise-managed-authorization';

/**
 * Declares the extension for enterprise-managed authorization if the authorization server supports
 * its grant. Clients find the grant itself in the server's metadata.
 */
export const organizationAccess: McpFeature = {
  name: 'organization_access',
  start: ({ server }): McpContribution => ({
    isOffered: () => server.grantTypes.beginningAs('organization').length > 0,
    extensions: { [EXTENSION]: {} },
  }),
};
