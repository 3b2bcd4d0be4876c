import { randomToken, tokenHash } from '../crypto.ts';
import type { OfferedRefreshToken } from '../store/store.ts';

/**
 * A refresh token is three words with dots between them: the id of its family, a secret that all refresh tokens of the family
 * share, and a secret of its own. The first two tell that a token was used before without a row for it (decision 8).
 */
export function newRefreshToken(familyId: string, shared: string): string {
  return [familyId, shared, randomToken()].join('.');
}

/** The store is asked for nothing else: not every engine takes any text. Family ids of earlier releases are words, too. */
const FAMILY_AND_SHARED = /^([\w-]{1,255})\.([A-Za-z0-9_-]{43})\./;

/** What the store knows a refresh token by, and the secret that it shares with its family; null when it has none. */
export function parseRefreshToken(token: string): {
  readonly offered: OfferedRefreshToken;
  readonly shared: string | null;
} {
  const [, familyId, shared] = FAMILY_AND_SHARED.exec(token) ?? [];
  const hash = tokenHash(token);
  if (familyId === undefined || shared === undefined) return { offered: { hash, mark: null }, shared: null };
  return { offered: { hash, mark: { familyId, hash: tokenHash(shared) } }, shared };
}
