// The types for an API that uses this package. They import nothing from Portico, because this
// package does not depend on Portico.
import type { IntrospectionProblem, UnusableReason } from './introspection.ts';

/**
 * Settings for DPoP-bound tokens (RFC 9449), for an API that runs in a separate process from the
 * authorization server.
 */
export interface DpopOptions {
  /**
   * The API's public URL, for example `https://api.example.com`. The URL in a proof must be this
   * URL plus the request's path. The `Host` header is ignored. If a proxy removes a path prefix
   * from requests, include the prefix here.
   */
  readonly publicUrl: string;
  /**
   * Whether all tokens must be bound. Defaults to false: unbound tokens with the scheme Bearer are
   * then accepted too.
   */
  readonly required?: boolean;
  /**
   * Marks a proof as used. Returns true if no process of the API has marked it before. Store the
   * hash until `expiresAt`, in milliseconds since 1970. Without `claim`, each process remembers
   * only the proofs that it received itself, so an attacker can use a stolen proof once in each
   * process.
   */
  readonly claim?: (hash: string, expiresAt: number) => boolean | Promise<boolean>;
  /**
   * The maximum number of proofs that a process remembers if you do not pass `claim`. Default:
   * 100,000, which take 12 to 25 MB. A process remembers each proof for as long as it could be used
   * again: at most three minutes. A single key can use at most half of this number, and less if the
   * process remembers many proofs of other keys. When a key has reached its limit, further requests
   * with this key get the status 503.
   */
  readonly remembered?: number;
}

/** The required authentication of the user (RFC 9470). Set at least one member. */
export interface AuthenticationRequirement {
  /** The maximum age of the authentication, in seconds. At least 1. */
  readonly maxAge?: number;
  /** The accepted levels of assurance. The preferred level comes first. */
  readonly acr?: string | readonly string[];
}

/** The parts of a request that a proof must match. */
export interface SentRequest {
  /** The request method, for example `GET`. */
  readonly method: string;
  /** The path and query as received, before the framework changes them. */
  readonly target: string;
  /**
   * The `DPoP` header. Null if the request has no such header. If there are several headers, join
   * them with commas.
   */
  readonly dpop: string | null;
}

/** Why the proof of a request with the scheme DPoP is rejected. */
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
 * Why a request is rejected. `docs/why-an-api-refuses.md` explains what to do about each reason.
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
  | 'authentication_insufficient'
  | IntrospectionProblem
  | 'fault';

/**
 * Describes a rejected request for `onRefusal`. Contains no token, proof, header or secret. From
 * the authorization server's response, contains only the status and the client id.
 */
export interface Refusal {
  /** The status of the response. */
  readonly status: 401 | 403 | 503;
  /**
   * The error code in the response. Null if the request contains no token to check (RFC 6750
   * section 3.1).
   */
  readonly error:
    | 'invalid_token'
    | 'invalid_dpop_proof'
    | 'insufficient_scope'
    | 'insufficient_user_authentication'
    | 'temporarily_unavailable'
    | null;
  /** Why the request is rejected. The response does not contain the reason. */
  readonly reason: RefusalReason;
  /**
   * More detail about the reason, or null. For a proof, this is a short text, for example
   * `its iat is too long ago`. For an error, it is the error's code, for example `ECONNREFUSED`, or
   * its class name.
   */
  readonly detail: string | null;
  /**
   * The HTTP status of the authorization server's introspection response. It is null unless the
   * reason is `introspection_refused`.
   */
  readonly answered: number | null;
  /** The id of the client that got the token, or null if it is unknown. */
  readonly clientId: string | null;
  /** The scope that the request needed. */
  readonly scope: string;
}
