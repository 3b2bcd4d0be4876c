import { createHmac, hash, randomBytes } from 'node:crypto';
import type { OfferedRefreshToken } from './store/store.ts';

/** A fresh opaque value of 256 random bits, base64url: access and refresh tokens, codes, request ids, secrets. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A fresh identifier of 128 random bits in lower-case hexadecimal: client ids, family ids and subjects. */
export function randomIdentifier(): string {
  return randomBytes(16).toString('hex');
}

/** A refresh token: the id of its family, a secret that all of the family share, and one of its own. */
export function newRefreshToken(familyId: string, shared: string): string {
  return [familyId, shared, randomToken()].join('.');
}

/** Nothing else is asked of the store: not every engine takes what a stranger may write. Ids of earlier releases are words too. */
const FAMILY_AND_SHARED = /^([\w-]{1,255})\.([A-Za-z0-9_-]{43})\./;

/** What a refresh token says of its family, whatever the rest of it is; null for one that says nothing. */
export function familyOfRefreshToken(
  token: string,
): { readonly familyId: string; readonly shared: string } | null {
  const [, familyId, shared] = FAMILY_AND_SHARED.exec(token) ?? [];
  return familyId === undefined || shared === undefined ? null : { familyId, shared };
}

/** What the store keeps of a token or code: its SHA-256, base64url. 256 random bits need no slow hash. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** HMAC-SHA-256 of the parts, base64url. The parts are delimited, so that no two lists of parts look alike. */
export function keyedHash(key: string, ...parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

/** What the store knows a refresh token by. */
export function offeredRefreshToken(token: string): OfferedRefreshToken {
  const family = familyOfRefreshToken(token);
  const mark = family === null ? null : { familyId: family.familyId, hash: tokenHash(family.shared) };
  return { hash: tokenHash(token), mark };
}
