/**
 * The MCP endpoint: an application's tools behind the bearer tokens of the application's
 * authorization server.
 */
export type { McpServerOptions } from './context.ts';
export { createMcpServer, type McpServer } from './mcp-server.ts';
export { mcp, mcpServerOf, tool } from './plugin.ts';
export {
  createToolRegistry,
  ToolError,
  type RegisteredTool,
  type ScopedToolInterface,
  type ToolCall,
  type ToolInterface,
  type ToolRegistry,
  type UserToolInterface,
} from './tools/tools.ts';
export {
  ask,
  ToolQuestions,
  type ClientQuestion,
  type FormQuestion,
  type InputRequest,
  type PageQuestion,
  type ToolAnswer,
  type ToolQuestion,
} from './tools/tool-questions.ts';
export type { TraceContext } from './tools/trace.ts';
export type { JsonSchema, ToolAnnotations, ToolIcon } from './tools/tool-description.ts';
export { content, ToolContent } from './tools/tool-result.ts';
export {
  mcpConfiguration,
  type McpConfig,
  type McpConfigInput,
  type McpOAuthInput,
  type McpTransportInput,
} from './config.ts';
export type { ProtocolVersion } from './protocol/versions.ts';
export { SERVICE_SCOPE } from './tools/tool-access.ts';
