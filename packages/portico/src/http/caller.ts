import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work for a caller. All callers share some queues, for example the queue for slow hashes. In
 * such a queue, the work waits behind other work of the same caller. A caller is a network
 * (`findNetwork` in `addresses.ts`), or a client or person if known.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Returns the caller that the current work runs for, or null outside `runAsCaller`. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
