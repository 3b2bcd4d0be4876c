import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';

/**
 * Converts a token request whose assertion identifies the client (RFC 7521 section 4.1). Returns a
 * form in which the assertion authenticates the client, or null for any other request.
 * Implementations must do the same work for every client, so that response times do not reveal
 * which clients exist.
 */
export type AssertionGrant = (
  request: Request,
  form: Parameters,
) => Parameters | null | Promise<Parameters | null>;

/**
 * Runs `work`. If `work` throws `invalid_client` because an assertion identifies no client, throws
 * `invalid_grant` instead (RFC 7523 section 3.1).
 */
export async function asGrant<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OAuthError) || error.code !== 'invalid_client') throw error;
    throw new OAuthError('invalid_grant', 'The assertion is not accepted.', error.detail);
  }
}
