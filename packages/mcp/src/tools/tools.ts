import { wellFormedJson } from 'portico/extension';
import { readGuard } from './guard.ts';
import { schemaCheck, type Check } from './json-schema.ts';
import type { Guarded } from './tool-access.ts';
import {
  readDescription,
  type JsonSchema,
  type ToolAnnotations,
  type ToolIcon,
} from './tool-description.ts';
import type { ToolAnswer } from './tool-questions.ts';
import type { TraceContext } from './trace.ts';

/** The second argument of a tool's `handle`: the call itself, besides its arguments. */
export interface ToolCall {
  /**
   * Reports progress if the caller requested progress, the transport streams, and the call has not
   * ended. Otherwise, or if a number is not finite, does nothing. Never rejects, even if the caller
   * has disconnected.
   */
  readonly progress: (done: number, total?: number, message?: string) => Promise<void>;
  /**
   * A signal that is aborted in these cases: the call takes longer than `mcp:tool_timeout`, the
   * caller disconnects, or the caller cancels the call with `notifications/cancelled`. The caller
   * then gets a tool error.
   *
   * Cancelling works only if the same process receives the notification with a token of the same
   * authorization, the token has a linked account, and no other such call has the same id. With
   * several processes or service tokens, rely only on the time limit and on disconnecting.
   */
  readonly signal: AbortSignal;
  /** The distributed trace that the call belongs to. Null if the client sent no trace. */
  readonly trace: TraceContext | null;
  /**
   * The call's id. It is the same in all rounds of one call, and different for every other call. A
   * client may send its answers twice. If your tool must act only once, store this id together with
   * the result of the action.
   */
  readonly id: string;
  /**
   * The state that the tool passed to `ask()` in the previous round. It is null in the first round.
   */
  readonly state: unknown;
  /**
   * Returns the answer to a question from `ask()`. Returns null in the first round, or if the
   * question was not answered.
   */
  readonly answer: (question: string) => ToolAnswer | null;
  /**
   * Whether the client can show a form to the user, or ask them to open a page. Always false in
   * versions before MCP 2026-07-28.
   */
  readonly canAsk: (kind: 'form' | 'page') => boolean;
}

/**
 * A tool that an assistant can call. By default, a tool is public: any application with a token for
 * this endpoint can call it.
 */
export interface ToolInterface {
  /** The tool's unique name: 1 to 128 letters, digits, `_`, `-`, `.` and `/`. */
  name(): string;
  /** Describes what the tool does. The model reads this description to choose a tool. */
  description(): string;
  /**
   * The schema of `handle`'s arguments. Portico reads the schema once, when you register the tool.
   */
  inputSchema(): JsonSchema;
  /** The name that clients display. */
  title?(): string;
  /** Hints that tell a client how the tool behaves. */
  annotations?(): ToolAnnotations;
  /**
   * The schema of structured content. If you set it, every result except a tool error contains
   * structured content. Portico handles a result that does not match like an exception. Clients
   * before 2026-07-28 get the schema and the structured content only if the schema describes an
   * object.
   */
  outputSchema?(): JsonSchema;
  /** The tool's icons. */
  icons?(): readonly ToolIcon[];
  /**
   * Does the work. Portico has validated the arguments against the schema. Portico sends a returned
   * object as structured content and as JSON text, `content()` unchanged, and any other value as
   * text. Return `ask()` to ask questions first. If this method throws, Portico logs the exception,
   * and the caller learns only that the tool failed. Throw a ToolError to tell the caller more.
   */
  handle(args: Readonly<Record<string, unknown>>, call: ToolCall): unknown;
}

/**
 * A personal tool. It acts for the caller's linked account, which `token().user()` returns. A call
 * without a linked account gets 401. The token needs the first scope of
 * `mcp:oauth:scopes_supported`, unless the tool is a ScopedToolInterface.
 */
export interface UserToolInterface extends ToolInterface {
  /** Makes the tool personal. */
  readonly personal: true;
}

/**
 * A personal tool with its own scope. The call gets 403 if the token does not have the scope, or
 * the account does not have the scope's permission.
 */
export interface ScopedToolInterface extends UserToolInterface {
  /** The tool's scope, which must be in `oauth_server:scopes`. */
  scope(): string;
}

/** Throw this error to send its message to the caller as a tool error. Portico does not log it. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * A registered tool with its compiled schemas. Portico reads the tool's description once, when you
 * register the tool.
 */
export interface RegisteredTool extends Guarded {
  /** The return value of the tool's `name()`. */
  readonly name: string;
  /** The return value of the tool's `description()`. */
  readonly description: string;
  /** The return value of the tool's `inputSchema()`. */
  readonly inputSchema: JsonSchema;
  /** The return value of the tool's `title()`. Null if the tool has no `title()`. */
  readonly title: string | null;
  /** The return value of the tool's `annotations()`. Null if the tool has no `annotations()`. */
  readonly annotations: ToolAnnotations | null;
  /** The return value of the tool's `outputSchema()`. Null if the tool has no `outputSchema()`. */
  readonly outputSchema: JsonSchema | null;
  /** The return value of the tool's `icons()`. Null if the tool has no `icons()`. */
  readonly icons: readonly ToolIcon[] | null;
  /** Whether the tool acts for a linked account. */
  readonly personal: boolean;
  /** The tool's own scope, or null. */
  readonly scope: string | null;
  /** The tool itself. */
  readonly tool: ToolInterface;
  /**
   * Returns the problem with the arguments, as a message for the model. Returns null if the
   * arguments are valid.
   */
  argumentsProblem(args: unknown): string | null;
  /**
   * Returns the problem with structured content, for the log. Returns null if the content is valid,
   * or if the tool has no `outputSchema()`.
   */
  resultProblem(structuredContent: unknown): string | null;
}

const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;

/** Compiles a schema of a tool. Throws an error with the tool's name for an invalid schema. */
function compileSchema(
  name: string,
  member: 'inputSchema' | 'outputSchema',
  schema: JsonSchema,
  otherwise: string,
): Check {
  try {
    return schemaCheck(schema, otherwise);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The ${member}() of the tool ${name} cannot be used: ${reason}`, {
      cause: error,
    });
  }
}

/** Reads a tool's description and compiles its schemas. Throws for invalid values. */
function readTool(tool: ToolInterface): RegisteredTool {
  const name: unknown = tool.name();
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    throw new Error(
      `The tool name ${JSON.stringify(name)} must have 1 to 128 of these characters: A-Z a-z 0-9 _ - . /`,
    );
  }
  const description: unknown = tool.description();
  if (typeof description !== 'string')
    throw new Error(`The description() of the tool ${name} must return a string`);
  // Clients get the schema with well-formed text, so check arguments against the same schema.
  const inputSchema = wellFormedJson(tool.inputSchema());
  if (inputSchema['type'] !== 'object') {
    throw new Error(
      `The inputSchema() of the tool ${name} must describe an object: { type: 'object', … }`,
    );
  }
  const argumentsProblem = compileSchema(
    name,
    'inputSchema',
    inputSchema,
    'The arguments do not match the schema.',
  );
  const outputSchema =
    typeof tool.outputSchema === 'function' ? wellFormedJson(tool.outputSchema()) : null;
  const resultProblem =
    outputSchema === null
      ? () => null
      : compileSchema(name, 'outputSchema', outputSchema, 'It does not match the schema.');
  return {
    name,
    description,
    inputSchema,
    ...readDescription(name, tool),
    outputSchema,
    ...readGuard('tool', name, tool),
    tool,
    argumentsProblem,
    resultProblem,
  };
}

/** The tools of one MCP endpoint, in the order of registration. */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  #all: readonly RegisteredTool[] = [];

  /**
   * Adds a tool. Throws if another tool has the same name, or if the name is malformed. Also throws
   * if the schema of its arguments does not describe an object, if `scope` is not a method, or if
   * `personal` is not a boolean.
   */
  register(tool: ToolInterface): void {
    const registered = readTool(tool);
    const { name } = registered;
    if (this.#tools.has(name)) throw new Error(`Two tools are named ${name}`);
    this.#tools.set(name, registered);
    this.#all = [...this.#tools.values()];
  }

  /** Returns the tool with this name, or null. */
  find(name: string): RegisteredTool | null {
    return this.#tools.get(name) ?? null;
  }

  /**
   * Returns all registered tools. The list is immutable and stays the same object until you add a
   * tool.
   */
  all(): readonly RegisteredTool[] {
    return this.#all;
  }
}

/** Creates a registry without tools. */
export function createToolRegistry(): ToolRegistry {
  return new ToolRegistry();
}
