import { createHash } from 'node:crypto';
import { RecentMap } from 'portico/extension';
import * as oauth from 'oauth4webapi';
import { codeWithin } from './causes.ts';

/** A token and what it allows, according to the authorization server's latest response. */
export interface IntrospectedToken {
  /**
   * When the token expires, in milliseconds since 1970. Null if the authorization server does not
   * report it.
   */
  readonly expiresAt: number | null;
  /** The id of the client that got the token. Empty if the response does not contain it. */
  readonly clientId: string;
  /** The token's current scopes. */
  readonly scopes: readonly string[];
  /** The user's public identifier. Null for a client-credentials token. */
  readonly subject: string | null;
  /**
   * When the user authenticated (`auth_time`), in milliseconds since 1970. Missing if the
   * authorization server does not report it.
   */
  readonly authenticatedAt?: number;
  /**
   * The level of assurance of that authentication. Missing if the authorization server does not
   * report it.
   */
  readonly acr?: string;
}

/** How far the clocks of the API and the authorization server may differ, in milliseconds. */
const CLOCK_TOLERANCE = 60_000;

/** How long to wait for the authorization server's response, in milliseconds. */
const TIMEOUT = 5000;

/**
 * A token that this API accepts. If it is bound to a key, each request also needs a proof, even if
 * the introspection response is cached.
 */
export interface UsableToken {
  readonly token: IntrospectedToken;
  /** The thumbprint of the key that the token is bound to. Null if the token is not bound. */
  readonly boundTo: string | null;
}

/** Why this API does not accept a token. */
export type UnusableReason = 'token_not_active' | 'other_audience' | 'unknown_binding';

/** A token that this API does not accept. */
export interface UnusableToken {
  readonly reason: UnusableReason;
  readonly clientId: unknown;
}

/** Why the authorization server did not return a usable introspection response. */
export type IntrospectionProblem =
  | 'introspection_timed_out'
  | 'introspection_unreachable'
  | 'introspection_refused'
  | 'introspection_malformed';

/**
 * Thrown when the authorization server does not return a usable response. The error has no cause,
 * because a cause could contain parts of the request or response.
 */
export class IntrospectionError extends Error {
  override readonly name = 'IntrospectionError';
  readonly reason: IntrospectionProblem;
  /** The code of the underlying error. Null if there is no such code. */
  readonly detail: string | null;
  /** The HTTP status of the response if the reason is `introspection_refused`. Otherwise null. */
  readonly answered: number | null;

  constructor(reason: IntrospectionProblem, detail: string | null, answered: number | null = null) {
    super(reason);
    this.reason = reason;
    this.detail = detail;
    this.answered = answered;
  }
}

interface CachedAnswer {
  readonly answer: UsableToken | UnusableToken;
  /** The end of the response's time limit in the cache, as a time of `performance.now()`. */
  readonly until: number;
  /** The end of the response's time limit in the cache, as a time of the system clock. */
  readonly untilDate: number;
}

/** The authorization server, and the client's credentials for it. */
export interface Asking {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The audience that tokens must have. If null, tokens must have no audience. */
  readonly audience: string | null;
  readonly cache: { readonly seconds: number; readonly entries: number };
  readonly allowsInsecureRequests: boolean;
}

/**
 * Sends introspection requests to the authorization server (RFC 7662), and caches the responses.
 */
export class Introspection {
  readonly #asking: Asking;
  readonly #server: oauth.AuthorizationServer;
  readonly #client: oauth.Client;
  readonly #authenticate: oauth.ClientAuth;
  /**
   * Cached responses by the SHA-256 hash of the token. The cache does not contain the tokens
   * themselves (RFC 9700 section 4.9.3). Responses about invalid tokens have a separate map: a
   * caller can send any number of invalid tokens, and these must not displace valid tokens.
   */
  readonly #usable: RecentMap<string, CachedAnswer>;
  readonly #unusable: RecentMap<string, CachedAnswer>;

  constructor(asking: Asking) {
    const { issuer, clientId, clientSecret, cache } = asking;
    this.#asking = asking;
    this.#server = { issuer, introspection_endpoint: introspectionEndpoint(issuer) };
    this.#client = { client_id: clientId };
    this.#authenticate = oauth.ClientSecretBasic(clientSecret);
    this.#usable = new RecentMap(cache.entries);
    this.#unusable = new RecentMap(cache.entries);
  }

  /**
   * The credentials in the client's `Authorization` header, and the secret as it is encoded in
   * them.
   */
  get sentCredentials(): readonly string[] {
    const headers = new Headers();
    void this.#authenticate(this.#server, this.#client, new URLSearchParams(), headers);
    const basic = (headers.get('authorization') ?? '').replace('Basic ', '');
    return [basic, atob(basic).replace(/^.*:/, '')];
  }

  /**
   * Returns the token, or the reason why it cannot be used. Rejects with an IntrospectionError if
   * the authorization server does not return a usable response.
   */
  async of(token: string): Promise<UsableToken | UnusableToken> {
    const { seconds } = this.#asking.cache;
    if (seconds <= 0) return this.#ask(token);
    const key = createHash('sha256').update(token).digest('base64');
    const found = this.#find(key);
    if (found !== undefined && isFresh(found)) return found.answer;
    // The time limit in the cache starts before the request, because the server may revoke the
    // token before the response arrives.
    const until = performance.now() + seconds * 1000;
    const untilDate = Date.now() + seconds * 1000;
    const answer = await this.#ask(token);
    // Do not replace a newer response that a later request has already stored.
    if ((this.#find(key)?.until ?? 0) > until) return answer;
    const [own, other] =
      'reason' in answer ? [this.#unusable, this.#usable] : [this.#usable, this.#unusable];
    other.delete(key);
    return own.put(key, { answer, until, untilDate }).answer;
  }

  #find(key: string): CachedAnswer | undefined {
    return this.#usable.get(key) ?? this.#unusable.get(key);
  }

  async #ask(token: string): Promise<UsableToken | UnusableToken> {
    const response = await this.#exchange(token);
    try {
      const answer = await oauth.processIntrospectionResponse(this.#server, this.#client, response);
      return judged(answer, this.#asking.audience);
    } catch (error) {
      throw new IntrospectionError('introspection_malformed', codeWithin(error));
    }
  }

  /** Sends the request and reads the whole response. Fails if the connection ends early. */
  async #exchange(token: string): Promise<Response> {
    const signal = AbortSignal.timeout(TIMEOUT);
    try {
      const response = await oauth.introspectionRequest(
        this.#server,
        this.#client,
        this.#authenticate,
        token,
        { [oauth.allowInsecureRequests]: this.#asking.allowsInsecureRequests, signal },
      );
      if (response.status === 200)
        return new Response(await response.text(), { headers: response.headers });
      response.body?.cancel().catch(() => undefined);
      throw new IntrospectionError('introspection_refused', null, response.status);
    } catch (error) {
      if (error instanceof IntrospectionError) throw error;
      const reason = signal.aborted ? 'introspection_timed_out' : 'introspection_unreachable';
      throw new IntrospectionError(reason, codeWithin(error));
    }
  }
}

/**
 * Returns whether neither the token nor the cached response has expired. The time limit of the
 * cache uses two clocks: the system clock can jump back, and the clock of `performance.now()`
 * stands still while the machine sleeps.
 */
function isFresh({ answer, until, untilDate }: CachedAnswer): boolean {
  return lives(answer) && until > performance.now() && untilDate > Date.now();
}

function lives(answer: UsableToken | UnusableToken): boolean {
  return 'reason' in answer || (answer.token.expiresAt ?? Infinity) > Date.now();
}

/** Reads an introspection response. Throws if it is not valid. */
function judged(
  answer: oauth.IntrospectionResponse,
  audience: string | null,
): UsableToken | UnusableToken {
  const { client_id: clientId } = answer;
  const targets: readonly string[] = answer.aud === undefined ? [] : [answer.aud].flat();
  const meant = audience === null ? targets.length === 0 : targets.includes(audience);
  if (!answer.active) return { reason: 'token_not_active', clientId };
  requireTypes(answer);
  if (!isCurrent(answer)) return { reason: 'token_not_active', clientId };
  if (!meant) return { reason: 'other_audience', clientId };
  const boundTo = getBinding(answer);
  if (boundTo === undefined) return { reason: 'unknown_binding', clientId };
  return {
    token: {
      expiresAt: answer.exp === undefined ? null : answer.exp * 1000,
      clientId: clientId ?? '',
      scopes: (answer.scope ?? '').split(' ').filter((scope) => scope !== ''),
      subject: answer.sub ?? null,
      ...getAuthentication(answer),
    },
    boundTo,
  };
}

/** Throws if a member that an API relies on does not have its type (RFC 7662 section 2.2). */
function requireTypes(answer: oauth.IntrospectionResponse): void {
  for (const name of ['client_id', 'scope', 'sub', 'token_type'] as const) {
    const text: unknown = answer[name];
    if (text !== undefined && typeof text !== 'string')
      throw new TypeError(`${name}: not a string`);
  }
  const { exp, nbf } = answer;
  if (exp !== undefined && !Number.isFinite(exp)) throw new TypeError('exp: not a number');
  // Some servers send null instead of leaving the member out.
  if (nbf !== undefined && nbf !== null && !Number.isFinite(nbf))
    throw new TypeError('nbf: not a number');
}

/**
 * Returns whether the token is valid now, according to its `exp` and `nbf`. The authorization
 * server should have checked this (RFC 7662 section 4), but some servers do not.
 */
function isCurrent({ exp, nbf }: oauth.IntrospectionResponse): boolean {
  const now = Date.now();
  const [ends, begins] = [exp ?? Infinity, nbf ?? -Infinity];
  return ends * 1000 > now - CLOCK_TOLERANCE && begins * 1000 <= now + CLOCK_TOLERANCE;
}

/** Returns what the response contains about the user's authentication (RFC 9470 section 6.2). */
function getAuthentication({
  auth_time: time,
  acr,
}: oauth.IntrospectionResponse): Pick<IntrospectedToken, 'authenticatedAt' | 'acr'> {
  return {
    ...(typeof time === 'number' && time >= 0 ? { authenticatedAt: time * 1000 } : {}),
    ...(typeof acr === 'string' ? { acr } : {}),
  };
}

/**
 * Returns the thumbprint of the key that the token is bound to (RFC 9449 section 6.2), or null for
 * a token that is not bound. Returns undefined if the token is bound in another way or its key is
 * missing, because the token is then not usable.
 */
function getBinding({
  cnf,
  token_type: type,
}: oauth.IntrospectionResponse): string | null | undefined {
  if (cnf === undefined) return type?.toLowerCase() === 'dpop' ? undefined : null;
  const { jkt, ...others } = cnf as Readonly<Record<string, unknown>>;
  return typeof jkt === 'string' && Object.keys(others).length === 0 ? jkt : undefined;
}

/** Returns the URL of the introspection endpoint below the issuer. The issuer may have a path. */
function introspectionEndpoint(issuer: string): string {
  return new URL('oauth/introspect', issuer.endsWith('/') ? issuer : `${issuer}/`).href;
}
