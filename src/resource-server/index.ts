/** For an API in another process: it asks the authorization server about each token by introspection (RFC 7662). */
import * as oauth from 'oauth4webapi';
import { authorizationOf, parseBearer } from '../http/bearer.ts';

/** Which authorization server to ask, and with which credentials. */
export interface ResourceServerOptions {
  /** The authorization server: its `public_url`, and its `base_path` when it has one. */
  readonly issuer: string;
  /** A client that was registered with `--grant=introspection`. */
  readonly clientId: string;
  /** The client's secret; it is sent to the authorization server alone. */
  readonly clientSecret: string;
  /** The target that tokens must have been granted for; null for tokens without one. */
  readonly audience: string | null;
  /**
   * How long answers are cached, and how many. Off unless given: without it a revocation, a suspension or a lost permission
   * takes effect on the next call, with it after so many seconds at the latest.
   */
  readonly cache?: { readonly seconds: number; readonly entries: number };
  /** Lets development, tests and other machines of a private network use plain http. */
  readonly allowInsecureRequests?: boolean;
}

/** What a token is good for, as the authorization server says at this moment. */
export interface IntrospectedToken {
  /** Milliseconds since 1970; null when the authorization server does not say. */
  readonly expiresAt: number | null;
  /** The application that the token was issued to. */
  readonly clientId: string;
  /** What the token would be honoured for at this moment. */
  readonly scopes: readonly string[];
  /** The person as the outside world knows them; null for a client-credentials token. */
  readonly subject: string | null;
}

/** Checks the tokens of requests. */
export interface ResourceServer {
  /**
   * The token of an `Authorization` header, when it reaches the scope. Otherwise the response to send: 401, 403, or 503 when
   * the authorization server cannot be asked.
   */
  authorize(authorization: string | null | undefined, scope: string): Promise<IntrospectedToken | Response>;
}

/** How long to wait for an answer of the authorization server, in milliseconds. */
const TIMEOUT = 5000;

interface CachedAnswer {
  readonly answer: IntrospectedToken | null;
  readonly until: number;
}

/** Makes a resource server; asks nobody before the first token. Throws for an issuer that it could not ask: http without `allowInsecureRequests`. */
export function createResourceServer(options: ResourceServerOptions): ResourceServer {
  const { issuer, audience, cache = { seconds: 0, entries: 0 } } = options;
  if (new URL(issuer).protocol !== 'https:' && options.allowInsecureRequests !== true) {
    throw new TypeError(
      `issuer: must be https, not ${issuer}. For http, in development, set allowInsecureRequests`,
    );
  }
  const as: oauth.AuthorizationServer = {
    issuer,
    introspection_endpoint: introspectionEndpoint(issuer),
  };
  const client: oauth.Client = { client_id: options.clientId };
  const authenticate = oauth.ClientSecretBasic(options.clientSecret);
  const cached = new Map<string, CachedAnswer>();

  async function ask(token: string): Promise<IntrospectedToken | null> {
    const response = await oauth.introspectionRequest(as, client, authenticate, token, {
      [oauth.allowInsecureRequests]: options.allowInsecureRequests === true,
      signal: () => AbortSignal.timeout(TIMEOUT),
    });
    const answer = await oauth.processIntrospectionResponse(as, client, response);
    const targets: readonly string[] = answer.aud === undefined ? [] : [answer.aud].flat();
    const meant = audience === null ? targets.length === 0 : targets.includes(audience);
    if (!answer.active || !meant) return null;
    return {
      expiresAt: answer.exp === undefined ? null : answer.exp * 1000,
      clientId: answer.client_id ?? '',
      scopes: (answer.scope ?? '').split(' ').filter((scope) => scope !== ''),
      subject: answer.sub ?? null,
    };
  }

  async function introspect(token: string): Promise<IntrospectedToken | null> {
    if (cache.seconds <= 0) return ask(token);
    const found = cached.get(token);
    // Never longer than the token lives; the cache's own time is measured by a clock that is never set back.
    const lives = (found?.answer?.expiresAt ?? Infinity) > Date.now();
    if (found !== undefined && lives && found.until > performance.now()) return found.answer;
    const answer = await ask(token);
    cached.delete(token);
    cached.set(token, { answer, until: performance.now() + cache.seconds * 1000 });
    for (const oldest of cached.keys()) {
      if (cached.size <= cache.entries) break;
      cached.delete(oldest);
    }
    return answer;
  }

  return {
    async authorize(authorization, scope) {
      const token = parseBearer(authorization ?? null)?.token ?? null;
      if (token === null) return refuse(401, null);
      try {
        const introspected = await introspect(token);
        if (introspected === null) return refuse(401, 'invalid_token');
        return introspected.scopes.includes(scope) ? introspected : refuse(403, 'insufficient_scope', scope);
      } catch {
        return Response.json(
          { error: 'temporarily_unavailable' },
          { status: 503, headers: { 'Retry-After': '2' } },
        );
      }
    },
  };
}

/** Below the issuer, which may have a path. */
function introspectionEndpoint(issuer: string): string {
  return new URL('oauth/introspect', issuer.endsWith('/') ? issuer : `${issuer}/`).href;
}

/** RFC 6750 section 3. */
function refuse(status: 401 | 403, error: string | null, scope?: string): Response {
  const attributes = [
    ...(error === null ? [] : [`error="${error}"`]),
    ...(scope === undefined ? [] : [`scope="${scope}"`]),
  ];
  return Response.json(
    { error: error ?? 'invalid_token' },
    { status, headers: { 'WWW-Authenticate': ['Bearer realm="oauth"', ...attributes].join(', ') } },
  );
}

// --- guards for frameworks -------------------------------------------------------------------------------------

/** The tokens that the guards accepted, by the framework's request. */
const tokens = new WeakMap<object, IntrospectedToken>();

/** The token of a request that one of the guards below accepted. Throws for any other request. */
export function tokenOf(request: object): IntrospectedToken {
  const token = tokens.get(request);
  if (token === undefined) throw new Error('No guard of portico/resource-server stands before this handler');
  return token;
}

// The parts of each framework that the guards use, as types of our own, so that none of them has to be installed.

/** The part of an Express or Fastify request that a guard reads. */
export interface GuardedRequest {
  /** Header fields, by names in lower case. */
  readonly headers: { readonly authorization?: string | undefined };
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
  /** Ends the answer. */
  send(body: unknown): unknown;
}

/** The part of Fastify's reply that a guard uses. */
export interface FastifyAnswer {
  /** Sets the status. */
  code(status: number): FastifyAnswer;
  /** Sets header fields by name. */
  headers(fields: Record<string, string>): FastifyAnswer;
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
}

/** Express: `app.get('/orders', expressGuard(resource, 'orders:read'), handler)`. */
export function expressGuard(resource: ResourceServer, scope: string) {
  return async (req: GuardedRequest, res: ExpressAnswer, next: () => void): Promise<void> => {
    const outcome = await resource.authorize(authorizationOf(req), scope);
    if (outcome instanceof Response) {
      res
        .status(outcome.status)
        .set(Object.fromEntries(outcome.headers))
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
    const outcome = await resource.authorize(
      authorizationOf({ headers: request.headers, rawHeaders: request.raw?.rawHeaders ?? [] }),
      scope,
    );
    if (!(outcome instanceof Response)) {
      tokens.set(request, outcome);
      return;
    }
    reply.code(outcome.status).headers(Object.fromEntries(outcome.headers));
    await reply.send(await outcome.text());
  };
}

/** Hono: `app.get('/orders', honoGuard(resource, 'orders:read'), handler)`; `tokenOf(context.req.raw)`. */
export function honoGuard(resource: ResourceServer, scope: string) {
  return async (context: GuardedContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const outcome = await resource.authorize(context.req.header('authorization'), scope);
    if (outcome instanceof Response) return outcome;
    tokens.set(context.req.raw, outcome);
    await next();
    return undefined;
  };
}
