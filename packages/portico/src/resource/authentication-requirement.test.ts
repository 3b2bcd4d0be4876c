import { describe, expect, test } from 'vitest';
import {
  authenticationProblem,
  demandParameters,
  readRequirement,
  type AuthenticationRequirement,
} from './authentication-requirement.ts';

describe('the required authentication of a person', () => {
  test.each([
    [{ maxAge: 1 }, { maxAge: 1, acrValues: [] }, { max_age: '1' }],
    [{ acr: 'gold' }, { maxAge: null, acrValues: ['gold'] }, { acr_values: 'gold' }],
    [
      { maxAge: 300, acr: ['urn:a', '!#[]~'] },
      { maxAge: 300, acrValues: ['urn:a', '!#[]~'] },
      { acr_values: 'urn:a !#[]~', max_age: '300' },
    ],
    [{ maxAge: 5, acr: [] }, { maxAge: 5, acrValues: [] }, { max_age: '5' }],
  ])('%j is a demand, which a challenge describes', (requirement, demand, parameters) => {
    expect(readRequirement(requirement)).toEqual(demand);
    expect(demandParameters(readRequirement(requirement))).toEqual(parameters);
  });

  test.each<[AuthenticationRequirement, string]>([
    [{}, 'needs maxAge or acr'],
    [{ acr: [] }, 'needs maxAge or acr'],
    ...[0, -1, 1.5, Number.NaN, Infinity, 2 ** 53, '60' as unknown as number].map(
      (maxAge): [AuthenticationRequirement, string] => [{ maxAge }, 'needs a maxAge in whole'],
    ),
    ...['', 'a b', 'a"b', 'a\\b', 'a\nb', 'a\x7f', 'ä'].map(
      (acr): [AuthenticationRequirement, string] => [
        { acr: ['good', acr] },
        'needs an acr without',
      ],
    ),
    [
      { acr: [7 as unknown as string] },
      'needs an acr without spaces, quotes, backslashes or non-ASCII characters',
    ],
  ])('%j is a mistake', (requirement, problem) => {
    expect(() => readRequirement(requirement)).toThrow(`requireAuthentication() ${problem}`);
  });
});

describe('the authentication of a person', () => {
  const NOW = 1_000_000_500;
  const at = (auth_time: number, acr?: string) => ({ auth_time, acr });
  const within = { maxAge: 300, acrValues: [] };
  const golden = { maxAge: null, acrValues: ['gold', 'silver'] };

  test.each([
    ['without a limit', at(1), { maxAge: null, acrValues: [] }],
    ['just young enough', at(999_701), within],
    ['of the future', at(2_000_000), within],
    ['with the first level', at(1, 'gold'), golden],
    ['with another level', at(1, 'silver'), golden],
    ['with both', at(999_900, 'silver'), { ...golden, maxAge: 300 }],
  ])('is sufficient: %s', (_, told, demand) => {
    expect(authenticationProblem(told, demand, NOW)).toBe(null);
  });

  test('may be exactly as old as the limit', () => {
    expect(authenticationProblem(at(999_700), within, 1_000_000_000)).toBe(null);
    expect(authenticationProblem(at(999_700), within, 1_000_000_001)).toBe(
      'the person authenticated 300 s ago, but at most 300 s are allowed',
    );
  });

  test.each([
    ['unknown', null, within, 'the token does not say when the person authenticated'],
    [
      'too old',
      at(999_600, 'gold'),
      { ...golden, maxAge: 300 },
      'the person authenticated 400 s ago, but at most 300 s are allowed',
    ],
    ['without a level', at(1), golden, 'the authentication has no acr'],
    [
      'of a wrong level',
      at(1, 'bronze'),
      golden,
      'the acr of the authentication is bronze, which is not one of the required values',
    ],
  ])('is not sufficient: %s', (_, told, demand, problem) => {
    expect(authenticationProblem(told, demand, NOW)).toBe(problem);
  });
});
