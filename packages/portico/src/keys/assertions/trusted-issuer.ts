import type { VerifiedAlgorithm } from '../jws/public-keys.ts';

/**
 * What an issuer may assert: who a person is (`people`), or which workload a client is (`clients`).
 */
export type AssertedSubject = 'people' | 'clients';

/**
 * Where to find an issuer's keys: at a URL, or in a file with an absolute path. `lifetime` is how
 * long fetched keys are used, in seconds.
 */
export type IssuerKeyLocation =
  { readonly url: string; readonly lifetime: number } | { readonly file: string };

/** Another party that issues assertions (RFC 7521), which this server accepts. */
export interface TrustedIssuer {
  /**
   * The exact value of `iss` in assertions. For SPIFFE, this is the id of a trust domain, which the
   * server reads from the `sub` of the token.
   */
  readonly issuer: string;
  /** Where to find the issuer's public keys (RFC 7517). */
  readonly keys: IssuerKeyLocation;
  /** The algorithms with which the issuer may sign. */
  readonly algorithms: readonly VerifiedAlgorithm[];
  /** What the issuer may assert. */
  readonly asserts: readonly AssertedSubject[];
  /** The only value of `tenant` that is accepted. Null if assertions must not contain a tenant. */
  readonly tenant: string | null;
  /** How far the issuer's clock may differ from the server's clock, in seconds. */
  readonly clockTolerance: number;
  /** The maximum age of an assertion, in seconds. */
  readonly maximumAge: number;
}
