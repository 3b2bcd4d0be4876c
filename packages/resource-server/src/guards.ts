import { readAuthorization, DPOP_SCHEME, EXPOSED_HEADERS, parseScheme, readPath } from 'portico/extension';
import type { IntrospectedToken } from './introspection.ts';
import type { SentRequest } from './contract.ts';
import type { ResourceServer } from './server.ts';

/** The tokens that the guards accepted, by the framework's request object. */
const tokens = new WeakMap<object, IntrospectedToken>();

/** The token of a request that one of the guards below accepted. Throws for any other request. */
export function tokenOf(request: object): IntrospectedToken {
  const token = tokens.get(request);
  if (token === undefined)
    throw new Error('This handler has no guard of @portico/resource-server; add one to its route');
  return token;
}

// The parts of each framework that the guards use, as separate types, so that you need not install
// any of the frameworks.

/** The part of an Express or Fastify request that a guard reads. */
export interface GuardedRequest {
  /** Header fields, with names in lower case. */
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly dpop?: string | string[] | undefined;
  };
  /** Such as `GET`. */
  readonly method?: string;
  /** Path and query as they arrived. */
  readonly originalUrl?: string;
  /** Alternating names and values as they were sent. Fastify has them in `raw`. */
  readonly rawHeaders?: readonly string[];
  /** Fastify's underlying Node request. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
}

/** The part of Express's response that a guard uses. */
export interface ExpressAnswer {
  /** Sets the status. */
  status(code: number): ExpressAnswer;
  /** Sets header fields by name. */
  set(fields: Record<string, string>): ExpressAnswer;
  /** Reads a header field that is already set. */
  get?(field: string): string | undefined;
  /** Sends the body and ends the response. */
  send(body: unknown): unknown;
}

/** The part of Fastify's reply that a guard uses. */
export interface FastifyAnswer {
  /** Sets the status. */
  code(status: number): FastifyAnswer;
  /** Sets header fields by name. */
  headers(fields: Record<string, string>): FastifyAnswer;
  /** Reads a header field that is already set. */
  getHeader?(name: string): number | string | string[] | undefined;
  /** Sends the body and ends the response. */
  send(body: unknown): unknown;
}

/** The part of Hono's context that a guard reads. */
export interface GuardedContext {
  /** Hono's own request. */
  readonly req: {
    /** Reads a header field of the request. */
    header(name: string): string | undefined;
    /** The Request itself. Pass it to `tokenOf`. */
    readonly raw: Request;
  };
  /** The response so far. Hono prefers its header fields to those of the guard's response. */
  readonly res?: { readonly headers: Headers };
}

/**
 * The header fields of a refusal. Keeps the fields that the application's CORS already exposes,
 * beside the challenge.
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

/** What a proof must be for. Undefined if no proof is needed. */
function sentRequest(
  authorization: string | null,
  { method = '', originalUrl: target = '', headers }: GuardedRequest,
): SentRequest | undefined {
  if (parseScheme(DPOP_SCHEME, authorization) === null) return undefined;
  const { dpop = null } = headers;
  return { method, target, dpop: Array.isArray(dpop) ? dpop.join(', ') : dpop };
}

/** Express: `app.get('/orders', expressGuard(resource, 'orders:read'), handler)`. */
export function expressGuard(resource: ResourceServer, scope: string) {
  return async (req: GuardedRequest, res: ExpressAnswer, next: () => void): Promise<void> => {
    const authorization = readAuthorization(req);
    const outcome = await resource.authorize(authorization, scope, sentRequest(authorization, req));
    if (outcome instanceof Response) {
      res
        .status(outcome.status)
        .set(readFields(outcome, res.get?.(EXPOSED_HEADERS)))
        .send(await outcome.text());
      return;
    }
    tokens.set(req, outcome);
    next();
  };
}

/**
 * Fastify: `fastify.get('/orders', { onRequest: fastifyGuard(resource, 'orders:read') }, handler)`.
 */
export function fastifyGuard(resource: ResourceServer, scope: string) {
  return async (request: GuardedRequest, reply: FastifyAnswer): Promise<void> => {
    const { headers, raw } = request;
    const authorization = readAuthorization({ headers, rawHeaders: raw?.rawHeaders ?? [] });
    const outcome = await resource.authorize(authorization, scope, sentRequest(authorization, request));
    if (!(outcome instanceof Response)) {
      tokens.set(request, outcome);
      return;
    }
    reply.code(outcome.status).headers(readFields(outcome, reply.getHeader?.(EXPOSED_HEADERS)));
    await reply.send(await outcome.text());
  };
}

/**
 * Hono: `app.get('/orders', honoGuard(resource, 'orders:read'), handler)`;
 * `tokenOf(context.req.raw)`.
 */
export function honoGuard(resource: ResourceServer, scope: string) {
  return async (context: GuardedContext, next: () => Promise<void>): Promise<Response | undefined> => {
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
