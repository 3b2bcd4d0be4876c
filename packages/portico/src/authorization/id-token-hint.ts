import { createPublicKey } from 'node:crypto';
import { JwsError, parseJws, type Jws } from '../keys/jws/compact.ts';
import { isSignedWith } from '../keys/jws/public-keys.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import { FORM_LIMIT } from '../parameters.ts';
import type { Server } from '../server.ts';

/**
 * In characters. Claims and the nonce can make an ID token long. So only the size of a request
 * limits it.
 */
const LONGEST = { header: FORM_LIMIT, payload: FORM_LIMIT, signature: FORM_LIMIT };

export interface OwnIdToken {
  readonly subject: string;
  readonly clientId: string;
  /** In seconds since 1970. */
  readonly issuedAt: number;
  /** Null if the token has no `sid`. */
  readonly sid: string | null;
}

/**
 * Returns the content of an ID token that this server issued, even if it has expired. Its key must
 * still be published. Returns null for any other text.
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
 * Returns the `sub` of an `id_token_hint`, or null. Does not verify the token. Use it only where a
 * forged hint gains nothing (OpenID Connect Core section 3.1.2.1).
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

/** This is the server's own key, so the limits for clients' keys do not apply. */
function isFrom({ publicJwk }: SigningKey, jws: Jws): boolean {
  try {
    return isSignedWith(createPublicKey({ key: publicJwk, format: 'jwk' }), jws);
  } catch (error) {
    if (error instanceof JwsError) return false;
    throw error;
  }
}
