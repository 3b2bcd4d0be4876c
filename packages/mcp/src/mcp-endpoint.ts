import type { Endpoint } from 'portico';
import type { McpConfig } from './config.ts';
import type { Named } from './feature.ts';
import type { ToolRegistry } from './tools/tools.ts';

/**
 * The MCP endpoint of an application: its tools behind the bearer tokens of its authorization
 * server.
 */
export interface McpServer {
  /** The canonical resource (RFC 8707), such as `https://app.example/mcp`. */
  readonly resource: string;
  /** The validated section `mcp`, with defaults. */
  readonly config: McpConfig;
  /** The registry that the endpoint serves. */
  readonly tools: ToolRegistry;
  /** The registries of its features, by name. */
  readonly registries: ReadonlyMap<string, object>;
  /** Everything that only some tokens reach, tools and others, with the name for messages. */
  guarded(): readonly Named[];
  /** Mount these by path and method. */
  readonly endpoints: readonly Endpoint[];
}
