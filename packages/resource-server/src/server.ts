import {
  type AuthenticationDemand,
  authenticationProblem,
  DPOP_SCHEME,
  parseScheme,
  readRequirement,
} from 'portico/extension';
import { getName } from './causes.ts';
import { Introspection, IntrospectionError, type IntrospectedToken } from './introspection.ts';
import type { AuthenticationRequirement, DpopOptions, Refusal, SentRequest } from './contract.ts';
import { Proofs, getRefusal } from './proofs.ts';
import { refusalFor, refuse, tell, type Grounds } from './refusals.ts';
import { readWebUrl } from './urls.ts';

/** Options of a resource server. */
export interface ResourceServerOptions {
  /** The authorization server's `public_url`, plus its `base_path` if it has one. */
  readonly issuer: string;
  /** The id of a client that was registered with `--grant=introspection`. */
  readonly clientId: string;
  /** The client's secret. It is sent only to the authorization server. */
  readonly clientSecret: string;
  /** The audience that tokens must have. If null, only tokens without an audience are accepted. */
  readonly audience: string | null;
  /**
   * Caches each introspection response for `seconds`. Stores at most `entries` responses for tokens
   * that this API accepts, and as many for other tokens. Off by default.
   *
   * Without a cache, a revoked token, a suspended user or a removed permission takes effect with
   * the next request. With a cache, it takes effect after at most `seconds`.
   */
  readonly cache?: { readonly seconds: number; readonly entries: number };
  /**
   * The URL of the API's metadata (RFC 9728). If set, the `WWW-Authenticate` headers from
   * `authorize` contain this URL and the required scope, even if the request has no token. Scripts
   * of other origins that may read the API's responses may also read this header. Off by default.
   */
  readonly resourceMetadata?: string;
  /**
   * Accepts DPoP-bound tokens with the scheme DPoP (RFC 9449). Off by default: bound tokens are
   * then rejected.
   */
  readonly dpop?: DpopOptions;
  /**
   * Called once for each request that `authorize` or a guard rejects, before the response is sent.
   * It receives no secrets and cannot change the response. Exceptions are ignored, and the response
   * does not wait for a returned promise.
   */
  readonly onRefusal?: (refusal: Refusal) => void | Promise<void>;
  /** Allows http without TLS. Use it only for development, tests and private networks. */
  readonly allowInsecureRequests?: boolean;
}

/** Checks the tokens of requests. */
export type ResourceServer = Readonly<IntrospectingServer>;

/**
 * Creates a resource server. It sends no request before it receives a token. Throws a TypeError in
 * these cases:
 * - The issuer is not a URL with https or http, or contains a user name or password.
 * - The issuer uses http, and `allowInsecureRequests` is not set.
 * - `resourceMetadata` or `dpop.publicUrl` is not a URL with https or http.
 * - `dpop.publicUrl` contains a query or a fragment.
 * - `onRefusal` is not a function.
 *
 * @example
 * const resource = createResourceServer({
 *   issuer: 'https://app.example',
 *   clientId,
 *   clientSecret,
 *   audience: 'https://api.example',
 * });
 */
export function createResourceServer(options: ResourceServerOptions): ResourceServer {
  return new IntrospectingServer(options);
}

class IntrospectingServer {
  readonly #options: ResourceServerOptions;
  readonly #demand: AuthenticationDemand | null;
  readonly #introspection: Introspection;
  readonly #proofs: Proofs | null;
  readonly #metadata: string | null;
  readonly #onRefusal: ResourceServerOptions['onRefusal'];
  /**
   * The secret in all forms that a response could repeat, such as its encoding in the
   * `Authorization` header.
   */
  readonly #credentials: readonly string[];

  /**
   * `shared` is another server with the same options. The two servers then share their
   * introspection, cache and used proofs.
   */
  constructor(
    options: ResourceServerOptions,
    requirement: AuthenticationRequirement | null = null,
    shared: IntrospectingServer | null = null,
  ) {
    const { issuer, clientId, clientSecret, audience, dpop, resourceMetadata, onRefusal } = options;
    const { cache = { seconds: 0, entries: 0 } } = options;
    const allowsInsecureRequests = options.allowInsecureRequests === true;
    requireIssuer(issuer, allowsInsecureRequests);
    if (onRefusal !== undefined && typeof onRefusal !== 'function')
      throw new TypeError('onRefusal: must be a function');
    const asking = { issuer, clientId, clientSecret, audience, cache, allowsInsecureRequests };
    this.#options = options;
    this.#demand = requirement === null ? null : readRequirement(requirement);
    this.#introspection = shared === null ? new Introspection(asking) : shared.#introspection;
    const encodedSecret = encodeURIComponent(clientSecret);
    const basic = btoa(`${encodeURIComponent(clientId)}:${encodedSecret}`);
    const { sentCredentials } = this.#introspection;
    this.#credentials = [clientSecret, encodedSecret, basic, ...sentCredentials];
    const proofs = dpop === undefined ? null : new Proofs(dpop);
    this.#proofs = shared === null ? proofs : shared.#proofs;
    this.#metadata =
      resourceMetadata === undefined ? null : readWebUrl('resourceMetadata', resourceMetadata).href;
    this.#onRefusal = onRefusal;
  }

  /**
   * Returns the token from an `Authorization` header if the token has the scope. Otherwise returns
   * the response to send. Its status is 401 or 403, or 503 if the token or its proof could not be
   * checked. Also pass `request`. Without it, a proof cannot be checked, and a bound token is
   * rejected.
   */
  readonly authorize = async (
    authorization: string | null | undefined,
    scope: string,
    request?: SentRequest,
  ): Promise<IntrospectedToken | Response> => {
    const presented = presentedIn(authorization ?? null, this.#proofs !== null);
    const isPresented = 'token' in presented;
    const outcome = isPresented ? await this.#checked(presented, scope, request) : presented;
    if (!('reason' in outcome)) return outcome;
    const dpop = getRefusal(this.#proofs, isPresented && presented.scheme === 'DPoP');
    const secrets = isPresented ? [presented.token, ...this.#credentials] : this.#credentials;
    const told = refuse(refusalFor(outcome, scope, secrets), {
      metadata: this.#metadata,
      demand: this.#demand,
      dpop,
    });
    if (this.#onRefusal !== undefined) tell(this.#onRefusal, { ...told.refusal });
    return told.response;
  };

  /**
   * Returns a resource server that also checks the user's authentication: how recent it is, and its
   * level of assurance. If the authentication is not sufficient, the response has the status 401
   * and tells the client what to request next (RFC 9470 section 3). The authorization server must
   * include the authentication in its introspection responses; a Portico server does so with
   * `oauth_server:reauthentication`. Throws if the requirement is not valid.
   *
   * @example
   * const recent = resource.requireAuthentication({ maxAge: 300 });
   * app.post('/payments', expressGuard(recent, 'payments:write'), pay);
   */
  readonly requireAuthentication = (requirement: AuthenticationRequirement): ResourceServer =>
    new IntrospectingServer(this.#options, requirement, this);

  async #checked(
    presented: Presented,
    scope: string,
    request: SentRequest | undefined,
  ): Promise<IntrospectedToken | Grounds> {
    try {
      return await this.#check(presented, scope, request);
    } catch (error) {
      if (!(error instanceof IntrospectionError))
        return { reason: 'fault', detail: getName(error) };
      const { reason, detail, answered } = error;
      return { reason, detail, answered };
    }
  }

  /** Returns the token, or why it is rejected. */
  async #check(
    { token: value, scheme }: Presented,
    scope: string,
    request: SentRequest | undefined,
  ): Promise<IntrospectedToken | Grounds> {
    const answer = await this.#introspection.of(value);
    if ('reason' in answer) return answer;
    const { token, boundTo } = answer;
    const { clientId } = token;
    // A bound token must not be sent with the scheme Bearer, and an unbound token must not be sent
    // with the scheme DPoP (RFC 9449 section 7.2).
    if (boundTo !== null && scheme === 'Bearer') return { reason: 'bound_as_bearer', clientId };
    if (boundTo === null && scheme === 'DPoP') return { reason: 'unbound_as_dpop', clientId };
    if (boundTo === null) {
      if (this.#proofs?.offer.required === true) return { reason: 'unbound', clientId };
    } else {
      if (this.#proofs === null) return { reason: 'dpop_not_taken', clientId };
      if (request === undefined) return { reason: 'no_request', clientId };
      const refusal = await this.#proofs.refusal(value, boundTo, request);
      if (refusal !== null) return { ...refusal, clientId };
    }
    if (!token.scopes.includes(scope)) return { reason: 'scope_missing', clientId };
    const problem = this.#demand === null ? null : findProblem(token, this.#demand);
    return problem === null
      ? token
      : { reason: 'authentication_insufficient', detail: problem, clientId };
  }
}

/**
 * Throws if the issuer is not usable. The error must not contain a password, neither in its message
 * nor in its properties.
 */
function requireIssuer(issuer: string, allowsInsecureRequests: boolean): void {
  const url = URL.parse(issuer);
  if (url === null) throw new TypeError('issuer: must be a URL, such as https://app.example.com');
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(
      'issuer: must not contain a user name or password; set clientId and clientSecret instead',
    );
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && allowsInsecureRequests)) return;
  const named = url.protocol === 'http:' ? `an https URL, not ${url.origin}` : 'an https URL';
  throw new TypeError(
    `issuer: must be ${named}. To use http in development, set allowInsecureRequests`,
  );
}

/**
 * Returns the reason why the user's authentication is not sufficient, or null if the authentication
 * is sufficient. The text contains nothing from the authorization server's response.
 */
function findProblem(
  { authenticatedAt, acr }: IntrospectedToken,
  demand: AuthenticationDemand,
): string | null {
  if (authenticatedAt === undefined) return 'no authentication is reported';
  const told = { auth_time: authenticatedAt / 1000, acr };
  const isSufficient = authenticationProblem(told, demand, Date.now()) === null;
  return isSufficient ? null : 'the person authenticated too long ago, or with a different acr';
}

interface Presented {
  readonly token: string;
  readonly scheme: 'Bearer' | 'DPoP';
}

function presentedIn(authorization: string | null, takesDpop: boolean): Presented | Grounds {
  if (authorization === null || /^\s*$/.test(authorization)) return { reason: 'no_token' };
  const bearer = parseScheme('Bearer', authorization);
  const bound = parseScheme(DPOP_SCHEME, authorization);
  if (bound !== null && !takesDpop) return { reason: 'dpop_not_taken' };
  const token = (bearer ?? bound)?.token;
  if (token === undefined) return { reason: 'other_scheme' };
  if (token === null) return { reason: 'malformed_token' };
  return { token, scheme: bearer === null ? 'DPoP' : 'Bearer' };
}
