import { AsyncLocalStorage } from 'node:async_hooks';

const contexts = new AsyncLocalStorage<unknown>();

/**
 * Runs work for a request, with what its framework gave along: its own request, or its context. Without any the work runs in the
 * context that is there, and nothing is entered.
 */
export function runInContext<T>(context: unknown, work: () => T): T {
  return context === undefined ? work() : contexts.run(context, work);
}

/** What the framework gave along with the request being answered; undefined when it gave nothing. */
export function currentContext(): unknown {
  return contexts.getStore();
}
