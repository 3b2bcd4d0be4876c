import { createHmac } from 'node:crypto';
import { nameRequest, requestIdOf } from '../../http/request-id.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { isBearerRequest } from '../../http/bearer.ts';
import { equalInConstantTime } from '../../http/constant-time.ts';
import { comesFromHere } from '../../http/same-origin.ts';
import type { Route } from '../contracts.ts';
import { cookieKind, type CookieScope, randomValue, readRandomValue } from '../http/cookies.ts';
import { HttpError } from '../errors.ts';
import { readBody } from '../http/body-limit.ts';
import type { RequestSession } from './sessions.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const FORM_TYPES: ReadonlySet<string> = new Set(['application/x-www-form-urlencoded', 'multipart/form-data']);

/** The largest form that the check reads, in bytes. */
const FORM_LIMIT = 1024 * 1024;

export interface CsrfOptions {
  /** The public origin of the application. */
  readonly origin: string;
  /** The routes that the check leaves alone have `true` under their names. */
  readonly exemptRoutes: Readonly<Record<string, boolean>>;
  /** Whether `Authorization: DPoP` says that a request is an application's, as Bearer does. */
  readonly takesDpop: boolean;
}

/**
 * The CSRF tokens of one browser, for a form's field `_csrf` or the header `X-CSRF-Token`. While somebody is signed in they are
 * bound to the session. Otherwise they are bound to a random value in a cookie (a double-submit cookie), so that a form shown to
 * somebody who is not signed in stores nothing.
 */
export interface CsrfTokens {
  /** For the forms of a page. */
  token(): Promise<string>;
  accepts(token: string | null): Promise<boolean>;
  /** For the sign-in form: it may have been opened before somebody signed in in another tab, with the token of the cookie. */
  acceptsToSignIn(token: string | null): Promise<boolean>;
  /** The `Set-Cookie` header that the response must carry; null when the browser's cookie is right. */
  setCookie(): string | null;
}

export interface CsrfTokensOptions {
  readonly request: Request;
  readonly session: Pick<RequestSession, 'existingSecret' | 'person'>;
  readonly cookies: CookieScope;
  readonly takesDpop: boolean;
}

export function createCsrfTokens({ request, session, cookies, takesDpop }: CsrfTokensOptions): CsrfTokens {
  const { name, attributes } = cookieKind('portico_csrf', cookies);
  const withoutCookies = isBearerRequest(request, takesDpop);
  const sent = withoutCookies ? null : readRandomValue(request, name);
  let made: string | null = null;

  function cookieToken(): string {
    if (withoutCookies) throw new HttpError(400, 'A request with a bearer token has no session');
    return tokenBoundTo(sent ?? (made ??= randomValue()));
  }

  async function sessionToken(): Promise<string | null> {
    const secret = (await session.person()) === null ? null : await session.existingSecret();
    return secret === null ? null : tokenBoundTo(secret);
  }

  const matchesCookie = (token: string | null) => sent !== null && sameToken(token, tokenBoundTo(sent));

  return {
    token: async () => (await sessionToken()) ?? cookieToken(),
    async accepts(token) {
      const bound = await sessionToken();
      return bound === null ? matchesCookie(token) : sameToken(token, bound);
    },
    async acceptsToSignIn(token) {
      if (matchesCookie(token)) return true;
      const bound = await sessionToken();
      return bound !== null && sameToken(token, bound);
    },
    setCookie: () => (made === null ? null : `${name}=${made}; ${attributes}`),
  };
}

function tokenBoundTo(secret: string): string {
  return createHmac('sha256', secret).update('portico/csrf').digest('base64url');
}

function sameToken(given: string | null, expected: string): boolean {
  return equalInConstantTime(given ?? '', expected);
}

/** Whether the session-wide check applies to a request at all. */
export function isCsrfChecked(
  request: Request,
  route: Route,
  { exemptRoutes, takesDpop }: CsrfOptions,
): boolean {
  if (SAFE_METHODS.has(request.method) || isExempt(route.name, exemptRoutes)) return false;
  return !isBearerRequest(request, takesDpop);
}

/**
 * The session-wide check of one request that it applies to: throws an HttpError 403 unless it came from a page of this browser.
 * Returns the request to go on with, its body still unread.
 */
export async function checkCsrf(
  request: Request,
  context: { readonly csrf: Pick<CsrfTokens, 'accepts'> | null },
  { origin }: Pick<CsrfOptions, 'origin'>,
): Promise<Request> {
  if (!comesFromHere(request, origin)) throw new HttpError(403, 'The request comes from another site');
  const { request: reread, token } = await sentToken(request);
  if ((await context.csrf?.accepts(token)) !== true)
    throw new HttpError(403, 'The CSRF token is missing or wrong');
  return reread;
}

/** Whether the configuration exempts this route from the check. */
export function isExempt(routeName: string, exemptRoutes: CsrfOptions['exemptRoutes']): boolean {
  return Object.hasOwn(exemptRoutes, routeName) && exemptRoutes[routeName] === true;
}

async function sentToken(
  request: Request,
): Promise<{ readonly request: Request; readonly token: string | null }> {
  const header = request.headers.get('x-csrf-token');
  if (header !== null) return { request, token: header };
  if (!FORM_TYPES.has(mediaTypeOf(request.headers.get('content-type')))) return { request, token: null };
  const body = await readBody(request, FORM_LIMIT);
  const { url, method, headers, signal } = request;
  const copy = () => nameRequest(new Request(url, { method, headers, signal, body }), requestIdOf(request));
  const token = await formField(copy(), '_csrf');
  return { request: copy(), token };
}

async function formField(request: Request, name: string): Promise<string | null> {
  try {
    const value = (await request.formData()).get(name);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
