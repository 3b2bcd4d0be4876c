/**
 * The tools of both servers that `mcp.ts` calls: one to be called, and those it has to be found
 * among.
 */
export const TOOLS = Array.from({ length: 50 }, (_, index) => ({
  name: index === 0 ? 'service_status' : `tool_${index}`,
  description: `The tool ${index}, which is there to be listed and found`,
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'integer' } },
    additionalProperties: false,
  } as const,
  result: { status: 'available' },
}));
