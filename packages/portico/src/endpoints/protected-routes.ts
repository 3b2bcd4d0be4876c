import { bindingRefusal } from '../http/challenges.ts';
import { runInContext } from '../http/context.ts';
import { getRequestId } from '../http/request-id.ts';
import { BearerError } from '../errors.ts';
import { logRefusal } from '../refusals.ts';
import { bearerErrorResponse, toResponse, withRequestIdField } from './replies/responses.ts';
import type { ResourceNeeds } from '../resource/protected-resource.ts';
import { runWithAccessor, type Refuse, type TokenLookUp } from '../resource/token-accessor.ts';
import type { Answering } from './endpoint.ts';

/** Makes `token()` work in the host's own routes. */
export interface ProtectedRoutes {
  /**
   * The origin of the issuer. Portico compares it with the `Origin` header of browsers. If you
   * create a Request for an endpoint, use it as the base URL.
   */
  readonly origin: string;
  /**
   * The URL of the protected API's metadata (RFC 9728), for challenges. Null if challenges do not
   * link to metadata.
   */
  readonly resourceMetadataUrl: string | null;
  /**
   * Looks up the token in a request's `Authorization` header. Use this with a framework whose
   * handlers are not `Request => Response`.
   *
   * `run` runs your code so that `token()` works in it, including everything that it awaits. If the
   * look-up fails, send the response `failure` instead.
   *
   * Portico calls `request` only in these cases:
   *
   * - The request is refused or fails, and Portico logs it.
   * - The token is bound, so its proof must match the request's method and path. Without `request`,
   *   Portico refuses bound tokens.
   *
   * Portico passes `context` to the methods of the host.
   */
  lookUpToken(
    authorization: string | null,
    request?: () => Request,
    context?: unknown,
  ): Promise<{ readonly run: <T>(work: () => T) => T } | { readonly failure: Response }>;
  /**
   * Runs a handler of the host so that `token()` works in it. If `token()` refuses the request,
   * returns a 401 or 403 response. Portico passes `context` to the methods of the host.
   */
  withToken(request: Request, next: () => Promise<Response>, context?: unknown): Promise<Response>;
}

/**
 * One API that tokens are for (RFC 8707). It accepts only tokens that were granted for this API.
 * Pass it to a mount instead of the server.
 *
 * @example
 * app.use('/api', bearer(server.resource('https://shop.example/api')));
 */
export interface ProtectedApi extends ProtectedRoutes {
  /**
   * The audience of the tokens that the API accepts. Null if it accepts tokens without an audience.
   */
  readonly audience: string | null;
  /** Whether clients can request this scope for the API. */
  offers(scope: string): boolean;
  /** Adds settings of the API. Call this before the server handles requests. */
  serveResource(needs: ResourceNeeds): void;
}

export class TokenRoutes implements ProtectedRoutes {
  readonly origin: string;
  readonly resourceMetadataUrl: string | null;
  readonly #by: Answering;
  readonly #lookUp: TokenLookUp;

  constructor(by: Answering, lookUp: TokenLookUp, metadataUrl: string | null) {
    this.#by = by;
    this.#lookUp = lookUp;
    this.origin = by.server.origin;
    this.resourceMetadataUrl = metadataUrl;
  }

  readonly lookUpToken: ProtectedRoutes['lookUpToken'] = async (
    authorization,
    request,
    context,
  ) => {
    const { server, failures, runFrom } = this.#by;
    const { database, measuring } = server;
    try {
      const refuse = this.#refusing(request, context);
      const read = () => this.#lookUp(authorization, request, refuse);
      const accessor = await runInContext(context, getId(request), () =>
        database.readTogether(read),
      );
      if (runFrom === null || request === undefined)
        return { run: (work) => runWithAccessor(accessor, work) };
      return { run: (work) => runFrom(request, context, () => runWithAccessor(accessor, work)) };
    } catch (error) {
      const requestId = request === undefined ? null : getRequestId(request());
      const failed = { endpoint: 'token()', requestId, asPage: false, request: null };
      const reply = await failures.reply(error, failed);
      measuring?.answered('token()', reply.status);
      return { failure: toResponse(withRequestIdField(reply, requestId)) };
    }
  };

  readonly withToken: ProtectedRoutes['withToken'] = async (request, next, context) => {
    const found = await this.lookUpToken(
      request.headers.get('authorization'),
      () => request,
      context,
    );
    if ('failure' in found) return found.failure;
    try {
      return await found.run(next);
    } catch (error) {
      if (error instanceof BearerError) return bearerErrorResponse(error);
      throw error;
    }
  };

  /**
   * Returns a function that refuses the request. It logs the refusal only once, even if the handler
   * calls `token()` several times.
   */
  #refusing(asked: (() => Request) | undefined, context: unknown): Refuse {
    const { server, binding: offer } = this.#by;
    const { host, measuring } = server;
    const resourceMetadata = this.resourceMetadataUrl;
    let isLogged = false;
    return ({
      code: found,
      scope,
      detail,
      message,
      of,
      isUnheld = false,
      proof,
      parameters = {},
    }) => {
      const request = asked?.() ?? null;
      const requestId = request === null ? null : getRequestId(request);
      // Do not send `insufficient_scope` here. The user does not have the permission, but clients
      // that react to this challenge would repeatedly ask the user for consent.
      const code = isUnheld && resourceMetadata !== null ? 'access_denied' : found;
      // A challenge that links to metadata always contains the scope. Without metadata, it contains
      // the scope only if the token is valid.
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
        parameters,
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
}

/**
 * Returns a function that returns the request's id. The function creates the Request, so it is
 * called only to write a log line.
 */
function getId(asked: (() => Request) | undefined): (() => string) | null {
  return asked === undefined ? null : () => getRequestId(asked());
}
