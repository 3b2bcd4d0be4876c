import type { McpConfig } from '../../config.ts';
import type { McpContribution, McpFeature } from '../../feature.ts';
import { endpointsShape, type McpEndpointInput } from './config.ts';

/**
 * Lets one application have several MCP endpoints. Each endpoint has a separate path, tools and
 * resource.
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
 * Returns the settings of an additional endpoint. `challenge` is false here, because the settings
 * of the endpoint's resource decide whether the endpoint sends challenges.
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
