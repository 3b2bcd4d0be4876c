import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work as work for this caller: what it waits for in a line it shares with everybody, such as a slow hash, it waits for
 * behind the work for the same caller. That is a network (`networkOf` in `addresses.ts`), or one that is known better.
 */
export function onBehalfOf<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Whom the work at hand is done for; null when nobody said. */
export function callerAtHand(): string | null {
  return callers.getStore() ?? null;
}
