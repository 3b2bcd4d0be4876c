import { hash } from 'node:crypto';
import { JwsError, parseJws, type JsonObject } from './compact.ts';
import {
  getAlgorithm,
  isSignedBy,
  JwkError,
  readPublicKey,
  type PublicKey,
  type VerifiedAlgorithm,
} from './public-keys.ts';

export interface ProvedRequest {
  readonly method: string;
  /** The absolute URL of the request. Its query and fragment do not matter. */
  readonly url: string;
  /** The proof must contain the hash of this token. Null if the request has no access token. */
  readonly accessToken: string | null;
  /** In milliseconds since 1970. */
  readonly now: number;
}

/** The content of a valid proof. */
export interface DpopProof {
  /** The SHA-256 thumbprint of the key that signed the proof (RFC 7638), encoded as base64url. */
  readonly thumbprint: string;
  /** The algorithm with which the proof is signed. */
  readonly algorithm: VerifiedAlgorithm;
  readonly jti: string;
  /**
   * When the proof expires, in milliseconds since 1970, including the allowed clock difference.
   * Until then, the server must remember that the proof has been used.
   */
  readonly expiresAt: number;
  /** The nonce in the proof, or null. The caller must check that the server issued it. */
  readonly nonce: string | null;
}

/** What is wrong with a proof, for programs. `proof_malformed`: the proof is not a JWS. */
export type DpopProofProblem =
  | 'proof_repeated'
  | 'proof_malformed'
  | 'proof_type'
  | 'proof_algorithm'
  | 'proof_jti'
  | 'proof_nonce'
  | 'proof_method'
  | 'proof_url'
  | 'proof_without_time'
  | 'proof_from_the_future'
  | 'proof_too_old'
  | 'proof_expired'
  | 'proof_not_yet_valid'
  | 'proof_without_token'
  | 'proof_for_another_token'
  | 'proof_key'
  | 'proof_signature';

/**
 * Thrown if a proof is not valid. The message explains the reason and contains nothing from the
 * proof.
 */
export class DpopProofError extends JwsError {
  readonly problem: DpopProofProblem;

  constructor(problem: DpopProofProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/**
 * In seconds. `SKEW`: how far two clocks may differ, in each direction. `LIFE`: how long a proof is
 * valid.
 */
const SKEW = 60;
const LIFE = 60;
const LONGEST = { jti: 255, nonce: 255, htu: 2048 } as const;
const PROBLEMS = { jti: 'proof_jti', nonce: 'proof_nonce', htu: 'proof_url' } as const;

/**
 * Checks the value of a `DPoP` header (RFC 9449 section 4.3). Requires a current `iat` even if the
 * proof contains a nonce. Throws a DpopProofError that says what is wrong.
 *
 * The caller must check that the proof has not been used before and that its nonce is valid.
 */
export function checkDpopProof(text: string, request: ProvedRequest): DpopProof {
  // HTTP libraries join several headers with the same name with commas (RFC 9110 section 5.3).
  if (text.includes(',')) throw new DpopProofError('proof_repeated', 'there is more than one');
  const proof = naming('proof_malformed', () => parseJws(text));
  const { header, payload } = proof;
  if (header['typ'] !== 'dpop+jwt')
    throw new DpopProofError('proof_type', 'its typ is not dpop+jwt');
  const algorithm = naming('proof_algorithm', () => getAlgorithm(proof));
  const jti = requireText(payload, 'jti');
  const nonce = payload['nonce'] === undefined ? null : requireText(payload, 'nonce');
  if (payload['htm'] !== request.method)
    throw new DpopProofError('proof_method', 'its htm is another method');
  requireUrl(payload, request.url);
  const expiresAt = requireTimes(payload, request.now / 1000) * 1000;
  requireToken(payload, request.accessToken);
  const key = requireKey(header);
  if (!isSignedBy(key, proof))
    throw new DpopProofError('proof_signature', 'its jwk did not sign it');
  return { thumbprint: jwkThumbprint(key), algorithm, jti, expiresAt, nonce };
}

/** If `read` throws a JwsError, throws a DpopProofError with this problem instead. */
function naming<T>(problem: DpopProofProblem, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JwsError) throw new DpopProofError(problem, error.message);
    throw error;
  }
}

function requireText(payload: JsonObject, name: keyof typeof LONGEST): string {
  const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
  if (typeof value === 'string' && value.length > 0 && value.length <= LONGEST[name]) return value;
  throw new DpopProofError(
    PROBLEMS[name],
    `its ${name} is missing, or not a string of at most ${LONGEST[name]} characters`,
  );
}

function requireUrl(payload: JsonObject, url: string): void {
  const claimed = normalized(requireText(payload, 'htu'));
  if (claimed === null) throw new DpopProofError('proof_url', 'its htu is not a URL');
  if (claimed !== normalized(url)) throw new DpopProofError('proof_url', 'its htu is another URL');
}

/**
 * Matches a URL without white space and `\`. A URL parser would remove white space and change `\`
 * to `/`.
 */
const WRITTEN_URL = /^https?:\/\/[\x21-\x5B\x5D-\x7E]+$/i;

/**
 * Returns the URL in normal form (RFC 3986 sections 6.2.2 and 6.2.3), without its query and
 * fragment. The scheme and host are in lower case. Default ports, dot segments and unnecessary
 * escapes are removed. Returns null if the URL is invalid or contains user information.
 */
function normalized(text: string): string | null {
  if (!WRITTEN_URL.test(text) || !URL.canParse(text)) return null;
  const { origin, pathname, username, password } = new URL(text);
  if (username !== '' || password !== '') return null;
  return origin + pathname.replaceAll(/%[0-9a-f]{2}/gi, unescaped);
}

function unescaped(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase();
}

/**
 * Returns the time from which no server accepts the proof any longer, in whole seconds since 1970.
 * `now` is in seconds too.
 */
function requireTimes({ iat, exp, nbf }: JsonObject, now: number): number {
  if (!isTime(iat))
    throw new DpopProofError('proof_without_time', 'its iat is missing, or not a time');
  if (iat > now + SKEW)
    throw new DpopProofError('proof_from_the_future', 'its iat is in the future');
  if (iat <= now - LIFE - SKEW)
    throw new DpopProofError('proof_too_old', 'its iat is too long ago');
  // `exp` and `nbf` are optional. If they exist, the proof must be valid now (RFC 7519 sections
  // 4.1.4 and 4.1.5).
  if (exp !== undefined && !(isTime(exp) && exp > now - SKEW))
    throw new DpopProofError('proof_expired', 'it has expired');
  if (nbf !== undefined && !(isTime(nbf) && nbf <= now + SKEW))
    throw new DpopProofError('proof_not_yet_valid', 'its nbf is in the future');
  return Math.ceil(iat) + LIFE + SKEW;
}

/** Accepts seconds since 1970, possibly with a fraction (RFC 7519 section 2). */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function requireToken({ ath }: JsonObject, accessToken: string | null): void {
  if (accessToken === null) return;
  if (ath === undefined) throw new DpopProofError('proof_without_token', 'its ath is missing');
  if (ath !== hash('sha256', accessToken, 'base64url'))
    throw new DpopProofError('proof_for_another_token', 'its ath is that of another token');
}

function requireKey(header: JsonObject): PublicKey {
  try {
    const key = readPublicKey(header['jwk']);
    if (key !== null) return key;
  } catch (error) {
    if (error instanceof JwkError)
      throw new DpopProofError('proof_key', `its jwk ${error.message}`);
    throw error;
  }
  throw new DpopProofError('proof_key', 'its jwk has an unsupported type, or is not for signing');
}

/**
 * Returns the hash of the members that the key type requires, sorted by name (RFC 7638 section 3).
 * `JSON.stringify` leaves out undefined members.
 */
export function jwkThumbprint({ jwk: { crv, e, kty, n, x, y } }: PublicKey): string {
  return hash('sha256', JSON.stringify({ crv, e, kty, n, x, y }), 'base64url');
}
