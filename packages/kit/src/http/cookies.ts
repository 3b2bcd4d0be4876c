import { randomBytes } from 'node:crypto';
import { cookieNameBelow, sentCookies } from 'portico/extension';

const RANDOM_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits, as a cookie holds them. */
export function randomValue(): string {
  return randomBytes(32).toString('base64url');
}

/** The value of the request's cookie of this name; null when it has none. */
export function readCookie(request: Request, cookieName: string): string | null {
  return sentCookies(request).find(([name]) => name === cookieName)?.[1] ?? null;
}

/** The same for a cookie that holds a random value; null also for anything that `randomValue` cannot have made. */
export function readRandomValue(request: Request, cookieName: string): string | null {
  const value = readCookie(request, cookieName);
  return value !== null && RANDOM_VALUE.test(value) ? value : null;
}

export interface CookieKind {
  readonly name: string;
  /** For `Set-Cookie`, without `Max-Age`. */
  readonly attributes: string;
}

/** What the cookies of an application depend on. */
export interface CookieScope {
  /** Whether the application is served over https. */
  readonly secure: boolean;
  readonly basePath: string;
}

/** A cookie that scripts cannot read; over https it is bound to this host, too. */
export function cookieKind(name: string, { secure, basePath }: CookieScope): CookieKind {
  return {
    name: cookieNameBelow(basePath, secure ? `__Host-${name}` : name),
    attributes: `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
}
