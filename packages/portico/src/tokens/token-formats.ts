import { orderedIdentifier, randomToken, tokenHash } from '../crypto.ts';
import type { OfferedRefreshToken, OfferedToken } from '../store/grant.ts';

/**
 * The formats of tokens and codes. Each starts with the id of its row and ends with a secret of 256
 * random bits. Dots separate the parts.
 *
 * - access token: `<id>.<secret>`
 * - code: `<family id>.<secret>`
 * - refresh token: `<family id>.<mark>.<secret>`
 */

/**
 * Returns a new access token. Its id reveals when the token was issued. This is no secret, because
 * the client also learns it from `expires_in`.
 */
export function newAccessToken(now: number): { readonly id: string; readonly value: string } {
  const id = orderedIdentifier(now);
  return { id, value: `${id}.${randomToken()}` };
}

export function newCode(familyId: string): string {
  return `${familyId}.${randomToken()}`;
}

/**
 * Returns a new refresh token. The mark is a secret in all refresh tokens of one authorization.
 * With the mark, the server recognizes a used token (decision 8).
 */
export function newRefreshToken(familyId: string, mark: string): string {
  return [familyId, mark, randomToken()].join('.');
}

/**
 * Matches tokens with a valid id. Other ids must not be sent to the store, because some database
 * engines reject them.
 */
const ID_AND_SECRET = /^([0-9a-f]{32})\.[\w-]{43}$/;
/**
 * Matches the start of a refresh token. The rest is not checked, because the store compares a hash
 * of the whole token.
 */
const FAMILY_AND_MARK = /^([0-9a-f]{32})\.([\w-]{43})\./;

/** Returns the values that identify an access token or a code in the store. */
export function parseToken(token: string): OfferedToken {
  return { id: ID_AND_SECRET.exec(token)?.[1] ?? '', hash: tokenHash(token) };
}

/**
 * Returns the values that identify a refresh token in the store, and the token's mark. The mark is
 * null for a malformed token.
 */
export function parseRefreshToken(token: string): {
  readonly offered: OfferedRefreshToken;
  readonly mark: string | null;
} {
  const [, familyId, mark] = FAMILY_AND_MARK.exec(token) ?? [];
  const hash = tokenHash(token);
  if (familyId === undefined || mark === undefined) {
    return { offered: { id: '', hash, markHash: null }, mark: null };
  }
  return { offered: { id: familyId, hash, markHash: tokenHash(mark) }, mark };
}
