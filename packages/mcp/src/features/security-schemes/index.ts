import type { Challenges } from '../../challenges.ts';
import type { McpConfig } from '../../config.ts';
import type { McpContribution, McpFeature } from '../../feature.ts';
import type { RegisteredTool } from '../../tools/tools.ts';
import { securitySchemesShape } from './config.ts';

/**
 * Adds the security information that ChatGPT expects for each tool (OpenAI, Apps SDK,
 * Authentication).
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
 * Returns the schemes of a tool. They never include `noauth`, because every call needs a token. A
 * public tool accepts every scope of the endpoint, so its schemes list only the first scope.
 */
function getSchemes(tool: RegisteredTool, challenges: Challenges): Schemes {
  const scopes = tool.personal ? challenges.scopesFor(tool) : challenges.listed.slice(0, 1);
  return [{ type: 'oauth2', scopes }];
}

/**
 * Copies the schemes to `_meta` too, because some clients read only this copy. Versions before
 * 2025-06-18 have no `_meta` in tools.
 */
function getMembers(schemes: Schemes, version: string): Readonly<Record<string, unknown>> {
  const copy = version >= '2025-06-18' ? { _meta: { securitySchemes: schemes } } : {};
  return { securitySchemes: schemes, ...copy };
}
