import { randomBytes } from 'node:crypto';

/** What browsers keep for us. */

const RANDOM_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits, as they stand in a cookie. */
export function randomValue(): string {
  return randomBytes(32).toString('base64url');
}

/** What the request brings in the cookie of this name; null when it brings none. */
export function cookieOf(request: Request, cookieName: string): string | null {
  for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
    const [name, value = ''] = pair.trim().split('=', 2);
    if (name === cookieName) return value;
  }
  return null;
}

/** A random value that the request brings in the cookie of this name; null when there is none that could be one. */
export function randomValueOf(request: Request, cookieName: string): string | null {
  const value = cookieOf(request, cookieName);
  return value !== null && RANDOM_VALUE.test(value) ? value : null;
}

export interface CookieKind {
  readonly name: string;
  /** How it is set, but for its age. */
  readonly attributes: string;
}

/** A cookie for this host alone, where the application is served over https; scripts never see it. */
export function cookieKind(name: string, secure: boolean): CookieKind {
  return {
    name: secure ? `__Host-${name}` : name,
    attributes: `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
}
