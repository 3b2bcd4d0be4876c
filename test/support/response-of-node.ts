import { afterAll, beforeAll, vi } from 'vitest';

/**
 * Lets all tests of this file use the Response of Node. If another test in this process has loaded
 * `@hono/node-server`, the global Response is that of Hono, which checks its arguments only later.
 */
export function useResponseOfNode(): void {
  beforeAll(() => void vi.stubGlobal('Response', Response.error().constructor));
  afterAll(() => void vi.unstubAllGlobals());
}
