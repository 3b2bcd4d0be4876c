import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work for a caller. In a queue that all callers share, such as the queue for slow hashes, the
 * work waits behind other work of the same caller. A caller is a network (`findNetwork` in
 * `addresses.ts`), or a party that is better known.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Returns the caller that the current work runs for. Returns null outside of `runAsCaller`. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
