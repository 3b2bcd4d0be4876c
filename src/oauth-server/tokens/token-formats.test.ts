import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { newAccessToken, newCode, newRefreshToken, parseRefreshToken, parseToken } from './token-formats.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const ID = '0123456789abcdef'.repeat(2);
const SECRET = `${'aZ09_-'.repeat(7)}x`;

test('what is issued is found again: its parts, and the hash of the whole', () => {
  const token = newAccessToken(1_000_000_000_000);
  expect(token.value).toMatch(new RegExp(`^${token.id}\\.[\\w-]{43}$`));
  expect(parseToken(token.value)).toEqual({ id: token.id, hash: hashOf(token.value) });
  const code = newCode(ID);
  expect(code).toMatch(new RegExp(`^${ID}\\.[\\w-]{43}$`));
  expect(parseToken(code)).toEqual({ id: ID, hash: hashOf(code) });
  const refreshToken = newRefreshToken('family-1', SECRET);
  expect(refreshToken).toMatch(new RegExp(`^family-1\\.${SECRET}\\.[\\w-]{43}$`));
  expect(parseRefreshToken(refreshToken)).toEqual({
    offered: { id: 'family-1', hash: hashOf(refreshToken), markHash: hashOf(SECRET) },
    mark: SECRET,
  });
});

test.each([
  SECRET,
  '',
  '.',
  `${ID}.`,
  `.${SECRET}`,
  `${ID}${SECRET}`,
  `${ID}.${SECRET}x`,
  `${ID}.${SECRET.slice(1)}`,
  `x${ID}.${SECRET}`,
  `${ID.slice(1)}.${SECRET}`,
  `${ID.toUpperCase()}.${SECRET}`,
  `${ID}.${SECRET.slice(1)}\0`,
  `${ID.slice(1)}\0.${SECRET}`,
])('no other text names an access token or a code, and each has its hash: %j', (text) => {
  expect(parseToken(text)).toEqual({ id: null, hash: hashOf(text) });
});

test.each([
  SECRET,
  '',
  '..',
  `family.${SECRET}`,
  `.${SECRET}.x`,
  `family.${SECRET.slice(1)}.x`,
  `family.${SECRET}x.x`,
  `family.${SECRET.slice(1)}\0.x`,
  `fam\0ily.${SECRET}.x`,
  `\0family.${SECRET}.x`,
  `${'f'.repeat(256)}.${SECRET}.x`,
])('no other text names a family, and each has its hash: %j', (text) => {
  expect(parseRefreshToken(text)).toEqual({
    offered: { id: null, hash: hashOf(text), markHash: null },
    mark: null,
  });
});
