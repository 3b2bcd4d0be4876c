/**
 * Adds an MCP endpoint that serves an application's tools. Clients need an access token from the
 * application's authorization server.
 */
export type { McpServerOptions } from './context.ts';
export type { McpServer } from './mcp-endpoint.ts';
export { createMcpServer } from './mcp-server.ts';
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
export { resource, resourcesOf } from './features/resources/index.ts';
export type {
  RegisteredResource,
  ResourceInterface,
  ResourceRead,
  ResourceRegistry,
  ScopedResourceInterface,
  UserResourceInterface,
} from './features/resources/resources.ts';
export type { Guarded } from './tools/tool-access.ts';
export type { Named } from './feature.ts';
export type { TraceContext } from './tools/trace.ts';
export type { JsonSchema, ToolAnnotations, ToolIcon } from './tools/tool-description.ts';
export { content, ToolContent } from './tools/tool-result.ts';
export { mcpConfiguration, type McpConfiguration } from './configuration.ts';
export type { McpConfig, McpConfigInput, McpOAuthInput, McpTransportInput } from './config.ts';
export type { ProtocolVersion } from './protocol/versions.ts';
export { SERVICE_SCOPE } from './tools/tool-access.ts';
