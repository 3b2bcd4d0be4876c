import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log, LogContext } from '@portico/sql';

/** The request that the server is currently handling. */
interface Answering {
  /** The framework's request or context object, or undefined. */
  readonly context: unknown;
  readonly requestId: RequestId;
}

/**
 * The request's id, or a function that returns the id and may create it in its first call. Null if
 * the host did not set an id.
 */
type RequestId = string | (() => string) | null;

const requests = new AsyncLocalStorage<Answering>();

/**
 * Runs `work` for a request. `context` is the framework's request or context object. If `context`
 * is undefined or `requestId` is null, uses the value of the enclosing request. If `context` is
 * undefined and the id stays the same, creates no new async context.
 */
export function runInContext<T>(context: unknown, requestId: RequestId, work: () => T): T {
  const outside = requests.getStore();
  const known = outside?.requestId ?? null;
  // Use an existing id rather than a function that would create another id.
  const id =
    requestId === null || (typeof requestId === 'function' && known !== null) ? known : requestId;
  if (context === undefined && id === known) return work();
  return requests.run({ context: context ?? outside?.context, requestId: id }, work);
}

/**
 * Runs `work` outside the current request. Use this function for work that belongs to several
 * requests or runs after the response.
 */
export function runForNoRequest<T>(work: () => T): T {
  return requests.exit(work);
}

/**
 * Returns the framework's request or context object for the current request, or undefined outside a
 * request.
 */
export function currentContext(): unknown {
  return requests.getStore()?.context;
}

/** Returns the id of the current request. Returns null if it has no id, or outside a request. */
export function currentRequestId(): string | null {
  const { requestId = null } = requests.getStore() ?? {};
  return typeof requestId === 'function' ? requestId() : requestId;
}

/**
 * Returns a log that adds the id of the current request to each line as `requestId`, unless the
 * line already has one. The returned log never throws. If the application's log fails, the line is
 * lost, but the request and the process continue.
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
        // Ignore the error, because there is no other place to report it.
      }
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warning: write('warning'),
    error: write('error'),
  };
}
