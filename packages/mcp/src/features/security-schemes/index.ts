import type { Challenges } from '../../challenges.ts';
import type { McpConfig } from '../../config.ts';
import type { McpContribution, McpFeature } from '../../feature.ts';
import type { RegisteredTool } from '../../tools/tools.ts';
import { securitySchemesShape } from './config.ts';

/**
 * The feature that adds the security information that ChatGPT expects for each tool (OpenAI, Apps
 * SDK, Authentication).
 */
export const securitySchemes: McpFeature = {
  name: 'security_schemes',
  config: securitySchemesShape,
  problems: ({ security_schemes: isOn }: McpConfig, challenges) =>
    isOn === true && !challenges
      ? [{ key: 'mcp:security_schemes', message: 'needs mcp:oauth:challenge to be true' }]
      : [],
  start: ({ config, challenges }): McpContribution => ({
    isOffered: () => config.security_schemes === true && config.oauth.challenge,
    toolMembers: (tool, version) => getMembers(getSchemes(tool, challenges), version),
    refusedCallMeta: (challenge) => ({ 'mcp/www_authenticate': [challenge] }),
  }),
};

type Schemes = readonly Readonly<Record<string, unknown>>[];

/**
 * Returns the security schemes of a tool. They never include `noauth`, because every call needs a
 * token. A public tool accepts any scope of the endpoint, so its schemes list only the first one.
 */
function getSchemes(tool: RegisteredTool, challenges: Challenges): Schemes {
  const scopes = tool.personal ? challenges.scopesFor(tool) : challenges.listed.slice(0, 1);
  return [{ type: 'oauth2', scopes }];
}

/**
 * Returns the members with the schemes for a tool's entry in `tools/list`. Also copies the schemes
 * to `_meta`, because some clients read only this copy. Tools have no `_meta` in versions before
 * 2025-06-18.
 */
function getMembers(schemes: Schemes, version: string): Readonly<Record<string, unknown>> {
  const copy = version >= '2025-06-18' ? { _meta: { securitySchemes: schemes } } : {};
  return { securitySchemes: schemes, ...copy };
}
