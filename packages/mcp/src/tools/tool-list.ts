import { jsonText } from 'portico/extension';
import type { Contributions } from '../contributions.ts';
import type { JsonSchema } from './tool-description.ts';
import type { RegisteredTool, ToolRegistry } from './tools.ts';

/**
 * Creates the list of tools for the result of `tools/list`. It is the same for every caller
 * (MCP-10.7), and is created again only after you add a tool.
 */
export class ToolList {
  readonly #registry: ToolRegistry;
  readonly #contributions: Contributions;
  readonly #written = new Map<string, string>();
  #tools: readonly RegisteredTool[] | null = null;

  constructor(registry: ToolRegistry, contributions: Contributions) {
    this.#registry = registry;
    this.#contributions = contributions;
  }

  /** Returns the list for a protocol version as JSON text. */
  text(version: string): string {
    const tools = this.#registry.all();
    if (this.#tools !== tools) {
      this.#tools = tools;
      this.#written.clear();
    }
    const known = this.#written.get(version);
    if (known !== undefined) return known;
    const text = jsonText(
      tools.map((tool) => ({
        ...listed(tool, version),
        ...this.#contributions.toolMembers(tool, version),
      })),
    );
    this.#written.set(version, text);
    return text;
  }
}

/** Returns a tool's entry in the list, with the members that this protocol version defines. */
function listed(tool: RegisteredTool, version: string): Readonly<Record<string, unknown>> {
  const { name, title, description, inputSchema, outputSchema, annotations, icons } = tool;
  return {
    name,
    ...(title !== null && version >= '2025-06-18' ? { title } : {}),
    description,
    inputSchema: { type: 'object', ...inputSchema },
    ...(outputSchema !== null && knowsOutput(outputSchema, version) ? { outputSchema } : {}),
    ...(annotations === null ? {} : { annotations }),
    ...(icons !== null && version >= '2025-11-25' ? { icons } : {}),
  };
}

/**
 * Whether the protocol version allows this output schema. Up to version 2025-11-25, structured
 * content must be an object. Later versions allow any JSON value.
 */
function knowsOutput(outputSchema: JsonSchema, version: string): boolean {
  return version >= '2026-07-28' || (version >= '2025-06-18' && outputSchema['type'] === 'object');
}
