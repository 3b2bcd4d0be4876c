import { token } from 'portico';
import { bindingRefusal, type BindingRefusal, parseScheme } from 'portico/extension';
import type { CallLimit } from './call-limit.ts';
import type { McpContext } from './context.ts';
import type { Contributions } from './contributions.ts';
import { Exchange } from './protocol/exchange.ts';
import { readMessages, type Messages } from './protocol/messages.ts';
import { isForeign, preflightResponse, withCors } from './origins.ts';
import { refusal, refusedCall, requestRefusal } from './refusal.ts';
import {
  callRefusal,
  reachesResource,
  type CallRefusal,
  type Guarded,
  type RefusalMessages,
} from './tools/tool-access.ts';
import { repeatedArguments, unrepeated } from './protocol/parameter-headers.ts';
import { mismatchRefusal } from './protocol/stateless.ts';
import type { JsonSchema } from './tools/tool-description.ts';

/** The name of the endpoint for POST /mcp. */
export const RPC = 'mcp_server_rpc';

/**
 * A guarded tool or resource that a message uses. `refusals` contains the error messages. Without
 * it, those for tools apply.
 */
interface Use {
  readonly used: Guarded;
  readonly refusals?: RefusalMessages;
}

const OUT_OF_REACH =
  'The account has no permission for this, and no other token would change that.';

/**
 * Handles POST /mcp. Checks the origin, the token, the messages, and the tools and resources that
 * they use. Then passes the messages to the protocol. RFC 6750 section 3 requires a challenge with
 * 401 and 403 responses. Without `mcp:oauth:challenge`, the endpoint sends one only for tokens that
 * are bound to a key (MCP-8.4).
 */
export class RpcEndpoint {
  readonly #context: McpContext;
  readonly #contributions: Contributions;
  readonly #exchange: Exchange;
  readonly #limit: CallLimit | null;

  constructor(context: McpContext, contributions: Contributions) {
    this.#context = context;
    this.#contributions = contributions;
    this.#exchange = new Exchange(context, contributions);
    const perMinute = context.config.calls_per_minute;
    this.#limit = perMinute === undefined ? null : context.siblings.limit(perMinute);
  }

  /** Answers a request. Never rejects. */
  async answer(request: Request): Promise<Response> {
    const { server, config } = this.#context;
    const allowed = config.allowed_origins;
    if (isForeign(request, server.origin, allowed)) {
      const foreign = refusal(403, 'Pages of this origin may not call tools.');
      this.#context.logRefusal(RPC, request, foreign, null);
      return foreign;
    }
    if (request.method === 'OPTIONS')
      return preflightResponse(request, allowed, this.#extraFields());
    const response = await this.#context.withToken(request, async () => {
      const unauthenticated = this.#context.tokenRefusal();
      if (unauthenticated !== null) return unauthenticated;
      const answer = await this.#answerMessages(request);
      this.#context.logRefusal(RPC, request, answer, token().clientId());
      return answer;
    });
    return withCors(response, request, allowed);
  }

  async #answerMessages(request: Request): Promise<Response> {
    const { api, config, challenges, versions } = this.#context;
    if (!reachesResource(api, config)) {
      if (await challenges.isOutOfReach(null)) return refusal(403, OUT_OF_REACH);
      const fields = challenges.ofResource('insufficient_scope', this.#presented(request));
      return refusal(403, 'The token has no scope of this resource.', fields);
    }
    const read = await readMessages(
      request,
      versions,
      (count) => this.#limit?.take(caller(), count) ?? 0,
    );
    if ('refusal' in read) return read.refusal;
    const { messages } = read;
    return (
      (await this.#useRefusal(request, messages)) ??
      this.#headerRefusal(request, messages) ??
      this.#exchange.answer(request, messages)
    );
  }

  /**
   * Returns the response that rejects the messages if they use a tool or resource that the token
   * does not allow. Otherwise, returns null.
   */
  async #useRefusal(request: Request, messages: Messages): Promise<Response | null> {
    const { tools, config, challenges } = this.#context;
    const uses: readonly Use[] = [
      ...messages.calledTools.flatMap((name) => tools.find(name) ?? []).map((used) => ({ used })),
      ...this.#contributions.usedBy(messages.requests),
    ];
    const used = uses.map((use) => use.used);
    for (const use of uses) {
      const refused = callRefusal(config, use.used, use.refusals);
      if (refused === null) continue;
      const { status, message } = refused;
      if (status === 403 && (await challenges.isOutOfReach(used)))
        return refuse(messages, 403, OUT_OF_REACH, {});
      const presented = this.#presented(request);
      const instead = this.#refusedCall(
        messages,
        refused,
        challenges.described(refused, used, presented),
      );
      if (instead !== null) return instead;
      const fields = challenges.ofUses(status, used, presented);
      return refuse(messages, status, message, fields);
    }
    return null;
  }

  /**
   * Returns a tool error that answers a rejected call. Returns null if the response must be 401 or
   * 403: for anything but a single tool call, without a challenge, or if no feature adds anything
   * to such errors.
   */
  #refusedCall(
    { isBatch, requests, metadata }: Messages,
    refused: CallRefusal,
    challenge: string | null,
  ) {
    const [call] = requests;
    if (challenge === null || isBatch || call?.method !== 'tools/call') return null;
    const added = this.#contributions.refusedCallMeta(challenge);
    if (added === null) return null;
    if (metadata === null) return refusedCall(call, refused, { _meta: added });
    const { meta } = this.#context;
    return refusedCall(call, refused, { resultType: 'complete', _meta: { ...added, ...meta } });
  }

  /** Rejects a 2026-07-28 tool call if a header does not match the argument that it must repeat. */
  #headerRefusal({ headers }: Request, { metadata, requests: [call] }: Messages): Response | null {
    if (metadata === null || call?.method !== 'tools/call') return null;
    const { name, arguments: args } = call.params ?? {};
    const tool = typeof name === 'string' ? this.#context.tools.find(name) : null;
    const differing = tool === null ? null : unrepeated(tool.inputSchema, args, headers);
    return differing === null ? null : mismatchRefusal(call, differing);
  }

  /**
   * Returns what a challenge says about tokens that are bound to a key. Returns null if the server
   * does not issue such tokens.
   */
  #presented(request: Request): BindingRefusal | null {
    const { binding } = this.#context.server;
    if (binding === null) return null;
    const isBound = parseScheme(binding.scheme, request.headers.get('authorization')) !== null;
    return bindingRefusal(binding, isBound ? { answer: null } : undefined);
  }

  /** Returns the headers that pages may send in addition to those that every client sends. */
  #extraFields(): readonly string[] {
    const { server, tools, versions } = this.#context;
    return [
      ...(server.binding === null ? [] : [server.binding.proofField]),
      ...(versions.stateless
        ? repeatedFields(tools.all().map(({ inputSchema }) => inputSchema))
        : []),
    ];
  }
}

/**
 * Creates an error response. In version 2026-07-28, it contains the request's id. Its error code is
 * the status, and never one of the codes that earlier versions left to implementations.
 */
function refuse(
  { metadata, requests }: Messages,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): Response {
  if (metadata === null) return refusal(status, message, headers);
  return requestRefusal(status, requests[0], { code: status, message }, headers);
}

/** Returns the names of the headers that repeat tool arguments (MCP 2026-07-28). */
function repeatedFields(schemas: readonly JsonSchema[]): readonly string[] {
  const fields = schemas.flatMap((schema) => {
    try {
      return repeatedArguments(schema).map(({ header }) => header);
    } catch {
      // Skip a tool whose schema has an invalid `x-mcp-header`. Its calls in version 2026-07-28
      // fail.
      return [];
    }
  });
  return [...new Set(fields)];
}

/**
 * Returns a key for the client and the user, so that each user of a client has a separate limit.
 */
function caller(): string {
  const person = token().user()?.reference;
  return JSON.stringify([token().clientId(), person?.provider, person?.id]);
}
