/** What a resource says of DPoP where it is switched on (RFC 9449 section 7.1, RFC 9728 section 2). */
export interface DpopOffer {
  /** Whether tokens have to be bound to a key: the scheme Bearer is not offered beside it then. */
  readonly required: boolean;
  /** What proofs may be signed with (RFC 7518). */
  readonly algorithms: readonly string[];
}

/** How a refusal speaks of DPoP. */
export interface DpopRefusal extends DpopOffer {
  /** Whether the token came in the scheme DPoP: nothing is said of another one then. */
  readonly presented: boolean;
  /** What the next proof has to have in it; null where none is asked for. */
  readonly nonce: string | null;
}

/** `proof` is there when the token came in the scheme DPoP. */
export function dpopRefusal(
  offer: DpopOffer | null,
  proof: { readonly nonce: string | null } | undefined,
): DpopRefusal | null {
  return offer === null ? null : { ...offer, presented: proof !== undefined, nonce: proof?.nonce ?? null };
}

/**
 * The challenges of a refusal, for `WWW-Authenticate`: of the scheme that was used, otherwise of each that is offered. Bearer is first, for
 * those who read no further. An error is that of the scheme that was used.
 */
export function challenges(
  parameters: Readonly<Record<string, string | null>>,
  dpop: DpopRefusal | null,
): string {
  if (dpop === null) return bearerChallenge(parameters);
  const algs = dpop.algorithms.join(' ');
  if (dpop.presented || dpop.required) return challenge('DPoP', { ...parameters, algs });
  const beside = { ...parameters, error: null, error_description: null, algs };
  return `${bearerChallenge(parameters)}, ${challenge('DPoP', beside)}`;
}

/** What the metadata of a resource says of DPoP (RFC 9728 section 2): nothing where it is switched off. */
export function dpopMetadata(offer: DpopOffer | null): Readonly<Record<string, unknown>> {
  if (offer === null) return {};
  return {
    dpop_signing_alg_values_supported: offer.algorithms,
    dpop_bound_access_tokens_required: offer.required,
  };
}

/** A challenge of the scheme Bearer, for `WWW-Authenticate` (RFC 6750 section 3); parameters without a value are left out. */
export function bearerChallenge(parameters: Readonly<Record<string, string | null>>): string {
  return challenge('Bearer', parameters);
}

function challenge(scheme: string, parameters: Readonly<Record<string, string | null>>): string {
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    // A quoted string (RFC 9110 section 5.6.4). What no header field may hold, its writer refuses.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
