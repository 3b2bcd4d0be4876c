import { OutOfRangeError } from '@portico/sql';
import { expect, test } from 'vitest';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import { missingKey, SigningAlgorithms } from './algorithms.ts';

// @shows AS-11.6
test('RS256 is always an algorithm, and features add others', () => {
  expect(new SigningAlgorithms().names).toEqual(['RS256']);
  expect(ALGORITHMS.names).toEqual(['RS256', 'ES256', 'EdDSA']);
  for (const name of ALGORITHMS.names) expect(ALGORITHMS.form(name).name).toBe(name);
});

test.each(['none', 'HS256', 'PS256', 'es256', 'toString', ''])('%j is not an algorithm', (name) => {
  expect(ALGORITHMS.has(name)).toBe(false);
  expect(() => ALGORITHMS.form(name)).toThrow(
    new OutOfRangeError('The algorithm of a signing key must be one of RS256, ES256, EdDSA'),
  );
});

test('a missing key is named with the command that creates it', () => {
  expect(missingKey('RS256')).toEqual({ key: 'no signing key', command: 'oauth:server:setup' });
  expect(missingKey('ES256')).toEqual({
    key: 'no signing key for ES256',
    command: 'oauth:keys:generate --alg ES256',
  });
});
