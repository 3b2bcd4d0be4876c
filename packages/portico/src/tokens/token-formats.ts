import { orderedIdentifier, randomToken, tokenHash } from '../crypto.ts';
import type { OfferedRefreshToken, OfferedToken } from '../store/grant.ts';

/**
 * Tokens and codes start with the id of their row and end with a secret of 256 random bits.
 *
 * - access token: `<id>.<secret>`
 * - code: `<family id>.<secret>`
 * - refresh token: `<family id>.<mark>.<secret>`
 */

/** The id reveals when the token was issued. This is no secret: `expires_in` shows it too. */
export function newAccessToken(now: number): { readonly id: string; readonly value: string } {
  const id = orderedIdentifier(now);
  return { id, value: `${id}.${randomToken()}` };
}

export function newCode(familyId: string): string {
  return `${familyId}.${randomToken()}`;
}

/**
 * All refresh tokens of one authorization contain the same secret mark. The server recognizes used
 * tokens by it (decision 8).
 */
export function newRefreshToken(familyId: string, mark: string): string {
  return [familyId, mark, randomToken()].join('.');
}

/** Other ids must not reach the store: some database engines reject them. */
const ID_AND_SECRET = /^([0-9a-f]{32})\.[\w-]{43}$/;
/** Matches only the start of a refresh token. The store compares a hash of the whole token. */
const FAMILY_AND_MARK = /^([0-9a-f]{32})\.([\w-]{43})\./;

/** Returns what identifies an access token or a code in the store. */
export function parseToken(token: string): OfferedToken {
  return { id: ID_AND_SECRET.exec(token)?.[1] ?? '', hash: tokenHash(token) };
}

/**
 * Returns what identifies a refresh token in the store, and its mark. The mark is null for a
 * malformed token.
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
