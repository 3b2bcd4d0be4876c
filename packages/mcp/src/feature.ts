import type { JSONRPCRequest, SpecTypeName } from '@modelcontextprotocol/server';
import type { ConfigurationProblem } from '@portico/sql';
import type { z } from 'zod';
import type { McpConfig } from './config.ts';
import type { McpContext } from './context.ts';
import type { RpcError } from './protocol/rpc-error.ts';
import type { Guarded, RefusalMessages } from './tools/tool-access.ts';
import type { Caller } from './tools/tool-call.ts';
import type { RegisteredTool } from './tools/tools.ts';

/** What an endpoint can do beside its tools. */
export interface McpFeature {
  /** Names it, and its registry: lower snake case. */
  readonly name: string;
  /** Its keys under `mcp`. */
  readonly config?: z.ZodRawShape;
  /** Problems of keys that are valid on their own but not together. */
  problems?(config: McpConfig): readonly ConfigurationProblem[];
  /** Adds it to an endpoint. Called once for each. Keep what belongs to the endpoint here. */
  start(endpoint: McpContext): McpContribution;
}

/** What a feature adds to one endpoint. */
export interface McpContribution {
  /** Where the application registers what the feature serves. */
  readonly registry?: object;
  /** Whether clients find what follows; asked for each request. */
  isOffered(): boolean;
  /** Members of `capabilities`. */
  readonly capabilities?: Readonly<Record<string, object>>;
  /** Its methods, by name, in every protocol version. */
  readonly methods?: Readonly<Record<string, ContributedMethod>>;
  /** Members of a tool in `tools/list`, for a protocol version. */
  toolMembers?(tool: RegisteredTool, version: string): Readonly<Record<string, unknown>>;
  /**
   * Members of `_meta` in the tool error that answers a call which the token does not allow.
   * Without them, the call is 401 or 403. `challenge` is what `WWW-Authenticate` would say.
   */
  refusedCallMeta?(challenge: string): Readonly<Record<string, unknown>>;
  /** Everything that it guards, offered or not, to check the scopes when the application starts. */
  guarded?(): readonly Named[];
}

/** Something guarded, with its name. */
export interface Named extends Guarded {
  /** What problems call it, such as `the tool weather`. */
  readonly called: string;
}

/** A method of the protocol. */
export interface ContributedMethod {
  /** The type of its requests. Others are answered -32602. */
  readonly type: SpecTypeName;
  /**
   * What a request uses. The token is checked against it, before the method runs. Null for
   * nothing that is guarded. The parameters are not checked yet.
   */
  uses?(params: JSONRPCRequest['params']): GuardedUse | null;
  /** Answers a request of this type. What it throws is logged, and answered -32603. */
  answer(params: JSONRPCRequest['params'], caller: Caller): MethodAnswer | Promise<MethodAnswer>;
}

/** What a request uses, and what a refusal says. */
export interface GuardedUse {
  readonly used: Guarded;
  readonly refusals: RefusalMessages;
}

/** A result, as an object, or an error. */
export type MethodAnswer =
  { readonly result: Readonly<Record<string, unknown>> } | { readonly error: RpcError };
