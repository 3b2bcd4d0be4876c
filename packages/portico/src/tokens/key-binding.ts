import type { BindingOffer } from '../http/challenges.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { ClientMetadata } from '../store/client.ts';

/**
 * Binds access tokens to a client's key (RFC 7800). A stolen token is useless without the key. A
 * feature implements this interface. Without it (null), tokens are not bound.
 */
export interface KeyBinding {
  /** How metadata and challenges describe bound tokens. */
  readonly offer: BindingOffer;
  /** The request parameter that names the key for the authorization code. */
  readonly parameter: string;
  /** Only bound tokens can have these scopes. */
  readonly scopes: ReadonlySet<string>;
  /**
   * Returns the key that a request to this URL proves, or null without a proof. Throws a
   * KeyProofError for an invalid proof. Called before the client is known. Writes nothing to the
   * store.
   */
  prove(request: Request, url: string): Promise<ProvedKey | null>;
  /**
   * Returns why a resource refuses a valid bound token. Returns null if the request proves its key.
   * `asked` returns the request.
   */
  refusal(
    asked: (() => Request) | undefined,
    token: string,
    found: BoundToken,
  ): Promise<ProofRefusal | null>;
  /** Returns headers for a successful response. They prepare the client's next proof. */
  answerFields(): Promise<Readonly<Record<string, string>>>;
  /** Returns the member `cnf` of the introspection response (RFC 7800 section 3). */
  confirmation(thumbprint: string): Readonly<Record<string, unknown>>;
}

export interface ProvedKey {
  /** A JWK thumbprint with SHA-256 (RFC 7638). */
  readonly thumbprint: string;
  /** Throws a KeyProofError if this client may not use this kind of proof. */
  requireFor(client: ClientMetadata): void;
  /**
   * Records that the proof was used, until it expires. A second call has no effect. Throws a
   * KeyProofError for a proof that was used before.
   *
   * Call this before the server issues or revokes a token, or marks a code as used. Call it only
   * for a request with a credential. Anyone can send a public client's id, and could otherwise fill
   * the store.
   */
  claim(): Promise<void>;
  /**
   * See `KeyBinding.answerFields`. Call this before the server issues tokens: a later error would
   * lose them.
   */
  answerFields(): Promise<Readonly<Record<string, string>>>;
}

export interface BoundToken {
  readonly thumbprint: string | null;
  /** Null if only the server's profile applies. */
  readonly clientProfile: string | null;
}

export interface ProofRefusal {
  readonly code: BearerErrorCode;
  /** Defaults to the message for this code. */
  readonly message?: string;
  /** Only for the log. */
  readonly detail: string;
  /** A value for the client's next proof, for example a nonce, or null. */
  readonly answer: string | null;
}

/** Returns the scheme that clients send the token with (RFC 6749 section 7.1). */
export function getTokenType(binding: KeyBinding | null, thumbprint: string | null): string {
  return binding === null || thumbprint === null ? 'Bearer' : binding.offer.scheme;
}
