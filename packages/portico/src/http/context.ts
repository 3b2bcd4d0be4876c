import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log, LogContext } from '@portico/sql';

interface Answering {
  /** The framework's request or context object, or undefined. */
  readonly context: unknown;
  readonly requestId: RequestId;
}

/** An id, or a function that may create the id in its first call. Null if the host set no id. */
type RequestId = string | (() => string) | null;

const requests = new AsyncLocalStorage<Answering>();

/**
 * Runs work in the context in which this module was loaded. Portico handles no request at that
 * time. It may already handle one when an application creates the server.
 */
const outside = AsyncLocalStorage.snapshot();

/**
 * Runs `work` for a request. `context` is the framework's request or context object. If `context`
 * is undefined or `requestId` is null, uses the value of the enclosing request. If `context` is
 * undefined and the id stays the same, creates no new async context.
 */
export function runInContext<T>(context: unknown, requestId: RequestId, work: () => T): T {
  const outside = requests.getStore();
  const known = outside?.requestId ?? null;
  // An existing id takes precedence over a function that would create another id.
  const id =
    requestId === null || (typeof requestId === 'function' && known !== null) ? known : requestId;
  if (context === undefined && id === known) return work();
  return requests.run({ context: context ?? outside?.context, requestId: id }, work);
}

/**
 * Runs `work` outside the current request, also for the contexts of the application. Use this
 * function for work that belongs to several requests or runs after the response.
 */
export function runForNoRequest<T>(work: () => T): T {
  return outside(work);
}

/** Returns the framework's request or context object, or undefined outside a request. */
export function currentContext(): unknown {
  return requests.getStore()?.context;
}

/** Returns the id of the current request, or null. */
export function currentRequestId(): string | null {
  const { requestId = null } = requests.getStore() ?? {};
  return typeof requestId === 'function' ? requestId() : requestId;
}

/**
 * Returns a log that adds `requestId` to each line without one. The returned log never throws. If
 * the application's log fails, the line is lost, but the request continues.
 */
export function withCurrentRequestId(log: Log): Log {
  const named = (context: LogContext | undefined): LogContext | undefined => {
    const requestId = currentRequestId();
    if (requestId === null || typeof context?.['requestId'] === 'string') return context;
    return { ...context, requestId };
  };
  const write =
    (level: keyof Log): Log[keyof Log] =>
    (message, context) => {
      try {
        const written: unknown = log[level](message, named(context));
        // The application's log function may be asynchronous.
        if (written instanceof Promise) written.catch(() => {});
      } catch {
        // There is no other place to report this error.
      }
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warning: write('warning'),
    error: write('error'),
  };
}
