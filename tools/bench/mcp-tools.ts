/**
 * The tools of the two servers that `mcp.ts` measures. Only the first one is called. The others
 * make it harder to find.
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
