import { jsonText } from '../contracts/json.ts';
import type { JsonSchema } from './tool-description.ts';
import type { RegisteredTool, ToolRegistry } from './tools.ts';

/** The text of the member `tools` in the result of `tools/list`, the same for every caller (MCP-10.7). */
export type ToolList = (version: string) => string;

/** It is written again only when a tool was added; */
export function createToolList(registry: ToolRegistry): ToolList {
  let tools: readonly RegisteredTool[] | null = null;
  const written = new Map<string, string>();
  return (version) => {
    if (tools !== registry.all()) {
      tools = registry.all();
      written.clear();
    }
    const known = written.get(version);
    if (known !== undefined) return known;
    const text = jsonText(tools.map((tool) => listed(tool, version)));
    written.set(version, text);
    return text;
  };
}

/** A tool: of what it says, what this version of the protocol knows. */
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

/** Structured content was an object until 2025-11-25, and may be any JSON value since. */
function knowsOutput(outputSchema: JsonSchema, version: string): boolean {
  return version >= '2026-07-28' || (version >= '2025-06-18' && outputSchema['type'] === 'object');
}
