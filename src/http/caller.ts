import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work as work for this network (`networkOf` in `addresses.ts`): what it waits for in a line it shares with everybody,
 * such as a slow hash, it waits for behind the work of its own network.
 */
export function onBehalfOf<T>(network: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(network, work);
}

/** The network that the work at hand is done for; null when nobody said. */
export function callerNetwork(): string | null {
  return callers.getStore() ?? null;
}
