import type { TrustedIssuer } from '../../keys/assertions/trusted-issuer.ts';
import { isTrustDomain } from '../../keys/assertions/workloads.ts';
import { defineFeature } from '../../feature.ts';
import { trustedIssuersShape, type TrustedIssuersConfig } from './config.ts';

type Configured = NonNullable<TrustedIssuersConfig['trusted_issuers']>;

/** Accepts assertions that trusted issuers have signed (RFC 7521). */
export const trustedIssuers = defineFeature({
  name: 'trusted_issuers',
  config: trustedIssuersShape,
  trustedIssuers: ({ trusted_issuers: configured = {} }) => describeIssuers(configured),
  problems: ({ trusted_issuers: configured = {} }, publicUrl) => [
    // The server must not trust itself. Otherwise, a client could use an assertion from this server
    // to get more access than it was granted.
    ...Object.keys(configured)
      .filter((issuer) => new URL(issuer).origin === new URL(publicUrl).origin)
      .map((issuer) => ({
        key: keyOf(issuer),
        message: 'has the same origin as this server; use an issuer on a different origin',
      })),
    // A SPIFFE trust domain identifies programs, so its keys must not decide who a person is.
    ...Object.entries(configured)
      .filter(([issuer, { asserts }]) => isTrustDomain(issuer) && asserts.includes('people'))
      .map(([issuer]) => ({
        key: `${keyOf(issuer)}:asserts`,
        message: "must be ['clients'], because the issuer is a SPIFFE trust domain",
      })),
    // An issuer must assert either people or clients. Otherwise, a program could authenticate with
    // a token about a person.
    ...Object.entries(configured)
      .filter(([issuer, { asserts }]) => !isTrustDomain(issuer) && new Set(asserts).size > 1)
      .map(([issuer]) => ({
        key: `${keyOf(issuer)}:asserts`,
        message: "must be ['people'] or ['clients'], not both; use two issuers",
      })),
  ],
  start: (_, { trusted_issuers: configured = {} }) =>
    Object.keys(configured).length === 0 ? {} : { usesOnce: true },
});

const keyOf = (issuer: string) => `oauth_server:trusted_issuers:${issuer}`;

function describeIssuers(configured: Configured): readonly TrustedIssuer[] {
  return Object.entries(configured).map(([issuer, settings]) => {
    const { jwks_uri: url, jwks_file: file = '', algorithms, asserts, tenant } = settings;
    const { jwks_lifetime: lifetime } = settings;
    return {
      issuer,
      keys: url === undefined ? { file } : { url, lifetime },
      algorithms,
      asserts,
      tenant: tenant ?? null,
      clockTolerance: settings.clock_tolerance,
      maximumAge: settings.maximum_age,
    };
  });
}
