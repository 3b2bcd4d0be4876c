import type { Endpoint } from 'portico';
import type { McpConfig } from './config.ts';
import type { Named } from './feature.ts';
import type { ToolRegistry } from './tools/tools.ts';

/**
 * An MCP endpoint of an application. It serves tools to clients that have an access token from the
 * application's authorization server.
 */
export interface McpServer {
  /** The canonical resource (RFC 8707), such as `https://app.example/mcp`. */
  readonly resource: string;
  /** The path of the endpoint, below the issuer, such as `/mcp`. */
  readonly path: string;
  /** The validated section `mcp`, including default values. */
  readonly config: McpConfig;
  /** The registry of the endpoint's tools. */
  readonly tools: ToolRegistry;
  /** The registries of the endpoint's features, by feature name. */
  readonly registries: ReadonlyMap<string, object>;
  /** Returns who may use each tool and resource of the endpoint, with a name for messages. */
  guarded(): readonly Named[];
  /** The HTTP endpoints to mount, each with its path and its methods. */
  readonly endpoints: readonly Endpoint[];
}
