import { hash } from 'node:crypto';
import { signJwt } from '../keys/signed-jwt.ts';
import type { SigningKey } from '../keys/signing-key.ts';

export interface IdTokenContents {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string;
  /** In milliseconds since 1970. */
  readonly issuedAt: number;
  /** In seconds. */
  readonly lifetime: number;
  /** The nonce from the authorization request. Null if there was none, and after a refresh. */
  readonly nonce: string | null;
  readonly accessToken: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** OpenID Connect Core section 2. */
export function signIdToken(key: SigningKey, contents: IdTokenContents): Promise<string> {
  const { issuer, subject, clientId, lifetime, nonce, accessToken, claims } = contents;
  const issuedAt = Math.floor(contents.issuedAt / 1000);
  return signJwt(key, 'JWT', {
    ...claims,
    ...(nonce === null ? {} : { nonce }),
    at_hash: accessTokenHash(key, accessToken),
    iss: issuer,
    sub: subject,
    aud: clientId,
    iat: issuedAt,
    exp: issuedAt + lifetime,
  });
}

/**
 * Returns `at_hash`: the left half of the access token's hash (OpenID Connect Core section
 * 3.1.3.6). The key's algorithm determines the hash function.
 */
function accessTokenHash({ hash: name }: SigningKey, accessToken: string): string {
  const whole = hash(name, accessToken, 'buffer');
  return whole.subarray(0, whole.length / 2).toString('base64url');
}
