import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs `work` on behalf of a caller, usually a network (`findNetwork`). Callers take turns in the
 * queue for slow hashes.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Returns the caller that `runAsCaller` set for the current work, or null. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
