import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The range of ports. It is below the ports of outgoing connections, because an outgoing connection
 * could take a port between its choice and its use.
 */
const [FIRST, LAST] = [10_240, 32_767];

/**
 * Each worker of Vitest has its own share of the ports, and uses no port twice in a file. Without
 * shares, two workers could choose the same port before either of them listens. This happened once
 * in fourteen thousand tests. A second run at the same time starts at another port.
 */
const SHARES = 64;
const SIZE = Math.floor((LAST - FIRST + 1) / SHARES);
const share = (process.ppid + Number(process.env['VITEST_POOL_ID'] ?? 0)) % SHARES;
const given = new Set<number>();

/** Returns a free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const port = FIRST + share * SIZE + randomInt(SIZE);
  // When half of the share is used, the first ports of the file have been free for a long time.
  // Allow all ports again.
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
