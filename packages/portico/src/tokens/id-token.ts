import { hash } from 'node:crypto';
import { signJwt } from '../keys/signed-jwt.ts';
import type { SigningKey } from '../keys/signing-key.ts';

export interface IdTokenContents {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string;
  /** When the token is issued, in milliseconds since 1970. */
  readonly issuedAt: number;
  /** The token's lifetime in seconds. */
  readonly lifetime: number;
  /** The nonce from the authorization request. Null if there was none, and after a refresh. */
  readonly nonce: string | null;
  /** The access token that is issued together with the ID token. */
  readonly accessToken: string;
  /** The claims about the user that the granted scopes release. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Signs an ID token (OpenID Connect Core section 2) for one client. */
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
 * 3.1.3.6). Uses the hash function of the key's algorithm.
 */
function accessTokenHash({ hash: name }: SigningKey, accessToken: string): string {
  const whole = hash(name, accessToken, 'buffer');
  return whole.subarray(0, whole.length / 2).toString('base64url');
}
