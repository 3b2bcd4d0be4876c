import type { BindingOffer } from '../http/challenges.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { ClientMetadata } from '../store/client.ts';

/**
 * Binds access tokens to a client's key (RFC 7800). An attacker who steals a bound token cannot use
 * it without the key. A feature implements this interface. Without such a feature (null), tokens
 * are not bound.
 */
export interface KeyBinding {
  /** How metadata and challenges describe bound tokens. */
  readonly offer: BindingOffer;
  /** The authorization request parameter that names the key for the authorization code. */
  readonly parameter: string;
  /** The scopes that only bound tokens can have. */
  readonly scopes: ReadonlySet<string>;
  /**
   * Returns the key that a request to this URL proves, or null for a request without a proof. `url`
   * is a URL of this server. Throws a KeyProofError for an invalid proof. Called before the client
   * is known. Writes nothing to the store.
   */
  prove(request: Request, url: string): Promise<ProvedKey | null>;
  /**
   * Returns the reason why a resource refuses a valid bound token, or null if the request proves
   * the token's key. `asked` returns the request.
   */
  refusal(
    asked: (() => Request) | undefined,
    token: string,
    found: BoundToken,
  ): Promise<ProofRefusal | null>;
  /** Returns the headers that a successful response must contain for the client's next proof. */
  answerFields(): Promise<Readonly<Record<string, string>>>;
  /** Returns the member `cnf` of the introspection response for this key (RFC 7800 section 3). */
  confirmation(thumbprint: string): Readonly<Record<string, unknown>>;
}

/** The key that a request proves. */
export interface ProvedKey {
  /** The key's JWK thumbprint (RFC 7638) with SHA-256. */
  readonly thumbprint: string;
  /** Throws a KeyProofError if this client may not use this kind of proof. */
  requireFor(client: ClientMetadata): void;
  /**
   * Records in the store that the proof was used, until the proof expires. A second call has no
   * effect. Throws a KeyProofError if the proof was used before.
   *
   * Call this method before the server issues or revokes a token or marks a code as used. Call it
   * only for a request that contains a credential. Otherwise, anyone could fill the store, because
   * any caller can send a public client's id.
   */
  claim(): Promise<void>;
  /**
   * Returns the response headers (see `KeyBinding.answerFields`). Call this method before the
   * server issues tokens, because an error after that would lose the tokens.
   */
  answerFields(): Promise<Readonly<Record<string, string>>>;
}

/** The data about a token that decides whether a proof is valid for it. */
export interface BoundToken {
  readonly thumbprint: string | null;
  /** The client's own profile. Null if only the server's profile applies. */
  readonly clientProfile: string | null;
}

/** Why a valid bound token is refused. */
export interface ProofRefusal {
  readonly code: BearerErrorCode;
  /** The message in the response. Defaults to the message for this code. */
  readonly message?: string;
  /** The exact reason, for the log only. */
  readonly detail: string;
  /** A value for the client's next proof, for example a nonce. Null if there is no such value. */
  readonly answer: string | null;
}

/** Returns the `token_type`: the scheme that clients send the token with (RFC 6749 section 7.1). */
export function getTokenType(binding: KeyBinding | null, thumbprint: string | null): string {
  return binding === null || thumbprint === null ? 'Bearer' : binding.offer.scheme;
}
