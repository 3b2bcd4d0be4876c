// The types that an API names. They import nothing of Portico, which this package does not depend on.
import type { IntrospectionProblem, UnusableReason } from './introspection.ts';

/** Tokens that are bound to a key of their client (RFC 9449), at an API in another process. */
export interface DpopOptions {
  /**
   * Where the API is for the outside, such as `https://api.example.com`: a proof is for that and the path of the request, whatever its `Host`
   * says. With a path when a proxy takes that away before a request arrives.
   */
  readonly publicUrl: string;
  /** Whether tokens have to be bound; false unless given, and the scheme Bearer is good for those that are not. */
  readonly required?: boolean;
  /**
   * Whether this is the first use of a proof, which it then is, in all processes of the API: keeps the hash until `expiresAt`, milliseconds
   * since 1970. Without it each process knows those that it has seen itself, so that a stolen proof is good once in each of them.
   */
  readonly claim?: (hash: string, expiresAt: number) => boolean | Promise<boolean>;
  /**
   * How many proofs a process remembers without `claim`; 100,000 unless given, some 15 MB. Each is remembered for two or three minutes. When
   * there are more, what comes next is answered 503.
   */
  readonly remembered?: number;
}

/** How a request was sent, as a proof says it. */
export interface SentRequest {
  /** Such as `GET`. */
  readonly method: string;
  /** Path and query as they arrived, in front of whatever the framework makes of them. */
  readonly target: string;
  /** The header field `DPoP`; several are one value, with commas. Null without it. */
  readonly dpop: string | null;
}

/** Why a request in the scheme DPoP is refused because of its proof. */
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

/** Why a request is refused: one for each way, and no other. `docs/protecting-an-api.md` says of each what to do. */
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
 * A request that was refused, as `onRefusal` is told of it. It has nothing secret: no token, proof, header or secret of the request or of the
 * client, and nothing of what the authorization server answered but its status and the client id.
 */
export interface Refusal {
  /** As it is answered. */
  readonly status: 401 | 403 | 503;
  /** The error code as it is answered; null where there was no usable token in the request (RFC 6750 section 3.1). */
  readonly error:
    'invalid_token' | 'invalid_dpop_proof' | 'insufficient_scope' | 'temporarily_unavailable' | null;
  /** Why. Whoever sent the request is not told. */
  readonly reason: RefusalReason;
  /**
   * More of the reason, null where there is no more: of a proof in words, such as `its iat is too long ago`; otherwise the code of an error,
   * such as `ECONNREFUSED`, or of a fault its class.
   */
  readonly detail: string | null;
  /** The HTTP status that the authorization server answered introspection with; null unless the reason is `introspection_refused`. */
  readonly answered: number | null;
  /** The application that the token was issued to; null where that is not known. */
  readonly clientId: string | null;
  /** The scope that the request needed. */
  readonly scope: string;
}
