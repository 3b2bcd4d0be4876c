import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work on behalf of a caller: a client or user if known, and otherwise a network
 * (`findNetwork` in `addresses.ts`). All callers share some queues, for example the queue for slow
 * hashes. In such a queue, work waits only behind earlier work of the same caller.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Returns the caller that the current work is for, or null outside `runAsCaller`. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
