import { expect, test } from 'vitest';
import { proofAlgorithms } from './binding.ts';

const ALL = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

test('proofs may use every supported algorithm, and under a profile only those of the profile', () => {
  expect(proofAlgorithms(null)).toEqual(ALL);
  expect(proofAlgorithms(['EdDSA', 'ES256', 'HS256'])).toEqual(['ES256', 'EdDSA']);
});
