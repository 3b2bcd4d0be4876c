import { runInContext } from '../../http/context.ts';
import { requestIdOf } from '../../http/request-id.ts';
import type { Database } from '../../sql/contract.ts';
import { BearerError } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import { logRefusal } from '../refusals.ts';
import { bearerErrorResponse, toResponse } from '../replies/responses.ts';
import { runWithAccessor, type Refuse, type TokenLookUp } from '../tokens/token-accessor.ts';
import type { Failures } from '../replies/failures.ts';

/** Makes `token()` available to routes of the host's own. */
export interface ProtectedRoutes {
  /**
   * Looks up the token of a request's `Authorization` header, for a framework whose handlers are not `Request => Response`:
   * What `run` runs can call `token()`, and so can everything awaited there. When the look-up itself fails, `failure` is the
   * response to send instead. `request` is called only when something is refused or fails, for the log. The host contract is given
   * `context`.
   */
  lookUpToken(
    authorization: string | null,
    request?: () => Request,
    context?: unknown,
  ): Promise<{ readonly run: <T>(work: () => T) => T } | { readonly failure: Response }>;
  /**
   * Runs a handler of the host, which can call `token()`, and answers what `token()` refuses with 401 or 403. The host contract is
   * given `context`.
   */
  withToken(request: Request, next: () => Promise<Response>, context?: unknown): Promise<Response>;
}

export interface ProtectedRoutesOptions {
  readonly lookUp: TokenLookUp;
  readonly database: Pick<Database, 'readTogether'>;
  readonly failures: Failures;
  readonly host: Pick<CompleteHost, 'log' | 'clientAddress'>;
}

export function createProtectedRoutes(options: ProtectedRoutesOptions): ProtectedRoutes {
  const { lookUp, database, failures, host } = options;

  const lookUpToken: ProtectedRoutes['lookUpToken'] = async (authorization, request, context) => {
    try {
      const refuse = refusing(host, request, context);
      const read = () => lookUp(authorization, refuse);
      const accessor = await runInContext(context, () => database.readTogether(read));
      return { run: (work) => runWithAccessor(accessor, work) };
    } catch (error) {
      const requestId = request === undefined ? null : requestIdOf(request());
      const reply = await failures.reply(error, { endpoint: 'token()', requestId, asPage: false });
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

/** Refuses one request, and logs that once, however often its handler asks. */
function refusing(
  host: ProtectedRoutesOptions['host'],
  asked: (() => Request) | undefined,
  context: unknown,
): Refuse {
  let isLogged = false;
  return ({ code, scope, detail, clientId }) => {
    const request = asked?.() ?? null;
    const requestId = request === null ? null : requestIdOf(request);
    const error = new BearerError(code, scope, { detail, requestId });
    const refused = { endpoint: 'token()', request, error, clientId };
    if (!isLogged) runInContext(context, () => logRefusal(host, refused));
    isLogged = true;
    throw error;
  };
}
