/**
 * What a resource tells clients about tokens that are bound to a key. Such tokens have a separate
 * `Authorization` scheme. Each request must prove that it has the key.
 */
export interface BindingOffer {
  /** The `Authorization` scheme for bound tokens, for example `DPoP`. */
  readonly scheme: string;
  /** True if all tokens must be bound. Error responses then contain no Bearer challenge. */
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

/** What an error response tells the client about bound tokens. */
export interface BindingRefusal extends BindingOffer {
  /**
   * True if the request used the scheme for bound tokens. The response then contains only a
   * challenge with this scheme.
   */
  readonly presented: boolean;
  /**
   * The value that the client must use in its next proof, for example a nonce. Null if there is no
   * such value.
   */
  readonly answer: string | null;
}

/**
 * Returns what an error response says about bound tokens. Pass `proof` only if the request used
 * their scheme.
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
 * If the request used the scheme for bound tokens, or all tokens must be bound, there is one
 * challenge, with this scheme. Otherwise, there is one challenge for each scheme. Bearer comes
 * first and alone contains the error, because some clients read only the first challenge.
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

/** Returns the header for the client's next proof, or an empty object. */
export function answerFields(binding: BindingRefusal | null): Readonly<Record<string, string>> {
  return binding === null || binding.answer === null
    ? {}
    : { [binding.answerField]: binding.answer };
}

/**
 * Returns a Bearer challenge for `WWW-Authenticate` (RFC 6750 section 3). Omits null parameters.
 */
export function bearerChallenge(parameters: Readonly<Record<string, string | null>>): string {
  return challenge('Bearer', parameters);
}

function challenge(scheme: string, parameters: Readonly<Record<string, string | null>>): string {
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    // Write a quoted string (RFC 9110 section 5.6.4). Setting the header throws if the value
    // contains a character that headers cannot contain.
    value === null ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return `${scheme} ${written.join(', ')}`;
}
