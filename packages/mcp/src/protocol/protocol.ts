import { jsonText } from 'portico/extension';
import {
  ProtocolErrorCode,
  type CallToolRequestParams,
  type JSONRPCRequest,
  type SpecTypeName,
  type SpecTypes,
} from '@modelcontextprotocol/server';
import type { McpContext } from '../context.ts';
import type { Contributions } from '../contributions.ts';
import { readParameters } from './parameters.ts';
import type { RpcError } from './rpc-error.ts';
import { callRefusal } from '../tools/tool-access.ts';
import { onlyRound } from '../tools/rounds.ts';
import type { Caller, ToolCalls } from '../tools/tool-call.ts';
import type { ToolList } from '../tools/tool-list.ts';
import { ToolQuestions } from '../tools/tool-questions.ts';
import { asBefore, errorResult } from '../tools/tool-result.ts';
import type { OfferedVersions } from './versions.ts';

/** The outcome of a request: the JSON text of a result, or an error. */
type Outcome = string | RpcError;
type Method = (request: JSONRPCRequest, caller: Caller) => Outcome | Promise<Outcome>;

/**
 * Implements the MCP versions that use `initialize`. Stores nothing between requests, so that any
 * process can answer the next request (MCP-8.12). Validates messages with the SDK's schemas. Does
 * not use the SDK's server, because each instance of it serves only one connection (decision 28).
 */
export class Protocol {
  readonly #context: McpContext;
  readonly #calls: ToolCalls;
  readonly #contributions: Contributions;
  readonly #methods: ReadonlyMap<string, Method>;

  constructor(context: McpContext, contributions: Contributions, list: ToolList, calls: ToolCalls) {
    this.#context = context;
    this.#contributions = contributions;
    this.#calls = calls;
    this.#methods = new Map([
      [
        'initialize',
        method('InitializeRequest', ({ params }) => this.#initialize(params.protocolVersion)),
      ],
      ['ping', method('PingRequest', () => '{}')],
      [
        'tools/list',
        method('ListToolsRequest', (_, caller) => `{"tools":${list.text(caller.version)}}`),
      ],
      ['tools/call', method('CallToolRequest', ({ params }, caller) => this.#call(params, caller))],
    ]);
  }

  /** Answers one request, and returns the JSON text of the response. Never rejects. */
  async answer(request: JSONRPCRequest, caller: Caller): Promise<string> {
    const id = jsonText(request.id);
    const outcome = await this.#outcome(request, caller);
    if (typeof outcome === 'string') return `{"result":${outcome},"jsonrpc":"2.0","id":${id}}`;
    return `{"jsonrpc":"2.0","id":${id},"error":${jsonText(outcome)}}`;
  }

  async #outcome(request: JSONRPCRequest, caller: Caller): Promise<Outcome> {
    const { method: asked } = request;
    try {
      const own = await this.#methods.get(asked)?.(request, caller);
      return own ?? (await this.#contributed(request, caller)) ?? METHOD_NOT_FOUND;
    } catch (exception) {
      this.#context.log.error('The MCP request {method} failed: {exception}', {
        method: asked,
        exception,
      });
      return INTERNAL_ERROR;
    }
  }

  async #contributed(request: JSONRPCRequest, caller: Caller): Promise<Outcome | null> {
    const answer = await this.#contributions.answer(request, caller);
    if (answer === null) return null;
    return 'error' in answer ? answer.error : jsonText(answer.result);
  }

  #initialize(requested: string): string {
    const { name, config, versions, instructions } = this.#context;
    return jsonText({
      protocolVersion: versionFor(versions, requested),
      capabilities: this.#contributions.capabilities,
      serverInfo: { name, version: config.version },
      ...instructions,
    });
  }

  async #call(params: CallToolRequestParams, caller: Caller): Promise<Outcome> {
    const { tools, config } = this.#context;
    const tool = tools.find(params.name);
    if (tool === null) return NO_SUCH_TOOL;
    // The endpoint has already checked the token. Check it once more, so that no tool can ever run
    // without a check.
    const refused = callRefusal(config, tool);
    if (refused !== null)
      return { code: ProtocolErrorCode.InvalidRequest, message: refused.message };
    const result = await this.#calls.call(tool, params, caller, onlyRound());
    return jsonText(
      result instanceof ToolQuestions ? CANNOT_ASK : asBefore(result, caller.version),
    );
  }
}

export const METHOD_NOT_FOUND: RpcError = {
  code: ProtocolErrorCode.MethodNotFound,
  message: 'Method not found',
};

export const INTERNAL_ERROR: RpcError = {
  code: ProtocolErrorCode.InternalError,
  message: 'Internal error',
};

export const NO_SUCH_TOOL: RpcError = {
  code: ProtocolErrorCode.InvalidParams,
  message: 'No tool has this name.',
};

const CANNOT_ASK = errorResult(
  'The tool has to ask something first, which needs a client of MCP 2026-07-28.',
);

/**
 * Creates a method that answers requests of this protocol type. Responds to all other requests with
 * the error -32602.
 */
function method<Name extends SpecTypeName>(
  type: Name,
  answer: (request: SpecTypes[Name], caller: Caller) => Outcome | Promise<Outcome>,
): Method {
  return (request, caller) => {
    const read = readParameters(type, request);
    return 'error' in read ? read.error : answer(read.checked, caller);
  };
}

/**
 * Chooses the protocol version for a client: the newest supported version that is not newer than
 * the requested one. Clients often support older versions than they request, but never newer ones.
 * If all supported versions are newer, returns the latest one, as MCP requires (Version
 * Negotiation). Versions are dates, so they can be compared as text.
 */
function versionFor({ initialized }: OfferedVersions, requested: string): string | undefined {
  return initialized.find((version) => version <= requested) ?? initialized[0];
}
