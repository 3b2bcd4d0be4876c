import { expect, test } from 'vitest';
import { dpopOffer } from './resource-proofs.ts';

const ALL = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

test('a server that takes no bound tokens offers nothing', () => {
  expect(dpopOffer({})).toBe(null);
  expect(dpopOffer({ dpop: 'off', profile: 'fapi2' })).toBe(null);
});

test('proofs may be signed with all that is verified, and with no RS256 under the profile', () => {
  expect(dpopOffer({ dpop: 'accept' })).toEqual({ required: false, algorithms: ALL });
  expect(dpopOffer({ dpop: 'require' })).toEqual({ required: true, algorithms: ALL });
  expect(dpopOffer({ dpop: 'require', profile: 'fapi2' })).toEqual({
    required: true,
    algorithms: ALL.filter((each) => each !== 'RS256'),
  });
});
