/**
 * The tools of the two servers that `mcp.ts` measures. The benchmark calls only the first one. The
 * others make the lookup harder.
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
