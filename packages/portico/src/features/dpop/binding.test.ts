import { expect, test } from 'vitest';
import { proofAlgorithms } from './binding.ts';

const ALL = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

test('DPoP proofs may use every supported algorithm, or with a profile only its algorithms', () => {
  expect(proofAlgorithms(null)).toEqual(ALL);
  expect(proofAlgorithms(['EdDSA', 'ES256', 'HS256'])).toEqual(['ES256', 'EdDSA']);
});
