import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkClientKeys, keySetProblems, readKeySet, showsPrivateKeys } from './key-sets.ts';

function jwkOf(kid?: string): object {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...publicKey.export({ format: 'jwk' }), ...(kid === undefined ? {} : { kid }) };
}

const EC = jwkOf('a');
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const WEAK = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
const OTHER = { kty: 'EC', crv: 'P-521', x: 'AA', y: 'AA' };
const NO_SETS = [
  undefined,
  null,
  'keys',
  1,
  [EC],
  {},
  { keys: null },
  { keys: { 0: EC } },
  { keys: 'none' },
];

describe('the keys that a client registers', () => {
  // @shows AS-23.2
  test('are stored without unusable keys, and with only the members that are read', () => {
    const jwks = { keys: [OTHER, { ...EC, more: 1 }], more: 1 };
    expect(checkClientKeys({ jwks })).toEqual({
      algorithm: null,
      jwks: JSON.stringify({
        keys: [{ kty: 'EC', ...pick(EC, ['crv', 'x', 'y']), kid: 'a', use: 'sig' }],
      }),
      jwksUri: null,
    });
    const jwksUri = 'https://client.example/keys';
    expect(checkClientKeys({ jwksUri, algorithm: 'ES256' })).toEqual({
      algorithm: 'ES256',
      jwks: null,
      jwksUri,
    });
  });

  // @shows AS-23.2
  test('are at most ten, in 4,000 characters', () => {
    const ten = Array.from({ length: 10 }, () => EC);
    expect(checkClientKeys({ jwks: { keys: ten } }).jwks).toContain('"kid":"a"');
    expect(() => checkClientKeys({ jwks: { keys: [...ten, OTHER] } })).toThrow('more than 10');
    const withKids = (length: number) => {
      const keys = ten.map((key) => ({ ...key, kid: 'k'.repeat(252) }));
      return { keys: [{ ...EC, kid: 'k'.repeat(length) }, ...keys.slice(1)] };
    };
    const missing = 4000 - (checkClientKeys({ jwks: withKids(100) }).jwks ?? '').length;
    expect(checkClientKeys({ jwks: withKids(100 + missing) }).jwks).toHaveLength(4000);
    expect(() => checkClientKeys({ jwks: withKids(101 + missing) })).toThrow('too large');
  });

  // @shows AS-23.2
  test.each([
    [
      'for an unsupported algorithm',
      { jwks: { keys: [EC] }, algorithm: 'HS256' },
      'must be one of RS256',
    ],
    [
      'for an algorithm that none of the keys supports',
      { jwks: { keys: [EC] }, algorithm: 'RS256' },
      'has no key for RS256',
    ],
    [
      'at a URL with a port',
      { jwksUri: 'https://client.example:8443/keys' },
      'The jwks_uri has a port other than 443',
    ],
    ['without a supported key', { jwks: { keys: [OTHER] } }, 'has no key for RS256, PS256'],
    [
      'both in the request and at a URL',
      { jwks: { keys: [EC] }, jwksUri: 'https://client.example/keys' },
      'both',
    ],
    ['no keys and no URL', {}, 'needs its public keys'],
    ['with a weak key', { jwks: { keys: [EC, WEAK] } }, 'A key in the jwks'],
    ['at a URL without TLS', { jwksUri: 'http://client.example/keys' }, 'The jwks_uri '],
  ])('are refused: %s', (_, named, says) => {
    expect(() => checkClientKeys(named)).toThrow(says);
  });

  // @shows AS-23.2
  test('are refused if they are not a key set', () => {
    for (const jwks of NO_SETS.slice(1))
      expect(() => checkClientKeys({ jwks })).toThrow('RFC 7517');
  });

  test('accept an algorithm that at least one of them supports', () => {
    const both = { keys: [RSA] };
    expect(checkClientKeys({ jwks: both, algorithm: 'PS256' }).algorithm).toBe('PS256');
    expect(keySetProblems(both, 'RS256')).toEqual([]);
    expect(checkClientKeys({ jwks: { keys: [EC] }, algorithm: 'ES256' })).toMatchObject({
      algorithm: 'ES256',
      jwksUri: null,
    });
  });
});

describe('the keys that a client publishes', () => {
  // @shows AS-23.7
  test('are at most 50, and weak ones are ignored', () => {
    const fifty = Array.from({ length: 50 }, () => EC);
    expect(readKeySet({ keys: fifty })).toHaveLength(50);
    expect(readKeySet({ keys: [...fifty, OTHER] })).toBeNull();
    expect(readKeySet({ keys: [WEAK, OTHER, null, EC] })?.map(({ kid }) => kid)).toEqual(['a']);
    expect(readKeySet({ keys: [] })).toEqual([]);
    for (const none of NO_SETS) expect(readKeySet(none)).toBeNull();
  });

  // @shows AS-23.9
  test('have each problem reported once', () => {
    const none = expect.stringContaining('not a set of at most 50 keys') as string;
    for (const value of NO_SETS) expect(keySetProblems(value, null)).toEqual([none]);
    expect(keySetProblems({ keys: [EC, OTHER] }, null)).toEqual([]);
    expect(keySetProblems({ keys: [EC] }, 'ES256')).toEqual([]);
    expect(keySetProblems({ keys: [EC] }, 'RS256')).toEqual([
      'none of them can verify RS256 signatures',
    ]);
    expect(keySetProblems({ keys: [OTHER] }, null)).toEqual([
      'none of them can verify any signatures',
    ]);
    expect(keySetProblems({ keys: [WEAK, EC, WEAK, null] }, null)).toEqual([
      expect.stringMatching(/^one has .* bits/),
      'one is not a JSON object',
    ]);
  });

  // @shows AS-23.8
  test('are checked for private key members', () => {
    expect(showsPrivateKeys({ keys: [null, 'd', EC, { ...EC, d: 'AAAA' }] })).toBe(true);
    expect(showsPrivateKeys({ keys: [{ kty: 'oct', k: 'AAAA' }] })).toBe(true);
    expect(showsPrivateKeys({ keys: [null, 'd', EC] })).toBe(false);
    for (const none of NO_SETS) expect(showsPrivateKeys(none)).toBe(false);
  });
});

function pick(from: object, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (from as Record<string, unknown>)[name]]));
}
