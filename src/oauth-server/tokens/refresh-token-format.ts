import { randomToken, tokenHash } from '../crypto.ts';
import type { OfferedRefreshToken } from '../store/store.ts';

/**
 * A refresh token has three parts, separated by dots: the id of its family, the mark (a secret that all refresh tokens of
 * the family share), and a secret of its own. A used token is recognised by the first two (decision 8).
 */
export function newRefreshToken(familyId: string, mark: string): string {
  return [familyId, mark, randomToken()].join('.');
}

/** No other text reaches the store: not every engine takes any. Family ids of earlier releases match, too. */
const FAMILY_AND_MARK = /^([\w-]{1,255})\.([A-Za-z0-9_-]{43})\./;

/** What the store knows a refresh token by, and the mark in it; null when it has none. */
export function parseRefreshToken(token: string): {
  readonly offered: OfferedRefreshToken;
  readonly mark: string | null;
} {
  const [, familyId, mark] = FAMILY_AND_MARK.exec(token) ?? [];
  const hash = tokenHash(token);
  if (familyId === undefined || mark === undefined) return { offered: { hash, mark: null }, mark: null };
  return { offered: { hash, mark: { familyId, hash: tokenHash(mark) } }, mark };
}
