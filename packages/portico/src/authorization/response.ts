import type { OAuthError } from '../errors.ts';
import { redirectWith } from '../clients/redirect-uris.ts';
import type { Client } from '../store/client.ts';

/** The response that is sent to the client's redirect URI (RFC 6749 sections 4.1.2 and 4.1.2.1). */
export interface AuthorizationResponse {
  readonly client: Client;
  readonly redirectUri: string;
  /** As the client sent it; null when it sent none, or several. */
  readonly state: string | null;
  readonly result: { readonly code: string } | { readonly error: OAuthError };
}

/** The redirect URI with the response in its query, and `iss` (RFC 9207). */
export function responseUrl({ redirectUri, state, result }: AuthorizationResponse, issuer: string): string {
  const outcome =
    'code' in result
      ? { code: result.code }
      : { error: result.error.code, error_description: result.error.message };
  return redirectWith(redirectUri, { ...outcome, state: state ?? undefined, iss: issuer });
}
