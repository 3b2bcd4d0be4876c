// @engines sqlite: what a process keeps in its heap is no matter of the database
import { describe, expect, test } from 'vitest';
import { KIT, soak } from './support/mcp/soak.ts';
import { SCALE } from './support/scale.ts';

/** A leaked call would keep some twenty thousand bytes. */
const BYTES_A_CALL = 4000;

/** Express and Fastify use `portico/node`. */
const MOUNTS = [
  KIT,
  'portico/node',
  'portico/express',
  'portico/fastify',
  'portico/koa',
  'Hono, with encrypted sessions',
];

describe('a call of the MCP endpoint leaves nothing behind in a small heap, in JSON and streaming', () => {
  // @shows MCP-8.12
  test.each(MOUNTS.slice(0, SCALE.soakedMounts))('%s', async (mount) => {
    const { json, streaming } = await soak({ mount, calls: SCALE.mcpCalls, heap: 64 });
    expect(json).toBeLessThan(BYTES_A_CALL);
    expect(streaming).toBeLessThan(BYTES_A_CALL);
  });
});
