/**
 * How a resource describes tokens that are bound to a key. Such tokens have a separate
 * `Authorization` scheme. A request with such a token must prove the key.
 */
export interface BindingOffer {
  /** The `Authorization` scheme, for example `DPoP`. */
  readonly scheme: string;
  /**
   * Whether all tokens must be bound to a key. If so, challenges do not contain the scheme Bearer.
   */
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

/** What a refusal says about tokens that are bound to a key. */
export interface BindingRefusal extends BindingOffer {
  /**
   * Whether the request used the scheme for bound tokens. If so, the refusal contains only that
   * scheme.
   */
  readonly presented: boolean;
  /**
   * The data that the client needs for its next proof, sent with the response. Null if there is no
   * data.
   */
  readonly answer: string | null;
}

/**
 * Returns what a refusal says about bound tokens. Pass `proof` only if the request used the scheme
 * for bound tokens.
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
 * Returns the challenges of a refusal, for `WWW-Authenticate`.
 *
 * If the request used the scheme for bound tokens, or if all tokens must be bound, returns only the
 * challenge with that scheme. Otherwise returns a challenge for each scheme. Bearer comes first,
 * because some clients read only the first challenge, and only it contains the error.
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
    // Write a quoted string (RFC 9110 section 5.6.4). If a header field cannot contain a character,
    // setting the field throws an error.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
