import {
  ProtocolErrorCode,
  type JSONRPCRequest,
  type SpecTypeName,
  type SpecTypes,
} from '@modelcontextprotocol/server';
import { jsonText } from '../contracts/json.ts';
import type { Log } from '../contracts/log.ts';
import type { McpConfig } from './config.ts';
import { readAs } from './protocol-types.ts';
import { callRefusal } from './tool-access.ts';
import { onlyRound } from './rounds.ts';
import type { Caller, CallTool } from './tool-call.ts';
import type { ToolList } from './tool-list.ts';
import { ToolQuestions } from './tool-questions.ts';
import { errorResult, withObjectsAlone } from './tool-result.ts';
import type { ToolRegistry } from './tools.ts';
import type { OfferedVersions } from './versions.ts';

export interface ProtocolOptions {
  /** What the server calls itself. */
  readonly name: string;
  readonly config: McpConfig;
  readonly tools: ToolRegistry;
  readonly log: Log;
  readonly versions: OfferedVersions;
  readonly list: ToolList;
  readonly call: CallTool;
}

/** Answers one request of a version that begins with `initialize` with the JSON text of its response. Never rejects. */
export type Protocol = (request: JSONRPCRequest, caller: Caller) => Promise<string>;

/** An error of JSON-RPC. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The JSON text of a result, or an error. */
type Outcome = string | RpcError;
type Method = (request: JSONRPCRequest, caller: Caller) => Outcome | Promise<Outcome>;

/**
 * The protocol, made once for all requests: it keeps nothing of any of them, so any process may answer the next one (MCP-8.12). The
 * SDK's schemas say what is valid; its server, which is made for one connection each, is not used (decision 28).
 */
export function createProtocol(options: ProtocolOptions): Protocol {
  const { name, config, tools, log, versions, list, call } = options;
  const { version, instructions } = config;
  const self = {
    capabilities: { tools: {} },
    serverInfo: { name, version },
    ...(instructions === undefined || instructions === '' ? {} : { instructions }),
  };

  const methods = new Map<string, Method>([
    [
      'initialize',
      method('InitializeRequest', ({ params }) =>
        jsonText({ protocolVersion: versionFor(versions, params.protocolVersion), ...self }),
      ),
    ],
    ['ping', method('PingRequest', () => '{}')],
    ['tools/list', method('ListToolsRequest', (_, caller) => `{"tools":${list(caller.version)}}`)],
    [
      'tools/call',
      method('CallToolRequest', async ({ params }, caller) => {
        const tool = tools.find(params.name);
        if (tool === null)
          return { code: ProtocolErrorCode.InvalidParams, message: 'No tool has this name.' };
        // The endpoint has checked this before; no tool runs unless it is checked where the tool is called, too.
        const refused = callRefusal(config, tool);
        if (refused !== null) return { code: ProtocolErrorCode.InvalidRequest, message: refused.message };
        const result = await call(tool, params, caller, onlyRound());
        return jsonText(result instanceof ToolQuestions ? CANNOT_ASK : withObjectsAlone(result));
      }),
    ],
  ]);

  const answer = async (request: JSONRPCRequest, caller: Caller) => {
    try {
      return (await methods.get(request.method)?.(request, caller)) ?? METHOD_NOT_FOUND;
    } catch (exception) {
      log.error('The MCP request {method} failed: {exception}', { method: request.method, exception });
      return INTERNAL_ERROR;
    }
  };

  return async (request, caller) => {
    const id = jsonText(request.id);
    const outcome = await answer(request, caller);
    if (typeof outcome === 'string') return `{"result":${outcome},"jsonrpc":"2.0","id":${id}}`;
    return `{"jsonrpc":"2.0","id":${id},"error":${jsonText(outcome)}}`;
  };
}

export const METHOD_NOT_FOUND: RpcError = {
  code: ProtocolErrorCode.MethodNotFound,
  message: 'Method not found',
};

export const INTERNAL_ERROR: RpcError = { code: ProtocolErrorCode.InternalError, message: 'Internal error' };

const CANNOT_ASK = errorResult(
  'The tool has to ask something first, which needs a client of MCP 2026-07-28.',
);

/** A method whose requests are of this type of the protocol; others are answered -32602. */
function method<Name extends SpecTypeName>(
  type: Name,
  answer: (request: SpecTypes[Name], caller: Caller) => Outcome | Promise<Outcome>,
): Method {
  return (request, caller) => {
    const checked = readAs(type, request);
    if (checked !== null) return answer(checked, caller);
    const message = `The parameters are not those of ${request.method}.`;
    return { code: ProtocolErrorCode.InvalidParams, message };
  };
}

/**
 * The version for a client that asks for one: the newest that is not newer, as clients often support versions before their own and
 * never later ones. Without such a version it is the latest, as MCP requires (Version Negotiation). Versions are dates, which
 * compare as text.
 */
function versionFor({ initialized }: OfferedVersions, requested: string): string | undefined {
  return initialized.find((version) => version <= requested) ?? initialized[0];
}
