import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log, LogContext } from '@portico/sql';

/** The request being answered. */
interface Answering {
  /** What its framework gave along; undefined when it gave nothing. */
  readonly context: unknown;
  readonly requestId: RequestId;
}

/** Or what tells it when it is needed; null where the host did not say which request it is. */
type RequestId = string | (() => string) | null;

const requests = new AsyncLocalStorage<Answering>();

/**
 * Runs work for a request, by its id, with what its framework gave along: its own request, or its context. What is not given is as
 * it was outside; nothing is entered when nothing changes.
 */
export function runInContext<T>(context: unknown, requestId: RequestId, work: () => T): T {
  const outside = requests.getStore();
  const known = outside?.requestId ?? null;
  // What has to be asked for is the one that is known, if there is one.
  const id = requestId === null || (typeof requestId === 'function' && known !== null) ? known : requestId;
  if (context === undefined && id === known) return work();
  return requests.run({ context: context ?? outside?.context, requestId: id }, work);
}

/** Runs work that is no request's, though one has caused it: it tells of several, or comes after the answer. */
export function runForNoRequest<T>(work: () => T): T {
  return requests.exit(work);
}

/** What the framework gave along with the request being answered; undefined when it gave nothing. */
export function currentContext(): unknown {
  return requests.getStore()?.context;
}

/** The id of the request being answered; null outside of one. */
export function currentRequestId(): string | null {
  const { requestId = null } = requests.getStore() ?? {};
  return typeof requestId === 'function' ? requestId() : requestId;
}

/** The log, whose lines carry the id of the request that they are written for, as `requestId`, unless they have one. */
export function withCurrentRequestId(log: Log): Log {
  const named = (context: LogContext | undefined): LogContext | undefined => {
    const requestId = currentRequestId();
    if (requestId === null || typeof context?.['requestId'] === 'string') return context;
    return { ...context, requestId };
  };
  return {
    debug: (message, context) => log.debug(message, named(context)),
    info: (message, context) => log.info(message, named(context)),
    warning: (message, context) => log.warning(message, named(context)),
    error: (message, context) => log.error(message, named(context)),
  };
}
