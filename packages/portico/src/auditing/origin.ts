import { AsyncLocalStorage } from 'node:async_hooks';
import { runInContext } from '../http/context.ts';
import { getRequestId } from '../http/request-id.ts';

interface Origin {
  readonly request: () => Request;
  /** The framework's request or context object. */
  readonly context: unknown;
}

const origins = new AsyncLocalStorage<Origin>();

/**
 * Runs work for a request. Stored or streamed audit events then contain the request's id and the
 * client's IP address.
 */
export type RunFrom = <T>(request: () => Request, context: unknown, work: () => T) => T;

export const runFrom: RunFrom = (request, context, work) => origins.run({ request, context }, work);

/**
 * Returns the id of the current request, and the IP address from `addressOf`. Both are null outside
 * a request. The address is null if `addressOf` fails.
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

/** Never throws, because the event has already happened. */
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
