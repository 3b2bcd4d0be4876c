/**
 * What a resource tells clients about tokens that are bound to a key. Such tokens have a separate
 * `Authorization` scheme, and each request with one needs a proof of the key.
 */
export interface BindingOffer {
  /** The `Authorization` scheme, for example `DPoP`. */
  readonly scheme: string;
  /** Whether all tokens must be bound. If so, challenges do not contain the scheme Bearer. */
  readonly required: boolean;
  /** Additional parameters for a challenge with this scheme. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Additional members of the resource's metadata (RFC 9728 section 2). */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The request header field for a proof. */
  readonly proofField: string;
  /** The response header field with data for the next proof. */
  readonly answerField: string;
}

/** The information about bound tokens in a refusal. */
export interface BindingRefusal extends BindingOffer {
  /**
   * Whether the request used the scheme for bound tokens. If so, the refusal contains only that
   * scheme.
   */
  readonly presented: boolean;
  /** The data for the next proof, sent with the response. Null if there is no data. */
  readonly answer: string | null;
}

/**
 * Returns what a refusal says about bound tokens. Pass `proof` if the request used the scheme for
 * bound tokens.
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
 * Returns a refusal's challenges for `WWW-Authenticate`. Returns only the challenge for bound
 * tokens if the request used their scheme, or if all tokens must be bound. Otherwise returns a
 * challenge for each offered scheme, and only the Bearer challenge contains the error. Bearer comes
 * first, because some clients read only the first challenge.
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

/** Returns the header field with data for the next proof. Empty if there is no such data. */
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
    // Write a quoted string (RFC 9110 section 5.6.4). Characters that a header field cannot contain
    // cause an error when the field is set.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
