import {
  ProtocolErrorCode,
  specTypeSchemas,
  type JSONRPCRequest,
  type SpecTypeName,
  type SpecTypes,
} from '@modelcontextprotocol/server';
import type { Log } from '../contracts/log.ts';
import type { McpConfig } from './config.ts';
import { callRefusal } from './tool-access.ts';
import { callTool, type Caller } from './tool-call.ts';
import type { RegisteredTool, ToolRegistry } from './tools.ts';

/** The supported protocol versions, the preferred one first. */
export const PROTOCOL_VERSIONS: readonly string[] = ['2025-11-25', '2025-03-26'];

export interface ProtocolOptions {
  /** What the server calls itself. */
  readonly name: string;
  readonly config: McpConfig;
  readonly tools: ToolRegistry;
  readonly log: Log;
}

/** Answers one request with the JSON text of its response. Never rejects. */
export type Protocol = (request: JSONRPCRequest, caller: Caller) => Promise<string>;

/** The JSON text of a result, or an error. */
type Outcome = string | { readonly code: number; readonly message: string };
type Method = (request: JSONRPCRequest, caller: Caller) => Outcome | Promise<Outcome>;

/**
 * The protocol, made once for all requests: it keeps nothing of any of them, so any process may answer the next one (MCP-8.12). The
 * SDK's schemas say what is valid; its server, which is made for one connection each, is not used (decision 28).
 */
export function createProtocol({ name, config, tools, log }: ProtocolOptions): Protocol {
  const { version, instructions, tool_timeout: timeout } = config;
  const self = {
    capabilities: { tools: {} },
    serverInfo: { name, version },
    ...(instructions === undefined || instructions === '' ? {} : { instructions }),
  };
  const listing = createListing(tools);

  const methods = new Map<string, Method>([
    [
      'initialize',
      method('InitializeRequest', ({ params }) =>
        JSON.stringify({ protocolVersion: versionFor(params.protocolVersion), ...self }),
      ),
    ],
    ['ping', method('PingRequest', () => '{}')],
    ['tools/list', method('ListToolsRequest', listing)],
    [
      'tools/call',
      method('CallToolRequest', async ({ params }, caller) => {
        const tool = tools.find(params.name);
        if (tool === null)
          return { code: ProtocolErrorCode.InvalidParams, message: 'No tool has this name.' };
        // The endpoint has checked this before; no tool runs unless it is checked where the tool is called, too.
        const refused = callRefusal(config, tool);
        if (refused !== null) return { code: ProtocolErrorCode.InvalidRequest, message: refused.message };
        return JSON.stringify(await callTool(tool, params, caller, { timeout, log }));
      }),
    ],
  ]);

  const answer = async (request: JSONRPCRequest, caller: Caller) => {
    try {
      return (await methods.get(request.method)?.(request, caller)) ?? UNKNOWN_METHOD;
    } catch (exception) {
      log.error('The MCP request {method} failed: {exception}', { method: request.method, exception });
      return FAILED;
    }
  };

  return async (request, caller) => {
    const id = JSON.stringify(request.id);
    const outcome = await answer(request, caller);
    if (typeof outcome === 'string') return `{"result":${outcome},"jsonrpc":"2.0","id":${id}}`;
    return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(outcome)}}`;
  };
}

const UNKNOWN_METHOD: Outcome = { code: ProtocolErrorCode.MethodNotFound, message: 'Method not found' };

const FAILED: Outcome = { code: ProtocolErrorCode.InternalError, message: 'Internal error' };

/** A method whose requests are of this type of the protocol; others are answered -32602. */
function method<Name extends SpecTypeName>(
  type: Name,
  answer: (request: SpecTypes[Name], caller: Caller) => Outcome | Promise<Outcome>,
): Method {
  const { validate } = specTypeSchemas[type]['~standard'];
  return (request, caller) => {
    const checked = validate(request);
    if (checked.issues === undefined) return answer(checked.value, caller);
    const message = `The parameters are not those of ${request.method}.`;
    return { code: ProtocolErrorCode.InvalidParams, message };
  };
}

/**
 * The version for a client that asks for one: the newest that is not newer, as clients often support versions before their own and
 * never later ones. Without such a version it is the latest, as MCP requires (Version Negotiation). Versions are dates, which
 * compare as text.
 */
function versionFor(requested: string): string | undefined {
  return PROTOCOL_VERSIONS.find((version) => version <= requested) ?? PROTOCOL_VERSIONS[0];
}

/** The result of `tools/list`, the same for every caller (MCP-10.7); written again only when a tool was added. */
function createListing(registry: ToolRegistry): () => string {
  let written: { readonly tools: readonly RegisteredTool[]; readonly text: string } | null = null;
  return () => {
    const tools = registry.all();
    if (written?.tools !== tools) {
      const described = tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema: { type: 'object', ...inputSchema },
      }));
      written = { tools, text: JSON.stringify({ tools: described }) };
    }
    return written.text;
  };
}
