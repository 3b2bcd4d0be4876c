import { generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { signIdToken, type IdTokenContents } from './id-token.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

const CONTENTS = {
  issuer: 'https://issuer.example',
  subject: 'the-subject',
  clientId: 'the-client',
  issuedAt: 1_700_000_000_999,
  lifetime: 300,
  nonce: 'the-nonce',
  accessToken: 'the-access-token',
  claims: {
    name: 'Ada',
    sub: 'forged',
    iss: 'forged',
    aud: 'forged',
    exp: 1,
    iat: 1,
    at_hash: 'x',
    nonce: 'x',
  },
};

// @shows OIDC-3.1.3.6
test.each<
  [
    string,
    { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
    string | null,
    'sha256' | 'sha512',
  ]
>([
  ['RS256', rsa, 'sha256', 'sha256'],
  ['ES256', ec, 'sha256', 'sha256'],
  ['EdDSA', ed, null, 'sha512'],
])(
  'an ID token signed with %s is valid, and personal claims never replace protocol claims',
  async (algorithm, keys, digest, half) => {
    const key = {
      kid: 'the-kid',
      algorithm: algorithm as 'RS256' | 'ES256' | 'EdDSA',
      hash: half,
      createdAt: 0,
      signsFrom: 0,
      isStaged: false,
      file: null,
      privateKey: keys.privateKey,
      publicJwk: {},
      sign: async (data: Uint8Array) =>
        sign(digest, data, { key: keys.privateKey, dsaEncoding: 'ieee-p1363' }),
    };
    const verified = async (changes: Partial<IdTokenContents>) => {
      const token = await signIdToken(key, { ...CONTENTS, ...changes });
      return jwtVerify(token, keys.publicKey, { currentDate: new Date(1_700_000_100_000) });
    };
    const whole = hash(half, CONTENTS.accessToken, 'buffer');
    const { protectedHeader, payload } = await verified({});
    expect(protectedHeader).toEqual({ alg: algorithm, kid: 'the-kid', typ: 'JWT' });
    expect(payload).toEqual({
      name: 'Ada',
      nonce: 'the-nonce',
      at_hash: whole.subarray(0, whole.length / 2).toString('base64url'),
      iss: 'https://issuer.example',
      sub: 'the-subject',
      aud: 'the-client',
      iat: 1_700_000_000,
      exp: 1_700_000_300,
    });
    expect((await verified({ nonce: null, claims: {} })).payload).not.toHaveProperty('nonce');
  },
);
