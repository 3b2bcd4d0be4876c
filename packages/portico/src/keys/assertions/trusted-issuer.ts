import type { VerifiedAlgorithm } from '../jws/public-keys.ts';

/** Who a person is (`people`), or which workload a client is (`clients`). */
export type AssertedSubject = 'people' | 'clients';

/** A URL, or an absolute path. `lifetime` is how long fetched keys are used, in seconds. */
export type IssuerKeyLocation =
  { readonly url: string; readonly lifetime: number } | { readonly file: string };

/** A party whose assertions this server accepts (RFC 7521). */
export interface TrustedIssuer {
  /**
   * The exact `iss` of assertions. For SPIFFE, the id of a trust domain, which the server reads
   * from the token's `sub`.
   */
  readonly issuer: string;
  /** The location of the issuer's key set (RFC 7517). */
  readonly keys: IssuerKeyLocation;
  readonly algorithms: readonly VerifiedAlgorithm[];
  readonly asserts: readonly AssertedSubject[];
  /** The only accepted `tenant`. Null if assertions must not contain one. */
  readonly tenant: string | null;
  /** How far the issuer's clock may differ, in seconds. */
  readonly clockTolerance: number;
  /** The maximum age of an assertion, in seconds. */
  readonly maximumAge: number;
}
