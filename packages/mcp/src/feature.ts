import type { JSONRPCRequest, SpecTypeName } from '@modelcontextprotocol/server';
import type { ConfigurationProblem } from '@portico/sql';
import type { z } from 'zod';
import type { McpConfig } from './config.ts';
import type { McpContext } from './context.ts';
import type { RpcError } from './protocol/rpc-error.ts';
import type { Guarded, RefusalMessages } from './tools/tool-access.ts';
import type { Caller } from './tools/tool-call.ts';
import type { RegisteredTool } from './tools/tools.ts';

/** A part of an MCP endpoint that adds something other than tools, for example resources. */
export interface McpFeature {
  /** The name of the feature and of its registry, in lowercase with underscores. */
  readonly name: string;
  /** The settings that the feature adds to the section `mcp`. */
  readonly config?: z.ZodRawShape;
  /**
   * Returns the application's additional endpoints. The keys are paths, and the values are the
   * endpoints' settings.
   */
  endpoints?(config: McpConfig): Readonly<Record<string, McpConfig>>;
  /**
   * Returns problems with settings that do not fit together. `challenges` is true if any MCP
   * endpoint of the application sends challenges.
   */
  problems?(config: McpConfig, challenges: boolean): readonly ConfigurationProblem[];
  /**
   * Adds the feature to an endpoint. Called once for each endpoint, so keep the endpoint's state in
   * the returned object.
   */
  start(endpoint: McpContext): McpContribution;
}

/** What a feature adds to one endpoint. */
export interface McpContribution {
  /** The registry of the items that the feature serves, for example resources. */
  readonly registry?: object;
  /**
   * Whether the endpoint offers the other members of this object at the moment. Called for each
   * request.
   */
  isOffered(): boolean;
  /** Members to add to the `capabilities` of the endpoint. */
  readonly capabilities?: Readonly<Record<string, object>>;
  /**
   * Members to add to `capabilities.extensions`. The keys are the names of MCP extensions, and the
   * values are their settings.
   */
  readonly extensions?: Readonly<Record<string, object>>;
  /** The methods that the feature adds, by name. They exist in all protocol versions. */
  readonly methods?: Readonly<Record<string, ContributedMethod>>;
  /** Returns members to add to a tool's entry in `tools/list` for this protocol version. */
  toolMembers?(tool: RegisteredTool, version: string): Readonly<Record<string, unknown>>;
  /**
   * Returns members for the `_meta` of a tool error. A caller gets this error if its token does not
   * allow a call. If no feature has this method, the caller gets a 401 or 403 response instead.
   * `challenge` is the text that `WWW-Authenticate` would contain.
   */
  refusedCallMeta?(challenge: string): Readonly<Record<string, unknown>>;
  /**
   * Returns every tool or resource that the feature guards, even if the endpoint does not offer the
   * feature at the moment. Portico checks their scopes when the application starts.
   */
  guarded?(): readonly Named[];
}

/** A guarded tool or resource, with a name for messages. */
export interface Named extends Guarded {
  /** The name for error messages, such as `the tool weather`. */
  readonly called: string;
}

/** A protocol method that a feature adds to the endpoint. */
export interface ContributedMethod {
  /**
   * The protocol type that requests of this method must match. Otherwise, the caller gets the error
   * -32602.
   */
  readonly type: SpecTypeName;
  /**
   * Returns the guarded tool or resource that a request uses, or null. Before the method runs, the
   * endpoint checks that the token allows this use. `params` has not been validated yet.
   */
  uses?(params: JSONRPCRequest['params']): GuardedUse | null;
  /**
   * Answers a request that matches the type. If this method throws, Portico logs the exception, and
   * the caller gets the error -32603.
   */
  answer(params: JSONRPCRequest['params'], caller: Caller): MethodAnswer | Promise<MethodAnswer>;
}

/**
 * A guarded tool or resource that a request uses, with the error messages for tokens that do not
 * allow this use.
 */
export interface GuardedUse {
  readonly used: Guarded;
  readonly refusals: RefusalMessages;
}

/** The answer to a request: a result or an error. */
export type MethodAnswer =
  { readonly result: Readonly<Record<string, unknown>> } | { readonly error: RpcError };
