import type { Jws } from './compact.ts';
import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseJws } from './compact.ts';
import {
  getAlgorithm,
  hasPrivateMember,
  isSignedBy,
  JwkError,
  readPublicKey,
} from './public-keys.ts';

type Members = Readonly<Record<string, unknown>>;

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const edwards = generateKeyPairSync('ed25519');
const publicOf = ({ publicKey }: { readonly publicKey: KeyObject }): Members =>
  publicKey.export({ format: 'jwk' });
const [RSA, EC, OKP] = [rsa, ec, edwards].map(publicOf) as [Members, Members, Members];

/** Returns an RSA key with this many bits and this exponent. Its private key is unknown. */
function rsaOf(bits: number, exponent = 65_537n): Members {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> (bytes.length * 8 - bits);
  const hex = exponent.toString(16);
  const e = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return { kty: 'RSA', n: bytes.toString('base64url'), e: e.toString('base64url') };
}

const wrongAbout = (value: unknown): string | null => {
  try {
    readPublicKey(value);
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(JwkError);
    return (error as JwkError).message;
  }
};

describe('A public key', () => {
  test.each([
    ['RSA', RSA, ['RS256', 'PS256'], { kty: 'RSA', n: RSA['n'], e: RSA['e'] }],
    ['P-256', EC, ['ES256'], { kty: 'EC', crv: 'P-256', x: EC['x'], y: EC['y'] }],
    ['Ed25519', OKP, ['EdDSA', 'Ed25519'], { kty: 'OKP', crv: 'Ed25519', x: OKP['x'] }],
  ])(
    'of %s works with its algorithms, and keeps only the members that are read',
    (_, jwk, algorithms, members) => {
      const key = readPublicKey({ ...jwk, x5c: ['MIIB'], more: 1 });
      expect(key).toMatchObject({ kid: null, algorithms });
      expect(key?.jwk).toStrictEqual({ ...members, use: 'sig' });
      expect(key?.key.export({ format: 'jwk' })).toEqual(jwk);
      const [alg = ''] = algorithms;
      const named = readPublicKey({ ...jwk, kid: 'a name', alg, use: 'sig', key_ops: ['verify'] });
      expect(named).toMatchObject({ kid: 'a name', algorithms: [alg] });
      expect(named?.jwk).toStrictEqual({ ...members, kid: 'a name', alg, use: 'sig' });
    },
  );

  test.each<[what: string, jwk: Members]>([
    ['another key type', { kty: 'oct' }],
    ['no key type', { ...EC, kty: undefined }],
    ['another curve', { ...EC, crv: 'P-384' }],
    ['the curve of another key type', { ...OKP, kty: 'EC' }],
    ['another curve of the type OKP', { ...OKP, crv: 'X25519' }],
    ['an EC curve with the type OKP', { ...EC, kty: 'OKP' }],
    ['for encryption', { ...EC, use: 'enc' }],
    ['with the use null', { ...EC, use: null }],
    ['only for signing', { ...EC, key_ops: ['sign'] }],
    ['with an empty list of operations', { ...EC, key_ops: [] }],
    ['with a text in place of the list of operations', { ...EC, key_ops: 'verify' }],
    ['with an object in place of the list of operations', { ...EC, key_ops: { verify: true } }],
    ['for an unsupported algorithm', { ...RSA, alg: 'RS512' }],
    ['for an algorithm of another key type', { ...RSA, alg: 'ES256' }],
  ])('with an unsupported type or use is ignored: %s', (_, jwk) => {
    expect(readPublicKey(jwk)).toBeNull();
  });

  const notRead = (name: string) => `has no readable ${name}`;
  test.each<[says: string, jwk: unknown]>([
    ['is not a JSON object', undefined],
    ['is not a JSON object', null],
    ['is not a JSON object', 'key'],
    ['is not a JSON object', [EC]],
    ['has a private or symmetric part', { kty: 'oct', k: 'AAAA' }],
    ['has a private or symmetric part', { ...EC, d: undefined }],
    ['has a kid that is not a string of at most 255 characters', { ...EC, kid: 1 }],
    ['has a kid that is not a string of at most 255 characters', { ...EC, kid: null }],
    ['has a kid that is not a string of at most 255 characters', { ...EC, kid: 'a'.repeat(256) }],
    [notRead('n'), { ...RSA, n: undefined }],
    [notRead('n'), { ...RSA, n: '' }],
    [notRead('n'), { ...RSA, n: [RSA['n']] }],
    [notRead('n'), { ...RSA, n: 'A'.repeat(1401) }],
    [notRead('n'), { ...RSA, n: `${String(RSA['n'])}=` }],
    [notRead('n'), { ...RSA, n: ` ${String(RSA['n'])}` }],
    [notRead('e'), { ...RSA, e: 65_537 }],
    [notRead('y'), { ...EC, y: undefined }],
    [notRead('x'), { ...OKP, x: undefined }],
    ['is not a public key', { ...EC, x: EC['y'], y: EC['x'] }],
    ['is not a public key', { ...OKP, x: 'AAAA' }],
    ['has 2047 bits; RSA needs 2048 to 4096', rsaOf(2047)],
    ['has 4097 bits; RSA needs 2048 to 4096', rsaOf(4097)],
    ['has 8400 bits; RSA needs 2048 to 4096', rsaOf(8400)],
    ['has an exponent that is not safe for signing; use 65537', rsaOf(2048, 3n)],
    ['has an exponent that is not safe for signing; use 65537', rsaOf(2048, 65_535n)],
    ['has an exponent that is not safe for signing; use 65537', rsaOf(2048, 65_538n)],
    ['has an exponent that is not safe for signing; use 65537', rsaOf(2048, 2n ** 32n + 1n)],
  ])('that is weak is refused: it %s (%#)', (says, jwk) => {
    expect(wrongAbout(jwk)).toBe(says);
  });

  test('is accepted up to its limits', () => {
    expect(readPublicKey({ ...EC, kid: 'a'.repeat(255) })?.kid).toHaveLength(255);
    expect(readPublicKey({ ...EC, kid: '' })?.kid).toBe('');
    for (const jwk of [rsaOf(2048), rsaOf(4096), rsaOf(2048, 2n ** 32n - 1n)])
      expect(wrongAbout(jwk)).toBeNull();
  });

  test('must have its own members, and inherited ones do not count', () => {
    expect(wrongAbout(Object.create(EC))).toBe(notRead('kty'));
    expect(hasPrivateMember(Object.create({ d: 'AAAA' }) as object)).toBe(false);
  });

  test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])(
    'with the member %s is detected as private or symmetric',
    (name) => {
      expect(hasPrivateMember({ ...RSA, [name]: 'AAAA' })).toBe(true);
    },
  );
});

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING };
const SIGN: Readonly<Record<string, (data: Buffer) => Buffer>> = {
  RS256: (data) => sign('sha256', data, rsa.privateKey),
  PS256: (data) => sign('sha256', data, { key: rsa.privateKey, ...PSS, saltLength: 32 }),
  'PS256 with a short salt': (data) =>
    sign('sha256', data, { key: rsa.privateKey, ...PSS, saltLength: 20 }),
  'RS256 of SHA-512': (data) => sign('sha512', data, rsa.privateKey),
  ES256: (data) => sign('sha256', data, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
  'ES256 as DER': (data) => sign('sha256', data, ec.privateKey),
  EdDSA: (data) => sign(null, data, edwards.privateKey),
};

function isSigned(jwk: Members, alg: unknown, how: string): boolean {
  const input = `${encoded({ alg })}.${encoded({ sub: 'a' })}`;
  const signature = SIGN[how]?.(Buffer.from(input)) ?? Buffer.alloc(0);
  const key = readPublicKey(jwk);
  if (key === null) throw new Error('no key');
  return isSignedBy(key, parseJws(`${input}.${signature.toString('base64url')}`));
}

describe('A signature', () => {
  test.each([
    [RSA, 'RS256', 'RS256'],
    [RSA, 'PS256', 'PS256'],
    [{ ...RSA, alg: 'PS256' }, 'PS256', 'PS256'],
    [EC, 'ES256', 'ES256'],
    [OKP, 'EdDSA', 'EdDSA'],
    [OKP, 'Ed25519', 'EdDSA'],
  ])('is valid for its key and algorithm (%#)', (jwk, alg, how) => {
    expect(isSigned(jwk, alg, how)).toBe(true);
  });

  test.each([
    [
      'of another key',
      publicOf(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
      'ES256',
      'ES256',
    ],
    ['of another Ed25519 key', publicOf(generateKeyPairSync('ed25519')), 'EdDSA', 'EdDSA'],
    ['with PS256 for the algorithm RS256', RSA, 'RS256', 'PS256'],
    ['with RS256 for the algorithm PS256', RSA, 'PS256', 'RS256'],
    ['with an algorithm that the key does not allow', { ...RSA, alg: 'RS256' }, 'PS256', 'PS256'],
    ['with an algorithm of another key type', EC, 'RS256', 'RS256'],
    ['with a short salt', RSA, 'PS256', 'PS256 with a short salt'],
    ['with another hash', RSA, 'RS256', 'RS256 of SHA-512'],
    ['encoded as DER', EC, 'ES256', 'ES256 as DER'],
  ])('is refused: %s', (_, jwk, alg, how) => {
    expect(isSigned(jwk, alg, how)).toBe(false);
  });

  test.each(['none', 'HS256', 'es256', 'toString', undefined, ['ES256']])(
    'with the algorithm %j is not accepted',
    (alg) => {
      expect(() => getAlgorithm({ header: { alg } } as Partial<Jws> as Jws)).toThrow(
        'its alg is not accepted here',
      );
      expect(() => isSigned(EC, alg, 'ES256')).toThrow('its alg is not accepted here');
    },
  );
});
