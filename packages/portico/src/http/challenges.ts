/**
 * How a resource tells clients that it accepts tokens bound to a key. Such a token has its own
 * `Authorization` scheme, and the request must contain a proof of the key.
 */
export interface BindingOffer {
  /** The `Authorization` scheme, for example `DPoP`. */
  readonly scheme: string;
  /** Whether all tokens must be bound to a key. If true, refusals contain no Bearer challenge. */
  readonly required: boolean;
  /** Additional parameters of the challenge with this scheme. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Additional members of the resource's metadata (RFC 9728 section 2). */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The request header field for a proof. */
  readonly proofField: string;
  /** The response header field with data for the next proof. */
  readonly answerField: string;
}

/** How a refusal describes tokens that are bound to a key. */
export interface BindingRefusal extends BindingOffer {
  /**
   * Whether the request used the scheme for bound tokens. If so, the refusal contains only that
   * scheme.
   */
  readonly presented: boolean;
  /**
   * A value that the client must use in its next proof, for example a nonce. Sent with the
   * response. Null if the client needs no such value.
   */
  readonly answer: string | null;
}

/**
 * Returns how a refusal describes bound tokens. Pass `proof` only if the request used the scheme
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
 * If the request used the scheme for bound tokens, or if all tokens must be bound, returns one
 * challenge with that scheme. Otherwise returns one challenge for each scheme. The Bearer challenge
 * comes first, and only it contains the error, because some clients read only the first challenge.
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

/** Returns the header field with the value for the next proof. Empty if there is no value. */
export function answerFields(binding: BindingRefusal | null): Readonly<Record<string, string>> {
  return binding === null || binding.answer === null
    ? {}
    : { [binding.answerField]: binding.answer };
}

/**
 * Returns a Bearer challenge for `WWW-Authenticate` (RFC 6750 section 3). Leaves out parameters
 * that are null.
 */
export function bearerChallenge(parameters: Readonly<Record<string, string | null>>): string {
  return challenge('Bearer', parameters);
}

function challenge(scheme: string, parameters: Readonly<Record<string, string | null>>): string {
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    // Write a quoted string (RFC 9110 section 5.6.4). Setting the field throws an error if the
    // string contains a character that a header field cannot contain.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
