import { createHmac, hash, randomBytes } from 'node:crypto';

/** A new opaque value of 256 random bits, base64url: access tokens, codes, request ids, secrets. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A new identifier of 128 random bits in lower-case hexadecimal: client ids and subjects. */
export function randomIdentifier(): string {
  return randomBytes(16).toString('hex');
}

/**
 * A new identifier whose order is that of the time, to the millisecond: 12 hexadecimal digits of it (milliseconds since 1970),
 * and 80 random bits. Rows of such a key follow each other in a table. It is no secret.
 */
export function orderedIdentifier(now: number): string {
  return now.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
}

/** What the store keeps of a token or code: its SHA-256, base64url. 256 random bits need no slow hash. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** HMAC-SHA-256 of the parts, base64url. The parts are delimited, so that no two lists of parts have one input. */
export function keyedHash(key: string, ...parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}
