/** For an API in another process: it asks the authorization server about each token by introspection (RFC 7662). */
import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { EXPOSED_HEADERS } from '../http/added-headers.ts';
import { authorizationOf, parseBearer, parseDpop } from '../http/bearer.ts';
import { challenges, type DpopRefusal } from '../http/challenges.ts';
import { pathOf } from '../http/request-target.ts';
import { createProofs, refusalOf, type DpopOptions, type SentRequest } from './proofs.ts';

export type { DpopOptions, SentRequest } from './proofs.ts';

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
  /**
   * The URL of the API's metadata (RFC 9728). With it what `authorize` refuses says in `WWW-Authenticate` where the metadata is and, also
   * without a token, which scope is needed; pages that may read the API's answers may read that header. Not named unless given.
   */
  readonly resourceMetadata?: string;
  /**
   * Takes tokens that are bound to a key of their client, in the scheme DPoP (RFC 9449). Off unless given: such a token is none then.
   */
  readonly dpop?: DpopOptions;
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
   * the authorization server cannot be asked. `request` is what the proof of a bound token is for: without it there is no such token.
   */
  authorize(
    authorization: string | null | undefined,
    scope: string,
    request?: SentRequest,
  ): Promise<IntrospectedToken | Response>;
}

/** How long to wait for an answer of the authorization server, in milliseconds. */
const TIMEOUT = 5000;

/** What the authorization server says of a token: a proof is asked for at each use, also of an answer that is cached. */
interface Answer {
  readonly token: IntrospectedToken;
  /** The key that it is bound to; null for none. */
  readonly boundTo: string | null;
}

interface CachedAnswer {
  readonly answer: Answer | null;
  readonly until: number;
}

/** Makes a resource server; asks nobody before the first token. Throws for an issuer that it could not ask: http without `allowInsecureRequests`; and for metadata without a URL. */
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
  /** By the SHA-256 of the token: tokens are kept nowhere (RFC 9700 section 4.9.3). */
  const cached = new Map<string, CachedAnswer>();
  const proofs = options.dpop === undefined ? null : createProofs(options.dpop);
  const resourceMetadata =
    options.resourceMetadata === undefined ? null : new URL(options.resourceMetadata).href;

  async function ask(token: string): Promise<Answer | null> {
    const response = await oauth.introspectionRequest(as, client, authenticate, token, {
      [oauth.allowInsecureRequests]: options.allowInsecureRequests === true,
      signal: () => AbortSignal.timeout(TIMEOUT),
    });
    const answer = await oauth.processIntrospectionResponse(as, client, response);
    const targets: readonly string[] = answer.aud === undefined ? [] : [answer.aud].flat();
    const meant = audience === null ? targets.length === 0 : targets.includes(audience);
    if (!answer.active || !meant) return null;
    const boundTo = bindingOf(answer);
    if (boundTo === undefined) return null;
    return {
      token: {
        expiresAt: answer.exp === undefined ? null : answer.exp * 1000,
        clientId: answer.client_id ?? '',
        scopes: (answer.scope ?? '').split(' ').filter((scope) => scope !== ''),
        subject: answer.sub ?? null,
      },
      boundTo,
    };
  }

  async function introspect(token: string): Promise<Answer | null> {
    if (cache.seconds <= 0) return ask(token);
    const key = createHash('sha256').update(token).digest('base64');
    const found = cached.get(key);
    // Never longer than the token lives; the cache's own time is measured by a clock that is never set back.
    const lives = (found?.answer?.token.expiresAt ?? Infinity) > Date.now();
    if (found !== undefined && lives && found.until > performance.now()) return found.answer;
    const answer = await ask(token);
    cached.delete(key);
    cached.set(key, { answer, until: performance.now() + cache.seconds * 1000 });
    for (const oldest of cached.keys()) {
      if (cached.size <= cache.entries) break;
      cached.delete(oldest);
    }
    return answer;
  }

  /** The token; otherwise what is wrong with it. */
  async function check(
    { token: value, scheme }: Presented,
    scope: string,
    request: SentRequest | undefined,
  ): Promise<IntrospectedToken | Problem> {
    const answer = await introspect(value);
    if (answer === null) return 'invalid_token';
    const { token, boundTo } = answer;
    // Bound it is none as Bearer, unbound none in the scheme DPoP (RFC 9449 section 7.2).
    if ((boundTo !== null) !== (scheme === 'DPoP')) return 'invalid_token';
    if (boundTo === null) {
      if (proofs?.offer.required === true) return 'invalid_token';
    } else {
      if (proofs === null) return 'invalid_token';
      if (request === undefined) return 'invalid_dpop_proof';
      const problem = await proofs.problem(value, boundTo, request);
      if (problem !== null) return problem;
    }
    return token.scopes.includes(scope) ? token : 'insufficient_scope';
  }

  return {
    async authorize(authorization, scope, request) {
      const presented = presentedIn(authorization ?? null, proofs !== null);
      const refusing = { scope, metadata: resourceMetadata };
      const dpop = refusalOf(proofs, presented?.scheme === 'DPoP');
      if (presented === null) return refuse({ ...refusing, error: null, dpop });
      try {
        const checked = await check(presented, scope, request);
        return typeof checked === 'string' ? refuse({ ...refusing, error: checked, dpop }) : checked;
      } catch {
        return Response.json(
          { error: 'temporarily_unavailable' },
          { status: 503, headers: { 'Retry-After': '2' } },
        );
      }
    },
  };
}

interface Presented {
  readonly token: string;
  readonly scheme: 'Bearer' | 'DPoP';
}

function presentedIn(authorization: string | null, takesDpop: boolean): Presented | null {
  const bearer = parseBearer(authorization)?.token ?? null;
  if (bearer !== null) return { token: bearer, scheme: 'Bearer' };
  const bound = takesDpop ? (parseDpop(authorization)?.token ?? null) : null;
  return bound === null ? null : { token: bound, scheme: 'DPoP' };
}

/**
 * The key that the token is bound to (RFC 9449 section 6.2), null for none, undefined where it is bound to something else or
 * nobody can tell to what: such a token is none here.
 */
function bindingOf({ cnf, token_type: type }: oauth.IntrospectionResponse): string | null | undefined {
  if (cnf === undefined) return type?.toLowerCase() === 'dpop' ? undefined : null;
  const { jkt, ...others } = cnf as Readonly<Record<string, unknown>>;
  return typeof jkt === 'string' && Object.keys(others).length === 0 ? jkt : undefined;
}

/** Below the issuer, which may have a path. */
function introspectionEndpoint(issuer: string): string {
  return new URL('oauth/introspect', issuer.endsWith('/') ? issuer : `${issuer}/`).href;
}

/** Why a token is refused. */
type Problem = 'invalid_token' | 'invalid_dpop_proof' | 'insufficient_scope';

interface Refusal {
  /** RFC 6750 section 3: without a token there is no error. */
  readonly error: Problem | null;
  readonly scope: string;
  /** Without metadata, only a token that does not reach is told the scope. */
  readonly metadata: string | null;
  readonly dpop: DpopRefusal | null;
}

function refuse({ error, scope, metadata, dpop }: Refusal): Response {
  const isNarrow = error === 'insufficient_scope';
  const parameters = {
    realm: 'oauth',
    error,
    scope: isNarrow || metadata !== null ? scope : null,
    resource_metadata: metadata,
  };
  const isReadable = metadata !== null || dpop !== null;
  const headers = {
    'WWW-Authenticate': challenges(parameters, dpop),
    ...(isReadable ? { 'Access-Control-Expose-Headers': 'WWW-Authenticate' } : {}),
  };
  return Response.json({ error: error ?? 'invalid_token' }, { status: isNarrow ? 403 : 401, headers });
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
  if (parseDpop(authorization) === null) return undefined;
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
      parseDpop(authorization) === null
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
