import type { BindingOffer } from '../http/challenges.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { ClientMetadata } from '../store/client.ts';

/**
 * Binds access tokens to a key of their client (RFC 7800), so that they cannot be used without it.
 * A feature of the server provides it. Null where tokens are not bound.
 */
export interface KeyBinding {
  /** What resources say about it. */
  readonly offer: BindingOffer;
  /** The parameter of an authorization request that names the key for its code. */
  readonly parameter: string;
  /** The scopes that require a bound token. */
  readonly scopes: ReadonlySet<string>;
  /**
   * The key that a request for one of the server's URLs proves, before its client is known. Null
   * for a request without a proof. Writes nothing. Throws a KeyProofError.
   */
  prove(request: Request, url: string): Promise<ProvedKey | null>;
  /**
   * Why a resource refuses a valid bound token. Null when its request proves the key. `asked`
   * returns the request.
   */
  refusal(asked: (() => Request) | undefined, token: string, found: BoundToken): Promise<ProofRefusal | null>;
  /** The member `cnf` of an introspection answer for the key (RFC 7800 section 3). */
  confirmation(thumbprint: string): Readonly<Record<string, unknown>>;
}

/** The key that a request proves. */
export interface ProvedKey {
  /** The JWK thumbprint of RFC 7638, with SHA-256. */
  readonly thumbprint: string;
  /** Throws a KeyProofError if this client may not prove the key this way. */
  requireFor(client: ClientMetadata): void;
  /**
   * Records the use of the proof permanently, once however often this is called. Throws a
   * KeyProofError if it was used before. It writes to the store, so call it only for a request that
   * presents a credential: anyone can send the id of a public client. Call it before anything is
   * issued, spent or ended.
   */
  claim(): Promise<void>;
  /**
   * The header fields for the answer. Call it before anything is issued, so that nothing can fail
   * afterwards.
   */
  answerFields(): Promise<Readonly<Record<string, string>>>;
}

/** What is known about a presented token. */
export interface BoundToken {
  readonly thumbprint: string | null;
  /** The client's own profile, apart from the server's, or null. */
  readonly clientProfile: string | null;
}

/** Why a valid bound token is refused. */
export interface ProofRefusal {
  readonly code: BearerErrorCode;
  /** The message of the answer; the default of this code unless given. */
  readonly message?: string;
  /** Only for the log. */
  readonly detail: string;
  /** What the answer says about the next proof. Null for nothing. */
  readonly answer: string | null;
}

/** The `token_type` of a token: the scheme for presenting it (RFC 6749 section 7.1). */
export function getTokenType(binding: KeyBinding | null, thumbprint: string | null): string {
  return binding === null || thumbprint === null ? 'Bearer' : binding.offer.scheme;
}
