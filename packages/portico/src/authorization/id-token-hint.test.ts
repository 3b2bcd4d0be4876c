import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Server } from '../server.ts';
import { readOwnIdToken, subjectOfHint } from './id-token-hint.ts';

const ISSUER = 'https://app.example';
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [own, other] = [newKey(), newKey()];
const published = [
  { kid: 'other', algorithm: 'ES256', publicJwk: other.publicKey.export({ format: 'jwk' }) },
  { kid: 'own', algorithm: 'ES256', publicJwk: own.publicKey.export({ format: 'jwk' }) },
];
const server = {
  issuer: ISSUER,
  keys: { published: async () => published },
} as unknown as Server;

const CLAIMS = { iss: ISSUER, aud: 'notebook', sub: 'ada', iat: 1_700_000_000, sid: 'session' };

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function idToken(claims: object = {}, header: object = {}, key = own.privateKey): string {
  const parts = [
    { typ: 'JWT', alg: 'ES256', kid: 'own', ...header },
    { ...CLAIMS, ...claims },
  ];
  const text = parts.map(encode).join('.');
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

describe('an ID token of this server', () => {
  test('is read, even if it has expired', async () => {
    expect(await readOwnIdToken(server, idToken({ exp: 1 }))).toEqual({
      subject: 'ada',
      clientId: 'notebook',
      issuedAt: 1_700_000_000,
      sid: 'session',
    });
  });

  test.each([undefined, 7, null])('may be without a sid: %j', async (sid) => {
    expect(await readOwnIdToken(server, idToken({ sid }))).toMatchObject({ sid: null });
  });

  test('may be as long as a request may be', async () => {
    const long = { more: 'a'.repeat(20_000) };
    expect(await readOwnIdToken(server, idToken(long, long))).toMatchObject({ subject: 'ada' });
  });
});

describe('not an ID token of this server:', () => {
  const [header = '', payload = '', signature = ''] = idToken().split('.');

  test.each([
    ['other text', 'token'],
    ['a token without its signature', `${header}.${payload}.`],
    ['a token with changed claims', `${header}.${encode({ ...CLAIMS, sub: 'eve' })}.${signature}`],
    ['a token of another key', idToken({}, {}, other.privateKey)],
    ['a token that names a key of the server, but not its own', idToken({}, { kid: 'other' })],
    ['a token of an unknown key', idToken({}, { kid: 'unknown' })],
    ['a token without a key', idToken({}, { kid: undefined })],
    ['a token whose key is a number', idToken({}, { kid: 1 })],
    ['a token of another type', idToken({}, { typ: 'at+jwt' })],
    ['a token without a type', idToken({}, { typ: undefined })],
    ['a token of another algorithm', idToken({}, { alg: 'RS256' })],
    ['a token without an algorithm', idToken({}, { alg: 'none' })],
    ['a token of another issuer', idToken({ iss: 'https://evil.example' })],
    ['a token for several clients', idToken({ aud: ['notebook'] })],
    ['a token without a client', idToken({ aud: undefined })],
    ['a token without a subject', idToken({ sub: undefined })],
    ['a token whose subject is a number', idToken({ sub: 7 })],
    ['a token without a time', idToken({ iat: undefined })],
    ['a token whose time is text', idToken({ iat: '1700000000' })],
    ['a token that is longer than a request', idToken({ more: 'a'.repeat(200_000) })],
  ])('%s', async (_, text) => {
    expect(await readOwnIdToken(server, text)).toBe(null);
  });

  test('a token with another algorithm than that of its key', async () => {
    const { publicKey, privateKey: key } = generateKeyPairSync('ed25519');
    const signed = (alg: string) => {
      const text = [{ typ: 'JWT', alg, kid: 'ed' }, CLAIMS].map(encode).join('.');
      return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
    };
    const serverWith = (algorithm: string) => {
      const keys = [{ kid: 'ed', algorithm, publicJwk: publicKey.export({ format: 'jwk' }) }];
      return { issuer: ISSUER, keys: { published: async () => keys } } as unknown as Server;
    };
    expect(await readOwnIdToken(serverWith('EdDSA'), signed('EdDSA'))).not.toBe(null);
    expect(await readOwnIdToken(serverWith('EdDSA'), signed('Ed25519'))).toBe(null);
    // No signature of this algorithm can be verified.
    expect(await readOwnIdToken(serverWith('ES384'), signed('ES384'))).toBe(null);
  });

  test('a token of a key that has another curve', async () => {
    const wrong = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const [key] = [{ ...published[1], publicJwk: wrong.publicKey.export({ format: 'jwk' }) }];
    const changed = { issuer: ISSUER, keys: { published: async () => [key] } } as unknown as Server;
    expect(await readOwnIdToken(changed, idToken())).toBe(null);
  });
});

test('an error of the keys is not taken for a foreign token', async () => {
  const problem = new Error('The key files are gone');
  const keys = { published: () => Promise.reject(problem) };
  const broken = { issuer: ISSUER, keys } as unknown as Server;
  await expect(readOwnIdToken(broken, idToken())).rejects.toBe(problem);
  const odd = [{ kid: 'own', algorithm: 'ES256', publicJwk: { kty: 'EC' } }];
  const wrong = { issuer: ISSUER, keys: { published: async () => odd } } as unknown as Server;
  await expect(readOwnIdToken(wrong, idToken())).rejects.toThrow('Invalid JWK');
});

test.each([
  [idToken(), 'ada'],
  [idToken({ sub: 7 }), 7],
  [idToken({ sub: undefined }), null],
  [idToken({ sub: 'eve' }, {}, other.privateKey), 'eve'],
  ['token', null],
])('the subject of a hint is not verified', (hint, subject) => {
  expect(subjectOfHint(hint)).toBe(subject);
});
