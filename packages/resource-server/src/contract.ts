// The types that an API uses. They import nothing of Portico, because this package does not depend
// on it.
import type { IntrospectionProblem, UnusableReason } from './introspection.ts';

/** Settings for DPoP-bound tokens (RFC 9449) at an API in another process. */
export interface DpopOptions {
  /**
   * The API's public URL, such as `https://api.example.com`. A proof must be for this URL plus the
   * request's path, whatever the `Host` header says. Include the path prefix that a proxy removes
   * before a request arrives.
   */
  readonly publicUrl: string;
  /**
   * Whether tokens must be bound; false unless given. If false, the scheme Bearer works for unbound
   * tokens.
   */
  readonly required?: boolean;
  /**
   * Records the use of a proof, and returns whether it is the first one in all processes of the
   * API. Keep the hash until `expiresAt`, in milliseconds since 1970. Without `claim`, each process
   * knows only the proofs it has seen itself, so a stolen proof works once in each process.
   */
  readonly claim?: (hash: string, expiresAt: number) => boolean | Promise<boolean>;
  /**
   * How many proofs a process remembers without `claim`; 100,000 unless given, about 15 MB. Each is
   * remembered for two to three minutes. When the limit is reached, further requests are answered
   * 503.
   */
  readonly remembered?: number;
}

/** The parts of a request that a proof must match. */
export interface SentRequest {
  /** Such as `GET`. */
  readonly method: string;
  /** Path and query as they arrived, before the framework changes them. */
  readonly target: string;
  /** The header field `DPoP`, or null. Several fields are one value, joined by commas. */
  readonly dpop: string | null;
}

/** Why a request with the scheme DPoP is refused because of its proof. */
export type ProofReason =
  | 'proof_missing'
  | 'proof_target'
  | 'proof_repeated'
  | 'proof_malformed'
  | 'proof_type'
  | 'proof_algorithm'
  | 'proof_jti'
  | 'proof_nonce'
  | 'proof_method'
  | 'proof_url'
  | 'proof_without_time'
  | 'proof_from_the_future'
  | 'proof_too_old'
  | 'proof_expired'
  | 'proof_not_yet_valid'
  | 'proof_without_token'
  | 'proof_for_another_token'
  | 'proof_key'
  | 'proof_signature'
  | 'proof_of_another_key'
  | 'proof_used'
  | 'proofs_too_many'
  | 'claim_failed';

/**
 * Why a request is refused: one value for each way. `docs/protecting-an-api.md` says what to do
 * about each.
 */
export type RefusalReason =
  | 'no_token'
  | 'other_scheme'
  | 'malformed_token'
  | 'dpop_not_taken'
  | UnusableReason
  | 'bound_as_bearer'
  | 'unbound_as_dpop'
  | 'unbound'
  | 'no_request'
  | ProofReason
  | 'scope_missing'
  | IntrospectionProblem
  | 'fault';

/**
 * A refused request, as `onRefusal` receives it. It contains no token, proof, header or secret.
 * From the authorization server's answer it has only the status and the client id.
 */
export interface Refusal {
  /** The status of the response. */
  readonly status: 401 | 403 | 503;
  /**
   * The error code in the response. Null when the request had no usable token (RFC 6750 section
   * 3.1).
   */
  readonly error:
    'invalid_token' | 'invalid_dpop_proof' | 'insufficient_scope' | 'temporarily_unavailable' | null;
  /** The reason. The response does not include it. */
  readonly reason: RefusalReason;
  /**
   * More about the reason, or null. For a proof: a text such as `its iat is too long ago`.
   * Otherwise the code of an error, such as `ECONNREFUSED`, or its class name.
   */
  readonly detail: string | null;
  /**
   * The HTTP status with which the authorization server answered introspection. Null unless the
   * reason is `introspection_refused`.
   */
  readonly answered: number | null;
  /** The application that the token was issued to, or null if unknown. */
  readonly clientId: string | null;
  /** The scope that the request needed. */
  readonly scope: string;
}
