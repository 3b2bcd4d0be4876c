import type { VerifiedAlgorithm } from '../keys/jws/public-keys.ts';

/** What an issuer may assert. `people`: who a person is. `clients`: which workload a client is. */
export type AssertedSubject = 'people' | 'clients';

/**
 * Where an issuer's keys are: at a URL, or in a file with an absolute path. `lifetime` is how long
 * a fetched set is used, in seconds.
 */
export type IssuerKeyLocation =
  { readonly url: string; readonly lifetime: number } | { readonly file: string };

/** An issuer outside this server, whose signed assertions the server accepts (RFC 7521). */
export interface TrustedIssuer {
  /**
   * The value of `iss`, compared character by character. Or the id of a SPIFFE trust domain, whose
   * tokens are identified by `sub`.
   */
  readonly issuer: string;
  /** Where its public keys are (RFC 7517). */
  readonly keys: IssuerKeyLocation;
  /** The algorithms that it may sign with. */
  readonly algorithms: readonly VerifiedAlgorithm[];
  /** What it may assert. */
  readonly asserts: readonly AssertedSubject[];
  /** The only value of `tenant` that is accepted. Null if assertions must have none. */
  readonly tenant: string | null;
  /** How far its clock may differ, in seconds. */
  readonly clockTolerance: number;
  /** How long ago an assertion may have been issued, in seconds. */
  readonly maximumAge: number;
}
