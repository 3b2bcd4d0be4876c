import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { jwtVerify } from 'jose';
import { TrustedIssuers } from '../../../packages/portico/src/keys/assertions/trusted-issuers.ts';
import type { TrustedIssuer } from '../../../packages/portico/src/keys/assertions/trusted-issuer.ts';
import { readKeySet } from '../../../packages/portico/src/clients/key-sets.ts';
import { workloadTokens } from '../../../packages/portico/src/features/workload-identity/workload-tokens.ts';
import { JwsError, parseJws } from '../../../packages/portico/src/keys/jws/compact.ts';
import type { Server } from '../../../packages/portico/src/server.ts';
import type { SingleUses } from '../../../packages/portico/src/store/single-uses.ts';
import { createKeys, importVerifiers, jwsOf, publishedKeys } from '../support/keys.ts';
import { scratch } from '../support/scratch.ts';
import { hold, unless, unlessAsync, type Target } from '../target.ts';

const NOW = 1_800_000_000;
const ISSUER = 'https://app.example';
const CLUSTER = 'https://cluster.example';
const DOMAIN = 'spiffe://example.org';

/** The pattern of each client, and the subjects that match it, written a second time. */
const CLIENTS = [
  { issuer: CLUSTER, subject: 'system:sa:prod:web', means: /^system:sa:prod:web$/ },
  { issuer: CLUSTER, subject: 'system:sa:prod:*', means: /^system:sa:prod:[\w.-]+$/ },
  {
    issuer: DOMAIN,
    subject: 'spiffe://example.org/sa/*',
    means: /^spiffe:..example\.org.sa.[\w.-]+$/,
  },
] as const;

const seed = (header: object, payload: object, key: string) =>
  `${JSON.stringify(header)}\n${JSON.stringify({ iss: CLUSTER, sub: 'system:sa:prod:web', aud: [ISSUER], exp: NOW + 60, iat: NOW, ...payload })}\n${key}`;

export const target: Target = {
  about: 'tokens of workloads, for clients with exact subjects and with patterns',
  seeds: [
    seed({ alg: 'ES256', kid: 'ec' }, { nbf: NOW }, 'ec'),
    seed({ alg: 'RS256' }, { sub: 'system:sa:prod:api' }, 'rsa'),
    seed(
      { alg: 'ES256', typ: 'JWT' },
      { iss: undefined, sub: 'spiffe://example.org/sa/web' },
      'ec',
    ),
    seed({ alg: 'EdDSA', typ: 'JOSE' }, { iat: undefined, aud: ISSUER }, 'ed'),
    seed({ alg: 'none' }, {}, ''),
    'a.b.c',
  ],
  dictionary: [
    'alg',
    'typ',
    'kid',
    'jwk',
    'iss',
    'sub',
    'aud',
    'exp',
    'iat',
    'nbf',
    'cnf',
    'scope',
    'nonce',
    'tenant',
    'none',
    'HS256',
    'ES256',
    'RS256',
    'EdDSA',
    'JWT',
    'JOSE',
    ISSUER,
    CLUSTER,
    DOMAIN,
    'system:sa:prod:',
    '/sa/',
    '..',
    '*',
    ':',
    String(NOW),
    'ec',
    'rsa',
    'ed',
    '|=',
    '|.',
    'other',
  ],
  async start() {
    const keys = createKeys();
    const published = publishedKeys(keys);
    const verifiers = await importVerifiers(keys);
    const issuers = [CLUSTER, DOMAIN].map((issuer): TrustedIssuer => {
      const file = path.join(scratch(), issuer === DOMAIN ? 'bundle.json' : 'keys.json');
      const use = issuer === DOMAIN ? { use: 'jwt-svid' } : {};
      writeFileSync(file, JSON.stringify({ keys: published.map((jwk) => ({ ...jwk, ...use })) }));
      return {
        issuer,
        keys: { file },
        algorithms: ['ES256', 'RS256', 'EdDSA'],
        asserts: ['clients'],
        tenant: null,
        clockTolerance: 30,
        maximumAge: 3600,
      };
    });
    const clock = () => NOW * 1000;
    const trustedIssuers = new TrustedIssuers(
      issuers,
      { clock, allowsLoopback: false, anyPort: false },
      readKeySet,
      {} as SingleUses,
    );
    const host = { log: { info: () => undefined } };
    const ways = workloadTokens({ issuer: ISSUER, trustedIssuers, host } as unknown as Server);
    return async (input) => {
      const text = jwsOf(input, keys);
      const jws = unless(
        (error) => error instanceof JwsError,
        () => parseJws(text),
      );
      if (jws === null) return;
      for (const way of ways) {
        for (const { issuer, subject, means } of CLIENTS) {
          const workload = {
            jwks: null,
            jwksUri: null,
            algorithm: null,
            workload: { issuer, subject },
          };
          if (!way.isFor(workload)) continue;
          const client = { id: subject, registeredBy: 'operator', keys: workload } as const;
          const verified = await unlessAsync(
            (error) => error instanceof JwsError,
            async () => {
              await way.verifierAt([])(client, subject, jws, null);
              return true;
            },
          );
          if (verified === null) continue;
          const alg = String(jws.header['alg']);
          const key = verifiers.get(alg === 'ES256' ? 'ec' : alg === 'RS256' ? 'rsa' : 'ed');
          hold(key !== undefined, 'another algorithm was taken');
          const { payload } = await jwtVerify(text, key, {
            ...(issuer === CLUSTER ? { issuer } : {}),
            audience: ISSUER,
            algorithms: ['ES256', 'RS256', 'EdDSA'],
            clockTolerance: 31,
            currentDate: new Date(NOW * 1000),
            requiredClaims: ['exp', 'sub', 'aud'],
          });
          hold(means.test(payload.sub ?? ''), 'it is of another workload');
          hold([payload.aud].flat().length === 1, 'it is for another server as well');
          hold(Number(payload.exp) <= NOW + 90_100, 'it is valid for too long');
          hold(payload['cnf'] === undefined, 'it is bound to a key');
          hold(payload['scope'] === undefined, 'it is an access token');
          hold(payload['nonce'] === undefined, 'it is an ID token');
        }
      }
    };
  },
};
