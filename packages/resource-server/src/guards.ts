import { authorizationOf, DPOP_SCHEME, EXPOSED_HEADERS, parseScheme, pathOf } from 'portico/extension';
import type { IntrospectedToken } from './introspection.ts';
import type { SentRequest } from './contract.ts';
import type { ResourceServer } from './server.ts';

/** The tokens that the guards accepted, by the framework's request. */
const tokens = new WeakMap<object, IntrospectedToken>();

/** The token of a request that one of the guards below accepted. Throws for any other request. */
export function tokenOf(request: object): IntrospectedToken {
  const token = tokens.get(request);
  if (token === undefined) throw new Error('No guard of @portico/resource-server stands before this handler');
  return token;
}

// The parts of each framework that the guards use, as types of our own, so that none of them has to be installed.

/** The part of an Express or Fastify request that a guard reads. */
export interface GuardedRequest {
  /** Header fields, by names in lower case. */
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly dpop?: string | string[] | undefined;
  };
  /** Such as `GET`. */
  readonly method?: string;
  /** Path and query as they arrived. */
  readonly originalUrl?: string;
  /** Names and values in turn, as they were sent; Fastify has them in `raw`. */
  readonly rawHeaders?: readonly string[];
  /** Node's own request, behind Fastify's. */
  readonly raw?: { readonly rawHeaders?: readonly string[] };
}

/** The part of Express's response that a guard uses. */
export interface ExpressAnswer {
  /** Sets the status. */
  status(code: number): ExpressAnswer;
  /** Sets header fields by name. */
  set(fields: Record<string, string>): ExpressAnswer;
  /** A header field that is set already. */
  get?(field: string): string | undefined;
  /** Ends the answer. */
  send(body: unknown): unknown;
}

/** The part of Fastify's reply that a guard uses. */
export interface FastifyAnswer {
  /** Sets the status. */
  code(status: number): FastifyAnswer;
  /** Sets header fields by name. */
  headers(fields: Record<string, string>): FastifyAnswer;
  /** A header field that is set already. */
  getHeader?(name: string): number | string | string[] | undefined;
  /** Ends the answer. */
  send(body: unknown): unknown;
}

/** The part of Hono's context that a guard reads. */
export interface GuardedContext {
  /** Hono's own request. */
  readonly req: {
    /** A header field of the request. */
    header(name: string): string | undefined;
    /** The Request itself; `tokenOf` takes it. */
    readonly raw: Request;
  };
  /** What is set already of the answer: Hono prefers its header fields to those of the answer that a guard gives. */
  readonly res?: { readonly headers: Headers };
}

/** The header fields of a refusal, its challenge beside what the application's CORS exposes already. */
function fieldsOf(
  { headers }: Response,
  exposed: number | string | readonly string[] | undefined,
): Record<string, string> {
  const fields = Object.fromEntries(headers);
  const ours = fields[EXPOSED_HEADERS];
  if (ours === undefined || exposed === undefined) return fields;
  return { ...fields, [EXPOSED_HEADERS]: [exposed, ours].flat().join(', ') };
}

/** What a proof has to be for; undefined where none is needed. */
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
    const authorization = authorizationOf(req);
    const outcome = await resource.authorize(authorization, scope, sentRequest(authorization, req));
    if (outcome instanceof Response) {
      res
        .status(outcome.status)
        .set(fieldsOf(outcome, res.get?.(EXPOSED_HEADERS)))
        .send(await outcome.text());
      return;
    }
    tokens.set(req, outcome);
    next();
  };
}

/** Fastify: `fastify.get('/orders', { onRequest: fastifyGuard(resource, 'orders:read') }, handler)`. */
export function fastifyGuard(resource: ResourceServer, scope: string) {
  return async (request: GuardedRequest, reply: FastifyAnswer): Promise<void> => {
    const { headers, raw } = request;
    const authorization = authorizationOf({ headers, rawHeaders: raw?.rawHeaders ?? [] });
    const outcome = await resource.authorize(authorization, scope, sentRequest(authorization, request));
    if (!(outcome instanceof Response)) {
      tokens.set(request, outcome);
      return;
    }
    reply.code(outcome.status).headers(fieldsOf(outcome, reply.getHeader?.(EXPOSED_HEADERS)));
    await reply.send(await outcome.text());
  };
}

/** Hono: `app.get('/orders', honoGuard(resource, 'orders:read'), handler)`; `tokenOf(context.req.raw)`. */
export function honoGuard(resource: ResourceServer, scope: string) {
  return async (context: GuardedContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const { raw } = context.req;
    const authorization = context.req.header('authorization') ?? null;
    const sent =
      parseScheme(DPOP_SCHEME, authorization) === null
        ? undefined
        : { method: raw.method, target: pathOf(raw.url), dpop: raw.headers.get('dpop') };
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
