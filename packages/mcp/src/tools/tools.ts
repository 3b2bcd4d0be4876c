import { wellFormedJson } from 'portico/extension';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { readGuard } from './guard.ts';
import type { Guarded } from './tool-access.ts';
import { readDescription, type JsonSchema, type ToolAnnotations, type ToolIcon } from './tool-description.ts';
import type { ToolAnswer } from './tool-questions.ts';
import type { TraceContext } from './trace.ts';

/** What a tool receives besides its arguments. */
export interface ToolCall {
  /**
   * Reports progress, if the caller asked for it and the transport streams. Otherwise does nothing.
   * Never rejects, even when the caller is gone.
   */
  readonly progress: (done: number, total?: number, message?: string) => Promise<void>;
  /**
   * Aborted when the call takes longer than `mcp:tool_timeout`, when the caller hangs up, and when
   * it cancels the call with `notifications/cancelled`. The caller then gets a tool error. A
   * notification only cancels a call with a linked account and the same access token, in the
   * process that receives the notification, and only if no other such call has the same id. Behind
   * a load balancer with several processes, and with service tokens, rely on the other two.
   */
  readonly signal: AbortSignal;
  /** The call's place in a distributed trace. Null when the client sent none. */
  readonly trace: TraceContext | null;
  /**
   * The same in all rounds of a call that asks, and different for every other call. A tool that
   * must act only once on the answers stores this id with its action, because the client may send
   * the answers twice.
   */
  readonly id: string;
  /** The state that the tool passed to `ask()`, in the rounds after it. Otherwise null. */
  readonly state: unknown;
  /**
   * The answer to a question of `ask()`. Null in the first round, and if the question was not
   * answered.
   */
  readonly answer: (question: string) => ToolAnswer | null;
  /**
   * Whether the client can show the person a form, or ask them to open a page. Always false before
   * MCP 2026-07-28.
   */
  readonly canAsk: (kind: 'form' | 'page') => boolean;
}

/**
 * A tool that an assistant can call. By default it is public: any application with a token for this
 * server may call it.
 */
export interface ToolInterface {
  /** Unique: 1 to 128 letters, digits, `_`, `-`, `.` and `/`. */
  name(): string;
  /** What the tool does, for the model that chooses among the tools. */
  description(): string;
  /** The schema of `handle`'s arguments. Read once, when the tool is registered. */
  inputSchema(): JsonSchema;
  /** The display name. */
  title?(): string;
  /** What a client may expect of the tool. */
  annotations?(): ToolAnnotations;
  /**
   * The schema of the structured content, which is then part of every result except a tool error. A
   * result that does not match is a fault of the tool, like an exception. Clients before 2026-07-28
   * get the schema and the structured content only if it describes an object.
   */
  outputSchema?(): JsonSchema;
  /** The tool's icons. */
  icons?(): readonly ToolIcon[];
  /**
   * Does the work. The arguments have been checked against the schema. An object is answered as
   * structured content with its JSON text beside it, a `content()` as it is, anything else as text.
   * An `ask()` asks first. Exceptions go to the log, and the caller learns only that the tool
   * failed. Throw a ToolError to tell the caller more.
   */
  handle(args: Readonly<Record<string, unknown>>, call: ToolCall): unknown;
}

/**
 * A personal tool. It acts for the account that the caller has linked, which `token().user()`
 * returns. A call without an account is answered 401. It needs the first scope of
 * `mcp:oauth:scopes_supported`, unless it is a ScopedToolInterface.
 */
export interface UserToolInterface extends ToolInterface {
  /** Makes the tool personal. */
  readonly personal: true;
}

/**
 * A personal tool that needs a separate scope. A token or account without the scope is answered
 * 403.
 */
export interface ScopedToolInterface extends UserToolInterface {
  /** One of `oauth_server:scopes`. */
  scope(): string;
}

/** The caller gets the message as a tool error. Nothing is logged. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** A registered tool: its description, read once, and its compiled schemas. */
export interface RegisteredTool extends Guarded {
  /** As the tool returned it. */
  readonly name: string;
  /** As the tool returned it. */
  readonly description: string;
  /** As the tool returned it. */
  readonly inputSchema: JsonSchema;
  /** As the tool returned it, or null. */
  readonly title: string | null;
  /** As the tool returned them, or null. */
  readonly annotations: ToolAnnotations | null;
  /** As the tool returned it, or null. */
  readonly outputSchema: JsonSchema | null;
  /** As the tool returned them, or null. */
  readonly icons: readonly ToolIcon[] | null;
  /** Whether the tool acts for a linked account. */
  readonly personal: boolean;
  /** Null for a tool without a separate scope. */
  readonly scope: string | null;
  /** The tool itself. */
  readonly tool: ToolInterface;
  /** What is wrong with the arguments, in words for the model. Null if nothing is. */
  argumentsProblem(args: unknown): string | null;
  /**
   * What is wrong with structured content, for the log. Null if nothing is, or if the tool has no
   * `outputSchema()`.
   */
  resultProblem(structuredContent: unknown): string | null;
}

const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;

/** What is wrong with a value, in words. Null if nothing is. */
type Check = (value: unknown) => string | null;

/**
 * Each tool gets a separate validator. A shared one would use the first of two schemas with the
 * same `$id` for both.
 */
function compileSchema(
  name: string,
  member: 'inputSchema' | 'outputSchema',
  schema: JsonSchema,
  otherwise: string,
): Check {
  try {
    // An extension of Ajv and not JSON Schema. Its validation returns a promise, which would count
    // as valid.
    if ('$async' in schema) throw new Error('$async is not a JSON Schema keyword');
    const validate = new AjvJsonSchemaValidator().getValidator({ ...schema });
    return (value) => {
      const result = validate(value);
      return result.valid ? null : (result.errorMessage ?? otherwise);
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The ${member}() of the tool ${name} cannot be used: ${reason}`, { cause: error });
  }
}

/** Reads a tool's description and compiles its schemas. Throws for invalid values. */
function readTool(tool: ToolInterface): RegisteredTool {
  const name = tool.name();
  if (!TOOL_NAME.test(name)) {
    throw new Error(`The tool name ${JSON.stringify(name)} is not 1 to 128 of A-Z a-z 0-9 _ - . /`);
  }
  // Clients get the schema with well-formed text, so check arguments against the same.
  const inputSchema = wellFormedJson(tool.inputSchema());
  if (inputSchema['type'] !== 'object') {
    throw new Error(`The inputSchema() of the tool ${name} must describe an object: { type: 'object', … }`);
  }
  const argumentsProblem = compileSchema(
    name,
    'inputSchema',
    inputSchema,
    'The arguments do not match the schema.',
  );
  const outputSchema = typeof tool.outputSchema === 'function' ? wellFormedJson(tool.outputSchema()) : null;
  const resultProblem =
    outputSchema === null
      ? () => null
      : compileSchema(name, 'outputSchema', outputSchema, 'It does not match the schema.');
  return {
    name,
    description: tool.description(),
    inputSchema,
    ...readDescription(name, tool),
    outputSchema,
    ...readGuard('tool', name, tool),
    tool,
    argumentsProblem,
    resultProblem,
  };
}

/** The tools of one application, in the order of their registration. */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  #all: readonly RegisteredTool[] = [];

  /**
   * Adds a tool. Throws if its name is taken or ill-formed, its schema is not the schema of an
   * object, `scope` is not a method, or `personal` is not a boolean.
   */
  register(tool: ToolInterface): void {
    const registered = readTool(tool);
    const { name } = registered;
    if (this.#tools.has(name)) throw new Error(`Two tools are named ${name}`);
    this.#tools.set(name, registered);
    this.#all = [...this.#tools.values()];
  }

  /** The tool of this name, or null. */
  find(name: string): RegisteredTool | null {
    return this.#tools.get(name) ?? null;
  }

  /** All registered tools: the same list until a tool is added. A list never changes. */
  all(): readonly RegisteredTool[] {
    return this.#all;
  }
}

/** An empty registry. */
export function createToolRegistry(): ToolRegistry {
  return new ToolRegistry();
}
