/**
 * What a resource that accepts bound tokens says about them. They have a separate scheme, and need
 * a proof of the key.
 */
export interface BindingOffer {
  /** The scheme of `Authorization`, such as `DPoP`. */
  readonly scheme: string;
  /** Whether tokens must be bound. The scheme Bearer is then not offered. */
  readonly required: boolean;
  /** Further parameters of a challenge with this scheme. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Members of the resource's metadata (RFC 9728 section 2). */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The request header field for a proof. */
  readonly proofField: string;
  /** The response header field for information about the next proof. */
  readonly answerField: string;
}

/** What a refusal says about bound tokens. */
export interface BindingRefusal extends BindingOffer {
  /**
   * Whether the token was sent in the scheme of bound tokens. If so, the refusal names only that
   * scheme.
   */
  readonly presented: boolean;
  /** What the response says about the next proof. Null for nothing. */
  readonly answer: string | null;
}

/** Pass `proof` when the token was sent in the scheme of bound tokens. */
export function bindingRefusal(
  offer: BindingOffer | null,
  proof: { readonly answer: string | null } | undefined,
): BindingRefusal | null {
  return offer === null ? null : { ...offer, presented: proof !== undefined, answer: proof?.answer ?? null };
}

/**
 * The challenges of a refusal, for `WWW-Authenticate`: for the scheme that was used, otherwise for
 * each one that is offered. Bearer comes first, for clients that read only the first. An error
 * belongs to the scheme that was used.
 */
export function challenges(
  parameters: Readonly<Record<string, string | null>>,
  binding: BindingRefusal | null,
): string {
  if (binding === null) return bearerChallenge(parameters);
  const { scheme, parameters: own } = binding;
  if (binding.presented || binding.required) return challenge(scheme, { ...parameters, ...own });
  const beside = { ...parameters, error: null, error_description: null, ...own };
  return `${bearerChallenge(parameters)}, ${challenge(scheme, beside)}`;
}

/** The header field about the next proof. Empty if there is nothing to say. */
export function answerFields(binding: BindingRefusal | null): Readonly<Record<string, string>> {
  return binding === null || binding.answer === null ? {} : { [binding.answerField]: binding.answer };
}

/**
 * A Bearer challenge for `WWW-Authenticate` (RFC 6750 section 3). Leaves out parameters without a
 * value.
 */
export function bearerChallenge(parameters: Readonly<Record<string, string | null>>): string {
  return challenge('Bearer', parameters);
}

function challenge(scheme: string, parameters: Readonly<Record<string, string | null>>): string {
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    // A quoted string (RFC 9110 section 5.6.4). Writing the header field fails for characters that
    // it cannot contain.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
