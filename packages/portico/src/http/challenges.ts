/**
 * What a resource says of tokens that are bound to a key of their client, where it takes them: they come in a scheme of their own, and with a
 * proof of the key.
 */
export interface BindingOffer {
  /** The scheme of `Authorization`, such as `DPoP`. */
  readonly scheme: string;
  /** Whether tokens have to be bound: the scheme Bearer is not offered beside it then. */
  readonly required: boolean;
  /** What a challenge of the scheme says besides. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What the metadata of a resource says (RFC 9728 section 2). */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The header field that a proof comes in. */
  readonly proofField: string;
  /** The header field in which an answer says something of the next proof. */
  readonly answerField: string;
}

/** How a refusal speaks of bound tokens. */
export interface BindingRefusal extends BindingOffer {
  /** Whether the token came in the scheme of bound tokens: nothing is said of another one then. */
  readonly presented: boolean;
  /** What the answer says of the next proof; null where it says nothing. */
  readonly answer: string | null;
}

/** `proof` is there when the token came in the scheme of bound tokens. */
export function bindingRefusal(
  offer: BindingOffer | null,
  proof: { readonly answer: string | null } | undefined,
): BindingRefusal | null {
  return offer === null ? null : { ...offer, presented: proof !== undefined, answer: proof?.answer ?? null };
}

/**
 * The challenges of a refusal, for `WWW-Authenticate`: of the scheme that was used, otherwise of each that is offered. Bearer is first, for
 * those who read no further. An error is that of the scheme that was used.
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

/** The header field that speaks of the next proof; none where there is nothing to say. */
export function answerFields(binding: BindingRefusal | null): Readonly<Record<string, string>> {
  return binding === null || binding.answer === null ? {} : { [binding.answerField]: binding.answer };
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
