/**
 * What a resource tells clients about tokens that are bound to a key. Such tokens have a separate
 * `Authorization` scheme, and each request must contain a proof of the key.
 */
export interface BindingOffer {
  /** The `Authorization` scheme for tokens that are bound to a key, for example `DPoP`. */
  readonly scheme: string;
  /**
   * Whether all tokens must be bound to a key. If true, error responses contain no Bearer
   * challenge.
   */
  readonly required: boolean;
  /** Additional parameters for the challenge with this scheme. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Additional members of the resource's metadata (RFC 9728 section 2). */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The name of the request header that contains a proof. */
  readonly proofField: string;
  /** The name of the response header that contains data for the next proof. */
  readonly answerField: string;
}

/** What an error response tells the client about tokens that are bound to a key. */
export interface BindingRefusal extends BindingOffer {
  /**
   * Whether the request used the scheme for bound tokens. If so, the error response contains only a
   * challenge with this scheme.
   */
  readonly presented: boolean;
  /**
   * A value that the client must use in its next proof, for example a nonce. The response contains
   * this value. Null if the client needs no such value.
   */
  readonly answer: string | null;
}

/**
 * Returns what an error response tells the client about bound tokens. Pass `proof` only if the
 * request used the scheme for bound tokens.
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
 * Returns the value of `WWW-Authenticate` for an error response.
 *
 * If the request used the scheme for bound tokens, or if all tokens must be bound, returns one
 * challenge with this scheme. Otherwise, returns one challenge for each scheme. The Bearer
 * challenge then comes first and is the only one that contains the error, because some clients read
 * only the first challenge.
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
 * Returns the header with the value for the client's next proof. Returns an empty object if there
 * is no such value.
 */
export function answerFields(binding: BindingRefusal | null): Readonly<Record<string, string>> {
  return binding === null || binding.answer === null
    ? {}
    : { [binding.answerField]: binding.answer };
}

/**
 * Returns a Bearer challenge for `WWW-Authenticate` (RFC 6750 section 3), without the parameters
 * that are null.
 */
export function bearerChallenge(parameters: Readonly<Record<string, string | null>>): string {
  return challenge('Bearer', parameters);
}

function challenge(scheme: string, parameters: Readonly<Record<string, string | null>>): string {
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    // Write the value as a quoted string (RFC 9110 section 5.6.4). If it contains a character that
    // headers cannot contain, setting the header throws an error.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
