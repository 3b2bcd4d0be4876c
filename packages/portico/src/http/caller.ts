import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs `work` on behalf of a caller: a client or user if known, otherwise a network (`findNetwork`
 * in `addresses.ts`). In some queues, callers take turns, for example in the queue for slow hashes.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/**
 * Returns the caller that `runAsCaller` has set for the current work, or null if it has set no
 * caller.
 */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
