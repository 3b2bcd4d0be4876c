import type { Route } from 'portico';
import {
  comesFromHere,
  equalInConstantTime,
  isBearerRequest,
  readMediaType,
  nameRequest,
  getRequestId,
} from 'portico/extension';
import { HttpError } from '../errors.ts';
import { createHmac } from 'node:crypto';
import {
  cookieKind,
  type CookieKind,
  type CookieScope,
  randomValue,
  readRandomValue,
} from '../http/cookies.ts';
import { readBody } from '../http/body-limit.ts';
import type { RequestSession } from './sessions.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Matches the field `_csrf` in a form of each media type. Parsing the whole form would block the
 * process for seconds if an attacker sends very many fields.
 */
const FIELDS: ReadonlyMap<string, RegExp> = new Map([
  ['application/x-www-form-urlencoded', /(?:^|&)_csrf=([^&]*)/],
  [
    'multipart/form-data',
    // Limit the number of further headers. Otherwise, the time would grow with its square.
    /\r\nContent-Disposition: form-data; name="?_csrf"?(?:\r\n.+){0,8}\r\n\r\n(.*)\r\n--/i,
  ],
]);

/** The maximum size of a form that the CSRF check reads, in bytes. */
const FORM_LIMIT = 1024 * 1024;

/**
 * The CSRF tokens of one browser. Requests send the token in the form field `_csrf` or in the
 * header `X-CSRF-Token`. While a user is signed in, tokens are bound to the session. Otherwise,
 * they are bound to a random value in a cookie (a double-submit cookie), and the server stores
 * nothing.
 */
export class CsrfTokens {
  readonly #session: RequestSession;
  readonly #cookie: CookieKind;
  readonly #withoutCookies: boolean;
  /** The value of the CSRF cookie that the browser sent, or null. */
  readonly #sent: string | null;
  #made: string | null = null;

  constructor(
    request: Request,
    session: RequestSession,
    cookies: CookieScope,
    tokenSchemes: readonly string[],
  ) {
    this.#session = session;
    this.#cookie = cookieKind('portico_csrf', cookies);
    this.#withoutCookies = isBearerRequest(request, tokenSchemes);
    this.#sent = this.#withoutCookies ? null : readRandomValue(request, this.#cookie.name);
  }

  /** Returns the token for the forms on a page. */
  async token(): Promise<string> {
    return (await this.#sessionToken()) ?? this.#cookieToken();
  }

  async accepts(token: string | null): Promise<boolean> {
    const bound = await this.#sessionToken();
    return bound === null ? this.#matchesCookie(token) : sameToken(token, bound);
  }

  /**
   * Checks the token of the sign-in form. The token may be bound to the cookie or to the session.
   * The user may have signed in in another tab after opening this form.
   */
  async acceptsToSignIn(token: string | null): Promise<boolean> {
    if (this.#matchesCookie(token)) return true;
    const bound = await this.#sessionToken();
    return bound !== null && sameToken(token, bound);
  }

  /**
   * Returns the `Set-Cookie` header for the response, or null if the response needs no new cookie.
   */
  setCookie(): string | null {
    const { name, attributes } = this.#cookie;
    return this.#made === null ? null : `${name}=${this.#made}; ${attributes}`;
  }

  async #sessionToken(): Promise<string | null> {
    const person = await this.#session.person();
    const secret = person === null ? null : await this.#session.existingSecret();
    return secret === null ? null : tokenBoundTo(secret);
  }

  #cookieToken(): string {
    if (this.#withoutCookies)
      throw new HttpError(400, 'A request with a bearer token has no session');
    return tokenBoundTo(this.#sent ?? (this.#made ??= randomValue()));
  }

  #matchesCookie(token: string | null): boolean {
    return this.#sent !== null && sameToken(token, tokenBoundTo(this.#sent));
  }
}

function tokenBoundTo(secret: string): string {
  return createHmac('sha256', secret).update('portico/csrf').digest('base64url');
}

function sameToken(given: string | null, expected: string): boolean {
  return equalInConstantTime(given ?? '', expected);
}

/**
 * Checks that a request that changes data comes from a page of this application in the same
 * browser.
 */
export class CsrfCheck {
  /** The application's public origin. */
  readonly origin: string;
  readonly #exemptRoutes: Readonly<Record<string, boolean>>;
  readonly #tokenSchemes: readonly string[];

  /**
   * `exemptRoutes` maps the name of a route to whether the route is exempt from the check.
   * `tokenSchemes` lists the `Authorization` schemes of access tokens besides Bearer, for example
   * DPoP.
   */
  constructor(
    origin: string,
    exemptRoutes: Readonly<Record<string, boolean>>,
    tokenSchemes: readonly string[],
  ) {
    this.origin = origin;
    this.#exemptRoutes = exemptRoutes;
    this.#tokenSchemes = tokenSchemes;
  }

  /**
   * Whether this route is exempt from the check. Returns `otherwise` if the configuration does not
   * mention the route.
   */
  isExempt(routeName: string, otherwise = false): boolean {
    return Object.hasOwn(this.#exemptRoutes, routeName)
      ? this.#exemptRoutes[routeName] === true
      : otherwise;
  }

  /** Whether this request needs the CSRF check. */
  isNeeded(request: Request, route: Route): boolean {
    if (SAFE_METHODS.has(request.method) || this.isExempt(route.name, route.readsNoSession))
      return false;
    return !isBearerRequest(request, this.#tokenSchemes);
  }

  /**
   * Throws an HttpError 403 unless the request comes from a page of this application in this
   * browser. The check may read the body of the request, so continue with the returned request. Its
   * body can still be read.
   */
  async check(request: Request, tokens: CsrfTokens | null): Promise<Request> {
    if (!comesFromHere(request, this.origin))
      throw new HttpError(403, 'Another site sent the request');
    const { request: reread, token } = await sentToken(request);
    if ((await tokens?.accepts(token)) !== true)
      throw new HttpError(403, 'The CSRF token is missing or wrong');
    return reread;
  }
}

async function sentToken(
  request: Request,
): Promise<{ readonly request: Request; readonly token: string | null }> {
  const header = request.headers.get('x-csrf-token');
  if (header !== null) return { request, token: header };
  const field = FIELDS.get(readMediaType(request.headers.get('content-type')));
  if (field === undefined) return { request, token: null };
  const body = await readBody(request, FORM_LIMIT);
  const { url, method, headers, signal } = request;
  const copy = new Request(url, { method, headers, signal, body });
  const [, token = ''] = field.exec(Buffer.from(body).toString('latin1')) ?? [];
  return { request: nameRequest(copy, getRequestId(request)), token: decoded(token) };
}

/** Decodes a percent-encoded token. Does not change a token that is not encoded. */
function decoded(token: string): string | null {
  return new URLSearchParams(`token=${token}`).get('token');
}
