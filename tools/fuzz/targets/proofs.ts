import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, EmbeddedJWK, type JWK } from 'jose';
import { JwsError } from '../../../packages/portico/src/keys/jws/compact.ts';
import { checkDpopProof } from '../../../packages/portico/src/keys/jws/dpop-proof.ts';
import { createKeys, jwsOf } from '../support/keys.ts';
import { hold, unless, type Target } from '../target.ts';

const NOW = 1_800_000_000;
const ADDRESS = 'https://app.example/oauth/token';
const TOKEN = 'an.access.token';
const ath = createHash('sha256').update(TOKEN).digest('base64url');

const seed = (header: object, payload: object, key: string) =>
  `${JSON.stringify({ typ: 'dpop+jwt', ...header })}\n${JSON.stringify({ jti: 'once', htm: 'POST', htu: ADDRESS, iat: NOW, ...payload })}\n${key}`;

export const target: Target = {
  about: 'the header field DPoP: JWS, embedded key, URL, method, times, hash of the token',
  seeds: [
    seed({ alg: 'ES256', jwk: '{ec}' }, { ath }, 'ec'),
    seed({ alg: 'RS256', jwk: '{rsa}' }, { nonce: 'n' }, 'rsa'),
    seed({ alg: 'EdDSA', jwk: '{ed}' }, { exp: NOW + 10, nbf: NOW - 1 }, 'ed'),
    seed({ alg: 'ES256', jwk: '{ec}' }, { htu: 'HTTPS://APP.example:443/oauth/%74oken?q#f' }, 'ec'),
    seed({ alg: 'none', jwk: '{ec}' }, {}, ''),
    'a.b.c',
  ],
  dictionary: [
    'typ',
    'alg',
    'jwk',
    'jti',
    'htm',
    'htu',
    'iat',
    'exp',
    'nbf',
    'ath',
    'nonce',
    'crit',
    'kid',
    '"{ec}"',
    '"{rsa}"',
    '"{ed}"',
    'ec',
    'rsa',
    'ed',
    'ps',
    'none',
    'HS256',
    'ES256',
    'RS256',
    'PS256',
    'EdDSA',
    'Ed25519',
    'dpop+jwt',
    String(NOW),
    ath,
    '|=',
    '|A',
    'https://app.example/oauth/token',
    '%2e',
    '/../',
    ',',
  ],
  start() {
    const keys = createKeys();
    return async (input) => {
      const text = jwsOf(input, keys);
      for (const accessToken of [null, TOKEN]) {
        const request = { method: 'POST', url: ADDRESS, accessToken, now: NOW * 1000 };
        const proof = unless(
          (error) => error instanceof JwsError,
          () => checkDpopProof(text, request),
        );
        if (proof === null) continue;
        // Another library must accept the proof too.
        const { payload, protectedHeader } = await compactVerify(text, EmbeddedJWK, {
          algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
        });
        const claims = JSON.parse(Buffer.from(payload).toString('utf8')) as Record<string, unknown>;
        hold(protectedHeader.typ === 'dpop+jwt', 'a JWT of another type was taken for a proof');
        hold(protectedHeader.alg === proof.algorithm, 'another algorithm was told');
        hold(
          (await calculateJwkThumbprint(protectedHeader.jwk as JWK)) === proof.thumbprint,
          'another key was told',
        );
        hold(
          claims['jti'] === proof.jti && proof.jti !== '' && proof.jti.length < 256,
          'another jti was told',
        );
        hold(claims['htm'] === 'POST', 'a proof for another method was taken');
        const url = new URL(String(claims['htu']));
        hold(
          url.origin === 'https://app.example' &&
            decodeURIComponent(url.pathname) === '/oauth/token',
          'a proof for another URL was taken',
        );
        hold(Math.abs(Number(claims['iat']) - NOW) <= 120, 'an old proof was taken');
        hold(
          proof.expiresAt > NOW * 1000 && proof.expiresAt <= (NOW + 181) * 1000,
          'it is known for too long, or too short',
        );
        hold(accessToken === null || claims['ath'] === ath, 'a proof for another token was taken');
        hold((claims['nonce'] ?? null) === proof.nonce, 'another nonce was told');
      }
    };
  },
};
