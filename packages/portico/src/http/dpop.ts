import type { BindingOffer } from './challenges.ts';

/** The `Authorization` scheme of DPoP-bound tokens (RFC 9449 section 7.1). */
export const DPOP_SCHEME = 'DPoP';

/** Returns what a resource tells clients about DPoP (RFC 9449 section 7.1, RFC 9728 section 2). */
export function dpopOffer({
  required,
  algorithms,
}: {
  /** True if all tokens must be bound to a key. */
  readonly required: boolean;
  /** The algorithms with which clients may sign proofs (RFC 7518). */
  readonly algorithms: readonly string[];
}): BindingOffer {
  return {
    scheme: DPOP_SCHEME,
    required,
    parameters: { algs: algorithms.join(' ') },
    metadata: {
      dpop_signing_alg_values_supported: algorithms,
      dpop_bound_access_tokens_required: required,
    },
    proofField: 'DPoP',
    answerField: 'DPoP-Nonce',
  };
}
