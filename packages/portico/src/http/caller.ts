import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string | null>();

/**
 * Runs work on behalf of a caller. In a queue that is shared by everybody, such as the one for slow hashes, it waits behind the
 * work of the same caller. A caller is a network (`networkOf` in `addresses.ts`), or somebody who is known better.
 */
export function onBehalfOf<T>(caller: string | null, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** The caller that the running work is done for; null outside of `onBehalfOf`. */
export function currentCaller(): string | null {
  return callers.getStore() ?? null;
}
