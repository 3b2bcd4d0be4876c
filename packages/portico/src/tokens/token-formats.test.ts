import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  newAccessToken,
  newCode,
  newRefreshToken,
  parseRefreshToken,
  parseToken,
} from './token-formats.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const ID = '0123456789abcdef'.repeat(2);
const SECRET = `${'aZ09_-'.repeat(7)}x`;

test('an issued token is parsed into its parts and the hash of the whole text', () => {
  const token = newAccessToken(1_000_000_000_000);
  expect(token.value).toMatch(new RegExp(`^${token.id}\\.[\\w-]{43}$`));
  expect(parseToken(token.value)).toEqual({ id: token.id, hash: hashOf(token.value) });
  const code = newCode(ID);
  expect(code).toMatch(new RegExp(`^${ID}\\.[\\w-]{43}$`));
  expect(parseToken(code)).toEqual({ id: ID, hash: hashOf(code) });
  const refreshToken = newRefreshToken(ID, SECRET);
  expect(refreshToken).toMatch(new RegExp(`^${ID}\\.${SECRET}\\.[\\w-]{43}$`));
  expect(parseRefreshToken(refreshToken)).toEqual({
    offered: { id: ID, hash: hashOf(refreshToken), markHash: hashOf(SECRET) },
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
])('text that is not an access token or code is parsed to a hash without an id: %j', (text) => {
  expect(parseToken(text)).toEqual({ id: '', hash: hashOf(text) });
});

test.each([
  SECRET,
  '',
  '..',
  `${ID}.${SECRET}`,
  `.${SECRET}.x`,
  `${ID}.${SECRET.slice(1)}.x`,
  `${ID}.${SECRET}x.x`,
  `${ID}.${SECRET.slice(1)}\0.x`,
  `${ID.slice(1)}\0.${SECRET}.x`,
  `\0${ID}.${SECRET}.x`,
  `${ID.toUpperCase()}.${SECRET}.x`,
  `${ID}0.${SECRET}.x`,
])('text that is not a refresh token is parsed to a hash without an authorization: %j', (text) => {
  expect(parseRefreshToken(text)).toEqual({
    offered: { id: '', hash: hashOf(text), markHash: null },
    mark: null,
  });
});
