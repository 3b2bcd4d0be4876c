import type { BindingOffer } from '../http/challenges.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { ClientMetadata } from '../store/client.ts';

/**
 * Binds access tokens to a client's key (RFC 7800), so that they cannot be used without the key. A
 * feature implements this interface. If a field with this type is null, tokens are not bound.
 */
export interface KeyBinding {
  /** Describes bound tokens in metadata and challenges. */
  readonly offer: BindingOffer;
  /** The authorization request parameter that names the key for the code. */
  readonly parameter: string;
  /** The scopes that require a bound token. */
  readonly scopes: ReadonlySet<string>;
  /**
   * Returns the key that a request to this server URL proves. The client is not known yet. Returns
   * null for a request without a proof. Writes nothing to the store. Throws a KeyProofError if the
   * proof is not valid.
   */
  prove(request: Request, url: string): Promise<ProvedKey | null>;
  /**
   * Returns why a resource refuses a valid bound token, or null if the request proves the token's
   * key. `asked` returns the request.
   */
  refusal(
    asked: (() => Request) | undefined,
    token: string,
    found: BoundToken,
  ): Promise<ProofRefusal | null>;
  /** Returns the introspection response's member `cnf` for the key (RFC 7800 section 3). */
  confirmation(thumbprint: string): Readonly<Record<string, unknown>>;
}

/** The key that a request proves. */
export interface ProvedKey {
  /** The key's JWK thumbprint (RFC 7638) with SHA-256. */
  readonly thumbprint: string;
  /** Throws a KeyProofError if this client must not prove the key in this way. */
  requireFor(client: ClientMetadata): void;
  /**
   * Permanently records that the proof was used. Further calls have no effect. Throws a
   * KeyProofError if the proof was used before.
   *
   * Call this before the server issues, ends or marks anything as used. It writes to the store. So
   * call it only for a request with a credential, because anyone can send a public client's id.
   */
  claim(): Promise<void>;
  /**
   * Returns the response header fields. Call this before anything is issued, because no step may
   * fail after that.
   */
  answerFields(): Promise<Readonly<Record<string, string>>>;
}

/** The data about a token that the key binding needs. */
export interface BoundToken {
  readonly thumbprint: string | null;
  /** The client's own profile, not the server's. Null if the client has no profile. */
  readonly clientProfile: string | null;
}

/** Why a valid bound token is refused. */
export interface ProofRefusal {
  readonly code: BearerErrorCode;
  /** The message in the response. Default: the message for this code. */
  readonly message?: string;
  /** The exact reason, only for the log. */
  readonly detail: string;
  /** Information about the next proof, for the response. Null if there is no information. */
  readonly answer: string | null;
}

/**
 * Returns the `token_type`: the scheme with which clients present the token (RFC 6749 section 7.1).
 */
export function getTokenType(binding: KeyBinding | null, thumbprint: string | null): string {
  return binding === null || thumbprint === null ? 'Bearer' : binding.offer.scheme;
}
