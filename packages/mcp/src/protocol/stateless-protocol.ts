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
import { CACHED } from './caching.ts';
import { readParameters } from './parameters.ts';
import { Rounds } from '../tools/rounds.ts';
import type { RequestMetadata } from './stateless.ts';
import { callRefusal } from '../tools/tool-access.ts';
import type { Caller, ToolCalls } from '../tools/tool-call.ts';
import type { ToolList } from '../tools/tool-list.ts';
import { ToolQuestions } from '../tools/tool-questions.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, NO_SUCH_TOOL } from './protocol.ts';
import type { RpcError } from './rpc-error.ts';
import { STATELESS_VERSION } from './versions.ts';

/** The status of a response, and its body as JSON text. */
export interface StatelessAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * A result: an object to which the members of every result are added, or JSON text that already
 * contains them.
 */
type Result = string | Readonly<Record<string, unknown>>;
type Outcome = Result | Failure;
type Method = (
  request: JSONRPCRequest,
  caller: Caller,
  metadata: RequestMetadata,
) => Outcome | Promise<Outcome>;

/** An error instead of a result. The HTTP status of most errors is 200. */
class Failure {
  readonly error: RpcError;
  readonly status: number;

  constructor(error: RpcError, status = 200) {
    this.error = error;
    this.status = status;
  }
}

/** Implements MCP 2026-07-28. For earlier versions, see `Protocol`. */
export class StatelessProtocol {
  readonly #context: McpContext;
  readonly #calls: ToolCalls;
  readonly #contributions: Contributions;
  readonly #rounds: Rounds;
  readonly #methods: ReadonlyMap<string, Method>;
  /** The `_meta` that each result contains. */
  readonly #meta: object;

  constructor(context: McpContext, contributions: Contributions, list: ToolList, calls: ToolCalls) {
    const { versions, instructions, meta } = context;
    const listed = jsonText({ ...CACHED, _meta: meta }).slice(1, -1);
    const discover = () => ({
      supportedVersions: versions.all,
      capabilities: contributions.capabilities,
      ...instructions,
      ...CACHED,
    });
    const listAll = () =>
      `{"resultType":"complete","tools":${list.text(STATELESS_VERSION)},${listed}}`;
    this.#context = context;
    this.#contributions = contributions;
    this.#calls = calls;
    this.#rounds = new Rounds(context.server.sealing, context.resource);
    this.#meta = meta;
    this.#methods = new Map([
      ['server/discover', discover],
      ['tools/list', method('ListToolsRequest', listAll)],
      [
        'tools/call',
        method('CallToolRequest', (checked, ...rest) => this.#call(checked.params, ...rest)),
      ],
    ]);
  }

  /** Answers one request. Never rejects. */
  async answer(
    request: JSONRPCRequest,
    caller: Caller,
    metadata: RequestMetadata,
  ): Promise<StatelessAnswer> {
    const { id } = request;
    const outcome = await this.#outcome(request, caller, metadata);
    if (outcome instanceof Failure) {
      return {
        status: outcome.status,
        text: jsonText({ jsonrpc: '2.0', id, error: outcome.error }),
      };
    }
    return { status: 200, text: `{"jsonrpc":"2.0","id":${jsonText(id)},"result":${outcome}}` };
  }

  async #outcome(...given: Parameters<Method>): Promise<string | Failure> {
    const [{ method: asked }] = given;
    try {
      const outcome =
        (await this.#methods.get(asked)?.(...given)) ??
        (await this.#contributed(...given)) ??
        new Failure(METHOD_NOT_FOUND, 404);
      if (outcome instanceof Failure || typeof outcome === 'string') return outcome;
      // Keep this call inside the `try`, because it throws if the result cannot be serialized.
      return jsonText({ resultType: 'complete', ...outcome, _meta: this.#meta });
    } catch (exception) {
      this.#context.log.error('The MCP request {method} failed: {exception}', {
        method: asked,
        exception,
      });
      return new Failure(INTERNAL_ERROR);
    }
  }

  async #contributed(...[request, caller]: Parameters<Method>): Promise<Outcome | null> {
    const answer = await this.#contributions.answer(request, caller);
    if (answer === null) return null;
    return 'error' in answer ? new Failure(answer.error) : answer.result;
  }

  async #call(
    params: CallToolRequestParams,
    request: JSONRPCRequest,
    caller: Caller,
    { capabilities }: RequestMetadata,
  ): Promise<Outcome> {
    const { tools, config } = this.#context;
    const tool = tools.find(params.name);
    if (tool === null) return new Failure(NO_SUCH_TOOL);
    const refused = callRefusal(config, tool);
    if (refused !== null) {
      return new Failure({ code: ProtocolErrorCode.InvalidRequest, message: refused.message });
    }
    const args = params.arguments ?? {};
    const round = await this.#rounds.read(tool, args, request.params ?? {}, capabilities);
    if ('problem' in round) {
      return new Failure({ code: ProtocolErrorCode.InvalidParams, message: round.problem });
    }
    const result = await this.#calls.call(tool, params, caller, round);
    if (!(result instanceof ToolQuestions)) return { ...result };
    const missing = result.missing(capabilities);
    if (missing === null) return this.#rounds.ask(tool, args, round, result);
    const message = 'The tool asks for what the client has not declared that it can do.';
    return new Failure({ code: -32_021, message, data: { requiredCapabilities: missing } }, 400);
  }
}

/**
 * Creates a method that answers requests of this protocol type. Responds to all other requests with
 * the error -32602.
 */
function method<Name extends SpecTypeName>(
  type: Name,
  answer: (
    checked: SpecTypes[Name],
    request: JSONRPCRequest,
    caller: Caller,
    metadata: RequestMetadata,
  ) => Outcome | Promise<Outcome>,
): Method {
  return (request, caller, metadata) => {
    const read = readParameters(type, request);
    return 'error' in read
      ? new Failure(read.error)
      : answer(read.checked, request, caller, metadata);
  };
}
