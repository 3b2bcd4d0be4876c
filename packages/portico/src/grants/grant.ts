import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client, Grant } from '../store/client.ts';
import type { ProvedKey } from '../tokens/key-binding.ts';

/** Handles token requests with one `grant_type`. */
export interface TokenGrant {
  /**
   * Handles a token request of this client. `proved` is the key that the request proves, or null.
   * Throws an OAuthError or a KeyProofError to refuse the request.
   */
  answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse>;
}

/**
 * A successful response from the token endpoint (RFC 6749 section 5.1, OpenID Connect Core section
 * 3.1.3.3).
 */
export interface TokenResponse {
  /** The access token that the client sends to APIs. */
  readonly access_token: string;
  /** `Bearer`, or another scheme if the token is bound to a key, for example `DPoP`. */
  readonly token_type: string;
  /** How long the access token is still valid, in seconds. */
  readonly expires_in: number;
  /** The granted scopes, separated by spaces. */
  readonly scope: string;
  /**
   * The refresh token. Missing unless the client has the grant `refresh_token`. Always missing for
   * client credentials and for assertions from organizations.
   */
  readonly refresh_token?: string;
  /** The ID token. Present if the token was issued for a user and its scopes include `openid`. */
  readonly id_token?: string;
}

/** Throws `unauthorized_client` if the client is not registered for this grant type. */
export function requireGrant(client: Client, grant: Grant): void {
  if (!client.grants.includes(grant)) {
    throw new OAuthError(
      'unauthorized_client',
      `The client is not registered for the grant ${grant}.`,
      `the client is registered for ${client.grants.join(', ')}, not for ${grant}`,
    );
  }
}
