import { parseBearer, parseDpop } from '../http/bearer.ts';
import { createIntrospect, type IntrospectedToken } from './introspection.ts';
import { createProofs, refusalOf, type DpopOptions, type SentRequest } from './proofs.ts';
import { refuse, type Problem } from './refusals.ts';

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

/** Makes a resource server; asks nobody before the first token. Throws for an issuer that it could not ask: http without `allowInsecureRequests`; and for metadata without a URL. */
export function createResourceServer(options: ResourceServerOptions): ResourceServer {
  const { issuer, clientId, clientSecret, audience, cache = { seconds: 0, entries: 0 } } = options;
  const allowsInsecureRequests = options.allowInsecureRequests === true;
  if (new URL(issuer).protocol !== 'https:' && !allowsInsecureRequests) {
    throw new TypeError(
      `issuer: must be https, not ${issuer}. For http, in development, set allowInsecureRequests`,
    );
  }
  const introspect = createIntrospect({
    issuer,
    clientId,
    clientSecret,
    audience,
    cache,
    allowsInsecureRequests,
  });
  const proofs = options.dpop === undefined ? null : createProofs(options.dpop);
  const resourceMetadata =
    options.resourceMetadata === undefined ? null : new URL(options.resourceMetadata).href;

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
