import { specTypeSchemas, type CallToolResult } from '@modelcontextprotocol/server';

/** Content blocks that a tool has made itself: text, images, audio, embedded resources (MCP, Tool Result). */
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

/** What a tool returned, as a result of MCP. Throws when it is neither content of MCP nor JSON. */
export function toolResult(returned: unknown): CallToolResult {
  if (returned instanceof ToolContent) return contentResult(returned);
  const text = typeof returned === 'string' ? returned : (JSON.stringify(returned) ?? '');
  // The JSON form decides what is sent as structured content: a Date, for one, becomes a string.
  const sent: unknown = typeof returned === 'object' && returned !== null ? JSON.parse(text) : null;
  return { content: [{ type: 'text', text }], ...(isMap(sent) ? structured(sent) : {}) };
}

const BLOCK = specTypeSchemas.ContentBlock['~standard'];

function contentResult({ blocks, structuredContent }: ToolContent): CallToolResult {
  const sent = JSON.parse(JSON.stringify({ blocks, structuredContent })) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(sent['blocks'])) throw new TypeError('content() was not given a list of content blocks');
  const content = sent['blocks'].map((block: unknown, index) => {
    const checked = BLOCK.validate(block);
    if (checked.issues === undefined) return checked.value;
    throw new TypeError(`Block ${index} of content() is no content block of MCP`);
  });
  if (sent['structuredContent'] === null) return { content };
  if (!isMap(sent['structuredContent'])) {
    throw new TypeError('The structured content of content() is no object');
  }
  return { content, ...structured(sent['structuredContent']) };
}

/** Without a key that would become the prototype of an object to which a reader copies the others. */
function structured(content: Record<string, unknown>): Pick<CallToolResult, 'structuredContent'> {
  Reflect.deleteProperty(content, '__proto__');
  return { structuredContent: content };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A tool error (MCP, Error Handling): the model sees it and may try something else. */
export function errorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
