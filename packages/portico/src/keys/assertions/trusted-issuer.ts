import type { VerifiedAlgorithm } from '../jws/public-keys.ts';

/**
 * What an issuer may assert: who a person is (`people`), or which workload a client is (`clients`).
 */
export type AssertedSubject = 'people' | 'clients';

/**
 * Where an issuer's keys are: at a URL, or in a file with an absolute path. `lifetime` is how long
 * fetched keys are used, in seconds.
 */
export type IssuerKeyLocation =
  { readonly url: string; readonly lifetime: number } | { readonly file: string };

/**
 * An issuer of assertions (RFC 7521). It is not this server, but this server accepts its
 * assertions.
 */
export interface TrustedIssuer {
  /**
   * The exact value of `iss`. For SPIFFE, this is the id of a trust domain, which the server finds
   * in the token's `sub`.
   */
  readonly issuer: string;
  /** Where the issuer's public keys are (RFC 7517). */
  readonly keys: IssuerKeyLocation;
  /** The algorithms that the issuer may sign with. */
  readonly algorithms: readonly VerifiedAlgorithm[];
  /** What the issuer may assert. */
  readonly asserts: readonly AssertedSubject[];
  /** The only accepted value of `tenant`. Null if assertions must have no tenant. */
  readonly tenant: string | null;
  /** How far the issuer's clock may be off, in seconds. */
  readonly clockTolerance: number;
  /** The maximum age of an assertion, in seconds. */
  readonly maximumAge: number;
}
