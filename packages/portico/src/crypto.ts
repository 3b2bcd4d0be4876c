import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';

/** A new opaque value of 256 random bits, base64url: access tokens, codes, request ids, secrets. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A new identifier of 128 random bits in lower-case hexadecimal: client ids and subjects. */
export function randomIdentifier(): string {
  return randomBytes(16).toString('hex');
}

/**
 * A new identifier whose order is that of the time, to the millisecond: 12 hexadecimal digits of it
 * (milliseconds since 1970), and 80 random bits. Rows of such a key follow each other in a table.
 * It is not a secret.
 */
export function orderedIdentifier(now: number): string {
  return now.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
}

/**
 * What the store keeps of a token or code: its SHA-256, base64url. 256 random bits need no slow
 * hash.
 */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/**
 * HMAC-SHA-256 of the parts, base64url. The parts are delimited, so that no two lists of parts have
 * one input.
 */
export function keyedHash(key: string, ...parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

const SEALING = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A key for this one purpose, derived (HKDF with SHA-256) from a secret of 256 random bits or more.
 */
export function derivedKey(secret: Uint8Array | string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}

/**
 * Encrypts the content (AES-256-GCM), base64url. `about` is not in it, and has to be the same when
 * it is opened.
 */
export function sealText(key: Uint8Array, about: string, content: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(SEALING, key, iv);
  cipher.setAAD(Buffer.from(about));
  const encrypted = [iv, cipher.update(content, 'utf8'), cipher.final()];
  return Buffer.concat([...encrypted, cipher.getAuthTag()]).toString('base64url');
}

/** What was sealed with this key and about the same; null for anything else. */
export function openText(key: Uint8Array, about: string, text: string): string | null {
  const bytes = Buffer.from(text, 'base64url');
  // Of two ways to write the same bytes one alone is ours.
  if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return null;
  const decipher = createDecipheriv(SEALING, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(about));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const content = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
    return Buffer.concat([content, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
