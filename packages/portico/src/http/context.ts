import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log, LogContext } from '@portico/sql';

/** The current request. */
interface Answering {
  /** The framework's request or context object, or undefined. */
  readonly context: unknown;
  readonly requestId: RequestId;
}

/**
 * The request id, or a function that creates it on demand. Null if the host did not identify the
 * request.
 */
type RequestId = string | (() => string) | null;

const requests = new AsyncLocalStorage<Answering>();

/**
 * Runs work as part of a request. `context` is the framework's request or context object. If
 * `context` or `requestId` is missing, keeps the value of the surrounding request. If both values
 * stay the same, runs the work without a new async context.
 */
export function runInContext<T>(context: unknown, requestId: RequestId, work: () => T): T {
  const outside = requests.getStore();
  const known = outside?.requestId ?? null;
  // Prefer an existing id to a function that would create a new id.
  const id =
    requestId === null || (typeof requestId === 'function' && known !== null) ? known : requestId;
  if (context === undefined && id === known) return work();
  return requests.run({ context: context ?? outside?.context, requestId: id }, work);
}

/**
 * Runs work outside the current request. Use it for work that belongs to several requests or runs
 * after the response.
 */
export function runForNoRequest<T>(work: () => T): T {
  return requests.exit(work);
}

/**
 * Returns the framework's request or context object of the current request, or undefined outside a
 * request.
 */
export function currentContext(): unknown {
  return requests.getStore()?.context;
}

/** Returns the current request's id, or null outside a request. */
export function currentRequestId(): string | null {
  const { requestId = null } = requests.getStore() ?? {};
  return typeof requestId === 'function' ? requestId() : requestId;
}

/**
 * Returns a log that adds the current request's id to each line as `requestId`. If a line already
 * has an id, keeps that id. The returned log never throws: if the application's log fails, the line
 * is lost, but no request fails and the process does not end.
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
        // The log function of the application may be asynchronous.
        if (written instanceof Promise) written.catch(() => {});
      } catch {
        // If the log fails, this cannot be logged.
      }
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warning: write('warning'),
    error: write('error'),
  };
}
