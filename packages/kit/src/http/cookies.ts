import { randomBytes } from 'node:crypto';
import { cookieNameBelow, sentCookies } from 'portico/extension';

const RANDOM_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** Returns 256 random bits in base64url. */
export function randomValue(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the value of the cookie with this name in the request, or null. */
export function readCookie(request: Request, cookieName: string): string | null {
  return sentCookies(request).find(([name]) => name === cookieName)?.[1] ?? null;
}

/**
 * Like `readCookie`, but for cookies with a value from `randomValue`. Returns null if `randomValue`
 * cannot have created the value.
 */
export function readRandomValue(request: Request, cookieName: string): string | null {
  const value = readCookie(request, cookieName);
  return value !== null && RANDOM_VALUE.test(value) ? value : null;
}

export interface CookieKind {
  readonly name: string;
  /** The attributes in the `Set-Cookie` header, without `Max-Age`. */
  readonly attributes: string;
}

/** The settings of the application that affect its cookies. */
export interface CookieScope {
  /** Whether the application is served over https. */
  readonly secure: boolean;
  readonly basePath: string;
}

/**
 * Returns the name and attributes of a cookie that scripts cannot read. With https, the cookie is
 * also bound to this host.
 */
export function cookieKind(name: string, { secure, basePath }: CookieScope): CookieKind {
  return {
    name: cookieNameBelow(basePath, secure ? `__Host-${name}` : name),
    attributes: `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
}
