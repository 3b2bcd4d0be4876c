import type { JSONRPCRequest, SpecTypeName } from '@modelcontextprotocol/server';
import type { ConfigurationProblem } from '@portico/sql';
import type { z } from 'zod';
import type { McpConfig } from './config.ts';
import type { McpContext } from './context.ts';
import type { RpcError } from './protocol/rpc-error.ts';
import type { Guarded, RefusalMessages } from './tools/tool-access.ts';
import type { Caller } from './tools/tool-call.ts';
import type { RegisteredTool } from './tools/tools.ts';

/** A part of an endpoint besides its tools. */
export interface McpFeature {
  /** The name of the feature and its registry, in lower snake case. */
  readonly name: string;
  /** Its settings under `mcp`. */
  readonly config?: z.ZodRawShape;
  /** Returns the application's further endpoints by path, each with its settings. */
  endpoints?(config: McpConfig): Readonly<Record<string, McpConfig>>;
  /**
   * Returns problems with settings that are valid separately but not together. `challenges` is
   * whether any of the application's MCP endpoints challenges.
   */
  problems?(config: McpConfig, challenges: boolean): readonly ConfigurationProblem[];
  /**
   * Adds the feature to an endpoint. Called once for each endpoint. Keep the endpoint's state in
   * the returned object.
   */
  start(endpoint: McpContext): McpContribution;
}

/** The parts that a feature adds to one endpoint. */
export interface McpContribution {
  /** The registry in which the application registers what the feature serves. */
  readonly registry?: object;
  /** Whether clients see the members below. Called for each request. */
  isOffered(): boolean;
  /** Members for `capabilities`. */
  readonly capabilities?: Readonly<Record<string, object>>;
  /** Members for `capabilities.extensions`: the settings of MCP extensions, by their names. */
  readonly extensions?: Readonly<Record<string, object>>;
  /** The methods by name, for all protocol versions. */
  readonly methods?: Readonly<Record<string, ContributedMethod>>;
  /** Returns the members that it adds to a tool in `tools/list`, for a protocol version. */
  toolMembers?(tool: RegisteredTool, version: string): Readonly<Record<string, unknown>>;
  /**
   * Returns the members for `_meta` in a tool error. The error is sent when the token does not
   * allow a call. Without this method, the response is 401 or 403. `challenge` is the text that
   * `WWW-Authenticate` would contain.
   */
  refusedCallMeta?(challenge: string): Readonly<Record<string, unknown>>;
  /**
   * Returns everything that it guards, even if not offered. Their scopes are checked when the
   * application starts.
   */
  guarded?(): readonly Named[];
}

/** Something guarded, with its name. */
export interface Named extends Guarded {
  /** Its name in error messages, such as `the tool weather`. */
  readonly called: string;
}

/** A protocol method. */
export interface ContributedMethod {
  /** The type of its requests. For other requests, the response is -32602. */
  readonly type: SpecTypeName;
  /**
   * Returns the guarded thing that a request uses, or null for none. The token is checked against
   * it before the method runs. The parameters are not checked yet.
   */
  uses?(params: JSONRPCRequest['params']): GuardedUse | null;
  /** Answers a request of this type. Exceptions are logged, and the response is -32603. */
  answer(params: JSONRPCRequest['params'], caller: Caller): MethodAnswer | Promise<MethodAnswer>;
}

/** The guarded thing that a request uses, and the messages for refusals. */
export interface GuardedUse {
  readonly used: Guarded;
  readonly refusals: RefusalMessages;
}

/** A result, as an object, or an error. */
export type MethodAnswer =
  { readonly result: Readonly<Record<string, unknown>> } | { readonly error: RpcError };
