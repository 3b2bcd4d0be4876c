import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { ConfigurationError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { buildSigningKeys, type KeySigner } from './signers.ts';
import { SignerError } from './signing-key.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const PAIRS = { RS256: rsa, ES256: ec, EdDSA: ed } as const;
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' });

const signature = (algorithm: SigningAlgorithm, data: Uint8Array): Uint8Array =>
  sign(algorithm === 'EdDSA' ? null : 'sha256', data, {
    key: PAIRS[algorithm].privateKey,
    dsaEncoding: 'ieee-p1363',
  });

function signerOf(algorithm: SigningAlgorithm, changes: object = {}): KeySigner {
  return {
    algorithm,
    kid: 'a module',
    publicJwk: jwkOf(PAIRS[algorithm].publicKey),
    sign: async (data) => signature(algorithm, data),
    ...changes,
  };
}

const keysOf = (...signers: readonly KeySigner[]) => buildSigningKeys(signers, ALGORITHMS);
const DATA = Buffer.from('the data');

describe('KeySigners', () => {
  // @shows AS-11.20
  test('are in the order of their times, the latest first; without times, the last one is first', () => {
    const timed = (kid: string, signsFrom?: number) =>
      signerOf('EdDSA', { kid, ...(signsFrom === undefined ? {} : { signsFrom }) });
    const keys = keysOf(timed('a'), timed('b', 5), timed('c', 9), timed('d', 7), timed('e'));
    expect(keys.map(({ kid }) => kid)).toEqual(['c', 'd', 'b', 'e', 'a']);
    expect(keys.map(({ isStaged }) => isStaged)).toEqual([true, true, true, false, false]);
    expect(keys.map(({ signsFrom }) => signsFrom)).toEqual([9, 7, 5, 0, 0]);
  });

  // @shows AS-11.18
  test.each(['RS256', 'ES256', 'EdDSA'] as const)(
    'have the public members of their %s key, and nothing else',
    async (algorithm) => {
      const { kty, crv, n, e, x, y } = jwkOf(PAIRS[algorithm].publicKey);
      const own = { RS256: { kty, n, e }, ES256: { kty, crv, x, y }, EdDSA: { kty, crv, x } };
      const signer = signerOf(algorithm, {
        publicJwk: { kty, crv, n, e, x, y, key_ops: ['verify'], more: 1 },
      });
      const [key] = keysOf(signer);
      expect(key).toMatchObject({ algorithm, file: null, privateKey: null, createdAt: 0 });
      expect(key?.publicJwk).toStrictEqual({
        ...own[algorithm],
        kid: 'a module',
        alg: algorithm,
        use: 'sig',
      });
      expect(await key?.sign(DATA)).toHaveLength(algorithm === 'RS256' ? 256 : 64);
    },
  );

  const P256 = 'publicJwk must be a public P-256 key, for ES256';
  const { x, y } = jwkOf(ec.publicKey);
  // @shows AS-11.18
  test.each<[what: string, changes: object, problem: string]>([
    [
      'an unknown algorithm',
      { algorithm: 'PS256' },
      'algorithm must be one of RS256, ES256, EdDSA',
    ],
    ['a number as algorithm', { algorithm: 7 }, 'algorithm must be one of RS256, ES256, EdDSA'],
    ['an empty kid', { kid: '' }, 'kid must be a non-empty string'],
    ['a number as kid', { kid: 7 }, 'kid must be a non-empty string'],
    ['no function', { sign: null }, 'sign must be a function'],
    ['the time 0', { signsFrom: 0 }, 'signsFrom must be milliseconds since 1970'],
    ['a negative time', { signsFrom: -1 }, 'signsFrom must be milliseconds since 1970'],
    ['a fraction as time', { signsFrom: 1.5 }, 'signsFrom must be milliseconds since 1970'],
    ['the timeout 0', { timeout: 0 }, 'timeout must be between 1 and 60000 milliseconds'],
    ['a long timeout', { timeout: 60_001 }, 'timeout must be between 1 and 60000 milliseconds'],
    ['a fraction as timeout', { timeout: 1.5 }, 'timeout must be between 1 and 60000 milliseconds'],
    ['no key', { publicJwk: undefined }, P256],
    ['null as key', { publicJwk: null }, P256],
    ['a text as key', { publicJwk: 'a key' }, P256],
    [
      'a private key',
      { publicJwk: jwkOf(ec.privateKey) },
      'publicJwk must not contain the private key; keep it in your key service',
    ],
    ['a key of another type', { publicJwk: { kty: 'OKP', crv: 'P-256', x, y } }, P256],
    ['a key of another curve', { publicJwk: { kty: 'EC', crv: 'P-384', x, y } }, P256],
    ['a key that is no point', { publicJwk: { kty: 'EC', crv: 'P-256', x: y, y: x } }, P256],
    [
      'a small key',
      {
        algorithm: 'RS256',
        publicJwk: jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey),
      },
      'publicJwk must be a public RSA key, for RS256, of at least 2048 bits',
    ],
  ])('are refused with %s', (_, changes, message) => {
    const problems = [{ key: 'keySigners:1', message }];
    const build = () => keysOf(signerOf('EdDSA', { kid: 'first' }), signerOf('ES256', changes));
    expect(build).toThrow(ConfigurationError);
    expect(build).toThrow(expect.objectContaining({ problems }));
  });

  // @shows AS-11.18
  test('are refused with a kid that another one has, and accepted with the longest timeout', () => {
    const longest = { kid: 'other', timeout: 60_000 };
    expect(() => keysOf(signerOf('EdDSA'), signerOf('RS256', longest), signerOf('ES256'))).toThrow(
      'keySigners:2: another KeySigner has the same kid',
    );
    expect(keysOf(signerOf('EdDSA'), signerOf('RS256', { ...longest, timeout: 1 }))).toHaveLength(
      2,
    );
    expect(keysOf(signerOf('EdDSA'), signerOf('RS256', longest))).toHaveLength(2);
  });
});

describe('the answer of a KeySigner', () => {
  const SECRET = 'pkcs11-tool --pin 648219';
  const signed = async (algorithm: SigningAlgorithm, answer: unknown) => {
    const own = typeof answer === 'function' ? answer : async () => answer;
    const [key] = keysOf(signerOf(algorithm, { sign: own, timeout: 20 }));
    return key?.sign(DATA);
  };
  const problem = async (algorithm: SigningAlgorithm, answer: unknown) => {
    const error: unknown = await signed(algorithm, answer).catch((found: unknown) => found);
    expect(error).toBeInstanceOf(SignerError);
    expect(error).toMatchObject({ name: 'SignerError', status: 503 });
    return (error as Error).message.replace('The KeySigner of "a module" ', '');
  };
  const failure = (members: object) => async () => {
    throw Object.assign(new Error(SECRET), members);
  };
  const der = () => sign('sha256', DATA, ec.privateKey);
  const startingWith = (first: number, length: number) => {
    const bytes = new Uint8Array(length);
    bytes[0] = first;
    return bytes;
  };
  const invalid = (length: number) =>
    `returned ${length} bytes, which are not a valid ES256 signature for its public key`;
  const NO_BYTES = 'did not return a Uint8Array';

  // @shows AS-11.19
  test.each<[what: string, answer: unknown, problem: string]>([
    ['an error', failure({}), 'failed: Error'],
    [
      'an error with a code',
      failure({ code: 'CKR_DEVICE_ERROR' }),
      'failed: Error, CKR_DEVICE_ERROR',
    ],
    ['an error with a number as code', failure({ code: 7 }), 'failed: Error, 7'],
    ['an error with a secret code', failure({ code: SECRET }), 'failed: Error'],
    ['an error with a secret name', failure({ name: SECRET, code: 'C' }), 'failed: an error, C'],
    [
      'an object that is no error',
      () => Promise.reject({ name: 'N', code: 'C' }),
      'failed: an error',
    ],
    ['a text that is no error', () => Promise.reject(SECRET), 'failed: an error'],
    ['no answer in time', () => new Promise(() => {}), 'did not respond within 20 ms'],
    ['undefined', undefined, NO_BYTES],
    ['a text', signature('ES256', DATA).toString(), NO_BYTES],
    ['an array of the right bytes', [...signature('ES256', DATA)], NO_BYTES],
    [
      'DER',
      der(),
      'answered a DER signature; ES256 needs the two numbers one after the other, in 64 bytes (RFC 7518 section 3.4)',
    ],
    ['64 bytes that begin like DER', startingWith(0x30, 64), invalid(64)],
    ['63 bytes', startingWith(1, 63), invalid(63)],
    ['zeros', new Uint8Array(64), invalid(64)],
    ['no bytes', new Uint8Array(), invalid(0)],
    ['a signature of other data', signature('ES256', Buffer.from('other')), invalid(64)],
  ])('is refused if it is %s, and the reason contains no text of it', async (_, answer, why) => {
    expect(await problem('ES256', answer)).toBe(why);
  });

  // @shows AS-11.19
  test('is refused with other algorithms too', async () => {
    expect(await problem('RS256', new Uint8Array(256))).toBe(
      'returned 256 bytes, which are not a valid RS256 signature for its public key',
    );
    expect(await problem('EdDSA', startingWith(0x30, 70))).toBe(
      'returned 70 bytes, which are not a valid EdDSA signature for its public key',
    );
  });

  // @shows AS-11.19
  test('is refused if its error cannot even be read', async () => {
    const unreadable = Object.defineProperty(new Error(SECRET), 'code', {
      get() {
        throw new Error(SECRET);
      },
    });
    expect(await problem('EdDSA', () => Promise.reject(unreadable))).toBe('failed: an error');
  });

  // @shows AS-11.19
  test('is no longer awaited by the signer itself after the time limit', async () => {
    const signals: AbortSignal[] = [];
    const late = (_: Uint8Array, { signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    expect(await problem('EdDSA', late)).toBe('did not respond within 20 ms');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  // @shows AS-11.19
  test('is for the data that is signed, even if the signer changes its copy', async () => {
    const changing = async (data: Uint8Array) => {
      data.fill(0);
      return signature('EdDSA', data);
    };
    expect(await problem('EdDSA', changing)).toContain('not a valid EdDSA signature');
    expect(DATA.toString()).toBe('the data');
    expect(await signed('EdDSA', signature('EdDSA', DATA))).toEqual(
      new Uint8Array(signature('EdDSA', DATA)),
    );
  });
});
