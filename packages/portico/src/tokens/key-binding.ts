import type { BindingOffer } from '../http/challenges.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { ProfiledClient } from '../profiles/fapi2.ts';

/**
 * How access tokens are bound to a key of their client (RFC 7800), so that nobody uses them without it. A feature of the server gives it;
 * null stands for it where tokens are bound to nothing.
 */
export interface KeyBinding {
  /** What resources say of it. */
  readonly offer: BindingOffer;
  /** The parameter of an authorization request that names the key which its code is for. */
  readonly parameter: string;
  /** The scopes that only a bound token has. */
  readonly scopes: ReadonlySet<string>;
  /**
   * The key that a request for one of the server's own URLs proves, before anything is known of its client; null for a request without a
   * proof. Writes nothing. Throws a KeyProofError.
   */
  prove(request: Request, url: string): Promise<ProvedKey | null>;
  /**
   * Why a bound token is refused at a resource, although it is a good one; null when its request proves the key. `asked` gives the request.
   */
  refusal(asked: (() => Request) | undefined, token: string, found: BoundToken): Promise<ProofRefusal | null>;
  /** What introspection says of the key, as the member `cnf` (RFC 7800 section 3). */
  confirmation(thumbprint: string): Readonly<Record<string, unknown>>;
}

/** The key that a request proves. */
export interface ProvedKey {
  /** Of RFC 7638, by SHA-256. */
  readonly thumbprint: string;
  /** Throws a KeyProofError when this client may not prove it so. */
  requireFor(client: ProfiledClient): void;
  /**
   * Takes the proof for good, once however often it is called; throws a KeyProofError when it was used before. It writes, so nobody calls it
   * for whoever offers nothing: anybody may send the id of a public client. Nothing may be issued, spent or ended before.
   */
  claim(): Promise<void>;
  /** The header fields that the answer gets. Asked before anything is issued: nothing that may fail is left to do after that. */
  answerFields(): Promise<Readonly<Record<string, string>>>;
}

/** What is known of a token that was presented. */
export interface BoundToken {
  readonly thumbprint: string | null;
  /** The profile that its client is held to by itself, whatever the server's; null for none. */
  readonly clientProfile: string | null;
}

/** Why a bound token is refused, although it is a good one. */
export interface ProofRefusal {
  readonly code: BearerErrorCode;
  /** What the answer says; what it says of every error of this code unless given. */
  readonly message?: string;
  /** For the log alone. */
  readonly detail: string;
  /** What the answer says of the next proof; null where it says nothing. */
  readonly answer: string | null;
}

/** The `token_type` of a token: the scheme that it is presented in (RFC 6749 section 7.1). */
export function tokenTypeOf(binding: KeyBinding | null, thumbprint: string | null): string {
  return binding === null || thumbprint === null ? 'Bearer' : binding.offer.scheme;
}
