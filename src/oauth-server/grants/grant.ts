import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client, Grant } from '../store/client.ts';

/**
 * Answers a token request of one `grant_type`, sent by this client, who proved a key (RFC 9449), or none (null). Throws an OAuthError or a
 * DpopError when it is refused.
 */
export type GrantHandler = (
  client: Client,
  form: Parameters,
  proved: ProvedKey | null,
) => Promise<TokenResponse>;

/** The key that a token request proves. */
export interface ProvedKey {
  readonly thumbprint: string;
  /**
   * Takes the proof for good, once however often it is called; throws a DpopError when it was used before. It writes, so nobody calls it for
   * whoever offers nothing: anybody may send the id of a public client. Nothing may be issued, spent or ended before.
   */
  claim(): Promise<void>;
}

/** The successful response of the token endpoint (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3). */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: TokenType;
  /** Seconds. */
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

export type TokenType = 'Bearer' | 'DPoP';

/** How an access token is presented: one that is bound to a key together with a proof of it (RFC 9449 section 7.1). */
export function tokenTypeOf(thumbprint: string | null): TokenType {
  return thumbprint === null ? 'Bearer' : 'DPoP';
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
