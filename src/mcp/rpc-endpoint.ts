import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { Log } from '../contracts/log.ts';
import { parseDpop } from '../http/bearer.ts';
import { dpopRefusal, type DpopRefusal } from '../http/challenges.ts';
import { requestIdOf } from '../http/request-id.ts';
import { BearerError, token, type AuthorizationServer } from '../oauth-server/index.ts';
import { createCallLimit, type CallLimit } from './call-limit.ts';
import type { Challenges } from './challenges.ts';
import type { McpConfig } from './config.ts';
import { exchange, type ExchangeOptions } from './exchange.ts';
import { readMessages, type Messages } from './messages.ts';
import { isForeign, preflightResponse, withCors } from './origins.ts';
import { refusal, requestRefusal } from './refusal.ts';
import { logRefusal } from './refusal-log.ts';
import { callRefusal, reachesResource } from './tool-access.ts';
import { createProtocol } from './protocol.ts';
import { repeatedArguments, unrepeated } from './parameter-headers.ts';
import { createRounds } from './rounds.ts';
import { createRunningCalls } from './running-calls.ts';
import { mismatchRefusal } from './stateless.ts';
import { createStatelessProtocol } from './stateless-protocol.ts';
import { audited, createToolCalls } from './tool-call.ts';
import { createToolList } from './tool-list.ts';
import type { ToolRegistry } from './tools.ts';
import { offeredVersions } from './versions.ts';

/** The endpoint's name. */
export const RPC = 'mcp_server_rpc';

export interface RpcEndpointOptions {
  /** What the server calls itself to assistants. */
  readonly name: string;
  readonly resource: string;
  readonly server: AuthorizationServer;
  readonly config: McpConfig;
  readonly challenges: Challenges;
  readonly tools: ToolRegistry;
  readonly log: Log;
}

/**
 * POST /mcp: origin, token, messages and tools are checked in this order, then the protocol answers. Never rejects. Neither 401
 * nor 403 has a challenge, which RFC 6750 section 3 would have, unless `mcp:oauth:challenge` is on (MCP-8.4).
 */
export function createRpcEndpoint(options: RpcEndpointOptions): (request: Request) => Promise<Response> {
  const { server, config, tools, log } = options;
  const exchanging = createExchange(options);
  const perMinute = config.calls_per_minute;
  const limit = perMinute === undefined ? null : createCallLimit({ perMinute, clock: server.clock });
  return async (request) => {
    if (isForeign(request, server.origin, config.allowed_origins)) {
      const foreign = refusal(403, 'Pages of this origin may not call tools.');
      logRefusal(options, RPC, request, foreign, null);
      return foreign;
    }
    if (request.method === 'OPTIONS') {
      const fields = exchanging.versions.stateless ? repeatedFields(tools) : [];
      const more = server.dpop === null ? fields : ['DPoP', ...fields];
      return preflightResponse(request, config.allowed_origins, more);
    }
    const response = await server
      .withToken(request, async () => {
        const unauthenticated = tokenRefusal(options);
        if (unauthenticated !== null) return unauthenticated;
        const answer = await answerMessages(options, request, exchanging, limit);
        logRefusal(options, RPC, request, answer, token().clientId());
        return answer;
      })
      .catch((exception: unknown) => {
        log.error('The MCP endpoint failed: {exception}', { requestId: requestIdOf(request), exception });
        return refusal(500, 'The server failed to answer.');
      });
    return withCors(response, request, config.allowed_origins);
  };
}

const NEEDED = 'A bearer token for this resource is needed.';
const ENDED = 'The bearer token is not valid here: unknown, expired or revoked.';
const OUT_OF_REACH = 'The account has no permission for this, and no other token would change that.';

function createExchange(options: RpcEndpointOptions): ExchangeOptions {
  const { server, config, tools, log, resource } = options;
  const versions = offeredVersions(config.protocol_versions);
  const calls = createToolCalls({ timeout: config.tool_timeout, log });
  const call = config.audit ? audited(calls, server) : calls;
  const all = { ...options, versions, list: createToolList(tools), call };
  return {
    versions,
    protocol: createProtocol(all),
    stateless: createStatelessProtocol({ ...all, rounds: createRounds(server, resource) }),
    running: createRunningCalls(),
    streaming: config.transport.streaming,
  };
}

/** 401 without a usable token; null with one. `requireUsable` writes the reason to the log. */
export function tokenRefusal({
  config,
  challenges,
}: Pick<RpcEndpointOptions, 'config' | 'challenges'>): Response | null {
  try {
    token().requireUsable();
    return null;
  } catch (error) {
    if (!(error instanceof BearerError)) throw error;
    const says = config.oauth.challenge && error.code === 'invalid_token' ? ENDED : NEEDED;
    return refusal(401, says, challenges.ofResource(error.code, error.dpop));
  }
}

/** What a refusal says of DPoP to a request with a usable token. */
function presented({ dpop }: AuthorizationServer, request: Request): DpopRefusal | null {
  if (dpop === null) return null;
  const isBound = parseDpop(request.headers.get('authorization')) !== null;
  return dpopRefusal(dpop, isBound ? { nonce: null } : undefined);
}

async function answerMessages(
  { server, config, challenges, tools }: RpcEndpointOptions,
  request: Request,
  exchanging: ExchangeOptions,
  limit: CallLimit | null,
): Promise<Response> {
  if (!reachesResource(server, config)) {
    if (await challenges.isOutOfReach(null)) return refusal(403, OUT_OF_REACH);
    const fields = challenges.ofResource('insufficient_scope', presented(server, request));
    return refusal(403, 'The token has no scope of this resource.', fields);
  }
  const take = (count: number) => limit?.take(caller(), count) ?? 0;
  const read = await readMessages(request, exchanging.versions, take);
  if ('refusal' in read) return read.refusal;
  const { messages } = read;
  for (const called of messages.calledTools) {
    const tool = tools.find(called);
    const refused = tool === null ? null : callRefusal(config, tool);
    if (refused === null) continue;
    const all = messages.calledTools.flatMap((name) => tools.find(name) ?? []);
    if (refused.status === 403 && (await challenges.isOutOfReach(all)))
      return refuse(messages, 403, OUT_OF_REACH, {});
    return refuse(
      messages,
      refused.status,
      refused.message,
      challenges.ofTools(refused.status, all, presented(server, request)),
    );
  }
  const { metadata, requests } = messages;
  const differing = metadata === null ? null : differingHeader(tools, requests[0], request.headers);
  if (differing !== null) return mismatchRefusal(requests[0], differing);
  return exchange(request, messages, exchanging);
}

/** In 2026-07-28 an error names its request, and has no code of the range that was left to implementations before it. */
function refuse(
  { metadata, requests }: Messages,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): Response {
  if (metadata === null) return refusal(status, message, headers);
  return requestRefusal(status, requests[0], { code: status, message }, headers);
}

/** The header fields that the tools want arguments repeated in (MCP 2026-07-28). */
function repeatedFields(tools: ToolRegistry): readonly string[] {
  const fields = tools.all().flatMap(({ inputSchema }) => {
    try {
      return repeatedArguments(inputSchema).map(({ header }) => header);
    } catch {
      // A tool that was registered after the start, whose calls fail.
      return [];
    }
  });
  return [...new Set(fields)];
}

/** The header of an argument that a call of 2026-07-28 does not repeat as its tool wants it. */
function differingHeader(
  tools: ToolRegistry,
  call: JSONRPCRequest | undefined,
  headers: Headers,
): string | null {
  const name = call?.method === 'tools/call' ? call.params?.['name'] : null;
  const tool = typeof name === 'string' ? tools.find(name) : null;
  return tool === null ? null : unrepeated(tool.inputSchema, call?.params?.['arguments'], headers);
}

/** A client, for one person: those of others who use the same client are not held up. */
function caller(): string {
  const person = token().user()?.reference;
  return JSON.stringify([token().clientId(), person?.provider, person?.id]);
}
