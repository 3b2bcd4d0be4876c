import { jsonText } from 'portico/extension';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { readAs } from '../protocol/protocol-types.ts';
import type { RegisteredTool } from './tools.ts';

/**
 * The content blocks of a tool's result, such as text, images, audio and embedded resources (MCP,
 * Tool Result). Use `content()` to create them.
 */
export class ToolContent {
  /** The blocks for the model, in order. */
  readonly blocks: CallToolResult['content'];
  /** The same content as structured data, or null. */
  readonly structuredContent: Readonly<Record<string, unknown>> | null;

  /** Do not call this constructor. Use `content()` instead. */
  constructor(
    blocks: CallToolResult['content'],
    structuredContent: Readonly<Record<string, unknown>> | null,
  ) {
    this.blocks = blocks;
    this.structuredContent = structuredContent;
  }
}

/**
 * Creates content that a tool can return as its result. Portico sends exactly these blocks. Only
 * for protocol versions before 2025-06-18, it replaces resource links with text. If a block is not
 * an MCP content block, the call fails, as if the tool had thrown.
 *
 * @example
 * return content([{ type: 'image', data: png.toString('base64'), mimeType: 'image/png' }]);
 */
export function content(
  blocks: CallToolResult['content'],
  structuredContent: Readonly<Record<string, unknown>> | null = null,
): ToolContent {
  return new ToolContent(blocks, structuredContent);
}

/**
 * A tool result as Portico sends it. From version 2026-07-28, structured content can be any JSON
 * value. In earlier versions, it must be an object.
 */
export interface ToolResult {
  readonly content: CallToolResult['content'];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/**
 * Converts what a tool returned into an MCP result. Throws if the value is neither MCP content nor
 * JSON, or if it does not match the tool's output schema.
 */
export function toolResult(tool: RegisteredTool, returned: unknown): ToolResult {
  const described = tool.outputSchema !== null;
  const result = plainResult(returned, described);
  if (!described) return result;
  const problem =
    result.structuredContent === undefined
      ? 'there is no structured content'
      : tool.resultProblem(result.structuredContent);
  if (problem === null) return result;
  throw new TypeError(`The result does not match outputSchema(): ${problem}`);
}

function plainResult(returned: unknown, described: boolean): ToolResult {
  if (returned instanceof ToolContent) return contentResult(returned);
  const text = typeof returned === 'string' ? returned : (jsonText(returned) ?? '');
  // Use the JSON form for structured content. For example, a Date becomes a string.
  const sent: unknown = typeof returned === 'object' && returned !== null ? JSON.parse(text) : null;
  const content = [{ type: 'text' as const, text }];
  if (isMap(sent)) return { content, ...structured(sent) };
  if (!described || returned === undefined) return { content };
  return { content, structuredContent: JSON.parse(jsonText(returned)) as unknown };
}

function contentResult({ blocks, structuredContent }: ToolContent): ToolResult {
  const sent = JSON.parse(jsonText({ blocks, structuredContent })) as Readonly<
    Record<string, unknown>
  >;
  if (!Array.isArray(sent['blocks']))
    throw new TypeError('content() must get a list of content blocks');
  const content = sent['blocks'].map((block: unknown, index) => {
    const checked = readAs('ContentBlock', block);
    if (checked !== null) return checked;
    throw new TypeError(
      `Block ${index} in the list that content() gets is not an MCP content block`,
    );
  });
  if (sent['structuredContent'] === null) return { content };
  if (!isMap(sent['structuredContent'])) {
    throw new TypeError('The structured content that content() gets must be an object');
  }
  return { content, ...structured(sent['structuredContent']) };
}

/**
 * Returns structured content without the key `__proto__`, which could replace the prototype of a
 * copied object.
 */
function structured(content: Record<string, unknown>): {
  readonly structuredContent?: Record<string, unknown>;
} {
  Reflect.deleteProperty(content, '__proto__');
  return { structuredContent: content };
}

/**
 * Converts a result for a version before 2026-07-28. Removes structured content that is not an
 * object, because these versions do not allow it. Also replaces resource links with text for
 * versions before 2025-06-18, which do not have them.
 */
export function asBefore(result: ToolResult, version: string): ToolResult {
  const known =
    version >= '2025-06-18' ? result : { ...result, content: result.content.map(linkAsText) };
  if (known.structuredContent === undefined || isMap(known.structuredContent)) return known;
  const { structuredContent: _, ...rest } = known;
  return rest;
}

function linkAsText(block: ToolResult['content'][number]): ToolResult['content'][number] {
  if (block.type !== 'resource_link') return block;
  return { type: 'text', text: `${block.name}: ${block.uri}` };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Creates a tool error (MCP, Error Handling). The model sees this error, and may try something
 * else.
 */
export function errorResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
