import type { JSONRPCRequest, SpecTypeName } from '@modelcontextprotocol/server';
import type { ConfigurationProblem } from '@portico/sql';
import type { z } from 'zod';
import type { McpConfig } from './config.ts';
import type { McpContext } from './context.ts';
import type { RpcError } from './protocol/rpc-error.ts';
import type { Guarded, RefusalMessages } from './tools/tool-access.ts';
import type { Caller } from './tools/tool-call.ts';
import type { RegisteredTool } from './tools/tools.ts';

/** A part of an MCP endpoint that adds something besides tools. */
export interface McpFeature {
  /** The feature's name, in lower snake case. Its registry has the same name. */
  readonly name: string;
  /** The feature's settings in the section `mcp`. */
  readonly config?: z.ZodRawShape;
  /** Returns the application's additional endpoints: the settings of each by its path. */
  endpoints?(config: McpConfig): Readonly<Record<string, McpConfig>>;
  /**
   * Returns problems with combinations of settings. `challenges` is true if at least one of the
   * application's MCP endpoints sends challenges.
   */
  problems?(config: McpConfig, challenges: boolean): readonly ConfigurationProblem[];
  /**
   * Adds the feature to an endpoint. The caller calls this method once for each endpoint, so keep
   * the endpoint's state in the returned object.
   */
  start(endpoint: McpContext): McpContribution;
}

/** Everything that a feature adds to one endpoint. */
export interface McpContribution {
  /** The registry of the items that the feature serves, for example resources. */
  readonly registry?: object;
  /** Whether the endpoint currently offers the members below. Called for each request. */
  isOffered(): boolean;
  /** Members to add to the endpoint's `capabilities`. */
  readonly capabilities?: Readonly<Record<string, object>>;
  /** Members for `capabilities.extensions`: the settings of MCP extensions, by their names. */
  readonly extensions?: Readonly<Record<string, object>>;
  /** The methods by name, for all protocol versions. */
  readonly methods?: Readonly<Record<string, ContributedMethod>>;
  /** Returns the members that the feature adds to a tool in `tools/list` for a protocol version. */
  toolMembers?(tool: RegisteredTool, version: string): Readonly<Record<string, unknown>>;
  /**
   * Returns members for the `_meta` of a tool error. The caller gets this error if its token does
   * not allow the call. Without this method, the caller gets a 401 or 403 response instead.
   * `challenge` is the text that `WWW-Authenticate` would contain.
   */
  refusedCallMeta?(challenge: string): Readonly<Record<string, unknown>>;
  /**
   * Returns every tool or resource that the feature guards, even while the endpoint does not offer
   * the feature. Portico checks their scopes at startup.
   */
  guarded?(): readonly Named[];
}

/** A guarded tool or resource and its name. */
export interface Named extends Guarded {
  /** The name in error messages, such as `the tool weather`. */
  readonly called: string;
}

/** A protocol method that a feature adds. */
export interface ContributedMethod {
  /**
   * The protocol type of its requests. If a request does not match, the caller gets the error
   * -32602.
   */
  readonly type: SpecTypeName;
  /**
   * Returns the guarded tool or resource that a request uses, or null. The endpoint checks whether
   * the token allows this use before the method runs. The parameters are not validated yet.
   */
  uses?(params: JSONRPCRequest['params']): GuardedUse | null;
  /**
   * Answers a request of this type. If this method throws, Portico logs the exception, and the
   * caller gets the error -32603.
   */
  answer(params: JSONRPCRequest['params'], caller: Caller): MethodAnswer | Promise<MethodAnswer>;
}

/**
 * A guarded tool or resource that a request uses, and the error messages for a token that does not
 * allow this use.
 */
export interface GuardedUse {
  readonly used: Guarded;
  readonly refusals: RefusalMessages;
}

/** The answer to a request: a result object or an error. */
export type MethodAnswer =
  { readonly result: Readonly<Record<string, unknown>> } | { readonly error: RpcError };
