import type { CallToolResult } from '@modelcontextprotocol/server';

/** Content blocks that a tool has put together itself: text, images, audio, embedded resources (MCP, Tool Result). */
export class ToolContent {
  /** What the model reads, in this order. */
  readonly blocks: CallToolResult['content'];
  /** The same as data; null for none. */
  readonly structuredContent: Readonly<Record<string, unknown>> | null;

  /** Use `content()`. */
  constructor(
    blocks: CallToolResult['content'],
    structuredContent: Readonly<Record<string, unknown>> | null,
  ) {
    this.blocks = blocks;
    this.structuredContent = structuredContent;
  }
}

/** Answers a tool call with these blocks as they are. */
export function content(
  blocks: CallToolResult['content'],
  structuredContent: Readonly<Record<string, unknown>> | null = null,
): ToolContent {
  return new ToolContent(blocks, structuredContent);
}

/** What a tool returned, as MCP answers it. */
export function resultOf(returned: unknown): CallToolResult {
  if (returned instanceof ToolContent) {
    const { blocks, structuredContent } = returned;
    return { content: blocks, ...(structuredContent === null ? {} : { structuredContent }) };
  }
  const text = typeof returned === 'string' ? returned : (JSON.stringify(returned) ?? '');
  // What JSON makes of it decides: a Date is a text on the other side.
  const sent: unknown = typeof returned === 'object' && returned !== null ? JSON.parse(text) : null;
  return {
    content: [{ type: 'text', text }],
    ...(isMap(sent) ? { structuredContent: sent } : {}),
  };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A tool error (MCP, Error Handling): the model sees it and may try something else. */
export function errorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
