import {
  readAuthorization,
  DPOP_SCHEME,
  EXPOSED_HEADERS,
  parseScheme,
  readPath,
} from 'portico/extension';
import type { IntrospectedToken } from './introspection.ts';
import type { SentRequest } from './contract.ts';
import type { ResourceServer } from './server.ts';

/** The accepted token of each request. The key is the framework's request object. */
const tokens = new WeakMap<object, IntrospectedToken>();

/**
 * Returns the token of a request that one of the guards has accepted. `request` is the request of
 * Express or Fastify, or `context.req.raw` of Hono. Throws an Error for other requests.
 *
 * @example
 * const { subject } = tokenOf(req);
 */
export function tokenOf(request: object): IntrospectedToken {
  const token = tokens.get(request);
  if (token === undefined)
    throw new Error('This handler has no guard of @portico/resource-server; add one to its route');
  return token;
}

// The types below describe only the parts of each framework that the guards use, because this
// package does not depend on the frameworks.

/** The part of an Express or Fastify request that a guard reads. */
export interface GuardedRequest {
  /** The headers, with lower-case names. */
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly dpop?: string | string[] | undefined;
  };
  /** The request method, for example `GET`. */
  readonly method?: string;
  /** The path and query as received. */
  readonly originalUrl?: string;
  /**
   * The names and values of the headers as received. Each name is followed by its value. With
   * Fastify, `raw` contains them.
   */
  readonly rawHeaders?: readonly string[];
  /** The Node request inside Fastify's request. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
}

/** The part of Express's response that a guard uses. */
export interface ExpressAnswer {
  /** Sets the status. */
  status(code: number): ExpressAnswer;
  /** Sets headers by name. */
  set(fields: Record<string, string>): ExpressAnswer;
  /** Returns a header that is already set. */
  get?(field: string): string | undefined;
  /** Sends the body and ends the response. */
  send(body: unknown): unknown;
}

/** The part of Fastify's reply that a guard uses. */
export interface FastifyAnswer {
  /** Sets the status. */
  code(status: number): FastifyAnswer;
  /** Sets headers by name. */
  headers(fields: Record<string, string>): FastifyAnswer;
  /** Returns a header that is already set. */
  getHeader?(name: string): number | string | string[] | undefined;
  /** Sends the body and ends the response. */
  send(body: unknown): unknown;
}

/** The part of Hono's context that a guard reads. */
export interface GuardedContext {
  /** Hono's own request. */
  readonly req: {
    /** Returns a request header. */
    header(name: string): string | undefined;
    /** The Request itself. Pass it to `tokenOf`. */
    readonly raw: Request;
  };
  /**
   * The response so far. If it already contains a header that the guard also sets, Hono sends the
   * value from this response and not the guard's value. The exception is `Content-Type`.
   */
  readonly res?: { readonly headers: Headers };
}

/**
 * Returns the headers for a rejected request. If the application already exposes headers to scripts
 * of other origins, keeps these and adds the challenge.
 */
function readFields(
  { headers }: Response,
  exposed: number | string | readonly string[] | undefined,
): Record<string, string> {
  const fields = Object.fromEntries(headers);
  const ours = fields[EXPOSED_HEADERS];
  if (ours === undefined || exposed === undefined) return fields;
  return { ...fields, [EXPOSED_HEADERS]: [exposed, ours].flat().join(', ') };
}

/**
 * Returns the parts of a request that a proof must match. Returns undefined if the request needs no
 * proof.
 */
function sentRequest(
  authorization: string | null,
  { method = '', originalUrl: target = '', headers }: GuardedRequest,
): SentRequest | undefined {
  if (parseScheme(DPOP_SCHEME, authorization) === null) return undefined;
  const { dpop = null } = headers;
  return { method, target, dpop: Array.isArray(dpop) ? dpop.join(', ') : dpop };
}

/**
 * Protects a route in Express 4 or 5. Rejected requests get the response of `authorize`.
 *
 * @example
 * app.get('/orders', expressGuard(resource, 'orders:read'), listOrders);
 */
export function expressGuard(resource: ResourceServer, scope: string) {
  return async (
    req: GuardedRequest,
    res: ExpressAnswer,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      const authorization = readAuthorization(req);
      const sent = sentRequest(authorization, req);
      const outcome = await resource.authorize(authorization, scope, sent);
      if (outcome instanceof Response) {
        res
          .status(outcome.status)
          .set(readFields(outcome, res.get?.(EXPOSED_HEADERS)))
          .send(await outcome.text());
        return;
      }
      tokens.set(req, outcome);
    } catch (error) {
      // Express 4 ignores the promise that this guard returns, so a rejection would end the
      // process. An error occurs, for example, if the application sends a response while this guard
      // waits.
      next(error);
      return;
    }
    next();
  };
}

/**
 * Protects a route in Fastify. Rejected requests get the response of `authorize`.
 *
 * @example
 * fastify.get('/orders', { onRequest: fastifyGuard(resource, 'orders:read') }, listOrders);
 */
export function fastifyGuard(resource: ResourceServer, scope: string) {
  return async (request: GuardedRequest, reply: FastifyAnswer): Promise<void> => {
    const { headers, raw } = request;
    const authorization = readAuthorization({ headers, rawHeaders: raw?.rawHeaders ?? [] });
    const outcome = await resource.authorize(
      authorization,
      scope,
      sentRequest(authorization, request),
    );
    if (!(outcome instanceof Response)) {
      tokens.set(request, outcome);
      return;
    }
    reply.code(outcome.status).headers(readFields(outcome, reply.getHeader?.(EXPOSED_HEADERS)));
    await reply.send(await outcome.text());
  };
}

/**
 * Protects a route in Hono. Rejected requests get the response of `authorize`. Get the token with
 * `tokenOf(context.req.raw)`.
 *
 * @example
 * app.get('/orders', honoGuard(resource, 'orders:read'), listOrders);
 */
export function honoGuard(resource: ResourceServer, scope: string) {
  return async (
    context: GuardedContext,
    next: () => Promise<void>,
  ): Promise<Response | undefined> => {
    const { raw } = context.req;
    const authorization = context.req.header('authorization') ?? null;
    const sent =
      parseScheme(DPOP_SCHEME, authorization) === null
        ? undefined
        : { method: raw.method, target: readPath(raw.url), dpop: raw.headers.get('dpop') };
    const outcome = await resource.authorize(authorization, scope, sent);
    if (outcome instanceof Response) {
      const exposed = outcome.headers.get(EXPOSED_HEADERS);
      if (exposed !== null) context.res?.headers.append(EXPOSED_HEADERS, exposed);
      return outcome;
    }
    tokens.set(context.req.raw, outcome);
    await next();
    return undefined;
  };
}
