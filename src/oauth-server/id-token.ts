import { createHash } from 'node:crypto';
import { SignJWT } from 'jose';
import { SIGNING_ALGORITHM, type SigningKey } from './keys.ts';

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
  /** About the person, already filtered by the granted scopes. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Signs an ID token (OpenID Connect Core section 2), addressed to one application. */
export function signIdToken(key: SigningKey, contents: IdTokenContents): Promise<string> {
  const issuedAt = Math.floor(contents.issuedAt / 1000);
  return new SignJWT({
    ...contents.claims,
    ...(contents.nonce === null ? {} : { nonce: contents.nonce }),
    at_hash: accessTokenHash(contents.accessToken),
  })
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: key.kid, typ: 'JWT' })
    .setIssuer(contents.issuer)
    .setSubject(contents.subject)
    .setAudience(contents.clientId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + contents.lifetime)
    .sign(key.privateKey);
}

/** `at_hash`: the left half of the access token's SHA-256 (OpenID Connect Core section 3.1.3.6). */
function accessTokenHash(accessToken: string): string {
  return createHash('sha256').update(accessToken, 'ascii').digest().subarray(0, 16).toString('base64url');
}
