import { expect, test } from 'vitest';
import { getTokenType, type KeyBinding } from '../../tokens/key-binding.ts';
import { proofAlgorithms } from './binding.ts';

const ALL = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

test('DPoP proofs may use every supported algorithm, or with a profile only its algorithms', () => {
  expect(proofAlgorithms(null)).toEqual(ALL);
  expect(proofAlgorithms(['EdDSA', 'ES256', 'HS256'])).toEqual(['ES256', 'EdDSA']);
});

test('only a bound token is sent with the scheme of the binding', () => {
  const binding = { offer: { scheme: 'DPoP' } } as KeyBinding;
  expect(getTokenType(binding, 'a thumbprint')).toBe('DPoP');
  expect(getTokenType(binding, null)).toBe('Bearer');
  // Another process, or an earlier configuration, has bound the token.
  expect(getTokenType(null, 'a thumbprint')).toBe('Bearer');
});
