import { AsyncLocalStorage } from 'node:async_hooks';
import net from 'node:net';
import { ConsoleError } from '../../application/errors.ts';

/**
 * How long a file may keep loading after it tried to start a server, in milliseconds. A slower file
 * probably waits for its server.
 */
const PATIENCE = 5000;

/** The function to call when the file starts a server, during loading or later. */
const loading = new AsyncLocalStorage<(stack: string) => void>();
let replaced = false;

/**
 * Loads a file without starting the servers in it. A console command must not serve requests, or
 * fail because a port is in use. Prints a single note if the file tries to start a server. Rejects
 * with a ConsoleError if the file waits for it.
 */
export async function withoutServers<Module>(
  file: string,
  load: () => Promise<Module>,
  write: (text: string) => void,
): Promise<Module> {
  replaceListen();
  const { promise: stuck, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const remedy =
    'Start the server in a separate file that imports this file, or create a portico.config.ts ' +
    'that exports only the definition.';
  const giveUp = () =>
    reject(new ConsoleError(`${file} starts a server, so it never finishes loading. ${remedy}`));
  function started(stack: string): void {
    if (timer !== undefined) return;
    write(
      `${file} starts a server when it is loaded${place(stack)}. This command did not start ` +
        `the server. ${remedy}\n`,
    );
    timer = setTimeout(giveUp, PATIENCE).unref();
    // `beforeExit` during loading means that nothing is left to run, but the file is not loaded.
    process.once('beforeExit', giveUp);
  }
  try {
    return await Promise.race([loading.run(started, load), stuck]);
  } finally {
    clearTimeout(timer);
    process.off('beforeExit', giveUp);
  }
}

function replaceListen(): void {
  if (replaced) return;
  replaced = true;
  const listen = Reflect.get(net.Server.prototype, 'listen') as (...args: unknown[]) => net.Server;
  Reflect.set(
    net.Server.prototype,
    'listen',
    function listenUnlessLoading(this: net.Server, ...args: unknown[]): net.Server {
      const started = loading.getStore();
      if (started === undefined) return listen.apply(this, args);
      const here = { stack: '' };
      Error.captureStackTrace(here, listenUnlessLoading);
      started(here.stack);
      return this;
    },
  );
}

/** Returns the first line of the stack outside packages, as ` (file:line)`, or an empty string. */
function place(stack: string): string {
  const own = stack
    .split('\n')
    .find((line) => /(?:file:\/\/|\()\//.test(line) && !/[\\/]node_modules[\\/]/.test(line));
  const [, at] = /(?:file:\/\/|\()(\/.*:\d+):\d+\)?$/.exec(own ?? '') ?? [];
  return at === undefined ? '' : ` (${at})`;
}
