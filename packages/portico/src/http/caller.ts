import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work for a caller: a client or user if known, and otherwise a network (`findNetwork` in
 * `addresses.ts`). Some queues, for example the one for slow hashes, use the caller to let callers
 * take turns.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Returns the caller of the current work, or null outside `runAsCaller`. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
