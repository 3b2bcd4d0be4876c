import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work for a caller. In a queue that all callers share, such as the one for slow hashes, it
 * waits behind other work of the same caller. A caller is a network (`findNetwork` in
 * `addresses.ts`), or a better-known party.
 */
export function runAsCaller<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Returns the caller that the current work runs for. Null outside of `runAsCaller`. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
