import type { CallToolResult } from '@modelcontextprotocol/server';

/** Content blocks that a tool has put together itself: text, images, audio, embedded resources (MCP, Tool Result). */
export class ToolContent {
  readonly blocks: CallToolResult['content'];
  readonly structuredContent: Readonly<Record<string, unknown>> | null;

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
  if (typeof returned === 'object' && returned !== null && !Array.isArray(returned)) {
    // What JSON makes of it: a Date or a nested undefined would not be the same object on the other side.
    const text = JSON.stringify(returned);
    return {
      content: [{ type: 'text', text }],
      structuredContent: JSON.parse(text) as Record<string, unknown>,
    };
  }
  const text = typeof returned === 'string' ? returned : (JSON.stringify(returned) ?? '');
  return { content: [{ type: 'text', text }] };
}

/** A tool error (MCP, Error Handling): the model sees it and may try something else. */
export function errorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
