import { expect, test } from 'vitest';
import { createProfiles } from '../../profiles/profiles.ts';
import { proofAlgorithms } from './binding.ts';

const ALL = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

test('proofs may use every supported algorithm, and not RS256 under the profile', () => {
  const { algorithms } = createProfiles({ code_ttl: 60, profile: 'fapi2' });
  expect(proofAlgorithms(createProfiles({ code_ttl: 60 }).algorithms)).toEqual(ALL);
  expect(proofAlgorithms(algorithms)).toEqual(ALL.filter((each) => each !== 'RS256'));
});
