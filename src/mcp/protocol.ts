import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ServerContext as SdkContext,
} from '@modelcontextprotocol/server';
import type { Log } from '../host/contracts.ts';
import { errorResult, resultOf } from './tool-result.ts';
import { ToolError, type RegisteredTool, type ToolCall, type ToolRegistry } from './tools.ts';

/** The protocol versions that are spoken, the preferred one first. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-03-26'] as const;

/** What the protocol needs to know of the endpoint. */
export interface Speaker {
  readonly name: string;
  readonly version: string;
  /** For the model. */
  readonly instructions: string | undefined;
  readonly tools: ToolRegistry;
  readonly log: Log;
  /** Why this tool may not be called; null when it may. */
  readonly refusalOf: (tool: RegisteredTool) => string | null;
}

/** A server of the protocol, for one request. */
export function protocolServer(speaker: Speaker): Server {
  const { name, version, instructions, tools, refusalOf } = speaker;
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: {} },
      supportedProtocolVersions: [...PROTOCOL_VERSIONS],
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: tools.all().map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { type: 'object' as const, ...inputSchema },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, sdk) => {
    const tool = tools.find(params.name);
    if (tool === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No tool has this name.');
    const refused = refusalOf(tool);
    if (refused !== null) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, refused);
    return call(speaker, tool, params.arguments ?? {}, sdk);
  });
  return server;
}

async function call(
  { log }: Speaker,
  tool: RegisteredTool,
  args: Readonly<Record<string, unknown>>,
  sdk: SdkContext,
): Promise<CallToolResult> {
  const problem = tool.argumentsProblem(args);
  if (problem !== null) return errorResult(`The arguments do not match the schema: ${problem}`);
  try {
    return resultOf(await tool.tool.handle(args, toolCall(sdk)));
  } catch (exception) {
    if (exception instanceof ToolError) return errorResult(exception.message);
    log.error('The tool {tool} failed: {exception}', { tool: tool.name, exception });
    return errorResult('The tool failed.');
  }
}

function toolCall({ mcpReq }: SdkContext): ToolCall {
  const progressToken = mcpReq._meta?.progressToken;
  return {
    signal: mcpReq.signal,
    async progress(done, total, message) {
      if (progressToken === undefined) return;
      await mcpReq.notify({
        method: 'notifications/progress',
        params: {
          progressToken,
          progress: done,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { message }),
        },
      });
    },
  };
}
