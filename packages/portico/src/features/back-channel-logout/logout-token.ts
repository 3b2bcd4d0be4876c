import { randomToken } from '../../crypto.ts';
import { signJwt } from '../../keys/signed-jwt.ts';
import type { SigningKey } from '../../keys/signing-key.ts';

/** How long a logout token is valid, in seconds. Section 4 allows at most two minutes. */
const LIFETIME = 120;

export interface LogoutTokenContents {
  readonly issuer: string;
  readonly clientId: string;
  /** The user's `sub`. */
  readonly subject: string;
  /** The claim `sid`, which identifies the ended session to the client. */
  readonly sid: string;
  /** When the token is issued, in milliseconds since 1970. */
  readonly issuedAt: number;
}

/**
 * Signs a logout token (section 2.4). Each token has a new `jti`, because clients may reject a
 * `jti` that they have seen (section 2.6).
 */
export function signLogoutToken(key: SigningKey, contents: LogoutTokenContents): Promise<string> {
  const { issuer, clientId, subject, sid } = contents;
  const issuedAt = Math.floor(contents.issuedAt / 1000);
  return signJwt(key, 'logout+jwt', {
    iss: issuer,
    sub: subject,
    aud: clientId,
    iat: issuedAt,
    exp: issuedAt + LIFETIME,
    jti: randomToken(),
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    sid,
  });
}
