import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that the system gives to connections on their way out: one of them took a port between its choice and its use. */
const [FIRST, LAST] = [10_240, 32_767];

/** A free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const port = randomInt(FIRST, LAST + 1);
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
