import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client, Grant } from '../store/client.ts';
import type { ProvedKey } from '../tokens/key-binding.ts';

/** One `grant_type` of the token endpoint. */
export interface TokenGrant {
  /**
   * Answers a token request of this client, which proved a key, or none (null). Throws an
   * OAuthError or a KeyProofError when it is refused.
   */
  answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse>;
}

/**
 * The successful response of the token endpoint (RFC 6749 section 5.1, OpenID Connect Core section
 * 3.1.3.3).
 */
export interface TokenResponse {
  /** The access token. */
  readonly access_token: string;
  /** `Bearer`, or the scheme of a bound token. */
  readonly token_type: string;
  /** Seconds. */
  readonly expires_in: number;
  /** What it may be used for. */
  readonly scope: string;
  /** Absent for a client without the grant `refresh_token`. */
  readonly refresh_token?: string;
  /** With the scope `openid`. */
  readonly id_token?: string;
}

/** Throws `unauthorized_client` unless the client was registered for this grant. */
export function requireGrant(client: Client, grant: Grant): void {
  if (!client.grants.includes(grant)) {
    throw new OAuthError(
      'unauthorized_client',
      `The client is not registered for the grant ${grant}.`,
      `the client is registered for ${client.grants.join(', ')}, not for ${grant}`,
    );
  }
}
