import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs `work` on behalf of a caller, usually a network (`findNetwork` in `addresses.ts`). In the
 * queue for slow hashes, callers take turns.
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
