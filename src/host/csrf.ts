import { createHmac, timingSafeEqual } from 'node:crypto';
import { nameRequest, requestIdOf } from '../http/request-id.ts';
import { readAtMost } from '../http/body.ts';
import { isBearerRequest } from './bearer-request.ts';
import type { Route } from './contracts.ts';
import { HttpError } from './error-handler.ts';
import type { RequestSession } from './sessions.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const FORM_TYPES = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** The largest form that the check reads, in bytes. */
const FORM_LIMIT = 1024 * 1024;

export interface CsrfOptions {
  /** The public origin of the application. */
  readonly origin: string;
  /** Names of routes that the check leaves alone, with `true`. */
  readonly exemptRoutes: Readonly<Record<string, boolean>>;
}

/** The session-wide CSRF token, for a form's field `_csrf` or the header `X-CSRF-Token`. */
export function csrfTokenOf(sessionSecret: string): string {
  return createHmac('sha256', sessionSecret).update('portico/csrf').digest('base64url');
}

/**
 * The session-wide check of one request: throws an HttpError 403 for an unsafe request that did not come from a page of
 * this session. Returns the request to go on with, its body still unread.
 */
export async function checkCsrf(
  request: Request,
  route: Route,
  context: { readonly session: Pick<RequestSession, 'existingSecret'> },
  { origin, exemptRoutes }: CsrfOptions,
): Promise<Request> {
  if (SAFE_METHODS.has(request.method)) return request;
  if (Object.hasOwn(exemptRoutes, route.name) && exemptRoutes[route.name] === true) return request;
  if (isBearerRequest(request)) return request;

  if (!comesFromHere(request, origin)) throw new HttpError(403, 'The request comes from another site');
  const { request: reread, token } = await tokenOf(request);
  const secret = await context.session.existingSecret();
  const expected = Buffer.from(secret === null ? '' : csrfTokenOf(secret));
  const given = Buffer.from(token ?? '');
  if (secret === null || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new HttpError(403, 'The CSRF token is missing or wrong');
  }
  return reread;
}

/**
 * What the browser says of the page that sent the request. `Sec-Fetch-Site` is the better witness: a page without
 * referrer, as those of the kit are, sends its forms with the origin `null`.
 */
function comesFromHere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const sentFrom = request.headers.get('origin');
  return sentFrom === null || sentFrom === 'null' || sentFrom === origin;
}

async function tokenOf(
  request: Request,
): Promise<{ readonly request: Request; readonly token: string | null }> {
  const header = request.headers.get('x-csrf-token');
  if (header !== null) return { request, token: header };
  if (!FORM_TYPES.test(request.headers.get('content-type') ?? '')) return { request, token: null };
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

/** The body of a request, at most so many bytes; a larger one is an HttpError 413, one that breaks off 400. */
export async function readBody(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const body = await readAtMost(request, limit).catch((error: unknown) => {
    if (error instanceof HttpError) throw error;
    // The sender hung up, which is no fault of ours.
    throw new HttpError(400, 'The body broke off');
  });
  if (body === null) throw new HttpError(413, `The body is larger than ${limit} bytes`);
  return new Uint8Array(body);
}
