import { AsyncLocalStorage } from 'node:async_hooks';
import { runInContext } from '../http/context.ts';
import { getRequestId } from '../http/request-id.ts';

/** The request in which something happens. */
interface Origin {
  readonly request: () => Request;
  /** What the framework passed along. */
  readonly context: unknown;
}

const origins = new AsyncLocalStorage<Origin>();

/** Runs work for a request, so that every record made meanwhile names it. */
export type RunFrom = <T>(request: () => Request, context: unknown, work: () => T) => T;

export const runFrom: RunFrom = (request, context, work) => origins.run({ request, context }, work);

/**
 * The id of the current request, and its client address from `addressOf`. Null without a request,
 * or if that fails.
 */
export function currentOrigin(addressOf: (request: Request) => string | null): {
  readonly address: string | null;
  readonly requestId: string | null;
} {
  const origin = origins.getStore();
  if (origin === undefined) return { address: null, requestId: null };
  const request = origin.request();
  return { address: addressIn(origin, request, addressOf), requestId: getRequestId(request) };
}

/** The event has already happened, so a host that cannot tell the address must not stop it. */
function addressIn(
  { context }: Origin,
  request: Request,
  addressOf: (request: Request) => string | null,
): string | null {
  try {
    return runInContext(context, null, () => addressOf(request));
  } catch {
    return null;
  }
}
