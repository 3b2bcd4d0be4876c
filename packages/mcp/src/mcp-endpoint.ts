import type { Endpoint } from 'portico';
import type { McpConfig } from './config.ts';
import type { Named } from './feature.ts';
import type { ToolRegistry } from './tools/tools.ts';

/**
 * An application's MCP endpoint. It serves the tools to clients with an access token from the
 * application's authorization server.
 */
export interface McpServer {
  /** The canonical resource (RFC 8707), such as `https://app.example/mcp`. */
  readonly resource: string;
  /** The endpoint's path, below the issuer, such as `/mcp`. */
  readonly path: string;
  /** The validated section `mcp`, with defaults. */
  readonly config: McpConfig;
  /** The registry of the tools that the endpoint serves. */
  readonly tools: ToolRegistry;
  /** The features' registries, by name. */
  readonly registries: ReadonlyMap<string, object>;
  /**
   * Returns all tools and resources that only some tokens can use, each with a name for messages.
   */
  guarded(): readonly Named[];
  /** The endpoints to mount, each with its path and method. */
  readonly endpoints: readonly Endpoint[];
}
