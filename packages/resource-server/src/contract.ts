// The types that an API uses. They do not import Portico, because this package does not depend on
// it.
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
   * Whether tokens must be bound. Defaults to false: unbound tokens are accepted with the scheme
   * Bearer.
   */
  readonly required?: boolean;
  /**
   * Records that a proof was used. Returns whether this is its first use in all of the API's
   * processes. Keep the hash until `expiresAt`, in milliseconds since 1970. Without `claim`, each
   * process knows only the proofs that it has received itself, so a stolen proof works once in each
   * process.
   */
  readonly claim?: (hash: string, expiresAt: number) => boolean | Promise<boolean>;
  /**
   * The most proofs that a process remembers without `claim`. Default: 100,000, which takes about
   * 15 MB. Each proof is remembered for two to three minutes. At the limit, further requests get
   * 503.
   */
  readonly remembered?: number;
}

/** What an API asks of the person's authentication (RFC 9470). Give at least one member. */
export interface AuthenticationRequirement {
  /** How old the authentication may be, in seconds; at least 1. */
  readonly maxAge?: number;
  /** The levels of assurance that would do, the preferred one first. */
  readonly acr?: string | readonly string[];
}

/** The parts of a request that a proof must match. */
export interface SentRequest {
  /** The request method, such as `GET`. */
  readonly method: string;
  /** Path and query as received, before the framework changes them. */
  readonly target: string;
  /** The `DPoP` header, or null. Join several headers with commas. */
  readonly dpop: string | null;
}

/** Why a request with the scheme DPoP is rejected because of its proof. */
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

/** Why a request is rejected. `docs/why-an-api-refuses.md` says what to do about each reason. */
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
  | 'authentication_insufficient'
  | IntrospectionProblem
  | 'fault';

/**
 * A rejected request, as `onRefusal` receives it. It contains no token, proof, header or secret.
 * From the authorization server's response, it contains only the status and the client id.
 */
export interface Refusal {
  /** The response's status. */
  readonly status: 401 | 403 | 503;
  /**
   * The error code in the response. Null when the request had no usable token (RFC 6750 section
   * 3.1).
   */
  readonly error:
    | 'invalid_token'
    | 'invalid_dpop_proof'
    | 'insufficient_scope'
    | 'insufficient_user_authentication'
    | 'temporarily_unavailable'
    | null;
  /** The reason. The response does not include it. */
  readonly reason: RefusalReason;
  /**
   * More about the reason, or null. For a proof: a text such as `its iat is too long ago`.
   * Otherwise an error's code, such as `ECONNREFUSED`, or its class name.
   */
  readonly detail: string | null;
  /**
   * The HTTP status of the authorization server's introspection response. Null unless the reason is
   * `introspection_refused`.
   */
  readonly answered: number | null;
  /** The client to which the token was issued, or null if unknown. */
  readonly clientId: string | null;
  /** The scope that the request needed. */
  readonly scope: string;
}
