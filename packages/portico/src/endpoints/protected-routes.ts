import { bindingRefusal } from '../http/challenges.ts';
import { runInContext } from '../http/context.ts';
import { getRequestId } from '../http/request-id.ts';
import { BearerError } from '../errors.ts';
import { logRefusal } from '../refusals.ts';
import { bearerErrorResponse, toResponse, withRequestIdField } from './replies/responses.ts';
import type { ResourceNeeds } from '../resource/protected-resource.ts';
import { runWithAccessor, type Refuse, type TokenLookUp } from '../resource/token-accessor.ts';
import type { Answering } from './endpoint.ts';

/** Makes `token()` work in your application's own routes. */
export interface ProtectedRoutes {
  /**
   * The origin of the issuer. Portico compares it with the `Origin` header that browsers send. If
   * you create a Request for an endpoint, use this origin as the base URL.
   */
  readonly origin: string;
  /**
   * The URL of the protected API's metadata (RFC 9728), which challenges link to. Null if
   * challenges do not link to metadata.
   */
  readonly resourceMetadataUrl: string | null;
  /**
   * Looks up the access token in the `Authorization` header of a request. Use this method with a
   * framework whose handlers are not `Request => Response`.
   *
   * Call `run` with your code, so that `token()` works in it and in everything that it awaits. If
   * the result contains `failure` instead, send this response.
   *
   * Portico calls `request` only in these cases:
   *
   * - The request is refused or fails, so Portico writes a log line about it.
   * - The token is bound to a key, so its proof must match the method and path of the request.
   *   Without `request`, Portico refuses such tokens.
   * - Portico stores or streams an audit event about the request, with the request's id.
   *
   * Portico passes `context` to the methods of the host.
   */
  lookUpToken(
    authorization: string | null,
    request?: () => Request,
    context?: unknown,
  ): Promise<{ readonly run: <T>(work: () => T) => T } | { readonly failure: Response }>;
  /**
   * Runs a handler of your application so that `token()` works in it. If `token()` refuses the
   * request, returns a 401 or 403 response. If the token cannot be looked up, returns a 503 or 500
   * response without calling the handler. Rejects if the handler fails in any other way. Portico
   * passes `context` to the methods of the host.
   */
  withToken(request: Request, next: () => Promise<Response>, context?: unknown): Promise<Response>;
}

/**
 * A single API that tokens can be granted for (RFC 8707). It accepts only tokens that were granted
 * for this API. Pass it to a mount instead of the server.
 *
 * @example
 * app.use('/api', bearer(server.resource('https://shop.example/api')));
 */
export interface ProtectedApi extends ProtectedRoutes {
  /**
   * The audience of the tokens that the API accepts. Null if it accepts tokens without an audience.
   */
  readonly audience: string | null;
  /** Returns true if clients can request this scope for this API. */
  offers(scope: string): boolean;
  /** Adds settings to this API. Call this method before the server handles requests. */
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

  /** Logs only one refusal, even if the handler calls `token()` several times. */
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
      // If challenges link to metadata, do not send `insufficient_scope` for a scope that the user
      // does not hold. Clients that react to this error would ask for consent again and again.
      const code = isUnheld && resourceMetadata !== null ? 'access_denied' : found;
      // A challenge that links to metadata always contains the scope. Without a link, only a
      // challenge for a valid token contains it.
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

/** The id needs a Request. Create one only when the id is needed, for example for a log line. */
function getId(asked: (() => Request) | undefined): (() => string) | null {
  return asked === undefined ? null : () => getRequestId(asked());
}
