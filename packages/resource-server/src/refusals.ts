import {
  type AuthenticationDemand,
  type BindingRefusal,
  challenges,
  demandParameters,
} from 'portico/extension';
import { getName } from './causes.ts';
import type { Refusal, RefusalReason } from './contract.ts';

/** Why a request is rejected, and the details for `onRefusal`. */
export interface Grounds {
  readonly reason: RefusalReason;
  readonly detail?: string | null;
  readonly answered?: number | null;
  /** The client id from the authorization server's response, unchecked. It may have any type. */
  readonly clientId?: unknown;
}

const WITHOUT_TOKEN = { status: 401, error: null } as const;
const INVALID_TOKEN = { status: 401, error: 'invalid_token' } as const;
const INVALID_PROOF = { status: 401, error: 'invalid_dpop_proof' } as const;
const UNAVAILABLE = { status: 503, error: 'temporarily_unavailable' } as const;

/** The status and error code for each reason. */
export const ANSWERS: Readonly<Record<RefusalReason, Pick<Refusal, 'status' | 'error'>>> = {
  no_token: WITHOUT_TOKEN,
  other_scheme: WITHOUT_TOKEN,
  malformed_token: INVALID_TOKEN,
  dpop_not_taken: WITHOUT_TOKEN,
  token_not_active: INVALID_TOKEN,
  other_audience: INVALID_TOKEN,
  unknown_binding: INVALID_TOKEN,
  bound_as_bearer: INVALID_TOKEN,
  unbound_as_dpop: INVALID_TOKEN,
  unbound: INVALID_TOKEN,
  no_request: INVALID_PROOF,
  proof_missing: INVALID_PROOF,
  proof_target: INVALID_PROOF,
  proof_repeated: INVALID_PROOF,
  proof_malformed: INVALID_PROOF,
  proof_type: INVALID_PROOF,
  proof_algorithm: INVALID_PROOF,
  proof_jti: INVALID_PROOF,
  proof_nonce: INVALID_PROOF,
  proof_method: INVALID_PROOF,
  proof_url: INVALID_PROOF,
  proof_without_time: INVALID_PROOF,
  proof_from_the_future: INVALID_PROOF,
  proof_too_old: INVALID_PROOF,
  proof_expired: INVALID_PROOF,
  proof_not_yet_valid: INVALID_PROOF,
  proof_without_token: INVALID_PROOF,
  proof_for_another_token: INVALID_PROOF,
  proof_key: INVALID_PROOF,
  proof_signature: INVALID_PROOF,
  proof_of_another_key: INVALID_TOKEN,
  proof_used: INVALID_PROOF,
  proofs_too_many: UNAVAILABLE,
  claim_failed: UNAVAILABLE,
  authentication_insufficient: { status: 401, error: 'insufficient_user_authentication' },
  scope_missing: { status: 403, error: 'insufficient_scope' },
  introspection_timed_out: UNAVAILABLE,
  introspection_unreachable: UNAVAILABLE,
  introspection_refused: UNAVAILABLE,
  introspection_malformed: UNAVAILABLE,
  fault: UNAVAILABLE,
};

/**
 * Describes a rejected request. Omits the client id from the authorization server's response if it
 * contains one of the `secrets`.
 */
export function refusalFor(grounds: Grounds, scope: string, secrets: readonly string[]): Refusal {
  const { reason, detail = null, answered = null, clientId } = grounds;
  return {
    ...ANSWERS[reason],
    reason,
    detail,
    answered,
    clientId: clientIdIn(clientId, secrets),
    scope,
  };
}

/**
 * Matches a client id (RFC 6749 appendix A.1) of limited length. Such an id cannot break a log line
 * or make it too long.
 */
const CLIENT_ID = /^[\x20-\x7E]{1,2048}$/;

function clientIdIn(answered: unknown, secrets: readonly string[]): string | null {
  if (typeof answered !== 'string' || !CLIENT_ID.test(answered)) return null;
  return secrets.some((secret) => answered.includes(secret)) ? null : answered;
}

/**
 * Calls the listener. Ignores its exceptions and does not wait for a promise that it returns, so
 * the listener cannot affect the response.
 */
export function tell(onRefusal: (refusal: Refusal) => unknown, refusal: Refusal): void {
  const telling = async () => onRefusal(refusal);
  telling().catch(() => undefined);
}

/** Details for the `WWW-Authenticate` header of a response. */
export interface Challenge {
  /**
   * The metadata URL, or null. If null, the header contains the scope only if the token does not
   * have the scope.
   */
  readonly metadata: string | null;
  /**
   * The required authentication, or null. The header contains it only if the user's authentication
   * is not sufficient.
   */
  readonly demand: AuthenticationDemand | null;
  readonly dpop: BindingRefusal | null;
}

/**
 * Returns the response, and the refusal for `onRefusal`. The status is 503 if a header cannot
 * contain a value, for example a scope with a line break.
 */
export function refuse(
  refusal: Refusal,
  challenge: Challenge,
): { refusal: Refusal; response: Response } {
  try {
    return { refusal, response: responseTo(refusal, challenge) };
  } catch (error) {
    const fault: Refusal = {
      ...refusal,
      ...ANSWERS.fault,
      reason: 'fault',
      detail: getName(error),
    };
    return { refusal: fault, response: responseTo(fault, challenge) };
  }
}

const AGAIN = 'The person must authenticate again, or in another way.';

function responseTo({ status, error, scope }: Refusal, challenge: Challenge): Response {
  if (status === 503) return Response.json({ error }, { status, headers: { 'Retry-After': '2' } });
  const { metadata, demand, dpop } = challenge;
  const isAgain = error === 'insufficient_user_authentication' && demand !== null;
  const parameters = {
    realm: 'oauth',
    // If the request has no token, the response has no error code (RFC 6750 section 3).
    error,
    ...(isAgain ? { error_description: AGAIN, ...demandParameters(demand) } : {}),
    scope: status === 403 || metadata !== null ? scope : null,
    resource_metadata: metadata,
  };
  const isReadable = metadata !== null || dpop !== null;
  const headers = {
    'WWW-Authenticate': challenges(parameters, dpop),
    ...(isReadable ? { 'Access-Control-Expose-Headers': 'WWW-Authenticate' } : {}),
  };
  return Response.json({ error: error ?? 'invalid_token' }, { status, headers });
}
