import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';

/**
 * Reads a token request whose assertion identifies the client (RFC 7521 section 4.1). Returns a
 * changed form in which the assertion authenticates the client. Returns null for any other request.
 * An attacker must not learn from the response time which clients exist, so implementations must do
 * the same work for every client.
 */
export type AssertionGrant = (
  request: Request,
  form: Parameters,
) => Parameters | null | Promise<Parameters | null>;

/**
 * Runs the work. If it throws `invalid_client` because an assertion identifies no client, throws
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
