import { token } from 'portico';
import { jsonText } from 'portico/extension';
import type { CallToolRequestParams } from '@modelcontextprotocol/server';
import type { McpContext } from '../context.ts';
import type { ContentRoom } from './content-room.ts';
import type { Round } from './rounds.ts';
import { REACHED, startTimeLimit, tooLong, type TimeLimit } from './time-limit.ts';
import { ToolQuestions } from './tool-questions.ts';
import { errorResult, toolResult, type ToolResult } from './tool-result.ts';
import { ToolError, type RegisteredTool, type ToolCall } from './tools.ts';
import { readTrace } from './trace.ts';

/** The caller of a method, which waits for the answer. */
export interface Caller {
  /** A signal that is aborted when the caller disconnects or cancels the call. */
  readonly signal: AbortSignal;
  /** Sends a notification as JSON text. Discards it if the response can contain only the answer. */
  readonly notify: (text: string) => void;
  /** The protocol version of the request. */
  readonly version: string;
  /** The limit for the resources in the answers. All messages of a batch share it. */
  readonly room: ContentRoom;
}

/** Calls tools within the time limit. */
export class ToolCalls {
  readonly #context: McpContext;

  constructor(context: McpContext) {
    this.#context = context;
  }

  /**
   * Returns the result of the tool, a tool error, or the tool's questions. Never rejects. With
   * `mcp:audit`, emits an audit event for each call, with the tool, the client, the user, the
   * outcome and the duration.
   */
  async call(
    tool: RegisteredTool,
    params: CallToolRequestParams,
    caller: Caller,
    round: Round,
  ): Promise<ToolResult | ToolQuestions> {
    const { config, server } = this.#context;
    if (!config.audit) return this.#run(tool, params, caller, round);
    const began = performance.now();
    const result = await this.#run(tool, params, caller, round);
    await server.audit({
      type: 'tool_called',
      tool: tool.name,
      clientId: token().clientId() ?? '',
      person: token().user()?.reference ?? null,
      outcome: getOutcome(result),
      duration: Math.round(performance.now() - began),
    });
    return result;
  }

  async #run(
    tool: RegisteredTool,
    { arguments: args = {}, _meta: meta }: CallToolRequestParams,
    caller: Caller,
    round: Round,
  ): Promise<ToolResult | ToolQuestions> {
    const { log, config } = this.#context;
    const problem = tool.argumentsProblem(args);
    if (problem !== null) return errorResult(`The arguments do not match the schema: ${problem}`);
    const limit = startTimeLimit(config.tool_timeout, caller.signal);
    try {
      const returned = await Promise.race([
        tool.tool.handle(args, describeCall(caller, meta, round, limit)),
        limit.reached,
      ]);
      if (returned instanceof ToolQuestions) return returned;
      if (returned !== REACHED) return toolResult(tool, returned);
      if (caller.signal.aborted) return errorResult('The call was cancelled.');
      const took = tooLong(config.tool_timeout);
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
}

function getOutcome(result: ToolResult | ToolQuestions): 'succeeded' | 'failed' | 'asked' {
  if (result instanceof ToolQuestions) return 'asked';
  return result.isError === true ? 'failed' : 'succeeded';
}

function describeCall(
  { notify }: Caller,
  meta: CallToolRequestParams['_meta'],
  round: Round,
  limit: TimeLimit,
): ToolCall {
  const progressToken = meta?.progressToken;
  return {
    signal: limit.signal,
    trace: readTrace(meta),
    get id() {
      return round.id();
    },
    state: round.state,
    answer: round.answer,
    canAsk: round.canAsk,
    async progress(progress, total, message) {
      if (progressToken === undefined || limit.isOver) return;
      // Ignore values such as NaN, because JSON would write them as null.
      if (!Number.isFinite(progress) || !Number.isFinite(total ?? 0)) return;
      const params = { progressToken, progress, total, message };
      try {
        notify(jsonText({ jsonrpc: '2.0', method: 'notifications/progress', params }));
      } catch {
        // Ignore progress that cannot be serialized as JSON.
      }
    },
  };
}
