import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports of outgoing connections: one of those took a port between its choice and its use.
 */
const [FIRST, LAST] = [10_240, 32_767];

/**
 * Each worker of Vitest chooses from its own ports, and none twice for a file: two that chose one
 * port before either listened failed once in fourteen thousand tests. A simultaneous run starts
 * elsewhere.
 */
const SHARES = 64;
const SIZE = Math.floor((LAST - FIRST + 1) / SHARES);
const share = (process.ppid + Number(process.env['VITEST_POOL_ID'] ?? 0)) % SHARES;
const given = new Set<number>();

/** A free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const port = FIRST + share * SIZE + randomInt(SIZE);
  // After most of its share is used, the first ports of a file have long been released.
  if (given.size > SIZE / 2) given.clear();
  if (given.has(port)) return freePort();
  given.add(port);
  return (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
