import { hash, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { DIGESTS, type SigningKey } from '../keys.ts';
import type { SigningAlgorithm } from '../store/client.ts';

export interface IdTokenContents {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  /** Lifetime in seconds. */
  readonly lifetime: number;
  /** Of the authorization request; null after a refresh. */
  readonly nonce: string | null;
  /** The access token that is issued beside it. */
  readonly accessToken: string;
  /** About the person, and only what the granted scopes release. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Signs an ID token (OpenID Connect Core section 2), addressed to one application. */
export function signIdToken(key: SigningKey, contents: IdTokenContents): Promise<string> {
  const { issuer, subject, clientId, lifetime, nonce, accessToken, claims } = contents;
  const issuedAt = Math.floor(contents.issuedAt / 1000);
  return signJwt(key, {
    ...claims,
    ...(nonce === null ? {} : { nonce }),
    at_hash: accessTokenHash(key.algorithm, accessToken),
    iss: issuer,
    sub: subject,
    aud: clientId,
    iat: issuedAt,
    exp: issuedAt + lifetime,
  });
}

/** With a callback, Node signs on its thread pool: `docs/decisions/0026` says what that is worth for each algorithm. */
const signOnPool = promisify(sign);

/** The compact serialisation of RFC 7515 section 7.1. */
async function signJwt({ kid, algorithm, privateKey }: SigningKey, payload: object): Promise<string> {
  const header = { alg: algorithm, kid, typ: 'JWT' };
  const text = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}`;
  // The encoding is for ES256 alone: both numbers side by side, no DER (RFC 7518 section 3.4).
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  const signature = await signOnPool(DIGESTS[algorithm], Buffer.from(text), key);
  return `${text}.${signature.toString('base64url')}`;
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * `at_hash`: the left half of the access token's hash, by the function that the algorithm uses (OpenID Connect Core section
 * 3.1.3.6). Ed25519 uses SHA-512 (RFC 8032 section 5.1).
 */
function accessTokenHash(algorithm: SigningAlgorithm, accessToken: string): string {
  const whole = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', accessToken, 'buffer');
  return whole.subarray(0, whole.length / 2).toString('base64url');
}
