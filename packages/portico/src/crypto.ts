import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

/** Returns 256 random bits in base64url, for access tokens, codes, request ids and secrets. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** 128 random bits in lowercase hexadecimal, for client ids and subjects. */
export function randomIdentifier(): string {
  return randomBytes(16).toString('hex');
}

/**
 * Returns an identifier that sorts by time, so that new rows are next to each other in a table: 12
 * hexadecimal digits of milliseconds since 1970, and 80 random bits. It is not a secret.
 */
export function orderedIdentifier(now: number): string {
  return now.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
}

/**
 * Returns the SHA-256 hash of a token or code, in base64url. The store contains only this hash. A
 * value of 256 random bits needs no slow hash.
 */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/**
 * Returns the HMAC-SHA-256 of the parts, in base64url. Different lists never have the same
 * encoding.
 */
export function keyedHash(key: string, ...parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

const SEALING = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Derives a key for one purpose, with HKDF and SHA-256. The secret must have at least 256 random
 * bits.
 */
export function derivedKey(secret: Uint8Array | string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
}

/**
 * Encrypts the content with AES-256-GCM and returns it in base64url. `about` is authenticated, but
 * not part of the result. Pass the same `about` to `openText`.
 */
export function sealText(key: Uint8Array, about: string, content: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(SEALING, key, iv);
  cipher.setAAD(Buffer.from(about));
  const encrypted = [iv, cipher.update(content, 'utf8'), cipher.final()];
  return Buffer.concat([...encrypted, cipher.getAuthTag()]).toString('base64url');
}

/** Decrypts text of `sealText` with the same key and `about`. Returns null for any other text. */
export function openText(key: Uint8Array, about: string, text: string): string | null {
  const bytes = Buffer.from(text, 'base64url');
  // Several base64url texts can decode to the same bytes. Accept only the one that `sealText`
  // returned.
  if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return null;
  const decipher = createDecipheriv(SEALING, key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(about));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const content = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
    return Buffer.concat([content, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
