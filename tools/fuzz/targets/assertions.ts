import { importJWK, jwtVerify, type JWK } from 'jose';
import { parseJws, JwsError } from '../../../packages/portico/src/keys/jws/compact.ts';
import { Assertions } from '../../../packages/portico/src/features/private-key-jwt/assertions.ts';
import type {
  ClientKeySource,
  Fits,
} from '../../../packages/portico/src/features/private-key-jwt/client-keys.ts';
import {
  assertionReader,
  JWT_ASSERTION,
} from '../../../packages/portico/src/clients/reading-assertions.ts';
import type { Server } from '../../../packages/portico/src/server.ts';
import { readCredentials } from '../../../packages/portico/src/clients/credentials.ts';
import { readKeySet } from '../../../packages/portico/src/clients/key-sets.ts';
import { OAuthError } from '../../../packages/portico/src/errors.ts';
import { createParameters } from '../../../packages/portico/src/parameters.ts';
import { profilesWith } from '../../../test/support/profiles.ts';
import { createKeys, importVerifiers, jwsOf, publishedKeys } from '../support/keys.ts';
import { hold, unless, unlessAsync, type Target } from '../target.ts';
import type { SingleUses } from '../../../packages/portico/src/store/single-uses.ts';

const NOW = 1_800_000_000;
const ISSUER = 'https://app.example';
const TOKENS = 'https://app.example/oauth/token';
const CLIENT = 'a-client';
const PROFILE = profilesWith({ profile: 'fapi2' }).servers;

const seed = (header: object, payload: object, key: string) =>
  `${JSON.stringify(header)}\n${JSON.stringify({ iss: CLIENT, sub: CLIENT, aud: ISSUER, exp: NOW + 60, jti: 'a', ...payload })}\n${key}`;

export const target: Target = {
  about: 'client assertions (JWT) as the token endpoint reads and verifies them',
  seeds: [
    seed({ alg: 'ES256', kid: 'ec' }, { iat: NOW }, 'ec'),
    seed({ alg: 'RS256', typ: 'JWT' }, { aud: [TOKENS], nbf: NOW - 1 }, 'rsa'),
    seed({ alg: 'EdDSA', typ: 'client-authentication+jwt' }, {}, 'ed'),
    seed({ alg: 'PS256' }, { aud: [ISSUER, TOKENS] }, 'ps'),
    seed({ alg: 'none' }, {}, ''),
    seed({ alg: 'ES256', crit: ['b64'], b64: false }, {}, 'ec'),
    'a.b.c',
  ],
  dictionary: [
    'alg',
    'typ',
    'kid',
    'crit',
    'iss',
    'sub',
    'aud',
    'exp',
    'iat',
    'nbf',
    'jti',
    'none',
    'HS256',
    'ES256',
    'RS256',
    'PS256',
    'EdDSA',
    'Ed25519',
    'JWT',
    'application/',
    'client-authentication+jwt',
    ISSUER,
    TOKENS,
    CLIENT,
    String(NOW),
    'ec',
    'rsa',
    'ed',
    'ps',
    '|=',
    '|.',
    'other',
  ],
  async start() {
    const keys = createKeys();
    const known = readKeySet({ keys: publishedKeys(keys) }) ?? [];
    const used = new Set<string>();
    const verifiers = await importVerifiers(keys);
    const singleUses = {
      async claim(_, of) {
        const key = JSON.stringify(of);
        if (used.size > 1000) used.clear();
        const isFirst = !used.has(key);
        used.add(key);
        return isFirst;
      },
    } satisfies Partial<SingleUses>;
    const server = { issuer: ISSUER, singleUses, clock: () => NOW * 1000 } as unknown as Server;
    const source = {
      haveOne: async (_: unknown, fits: Fits) => fits(known, null),
      problems: async () => [],
    } as unknown as ClientKeySource;
    const verify = new Assertions(server, source).verifierAt([TOKENS]);
    const client = {
      id: CLIENT,
      registeredBy: 'operator',
      keys: { jwks: '', jwksUri: null, algorithm: null },
    } as const;
    return async (input) => {
      const text = jwsOf(input, keys);
      const form = createParameters(
        new URLSearchParams({
          client_assertion: text,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        }),
      );
      const request = new Request(TOKENS, { method: 'POST' });
      const credentials = unless(
        (error) => error instanceof OAuthError,
        () => readCredentials(request, form, assertionReader([JWT_ASSERTION])),
      );
      const jws = unless(
        (error) => error instanceof JwsError,
        () => parseJws(text),
      );
      if (credentials === null) return hold(text === '', 'an assertion was refused in another way');
      hold(credentials.method === 'assertion', 'an assertion was taken for something else');
      hold((jws === null) === credentials.assertion instanceof JwsError, 'it was read in two ways');
      if (jws === null) return;
      hold(
        `${jws.signed.toString()}.${jws.signature.toString('base64url')}` === text,
        'it can be written in two ways',
      );
      used.clear();
      for (const profile of [null, PROFILE]) {
        const verified = await unlessAsync(
          (error) => error instanceof JwsError,
          async () => {
            await verify(client, CLIENT, jws, profile);
            return true;
          },
        );
        if (verified === null) continue;
        const alg = String(jws.header['alg']);
        const kid = alg === 'ES256' ? 'ec' : alg.startsWith('Ed') ? 'ed' : 'rsa';
        const key =
          alg === 'PS256' ? await importJWK(keys.jwks['rsa'] as JWK, 'PS256') : verifiers.get(kid);
        hold(key !== undefined, 'another algorithm was taken');
        const { payload } = await jwtVerify(text, key, {
          issuer: CLIENT,
          subject: CLIENT,
          audience: [ISSUER, TOKENS],
          algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
          clockTolerance: 60,
          currentDate: new Date(NOW * 1000),
          requiredClaims: ['exp', 'jti'],
        });
        const named: unknown[] = Array.isArray(payload.aud) ? payload.aud : [payload.aud];
        hold(
          named.every((each) => each === ISSUER || each === TOKENS),
          'it is for somebody else as well',
        );
        hold(Number(payload.exp) <= NOW + 3660, 'it is good for too long');
        hold(
          profile === null || (payload.aud === ISSUER && alg !== 'RS256'),
          'it is not of the profile',
        );
        const again = await unlessAsync(
          (error) => error instanceof JwsError,
          async () => {
            await verify(client, CLIENT, jws, profile);
            return true;
          },
        );
        hold(again === null, 'it was taken twice');
        used.clear();
      }
    };
  },
};
