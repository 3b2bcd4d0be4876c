import { AsyncLocalStorage } from 'node:async_hooks';
import { runInContext } from '../http/context.ts';
import { requestIdOf } from '../http/request-id.ts';

/** The request that something happens in. */
interface Origin {
  readonly request: () => Request;
  /** What the framework gave along. */
  readonly context: unknown;
}

const origins = new AsyncLocalStorage<Origin>();

/** Runs work for a request, so that whatever is recorded meanwhile names it. */
export type RunFrom = <T>(request: () => Request, context: unknown, work: () => T) => T;

export const runFrom: RunFrom = (request, context, work) => origins.run({ request, context }, work);

/** Of the request being answered: its id, and where it came from by `addressOf`. Nulls without one, or where that fails. */
export function currentOrigin(addressOf: (request: Request) => string | null): {
  readonly address: string | null;
  readonly requestId: string | null;
} {
  const origin = origins.getStore();
  if (origin === undefined) return { address: null, requestId: null };
  const request = origin.request();
  return { address: addressIn(origin, request, addressOf), requestId: requestIdOf(request) };
}

/** The event has happened already: a host that cannot say where from changes nothing. */
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
