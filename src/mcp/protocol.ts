import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ServerContext as SdkContext,
} from '@modelcontextprotocol/server';
import type { Log } from '../contracts/log.ts';
import { errorResult, resultOf } from './tool-result.ts';
import { ToolError, type RegisteredTool, type ToolCall, type ToolRegistry } from './tools.ts';

/** The protocol versions that are spoken, the preferred one first. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-03-26'] as const;

/** What the protocol needs to know of the endpoint. */
export interface Speaker {
  /** As for `offeredTo`. */
  readonly initializesAs: string | null;
  readonly name: string;
  readonly version: string;
  /** For the model. */
  readonly instructions: string | undefined;
  readonly tools: ToolRegistry;
  /** How long a tool may take, in seconds. */
  readonly toolTimeout: number;
  readonly log: Log;
  /** Why this tool may not be called; null when it may. */
  readonly refusalOf: (tool: RegisteredTool) => string | null;
}

/**
 * The versions in the order in which they are offered to a client that asks for one: one that is not spoken is answered with
 * the first (MCP, Version Negotiation). That is the newest that is not newer than what was asked for, since a client often
 * speaks what came before its own version, and never what came after. To one that is older than all of them, or is no version,
 * the specification offers the latest. Versions are dates, which compare as texts.
 */
function offeredTo(asked: string | null): string[] {
  const known = PROTOCOL_VERSIONS.filter((version) => asked === null || version <= asked);
  return [...new Set([...known, ...PROTOCOL_VERSIONS])];
}

/** A server of the protocol, for one request. */
export function protocolServer(speaker: Speaker): Server {
  const { name, version, instructions, initializesAs, tools, refusalOf } = speaker;
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: {} },
      supportedProtocolVersions: offeredTo(initializesAs),
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
  { log, toolTimeout }: Speaker,
  tool: RegisteredTool,
  args: Readonly<Record<string, unknown>>,
  sdk: SdkContext,
): Promise<CallToolResult> {
  const problem = tool.argumentsProblem(args);
  if (problem !== null) return errorResult(`The arguments do not match the schema: ${problem}`);
  const limit = timeLimit(toolTimeout, sdk.mcpReq.signal);
  try {
    const returned = await Promise.race([tool.tool.handle(args, toolCall(sdk, limit.signal)), limit.reached]);
    if (returned !== REACHED) return resultOf(returned);
    // The caller who gave up, and whom nobody answers, is no matter of the log.
    const took = `took longer than ${toolTimeout} ${toolTimeout === 1 ? 'second' : 'seconds'}`;
    if (!sdk.mcpReq.signal.aborted)
      log.error('The tool {tool} {took} (mcp:tool_timeout)', { tool: tool.name, took });
    return errorResult(`The tool ${took}.`);
  } catch (exception) {
    if (exception instanceof ToolError) return errorResult(exception.message);
    log.error('The tool {tool} failed: {exception}', { tool: tool.name, exception });
    return errorResult('The tool failed.');
  } finally {
    limit.end();
  }
}

const REACHED = Symbol('the time limit');

interface TimeLimit {
  /** Aborted when the time is over, or the caller gives up. */
  readonly signal: AbortSignal;
  /** Resolves then. */
  readonly reached: Promise<typeof REACHED>;
  /** The work is done: nothing waits, and nothing listens, any more. */
  end(): void;
}

function timeLimit(seconds: number, caller: AbortSignal): TimeLimit {
  const limit = new AbortController();
  const reached = Promise.withResolvers<typeof REACHED>();
  const reach = () => {
    limit.abort();
    reached.resolve(REACHED);
  };
  // It holds no process that has nothing else to do.
  const timer = setTimeout(reach, seconds * 1000).unref();
  caller.addEventListener('abort', reach);
  if (caller.aborted) reach();
  return {
    signal: limit.signal,
    reached: reached.promise,
    end() {
      clearTimeout(timer);
      caller.removeEventListener('abort', reach);
    },
  };
}

function toolCall({ mcpReq }: SdkContext, signal: AbortSignal): ToolCall {
  const progressToken = mcpReq._meta?.progressToken;
  return {
    signal,
    async progress(done, total, message) {
      if (progressToken === undefined || signal.aborted) return;
      const params = {
        progressToken,
        progress: done,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      };
      await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}
