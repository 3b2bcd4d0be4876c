import type { Database } from '@portico/sql';
import { bindingRefusal, type BindingOffer } from '../http/challenges.ts';
import { runInContext } from '../http/context.ts';
import type { RunFrom } from '../auditing/origin.ts';
import { requestIdOf } from '../http/request-id.ts';
import { BearerError } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import type { Measuring } from '../measuring/measuring.ts';
import { logRefusal } from '../refusals.ts';
import { bearerErrorResponse, toResponse } from '../replies/responses.ts';
import { runWithAccessor, type Refuse, type TokenLookUp } from '../resource/token-accessor.ts';
import type { Failures } from '../replies/failures.ts';

/** Makes `token()` available to the host's own routes. */
export interface ProtectedRoutes {
  /**
   * Looks up the token of a request's `Authorization` header, for a framework whose handlers are
   * not `Request => Response`. `run` runs code in which `token()` works, including everything it
   * awaits. If the look-up itself fails, `failure` is the response to send instead. `request` is
   * called when something is refused or fails, for the log, and for a bound token, whose proof must
   * match its method and its path as it was sent; without it a bound token is refused. The host
   * contract receives `context`.
   */
  lookUpToken(
    authorization: string | null,
    request?: () => Request,
    context?: unknown,
  ): Promise<{ readonly run: <T>(work: () => T) => T } | { readonly failure: Response }>;
  /**
   * Runs a handler of the host, in which `token()` works, and answers refusals of `token()` with
   * 401 or 403. The host contract receives `context`.
   */
  withToken(request: Request, next: () => Promise<Response>, context?: unknown): Promise<Response>;
}

export interface ProtectedRoutesOptions {
  readonly lookUp: TokenLookUp;
  readonly database: Pick<Database, 'readTogether'>;
  readonly failures: Failures;
  readonly host: Pick<CompleteHost, 'log' | 'clientAddress'>;
  /** The URL in challenges; null if they have none. */
  readonly metadataUrl: string | null;
  /** What to say about bound tokens; null if there are none. */
  readonly binding: BindingOffer | null;
  /** Wraps the work of a request, so that recorded events name it. Null if nothing is recorded. */
  readonly runFrom: RunFrom | null;
  /** Null if nothing is measured. */
  readonly measuring: Measuring | null;
}

export function createProtectedRoutes(options: ProtectedRoutesOptions): ProtectedRoutes {
  const { lookUp, database, failures, runFrom, measuring } = options;

  const lookUpToken: ProtectedRoutes['lookUpToken'] = async (authorization, request, context) => {
    try {
      const refuse = refusing(options, request, context);
      const read = () => lookUp(authorization, request, refuse);
      const accessor = await runInContext(context, idOf(request), () => database.readTogether(read));
      if (runFrom === null || request === undefined)
        return { run: (work) => runWithAccessor(accessor, work) };
      return { run: (work) => runFrom(request, context, () => runWithAccessor(accessor, work)) };
    } catch (error) {
      const requestId = request === undefined ? null : requestIdOf(request());
      const reply = await failures.reply(error, {
        endpoint: 'token()',
        requestId,
        asPage: false,
        request: null,
      });
      measuring?.answered('token()', reply.status);
      return { failure: toResponse(reply, requestId) };
    }
  };

  return {
    lookUpToken,
    async withToken(request, next, context) {
      const found = await lookUpToken(request.headers.get('authorization'), () => request, context);
      if ('failure' in found) return found.failure;
      try {
        return await found.run(next);
      } catch (error) {
        if (error instanceof BearerError) return bearerErrorResponse(error);
        throw error;
      }
    },
  };
}

/** The id of a request that is made only if there is something to report about it. */
function idOf(asked: (() => Request) | undefined): (() => string) | null {
  return asked === undefined ? null : () => requestIdOf(asked());
}

/** Refuses one request, and logs that once, however often its handler asks. */
function refusing(
  { host, metadataUrl: resourceMetadata, binding: offer, measuring }: ProtectedRoutesOptions,
  asked: (() => Request) | undefined,
  context: unknown,
): Refuse {
  let isLogged = false;
  return ({ code: found, scope, detail, message, of, isUnheld = false, proof }) => {
    const request = asked?.() ?? null;
    const requestId = request === null ? null : requestIdOf(request);
    // Clients that follow challenges would ask the person again and again for a permission that
    // they do not have.
    const code = isUnheld && resourceMetadata !== null ? 'access_denied' : found;
    // A challenge with metadata also names the scope; others name none without a usable token.
    const needed = resourceMetadata === null && code !== 'insufficient_scope' ? null : scope;
    const binding = bindingRefusal(offer, proof);
    const { clientId = null, authorization = null } = of ?? {};
    const error = new BearerError(code, needed, {
      ...(message === undefined ? {} : { message }),
      detail,
      requestId,
      resourceMetadata,
      binding,
      authorization,
    });
    const refused = { endpoint: 'token()', request, error, clientId };
    if (!isLogged) {
      runInContext(context, requestId, () => logRefusal(host, refused));
      measuring?.refused('token()', error);
    }
    isLogged = true;
    throw error;
  };
}
