import { createPublicKey } from 'node:crypto';
import { JwsError, parseJws, type Jws } from '../keys/jws/compact.ts';
import { isSignedWith } from '../keys/jws/public-keys.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import { FORM_LIMIT } from '../parameters.ts';
import type { Server } from '../server.ts';

/**
 * The maximum length of each part of an `id_token_hint`, in characters. Claims and the nonce can
 * make an ID token long, so the only limit is the maximum length of a request.
 */
const LONGEST = { header: FORM_LIMIT, payload: FORM_LIMIT, signature: FORM_LIMIT };

/** The content of an ID token that this server issued. */
export interface OwnIdToken {
  readonly subject: string;
  readonly clientId: string;
  /** When the token was issued, in seconds since 1970. */
  readonly issuedAt: number;
  /** The session that the token was issued for. Null if the token has no `sid`. */
  readonly sid: string | null;
}

/**
 * Returns the content of an ID token that this server issued. The token may have expired, but its
 * key must still be published. Returns null for any other text.
 */
export async function readOwnIdToken(server: Server, text: string): Promise<OwnIdToken | null> {
  const jws = parsed(text);
  if (jws === null || !(await isOurs(server, jws))) return null;
  const { iss, aud, sub, iat, sid } = jws.payload;
  if (iss !== server.issuer || typeof aud !== 'string' || typeof sub !== 'string') return null;
  if (typeof iat !== 'number') return null;
  return {
    subject: sub,
    clientId: aud,
    issuedAt: iat,
    sid: typeof sid === 'string' ? sid : null,
  };
}

/**
 * Returns the `sub` of an `id_token_hint`. Returns null if the text is not a JWT or has no `sub`.
 * Does not verify the token. Use this function only where a forged hint gains the client nothing
 * (OpenID Connect Core section 3.1.2.1).
 */
export function subjectOfHint(idToken: string): unknown {
  return parsed(idToken)?.payload['sub'] ?? null;
}

async function isOurs(server: Server, { header, ...jws }: Jws): Promise<boolean> {
  if (header['typ'] !== 'JWT' || typeof header['kid'] !== 'string') return false;
  const keys = await server.keys.published();
  const key = keys.find(({ kid }) => kid === header['kid']);
  return key !== undefined && key.algorithm === header['alg'] && isFrom(key, { header, ...jws });
}

function parsed(text: string): Jws | null {
  try {
    return parseJws(text, LONGEST);
  } catch (error) {
    if (error instanceof JwsError) return null;
    throw error;
  }
}

/**
 * Whether this key signed the token. The key is one of this server's keys, so this function does
 * not check the limits for clients' keys.
 */
function isFrom({ publicJwk }: SigningKey, jws: Jws): boolean {
  try {
    return isSignedWith(createPublicKey({ key: publicJwk, format: 'jwk' }), jws);
  } catch (error) {
    if (error instanceof JwsError) return false;
    throw error;
  }
}
