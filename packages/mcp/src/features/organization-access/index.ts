import type { McpContribution, McpFeature } from '../../feature.ts';

/** The name of the extension (MCP, Enterprise-Managed Authorization). */
const EXTENSION = 'io.modelcontextprotocol/enterprise-managed-authorization';

/**
 * Announces the extension for enterprise-managed authorization if the authorization server supports
 * the extension's grant. Clients find the grant itself in the authorization server's metadata.
 */
export const organizationAccess: McpFeature = {
  name: 'organization_access',
  start: ({ server }): McpContribution => ({
    isOffered: () => server.grantTypes.beginningAs('organization').length > 0,
    extensions: { [EXTENSION]: {} },
  }),
};
