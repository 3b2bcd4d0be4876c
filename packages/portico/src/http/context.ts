import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log, LogContext } from '@portico/sql';

/** The current request. */
interface Answering {
  /** The framework's request or context object, or undefined. */
  readonly context: unknown;
  readonly requestId: RequestId;
}

/**
 * The request id, or a function that creates the id when it is first needed. Null if the host did
 * not set one.
 */
type RequestId = string | (() => string) | null;

const requests = new AsyncLocalStorage<Answering>();

/**
 * Runs work for a request. `context` is the framework's request or context object. If `context` or
 * `requestId` is missing, the surrounding request's value is used. If both values stay the same,
 * runs the work without a new async context.
 */
export function runInContext<T>(context: unknown, requestId: RequestId, work: () => T): T {
  const outside = requests.getStore();
  const known = outside?.requestId ?? null;
  // Prefer an existing id to a function that would create another one.
  const id =
    requestId === null || (typeof requestId === 'function' && known !== null) ? known : requestId;
  if (context === undefined && id === known) return work();
  return requests.run({ context: context ?? outside?.context, requestId: id }, work);
}

/**
 * Runs work outside the current request. For work that belongs to several requests, or that runs
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
 * Returns a log that adds the current request's id to each line as `requestId`, unless the line
 * already has one. The returned log never throws: if the application's log fails, the line is lost,
 * but the request and the process continue.
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
