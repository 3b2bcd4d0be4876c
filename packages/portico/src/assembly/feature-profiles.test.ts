import { expect, test } from 'vitest';
import type { OAuthServerConfig } from '../config.ts';
import type { Feature, ProfileOffer } from '../feature.ts';
import { fapi2 } from '../features/fapi2/index.ts';
import { signingAlgorithms } from '../features/signing-algorithms/index.ts';
import {
  collectProfiles,
  featureProblems,
  profileProblems,
  requireNeeds,
} from './feature-profiles.ts';

const CONFIG = { code_ttl: 60 } as OAuthServerConfig;
const strict: Feature = {
  name: 'strict',
  profile: { ...(fapi2.profile as ProfileOffer), name: 'strict', isServers: () => true },
};

test('a server with a profile does not start without the features that the profile needs', () => {
  const contributed = { clientAssertions: {}, binding: null, directRequests: {} };
  const features = [strict, signingAlgorithms];
  expect(() => requireNeeds(features, CONFIG, contributed)).toThrow(
    'oauth_server:profile: is set to strict, but no feature provides binding; add a feature that provides it',
  );
  expect(() => requireNeeds(features, CONFIG, { ...contributed, binding: {} })).not.toThrow();
  expect(() => requireNeeds([strict], CONFIG, { ...contributed, binding: {} })).toThrow(
    'oauth_server:profile: is set to strict, but no feature provides signingAlgorithms; add a feature that provides it',
  );
  expect(() => requireNeeds([fapi2], CONFIG, {})).not.toThrow();
  const profile = { ...(strict.profile as ProfileOffer), needs: [] };
  const offering =
    (...idTokenAlgorithms: ProfileOffer['idTokenAlgorithms']) =>
    () =>
      requireNeeds([{ ...strict, profile: { ...profile, idTokenAlgorithms } }], CONFIG, {});
  expect(offering('ES256', 'RS256')).not.toThrow();
  expect(offering('ES256')).toThrow('no feature provides signingAlgorithms');
});

test('a server with two profiles does not start', () => {
  expect(profileProblems([strict], CONFIG)).toEqual([]);
  const both = profileProblems([strict, fapi2], { ...CONFIG, profile: 'fapi2' });
  expect(both.map(({ key }) => key)).toEqual(['oauth_server:profile']);
  expect(both.map(({ message }) => message)).toEqual([
    'is set to strict, but another setting selects the profile fapi2; use only one profile',
  ]);
});

test('a client with an unknown profile is allowed no algorithm, even if the server has a profile', () => {
  const profiles = collectProfiles([strict], CONFIG);
  const client = { profile: 'fapi2', grants: ['authorization_code' as const] };
  expect(profiles.of(client)).toMatchObject({ algorithms: [], longestCode: 0 });
  expect(profiles.of({ ...client, profile: null })?.name).toBe('strict');
});

test('the problems of features come before those of the profile', () => {
  const asked: unknown[] = [];
  const own: Feature = {
    name: 'own',
    problems(config, publicUrl) {
      asked.push([config.code_ttl, config.profile, publicUrl]);
      return [{ key: 'own', message: 'is wrong' }];
    },
  };
  const config = { ...CONFIG, profile: 'fapi2' } as OAuthServerConfig;
  const found = featureProblems([strict, own, fapi2], config, 'https://app.example');
  expect(found.map(({ key }) => key)).toEqual(['own', 'oauth_server:profile']);
  expect(asked).toEqual([[60, 'fapi2', 'https://app.example']]);
  expect(featureProblems([{ name: 'none' }], CONFIG, 'https://app.example')).toEqual([]);
});
