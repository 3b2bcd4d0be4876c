import path from 'node:path';
import { z } from 'zod';
import { fetchableUrlProblem } from '../../http/outbound/fetchable-urls.ts';
import { isTrustDomain } from '../../keys/assertions/workloads.ts';
import { VERIFIED_ALGORITHMS } from '../../keys/jws/public-keys.ts';

const LONGEST_AGE = 86_400;
const LONGEST_TOLERANCE = 300;
const LONGEST_LIFETIME = 3600;
const LONGEST_ISSUER = 255;
const LONGEST_TENANT = 255;

/**
 * Returns true for a SPIFFE trust domain, or an https URL without query, fragment or credentials.
 */
function isIssuer(text: string): boolean {
  if (isTrustDomain(text)) return true;
  if (text.length > LONGEST_ISSUER || !/^https:\/\/[^?#\s]+$/.test(text)) return false;
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

const seconds = (least: number, most: number) =>
  z
    .int({ error: 'must be a whole number of seconds' })
    .min(least, `must be at least ${least} seconds`)
    .max(most, `must be at most ${most} seconds`);

const jwksUri = z
  .string({ error: "must be the https URL of the issuer's key set" })
  .superRefine((text, context) => {
    const problem = fetchableUrlProblem(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const jwksFile = z
  .string({ error: "must be the path of a file with the issuer's key set" })
  .refine((text) => path.isAbsolute(text), 'must be an absolute path');

const algorithms = z
  .array(
    z.enum(VERIFIED_ALGORITHMS, { error: `must be one of ${VERIFIED_ALGORITHMS.join(', ')}` }),
    { error: 'must be a list of algorithms, such as RS256' },
  )
  .min(1, 'must contain at least one algorithm');

const issuer = z
  .strictObject(
    {
      jwks_uri: jwksUri.optional(),
      jwks_file: jwksFile.optional(),
      jwks_lifetime: seconds(0, LONGEST_LIFETIME).default(60),
      algorithms,
      asserts: z
        .array(z.enum(['people', 'clients'], { error: 'must be "people" or "clients"' }), {
          error: "must be ['people'] or ['clients']: what the issuer may assert",
        })
        .min(1, "is empty; set it to ['people'] or ['clients'] (what the issuer may assert)"),
      tenant: z
        .string({ error: 'must be a string' })
        .min(1, 'is empty; enter a value, or remove the setting')
        .max(LONGEST_TENANT, `must have at most ${LONGEST_TENANT} characters`)
        .optional(),
      clock_tolerance: seconds(0, LONGEST_TOLERANCE).default(30),
      maximum_age: seconds(1, LONGEST_AGE).default(300),
    },
    { error: 'must be an object { jwks_uri, algorithms, asserts }' },
  )
  .refine(
    ({ jwks_uri: url, jwks_file: file }) => (url === undefined) !== (file === undefined),
    'needs either jwks_uri or jwks_file',
  );

export const trustedIssuersShape = {
  trusted_issuers: z
    .record(
      z
        .string()
        .refine(
          isIssuer,
          'must be an issuer: an https URL without a query or fragment, or a SPIFFE trust ' +
            'domain such as spiffe://example.org',
        ),
      issuer,
      { error: 'must be an object with issuers as keys and their settings as values' },
    )
    .optional(),
};

/** The settings of a trusted issuer. */
export interface TrustedIssuerInput {
  /** The https URL of the issuer's key set. Required unless `jwks_file` is set. */
  readonly jwks_uri?: string | undefined;
  /**
   * The absolute path of a file that contains the issuer's key set. If the file changes, the
   * changes take effect immediately. Default: none.
   */
  readonly jwks_file?: string | undefined;
  /**
   * How long Portico reuses a key set from `jwks_uri`, in seconds. The maximum is one hour. With 0,
   * Portico fetches the key set again for each assertion that one of its keys has signed, so it
   * rejects a withdrawn key immediately. Default: 60.
   */
  readonly jwks_lifetime?: number | undefined;
  /**
   * The algorithms with which the issuer signs: `RS256`, `PS256`, `ES256`, `EdDSA`, `Ed25519`.
   * Required.
   */
  readonly algorithms?: readonly string[] | undefined;
  /**
   * What the issuer may assert: `people` (who a user is) or `clients` (which workload a client is),
   * but not both. A SPIFFE trust domain can only assert `clients`. Required.
   */
  readonly asserts?: readonly string[] | undefined;
  /**
   * The only value of the claim `tenant` that Portico accepts, up to 255 characters. Without this
   * setting, assertions must not contain a tenant. Links and tokens of one tenant do not work for
   * another tenant. Default: none.
   */
  readonly tenant?: string | undefined;
  /**
   * How far the issuer's clock may differ from the server's clock, in seconds, up to 300. Default:
   * 30.
   */
  readonly clock_tolerance?: number | undefined;
  /**
   * The maximum age of an assertion, in seconds, up to one day. Tokens from Kubernetes need 3600.
   * Default: 300.
   */
  readonly maximum_age?: number | undefined;
}

export interface TrustedIssuersConfig {
  /** The validated settings of the issuers, by `iss`. */
  readonly trusted_issuers?: Readonly<Record<string, z.output<typeof issuer>>> | undefined;
}

export interface TrustedIssuersConfigInput {
  /**
   * The issuers whose signed assertions the server accepts, such as an organization's identity
   * provider or a Kubernetes cluster. Maps each issuer's `iss` to its settings. For SPIFFE, the
   * `iss` is the trust domain, such as `spiffe://example.org`, and the key set is its bundle. When
   * you remove an issuer, clients immediately lose the access to users' accounts that the issuer
   * gave them. But the issuer's workloads can use their access tokens until these expire, so also
   * revoke the workloads' clients. Default: none.
   */
  readonly trusted_issuers?: Readonly<Record<string, TrustedIssuerInput | undefined>> | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends TrustedIssuersConfig {}
  interface OAuthServerConfigInput extends TrustedIssuersConfigInput {}
}
