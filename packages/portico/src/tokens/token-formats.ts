import { orderedIdentifier, randomToken, tokenHash } from '../crypto.ts';
import type { OfferedRefreshToken, OfferedToken } from '../store/grant.ts';

/**
 * The formats of what is issued. Each begins with the id of its row, and ends with a secret of 256
 * random bits; dots separate the parts.
 *
 * | access token | `<id>.<secret>` |
 * | code | `<family id>.<secret>` |
 * | refresh token | `<family id>.<mark>.<secret>` |
 */

/**
 * A new access token. Its id shows its holder when it was issued, which `expires_in` already told
 * them.
 */
export function newAccessToken(now: number): { readonly id: string; readonly value: string } {
  const id = orderedIdentifier(now);
  return { id, value: `${id}.${randomToken()}` };
}

export function newCode(familyId: string): string {
  return `${familyId}.${randomToken()}`;
}

/**
 * The mark is a secret that all refresh tokens of the family share and nothing else contains. It
 * identifies a used token (decision 8).
 */
export function newRefreshToken(familyId: string, mark: string): string {
  return [familyId, mark, randomToken()].join('.');
}

/** No other text reaches the store, because not every engine accepts any text. */
const ID_AND_SECRET = /^([0-9a-f]{32})\.[\w-]{43}$/;
/** The text after the mark does not matter, because the whole token is hashed. */
const FAMILY_AND_MARK = /^([0-9a-f]{32})\.([\w-]{43})\./;

/** The values by which the store identifies an access token or a code. */
export function parseToken(token: string): OfferedToken {
  return { id: ID_AND_SECRET.exec(token)?.[1] ?? '', hash: tokenHash(token) };
}

/**
 * The values by which the store identifies a refresh token, and the mark in it. The mark is null
 * for a malformed token.
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
