import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work for a caller. All callers share some queues, such as the queue for slow hashes. In such
 * a queue, the work waits behind other work of the same caller. A caller is a network
 * (`findNetwork` in `addresses.ts`), or a client or person if it is known.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Returns the caller for which the current work runs. Returns null outside of `runAsCaller`. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
