import { JwsError, parseJws } from '../keys/jws/compact.ts';

/**
 * Returns the `sub` of an `id_token_hint`, or null if the text is not a JWT. Does not verify the
 * token: a false hint only gives the client less (OpenID Connect Core section 3.1.2.1).
 */
export function subjectOfHint(idToken: string): unknown {
  try {
    return parseJws(idToken).payload['sub'];
  } catch (error) {
    if (error instanceof JwsError) return null;
    throw error;
  }
}
