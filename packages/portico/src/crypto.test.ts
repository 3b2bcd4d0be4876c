import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  derivedKey,
  keyedHash,
  openText,
  orderedIdentifier,
  randomIdentifier,
  randomToken,
  sealText,
  tokenHash,
} from './crypto.ts';

const KEY = derivedKey('0123456789abcdef0123456789abcdef', 'tests');

/** Returns the text with another byte at this place. */
function altered(text: string, place: number): string {
  const bytes = Buffer.from(text, 'base64url');
  const at = place < 0 ? bytes.length + place : place;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString('base64url');
}

test('a token has 256 bits in base64url, an identifier 128 bits in hexadecimal, all different', () => {
  expect(randomToken()).toMatch(/^[\w-]{43}$/);
  expect(randomIdentifier()).toMatch(/^[0-9a-f]{32}$/);
  expect(randomToken()).not.toBe(randomToken());
  expect(randomIdentifier()).not.toBe(randomIdentifier());
});

test('an ordered identifier starts with the time in twelve digits, so that it sorts by time', () => {
  expect(orderedIdentifier(1_795_240_016_123)).toMatch(/^01a1fca4b8fb[0-9a-f]{20}$/);
  expect(orderedIdentifier(255)).toMatch(/^0000000000ff[0-9a-f]{20}$/);
  expect(orderedIdentifier(7)).not.toBe(orderedIdentifier(7));
});

// The next release must be able to read the values that a database or a browser has stored.
test('a token is stored as its SHA-256 hash in base64url', () => {
  expect(tokenHash('abc')).toBe(createHash('sha256').update('abc').digest('base64url'));
  expect(tokenHash('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
});

test('a keyed hash is an HMAC-SHA-256, and different lists of parts have different hashes', () => {
  const mac = createHmac('sha256', 'key').update('["a","b"]').digest('base64url');
  expect(keyedHash('key', 'a', 'b')).toBe(mac);
  const lists = [['a', 'b'], ['ab'], ['a,b'], ['a', '', 'b'], ['"a","b"']];
  expect(new Set(lists.map((parts) => keyedHash('key', ...parts))).size).toBe(lists.length);
  expect(keyedHash('other', 'a', 'b')).not.toBe(mac);
});

test('a derived key comes from HKDF with SHA-256 and no salt, for one purpose', () => {
  // This is RFC 5869 section 2 for one block: extract, then expand.
  const mac = (key: Uint8Array, ...parts: (string | Uint8Array)[]) =>
    createHmac('sha256', key)
      .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
      .digest();
  const extracted = mac(new Uint8Array(32), 'secret');
  expect(Buffer.from(derivedKey('secret', 'purpose'))).toEqual(
    mac(extracted, 'purpose', new Uint8Array([1])),
  );
  expect(derivedKey('secret', 'another')).not.toEqual(derivedKey('secret', 'purpose'));
});

test.each(['', 'Grüße, 世界'])(
  'sealed text can be opened, and is different each time: %j',
  (content) => {
    const sealed = sealText(KEY, 'about', content);
    expect(openText(KEY, 'about', sealed)).toBe(content);
    expect(sealText(KEY, 'about', content)).not.toBe(sealed);
    // The result contains 12 random bytes, the content, and 16 bytes that authenticate it.
    const bytes = Buffer.from(sealed, 'base64url');
    expect(bytes.length).toBe(28 + Buffer.byteLength(content));
  },
);

test('sealed text cannot be opened with a different key or context, or if it was changed', () => {
  const sealed = sealText(KEY, 'about', 'content');
  expect(Buffer.from(sealed, 'base64url').includes('content')).toBe(false);
  expect(openText(derivedKey('another', 'tests'), 'about', sealed)).toBeNull();
  expect(openText(KEY, 'another', sealed)).toBeNull();
  for (const place of [0, 12, -1])
    expect(openText(KEY, 'about', altered(sealed, place))).toBeNull();
  for (const other of [`${sealed}=`, ` ${sealed}`, `${sealed}\n`])
    expect(openText(KEY, 'about', other)).toBeNull();
  const bytes = Buffer.from(sealed, 'base64url');
  for (let length = 0; length < bytes.length; length += 1)
    expect(openText(KEY, 'about', bytes.subarray(0, length).toString('base64url'))).toBeNull();
});
