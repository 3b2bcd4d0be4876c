import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { JwsError } from './compact.ts';
import {
  checkDpopProof,
  DpopProofError,
  type DpopProofProblem,
  type ProvedRequest,
} from './dpop-proof.ts';

const NOW = 1_800_000_000;
const URL = 'https://app.example/oauth/token';
const TOKEN = 'an.access.token';
const ath = createHash('sha256').update(TOKEN).digest('base64url');
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = ec.publicKey.export({ format: 'jwk' });

/**
 * Encodes a value. The text '1e999' stands for a number that is too large: JavaScript reads it as
 * Infinity and cannot write it.
 */
const encoded = (value: unknown) =>
  Buffer.from(JSON.stringify(value).replaceAll('"1e999"', '1e999')).toString('base64url');

interface Proof {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  readonly key?: KeyObject;
}

function proof({ header = {}, claims = {}, key = ec.privateKey }: Proof = {}): string {
  const whole = { typ: 'dpop+jwt', alg: 'ES256', jwk, ...header };
  const payload = { jti: 'once', htm: 'POST', htu: URL, iat: NOW, ...claims };
  const signed = `${encoded(whole)}.${encoded(payload)}`;
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = sign(digest, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

const check = (text: string, request: Partial<ProvedRequest> = {}) =>
  checkDpopProof(text, {
    method: 'POST',
    url: URL,
    accessToken: null,
    now: NOW * 1000,
    ...request,
  });

describe('A DPoP proof', () => {
  // @shows RFC9449-4.3a
  test('returns the proved key, the jti and the expiry', () => {
    const { crv, kty, x, y } = jwk;
    const thumbprint = createHash('sha256')
      .update(JSON.stringify({ crv, kty, x, y }))
      .digest('base64url');
    expect(check(proof())).toEqual({
      thumbprint,
      algorithm: 'ES256',
      jti: 'once',
      expiresAt: (NOW + 120) * 1000,
      nonce: null,
    });
    expect(check(proof({ claims: { nonce: 'n', more: [1] } })).nonce).toBe('n');
  });

  test('has the RFC 7638 section 3.1 thumbprint of its key', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { e, kty, n } = rsa.publicKey.export({ format: 'jwk' });
    const thumbprint = createHash('sha256')
      .update(`{"e":"${e}","kty":"${kty}","n":"${n}"}`)
      .digest('base64url');
    const header = { alg: 'RS256', jwk: { n, alg: 'RS256', kty, kid: 'a name', e } };
    expect(check(proof({ header, key: rsa.privateKey })).thumbprint).toBe(thumbprint);
    const okp = generateKeyPairSync('ed25519');
    const { x } = okp.publicKey.export({ format: 'jwk' });
    const ofEdwards = createHash('sha256')
      .update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)
      .digest('base64url');
    for (const alg of ['EdDSA', 'Ed25519']) {
      const own = { alg, jwk: { kty: 'OKP', crv: 'Ed25519', x } };
      expect(check(proof({ header: own, key: okp.privateKey })).thumbprint).toBe(ofEdwards);
    }
  });

  // @shows RFC9449-4.3b
  test.each([
    ['https://app.example/oauth/token', 'https://app.example/oauth/token'],
    ['https://APP.example/oauth/token', 'https://app.example/oauth/token'],
    ['HTTPS://app.example:443/oauth/token', 'https://app.example/oauth/token'],
    ['http://app.example:80/', 'http://app.example'],
    ['https://app.example/oauth/%74oken', 'https://app.example/oauth/token'],
    ['https://app.example/a%2fb', 'https://app.example/a%2Fb'],
    ['https://app.example/x/../oauth/./token', 'https://app.example/oauth/token'],
    ['https://app.example/oauth/token?q=1', 'https://app.example/oauth/token'],
    ['https://app.example/oauth/token#part', 'https://app.example/oauth/token?other=2'],
  ])('for %s is valid for %s', (htu, url) => {
    expect(check(proof({ claims: { htu } }), { url }).jti).toBe('once');
  });

  test.each([
    ['http://app.example/oauth/token', URL],
    ['https://app.example:8443/oauth/token', URL],
    ['https://app.example/oauth/token/', URL],
    ['https://app.example/OAUTH/token', URL],
    ['https://app.example/oauth%2Ftoken', URL],
    ['https://app.example/oauth/%2574oken', URL],
    ['https://app.example.evil.example/oauth/token', URL],
    ['https://me@app.example/oauth/token', URL],
    ['https:\\\\app.example\\oauth\\token', URL],
    ['https://app.example/oauth/to\nken', URL],
    ['/oauth/token', URL],
    ['', URL],
    [`https://app.example/oauth/token?${'a'.repeat(2048)}`, URL],
  ])('for %s is invalid for %s', (htu, url) => {
    expect(() => check(proof({ claims: { htu } }), { url })).toThrow(/^its htu/);
  });

  // @shows RFC9449-4.3c
  test.each([-119, -60, 0, 60])('is valid if it was created %i seconds from now', (seconds) => {
    expect(check(proof({ claims: { iat: NOW + seconds } })).jti).toBe('once');
  });

  test.each([-120, -3600, 61, 3600])(
    'is invalid if it was created %i seconds from now',
    (seconds) => {
      expect(() => check(proof({ claims: { iat: NOW + seconds } }))).toThrow(/^its iat is/);
    },
  );

  test.each<Record<string, unknown>>([
    { exp: NOW - 59 },
    { nbf: NOW + 60 },
    { nbf: 0 },
    { jti: 'a'.repeat(255) },
    { nonce: 'a'.repeat(255) },
  ])('is valid up to its limits: %j', (claims) => {
    expect(check(proof({ claims })).thumbprint).toHaveLength(43);
  });

  test.each<[string, Proof]>([
    ['its typ is not dpop+jwt', { header: { typ: 'JWT' } }],
    ['its typ is not dpop+jwt', { header: { typ: undefined } }],
    ['its typ is not dpop+jwt', { header: { typ: 'application/dpop+jwt' } }],
    ['its alg is not accepted here', { header: { alg: 'none' } }],
    ['its alg is not accepted here', { header: { alg: 'HS256' } }],
    ['its alg is not accepted here', { header: { alg: undefined } }],
    ['its header has crit, which is not accepted', { header: { crit: ['exp'] } }],
    ['its jwk is not a JSON object', { header: { jwk: undefined } }],
    ['its jwk is not a JSON object', { header: { jwk: JSON.stringify(jwk) } }],
    [
      'its jwk has a private or symmetric part',
      { header: { jwk: ec.privateKey.export({ format: 'jwk' }) } },
    ],
    ['its jwk has an unsupported type', { header: { jwk: { kty: 'oct' } } }],
    ['its jwk has an unsupported type', { header: { jwk: { ...jwk, use: 'enc' } } }],
    [
      'its jwk did not sign it',
      { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    ],
    ['its jwk did not sign it', { header: { alg: 'RS256' } }],
    ['its htm is another method', { claims: { htm: 'post' } }],
    ['its htm is another method', { claims: { htm: undefined } }],
    ['its htu is missing', { claims: { htu: undefined } }],
    ['its htu is missing', { claims: { htu: [URL] } }],
    ['its htu is not a URL', { claims: { htu: URL.replace('https:', '') } }],
    ['its htu is not a URL', { claims: { htu: URL.replace('//', '//:secret@') } }],
    ['its jti is missing', { claims: { jti: undefined } }],
    ['its jti is missing', { claims: { jti: '' } }],
    ['its jti is missing', { claims: { jti: 7 } }],
    ['its jti is missing', { claims: { jti: 'a'.repeat(256) } }],
    ['its nonce is missing', { claims: { nonce: 7 } }],
    ['its nonce is missing', { claims: { nonce: 'a'.repeat(256) } }],
    ['its iat is missing', { claims: { iat: undefined } }],
    ['its iat is missing', { claims: { iat: String(NOW) } }],
    ['it has expired', { claims: { exp: NOW - 60 } }],
    ['it has expired', { claims: { exp: 'soon' } }],
    ['it has expired', { claims: { exp: '1e999' } }],
    ['its nbf is in the future', { claims: { nbf: -1 } }],
    ['its nbf is in the future', { claims: { nbf: NOW + 61 } }],
  ])('is refused if %s', (reason, wrong) => {
    expect(() => check(proof(wrong))).toThrow(reason);
  });

  test('must be in a single header field', () => {
    expect(() => check(`${proof()}, ${proof()}`)).toThrow('there is more than one');
    expect(() => check(`${proof()},`)).toThrow('there is more than one');
    expect(() => check('')).toThrow('its header is missing');
    expect(() => check('a'.repeat(20_000))).toThrow('it is too long');
  });

  // @shows RFC9449-4.3d
  test('must match its access token', () => {
    const presented = { accessToken: TOKEN };
    expect(check(proof({ claims: { ath } }), presented).jti).toBe('once');
    expect(() => check(proof(), presented)).toThrow('its ath is missing');
    for (const wrong of [
      `${ath}=`,
      'x',
      7,
      null,
      createHash('sha256').update('another').digest('base64url'),
    ])
      expect(() => check(proof({ claims: { ath: wrong } }), presented)).toThrow('its ath is');
  });

  const PROBLEMS: Readonly<Record<DpopProofProblem, string>> = {
    proof_repeated: `${proof()},${proof()}`,
    proof_malformed: 'none',
    proof_type: proof({ header: { typ: 'JWT' } }),
    proof_algorithm: proof({ header: { alg: 'HS256' } }),
    proof_jti: proof({ claims: { jti: 7 } }),
    proof_nonce: proof({ claims: { nonce: 7 } }),
    proof_method: proof({ claims: { htm: 'GET' } }),
    proof_url: proof({ claims: { htu: `${URL}/more` } }),
    proof_without_time: proof({ claims: { iat: undefined } }),
    proof_from_the_future: proof({ claims: { iat: NOW + 61 } }),
    proof_too_old: proof({ claims: { iat: NOW - 120 } }),
    proof_expired: proof({ claims: { exp: NOW - 60 } }),
    proof_not_yet_valid: proof({ claims: { nbf: NOW + 61 } }),
    proof_without_token: proof(),
    proof_for_another_token: proof({ claims: { ath: 'x' } }),
    proof_key: proof({ header: { jwk: { kty: 'oct' } }, claims: { ath } }),
    proof_signature: proof({ header: { alg: 'RS256' }, claims: { ath } }),
  };

  test.each([
    ...Object.entries(PROBLEMS),
    ['proof_url', proof({ claims: { htu: 'https:' } })],
    ['proof_url', proof({ claims: { htu: undefined } })],
    ['proof_key', proof({ header: { jwk: null }, claims: { ath } })],
  ])('that is invalid has a one-word reason: %s', (problem, text) => {
    let thrown: unknown = null;
    try {
      check(text, { accessToken: TOKEN });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(DpopProofError);
    expect(thrown).toMatchObject({ problem });
  });

  test('is invalid if one character changes', () => {
    const text = proof();
    for (let at = 0; at < text.length; at += 7) {
      const other = text[at] === 'A' ? 'B' : 'A';
      expect(() => check(text.slice(0, at) + other + text.slice(at + 1))).toThrow(JwsError);
    }
  });
});
