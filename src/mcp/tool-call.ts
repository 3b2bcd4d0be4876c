import type { CallToolRequestParams, CallToolResult, ProgressToken } from '@modelcontextprotocol/server';
import type { Log } from '../contracts/log.ts';
import { errorResult, toolResult } from './tool-result.ts';
import { ToolError, type RegisteredTool, type ToolCall } from './tools.ts';

/** Who waits for an answer. */
export interface Caller {
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
  /** Sends the text of a notification; discards it when nothing but the answer can be sent. */
  readonly notify: (text: string) => void;
}

/** The tool's result, or a tool error; never rejects. `timeout` is how long the tool may take, in seconds. */
export async function callTool(
  tool: RegisteredTool,
  { arguments: args = {}, _meta: meta }: CallToolRequestParams,
  caller: Caller,
  { timeout, log }: { readonly timeout: number; readonly log: Log },
): Promise<CallToolResult> {
  const problem = tool.argumentsProblem(args);
  if (problem !== null) return errorResult(`The arguments do not match the schema: ${problem}`);
  const limit = startTimeLimit(timeout, caller.signal);
  try {
    const returned = await Promise.race([
      tool.tool.handle(args, describeCall(caller, meta?.progressToken, limit.signal)),
      limit.reached,
    ]);
    if (returned !== REACHED) return toolResult(returned);
    const took = `took longer than ${timeout} ${timeout === 1 ? 'second' : 'seconds'}`;
    // A caller that gave up reaches the limit as well, which is nothing to log.
    if (!caller.signal.aborted)
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
  /** Aborted when the time is up, or the caller gives up. */
  readonly signal: AbortSignal;
  /** Resolves at the same moment. */
  readonly reached: Promise<typeof REACHED>;
  /** Clears the timer and the listener, once the tool is done. */
  end(): void;
}

function startTimeLimit(seconds: number, caller: AbortSignal): TimeLimit {
  const limit = new AbortController();
  const reached = Promise.withResolvers<typeof REACHED>();
  const reach = () => {
    limit.abort();
    reached.resolve(REACHED);
  };
  // Unreferenced: it does not keep a process running.
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

function describeCall(
  { notify }: Caller,
  progressToken: ProgressToken | undefined,
  signal: AbortSignal,
): ToolCall {
  return {
    signal,
    async progress(progress, total, message) {
      if (progressToken === undefined || signal.aborted) return;
      const params = { progressToken, progress, total, message };
      try {
        notify(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
      } catch {
        // What cannot be written as JSON is no progress.
      }
    },
  };
}
