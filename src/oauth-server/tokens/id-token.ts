import { hash, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { SIGNING_ALGORITHM, type SigningKey } from '../keys.ts';

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
    at_hash: accessTokenHash(accessToken),
    iss: issuer,
    sub: subject,
    aud: clientId,
    iat: issuedAt,
    exp: issuedAt + lifetime,
  });
}

/** With a callback, Node signs on its thread pool; on this thread a signature would delay every other request by half a millisecond. */
const signOnPool = promisify(sign);

/** The compact serialisation of RFC 7515 section 7.1. */
async function signJwt({ kid, privateKey }: SigningKey, payload: object): Promise<string> {
  const header = { alg: SIGNING_ALGORITHM, kid, typ: 'JWT' };
  const text = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}`;
  const signature = await signOnPool('sha256', Buffer.from(text), privateKey);
  return `${text}.${signature.toString('base64url')}`;
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** `at_hash`: the left half of the access token's SHA-256 (OpenID Connect Core section 3.1.3.6). */
function accessTokenHash(accessToken: string): string {
  return hash('sha256', accessToken, 'buffer').subarray(0, 16).toString('base64url');
}
