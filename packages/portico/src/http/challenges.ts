/**
 * The information that a resource gives clients about bound tokens. Bound tokens have a separate
 * `Authorization` scheme, and requests with them need a proof of the key.
 */
export interface BindingOffer {
  /** The `Authorization` scheme, such as `DPoP`. */
  readonly scheme: string;
  /** Whether all tokens must be bound. If so, challenges do not contain the scheme Bearer. */
  readonly required: boolean;
  /** Additional parameters for a challenge with this scheme. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Additional members of the resource's metadata (RFC 9728 section 2). */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The request header field for a proof. */
  readonly proofField: string;
  /** The response header field for information about the next proof. */
  readonly answerField: string;
}

/** The information about bound tokens in a refusal. */
export interface BindingRefusal extends BindingOffer {
  /**
   * Whether the request used the scheme for bound tokens. If it did, the refusal contains only that
   * scheme.
   */
  readonly presented: boolean;
  /** Information about the next proof, for the response. Null if there is no information. */
  readonly answer: string | null;
}

/**
 * Returns the description of bound tokens for a refusal. Pass `proof` if the request used the
 * scheme for bound tokens.
 */
export function bindingRefusal(
  offer: BindingOffer | null,
  proof: { readonly answer: string | null } | undefined,
): BindingRefusal | null {
  return offer === null
    ? null
    : { ...offer, presented: proof !== undefined, answer: proof?.answer ?? null };
}

/**
 * Returns a refusal's challenges for `WWW-Authenticate`. If the request used a scheme, returns a
 * challenge for that scheme, with the error. Otherwise returns a challenge for each offered scheme.
 * Bearer comes first, for clients that read only the first challenge.
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

/**
 * Returns the header field with information about the next proof. Empty if there is no information.
 */
export function answerFields(binding: BindingRefusal | null): Readonly<Record<string, string>> {
  return binding === null || binding.answer === null
    ? {}
    : { [binding.answerField]: binding.answer };
}

/**
 * Returns a Bearer challenge for `WWW-Authenticate` (RFC 6750 section 3). Leaves out parameters
 * without a value.
 */
export function bearerChallenge(parameters: Readonly<Record<string, string | null>>): string {
  return challenge('Bearer', parameters);
}

function challenge(scheme: string, parameters: Readonly<Record<string, string | null>>): string {
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    // This writes a quoted string (RFC 9110 section 5.6.4). If a value contains characters that are
    // not allowed in a header field, an error occurs when the field is set.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
