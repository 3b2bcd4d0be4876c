/** The MCP endpoint: an application's tools behind the bearer tokens of its own authorization server. */
export { createMcpServer, type McpServer, type McpServerOptions } from './mcp-server.ts';
export { mcp, mcpServerOf, tool } from './plugin.ts';
export {
  createToolRegistry,
  ToolError,
  type JsonSchema,
  type RegisteredTool,
  type ScopedToolInterface,
  type ToolCall,
  type ToolInterface,
  type ToolRegistry,
  type UserToolInterface,
} from './tools.ts';
export { content, ToolContent } from './tool-result.ts';
export {
  mcpConfiguration,
  type McpConfig,
  type McpConfigInput,
  type McpOAuthInput,
  type McpTransportInput,
} from './config.ts';
