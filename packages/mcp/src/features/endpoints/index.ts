import type { McpConfig } from '../../config.ts';
import type { McpContribution, McpFeature } from '../../feature.ts';
import { endpointsShape, type McpEndpointInput } from './config.ts';

/**
 * Lets an application have several MCP endpoints, each with a separate path, tools and resource.
 */
export const endpoints: McpFeature = {
  name: 'endpoints',
  config: endpointsShape,
  endpoints: (config) =>
    Object.fromEntries(
      Object.entries(config.endpoints ?? {}).map(([path, own]) => [path, withOwn(config, own)]),
    ),
  start: (): McpContribution => ({ isOffered: () => false }),
};

/**
 * Returns the settings of an additional endpoint. Sets `challenge` to false, because only the
 * endpoint's resource decides whether it sends challenges.
 */
function withOwn(
  { oauth, ...config }: McpConfig,
  {
    name = config.name,
    instructions = config.instructions,
    scopes_supported: scopes,
  }: McpEndpointInput,
): McpConfig {
  return {
    ...config,
    name,
    instructions,
    oauth: {
      ...oauth,
      scopes_supported: [...(scopes ?? oauth.scopes_supported)],
      challenge: false,
    },
  };
}
