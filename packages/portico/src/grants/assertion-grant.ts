import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';

/**
 * Reads a token request whose assertion identifies the client (RFC 7521 section 4.1). Returns the
 * form of the request in which the client authenticates with this assertion instead, or null for
 * any other request. The client is not known yet, so the work must be the same for each client.
 */
export type AssertionGrant = (
  request: Request,
  form: Parameters,
) => Parameters | null | Promise<Parameters | null>;

/**
 * Turns a client that the assertion of a grant does not identify into `invalid_grant` (RFC 7523
 * section 3.1).
 */
export async function asGrant<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OAuthError) || error.code !== 'invalid_client') throw error;
    throw new OAuthError('invalid_grant', 'The assertion is not accepted.', error.detail);
  }
}
