import { importJWK, type JWK } from 'jose';
import {
  checkClientKeys,
  keySetProblems,
  readKeySet,
  showsPrivateKeys,
} from '../../../packages/portico/src/clients/key-sets.ts';
import { RegistrationError } from '../../../packages/portico/src/errors.ts';
import { createKeys } from '../support/keys.ts';
import { hold, unless, type Target } from '../target.ts';

const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Well-known public keys from RFC 7517 and RFC 8037. */
const EC = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
const RSA = {
  kty: 'RSA',
  n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
  e: 'AQAB',
};
const OKP = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };

export const target: Target = {
  about: 'key sets (JWK): those that are kept with a client, and those that are fetched',
  seeds: [
    JSON.stringify({ keys: [EC, { ...OKP, kid: 'a', alg: 'EdDSA', use: 'sig' }] }),
    JSON.stringify({ keys: [{ ...RSA, key_ops: ['verify'], alg: 'PS256' }] }),
    JSON.stringify({
      keys: [
        { kty: 'oct', k: 'AAAA' },
        { ...EC, use: 'enc' },
      ],
    }),
    '{"keys":[]}',
  ],
  dictionary: [
    'keys',
    'kty',
    'crv',
    'x',
    'y',
    'n',
    'e',
    'd',
    'p',
    'k',
    'kid',
    'alg',
    'use',
    'key_ops',
    'sig',
    'enc',
    'verify',
    'RSA',
    'EC',
    'OKP',
    'oct',
    'P-256',
    'Ed25519',
    'AQAB',
    'Aw',
    'ES256',
    'PS256',
    'EdDSA',
    'none',
  ],
  start() {
    createKeys();
    return async (input) => {
      let value: unknown;
      try {
        value = JSON.parse(input.toString('utf8'));
      } catch {
        return;
      }
      const usable = readKeySet(value);
      hold(Array.isArray(keySetProblems(value, null)), 'nothing is told of a set');
      for (const { key, jwk, algorithms } of usable ?? []) {
        hold(key.type === 'public', 'a private key was taken');
        hold(!PRIVATE.some((name) => Object.hasOwn(jwk, name)), 'a private part was kept');
        for (const algorithm of algorithms) await importJWK(jwk as JWK, algorithm);
        const { n, e } = jwk as { n?: string; e?: string };
        if (n === undefined) continue;
        hold(Buffer.from(n, 'base64url').length <= 513, 'a key that takes long was taken');
        hold(
          BigInt(`0x${Buffer.from(e ?? '', 'base64url').toString('hex')}`) >= 65_537n,
          'a weak exponent was taken',
        );
      }
      for (const algorithm of [undefined, 'ES256', 'none']) {
        const kept = unless(
          (error) => error instanceof RegistrationError,
          () => checkClientKeys({ jwks: value, jwksUri: undefined, algorithm }),
        );
        if (kept === null) continue;
        hold(algorithm !== 'none', 'an algorithm without a key was taken');
        hold(!showsPrivateKeys(value), 'a set with a private key was taken');
        const text = kept.jwks ?? '';
        hold(text.length <= 4000, 'a long set was kept');
        const again = checkClientKeys({
          jwks: JSON.parse(text) as unknown,
          jwksUri: undefined,
          algorithm,
        });
        hold(again.jwks === text, 'what is kept reads as another set');
      }
    };
  },
};
