import { jwtVerify, SignJWT } from 'jose';

/**
 * Where a token is valid: in your own API, or in the cookie for the pages below `/oauth`. No token
 * is valid for both.
 */
export type Use = 'api' | 'browser';

export interface Tokens {
  sign(use: Use, userId: number, seconds: number): Promise<string>;
  /** Returns the user's id, or null for a token that is invalid, expired or for the other use. */
  verify(use: Use, token: string | undefined): Promise<number | null>;
}

export function createTokens(secret: string): Tokens {
  const key = new TextEncoder().encode(secret);
  return {
    sign: (use, userId, seconds) =>
      new SignJWT()
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(String(userId))
        .setAudience(use)
        .setExpirationTime(`${seconds}s`)
        .sign(key),
    async verify(use, token = '') {
      try {
        const { payload } = await jwtVerify(token, key, { audience: use, algorithms: ['HS256'] });
        return Number(payload.sub);
      } catch {
        return null;
      }
    },
  };
}
