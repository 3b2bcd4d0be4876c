import {
  ProtocolErrorCode,
  type JSONRPCRequest,
  type SpecTypeName,
  type SpecTypes,
} from '@modelcontextprotocol/server';
import { jsonText } from '../contracts/json.ts';
import { readAs } from './protocol-types.ts';
import type { Rounds } from './rounds.ts';
import type { RequestMetadata } from './stateless.ts';
import { callRefusal } from './tool-access.ts';
import type { Caller } from './tool-call.ts';
import { ToolQuestions } from './tool-questions.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, type ProtocolOptions, type RpcError } from './protocol.ts';
import { STATELESS_VERSION } from './versions.ts';

/** Answers one request of 2026-07-28: the status of the response, and its JSON text. Never rejects. */
export type StatelessProtocol = (
  request: JSONRPCRequest,
  caller: Caller,
  metadata: RequestMetadata,
) => Promise<StatelessAnswer>;

export interface StatelessAnswer {
  readonly status: number;
  readonly text: string;
}

/** A result without what every result has, or its JSON text with it. */
type Result = string | Readonly<Record<string, unknown>>;
type Outcome = Result | Failure;
type Method = (
  request: JSONRPCRequest,
  caller: Caller,
  metadata: RequestMetadata,
) => Outcome | Promise<Outcome>;

/** An error in place of a result; most are answered 200, as they are the answer. */
class Failure {
  readonly error: RpcError;
  readonly status: number;

  constructor(error: RpcError, status = 200) {
    this.error = error;
    this.status = status;
  }
}

/** How long a client may take `tools/list` and `server/discover` for fresh, in milliseconds: they change when the application is deployed. */
const FRESH = 300_000;
/** They are for those who hold a token, so a cache in between does not share them. */
const CACHED = { ttlMs: FRESH, cacheScope: 'private' } as const;

/** MCP 2026-07-28: what `createProtocol` is for the versions before it. */
export function createStatelessProtocol(
  options: ProtocolOptions & { readonly rounds: Rounds },
): StatelessProtocol {
  const { name, config, tools, log, versions, list, call, rounds } = options;
  const { version, instructions } = config;
  const meta = { 'io.modelcontextprotocol/serverInfo': { name, version } };
  const discovered = {
    supportedVersions: versions.all,
    capabilities: { tools: {} },
    ...(instructions === undefined || instructions === '' ? {} : { instructions }),
    ...CACHED,
  };
  const listed = jsonText({ ...CACHED, _meta: meta }).slice(1, -1);

  const methods = new Map<string, Method>([
    ['server/discover', () => discovered],
    [
      'tools/list',
      method(
        'ListToolsRequest',
        () => `{"resultType":"complete","tools":${list(STATELESS_VERSION)},${listed}}`,
      ),
    ],
    [
      'tools/call',
      method('CallToolRequest', async ({ params }, request, caller, { capabilities }) => {
        const tool = tools.find(params.name);
        if (tool === null) {
          return new Failure({ code: ProtocolErrorCode.InvalidParams, message: 'No tool has this name.' });
        }
        const refused = callRefusal(config, tool);
        if (refused !== null) {
          return new Failure({ code: ProtocolErrorCode.InvalidRequest, message: refused.message });
        }
        const round = await rounds.read(tool, params.arguments ?? {}, request.params ?? {}, capabilities);
        if ('problem' in round) {
          return new Failure({ code: ProtocolErrorCode.InvalidParams, message: round.problem });
        }
        const result = await call(tool, params, caller, round);
        if (!(result instanceof ToolQuestions)) return { ...result };
        const missing = result.missing(capabilities);
        if (missing === null) return rounds.ask(tool, params.arguments ?? {}, round, result);
        const message = 'The tool asks for what the client has not declared that it can do.';
        return new Failure({ code: -32_021, message, data: { requiredCapabilities: missing } }, 400);
      }),
    ],
  ]);

  /** The JSON text of the result. What a tool asks may fail to be written, too. */
  const written = (result: Result) =>
    typeof result === 'string' ? result : jsonText({ resultType: 'complete', ...result, _meta: meta });

  const answer = async (...given: Parameters<Method>): Promise<string | Failure> => {
    const [{ method: asked }] = given;
    try {
      const outcome = (await methods.get(asked)?.(...given)) ?? new Failure(METHOD_NOT_FOUND, 404);
      return outcome instanceof Failure ? outcome : written(outcome);
    } catch (exception) {
      log.error('The MCP request {method} failed: {exception}', { method: asked, exception });
      return new Failure(INTERNAL_ERROR);
    }
  };

  return async (request, caller, metadata) => {
    const { id } = request;
    const outcome = await answer(request, caller, metadata);
    if (outcome instanceof Failure) {
      return { status: outcome.status, text: jsonText({ jsonrpc: '2.0', id, error: outcome.error }) };
    }
    return { status: 200, text: `{"jsonrpc":"2.0","id":${jsonText(id)},"result":${outcome}}` };
  };
}

/** A method whose requests are of this type of the protocol; others are answered -32602. */
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
    const checked = readAs(type, request);
    if (checked !== null) return answer(checked, request, caller, metadata);
    const message = `The parameters are not those of ${request.method}.`;
    return new Failure({ code: ProtocolErrorCode.InvalidParams, message });
  };
}
