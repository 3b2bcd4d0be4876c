import { wellFormedJson } from 'portico/extension';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { readDescription, type JsonSchema, type ToolAnnotations, type ToolIcon } from './tool-description.ts';
import type { ToolAnswer } from './tool-questions.ts';
import type { TraceContext } from './trace.ts';

/** What a tool is given besides its arguments. */
export interface ToolCall {
  /**
   * Reports progress to the caller when it asked for that and the transport streams; otherwise does nothing. Never rejects,
   * also when the caller is gone.
   */
  readonly progress: (done: number, total?: number, message?: string) => Promise<void>;
  /**
   * Aborted when the call takes longer than `mcp:tool_timeout`, when the caller hangs up, and when it cancels the call with
   * `notifications/cancelled`; the caller then gets a tool error. A notification reaches a call of an account that is linked,
   * of the same access token, in the process that answers the notification. It ends none where several such calls have its id.
   * Before a proxy that balances several processes, and for a service token, count on the other two alone.
   */
  readonly signal: AbortSignal;
  /** Where the call belongs in a distributed trace; null when the client said nothing of it. */
  readonly trace: TraceContext | null;
  /**
   * The same in all rounds of a call that asks, and in no other. A tool that must act once for what was answered keeps it with
   * what it did, as the client may send the answers twice.
   */
  readonly id: string;
  /** What the tool gave to `ask()`, in the rounds after it; otherwise null. */
  readonly state: unknown;
  /** The answer to a question of `ask()`; null in the first round, and when it was not answered. */
  readonly answer: (question: string) => ToolAnswer | null;
  /** Whether the client can put a form to the person, or ask them to open a page: never before MCP 2026-07-28. */
  readonly canAsk: (kind: 'form' | 'page') => boolean;
}

/** A tool that an assistant can call. Without more it is public: any application with a token for this server may. */
export interface ToolInterface {
  /** Unique: 1 to 128 letters, digits, `_`, `-`, `.` and `/`. */
  name(): string;
  /** What it does, for the model that chooses among the tools. */
  description(): string;
  /** The schema of `handle`'s arguments. Taken once, when the tool is registered. */
  inputSchema(): JsonSchema;
  /** Its name for people. */
  title?(): string;
  /** What a client may expect of it. */
  annotations?(): ToolAnnotations;
  /**
   * The schema of its structured content, which is then part of every result but a tool error. A result that does not match is a
   * fault of the tool, as what it throws is. Clients before 2026-07-28 get it, and the content, only when it describes an object.
   */
  outputSchema?(): JsonSchema;
  /** Its pictures. */
  icons?(): readonly ToolIcon[];
  /**
   * Does the work. The arguments were checked against the schema. An object is answered as structured content with its
   * JSON text beside it, a `content()` as it is, anything else as text; an `ask()` asks first. What it throws goes to the log, and
   * the caller learns nothing but that the tool failed; throw a ToolError to tell them more.
   */
  handle(args: Readonly<Record<string, unknown>>, call: ToolCall): unknown;
}

/**
 * A personal tool: it acts for the account that the caller has linked, which `token().user()` gives. Called without one it
 * is answered 401. It needs the first scope of `mcp:oauth:scopes_supported` unless it is a ScopedToolInterface.
 */
export interface UserToolInterface extends ToolInterface {
  /** What makes a tool personal. */
  readonly personal: true;
}

/** A personal tool that needs a scope of its own; a token or account that does not reach it is answered 403. */
export interface ScopedToolInterface extends UserToolInterface {
  /** One of `oauth_server:scopes`. */
  scope(): string;
}

/** Its message goes to the caller as a tool error; nothing is logged. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** A registered tool: what it says of itself, read once, and its compiled schemas. */
export interface RegisteredTool {
  /** As the tool gave it. */
  readonly name: string;
  /** As the tool gave it. */
  readonly description: string;
  /** As the tool gave it. */
  readonly inputSchema: JsonSchema;
  /** As the tool gave it; null for none. */
  readonly title: string | null;
  /** As the tool gave them; null for none. */
  readonly annotations: ToolAnnotations | null;
  /** As the tool gave it; null for none. */
  readonly outputSchema: JsonSchema | null;
  /** As the tool gave them; null for none. */
  readonly icons: readonly ToolIcon[] | null;
  /** Whether it acts for a linked account. */
  readonly personal: boolean;
  /** Null for a tool without a scope of its own. */
  readonly scope: string | null;
  /** The tool itself. */
  readonly tool: ToolInterface;
  /** What is wrong with the arguments, in words for the model that made them; null when nothing is. */
  argumentsProblem(args: unknown): string | null;
  /** What is wrong with structured content, for the log; null when nothing is, or the tool has no `outputSchema()`. */
  resultProblem(structuredContent: unknown): string | null;
}

const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;

/** The scope of its own that a tool has; null for none. What cannot be one must not leave the tool public. */
function scopeOf(name: string, tool: ToolInterface): string | null {
  if ('scope' in tool && typeof tool.scope === 'function') return String(tool.scope());
  const scope: unknown = 'scope' in tool ? tool.scope : null;
  if (scope === null || scope === undefined) return null;
  throw new Error(`The scope of the tool ${name} must be a method that returns it`);
}

function isPersonal(name: string, tool: ToolInterface): boolean {
  const personal: unknown = 'personal' in tool ? tool.personal : null;
  if (personal === null || personal === undefined) return false;
  if (typeof personal === 'boolean') return personal;
  throw new Error(`The tool ${name} must say personal: true, or leave it out`);
}

/** What is wrong with a value, in words; null when nothing is. */
type Check = (value: unknown) => string | null;

/** Each tool gets its own validator: one shared by two schemas with the same `$id` would use the first for both. */
function compileSchema(
  name: string,
  member: 'inputSchema' | 'outputSchema',
  schema: JsonSchema,
  otherwise: string,
): Check {
  try {
    // An extension of Ajv, not JSON Schema: its validation returns a promise, which would count as valid.
    if ('$async' in schema) throw new Error('$async is no keyword of JSON Schema');
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

/** Reads what a tool says of itself, and compiles its schemas. Throws for what cannot be one. */
function readTool(tool: ToolInterface): RegisteredTool {
  const name = tool.name();
  if (!TOOL_NAME.test(name)) {
    throw new Error(`The tool name ${JSON.stringify(name)} is not 1 to 128 of A-Z a-z 0-9 _ - . /`);
  }
  // Clients are sent it well formed, so arguments are checked by the same.
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
  const scope = scopeOf(name, tool);
  return {
    name,
    description: tool.description(),
    inputSchema,
    ...readDescription(name, tool),
    outputSchema,
    personal: scope !== null || isPersonal(name, tool),
    scope,
    tool,
    argumentsProblem,
    resultProblem,
  };
}

/** The tools of one application, in the order of their registration. */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();
  #all: readonly RegisteredTool[] = [];

  /** Adds a tool. Throws when its name is taken or ill-formed, its schema is no schema of an object, `scope` is no method, or `personal` neither true nor false. */
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

  /** Every tool that is registered: the same list until one is added, and never changed. */
  all(): readonly RegisteredTool[] {
    return this.#all;
  }
}

/** An empty registry. */
export function createToolRegistry(): ToolRegistry {
  return new ToolRegistry();
}
