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

/**
 * The second argument of a tool's `handle`. It contains everything about the call except the
 * arguments.
 */
export interface ToolCall {
  /**
   * Reports progress to the caller. Does nothing unless the caller has requested progress, the
   * transport streams, the call is still running, and both numbers are finite. Never rejects, even
   * if the caller has disconnected.
   */
  readonly progress: (done: number, total?: number, message?: string) => Promise<void>;
  /**
   * A signal that is aborted if the call takes longer than `mcp:tool_timeout`, if the caller
   * disconnects, or if the caller cancels the call with `notifications/cancelled`. The caller then
   * gets a tool error.
   *
   * Cancellation works only if the notification reaches the same process, and its token has the
   * same authorization and a linked account. Also, no other such call may have the same id. With
   * several processes or with service tokens, rely only on the time limit and on disconnection.
   */
  readonly signal: AbortSignal;
  /** The distributed trace that the client sent with the call, or null if it sent none. */
  readonly trace: TraceContext | null;
  /**
   * The id of the call. It is the same in all rounds of the call, and different from the id of any
   * other call. A client may send its answers twice. If your tool must act only once, store this id
   * together with the result of the action.
   */
  readonly id: string;
  /**
   * The state that the tool passed to `ask()` in the previous round, or null in the first round.
   */
  readonly state: unknown;
  /**
   * Returns the answer to a question from `ask()`. Returns null in the first round, and if the
   * question was not answered.
   */
  readonly answer: (question: string) => ToolAnswer | null;
  /**
   * Whether the client can show a form to the user, or ask the user to open a page. Always false in
   * versions before MCP 2026-07-28.
   */
  readonly canAsk: (kind: 'form' | 'page') => boolean;
}

/**
 * A tool that an assistant can call. By default, a tool is public: every application with a token
 * for this endpoint can call it.
 */
export interface ToolInterface {
  /**
   * Returns the unique name of the tool. It has 1 to 128 letters, digits, `_`, `-`, `.` and `/`.
   */
  name(): string;
  /** Returns a description of what the tool does. The model uses it to choose a tool. */
  description(): string;
  /**
   * Returns the schema of the arguments for `handle`. Portico reads the schema only once, during
   * registration.
   */
  inputSchema(): JsonSchema;
  /** Returns the name that clients display. */
  title?(): string;
  /** Returns hints about how the tool behaves. */
  annotations?(): ToolAnnotations;
  /**
   * Returns the schema of structured content. If a tool has this method, every result must contain
   * structured content, except tool errors. A result that does not match the schema is treated like
   * an exception. In versions before 2026-07-28, clients get the schema only if it describes an
   * object, and structured content only if it is an object.
   */
  outputSchema?(): JsonSchema;
  /** Returns the icons of the tool. */
  icons?(): readonly ToolIcon[];
  /**
   * Performs the call. The arguments have been validated against the schema. Portico sends a
   * returned object as structured content and as JSON text, `content()` unchanged, and any other
   * value as text. A tool with `outputSchema()` can also return other JSON values as structured
   * content. Return `ask()` to ask questions first. If this method throws, Portico logs the
   * exception and tells the caller only that the tool failed. To tell the caller more, throw a
   * ToolError.
   */
  handle(args: Readonly<Record<string, unknown>>, call: ToolCall): unknown;
}

/**
 * A personal tool, which acts for the user who linked their account. `token().user()` returns this
 * user. A call without a linked account gets 401. The token needs the first scope of
 * `mcp:oauth:scopes_supported`, unless the tool is a ScopedToolInterface.
 */
export interface UserToolInterface extends ToolInterface {
  /** Marks the tool as personal. */
  readonly personal: true;
}

/**
 * A personal tool with its own scope. A call gets 403 if the token lacks this scope, or if the user
 * lacks the permission for this scope.
 */
export interface ScopedToolInterface extends UserToolInterface {
  /** Returns the scope of the tool, which must be in `oauth_server:scopes`. */
  scope(): string;
}

/**
 * An error whose message the caller gets as a tool error. Portico does not log it.
 *
 * @example
 * if (place === undefined) throw new ToolError('No place has this name. Try a larger one.');
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * A registered tool with its compiled schemas. Portico reads the tool's description only once,
 * during registration.
 */
export interface RegisteredTool extends Guarded {
  /** The value that the tool's `name()` returned. */
  readonly name: string;
  /** The value that the tool's `description()` returned. */
  readonly description: string;
  /** The value that the tool's `inputSchema()` returned. */
  readonly inputSchema: JsonSchema;
  /** The value that the tool's `title()` returned, or null without `title()`. */
  readonly title: string | null;
  /** The value that the tool's `annotations()` returned, or null without `annotations()`. */
  readonly annotations: ToolAnnotations | null;
  /** The value that the tool's `outputSchema()` returned, or null without `outputSchema()`. */
  readonly outputSchema: JsonSchema | null;
  /** The value that the tool's `icons()` returned, or null without `icons()`. */
  readonly icons: readonly ToolIcon[] | null;
  /** Whether the tool needs a linked account. */
  readonly personal: boolean;
  /** The tool's own scope, or null. */
  readonly scope: string | null;
  /** The tool that was registered. */
  readonly tool: ToolInterface;
  /**
   * Returns the problem with the arguments as a message for the model, or null if they are valid.
   */
  argumentsProblem(args: unknown): string | null;
  /**
   * Returns the problem with structured content for the log. Returns null if the content is valid,
   * or if the tool has no `outputSchema()`.
   */
  resultProblem(structuredContent: unknown): string | null;
}

const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;

/**
 * Compiles a schema of a tool. If the schema is invalid, throws an error that contains the tool's
 * name.
 */
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

/**
 * Reads and checks a tool's description, and compiles its schemas. Throws if a value is invalid.
 */
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
  // Check arguments against the schema that clients get, in which all text is well-formed.
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

/** The tools of one MCP endpoint, in the order in which they were registered. */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  #all: readonly RegisteredTool[] = [];

  /**
   * Registers a tool. Throws if its name is malformed or already registered, if the schema of its
   * arguments does not describe an object, or if any other part of its description is not valid.
   * Also throws if `scope` is not a method, or `personal` is not a boolean.
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
   * Returns all tools, in the order in which they were registered. Returns the same immutable list
   * until you register another tool.
   */
  all(): readonly RegisteredTool[] {
    return this.#all;
  }
}

/**
 * Creates an empty tool registry.
 *
 * @example
 * const tools = createToolRegistry();
 * tools.register(weather);
 */
export function createToolRegistry(): ToolRegistry {
  return new ToolRegistry();
}
