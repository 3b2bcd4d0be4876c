// @engines sqlite: what a process keeps in its heap is no matter of the database
import { describe, expect, test } from 'vitest';
import { soak, SOAKED } from './support/mcp/soak.ts';
import { SCALE } from './support/scale.ts';

/** A leaked call would keep some twenty thousand bytes. */
const BYTES_A_CALL = 4000;

describe('a call of the MCP endpoint leaves nothing behind in a small heap: in JSON, streaming, and with a caller who hangs up', () => {
  // @shows MCP-8.12
  test.each(SOAKED.slice(0, SCALE.soakedMounts))('%s', async (mount) => {
    const { json, streaming, hungUp } = await soak({ mount, calls: SCALE.mcpCalls, heap: 64 });
    expect(json).toBeLessThan(BYTES_A_CALL);
    expect(streaming).toBeLessThan(BYTES_A_CALL);
    expect(hungUp).toBeLessThan(BYTES_A_CALL);
  });
});
