import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';

/**
 * Converts a token request whose assertion identifies the client (RFC 7521 section 4.1). Returns a
 * form in which this assertion authenticates the client, or null. Do the same work for every
 * client: response times must not reveal which clients exist.
 */
export type AssertionGrant = (
  request: Request,
  form: Parameters,
) => Parameters | null | Promise<Parameters | null>;

/**
 * If `work` throws `invalid_client`, throws `invalid_grant` instead (RFC 7523 section 3.1). This is
 * the error for an assertion that identifies no client.
 */
export async function asGrant<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OAuthError) || error.code !== 'invalid_client') throw error;
    throw new OAuthError('invalid_grant', 'The assertion is not accepted.', error.detail);
  }
}
